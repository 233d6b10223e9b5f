"""The yardsticks of exploration, against computations written by hand from their rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.deep_sea import action_mapping, deep_sea
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.locks import locks
from jekyllhyde.mdp.maze import layout, maze
from jekyllhyde.mdp.river_swim import river_swim
from mdps import Outcomes, best_value, deterministic, outcomes


def dive(n: int, row: int, column: int, right: bool, stochastic: bool) -> Outcomes:
    """One step in the sea, as its rules say."""
    reward = -0.01 / n if right else 0.0
    if row == n - 1:
        reward += 1.0 if right and column == n - 1 else 0.0
        if stochastic and column in (0, n - 1):
            return {n * n + 1: (0.5, reward + 1.0), n * n + 2: (0.5, reward - 1.0)}
        return {n * n: (1.0, reward)}
    down = (row + 1) * n
    if not right:
        return {down + max(column - 1, 0): (1.0, reward)}
    if not stochastic:
        return {down + column + 1: (1.0, reward)}
    return {down + column + 1: (1.0 - 1.0 / n, reward), down + column: (1.0 / n, reward)}


@pytest.mark.parametrize("stochastic", [False, True])
@pytest.mark.parametrize(("n", "seed"), [(2, 42), (5, 42), (7, 3)])
def test_every_step_of_the_sea(n: int, seed: int, stochastic: bool) -> None:
    mdp = deep_sea(n, mapping_seed=seed, stochastic=stochastic)
    right = np.random.RandomState(seed).binomial(1, 0.5, [n, n])
    np.testing.assert_array_equal(action_mapping(n, seed), right)
    assert mdp.n_states == n * n + (3 if stochastic else 1)
    for s in range(mdp.n_states):
        row, column = divmod(s, n)
        assert mdp.is_terminal[s] == (row >= n or column > row)
        for a in range(2):
            expected: Outcomes = {}
            if not mdp.is_terminal[s]:
                expected = dive(n, row, column, a == right[row, column], stochastic)
            found = outcomes(mdp, s, a)
            assert found.keys() == expected.keys()
            for t, pair in expected.items():
                assert found[t] == pytest.approx(pair, abs=1e-15)


def test_the_mapping_of_bsuite() -> None:
    drawn = [[0, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1], [1, 0, 0, 0]]
    np.testing.assert_array_equal(action_mapping(4), drawn)
    same, other = deep_sea(6, mapping_seed=42), deep_sea(6, mapping_seed=43)
    np.testing.assert_array_equal(deep_sea(6).P.indices, same.P.indices)
    assert not np.array_equal(same.P.indices, other.P.indices)


@pytest.mark.parametrize("n", [4, 10])
def test_the_value_of_the_sea(n: int) -> None:
    assert deep_sea(n, gamma=1.0).J_star == pytest.approx(0.99)
    # the costs stop where the wind carries the diver off the diagonal
    stays = (1.0 - 1.0 / n) ** np.arange(n)
    windy = deep_sea(n, gamma=1.0, stochastic=True)
    assert windy.J_star == pytest.approx(stays[-1] - 0.01 / n * stays.sum())
    assert windy.J_star == pytest.approx(best_value(windy, n))
    right = action_mapping(n).ravel()
    for sea in (deep_sea(n), deep_sea(n, stochastic=True)):
        left = np.append(1 - right, np.zeros(sea.n_states - n * n, dtype=int))
        assert sea.evaluate(deterministic(left, 2)).J == pytest.approx(sea.J_low) == 0.0


def test_the_easy_mapping_is_the_sea_of_version_0_1() -> None:
    n = 5
    row, column = np.divmod(np.arange(n * n), n)
    states = np.stack([np.maximum(column - 1, 0), np.minimum(column + 1, n - 1)], axis=1)
    successor = np.where(row[:, None] == n - 1, n * n, (row[:, None] + 1) * n + states)
    r = np.zeros((n * n + 1, 2))
    r[: n * n, 1] = -0.01 / n
    r[n * n - 1, 1] += 1.0
    mdp = deep_sea(n, mapping="easy")
    np.testing.assert_array_equal(mdp.P.indices, successor.ravel())
    np.testing.assert_array_equal(mdp.r, r)
    np.testing.assert_array_equal(mdp.terminal, [n * n])


def test_river_swim() -> None:
    mdp = river_swim(4)
    back, swim = mdp.P.toarray().reshape(4, 2, 4).transpose(1, 0, 2)
    np.testing.assert_array_equal(back, [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(
        swim, [[0.4, 0.6, 0, 0], [0.05, 0.6, 0.35, 0], [0, 0.05, 0.6, 0.35], [0, 0, 0.4, 0.6]]
    )
    np.testing.assert_array_equal(mdp.r, [[0.005, 0], [0, 0], [0, 0], [0, 1]])
    for n in (6, 12, 24):
        river = river_swim(n)
        upstream = river.P.toarray()[1::2]
        v = np.linalg.solve(np.eye(n) - 0.99 * upstream, np.eye(n)[-1])
        assert river.J_star == pytest.approx(v[0])
        assert pytest.approx(0.5) == river.J_low
        ahead = np.linalg.solve(np.eye(n - 1) - upstream[:-1, :-1], np.ones(n - 1))[0]
        assert ahead < DOMAINS["river_swim"].cut(n=n) / 3  # the mean time of the swim


@pytest.mark.parametrize(("length", "n_actions", "seed"), [(2, 2, 0), (6, 4, 0), (9, 5, 3)])
def test_locks(length: int, n_actions: int, seed: int) -> None:
    mdp = locks(length, n_actions, gamma=0.9, seed=seed)
    levels, end = length - 1, mdp.n_states - 1
    assert mdp.n_states == 5 * levels + 2
    first = [tuple(outcomes(mdp, 0, a)) for a in range(n_actions)]
    assert first.count((3, 4)) == n_actions // 2
    assert first.count((1, 2)) == n_actions - n_actions // 2
    for s in range(1, end):
        level, place = divmod(s - 1, 5)
        following, is_last = 1 + 5 * (level + 1), level == levels - 1
        found = [outcomes(mdp, s, a) for a in range(n_actions)]
        dead = {end if is_last else following + 4: (1.0, 0.0)}
        if place == 4:
            assert found == [dead] * n_actions
            continue
        lock = following + place // 2 * 2
        prize = {0: 1.0, 1: 0.25}[place // 2]
        onward = {end: (1.0, prize)} if is_last else {lock: (0.5, 0.0), lock + 1: (0.5, 0.0)}
        assert found.count(onward) == 1
        assert found.count({next(iter(dead)): (1.0, 0.05)}) == n_actions - 1
    assert mdp.J_star == pytest.approx(0.9 ** (length - 1))
    undiscounted = locks(length, n_actions, gamma=1.0, seed=seed)
    assert best_value(undiscounted, length) == pytest.approx(1.0) == undiscounted.J_star
    # of a uniform policy: the bait at each level, and the mean of the prizes at the end
    right = 1.0 / n_actions
    bait = sum(0.05 * (1.0 - right) * right**k for k in range(levels))
    share = (n_actions - n_actions // 2) / n_actions
    assert undiscounted.J_low == pytest.approx(
        bait + right**levels * (share + 0.25 * (1.0 - share))
    )


def test_combinations_differ_between_seeds() -> None:
    one, same, other = (locks(12, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.r, same.r)
    assert not np.array_equal(one.r, other.r)


def distance(free: np.ndarray, start: tuple[int, int], goal: tuple[int, int]) -> int:
    found, queue = {start: 0}, deque([start])
    while queue:
        i, j = queue.popleft()
        for cell in ((i - 1, j), (i, j + 1), (i + 1, j), (i, j - 1)):
            if free[cell] and cell not in found:
                found[cell] = found[i, j] + 1
                queue.append(cell)
    assert len(found) == free.sum(), "a cell cannot be reached"
    return found[goal]


@pytest.mark.parametrize(("rooms", "size"), [(2, 3), (3, 4), (4, 5), (5, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_mazes(rooms: int, size: int, seed: int) -> None:
    plan, mdp = layout(rooms, size, seed), maze(rooms, size, seed=seed)
    side = rooms * (size + 1) + 1
    assert plan.free.shape == (side, side)
    assert not np.append(plan.free[[0, -1]], plan.free[:, [0, -1]]).any()
    doors = plan.free.sum() - (rooms * size) ** 2
    assert rooms**2 - 1 <= doors <= 2 * rooms * (rooms - 1)
    np.testing.assert_array_equal(plan.state[tuple(plan.cell.T)], np.arange(mdp.n_states))
    trap, goal = tuple(plan.cell[plan.trap]), tuple(plan.cell[plan.goal])
    assert trap == ((size + 1) // 2,) * 2
    assert goal == (side - 2, side - 2)
    np.testing.assert_array_equal(mdp.terminal, [plan.trap, plan.goal])
    walls = plan.free.copy()
    walls[trap] = False
    steps = distance(walls, (1, 1), (side - 2, side - 2))
    assert mdp.J_star == pytest.approx(0.99 ** (steps - 1))
    assert steps <= DOMAINS["maze"].cut(rooms=rooms, size=size)
    entered = [(t, r) for s in range(mdp.n_states) for a in range(4)
               for t, (_, r) in outcomes(mdp, s, a).items() if r]  # fmt: skip
    assert set(entered) == {(plan.trap, 0.1), (plan.goal, 1.0)}


def test_a_maze_with_slip_and_its_map() -> None:
    plain, slippery = maze(2, 3), maze(2, 3, slip=0.4)
    n = plain.n_states
    dense = plain.P.toarray().reshape(n, 4, n)
    mixed = 0.6 * dense + 0.4 * dense.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(slippery.P.toarray().reshape(n, 4, n), mixed, atol=1e-15)
    assert plain.J_star > slippery.J_star > slippery.J_low
    drawn = DOMAINS["maze"].draw_map(rooms=2, size=3, seed=5, slip=0.4)
    np.testing.assert_array_equal(drawn.free, layout(2, 3, 5).free)
    assert not np.array_equal(layout(4, 5, 0).free, layout(4, 5, 1).free)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: deep_sea(5, mapping="identity"), "mapping is 'identity'; it must be one of"),
        (lambda: deep_sea(5, mapping_seed=-1), "mapping_seed is -1; it must be an integer of"),
        (lambda: deep_sea(5, mapping_seed=2**32), "mapping_seed is 4294967296; it must lie below"),
        (lambda: river_swim(2), "n is 2; it must be an integer of at least 3"),
        (lambda: river_swim(gamma=1.0), "gamma is 1.0; the river has no end and takes one in [0"),
        (lambda: locks(1), "length is 1; it must be an integer of at least 2"),
        (lambda: locks(6, 1), "n_actions is 1; it must be an integer of at least 2"),
        (lambda: locks(6, seed=-1), "seed is -1; it must be an integer of at least 0"),
        (lambda: maze(1), "rooms is 1; it must be an integer of at least 2"),
        (lambda: maze(4, 2), "size is 2; it must be an integer of at least 3"),
        (lambda: maze(slip=2.0), "slip is 2.0; it must lie in [0, 1]"),
        (lambda: maze(seed=-3), "seed is -3; it must be an integer of at least 0"),
        (lambda: DOMAINS["locks"](depth=3), "locks does not take depth; it takes length, n_act"),
    ],
)
def test_bad_options(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(sentence)
