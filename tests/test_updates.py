"""The policy update: the projection, the gradient of J by complex steps, the entropy term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.simplex import Place, exponentials, project_row
from mdps import Floats, dense_model, naive, random_mdp, random_policy

seeds = st.integers(0, 2**32 - 1)
each_convention = pytest.mark.parametrize("convention", ["published", "paper"])


def project(x: Floats) -> Floats:
    """The library's projection of the rows of x."""
    pi, width = np.full(x.size, np.nan), Place(x.shape[1])
    theta = x.flatten()
    for s in range(len(x)):
        project_row(theta, pi, Place(s) * width, width)
    np.testing.assert_array_equal(theta, pi)
    return pi.reshape(x.shape)


def project_by_bisection(x: Floats) -> Floats:
    low, high = x.max() - 1.0, x.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(x - middle, 0.0).sum() > 1.0 else (low, middle)
    return np.maximum(x - high, 0.0)


rows = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 50)), elements=st.floats(-100, 100)
)


@given(x=rows)
def test_projection_against_bisection(x: Floats) -> None:
    pi = project(x)
    np.testing.assert_allclose(pi, [project_by_bisection(row) for row in x], atol=1e-12)
    np.testing.assert_allclose(pi.sum(axis=1), 1.0, atol=1e-12)
    assert (pi >= 0).all()


@given(x=rows, shift=st.floats(-10, 10))
def test_projection_properties(x: Floats, shift: float) -> None:
    pi = project(x)
    np.testing.assert_allclose(project(pi), pi, atol=1e-12)
    np.testing.assert_allclose(project(x + shift), pi, atol=1e-12)
    order = np.argsort(x[0], kind="stable")
    assert (np.diff(pi[0][order]) >= -1e-12).all()
    # the projection is the point where x - p makes an obtuse angle with every vertex of the simplex
    for row, p in zip(x, pi, strict=True):
        assert ((np.eye(len(p)) - p) @ (row - p) <= 1e-9).all()


@pytest.mark.parametrize(
    "row",
    [
        [1e300, -1e300, 1e16, 3.0],
        [np.nan, 1.0, 2.0],
        [np.inf, np.inf, 0.0],
        [-np.inf, -np.inf, -np.inf],
        [np.nan, np.nan],
        [1e17, 1e17, 1e17 + 16, 0.0],
    ],
)
def test_projection_ends_whatever_it_is_given(row: list[float]) -> None:
    theta, pi = np.array(row), np.empty(len(row))
    project_row(theta, pi, Place(0), Place(len(row)))
    if np.isfinite(row).all():
        np.testing.assert_allclose(pi.sum(), 1.0)


def test_actions_that_do_not_exist_stay_out() -> None:
    theta, pi = np.array([9.0, 0.3, -np.inf, 0.5, -np.inf]), np.full(5, np.nan)
    project_row(theta, pi, Place(1), Place(4))
    np.testing.assert_allclose(pi[1:], [0.4, 0.0, 0.6, 0.0], atol=1e-15)
    np.testing.assert_allclose(theta, [9.0, 0.4, -np.inf, 0.6, -np.inf], atol=1e-15)


@pytest.mark.parametrize("n_actions", [2, 3, 6])
def test_projection_against_a_quadratic_program(n_actions: int) -> None:
    for x in np.random.default_rng(n_actions).normal(size=(5, n_actions)):
        quadratic = optimize.minimize(
            lambda p, x=x: ((p - x) ** 2).sum(),
            np.full(n_actions, 1 / n_actions),
            jac=lambda p, x=x: 2 * (p - x),
            method="SLSQP",
            bounds=[(0, 1)] * n_actions,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(project(x[None])[0], quadratic.x, atol=1e-6)


def complex_gradient(mdp: FiniteMDP, policy: Any, theta: Floats) -> Floats:
    """dJ/dtheta of J = p0 (I - gamma P_pi)^-1 r_pi with pi = policy(theta), by complex steps: exact
    to rounding.
    """
    P, r_next = dense_model(mdp)
    r = (P * r_next).sum(axis=2)
    gradient = np.empty_like(theta)
    for index in np.ndindex(*theta.shape):
        moved = theta.astype(complex)
        moved[index] += 1e-30j
        pi = policy(moved)
        system = np.eye(mdp.n_states) - mdp.gamma * np.einsum("sa,sat->st", pi, P)
        gradient[index] = (mdp.p0 @ np.linalg.solve(system, (pi * r).sum(axis=1))).imag / 1e-30
    return gradient


def softmax(theta: Any) -> Any:
    return np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)


def size_of_density(mdp: FiniteMDP, pi: Floats, convention: str) -> float:
    d = mdp.density(pi)
    return float(d.sum() if convention == "published" else d[~mdp.is_terminal].sum())


