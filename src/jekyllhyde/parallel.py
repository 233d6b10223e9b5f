"""Independent runs on all cores: kernels release the interpreter's lock, so plain threads do."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jekyllhyde.errors import check_count

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


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
    function: Callable[[Item], Outcome], items: Iterable[Item], threads: int | None = None
) -> list[Outcome]:
    """The outcome of `function` for every item, in order; the first error stops what has not begun."""
    with ThreadPoolExecutor(count_threads(threads)) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
