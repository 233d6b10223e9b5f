"""What the benchmarks share: one BLAS thread, one core, the machine in words, medians, tables."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # this module is imported before NumPy

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"


def pin_to_one_core() -> set[int]:
    """Keep this process on one core; returns the cores it had."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    return cores


def machine() -> str:
    """The processor's family and the cores and memory in use."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores, python = len(os.sched_getaffinity(0)), platform.python_version()
    return f"{model}, {cores} cores, {memory:.0f} GiB, Python {python}"


def seconds(function: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    start = clock()
    function()
    return clock() - start


def interleaved(
    functions: dict[str, Callable[[], object]],
    repetitions: int,
    clock: Callable[[], float] = process_time,
) -> dict[str, float]:
    """The median seconds of each function, their repetitions taken in turns: noise of the machine
    meets all alike.

    By default the seconds that the processor spent on it: what else runs on the core is not
    counted.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repetitions):
        for name, function in functions.items():
            times[name].append(seconds(function, clock))
    return {name: median(values) for name, values in times.items()}


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write(name: str, data: Any, text: str) -> None:
    """results/name.json and results/name.md; the text is printed too."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(text + "\n")
    print(text)


def kept_rows(store: Path) -> list[dict[str, Any]]:
    """The rows of a file that has one a line, of which there may be none yet."""
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def make_missing(
    store: Path, keys: Iterable[dict[str, Any]], make: Callable[..., dict[str, Any]]
) -> None:
    """Make the rows that such a file lacks, and keep each as it ends; a key is what a row is known
    by.
    """
    for key in keys:
        if not any(key.items() <= row.items() for row in kept_rows(store)):
            row = make(**key)
            with store.open("a") as file:
                print(json.dumps(key | row), file=file)
            print(*key.values(), *row.values(), flush=True)
