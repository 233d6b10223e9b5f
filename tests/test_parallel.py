"""Runs on threads: outcomes in order, the first error, and what happens when nobody waits."""

from __future__ import annotations

import threading
import time

import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.parallel import interruptible, run_all
from jekyllhyde.planning.plan import plan


def test_outcomes_come_in_order() -> None:
    def slower_at_first(i: int) -> int:
        time.sleep(0.01 * (5 - i))
        return i * i

    assert run_all(slower_at_first, range(6), threads=3) == [0, 1, 4, 9, 16, 25]
    assert run_all(slower_at_first, [], threads=3) == []
    with pytest.raises(InputError, match="threads is 0"):
        run_all(slower_at_first, range(6), threads=0)


def test_the_first_error_stops_what_has_not_begun() -> None:
    begun: list[int] = []
    stop = threading.Event()

    def fail(i: int) -> None:
        begun.append(i)
        if i == 1:
            raise InputError(f"item {i}")

    with pytest.raises(InputError, match="item 1"):
        run_all(fail, range(1000), threads=1, stop=stop)
    assert stop.is_set()
    ended = list(begun)
    time.sleep(0.05)
    assert begun == ended


def test_a_run_ends_soon_after_the_wait_for_it() -> None:
    """Both would take hours; the first report of progress ends them."""

    def explode(count: int) -> None:
        raise InputError("enough")

    before = threading.active_count()
    with pytest.raises(InputError, match="enough"):
        plan([chain(5), chain(6)], updates=10**9, threads=2, progress=explode)
    deadline = time.monotonic() + 20.0
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() == before


def test_a_long_call_gives_its_value_or_its_error() -> None:
    assert interruptible(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)
    assert run_all(lambda i: interruptible(divmod, i, 2), [4, 5]) == [(2, 0), (2, 1)]
