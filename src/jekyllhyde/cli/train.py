"""`jh train`: an agent learns from samples, many runs at once.

The agent decides what is tabular and what has networks, whatever the problem is called. Flags are
those of the problem, of the agent, and of the way in which it learns (`learning`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from jekyllhyde.agent import AGENTS, AgentRecord
from jekyllhyde.cli.flags import first_argument, given, value_of, with_flags
from jekyllhyde.cli.learners import PRESETS, agent_options, choose_agent
from jekyllhyde.cli.show import show_json, show_table
from jekyllhyde.errors import need
from jekyllhyde.files import prepare_folder
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import shell_name

if TYPE_CHECKING:
    from jekyllhyde.cli.learning import Outcome

AGENT = Option(
    "agent",
    str,
    "tabular-jekyll-hyde where both spaces are Discrete, else jekyll-hyde",
    f"{', '.join(map(shell_name, AGENTS))}, or one of your own, file.py:Name.",
)


@dataclass(frozen=True)
class Train:
    """Let an agent learn from samples, with exact evaluation where the model is known.

    `jh train PROBLEM --agent NAME --help` says what that problem and that agent take.
    """

    problem: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PROBLEM")]
    """A domain (jh list), one of your own, file.py:name, a Gymnasium id such as Taxi-v4 or
    CartPole-v1, or a file written by FiniteMDP.save.
    """
    seed: int = 0
    """Seed of the runs: run i draws from the stream (seed, i)."""
    out: Annotated[Path | None, tyro.conf.arg(help_behavior_hint="(default: none)")] = None
    """Folder for train.parquet, train.png and what else the agent writes."""
    json: bool = False
    """Print one JSON object instead of the table."""

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
        made: Any = with_flags(cls, groups)
        made.setup = setup
        return made

    @property
    def agent_name(self) -> str:
        """The agent, as the command line spells it."""
        return shell_name(self.setup.record.name)

    def run(self) -> int:
        """Learn, and say what came of it."""
        from jekyllhyde.cli.learning import Task

        setup, flags = self.setup, given(self)
        if self.out is not None:
            need("plot")
            prepare_folder(self.out)

        def taken(options: dict[str, Option]) -> dict[str, Any]:
            return {name: flags[name] for name in options if name in flags}

        task = Task(
            problem=self.problem,
            options=taken(setup.options),
            record=setup.record,
            settings=taken(setup.settings),
            seed=self.seed,
            folder=self.out,
            announce=lambda: None if self.json else print(setup.sentence, end=""),
        )
        start = time.perf_counter()
        outcome = setup.learn(task, setup.kind(**taken(setup.work)))
        self.show(outcome, time.perf_counter() - start)
        return 0

    def show(self, outcome: Outcome, seconds: float) -> None:
        """The table, or the JSON object."""
        agent = self.agent_name
        if self.json:
            about = {"problem": self.problem, "agent": agent, "seed": self.seed}
            show_json({**about, "seconds": seconds, **vars(outcome)})
            return
        runs = f"mean and 95 % interval over {outcome.runs} runs"
        show_table(f"{agent} on {self.problem} ({runs})", outcome.measured)
        for run, reason in outcome.failures.items():
            print(f"run {run} failed: {reason}")
        notes = [*outcome.notes.values(), *outcome.files]
        print(f"{outcome.work} in {seconds:.2f} s", *notes, sep="\n")


@dataclass(frozen=True)
class Setup:
    """What the arguments name: the agent (and a sentence where it was chosen for the user), the way
    in which it learns, and the options of way, problem and agent.
    """

    record: AgentRecord
    sentence: str
    kind: type
    learn: Callable[..., Outcome]
    work: dict[str, Option]
    options: dict[str, Option]
    settings: dict[str, Option]


def set_up(problem: str, arguments: Sequence[str]) -> Setup:
    """Find the agent, and the way: known models are learned as such, by the agents that can."""
    from jekyllhyde.cli import learning
    from jekyllhyde.mdp.problem import is_environment, problem_options

    is_foreign = is_environment(problem)
    record, sentence = choose_agent(value_of("agent", arguments), problem)
    preset = {name: text for name in PRESETS if (text := value_of(name, arguments))}
    options, settings = problem_options(problem), agent_options(record, preset)
    way: tuple[type, Any] = (learning.OnModel, learning.learn_on_model)
    if is_foreign or not (record.tabular or record.name in AGENTS):
        way = learning.StepByStep, learning.learn_step_by_step
    elif not record.tabular:
        way = learning.InOneCall, learning.train_in_one_call
    # a random domain's seed is mdp_seed here; the discount is the model's, or else the agent's
    work = options_of(way[0])
    if "seed" not in options:
        work = {name: option for name, option in work.items() if not name.startswith("mdp")}
    leave = ("seed", "gamma") if is_foreign else ("seed",)
    if not is_foreign:
        settings.pop("gamma", None)
    return Setup(
        record=record,
        sentence=sentence,
        kind=way[0],
        learn=way[1],
        work=work,
        options={name: option for name, option in options.items() if name not in leave},
        settings=settings,
    )
