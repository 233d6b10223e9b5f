"""The yardsticks of exploration, against computations written by hand from their rules."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from jekyllhyde.cli import main
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.yardsticks import YARDSTICKS
from jekyllhyde.mdp.deep_sea import action_mapping, deep_sea
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.locks import locks
from jekyllhyde.mdp.maze import layout, maze
from jekyllhyde.mdp.river_swim import river_swim
from mdps import deterministic

Outcomes = dict[int, tuple[float, float]]  # successor: probability and reward


def outcomes(mdp: FiniteMDP, s: int, a: int) -> Outcomes:
    row = s * mdp.n_actions + a
    entries = range(mdp.P.indptr[row], mdp.P.indptr[row + 1])
    return {int(mdp.P.indices[e]): (float(mdp.P.data[e]), float(mdp.r_next[e])) for e in entries}


def best_value(mdp: FiniteMDP, steps: int) -> float:
    """The optimal undiscounted return within so many steps, by backward induction."""
    v = np.zeros(mdp.n_states)
    for _ in range(steps):
        q = [
            [
                sum(p * (r + v[t]) for t, (p, r) in outcomes(mdp, s, a).items())
                for a in range(mdp.n_actions)
            ]
            for s in range(mdp.n_states)
        ]
        v = np.max(q, axis=1)
    return float(mdp.p0 @ v)


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


CASES = {
    "windy dive": (deep_sea(4, stochastic=True), 0, int(action_mapping(4)[0, 0])),
    "noisy corner": (deep_sea(4, stochastic=True), 15, 0),
    "swim": (river_swim(6), 3, 1),
    "lock": (locks(4), 0, 1),
    "slip": (maze(2, 3, slip=0.5), 0, 1),
}


@pytest.mark.parametrize("face", ["gymnasium", "jax"])
@pytest.mark.parametrize("case", CASES)
def test_both_faces_have_the_models_frequencies_and_rewards(case: str, face: str) -> None:
    (mdp, s, a), n = CASES[case], 4000
    if face == "gymnasium":
        env = TabularEnv(mdp)
        env.reset(seed=1)
        steps = []
        for _ in range(n):
            env.reset(options={"state": s})
            steps.append(env.step(np.int64(a))[:2])
        arrived, rewards = np.array([t for t, _ in steps]), np.array([r for _, r in steps])
    else:
        jax, jnp = pytest.importorskip("jax"), pytest.importorskip("jax.numpy")
        from jekyllhyde.envs import functional

        model, state = (
            functional.make_model(mdp, 100),
            functional.EnvState(jnp.int32(s), jnp.int32(0)),
        )
        keys = jax.random.split(jax.random.key(1), n)
        after, outcome = jax.vmap(lambda key: functional.step(model, state, jnp.int32(a), key))(
            keys
        )
        arrived, rewards = np.asarray(after.s), np.asarray(outcome.reward)
    expected = outcomes(mdp, s, a)
    assert set(arrived.tolist()) == set(expected)
    for t, (p, r) in expected.items():
        assert abs(np.mean(arrived == t) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9
        assert rewards[arrived == t] == pytest.approx(r, abs=1e-6)
    if case == "noisy corner":
        assert np.var(rewards) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    "mdp",
    [deep_sea(6, gamma=1.0, stochastic=True), river_swim(6), locks(5, 3), maze(2, 3, slip=0.1)],
    ids=lambda mdp: mdp.name,
)
def test_optimal_scores_in_jax(mdp: FiniteMDP) -> None:
    pytest.importorskip("jax")
    from jekyllhyde.envs import functional

    score = functional.optimal_score(functional.make_model(mdp, 25))
    assert float(score) == pytest.approx(best_value(mdp, 25), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [
        ("RiverSwim", {"n": 12}, 240),
        ("RiverSwim", {}, 120),
        ("DeepSea", {"n": 120, "stochastic": True}, 120),
        ("Locks", {"length": 25, "seed": 3}, 25),
        ("Maze", {"rooms": 3, "size": 4, "slip": 0.2}, 120),
        ("RiverSwim", {"horizon": 30}, 30),
    ],
)
def test_episodes_are_as_long_as_the_options_ask(
    name: str, options: dict[str, Any], steps: int
) -> None:
    env = gym.make(f"jekyllhyde/{name}-v0", **options)
    env.reset(seed=0)
    taken, terminated, truncated = 0, False, False
    while not (terminated or truncated):
        _, _, terminated, truncated, _ = env.step(np.int64(0))
        taken += 1
    assert taken == steps
    assert terminated == (name in ("DeepSea", "Locks"))


def test_learning_gives_the_swimmer_time(capsys: pytest.CaptureFixture[str]) -> None:
    work = "train river_swim --n 8 --trajectories 20 --runs 1 --json"
    assert main(work.split()) == 0
    assert json.loads(capsys.readouterr().out)["work"] == f"{20 * 160} steps"
    assert main(["list", "--json"]) == 0
    domains = json.loads(capsys.readouterr().out)["domains"]
    assert [domains[name]["horizon"] for name in ("river_swim", "maze", "chain")] == [120, 200, 100]


@pytest.mark.parametrize("name", YARDSTICKS)
def test_every_yardstick_is_a_problem_of_experiments(name: str) -> None:
    yardstick = YARDSTICKS[name]
    series = [{"label": "J&H"}]
    settings = {"trajectories": 10, "horizon": yardstick.horizon}
    experiment = Experiment("all", "learn", yardstick.problem, series, settings)
    assert len(experiment.cells) == 1
    mdp = yardstick.make()
    assert mdp.J_star > mdp.J_low
    assert yardstick.make(0) is mdp
    assert (yardstick.make(1) is mdp) == (yardstick.name not in ("garnet", "locks", "maze"))


def test_the_table_of_yardsticks() -> None:
    assert len(YARDSTICKS) == 22
    horizons = {name: yardstick.horizon for name, yardstick in YARDSTICKS.items()}
    expected = {"taxi": 200, "cliff_walking": 200, "frozen_lake_4x4": 100, "frozen_lake_8x8": 200}
    expected |= {"deep_sea_100": 100, "river_swim_24": 480, "locks_50": 50, "maze": 200}
    assert horizons | expected == horizons
    assert YARDSTICKS["frozen_lake_8x8"].make().n_states == 64
    assert "stochastic" in YARDSTICKS["deep_sea_stochastic_20"].make().name


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
