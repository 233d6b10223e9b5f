"""The domains against their definitions: closed forms, an exhaustive search, a hand-made grid."""

from __future__ import annotations

import inspect
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.deep_sea import deep_sea
from jekyllhyde.mdp.domains import DOMAINS, find_domain, find_problem
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms, layout
from jekyllhyde.options import Option
from mdps import Floats, deterministic


@pytest.mark.parametrize("n", [2, 3, 10, 25])
@pytest.mark.parametrize("beta", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("convention", ["published", "paper"])
def test_chain(n: int, beta: float, convention: str) -> None:
    mdp = chain(n, beta=beta, convention=convention)
    fruit = beta * 0.99 ** (n - 2)
    assert mdp.J_star == pytest.approx(0.99 ** (n - 2), rel=1e-12)
    assert mdp.J_low == fruit
    leave = mdp.evaluate(deterministic(np.zeros(n, dtype=int), 2))
    last = 1.0 if convention == "published" else fruit
    np.testing.assert_allclose(leave.v, [fruit] * (n - 2) + [last, 0.0])
    np.testing.assert_array_equal(mdp.terminal, [n - 1])
    assert mdp.p0[0] == 1.0
    walk = mdp.evaluate(deterministic(np.ones(n, dtype=int), 2))
    np.testing.assert_allclose(walk.v[:-1], 0.99 ** np.arange(n - 2, -1, -1), rtol=1e-12)
    np.testing.assert_allclose(walk.density(), 0.99 ** np.arange(n), rtol=1e-12)


def goal_values(mdp: FiniteMDP) -> Floats:
    """The optimal value of state 0 for every goal, by plain value iteration on dense arrays; needs
    the rows of all states.
    """
    P = mdp.P.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    values = np.full(mdp.n_states, np.inf)
    for goal in range(1, mdp.n_states):
        v = np.zeros(mdp.n_states)
        for _ in range(3000):
            worth = mdp.gamma * v
            worth[goal] = 1.0
            v = (P @ worth).max(axis=1)
            v[goal] = 0.0
        values[goal] = v[0]
    return values


@pytest.mark.parametrize("seed", range(5))
def test_garnet_goal_against_an_exhaustive_search(seed: int) -> None:
    size = {"n_states": 16, "n_actions": 2, "connectivity": 2, "gamma": 0.95}
    with_goal_1, with_goal_2 = (garnet(**size, seed=seed, goal=goal) for goal in (1, 2))  # type: ignore[arg-type]
    rows = with_goal_1.P.toarray()
    rows[2:4] = with_goal_2.P.toarray()[
        2:4
    ]  # a terminal state has no rows: state 1's come from the other copy
    everything = FiniteMDP(rows.reshape(16, 2, 16), np.zeros((16, 2)), gamma=0.95)
    values = goal_values(everything)
    chosen = {c: garnet(**size, seed=seed, convention=c) for c in ("published", "paper")}  # type: ignore[arg-type]
    allowed = np.where(values > 0.95**50, values, np.inf)
    assert chosen["published"].terminal[0] == np.argmin(allowed)
    assert values[chosen["paper"].terminal[0]] == values.min()
    for mdp in chosen.values():
        goal = int(mdp.terminal[0])
        assert mdp.J_star == pytest.approx(values[goal], abs=1e-9)
        kept = ~np.repeat(mdp.is_terminal, 2)
        np.testing.assert_array_equal(mdp.P.toarray()[kept], rows[kept])
        np.testing.assert_array_equal(mdp.r_next, (mdp.P.indices == goal).astype(float))


@pytest.mark.parametrize("convention", ["published", "paper"])
def test_garnet_goal_where_values_take_long_to_spread(convention: str) -> None:
    """With one action and little discount, a goal's value is a linear solve, and 60 sweeps do not
    find it.
    """
    n, gamma = 40, 0.9999
    differences = 0
    for seed in range(12):
        copies = [garnet(n, 1, 2, gamma=gamma, seed=seed, goal=goal).P.toarray() for goal in (1, 2)]
        rows = np.where(np.arange(n)[:, None] == 1, copies[1], copies[0])
        values = np.full(n, np.inf)
        for goal in range(1, n):
            others = np.arange(n) != goal
            v = np.linalg.solve(np.eye(n - 1) - gamma * rows[others][:, others], rows[others, goal])
            values[goal] = v[0]
        mdp = garnet(n, 1, 2, gamma=gamma, seed=seed, convention=convention)
        allowed = values > gamma**50 if convention == "published" else np.isfinite(values)
        assert values[mdp.terminal[0]] == pytest.approx(values[allowed].min(), abs=1e-12)
        differences += int(values.min() < values[allowed].min())
    assert differences == 0 or convention == "published"


def test_the_conventions_of_the_garnet_differ_where_a_goal_cannot_be_reached() -> None:
    pairs = [(garnet(30, seed=s), garnet(30, seed=s, convention="paper")) for s in range(30)]
    assert all(published.J_star > 0.99**50 for published, _ in pairs)
    assert all(paper.J_star <= published.J_star for published, paper in pairs)
    assert any(paper.J_star == 0.0 for _, paper in pairs)
    assert sum(int(a.terminal[0]) == int(b.terminal[0]) for a, b in pairs) > 15


@pytest.mark.parametrize(("connectivity", "n_states"), [(1, 6), (2, 50), (3, 7), (6, 6)])
def test_garnet_successors_are_distinct(connectivity: int, n_states: int) -> None:
    mdp = garnet(n_states, 3, connectivity, seed=1, convention="paper", goal=n_states - 1)
    counts = np.diff(mdp.P.indptr).reshape(n_states, 3)[~mdp.is_terminal]
    assert (counts == connectivity).all()
    for row in range(mdp.P.shape[0]):
        successors = mdp.P.indices[mdp.P.indptr[row] : mdp.P.indptr[row + 1]]
        assert len(set(successors.tolist())) == len(successors)
    np.testing.assert_allclose(mdp.P.sum(axis=1)[: 3 * (n_states - 1)], 1.0)


def test_garnet_draws_are_uniform() -> None:
    mdp = garnet(100, 100, 2, seed=5, goal=1)
    hits = np.bincount(mdp.P.indices, minlength=100)
    assert abs(hits - 198).max() < 5 * np.sqrt(198)
    smaller = mdp.P.data.reshape(-1, 2)[:, 0]
    assert np.quantile(smaller, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.02)


def test_same_seed_same_garnet_other_seed_other_garnet() -> None:
    first, again, other = garnet(40, seed=4), garnet(40, seed=4), garnet(40, seed=5)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(first.P, name), getattr(again.P, name))
    assert first.terminal[0] == again.terminal[0]
    assert not np.array_equal(first.P.indices[:50], other.P.indices[:50])
    assert not np.array_equal(first.P.data[:50], other.P.data[:50])


