"""The two loops: compiled and reference agree; d_t by its definition; closed sets, no discount,
large MDPs, huge steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms
from jekyllhyde.planning.plan import plan
from mdps import assert_close, deterministic, random_mdp

seeds = st.integers(0, 2**32 - 1)
DENSITIES: dict[str, dict[str, Any]] = {
    "pg": {"density": "pg"},
    "undiscounted": {"density": "undiscounted"},
    "uniform": {"density": "uniform"},
    "mixture": {"density": "mixture", "o": 0.3},
    "decaying": {"density": "mixture", "o": "3/sqrt(t)"},
}
UPDATES: dict[str, dict[str, Any]] = {
    "direct": {"parametrization": "direct", "eta": 1.0},
    "softmax": {"parametrization": "softmax", "eta": 10.0},
    "entropy": {"parametrization": "softmax", "eta": "10/t^0.25", "lam": 0.1},
}
each_density = pytest.mark.parametrize("density", DENSITIES)
each_update = pytest.mark.parametrize("update", UPDATES)
each_convention = pytest.mark.parametrize("convention", ["published", "paper"])


@each_density
@each_update
@each_convention
def test_compiled_and_reference_loops_agree(density: str, update: str, convention: str) -> None:
    for mdp in (
        garnet(20, seed=1),
        chain(8, beta=0.8),
        random_mdp(5, 9, 3, 0.95, exit_probability=0.05),
    ):
        runs = [
            plan(
                mdp,
                **DENSITIES[density],
                **UPDATES[update],
                convention=convention,
                updates=60,
                engine=engine,
                record=["v", "q", "d", "pi", "theta"],
                record_at=[0, 1, 7, 59, 60],
            )
            for engine in ("compiled", "reference")
        ]
        assert [run.solver for run in runs] == ["compiled", "dense"]
        assert_close(runs[0], runs[1])
        assert len(runs[0].t) == 5


@each_density
@each_convention
def test_density_by_its_definition(density: str, convention: str) -> None:
    mdp = random_mdp(2, 7, 3, 0.9, exit_probability=0.1)
    run = plan(
        mdp, **DENSITIES[density], convention=convention, updates=20, eta=5.0, record=["d", "pi"]
    )
    decides = ~mdp.is_terminal
    for t in (0, 1, 10, 20):
        visits = mdp.density(run.record("pi")[t], gamma=1.0 if density == "undiscounted" else 0.9)
        if convention == "paper":
            visits = np.where(decides, visits, 0.0)
        o = {"uniform": 1.0, "mixture": 0.3, "decaying": min(1.0, 3 / np.sqrt(t + 1))}.get(
            density, 0.0
        )
        uniform = 1 / decides.sum() if convention == "published" else 1 / mdp.n_states
        expected = o * uniform + (1 - o) * visits / visits.sum()
        np.testing.assert_allclose(run.record("d")[t][decides], expected[decides], atol=1e-12)
        assert (run.record("d")[t][~decides] == 0).all()


@each_update
@given(seed=seeds)
def test_a_run_keeps_its_rows_on_the_simplex_and_improves(update: str, seed: int) -> None:
    mdp = random_mdp(seed, 6, 3, 0.9)
    run = plan(mdp, density="uniform", **UPDATES[update], updates=25)
    np.testing.assert_allclose(run.pi.sum(axis=1), 1.0, atol=1e-12)
    assert (run.pi >= 0).all()
    if update != "entropy":
        assert (np.diff(run.J) >= -1e-10 * (1 + abs(run.J).max())).all()
        assert run.J[-1] <= mdp.J_star + 1e-10


def test_huge_steps_do_not_overflow() -> None:
    for lam in (0.0, 0.1):
        run = plan(garnet(10, seed=1), density="uniform", eta=1e12, lam=lam, updates=50)
        assert np.isfinite(run.J).all()
        assert np.isfinite(run.pi).all()
        assert (run.theta.max(axis=1) == 0).all()


def stranded(reachable: bool) -> FiniteMDP:
    """Path 0 -> 1 -> end, beside it the ring 2 <-> 3, which action 1 of state 0 enters if
    `reachable`.
    """
    P = np.zeros((5, 2, 5))
    P[0, :, 1] = P[1, :, 4] = P[2, :, 3] = P[3, :, 2] = 1.0
    if reachable:
        P[0, 1] = [0, 0, 1, 0, 0]
    r = np.zeros((5, 2))
    r[0, 0], r[1, 1], r[2, 0], r[3, 1] = 0.5, 1.0, 0.3, 0.2
    return FiniteMDP(P, r, gamma=0.9, terminal=[4])


def test_undiscounted_density_beside_a_set_that_is_never_left() -> None:
    runs = [
        plan(stranded(False), density="undiscounted", updates=30, record=["d"], engine=e)
        for e in ("compiled", "reference")
    ]
    assert_close(runs[0], runs[1])
    np.testing.assert_allclose(runs[0].record("d")[0], [1 / 3, 1 / 3, 0, 0, 0], atol=1e-14)
    for engine in ("compiled", "reference"):
        with pytest.raises(InputError, match=r"undiscounted density .*finite"):
            plan(stranded(True), density="undiscounted", updates=30, engine=engine)
        direct = plan(
            stranded(True),
            density="undiscounted",
            parametrization="direct",
            pi0=deterministic([0] * 5, 2),
            eta=0.01,
            updates=0,
            record=["d"],
            engine=engine,
        )
        np.testing.assert_allclose(direct.record("d")[0], [1 / 3, 1 / 3, 0, 0, 0], atol=1e-14)


def test_planning_without_discount() -> None:
    mdp = four_rooms(1, 7, gamma=1.0)
    run = plan(mdp, density="mixture", o=0.5, eta=1.0, updates=200, parametrization="direct")
    assert run.J[-1] > run.J[0]
    assert run.J[-1] <= mdp.J_star + 1e-9
    assert run.solver == "dense"
    with pytest.raises(InputError, match="engine 'compiled' needs gamma below 1"):
        plan(mdp, engine="compiled", updates=3)


def test_large_mdps_are_planned_sparsely_and_agree_with_the_compiled_loop() -> None:
    mdp = garnet(300, goal=5)
    settings: dict[str, Any] = {"density": "mixture", "o": 0.5, "eta": 100.0, "updates": 15}
    sparse_run, compiled = plan(mdp, **settings), plan(mdp, **settings, engine="compiled")
    assert (sparse_run.solver, compiled.solver) == ("iterative", "compiled")
    assert_close(sparse_run, compiled, 1e-9)


def test_the_solver_changes_when_the_policy_needs_it() -> None:
    """Random jumps at first, which are solved by iteration; then a walk along 2000 states, on which
    the iteration fails.
    """
    n = 2000
    successor = np.stack(
        [np.random.default_rng(0).integers(n, size=n), np.minimum(np.arange(n) + 1, n - 1)], axis=1
    ).ravel()
    P = sparse.csr_array((np.ones(2 * n), (np.arange(2 * n), successor)), shape=(2 * n, n))
    r = np.zeros((n, 2))
    r[:, 0], r[n - 2, 1] = -1.0, 1.0
    mdp = FiniteMDP(P, r, gamma=0.9999, terminal=[n - 1])
    run = plan(mdp, parametrization="direct", density="uniform", eta=1e7, updates=20)
    assert mdp.evaluate(mdp.uniform_policy()).solver == "iterative"
    assert run.solver == "sparse_lu"
    assert run.J[-1] == pytest.approx(0.9999 ** (n - 2), rel=1e-9)
    with pytest.raises(InputError, match="the iterative solver stopped"):
        mdp.evaluate(run.pi, solver="iterative")
