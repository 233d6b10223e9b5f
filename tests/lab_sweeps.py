"""Sweeps for the laboratory's tests, and a process that runs them in children of its own which the
tests then kill.

`python lab_sweeps.py` reads one JSON order a line, forks, and answers with the child's process id;
the child leads a process group, runs the sweep and exits. Forking a process that has everything
compiled makes a child start within milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jekyllhyde import files
from jekyllhyde.lab import engine, store_files, store_folder
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_index import Index


def small(runs: int = 6, **more: Any) -> Experiment:
    """Learning with curves, on garnets of a size and for a length that take a millisecond a run."""
    settings = {"trajectories": 100, "points": 20} | more.pop("settings", {})
    given: dict[str, Any] = {
        "name": "small",
        "method": "learn",
        "problem": {"name": "garnet", "n_states": 12},
        "settings": settings,
        "series": [{"label": "J&H eps=100/t"}, {"label": "PG", "agent": "on-policy"}],
        "runs": runs,
        "vary": {"eta": [0.5, 1.0, 2.0]},
    }
    return Experiment(**(given | more))


def planned(runs: int = 1, **more: Any) -> Experiment:
    """Exact updates to a target on chains of several lengths."""
    given: dict[str, Any] = {
        "name": "planned",
        "method": "plan",
        "problem": {"name": "chain", "beta": 0.8},
        "settings": {"updates": 300, "target": 0.5},
        "series": [{"label": "PG"}, {"label": "uniform", "density": "uniform"}],
        "runs": runs,
        "vary": {"n_states": {"from": 3, "to": 8, "step": 1}},
    }
    return Experiment(**(given | more))


def long(runs: int = 150) -> list[Experiment]:
    """Some seconds of work on one core."""
    return [small(runs, name="long", settings={"trajectories": 300, "points": 20}), planned()]


def rows(store: Store, experiments: Iterable[Experiment]) -> str:
    """Every row of these experiments to the last bit (repr tells floats apart, and NaN is NaN)."""
    found = store.table({cell.digest for experiment in experiments for cell in experiment.cells})
    return repr(found.to_pydict())


def expected(experiments: Iterable[Experiment]) -> set[tuple[str, int]]:
    """The runs that should be there."""
    return {
        (cell.digest, run)
        for experiment in experiments
        for cell in experiment.cells
        for run in range(experiment.runs)
    }


def held(store: Store) -> list[tuple[str, int]]:
    """The runs that are there, as often as they are, read from the files without the library's
    index.
    """
    import pyarrow.dataset as ds

    found = ds.dataset(store.folder / "parts", format="parquet").to_table(columns=["cell", "run"])
    return sorted(zip(found["cell"].to_pylist(), found["run"].to_pylist(), strict=True))


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """As in a shell's job in the background: a child that is started inside has to set the signal
    itself.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# The forking process.


def die_at(step: int) -> None:
    """Kill this process group at the step-th call of what storing a part is made of."""
    count = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                os.killpg(0, signal.SIGKILL)
            return function(*args, **options)

        return wrapped

    targets: list[tuple[Any, str]] = [
        (os, "fsync"),
        (Path, "replace"),
        (Path, "unlink"),
        (files, "sync_folder"),
        (store_files, "encode"),
        (Index, "append"),
        (Store, "_locked"),
        (Store, "refresh"),
    ]
    for place, name in targets:
        setattr(place, name, wrap(getattr(place, name)))


def child(order: dict[str, Any]) -> None:
    engine.TASK_SECONDS = order.get("task_seconds", 0.02)
    experiments = {"long": long, "short": lambda runs: [small(runs)]}[order["sweep"]](order["runs"])
    if "die_at" in order:
        die_at(order["die_at"])
    engine.run(experiments, Store.open(order["store"], create=True), workers=2)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for experiment in (small(1), planned()):  # load the kernels, here and not in every child
        for cell in experiment.cells:
            METHODS[cell.method].run_block(
                cell.problem, cell.settings, cell.stream, range(1), lambda count: None
            )
    store_folder.machine()
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            child(json.loads(line))
            os._exit(0)
        print(pid, flush=True)


class Forks:
    """The forking process, seen from a test."""

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "ready"
        return self

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def start(self, store: Path, runs: int, sweep: str = "long", **more: Any) -> int:
        """Start a sweep in a process group of its own; its id."""
        assert self.process.stdin is not None
        self.process.stdin.write(
            json.dumps({"store": str(store), "runs": runs, "sweep": sweep, **more}) + "\n"
        )
        self.process.stdin.flush()
        return int(self._answer())

    @staticmethod
    def wait(pid: int, seconds: float = 60.0) -> bool:
        """Whether a child ends within that time; waiting stops when it does."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            return bool(select.select([descriptor], [], [], seconds)[0])
        finally:
            os.close(descriptor)

    @classmethod
    def kill(cls, pid: int, after: float) -> bool:
        """Kill the process group after that many seconds; False if it had ended before."""
        time.sleep(after)
        alive = not cls.wait(pid, 0.0)
        if alive:
            os.killpg(pid, signal.SIGKILL)
            assert cls.wait(pid)
        return alive

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    main()