@each_convention
@given(seed=seeds)
def test_softmax_pg_update_is_the_gradient_of_J(convention: str, seed: int) -> None:
    mdp = random_mdp(seed, 5, 3, 0.9)
    pi0 = mdp.check_policy(random_policy(seed + 1, mdp, 2.0))
    eta = 0.7
    for engine in ("compiled", "reference"):
        run = plan(
            mdp,
            density="pg",
            eta=eta,
            updates=1,
            pi0=pi0,
            convention=convention,
            record=["theta"],
            engine=engine,
        )
        step = np.diff(run.record("theta"), axis=0)[0] * size_of_density(mdp, pi0, convention) / eta
        gradient = complex_gradient(mdp, softmax, run.record("theta")[0])
        # rows of theta are shifted at will, and each row of the gradient sums to 0
        np.testing.assert_allclose(
            step - step.mean(axis=1, keepdims=True),
            gradient,
            atol=1e-11 * (1 + abs(gradient).max()),
        )


@each_convention
@given(seed=seeds)
def test_direct_pg_update_is_a_projected_gradient_step(convention: str, seed: int) -> None:
    mdp = random_mdp(seed, 5, 3, 0.9)
    pi0 = mdp.check_policy(random_policy(seed + 1, mdp))
    gradient = complex_gradient(mdp, lambda pi: pi, pi0)
    v, q, d = naive(mdp, pi0)
    np.testing.assert_allclose(
        gradient[~mdp.is_terminal],
        (d[:, None] * q)[~mdp.is_terminal],
        atol=1e-10 * (1 + abs(v).max()),
    )
    eta = 0.3
    run = plan(
        mdp,
        parametrization="direct",
        density="pg",
        eta=eta,
        updates=1,
        pi0=pi0,
        convention=convention,
    )
    moved = pi0 + eta * gradient / size_of_density(mdp, pi0, convention)
    expected = [project_by_bisection(row) for row in moved]
    np.testing.assert_allclose(
        run.pi[~mdp.is_terminal], np.array(expected)[~mdp.is_terminal], atol=1e-10
    )


@each_convention
def test_entropy_term_by_its_formula(convention: str) -> None:
    mdp, lam, eta = random_mdp(8, 6, 4, 0.9), 0.2, 3.0
    pi0 = mdp.check_policy(random_policy(9, mdp))
    run = plan(
        mdp,
        density="uniform",
        eta=eta,
        lam=lam,
        updates=1,
        pi0=pi0,
        convention=convention,
        record=["theta", "d"],
    )
    v, q, _ = naive(mdp, pi0)
    bonus = -lam * np.log(pi0)
    if convention == "paper":
        bonus -= (pi0 * bonus).sum(axis=1, keepdims=True)
    expected = run.record("theta")[0] + eta * run.record("d")[0][:, None] * pi0 * (
        q + bonus - v[:, None]
    )
    np.testing.assert_allclose(run.pi, softmax(expected), atol=1e-12)


def test_the_centred_entropy_term_is_the_gradient_of_the_entropy() -> None:
    mdp = FiniteMDP(np.ones((1, 3, 1)), np.zeros((1, 3)), gamma=0.0)
    pi0 = np.array([[0.7, 0.2, 0.1]])
    run = plan(
        mdp,
        density="uniform",
        eta=1.0,
        lam=1.0,
        updates=1,
        pi0=pi0,
        convention="paper",
        record=["theta"],
    )
    gradient = np.empty(3)
    for a in range(3):
        theta = np.log(pi0).astype(complex)
        theta[0, a] += 1e-30j
        pi = softmax(theta)
        gradient[a] = -(pi * np.log(pi)).sum().imag / 1e-30
    step = np.diff(run.record("theta"), axis=0)[0, 0]
    np.testing.assert_allclose(step - step.mean(), gradient - gradient.mean(), atol=1e-14)


def test_exponentials_are_right_to_the_last_place() -> None:
    x = np.concatenate(
        [-np.linspace(0.0, 708.0, 200_001), -np.geomspace(1e-300, 1.0, 1000), [-0.0]]
    )
    out = np.empty_like(x)
    exponentials(x, out)
    np.testing.assert_array_max_ulp(out, np.exp(x), maxulp=2)
    tiny = np.array([-np.inf, -800.0, -745.0, -740.0])
    exponentials(tiny, out[:4])
    np.testing.assert_allclose(out[:4], np.exp(tiny), rtol=0.0, atol=5e-324)
    exponentials(np.array([np.nan, np.inf, 1e300]), out[:3])
    np.testing.assert_array_equal(out[:3], [0.0, 1.0, 1.0])
