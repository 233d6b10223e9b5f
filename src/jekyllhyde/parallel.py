"""Independent runs on all cores: kernels release the interpreter's lock, so plain threads do.

Threads are daemons: an interrupt ends the wait for them at once, and the process with it. A run
that looks at `stop` between two stretches of work ends soon after the wait does.
"""

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TypeVar

from jekyllhyde.errors import check_count

WORK = 200_000_000  # operations between two returns to Python, which alone notices an interrupt
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Stopped(Exception):
    """Nobody waits for this run any more."""


def count_threads(threads: int | None) -> int:
    """The number of threads asked for, or one per core that this process may use."""
    if threads is not None:
        return check_count(threads, "threads", 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_memory() -> float:
    """Bytes of memory of this machine; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on every system
        return math.inf


def run_all(
    function: Callable[[Item], Outcome],
    items: Iterable[Item],
    threads: int | None = None,
    stop: threading.Event | None = None,
) -> list[Outcome]:
    """The outcome of `function` for every item, in order; the first error stops what has not begun.

    `stop` is set when the wait is over.
    """
    over = stop or threading.Event()
    tasks: deque[tuple[Item, Future[Outcome]]] = deque((item, Future()) for item in items)
    futures = [future for _, future in tasks]

    def work() -> None:
        while not over.is_set():
            try:
                item, future = tasks.popleft()
            except IndexError:
                return
            try:
                future.set_result(function(item))
            except BaseException as error:
                future.set_exception(error)

    workers = [
        threading.Thread(target=work, daemon=True)
        for _ in range(min(count_threads(threads), len(futures)))
    ]
    for worker in workers:
        worker.start()
    try:
        error = next(filter(None, (future.exception() for future in futures)), None)
    finally:
        over.set()
    for worker in workers:  # an interrupt waits for nobody, an error and the end for all at work
        worker.join()
    if error is not None:
        raise error
    return [future.result() for future in futures]


def interruptible(
    function: Callable[..., Outcome], *arguments: object, long: bool = True
) -> Outcome:
    """A long call of compiled code: an interrupt ends the wait for it, not the call itself."""
    if not long or threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    return run_all(lambda _: function(*arguments), [None], 1)[0]
