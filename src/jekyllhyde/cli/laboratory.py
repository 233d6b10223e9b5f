"""The laboratory: `jh sweep`, an experiment of one's own from a TOML file; `jh store`, what a store
holds and whether it is whole; and what `jh sweep` shares with `jh figure`: where results are kept,
who computes them, and what is said meanwhile.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import tyro

import jekyllhyde as jh
from jekyllhyde.cli.console import prepare_out, say, show_table
from jekyllhyde.errors import check_choice, check_count, require
from jekyllhyde.parallel import count_threads

if TYPE_CHECKING:
    from jekyllhyde.lab.engine import Status
    from jekyllhyde.lab.suite import Suite

E = TypeVar("E", "jh.Experiment", "Suite", "jh.Experiment | Suite")


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
    # Run the Python code that the file names; even a dry run does.
    trust: bool = False
    # Folder for NAME.png, NAME.pdf and NAME.csv.
    out: Path = Path("out")
    # Print one JSON object instead of the table.
    json: bool = False

    def run(self) -> None:
        from jekyllhyde.lab.draw import write_panel

        given = jh.lab.Experiment.from_toml(self.file, trust=self.trust)
        experiment = with_runs(given, self.runs)
        panel = jh.lab.panel_of(experiment)
        prepare_out(None if self.lab.dry_run else self.out)
        store = compute(self.lab, [experiment], experiment.name, quiet=self.json)
        if store is None:
            return
        curves = jh.lab.read(panel, store)
        files = [str(path) for path in write_panel(curves, self.out)]
        columns = {"mean": curves.y, "lo": curves.lo, "hi": curves.hi, "censored": curves.censored}
        rows = [
            {"series": label, curves.panel.xlabel: float(x)}
            | {name: float(values[tag][i]) for name, values in columns.items()}
            for tag, label in curves.labels.items()
            for i, x in enumerate(curves.x)
            if curves.panel.kind != "curve" or i + 1 == len(curves.x)
        ]
        if self.json:
            report = {
                "name": experiment.name,
                "runs": curves.runs,
                "failed": sum(curves.failures.values()),
                "points": rows,
                "files": files,
            }
            print(json.dumps(report))
        else:
            measured = f"{curves.panel.ylabel} ({curves.runs} runs, 95 % intervals)"
            show_table(f"{experiment.name}: {measured}", rows)
            say(*files)


@dataclass(frozen=True)
class StoreCommand:
    """Look into a store: `ls`, `show ID`, `verify`, `merge FOLDER` (take over another store's
    runs), or `archive FILE` (the runs of the paper's figures in one file).
    """

    # ls: cells, runs and failures per experiment; show: one cell, its settings, its runs, who made
    # them; verify: read everything and compare checksums (exit status 1 if something is wrong);
    # merge; or archive.
    action: tyro.conf.Positional[str]
    # For show: a cell's id or digest, or the beginning of one. For merge: the other store's folder.
    # For archive: the tar file to write.
    what: tyro.conf.Positional[str] = ""
    # The store's folder.
    store: Path = Path("jh-store")
    # For verify: move damaged parts to STORE/damaged, so that their runs are computed again.
    set_aside: bool = False
    # Print JSON instead of tables.
    json: bool = False

    def run(self) -> int | None:
        check_choice(self.action, "action", ("ls", "show", "verify", "merge", "archive"))
        return getattr(self, self.action)(jh.lab.Store.open(self.store))

    def ls(self, store: jh.lab.Store) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for digest, stretches in store.cells.items():
            if stretches:  # not only in parts that are gone
                counts[stretches[0].id.split("/")[0]] += Counter(
                    cells=1, runs=store.runs(digest), failed=sum(held.failed for held in stretches)
                )
        table = [
            {"experiment": name} | {key: counts[name][key] for key in ("cells", "runs", "failed")}
            for name in sorted(counts)
        ]
        if self.json:
            print(json.dumps(table))
        elif table:
            show_table(f"{self.store}: {len(store.parts)} parts", table)
        else:
            say(f"{self.store} is empty")
        for name, reason in store.damaged.items():
            say(f"part {name} cannot be read: {reason}")

    def show(self, store: jh.lab.Store) -> None:
        known = {held.cell: held.id for held in itertools.chain(*store.parts.values())}
        exact = {cell: name for cell, name in known.items() if self.what in (cell, name)}
        matching = exact or {
            cell: name
            for cell, name in known.items()
            if self.what and (cell.startswith(self.what) or name.startswith(self.what))
        }
        require(
            matching,
            f"no cell of {str(self.store)!r} is called {self.what!r}; jh store ls lists the "
            "experiments",
        )
        if len(matching) > 1:
            names = sorted(matching.items(), key=lambda item: item[1])
            say(*(f"{digest} {name}" for digest, name in names))
            return
        ((digest, name),) = matching.items()
        rows = store.table([digest]).to_pylist()
        about = {
            "cell": digest,
            "id": name,
            "settings": json.loads(rows[0]["settings"]),
            "runs": len(rows),
            "made": [
                store.provenance(part)
                for part, stretches in sorted(store.parts.items())
                if any(held.cell == digest for held in stretches)
            ],
            "failures": {row["run"]: row["failure"] for row in rows if row["failure"] is not None},
        }
        print(json.dumps(about, indent=None if self.json else 1))

    def verify(self, store: jh.lab.Store) -> int:
        wrong = store.verify()
        for name, reason in wrong.items():
            say(f"{name}: {reason}")
        for path in store.set_aside(wrong) if wrong and self.set_aside else ():
            say(f"moved to {path}")
        found = f"parts read, {len(wrong)} damaged" if wrong else "parts, all whole"
        say(f"{len(store.parts)} {found}")
        return int(bool(wrong))

    def merge(self, store: jh.lab.Store) -> None:
        require(self.what, "merge needs the folder of another store")
        say(f"{store.merge(store.open(self.what))} parts taken over")

    def archive(self, store: jh.lab.Store) -> None:
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.store_archive import write_archive

        require(self.what, "archive needs the tar file to write")
        names = write_archive(store, PANELS.values(), Path(self.what))
        say(f"{self.what}: panels {', '.join(names)}")


def with_runs(experiment: E, runs: int | None) -> E:
    """The experiment with so many runs per point; with its own where no number is given."""
    return experiment if runs is None else experiment.scaled(runs=check_count(runs, "runs", 1))


def compute(
    options: Lab, experiments: Sequence[jh.Experiment | Suite], title: str, quiet: bool = False
) -> jh.lab.Store | None:
    """Compute what the store lacks; None after a dry run."""
    from jekyllhyde.lab import engine

    store = jh.lab.Store.open(options.store, create=True)
    if options.dry_run:
        tasks, seconds = engine.calibrate(experiments, store, options.workers)
        runs = sum(task.runs for task in tasks)
        different = {experiment.name: experiment for experiment in experiments}.values()
        wanted = sum(experiment.runs * len(experiment.cells) for experiment in different)
        say(
            f"{title}: {wanted - runs} of {wanted} runs are stored; "
            f"{runs} runs in {len(tasks)} tasks, at most {_duration(seconds)}"
        )
        return None
    for name, reason in store.damaged.items():
        say(
            f"part {name} cannot be read ({reason}); it is set aside and computed again",
            error=True,
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
        say(
            f"{title}: {status.failed} of {status.runs_done} runs failed; jh store ls shows where",
            error=True,
        )
    return store


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def _progress(title: str, quiet: bool) -> Iterator[Callable[[Status], None]]:
    # A bar with runs done, failures and time left; where there is no terminal, a line every minute.
    from rich import console, progress

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
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
            say(text + left * (share > 0.02), error=True)

    with bar:
        yield report
