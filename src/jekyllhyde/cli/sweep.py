"""`jh sweep`: an experiment of one's own, from a TOML file; and what it shares with `jh figure`:
where results are kept, who computes them, and what is said meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jekyllhyde.cli.show import prepare_out, show_table
from jekyllhyde.errors import check_count
from jekyllhyde.parallel import count_threads

if TYPE_CHECKING:
    from jekyllhyde.lab.engine import Status
    from jekyllhyde.lab.spec import Experiment
    from jekyllhyde.lab.store import Store


def hint(default: str, metavar: str = "INT") -> object:
    """How the help shows a flag that has no value unless it is given."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


@dataclass(frozen=True)
class Lab:
    """Options of the laboratory."""

    # Folder in which runs are kept; what is there is not computed again.
    store: Path = Path("jh-store")
    # local (all cores) or ray (a cluster; needs jekyllhyde[ray]).
    engine: str = "local"
    # Tasks at a time.
    workers: Annotated[int | None, hint(f"{count_threads(None)}, one per core")] = None
    # Address of a running Ray cluster, such as auto.
    address: Annotated[str | None, hint("a cluster started on this machine", "STR")] = None
    # Only say what would be run, and how long it should take at most.
    dry_run: bool = False


@dataclass(frozen=True)
class Sweep:
    """Run the experiment that a TOML file describes, and draw it with intervals."""

    # The experiment; the documentation's page on own experiments says what it may hold.
    file: tyro.conf.Positional[Path]
    # Options of the laboratory.
    lab: Annotated[Lab, tyro.conf.arg(name="lab")] = field(default_factory=Lab)
    # Runs per point.
    runs: Annotated[int | None, hint("the file's")] = None
    # Folder for NAME.png, NAME.pdf and NAME.csv.
    out: Path = Path("out")
    # Print one JSON object instead of the table.
    json: bool = False

    def run(self) -> int:
        from jekyllhyde.lab.draw import write_panel
        from jekyllhyde.lab.panel import panel_of, read
        from jekyllhyde.lab.spec import Experiment

        experiment = Experiment.from_toml(self.file)
        if self.runs is not None:
            experiment = replace(experiment, runs=check_count(self.runs, "runs", 1))
        prepare_out(None if self.lab.dry_run else self.out)
        store = compute(self.lab, [experiment], experiment.name, quiet=self.json)
        if store is None:
            return 0
        curves = read(panel_of(experiment), store)
        files = [str(path) for path in write_panel(curves, self.out)]
        columns = {"mean": curves.y, "lo": curves.lo, "hi": curves.hi, "censored": curves.censored}
        rows = [
            {"series": label, curves.panel.xlabel: float(x)}
            | {name: float(values[tag][i]) for name, values in columns.items()}
            for tag, label in curves.labels.items()
            for i, x in enumerate(curves.x)
            if curves.panel.kind != "curve" or i + 1 == len(curves.x)
        ]
        name, runs = experiment.name, curves.runs
        if self.json:
            failed = sum(curves.failures.values())
            report = {"name": name, "runs": runs, "failed": failed, "points": rows, "files": files}
            print(json.dumps(report))
        else:
            show_table(f"{name}: {curves.panel.ylabel} ({runs} runs, 95 % intervals)", rows)
            print("\n".join(files))
        return 0


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
            f"{runs} runs in {len(tasks)} tasks, at most {_duration(seconds)}"
        )
        return None
    for name, reason in store.damaged.items():
        print(
            f"part {name} cannot be read ({reason}); it is set aside and computed again",
            file=sys.stderr,
        )
    with _progress(title, quiet) as report:
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


def _duration(seconds: float) -> str:
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def _progress(title: str, quiet: bool) -> Iterator[Callable[[Status], None]]:
    # A bar with runs done, failures and time left; where there is no terminal, a line every minute.
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    task = bar.add_task(title, total=None)
    started = last = time.perf_counter()

    def report(status: Status) -> None:
        nonlocal last
        failed = f", {status.failed} failed" if status.failed else ""
        text = f"{title}: {status.runs_done} of {status.runs} runs{failed}"
        bar.update(task, description=text, completed=status.work_done, total=status.work)
        now = time.perf_counter()
        if bar.disable and not quiet and now - last > 60.0:
            last = now
            share = max(status.work_done / status.work, 1e-9)
            left = f", about {_duration((now - started) * (1 / share - 1))} left"
            print(text + left * (share > 0.02), file=sys.stderr, flush=True)

    with bar:
        yield report
