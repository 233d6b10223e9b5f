"""Running what a store lacks: cells become tasks of seconds to minutes, tasks run on all cores or
on a Ray cluster.

A run's numbers depend on its cell and its number alone (`spec.Cell.stream`), so every engine and
any number of workers give the same rows, and so does going on after a stop.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from jekyllhyde.errors import LackOfMemory, check_choice, require
from jekyllhyde.lab.cell_settings import canonical
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.problems import CACHED
from jekyllhyde.lab.spec import Cell, Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_folder import prepare_writing
from jekyllhyde.lab.suite import Suite
from jekyllhyde.parallel import count_threads, machine_memory

ENGINES = ("local", "ray")
TASK_SECONDS = 10.0  # how much work a task should be at most, by the methods' estimates
SHARES = 8  # tasks per worker in a small sweep, so that all are busy until the end
Report = Callable[["Status"], None]


@dataclass(frozen=True)
class Task:
    """Stretches of runs that one worker computes and stores together."""

    blocks: tuple[tuple[Cell, range], ...]
    work: float

    @property
    def runs(self) -> int:
        return sum(len(runs) for _, runs in self.blocks)


@dataclass
class Status:
    """How far a sweep is: runs and tasks done, of how many; failures among the runs; `work` done,
    by the estimate in seconds.
    """

    tasks: int
    runs: int
    work: float
    tasks_done: int = 0
    runs_done: int = 0
    failed: int = 0
    work_done: float = 0.0
    seconds: float = 0.0


# A task that has ended with its number of failed runs; None now and then while waiting.
Done = Generator[tuple[Task | None, int]]


class Stopped(BaseException):
    """Raised inside a task that is to end early, past those who catch failures of runs; what it has
    not stored is lost.
    """


def tasks_of(
    experiments: Sequence[Experiment | Suite], store: Store, workers: int | None = None
) -> list[Task]:
    """What the store lacks, cut and bundled into tasks of similar work; a cell that two experiments
    share is run once.
    """
    wanted: dict[str, tuple[Cell, int]] = {}
    for experiment in experiments:
        for cell in experiment.cells:
            first, runs = wanted.get(cell.digest, (cell, 0))
            wanted[cell.digest] = (first, max(runs, experiment.runs))
    lacking = [
        (
            cell,
            METHODS[cell.method].estimate(cell.problem, cell.settings),
            store.missing(digest, runs),
        )
        for digest, (cell, runs) in wanted.items()
    ]
    total = sum(cost * sum(map(len, stretches)) for _, cost, stretches in lacking)
    seconds = min(TASK_SECONDS, max(0.1, total / (SHARES * workers) if workers else TASK_SECONDS))
    tasks: list[Task] = []
    bundle: list[tuple[Cell, range]] = []
    filled = 0.0
    for cell, cost, stretches in lacking:
        for stretch in stretches:
            size = len(stretch) if METHODS[cell.method].whole else max(1, round(seconds / cost))
            for i in range(0, len(stretch), size):
                bundle.append((cell, stretch[i : i + size]))
                filled += cost * len(stretch[i : i + size])
                if filled >= seconds:
                    tasks.append(Task(tuple(bundle), filled))
                    bundle, filled = [], 0.0
    return [*tasks, Task(tuple(bundle), filled)] if bundle else tasks


def check_memory(tasks: Sequence[Task], workers: int) -> None:
    """Refuse work that this machine has too little memory for, before any of it is begun."""
    sizes = {
        cell.id: METHODS[cell.method].size(cell.problem, cell.settings)
        for task in tasks
        for cell, _ in task.blocks
    }
    largest = max(sizes, key=lambda name: sizes[name])
    needed, available = workers * sizes[largest], machine_memory()
    if needed > available:
        raise LackOfMemory(
            f"{largest}: {workers} such runs at once may take {needed / 2**30:.0f} GiB, more than "
            f"the {available / 2**30:.1f} GiB there are; give fewer workers, or shorter runs"
        )


def execute(
    task: Task, store: Store, progress: Callable[[float], None] = lambda work: None
) -> tuple[str | None, int]:
    """Compute a task and store it; the part's name and the number of failed runs. This is all that
    a worker does.
    """
    started = time.perf_counter()
    blocks = [
        (cell, _rows(cell, runs, task.work / task.runs, progress)) for cell, runs in task.blocks
    ]
    return (
        store.add(blocks, time.perf_counter() - started, lambda: progress(0.0)),
        sum(row.get("failure") is not None for _, rows in blocks for row in rows),
    )


def _rows(
    cell: Cell, runs: range, work: float, progress: Callable[[float], None]
) -> list[dict[str, Any]]:
    # What is stored under a digest must be what the digest was made of: not a file edited since,
    # nor one of another machine.
    require(
        replace(cell).digest == cell.digest,
        f"{cell.id}: its files (or this library) are not those that the sweep was started with; "
        "start it again",
    )
    method = METHODS[cell.method]
    share = work / max(1, method.work(cell.settings))
    return method.run_block(
        cell.problem, cell.settings, cell.stream, runs, lambda count: progress(count * share)
    )


def run(
    experiments: Sequence[Experiment | Suite],
    store: Store,
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    report: Report | None = None,
) -> Status:
    """Compute what the store lacks of these experiments; `report` is called as work goes on.

    What was damaged in the store is set aside and computed again. An interrupt (Ctrl-C) stops
    within a second or two; what the tasks under way have not stored is computed the next time.
    """
    check_choice(engine, "engine", ENGINES)
    store.refresh()
    if store.damaged:
        store.set_aside(list(store.damaged))
    tasks = tasks_of(experiments, store, count_threads(workers) if engine == "local" else workers)
    status = Status(len(tasks), sum(task.runs for task in tasks), sum(task.work for task in tasks))
    started = time.perf_counter()
    report = report or (lambda status: None)
    if tasks:
        check_memory(tasks, count_threads(workers) if engine == "local" else 1)
        prepare_writing(store.folder)
    report(status)
    if tasks:
        if engine == "ray":
            from jekyllhyde.lab.cluster import run_on_ray

            done = run_on_ray(tasks, store.folder, address, workers, status)
        else:
            done = _run_here(tasks, store, count_threads(workers), status)
        with contextlib.closing(done):
            for task, failed in done:
                if task is not None:
                    status.tasks_done += 1
                    status.runs_done += task.runs
                    status.failed += failed
                status.seconds = time.perf_counter() - started
                report(status)
        store.refresh()
    status.seconds = time.perf_counter() - started
    return status


def keep_busy(
    tasks: Iterable[Task],
    pending: dict[Any, Task],
    *,
    room: Callable[[], int],
    submit: Callable[[Task], Any],
    ended: Callable[[dict[Any, Task]], Iterable[Any]],
    failed: Callable[[Any, Task], int],
) -> Done:
    """Have as many tasks under way as there is room for, until all have ended; `pending` are those
    under way by what `submit` gives, `ended` waits a little for some of them.
    """
    waiting = iter(tasks)
    while True:
        for task in itertools.islice(waiting, max(0, room() - len(pending))):
            pending[submit(task)] = task
        if not pending:
            return
        done = list(ended(pending))
        for future in done:
            task = pending.pop(future)
            yield task, failed(future, task)
        if not done:
            yield None, 0


def _run_here(tasks: list[Task], store: Store, workers: int, status: Status) -> Done:
    # Threads: the compiled loops release the interpreter's lock.
    lock, stop = threading.Lock(), threading.Event()

    def progress(work: float) -> None:
        if stop.is_set():
            raise Stopped
        with lock:
            status.work_done += work

    pool = ThreadPoolExecutor(workers)
    try:
        yield from keep_busy(
            tasks,
            {},
            room=lambda: 2 * workers,
            submit=lambda task: pool.submit(execute, task, store, progress),
            ended=lambda pending: wait(pending, 0.5, FIRST_COMPLETED).done,
            failed=lambda future, task: future.result()[1],
        )
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def calibrate(
    experiments: Sequence[Experiment | Suite], store: Store, workers: int | None = None
) -> tuple[list[Task], float]:
    """The tasks to do, and how many seconds they should take at most: a little of each series is
    run to find out, and a problem of each kind is made.
    """
    tasks = tasks_of(experiments, store)
    if tasks:
        check_memory(tasks, count_threads(workers))
    blocks = [block for task in tasks for block in task.blocks]
    first = {(cell.experiment, cell.series): cell for cell, _ in reversed(blocks)}
    rates = {series: _seconds_per_unit(cell) for series, cell in first.items()}
    work = sum(
        rates[cell.experiment, cell.series] * METHODS[cell.method].work(cell.settings) * len(runs)
        for cell, runs in blocks
    )
    return tasks, (work + _seconds_of_problems(blocks)) / count_threads(workers)


def _seconds_of_problems(blocks: Sequence[tuple[Cell, range]]) -> float:
    # Making the MDPs: once each, shared by the cells as long as they are remembered.
    total = 0.0
    lengths: dict[str, list[int]] = {}
    first: dict[str, Cell] = {}
    for cell, runs in blocks:
        key = canonical(cell.problem)
        first.setdefault(key, cell)
        lengths.setdefault(key, []).append(len(runs))
    for key, cell in first.items():
        seconds, random = METHODS[cell.method].problems.making(cell.problem)
        most = max(lengths[key])
        total += seconds * (sum(lengths[key]) if most > CACHED else most) if random else seconds
    return total


def _seconds_per_unit(cell: Cell) -> float:
    # Seconds per update or trajectory, on one core, from a fiftieth of a second or more of work.
    method = METHODS[cell.method]
    most = max(1, method.work(cell.settings))
    units, seconds = 0, 0.0
    while seconds < 0.02 and units < most:
        units = min(max(200, 4 * units), most)
        settings = {k: v for k, v in cell.settings.items() if k != "target"} | {method.unit: units}
        for _ in range(2):  # the second time everything is compiled, and in the caches
            started = time.perf_counter()
            method.run_block(cell.problem, settings, 0, range(1), lambda count: None)
            seconds = time.perf_counter() - started
    return seconds / units
