"""bsuite's score, on examples computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.lab.bsuite_score import (
    LOGGED,
    RULES,
    SIZES,
    bad_dives,
    first_below,
    left_diagonal,
    missed_treasure,
    score,
    solved_at,
)
from jekyllhyde.mdp.deep_sea import action_mapping

ARTICLE, CODE, STOCHASTIC = (RULES[name] for name in ("deterministic", "code", "stochastic"))


def bad_until(good_from: int, episodes: int = 10_000) -> np.ndarray:
    """Episodes that are bad up to number `good_from`, and good from the next on."""
    return np.arange(1, episodes + 1) <= good_from


def test_the_episode_that_solves() -> None:
    # 90 bad episodes: 90/100 is not below 0.9, 90/101 is
    assert solved_at(bad_until(90), ARTICLE) == 101
    # 80/100 is not below 0.8, 80/101 is
    assert solved_at(bad_until(80), CODE) == 101
    assert solved_at(bad_until(0), ARTICLE) == 1
    assert solved_at([True] * 9 + [False], ARTICLE) == np.inf  # 9/10
    assert solved_at([True] * 9 + [False] * 2, ARTICLE) == 11
    assert solved_at([True] * 8 + [False], ARTICLE) == 9
    assert solved_at(bad_until(10_000), ARTICLE) == np.inf


def test_stochastic_seas_are_looked_at_from_episode_100_on() -> None:
    assert solved_at(bad_until(0), STOCHASTIC) == 100
    # below 0.8 early, by luck, and no more at 100
    lucky = np.append([False], np.ones(9_999, dtype=bool))
    assert solved_at(lucky, CODE) == 1
    assert solved_at(lucky, STOCHASTIC) == np.inf
    assert solved_at(bad_until(800), STOCHASTIC) == 1001


def test_only_10_000_episodes_count() -> None:
    assert solved_at(bad_until(8_999, 20_000), ARTICLE) == 9_999
    assert solved_at(bad_until(9_000, 20_000), ARTICLE) == np.inf


def test_the_episodes_that_bsuite_logs() -> None:
    first = [*range(1, 11), 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 170, 200]
    np.testing.assert_array_equal(LOGGED[: len(first)], first)
    assert {250, 900, 1000, 1200, 2500, 9000, 10_000} <= set(LOGGED.tolist())
    assert solved_at(bad_until(90), ARTICLE, logged=True) == 120
    assert solved_at(bad_until(0), STOCHASTIC, logged=True) == 100


def test_the_score_is_the_share_of_sizes_solved_before_dithering() -> None:
    assert SIZES == (10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                     32, 34, 36, 38, 40, 42, 44, 46, 48, 50)  # fmt: skip
    everything = {size: bad_until(90) for size in SIZES}
    assert score(everything, ARTICLE) == 1.0
    # solved at 1,124 = 2^10 + 100 is too late for size 10: 1,011/1,123 is 0.9003, /1,124 0.8995
    late = everything | {10: bad_until(1_011)}
    assert solved_at(late[10], ARTICLE) == 1_124
    assert score(late, ARTICLE) == pytest.approx(20 / 21)
    assert score(late | {10: bad_until(1_010)}, ARTICLE) == 1.0
    never = {size: bad_until(90 if size <= 20 else 10_000) for size in SIZES}
    assert score(never, ARTICLE) == pytest.approx(6 / 21)
    runs = {size: np.stack([bad_until(90), never[size]]) for size in SIZES}
    np.testing.assert_allclose(score(runs, ARTICLE), [1.0, 6 / 21])
    with pytest.raises(InputError, match=r"bad has no episodes of size 12; the sizes are 10, 12,"):
        score({size: everything[size] for size in SIZES if size != 12}, ARTICLE)


def test_bad_episodes() -> None:
    np.testing.assert_array_equal(
        missed_treasure([0.99, 0.99 - 1e-12, 0.0, -0.0099]), [False, False, True, True]
    )
    n, right = 4, action_mapping(4)
    way = np.arange(n) * (n + 1)
    keys = right[np.arange(n), np.arange(n)]
    assert not left_diagonal(way, keys, right)
    wrong = np.where(np.arange(n) == 3, 1 - keys, keys)
    assert left_diagonal(way, wrong, right)  # even at the last row
    # carried straight down from (1, 1) to (2, 1): whatever follows is not bad
    drift = np.array([0, n + 1, 2 * n + 1, 3 * n + 0])
    actions = np.array([keys[0], keys[1], 1 - right[2, 1], 0])
    np.testing.assert_array_equal(
        left_diagonal(np.stack([drift, way]), np.stack([actions, wrong]), right), [False, True]
    )


def test_bad_dives_are_counted_by_the_actions_taken() -> None:
    n, right = 3, action_mapping(3, 0)
    taken = np.zeros((2, n * n + 3, 2), dtype=int)
    keys = [right[i, i] for i in range(n)]
    # two good dives, one that goes wrong at once, one at the last cell, one that the wind took
    for cell, action, often in [
        (0, keys[0], 4),
        (0, 1 - keys[0], 1),
        (n + 1, keys[1], 3),
        (2 * n + 2, keys[2], 2),
        (2 * n + 2, 1 - keys[2], 1),
        (2 * n + 1, 0, 7),  # off the diagonal, which says nothing
    ]:
        taken[1, cell, action] = often
    assert bad_dives(taken, right).tolist() == [0, 2]


def test_the_evaluation_that_solves() -> None:
    bad = [[90, 160, 240], [80, 170, 250], [80, 160, 240]]
    assert first_below(bad, [100, 200, 300], ARTICLE).tolist() == [200, 100, 100]
    assert first_below(bad, [100, 200, 300], STOCHASTIC).tolist() == [np.inf] * 3
    assert first_below([0, 1, 2], [50, 100, 150], STOCHASTIC) == 100