def test_garnet_normalization() -> None:
    mdp = garnet(50, seed=2)
    assert mdp.J_low == mdp.evaluate(mdp.uniform_policy()).J
    assert mdp.J_low < mdp.J_star
    assert mdp.p0[0] == 1.0


@pytest.mark.parametrize(("level", "score"), [(1, 89.14), (2, 88.83)])
def test_four_rooms_score(level: int, score: float) -> None:
    mdp = four_rooms(level, gamma=1.0)
    assert mdp.J_star == pytest.approx(score, abs=0.005)


def walls(size: int = 15) -> list[str]:
    """The map as the protocol draws it."""
    doors = {(7, 2), (7, 10), (3, 7), (11, 7)}
    inside = range(1, size - 1)
    return [
        "".join(
            "." if (i, j) in doors or (i in inside and j in inside and 7 not in (i, j)) else "#"
            for j in range(size)
        )
        for i in range(size)
    ]


def distances(rows: list[str], goal: tuple[int, int]) -> dict[tuple[int, int], int]:
    found, queue = {goal: 0}, deque([goal])
    while queue:
        i, j = queue.popleft()
        for cell in ((i - 1, j), (i, j + 1), (i + 1, j), (i, j - 1)):
            if rows[cell[0]][cell[1]] == "." and cell not in found:
                found[cell] = found[i, j] + 1
                queue.append(cell)
    return found


