"""What the ways in which `jh train` learns share: the task, what came of it, and its table."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import jekyllhyde as jh
from jekyllhyde import intervals, references
from jekyllhyde.agent import AgentRecord
from jekyllhyde.cli.console import say
from jekyllhyde.cli.training_folder import code_in_command
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.progress_bar import progress_bar


class Stopped(KeyboardInterrupt):
    """Ctrl-C, after what was learned is safe; the message says how to go on."""


class Task(NamedTuple):
    """What is learned: the problem with its options, and by whom, with hers; in which way, and a
    sentence that is said when all is checked; the folder that results go to, whether learning goes
    on there, the arguments that were given, and the one run to make, in a process of its own.

    `mdp` is the model; of a random domain, the one with the given seed. `announce` says the
    sentence; `begin` does so, and gives a bar for the work that follows. `own` are the settings
    that are the user's own code; `how_to_go_on` says by which command.
    """

    domain: jh.Domain
    record: AgentRecord
    way: Callable[..., Any]
    sentence: str
    options: dict[str, Any]
    settings: dict[str, Any]
    seed: int
    out: Path | None = None
    resume: bool = False
    arguments: tuple[str, ...] = ()
    run: int | None = None

    def mdp(self, seed: int) -> FiniteMDP:
        return self.domain(**self.options, **({"seed": seed} if self.domain.random else {}))

    @property
    def own(self) -> dict[str, Any]:
        return {name: text for name, text in self.settings.items() if references.code_in(text)}

    def how_to_go_on(self, folder: Path) -> str:
        trust = " --trust" if code_in_command(self.arguments) else ""
        return f"go on with: jh train --resume {folder}{trust}"

    def announce(self) -> None:
        say(*filter(None, [self.sentence]))

    def begin(self, total: int) -> AbstractContextManager[Callable[[float], None]]:
        self.announce()
        return progress_bar(total, self.domain.name)


class Outcome(NamedTuple):
    """What came of it: rows of the table, what is said below it, and how it is written."""

    runs: int
    measured: list[dict[str, Any]]
    work: str
    settings: dict[str, Any]
    write: Callable[[Path], list[str]]
    failures: dict[int, str]
    note: str = ""


def row(quantity: str, values: Any) -> dict[str, Any]:
    """A line of the table: a number; the share of flags, with its exact interval; or the mean of
    runs with its bootstrap interval, which one run alone has not.
    """
    samples = np.asarray(values)
    is_flags = samples.dtype == bool
    numbers: tuple[Any, ...] = (samples.mean(),) if samples.size else ()
    if samples.size > 1:
        numbers = intervals.share(samples) if is_flags else intervals.summarize(samples, "mean")
    mean, lo, hi = [*map(float, numbers), None, None, None][:3]
    median = float(np.median(samples)) if samples.size and samples.ndim and not is_flags else None
    return {"quantity": quantity, "mean": mean, "lo": lo, "hi": hi, "median": median}
