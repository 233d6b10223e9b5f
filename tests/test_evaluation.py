"""Exact v, q, d and J against naive computations, simulation, and one solver against another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.deep_sea import deep_sea
from jekyllhyde.mdp.evaluation import DENSE_LIMIT, policy_transitions
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms
from mdps import Floats, deterministic, naive, random_mdp, random_policy, simulate

seeds = st.integers(0, 2**32 - 1)
SOLVERS = ("dense", "sparse_lu", "iterative")


@given(
    seed=seeds,
    n_states=st.integers(2, 12),
    n_actions=st.integers(1, 4),
    gamma=st.sampled_from([0.0, 0.5, 0.9, 0.99, 0.999]),
)
def test_values_and_density_against_a_dense_inverse(
    seed: int, n_states: int, n_actions: int, gamma: float
) -> None:
    mdp = random_mdp(seed, n_states, n_actions, gamma)
    pi = random_policy(seed + 1, mdp)
    v, q, d = naive(mdp, pi)
    scale = 1.0 + abs(v).max()
    for solver in ("auto", "dense", "sparse_lu"):
        evaluation = mdp.evaluate(pi, solver=solver)
        np.testing.assert_allclose(evaluation.v, v, atol=1e-10 * scale)
        np.testing.assert_allclose(evaluation.q, q, atol=1e-10 * scale)
        np.testing.assert_allclose(evaluation.adv, q - v[:, None], atol=1e-10 * scale)
        np.testing.assert_allclose(evaluation.density(), d, atol=1e-9 * d.sum())
        np.testing.assert_allclose(evaluation.J, mdp.p0 @ v, atol=1e-10 * scale)
    np.testing.assert_allclose(mdp.density(pi), d, atol=1e-9 * d.sum())


@given(seed=seeds, gamma=st.sampled_from([0.3, 0.8, 0.95]), other=st.sampled_from([0.0, 0.6, 0.9]))
def test_values_and_densities_against_truncated_series(
    seed: int, gamma: float, other: float
) -> None:
    mdp = random_mdp(seed, 7, 2, gamma, exit_probability=0.1)
    pi = random_policy(seed + 1, mdp, 0.3)
    P_pi = policy_transitions(mdp, pi).toarray()
    r_pi = (pi * mdp.r).sum(axis=1)
    densities = {g: np.zeros(mdp.n_states) for g in (gamma, other, 1.0)}
    v, occupied, power = np.zeros(mdp.n_states), mdp.p0.copy(), np.eye(mdp.n_states)
    for t in range(600):
        for g in densities:
            densities[g] += g**t * occupied
        v += gamma**t * (power @ r_pi)
        occupied, power = occupied @ P_pi, power @ P_pi
    evaluation = mdp.evaluate(pi)
    np.testing.assert_allclose(evaluation.v, v, atol=1e-10)
    for g, d in densities.items():
        np.testing.assert_allclose(evaluation.density(g), d, atol=1e-10)
        np.testing.assert_allclose(mdp.density(pi, gamma=g), d, atol=1e-10)


@given(seed=seeds)
def test_return_is_the_density_times_the_rewards(seed: int) -> None:
    mdp = random_mdp(seed, 9, 3, 0.95)
    pi = random_policy(seed + 1, mdp)
    evaluation = mdp.evaluate(pi)
    d = evaluation.density()
    assert pytest.approx(float((d[:, None] * pi * mdp.r).sum()), abs=1e-10) == evaluation.J
    flow = mdp.p0 + mdp.gamma * (d @ policy_transitions(mdp, pi))
    np.testing.assert_allclose(d, flow, atol=1e-10 * d.sum())
    np.testing.assert_allclose(
        (pi * evaluation.q).sum(axis=1)[~mdp.is_terminal],
        evaluation.v[~mdp.is_terminal],
        atol=1e-10,
    )
    assert (evaluation.v[mdp.is_terminal] == 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_values_and_densities_against_simulation(seed: int) -> None:
    mdp = random_mdp(seed, 6, 3, 0.9, exit_probability=0.05)
    pi = random_policy(seed + 10, mdp)
    episodes = 20_000
    returns, visits = simulate(mdp, pi, episodes, horizon=200, seed=seed + 20)
    evaluation = mdp.evaluate(pi)
    assert abs(returns.mean() - evaluation.J) < 4.5 * returns.std() / np.sqrt(episodes)
    assert (
        abs(visits.mean(axis=0) - evaluation.density())
        < 4.5 * visits.std(axis=0) / np.sqrt(episodes) + 1e-6
    ).all()


def test_undiscounted_density_against_simulation() -> None:
    mdp = random_mdp(5, 6, 2, 1.0, exit_probability=0.1)
    pi = random_policy(6, mdp)
    episodes = 20_000
    returns, visits = simulate(mdp, pi, episodes, horizon=500, seed=7)
    evaluation = mdp.evaluate(pi)
    assert abs(returns.mean() - evaluation.J) < 4.5 * returns.std() / np.sqrt(episodes)
    assert (
        abs(visits.mean(axis=0) - evaluation.density(1.0))
        < 4.5 * visits.std(axis=0) / np.sqrt(episodes) + 1e-12
    ).all()
    assert evaluation.density(1.0)[-1] == pytest.approx(1.0)  # the one visit to the terminal state


LARGE = {
    "garnet": (garnet(2500, 4, 2, goal=7), "iterative"),
    "grid": (four_rooms(1, 61, gamma=0.99, slip=0.2), "iterative"),
    "sea": (deep_sea(40), "substitution"),
    "chain": (chain(2000), "substitution"),
}


@pytest.mark.parametrize("domain", LARGE)
def test_all_solvers_agree(domain: str) -> None:
    mdp, chosen = LARGE[domain]
    walk = deterministic(np.full(mdp.n_states, mdp.n_actions - 1), mdp.n_actions)
    pi = walk if domain == "chain" else random_policy(3, mdp)
    auto = mdp.evaluate(pi)
    assert auto.solver == chosen
    d = auto.density()
    for solver in ("dense", "sparse_lu") if domain == "chain" else SOLVERS:
        other = mdp.evaluate(pi, solver=solver)
        assert other.solver == solver
        np.testing.assert_allclose(other.v, auto.v, atol=1e-9 * abs(auto.v).max())
        np.testing.assert_allclose(other.q, auto.q, atol=1e-9 * abs(auto.v).max())
        np.testing.assert_allclose(other.density(), d, atol=1e-9 * d.max())


@pytest.mark.parametrize("domain", LARGE)
@pytest.mark.parametrize("solver", ["auto", "sparse_lu"])
def test_the_residual_is_true(domain: str, solver: str) -> None:
    mdp, _ = LARGE[domain]
    pi = random_policy(3, mdp)
    evaluation = mdp.evaluate(pi, solver=solver)
    r_pi = (pi * mdp.r).sum(axis=1)
    left = r_pi - (evaluation.v - mdp.gamma * (policy_transitions(mdp, pi) @ evaluation.v))
    assert evaluation.residual == pytest.approx(
        abs(left).max() / abs(r_pi).max(), rel=1e-6, abs=1e-16
    )
    assert evaluation.residual < 1e-11


def test_a_guess_changes_the_work_not_the_result() -> None:
    mdp, _ = LARGE["garnet"]
    pi = random_policy(3, mdp)
    cold = mdp.evaluate(pi)
    for guess in (cold.v, cold.v + 1.0, np.full(mdp.n_states, -50.0)):
        np.testing.assert_allclose(mdp.evaluate(pi, guess=guess).v, cold.v, atol=1e-10)
        np.testing.assert_allclose(cold.density(guess=guess), cold.density(), atol=1e-8)


def test_the_iteration_gives_way_to_sparse_lu_where_it_must() -> None:
    ahead = chain(3000, gamma=0.999)
    backwards = np.arange(3000)[::-1]
    walk = deterministic(np.ones(3000, dtype=int), 2)
    assert ahead.evaluate(walk).solver == "substitution"
    mdp = FiniteMDP(
        ahead.P.tocsr()[np.add.outer(2 * backwards, [0, 1]).ravel()][:, backwards],
        ahead.r[backwards],
        p0=ahead.p0[backwards],
        gamma=0.999,
        terminal=np.flatnonzero(ahead.is_terminal[backwards]),
    )
    evaluation = mdp.evaluate(walk)
    assert evaluation.solver == "sparse_lu"
    np.testing.assert_allclose(evaluation.v[1:], 0.999 ** np.arange(2999), rtol=1e-9)
    np.testing.assert_allclose(evaluation.density(), 0.999 ** np.arange(2999, -1, -1), rtol=1e-9)
    with pytest.raises(
        InputError,
        match=r"the iterative solver stopped at a residual of .*; use solver 'sparse_lu' or 'auto'",
    ):
        mdp.evaluate(walk, solver="iterative")


def test_the_choice_of_solver_follows_the_size() -> None:
    for n_states, solver in ((DENSE_LIMIT, "dense"), (DENSE_LIMIT + 1, "iterative")):
        mdp = garnet(n_states, goal=3)
        assert mdp.evaluate(mdp.uniform_policy()).solver == solver
    with pytest.raises(
        InputError, match="solver is 'magic'; it must be one of auto, dense, sparse_lu, iterative"
    ):
        mdp.evaluate(mdp.uniform_policy(), solver="magic")


def test_no_reward_means_no_value() -> None:
    mdp = FiniteMDP(np.full((300, 1, 300), 1 / 300), np.zeros((300, 1)))
    evaluation = mdp.evaluate(np.ones((300, 1)))
    assert (evaluation.v == 0).all()
    assert evaluation.residual == 0.0


def closed_set(size: int, reachable: bool) -> tuple[FiniteMDP, Floats]:
    """A path of `size` states to the terminal one, and beside it a ring that is never left; the
    path may lead into the ring.
    """
    n = 2 * size + 1
    following = np.concatenate(
        [np.arange(1, size), [n - 1], np.roll(np.arange(size, 2 * size), -1), [0]]
    )
    P = sparse.lil_array((2 * n, n))
    for s in range(n):
        P[2 * s, following[s]] = P[2 * s + 1, following[s]] = 1.0
    if reachable:
        P[1, 1], P[1, size] = 0.5, 0.5
    mdp = FiniteMDP(sparse.csr_array(P), np.ones((n, 2)), gamma=0.9, terminal=[n - 1])
    return mdp, mdp.uniform_policy()


@pytest.mark.parametrize("size", [4, 400])
def test_undiscounted_density_leaves_out_closed_sets_that_are_not_reached(size: int) -> None:
    mdp, pi = closed_set(size, reachable=False)
    expected = np.concatenate([np.ones(size), np.zeros(size), [1.0]])
    np.testing.assert_allclose(mdp.density(pi, gamma=1.0), expected, atol=1e-12)
    np.testing.assert_allclose(mdp.evaluate(pi).density(1.0), expected, atol=1e-12)
    stuck, pi = closed_set(size, reachable=True)
    with pytest.raises(
        InputError, match=f"the undiscounted density must be finite.* from state {size}"
    ):
        stuck.density(pi, gamma=1.0)
    assert stuck.density(
        deterministic(np.zeros(2 * size + 1, dtype=int), 2), gamma=1.0
    ).sum() == pytest.approx(size + 1)


def test_the_undiscounted_chain_is_exact_at_every_size() -> None:
    for n in (5, 300, 1500):
        mdp = chain(n, gamma=1.0)
        pi = np.tile([0.1, 0.9], (n, 1))
        visits = 0.9 ** np.arange(n - 1)
        np.testing.assert_allclose(mdp.density(pi)[:-1], visits, rtol=1e-8, atol=1e-13)
        assert mdp.density(pi)[-1] == pytest.approx(1.0)
        leave = visits[:-1].sum() * 0.1 * 0.95
        assert pytest.approx(leave + visits[-1], rel=1e-10) == mdp.evaluate(pi).J


def test_an_optimum_is_found_where_some_policies_go_forwards_only() -> None:
    """Policy iteration asks for what solved the last policy, which need not solve the next."""
    mdp = deep_sea(20)
    assert mdp.n_states > DENSE_LIMIT
    assert mdp.evaluate(mdp.uniform_policy()).solver == "substitution"
    steps = 0.99 ** np.arange(20)
    assert mdp.J_star == pytest.approx(steps[-1] - 0.01 / 20 * steps.sum(), rel=1e-12)
