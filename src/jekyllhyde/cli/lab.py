"""What `jh figure` and `jh sweep` share: where results are kept, who computes them, and what is
said meanwhile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jekyllhyde.cli.show import show_table

if TYPE_CHECKING:
    from jekyllhyde.lab.engine import Status
    from jekyllhyde.lab.spec import Experiment
    from jekyllhyde.lab.store import Store


@dataclass(frozen=True)
class Lab:
    """Options of the laboratory."""

    store: Path = Path("jh-store")
    """Folder in which runs are kept; what is there is not computed again."""
    engine: str = "local"
    """local (all cores) or ray (a cluster; needs jekyllhyde[ray])."""
    workers: int | None = None
    """Tasks at a time; one per core by default."""
    address: str | None = None
    """Address of a running Ray cluster, such as auto; started on this machine by default."""
    dry_run: bool = False
    """Only say what would be run, and how long it should take at most."""


def compute(
    options: Lab, experiments: Sequence[Experiment], title: str, quiet: bool = False
) -> Store | None:
    """Compute what the store lacks; None after a dry run."""
    from jekyllhyde.lab import engine
    from jekyllhyde.lab.store import Store

    store = Store.open(options.store, create=True)
    if options.dry_run:
        tasks, seconds = engine.calibrate(experiments, store, options.workers)
        runs = sum(task.runs for task in tasks)
        different = {experiment.name: experiment for experiment in experiments}.values()
        wanted = sum(experiment.runs * len(experiment.cells) for experiment in different)
        print(
            f"{title}: {wanted - runs} of {wanted} runs are stored; "
            f"{runs} runs in {len(tasks)} tasks, at most {duration(seconds)}"
        )
        return None
    for name, reason in store.damaged.items():
        print(
            f"part {name} cannot be read ({reason}); it is set aside and computed again",
            file=sys.stderr,
        )
    with SweepProgress(title, quiet) as report:
        status = engine.run(
            experiments,
            store,
            engine=options.engine,
            workers=options.workers,
            address=options.address,
            report=report,
        )
    if status.failed:
        print(
            f"{title}: {status.failed} of {status.runs_done} runs failed; jh store ls shows where",
            file=sys.stderr,
        )
    return store


def duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class SweepProgress:
    """A bar with runs done, failures and time left; where there is no terminal, a line every
    minute.
    """

    def __init__(self, title: str, quiet: bool = False) -> None:
        self.title, self.quiet = title, quiet
        self.started = self.last = time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Any:
        return self.report

    def report(self, status: Status) -> None:
        """Show how far the sweep is."""
        now = time.perf_counter()
        if self.quiet or now - self.started < 1.0:
            return
        failed = f", {status.failed} failed" if status.failed else ""
        text = f"{self.title}: {status.runs_done} of {status.runs} runs{failed}"
        if sys.stderr.isatty():
            self._show(text, status)
        elif now - self.last > 60.0:
            self.last = now
            share = status.work_done / status.work if status.work else 1.0
            left = (
                f", about {duration((now - self.started) * (1 / share - 1))} left"
                if share > 0.02
                else ""
            )
            print(text + left, file=sys.stderr, flush=True)

    def _show(self, text: str, status: Status) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        if self.bar is None:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(text, total=status.work)
        self.bar.update(self.task, description=text, completed=status.work_done, total=status.work)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def show_claims(title: str, claims: list[dict[str, str]]) -> None:
    """The verdicts of a panel."""
    if claims:
        show_table(title, claims)
    else:
        print(title)