@pytest.mark.parametrize("gamma", [0.9, 1.0])
def test_four_rooms_values_are_those_of_shortest_paths(gamma: float) -> None:
    plan, mdp = layout(), four_rooms(gamma=gamma)
    steps = distances(walls(), (3, 3))
    assert mdp.n_states == len(steps) == sum(row.count(".") for row in walls())
    v = mdp.optimal().v
    for state, cell in enumerate(plan.cell):
        n = steps[int(cell[0]), int(cell[1])]
        expected = (
            0.0 if n == 0 else sum(-0.1 * gamma**k for k in range(n - 1)) + 90.0 * gamma ** (n - 1)
        )
        assert v[state] == pytest.approx(expected, abs=1e-8)


def test_four_rooms_starts() -> None:
    plan = layout(1)
    np.testing.assert_allclose(
        plan.p0, np.where(np.arange(len(plan.cell)) == plan.goal, 0.0, 1.0 / (len(plan.cell) - 1))
    )
    plan = layout(2)
    p0 = dict(zip(map(tuple, plan.cell.tolist()), plan.p0, strict=True))
    below = [c for c in p0 if c[0] > 7]
    right = [c for c in p0 if c[1] > 7]
    for cell, p in p0.items():
        assert p == pytest.approx(
            0.5 * (cell in below) / len(below) + 0.5 * (cell in right) / len(right)
        )
    assert all(p0[c] == 0.0 for c in p0 if c[0] < 7 and c[1] < 7)
    assert sum(p0.values()) == pytest.approx(1.0)


def test_four_rooms_slip() -> None:
    plain, slippery, random = four_rooms(), four_rooms(slip=0.4), four_rooms(slip=1.0)
    mean = (
        plain.P.toarray()
        .reshape(-1, 4, plain.n_states)
        .mean(axis=1, keepdims=True)
        .repeat(4, axis=1)
        .reshape(plain.P.shape)
    )
    np.testing.assert_allclose(
        slippery.P.toarray(), 0.6 * plain.P.toarray() + 0.4 * mean, atol=1e-15
    )
    assert random.J_star == pytest.approx(random.J_low) == pytest.approx(plain.J_low)
    assert plain.J_star > slippery.J_star > random.J_star


@pytest.mark.parametrize("size", [7, 9, 11, 21, 41])
@pytest.mark.parametrize("level", [1, 2])
def test_four_rooms_of_other_sizes_are_connected(size: int, level: int) -> None:
    mdp, plan = four_rooms(level, size, gamma=1.0), layout(level, size)
    middle = size // 2
    assert plan.free.sum() == mdp.n_states == (size - 3) ** 2 + 4
    assert plan.free[middle].sum() == plan.free[:, middle].sum() == 2
    v = mdp.optimal().v[~mdp.is_terminal]
    assert (v > 90.0 - 0.1 * 4 * size).all()  # every cell reaches the goal without a detour


