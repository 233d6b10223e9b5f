"""Calls of the benchmark of exploration with networks end in time, with what there is by then."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

pytest.importorskip("jax")

SMALL = {"hidden": (4,), "hidden_hyde": (4,), "batch": 4, "capacity": 200, "warmup": 2}
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
OWN = ("deep_calls", "classic_control", "maze_task", "mini_grid", "remembering_task")


@pytest.fixture(scope="module")
def calls() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        import deep_calls  # type: ignore[import-not-found]

        yield deep_calls
    for name in OWN:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("task", "budget", "every"), [("bends", 60, 20), ("sea:10", 30, 10)])
def test_a_call_ends_at_its_budget_or_in_time(
    calls: Any, task: str, budget: int, every: int
) -> None:
    run = calls.Call(task, {"small": SMALL}, seeds=2, budget=budget, every=every).prepare()
    (whole,) = run(perf_counter() + 600.0)
    (cut,) = run(0.0)
    assert (whole["label"], whole["task"], whole["seeds"]) == ("small", task, 2)
    assert (whole["budget"], cut["budget"]) == (budget, every)
    assert len(whole["first"]) == len(cut["first"]) == 2
    if "scores" in whole:
        assert [run[:1] for run in whole["scores"]] == cut["scores"]  # the same runs
    else:
        assert whole["coverage"][0] == cut["coverage"][0]


def test_a_stochastic_sea_is_left_once_all_runs_have_counted(
    calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "AFTER", 20)
    monkeypatch.setattr(calls.Call, "_counted", lambda self, kind, size, records, n: [10, 30])
    call = calls.Call("windy:10", {"small": SMALL}, seeds=2, budget=100, every=10)
    (record,) = call.prepare()(perf_counter() + 600.0)
    assert record["budget"] == 50
