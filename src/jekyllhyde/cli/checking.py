"""`jh check`: what agents do with an environment, and what is wrong with it."""

from dataclasses import asdict, dataclass
from typing import Annotated

import tyro

from jekyllhyde.cli.console import say, show_json
from jekyllhyde.cli.flags import keywords_of
from jekyllhyde.envs.environment_check import check_env


@dataclass(frozen=True)
class Check:
    """Play an environment at random, and say what agents do with it and what is wrong with it; exit
    status 1 where something is.
    """

    env: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="ENV")]
    """A Gymnasium id, as CartPole-v1 or module:Id."""
    steps: int = 2000
    """How long it is played."""
    seed: int = 0
    """Seed of the environment and of the actions."""
    env_kwargs: tuple[str, ...] = ()
    """Keywords of the environment, as in size=8 is_slippery=False."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> int:
        report = check_env(self.env, self.steps, self.seed, keywords_of(self.env_kwargs))
        if self.json:
            show_json(asdict(report))
        else:
            say(*str(report).splitlines())
        return int(not report.ok)