def test_deep_sea() -> None:
    n, gamma = 6, 0.9
    mdp = deep_sea(n, gamma=gamma, mapping="easy")
    right = deterministic(np.ones(mdp.n_states, dtype=int), 2)
    cost = 0.01 / n * sum(gamma**t for t in range(n))
    assert mdp.J_star == pytest.approx(gamma ** (n - 1) - cost)
    assert pytest.approx(mdp.J_star) == mdp.evaluate(right).J
    assert mdp.J_low == mdp.evaluate(deterministic(np.zeros(mdp.n_states, dtype=int), 2)).J == 0.0
    corner = mdp.density(mdp.uniform_policy(), gamma=1.0)[n * n - 1]
    assert corner == pytest.approx(
        2.0 ** (1 - n)
    )  # one more step to the right, and the treasure is found
    assert mdp.density(mdp.uniform_policy(), gamma=1.0)[: n * n].sum() == pytest.approx(n)
    one_left = np.ones(mdp.n_states, dtype=int)
    one_left[0] = 0
    assert mdp.evaluate(deterministic(one_left, 2)).J < 0.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: chain(1), "n_states is 1; it must be an integer of at least 2"),
        (lambda: chain(5, beta=1.0), "beta is 1.0; it must lie in [0, 1)"),
        (lambda: chain(5, beta=-0.1), "beta is -0.1; it must lie in [0, 1)"),
        (lambda: chain(5, gamma=0.0), "gamma is 0.0; the chain takes one in (0, 1]"),
        (
            lambda: chain(5, convention="mine"),
            "convention is 'mine'; it must be one of published, paper",
        ),
        (lambda: garnet(1), "n_states is 1; it must be an integer of at least 2"),
        (lambda: garnet(10, 0), "n_actions is 0; it must be an integer of at least 1"),
        (lambda: garnet(10, connectivity=11), "connectivity is 11; it cannot exceed the 10 states"),
        (lambda: garnet(10, gamma=1.0), "gamma is 1.0; a garnet takes one in (0, 1)"),
        (lambda: garnet(10, seed=-1), "seed is -1; it must be an integer of at least 0"),
        (lambda: garnet(10, goal=0), "goal is 0; it must be a state from 1 to 9"),
        (lambda: garnet(10, goal=10), "goal is 10; it must be a state from 1 to 9"),
        (
            lambda: garnet(10, convention="mine"),
            "convention is 'mine'; it must be one of published, paper",
        ),
        (lambda: four_rooms(3), "level is 3; it must be 1 or 2"),
        (lambda: four_rooms(1, 8), "size is 8; it must be odd"),
        (lambda: four_rooms(1, 5), "size is 5; it must be an integer of at least 7"),
        (lambda: four_rooms(slip=1.5), "slip is 1.5; it must lie in [0, 1]"),
        (lambda: four_rooms(gamma=-1.0), "gamma is -1.0; it must lie in [0, 1]"),
        (lambda: deep_sea(1), "n is 1; it must be an integer of at least 2"),
        (lambda: deep_sea(5, gamma=2.0), "gamma is 2.0; it must lie in [0, 1]"),
    ],
)
def test_bad_settings(call: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    "name", ["four_rooms", "four-rooms", "FourRooms-v0", "jekyllhyde/FourRooms-v0"]
)
def test_a_domain_has_one_record_under_all_its_names(name: str) -> None:
    domain = find_domain(name)
    assert domain is DOMAINS["four_rooms"]
    assert (domain.id, domain.horizon) == ("jekyllhyde/FourRooms-v0", 90)
    assert find_problem(name)(size=7).name == four_rooms(size=7).name
    plan = domain.draw_map(size=7, gamma=0.5)
    assert plan.free.shape == (7, 7)
    assert DOMAINS["chain"].draw_map() is None


RANDOM = ["garnet", "locks", "maze"]


def test_options_come_from_the_makers_signature_and_docstring() -> None:
    options = find_domain("garnet").options
    assert list(options) == list(inspect.signature(garnet).parameters)
    assert options["connectivity"] == Option(
        "connectivity", int, 2, "successors per state and action."
    )
    assert options["goal"].kinds == (int,)
    for domain in DOMAINS.values():
        assert domain.about
        assert all(option.about for option in domain.options.values()), domain.name
    assert [domain.name for domain in DOMAINS.values() if domain.random] == RANDOM


def test_a_domain_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import jekyllhyde as jh\n"
        "def ring(n_states: int = 5): return jh.chain(n_states)\n"
        "def lottery(seed: int = 0): return jh.garnet(8, seed=seed)\n"
        "class Other: ...\n"
        'wide = jh.Domain("wide", ring, horizon=7)\n'
    )
    assert find_domain(f"{file}:ring").options["n_states"].default == 5
    assert find_domain(f"{file}:lottery").random
    assert find_domain(f"{file}:wide").horizon == 7
    assert find_problem(f"{file}:wide")(n_states=4).n_states == 4
    file.write_text("import jekyllhyde as jh\ndef ring(): return jh.chain(3)\n")
    assert find_problem(f"{file}:ring")().n_states == 3  # an edit counts
    with pytest.raises(InputError, match="does not take size; it takes no options"):
        find_problem(f"{file}:ring")(size=3)
    with pytest.raises(InputError, match="has no function nothing"):
        find_domain(f"{file}:nothing")
    with pytest.raises(InputError, match="problem is 'nowhere'; it must be one of chain, garnet"):
        find_domain("nowhere")


def test_every_domain_works_with_its_defaults_under_its_conventions() -> None:
    for name, domain in DOMAINS.items():
        conventions = ["published", "paper"] if "convention" in domain.options else []
        for options in [{}, *({"convention": convention} for convention in conventions)]:
            mdp = domain.make(**options)
            assert mdp.J_star > mdp.J_low, name
