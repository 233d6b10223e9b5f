"""The laboratory: what a cell costs in the spec, in the store and in the engine, and how that
grows.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from common import machine, table, write  # one BLAS thread, before NumPy

# isort: split
import numpy as np

from jekyllhyde.lab import engine
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store

SIZES = (1_000, 10_000, 100_000)
BUNDLE = 2000  # cells a part
CHAIN = {"name": "chain", "n_states": 10, "beta": 0.8}


def experiment(cells: int, kind: str, runs: int = 1) -> Experiment:
    """A grid of two coordinates: two settings of the agent, or a setting and an option of the
    problem.
    """
    side = round((cells / 2) ** 0.5)
    other = (
        {"eta_c": np.linspace(0.01, 0.5, side).tolist()}
        if kind == "settings"
        else {"beta": np.linspace(0.01, 0.9, side).tolist()}
    )
    return Experiment(
        name="grid",
        method="learn",
        problem=CHAIN,
        series=[{"label": "J&H"}, {"label": "PG", "agent": "on-policy"}],
        runs=runs,
        settings={"trajectories": 10, "target": 0.5},
        vary={"eta": np.linspace(0.1, 2.0, side).tolist(), **other},
    )


def resident() -> float:
    """Bytes in memory."""
    return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(function: Any) -> tuple[float, float, Any]:
    """Seconds of the processor, seconds of the clock, and what the function gives."""
    started, clock = process_time(), perf_counter()
    found = function()
    return process_time() - started, perf_counter() - clock, found


def spec(cells: int, kind: str) -> dict[str, Any]:
    """Cells and digests, in a process of its own."""
    _ = experiment(8, kind).digest
    before = resident()
    sweep = experiment(cells, kind)
    seconds, _, _ = timed(lambda: sweep.digest)
    count = len(sweep.cells)
    return {
        "cells": count,
        "kind": kind,
        "us": 1e6 * seconds / count,
        "bytes": (resident() - before) / count,
    }


def fill(folder: str, cells: int, runs: int) -> dict[str, Any]:
    """Rows without work, in parts of many cells."""
    store = Store.open(folder, create=True)
    sweep = experiment(cells, "problem", runs)
    _ = sweep.digest
    row = {
        "end": 10,
        "steps": 55,
        "time": 7,
        "time_both": 7,
        "time_global": 6,
        "time_jekyll": 5,
        "J_norm_end": 0.6,
    }
    seconds = 0.0
    for start in range(0, len(sweep.cells), BUNDLE):
        blocks = [
            (cell, range(runs), [{"run": i, **row} for i in range(runs)])
            for cell in sweep.cells[start : start + BUNDLE]
        ]
        seconds += timed(lambda blocks=blocks: store.add(blocks, 0.0))[0]
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return {
        "add us": 1e6 * seconds / len(sweep.cells),
        "bytes": size / len(sweep.cells),
        "parts": len(store.parts),
    }


def read(folder: str, cells: int, runs: int) -> dict[str, Any]:
    """Open, list, look for what is missing, read a hundred cells, verify; in its own process."""
    _ = experiment(8, "problem").digest
    before = resident()
    opening, _, store = timed(lambda: Store.open(folder))
    opened = resident()
    listing, _, ids = timed(
        lambda: sum(len(one.id) for held in store.parts.values() for one in held)
    )
    assert ids > 0
    digests = [held.cell for some in store.parts.values() for held in some]
    missing, _, absent = timed(
        lambda: sum(len(store.missing(digest, runs + 1)) for digest in digests)
    )
    assert absent == len(digests)
    table, _, found = timed(lambda: store.table(digests[:: max(1, len(digests) // 100)][:100]))
    assert found.num_rows == 100 * runs
    verifying, _, wrong = timed(store.verify)
    assert not wrong
    return {
        "open s": opening,
        "list s": listing,
        "missing s": missing,
        "table s": table,
        "verify s": verifying,
        "bytes in memory": (opened - before) / len(digests),
    }


def tasks(folder: str, count: int, name: str, address: str | None) -> dict[str, Any]:
    """Tasks of next to no work, one run each: what is left is the engine's own cost."""
    engine.TASK_SECONDS = 1e-9
    engine.run(
        [experiment(8, "settings")],
        Store.open(folder, create=True),
        engine=name,
        address=address,
        workers=1,
    )
    sweep = experiment(count, "settings")
    store = Store.open(folder)
    _ = sweep.digest
    seconds, clock, status = timed(
        lambda: engine.run([sweep], store, engine=name, address=address, workers=1)
    )
    return {
        "tasks": status.tasks,
        "ms": 1e3 * clock / status.tasks,
        "cpu ms": 1e3 * seconds / status.tasks,
    }


