"""`jh train`: an agent learns from samples, many runs at once.

The agent decides what is tabular and what has networks, whatever the problem is called. Flags are
those of the problem, of the agent, and of the way in which it learns (`learning`).
"""

import io
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import tyro

from jekyllhyde.agent import AGENTS, AgentRecord, find_agent
from jekyllhyde.cli.console import prepare_out, say, show_json, show_table
from jekyllhyde.cli.flags import (
    Options,
    ProblemCommand,
    agent_options,
    first_argument,
    given,
    value_of,
    values_of,
    with_flags,
    without,
)
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.domains import find_problem
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import shell_name

AGENT = Option(
    "agent",
    str,
    "tabular-jekyll-hyde where both spaces are Discrete, else jekyll-hyde",
    f"{', '.join(map(shell_name, AGENTS))}, or one of your own, file.py:Name.",
)
PRESETS = ("convention", "config")  # options that choose the values of others
# flags beside --resume
LIMITS = ("steps", "episodes", "eval-every", "eval-episodes", "checkpoint-every", "workers")
COUNTS = ("runs", "envs")  # which may be said again
BESIDE_RESUME = (*LIMITS, "resume", "trust", "json", "help")
RENAMED = {"on-policy": "tabular-on-policy"}
# by whether both spaces are Discrete
DEFAULTS = {
    True: ("tabular-jekyll-hyde", "both spaces are Discrete; --agent jekyll-hyde takes networks"),
    False: ("jekyll-hyde", "not both spaces are Discrete, so it has networks"),
}


@dataclass(frozen=True)
class Train(ProblemCommand):
    """Let an agent learn from samples, with exact evaluation where the model is known.

    `jh train PROBLEM --agent NAME --help` says what that problem and that agent take.
    """

    seed: int = 0
    """Seed of the runs: run i draws from the stream (seed, i)."""
    resume: Annotated[Path | None, tyro.conf.arg(help_behavior_hint="(default: none)")] = None
    """A folder of --out, where learning goes on; its command is known: jh train --resume FOLDER."""
    trust: bool = False
    """Run the code that the command of that folder names: read it first."""

    task: ClassVar[Any]  # a Task, whose options and settings are still to come
    groups: ClassVar[tuple[Options, Options, Options]]  # of the way, the problem and the agent

    @classmethod
    def completed(cls, arguments: Sequence[str]) -> type:
        problem = first_argument("train", arguments)
        if problem is None:
            return with_flags(cls, {"agent": {"agent": AGENT}})
        from jekyllhyde.cli.learning import choose_way, has_finite_spaces
        from jekyllhyde.cli.training_task import Task

        name, domain = value_of("agent", arguments), find_problem(problem)
        keywords = values_of("env-kwargs", arguments)
        is_finite = name is None and has_finite_spaces(domain, keywords)
        record, sentence = choose_agent(name, problem, is_finite)
        preset = {name: text for name in PRESETS if (text := value_of(name, arguments))}
        options, settings = domain.options, agent_options(record, preset)
        # a random domain's seed is mdp_seed here, and the discount is the model's where it is known
        options.pop("seed", None)
        (options if domain.foreign else settings).pop("gamma", None)
        way = choose_way(record, domain)
        left_out = ("task",) if domain.random else ("task", "mdps", "mdp_seed")
        work = {key: option for key, option in options_of(way).items() if key not in left_out}
        agent = shell_name(record.name)
        own = {"agent": AGENT._replace(default=agent), **settings}
        made = with_flags(cls, {"work": work, problem: options, agent: own})
        command = tuple(without(arguments, "out", "resume", "trust", "json"))
        task = Task(domain, record, way, sentence, options={}, settings={}, seed=0)
        made.task = task._replace(arguments=command)
        made.groups = (work, options, settings)
        return made

    def prepared(self) -> tuple[Any, dict[str, Any]]:
        """The task, and the keywords of its way."""
        require(
            self.resume is None or self.task.way.__name__ == "learn_step_by_step",
            "resume is given, but only learning step by step in an environment is resumed",
        )
        out = self.resume or self.out
        prepare_out(out)
        work, options, settings = (given(self, group) for group in self.groups)
        for name, value in work.items():
            if isinstance(value, int):
                check_count(value, name, 0 if name in ("mdp_seed", "eval_every") else 1)
        task = self.task._replace(
            options=options,
            settings=settings,
            seed=self.seed,
            out=out,
            resume=self.resume is not None,
        )
        return task, work

    def learn_run(self, run: int) -> None:
        """One run alone, whose agent is left in the folder."""
        task, work = self.prepared()
        task.way(task._replace(run=run), **work)

    def run(self) -> None:
        task, work = self.prepared()
        out = task.out
        start = time.perf_counter()
        outcome = task.way(task._replace(sentence="") if self.json else task, **work)
        seconds = time.perf_counter() - start
        files = [] if out is None else outcome.write(out)
        agent = shell_name(task.record.name)
        if self.json:
            about = {"problem": self.problem, "agent": agent, "seed": self.seed, "files": files}
            measured = {name: value for name, value in outcome._asdict().items() if name != "write"}
            show_json({**about, "seconds": seconds, **measured})
        else:
            mean = f"mean and 95 % interval over {outcome.runs} runs"
            runs = mean if outcome.runs > 1 else "one run"
            show_table(f"{agent} on {self.problem} ({runs})", outcome.measured)
            failures = (f"run {run} failed: {why}" for run, why in outcome.failures.items())
            lines = *failures, f"{outcome.work} in {seconds:.2f} s", outcome.note, *files
            say(*filter(None, lines))


def choose_agent(name: str | None, problem: str, is_finite: bool) -> tuple[AgentRecord, str]:
    """The agent of that name; without one, the tabular or the deep J&H by the problem's spaces, and
    a sentence that says so.
    """
    if name in RENAMED:
        raise InputError(f"agent is {name!r}, which is called {RENAMED[name]}")
    if name is not None:
        return find_agent(name), ""
    name, reason = DEFAULTS[is_finite]
    return find_agent(name), f"{name} on {problem}: {reason}"


def resumed(arguments: list[str], parse: Callable[[list[str]], Any]) -> list[str]:
    """The arguments with those of the folder of --resume, where no problem is given: how long and
    how often may be given anew, what the agent is may not. A command of the folder that cannot be
    parsed is refused.
    """
    folder = value_of("resume", arguments)
    is_alone = arguments[:1] == ["train"] and arguments[1:2] and arguments[1].startswith("-")
    if folder is None or not is_alone:
        return arguments
    from jekyllhyde.cli.training_folder import read_command

    command = ["train", *read_command(Path(folder), "--trust" in arguments)]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            parse(command)
    except SystemExit:
        raise InputError(f"{folder!r} holds a command that jh does not take") from None
    given = [word.partition("=")[0].removeprefix("--") for word in arguments if word[:2] == "--"]
    for name in given:
        is_same = name in COUNTS and value_of(name, arguments) == (value_of(name, command) or "1")
        require(
            name in BESIDE_RESUME or is_same,
            f"{name} is given beside --resume, but the agent is there already; what can be given "
            f"anew is {', '.join(LIMITS)}",
        )
    return [*without(command, *given), *arguments[1:]]
