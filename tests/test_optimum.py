"""The optimum: three algorithms, brute force over deterministic policies, gaps, uniqueness."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.deep_sea import deep_sea
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms
from mdps import deterministic, naive, random_mdp

METHODS = ("policy_iteration", "modified", "value_iteration")
seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_actions=st.integers(1, 3), gamma=st.sampled_from([0.0, 0.5, 0.95, 0.999]))
def test_optimum_against_all_deterministic_policies(
    seed: int, n_actions: int, gamma: float
) -> None:
    mdp = random_mdp(seed, 5, n_actions, gamma)
    values = np.array(
        [
            naive(mdp, deterministic([*choice, 0], n_actions))[0]
            for choice in product(range(n_actions), repeat=4)
        ]
    )
    best = values.max(axis=0)
    for method in METHODS:
        optimum = mdp.optimal(method)
        assert optimum.method == method
        np.testing.assert_allclose(optimum.v, best, atol=1e-8 * (1 + abs(best).max()))
        assert pytest.approx(mdp.p0 @ best, abs=1e-8 * (1 + abs(best).max())) == optimum.J
        assert (
            pytest.approx(optimum.J, abs=1e-8 * (1 + abs(best).max())) == mdp.evaluate(optimum.pi).J
        )


@given(seed=seeds)
def test_gap_and_uniqueness_by_their_definition(seed: int) -> None:
    mdp = random_mdp(seed, 6, 3, 0.9)
    optimum = mdp.optimal()
    ranked = np.sort(optimum.q[:-1], axis=1)
    np.testing.assert_allclose(optimum.gap[:-1], ranked[:, -1] - ranked[:, -2], atol=1e-12)
    assert np.isinf(optimum.gap[-1])
    assert optimum.unique
    np.testing.assert_array_equal(optimum.actions[:-1], np.argmax(optimum.q[:-1], axis=1))
    np.testing.assert_array_equal(optimum.pi, deterministic(optimum.actions, 3))
    assert optimum.residual < 1e-11


def test_ties_are_told() -> None:
    P = np.zeros((3, 3, 3))
    P[0, :, 1], P[1, :, 2] = 1.0, 1.0
    mdp = FiniteMDP(
        P, [[1.0, 1.0, 0.25], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]], gamma=0.5, terminal=[2]
    )
    optimum = mdp.optimal()
    assert not optimum.unique
    np.testing.assert_allclose(optimum.gap, [0.75, np.inf, np.inf])
    np.testing.assert_allclose(optimum.v, [2.0, 2.0, 0.0])


@pytest.mark.parametrize(
    "mdp",
    [
        garnet(100, seed=3),
        garnet(2000, goal=9),
        four_rooms(2, 31, gamma=0.99, slip=0.1),
        chain(400),
        deep_sea(25),
    ],
    ids=lambda mdp: mdp.name,
)
def test_the_methods_agree_on_larger_mdps(mdp: FiniteMDP) -> None:
    reference = mdp.optimal("policy_iteration")
    for method in METHODS[1:]:
        optimum = mdp.optimal(method)
        np.testing.assert_allclose(
            optimum.v, reference.v, atol=1e-9 * max(1.0, abs(reference.v).max())
        )
        assert optimum.iterations > 0
    np.testing.assert_allclose(
        reference.q.max(axis=1)[~mdp.is_terminal], reference.v[~mdp.is_terminal], atol=1e-9
    )


def test_a_better_policy_may_need_another_solver_than_the_first() -> None:
    """Under the uniform policy this MDP mixes fast and is solved by iteration; its optimum walks a
    path of 2000 states.
    """
    n = 2000
    jump = np.random.default_rng(0).integers(n, size=n)
    walk = np.minimum(np.arange(n) + 1, n - 1)
    successor = np.stack([jump, walk], axis=1).ravel()
    P = sparse.csr_array((np.ones(2 * n), (np.arange(2 * n), successor)), shape=(2 * n, n))
    r = np.zeros((n, 2))
    r[:, 0], r[n - 2, 1] = -1.0, 1.0
    mdp = FiniteMDP(P, r, gamma=0.9999, terminal=[n - 1])
    assert mdp.evaluate(mdp.uniform_policy()).solver == "iterative"
    optimum = mdp.optimal()
    assert (optimum.actions[:-1] == 1).all()
    assert pytest.approx(0.9999 ** (n - 2), rel=1e-9) == optimum.J


@pytest.mark.parametrize("n_actions", [2, 4])
@pytest.mark.parametrize("size", [2, 3, 5, 20])
def test_without_discount_a_reward_at_the_end_is_found_although_all_actions_tie(
    size: int, n_actions: int
) -> None:
    """On a path that pays 1 at its end every action of the uniform policy is worth 1; staying for
    ever is not.
    """
    P = np.zeros((size, n_actions, size))
    for s in range(size - 1):
        P[s, :-1, s] = P[s, -1, s + 1] = 1.0
    r = np.zeros((size, n_actions, size))
    r[:, :, size - 1] = 1.0
    mdp = FiniteMDP(P, r, gamma=1.0, terminal=[size - 1])
    optimum = mdp.optimal()
    np.testing.assert_allclose(optimum.v[:-1], 1.0)
    assert not optimum.unique
    assert pytest.approx(1.0) == mdp.evaluate(optimum.pi).J


def test_undiscounted_optimum_of_an_mdp_with_costs() -> None:
    mdp = four_rooms(1, 9, gamma=1.0)
    optimum = mdp.optimal()
    discounted = four_rooms(1, 9, gamma=0.99999).optimal("value_iteration")
    np.testing.assert_allclose(optimum.v, discounted.v, rtol=1e-3)
    for method in METHODS[1:]:
        with pytest.raises(
            InputError, match=f"method '{method}' needs gamma below 1; use 'policy_iteration'"
        ):
            mdp.optimal(method)


def test_optimum_is_kept_and_methods_are_checked() -> None:
    mdp = chain(5)
    assert mdp.optimal() is mdp.optimal("auto")
    assert mdp.J_star == mdp.optimal().J
    with pytest.raises(
        InputError,
        match="method is 'guessing'; it must be one of auto, policy_iteration, modified",
    ):
        mdp.optimal("guessing")