def held_lock(folder: str) -> float:
    """Milliseconds for which one part is under the lock, of a store that has many."""
    store, times = Store.open(folder), []
    locked = Store._locked

    @contextlib.contextmanager
    def timed_lock(self: Store) -> Iterator[None]:
        with locked(self):
            started = perf_counter()
            yield
            times.append(perf_counter() - started)

    Store._locked = timed_lock  # type: ignore[method-assign]
    for cell in experiment(200, "settings", 1).cells:
        store.add([(cell, range(7, 8), [{"run": 7, "end": 1}])], 0.0)
    return 1e3 * float(np.median(times))


def scaling(folder: str, workers: int) -> float:
    """Seconds of the clock for a few seconds of work on so many cores."""
    engine.TASK_SECONDS = 0.5
    sweep = Experiment(
        name="work",
        method="learn",
        problem={"name": "garnet", "n_states": 50},
        series=[{"label": "J&H"}],
        runs=40,
        settings={"trajectories": 10_000, "target": 2.0},
    )
    METHODS["learn"].run_block(
        sweep.cells[0].problem,
        {**sweep.cells[0].settings, "trajectories": 10},
        0,
        range(40),
        lambda n: None,
    )
    return timed(lambda: engine.run([sweep], Store.open(folder, create=True), workers=workers))[1]


def apart(name: str, *arguments: Any) -> Any:
    """A function of this file in a process of its own."""
    command = [sys.executable, __file__, name, *map(str, arguments)]
    return json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[
            -1
        ]
    )


def main() -> None:
    results: dict[str, Any] = {"machine": machine(), "load": os.getloadavg()[0]}
    results["spec"] = [
        apart("spec", cells, kind) for kind in ("settings", "problem") for cells in SIZES
    ]
    results["store"] = []
    with tempfile.TemporaryDirectory() as place:
        for cells in SIZES:
            for runs in (1, 10):
                folder = f"{place}/{cells}-{runs}"
                row = {
                    "cells": cells,
                    "runs": runs,
                    **apart("fill", folder, cells, runs),
                    **apart("read", folder, cells, runs),
                }
                results["store"].append(row)
        results["tasks"] = [
            {"engine": "local", **apart("tasks", f"{place}/local", count, "local")}
            for count in (100, 2000)
        ]
        results["lock ms"] = [
            apart("held_lock", f"{place}/{folder}") for folder in ("1000-1", "local")
        ]
        if importlib.util.find_spec("ray"):
            results["tasks"] += [
                {"engine": "ray", **apart("tasks", f"{place}/ray", count, "ray")}
                for count in (1000,)
            ]
        times = [
            [apart("scaling", f"{place}/{turn}-{workers}", workers) for workers in (1, 2)]
            for turn in range(3)
        ]
        results["two cores"] = float(np.median([one / two for one, two in times]))
    write("lab", results, report(results))


def report(results: dict[str, Any]) -> str:
    """The tables."""
    specs = [
        (f"{one['cells']:,}", one["kind"], f"{one['us']:.0f}", f"{one['bytes']:.0f}")
        for one in results["spec"]
    ]
    times = ("open s", "list s", "missing s", "table s", "verify s")
    stores = [
        (
            f"{one['cells']:,}",
            one["runs"],
            one["parts"],
            *(f"{one[name]:.0f}" for name in ("bytes", "add us", "bytes in memory")),
            *(f"{one[name]:.2f}" for name in times),
        )
        for one in results["store"]
    ]
    tasks = [
        (one["engine"], one["tasks"], f"{one['ms']:.1f}", f"{one['cpu ms']:.1f}")
        for one in results["tasks"]
    ]
    few, many = results["lock ms"]
    return "\n\n".join(
        [
            table(["cells", "grid over", "us a cell", "bytes a cell"], specs),
            table(
                [
                    "cells",
                    "runs",
                    "parts",
                    "bytes a cell",
                    "add us a cell",
                    "bytes in memory",
                    *times,
                ],
                stores,
            ),
            table(["engine", "tasks", "ms a task", "of the processor"], tasks),
            f"Under the lock: {few:.2f} ms a part, {many:.2f} ms beside 2000 others. "
            f"Two cores: {results['two cores']:.2f} times the throughput of one. "
            f"Load while measuring: {results['load']:.1f}.",
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        name, *given = sys.argv[1:]
        values = [int(one) if one.isdigit() else one for one in given]
        if name == "tasks" and len(values) == 3:
            values.append(None)
        print(json.dumps(globals()[name](*values)))
    else:
        main()
