"""The unlearning law, on the package's own rules: after n updates of the policy gradient from a
uniform policy about n more are needed to come back, after n of a cross-entropy a few.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jekyllhyde.planning.updates import PARAMETRIZATIONS

pytest.importorskip("jax")
pytest.importorskip("matplotlib")
FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
PAGE = FIGURES.parent / "unlearning.md"
TRIAL: Any = runpy.run_path(str(FIGURES / "unlearning.py"))
UPDATES = TRIAL["UPDATES"]


@pytest.fixture(scope="module")
def counts() -> dict[tuple[str, str], tuple[int, ...]]:
    numbers: dict[tuple[str, str], tuple[int, ...]] = TRIAL["counts"]()
    return numbers


def test_the_policy_gradient_takes_as_long_to_come_back(counts: Any) -> None:
    assert UPDATES == (10, 100, 1000, 10_000)
    for name in (("softmax", "tables"), ("paper", "networks")):
        assert counts[name] == (12, 104, 1007, 10_009)
    for name in (("natural_gradient", "tables"), ("natural_gradient", "networks")):
        assert counts[name] == tuple(n + 1 for n in UPDATES)  # the last one breaks the tie
    assert counts["normalized_advantage", "networks"] == pytest.approx(UPDATES, rel=0.3)
    assert counts["mirror_step", "networks"][2:] == pytest.approx(
        (1e3 / math.e, 1e4 / math.e), rel=0.05
    )

    assert counts["published", "networks"][3] == pytest.approx(math.sqrt(2e4), rel=0.15)
    extra = [count - n for count, n in zip(counts["softmax", "tables"], UPDATES, strict=True)]
    assert "the extra {}, {}, {} and {}".format(*extra) in PAGE.read_text()
    assert extra == pytest.approx([math.log(n) for n in UPDATES], abs=1.0)


def test_what_follows_the_order_of_q_comes_back_in_a_few(counts: Any) -> None:
    for place in ("tables", "networks"):
        assert counts["cross_entropy", place] == (2, 3, 4, 6)
        assert counts["raise_greedy", place] == (3, 6, 8, 10)
    assert counts["raise_greedy_centred", "networks"] == counts["cross_entropy", "tables"]
    assert counts["soft_cross_entropy", "networks"] == counts["direct", "tables"] == (2,) * 4
    by_logits = [math.log(n) for n in UPDATES]
    assert counts["raise_greedy", "tables"] == pytest.approx(by_logits, abs=1.5)
    assert counts["cross_entropy", "tables"] == pytest.approx(
        [math.log(2 * n) / 2 for n in UPDATES], abs=1.5
    )


@pytest.mark.parametrize(
    ("rule", "time"),
    [
        ("softmax", lambda x: x + math.sinh(x)),
        ("cross_entropy", lambda x: (x + math.exp(x) - 1.0) / 2.0),
        ("raise_greedy", lambda x: x + math.exp(x) - 1.0),
        ("natural_gradient", lambda x: x),
    ],
)
def test_the_log_odds_grow_as_the_page_derives(rule: str, time: Callable[[float], float]) -> None:
    for n in (200, 600):
        *_, pi = TRIAL["policies"](rule, (TRIAL["FIRST"], n))
        assert time(math.log(pi[0] / pi[1])) == pytest.approx(n, rel=0.03)


def test_every_rule_is_in_the_page_s_table(counts: Any) -> None:
    table = (FIGURES / "unlearning.md").read_text()
    assert table == TRIAL["table"]()
    for name in PARAMETRIZATIONS:
        assert f"| `{name}` |" in table
    assert np.all([len(numbers) == len(UPDATES) for numbers in counts.values()])
