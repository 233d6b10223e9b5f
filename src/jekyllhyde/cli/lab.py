"""What `jh figure` and `jh sweep` share: where results are kept, who computes them, and what is
said meanwhile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jekyllhyde.cli.show import show_table

if TYPE_CHECKING:
    from jekyllhyde.lab.engine import Status
    from jekyllhyde.lab.spec import Experiment
    from jekyllhyde.lab.store import Store


@dataclass(frozen=True)
class Lab:
    """Options of the laboratory."""

    # Folder in which runs are kept; what is there is not computed again.
    store: Path = Path("jh-store")
    # local (all cores) or ray (a cluster; needs jekyllhyde[ray]).
    engine: str = "local"
    # Tasks at a time; one per core by default.
    workers: int | None = None
    # Address of a running Ray cluster, such as auto; started on this machine by default.
    address: str | None = None
    # Only say what would be run, and how long it should take at most.
    dry_run: bool = False


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
        from rich import progress
        from rich.console import Console

        self.title, self.quiet = title, quiet
        self.started = self.last = time.perf_counter()
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(title, total=None)

    def __enter__(self) -> SweepProgress:
        self.bar.start()
        return self

    def __call__(self, status: Status) -> None:
        """Show how far the sweep is."""
        failed = f", {status.failed} failed" if status.failed else ""
        text = f"{self.title}: {status.runs_done} of {status.runs} runs{failed}"
        self.bar.update(self.task, description=text, completed=status.work_done, total=status.work)
        now = time.perf_counter()
        if self.bar.disable and not self.quiet and now - self.last > 60.0:
            self.last = now
            share = max(status.work_done / status.work, 1e-9)
            left = f", about {duration((now - self.started) * (1 / share - 1))} left"
            print(text + left * (share > 0.02), file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


def show_claims(title: str, claims: list[dict[str, str]]) -> None:
    """The verdicts of a panel."""
    if claims:
        show_table(title, claims)
    else:
        print(title)
