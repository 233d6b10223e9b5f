"""The grammar of schedules, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jekyllhyde.errors import InputError
from jekyllhyde.schedule import Schedule, parse, positive, probability


@pytest.mark.parametrize(
    ("text", "c", "alpha", "written"),
    [
        (0.5, 0.5, 0.0, "0.5"),
        (2, 2.0, 0.0, "2"),
        (np.float64(0.25), 0.25, 0.0, "0.25"),
        ("0.5", 0.5, 0.0, "0.5"),
        (" .5 ", 0.5, 0.0, "0.5"),
        ("1e-3", 0.001, 0.0, "0.001"),
        ("100/t", 100.0, 1.0, "100/t"),
        ("100 / t", 100.0, 1.0, "100/t"),
        ("10/sqrt(t)", 10.0, 0.5, "10/sqrt(t)"),
        ("10/t^0.5", 10.0, 0.5, "10/sqrt(t)"),
        ("10/t**0.5", 10.0, 0.5, "10/sqrt(t)"),
        ("10/t^(0.75)", 10.0, 0.75, "10/t^0.75"),
        ("1e2/t^2", 100.0, 2.0, "100/t^2"),
    ],
)
def test_grammar(text: Any, c: float, alpha: float, written: str) -> None:
    schedule = parse(text)
    assert (schedule.c, schedule.alpha) == (c, alpha)
    assert str(schedule) == written
    assert parse(schedule) is schedule
    assert schedule(1) == c
    assert schedule(16) == pytest.approx(c / 16**alpha)
    assert schedule.constant == (alpha == 0.0)


@given(c=st.floats(0.001, 1000), alpha=st.floats(0.05, 3), first=st.integers(1, 50))
def test_values_follow_the_formula(c: float, alpha: float, first: int) -> None:
    schedule = parse(f"{c!r}/t^{alpha!r}")
    np.testing.assert_allclose(
        schedule.values(first, 5), [c / t**alpha for t in range(first, first + 5)], rtol=1e-12
    )
    np.testing.assert_array_equal(schedule.values(first, 5)[2:], schedule.values(first + 2, 3))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "t",
        "x/t",
        "10/s",
        "10/t^",
        "10/t^-1",
        "-1/t",
        "10/sqrt(s)",
        "1/t/t",
        "nan",
        "inf",
        "ten",
        None,
        True,
    ],
)
def test_what_is_not_a_schedule(text: Any) -> None:
    with pytest.raises(
        InputError,
        match=r'^eta .* is not a schedule; write a number, "c/t", "c/sqrt\(t\)" or "c/t\^alpha"$',
    ):
        parse(text, "eta")


def test_callables() -> None:
    def halving(t: int) -> float:
        return 2.0**-t

    schedule = parse(halving)
    np.testing.assert_array_equal(schedule.values(1, 3), [0.5, 0.25, 0.125])
    assert str(schedule) == "halving"
    assert schedule.sum_diverges is None
    assert not schedule.constant
    with pytest.raises(InputError, match="gives nan; values are numbers of at least 0"):
        parse(lambda t: np.nan)(1)


@pytest.mark.parametrize(
    ("text", "diverges"),
    [("1", True), ("0", False), ("1/t", True), ("1/sqrt(t)", True), ("1/t^1.01", False)],
)
def test_divergence_of_the_sum(text: str, diverges: bool) -> None:
    assert parse(text).sum_diverges is diverges


@pytest.mark.parametrize("value", [1.1, -0.1, "2", Schedule(3.0)])
def test_a_constant_probability_lies_between_0_and_1(value: Any) -> None:
    with pytest.raises(InputError, match=r"^o is .*; a constant o is a probability in \[0, 1\]$"):
        probability(value, "o")


def test_a_decaying_probability_may_start_above_1() -> None:
    assert probability("10/sqrt(t)", "o")(1) == 10.0
    assert probability(1.0, "o")(7) == 1.0


@pytest.mark.parametrize("value", [0.0, -1.0, "0/t"])
def test_step_sizes_are_positive(value: Any) -> None:
    with pytest.raises(InputError, match=r"^eta is .*; it must be positive$"):
        positive(value, "eta")
