"""`jh train`: an agent learns from samples, many runs at once.

The agent decides what is tabular and what has networks, whatever the problem is called. Flags are
those of the problem, of the agent, and of the way in which it learns (`learning`).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from jekyllhyde.agent import AGENTS, AgentRecord
from jekyllhyde.cli.flags import ProblemCommand, first_argument, given, value_of, with_flags
from jekyllhyde.cli.learners import PRESETS, agent_options, choose_agent
from jekyllhyde.cli.show import prepare_out, show_json, show_table
from jekyllhyde.errors import check_count
from jekyllhyde.mdp.domains import Domain
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import shell_name

AGENT = Option(
    "agent",
    str,
    "tabular-jekyll-hyde where both spaces are Discrete, else jekyll-hyde",
    f"{', '.join(map(shell_name, AGENTS))}, or one of your own, file.py:Name.",
)


class Setup(NamedTuple):
    """What the arguments name: the agent (with a sentence where the user did not name it), the way
    in which it learns, and the options of way, problem and agent.
    """

    domain: Domain
    record: AgentRecord
    sentence: str
    learn: Callable[..., Any]
    work: dict[str, Option]
    options: dict[str, Option]
    settings: dict[str, Option]


@dataclass(frozen=True)
class Train(ProblemCommand):
    """Let an agent learn from samples, with exact evaluation where the model is known.

    `jh train PROBLEM --agent NAME --help` says what that problem and that agent take.
    """

    seed: int = 0
    """Seed of the runs: run i draws from the stream (seed, i)."""

    setup: ClassVar[Setup]

    @classmethod
    def completed(cls, arguments: Sequence[str]) -> type:
        """The command with the options of the problem and the agent that the arguments name."""
        problem = first_argument("train", arguments)
        if problem is None:
            return with_flags(cls, {"agent": {"agent": AGENT}})
        setup = set_up(problem, arguments)
        name = shell_name(setup.record.name)
        agent = {"agent": AGENT._replace(default=name)}
        groups = {"work": setup.work, problem: setup.options, name: agent | setup.settings}
        made = with_flags(cls, groups)
        made.setup = setup
        return made

    def run(self) -> int:
        """Learn, and say what came of it."""
        from jekyllhyde.cli.learning import Task

        setup, flags = self.setup, given(self)
        prepare_out(self.out)
        work, options, settings = (
            {name: flags[name] for name in group if name in flags}
            for group in (setup.work, setup.options, setup.settings)
        )
        for name, value in work.items():
            if isinstance(value, int):
                check_count(value, name, 0 if name == "mdp_seed" else 1)
        task = Task(
            domain=setup.domain,
            options=options,
            record=setup.record,
            settings=settings,
            seed=self.seed,
            announce=lambda: None if self.json else print(setup.sentence, end=""),
        )
        start = time.perf_counter()
        outcome = setup.learn(task, **work)
        seconds = time.perf_counter() - start
        files = [] if self.out is None else outcome.write(self.out)
        agent = shell_name(setup.record.name)
        if self.json:
            about = {"problem": self.problem, "agent": agent, "seed": self.seed, "files": files}
            measured = {name: value for name, value in outcome._asdict().items() if name != "write"}
            show_json({**about, "seconds": seconds, **measured})
            return 0
        runs = f"mean and 95 % interval over {outcome.runs} runs"
        show_table(f"{agent} on {self.problem} ({runs})", outcome.measured)
        for run, reason in outcome.failures.items():
            print(f"run {run} failed: {reason}")
        print(f"{outcome.work} in {seconds:.2f} s", *filter(None, [outcome.note]), *files, sep="\n")
        return 0


def set_up(problem: str, arguments: Sequence[str]) -> Setup:
    """Find the agent and the way. A random domain's seed is mdp_seed here, and the discount is the
    model's where it is known, else the agent's.
    """
    from jekyllhyde.cli.learning import choose_way, has_finite_spaces
    from jekyllhyde.mdp.problem import find_problem

    name, domain = value_of("agent", arguments), find_problem(problem)
    record, sentence = choose_agent(name, problem, name is None and has_finite_spaces(domain))
    preset = {name: text for name in PRESETS if (text := value_of(name, arguments))}
    options, settings = domain.options, agent_options(record, preset)
    (options if domain.foreign else settings).pop("gamma", None)
    options.pop("seed", None)
    learn = choose_way(record, domain)
    left_out = ("task",) if domain.random else ("task", "mdps", "mdp_seed")
    work = {name: option for name, option in options_of(learn).items() if name not in left_out}
    return Setup(domain, record, sentence, learn, work, options, settings)
