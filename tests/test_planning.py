"""Exact policy updates: the projection, both loops, the gradient, targets, records, batches, and the published integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize, sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import chain
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.run import PlanRun
from jekyllhyde.planning.updates import PARAMETRIZATIONS
from mdps import Floats, dense_model, deterministic, naive, random_mdp, random_policy

seeds = st.integers(0, 2**32 - 1)


def project(x: Floats) -> Floats:
    """The library's projection of the rows of x: one direct update from theta = 0 with step 1 and q = x."""
    pi = np.zeros_like(x)
    PARAMETRIZATIONS["direct"](pi, pi, x.copy(), np.zeros(len(x)), np.ones(len(x)), 0.0, False, np.empty(x.shape[1]))
    return pi


def project_by_bisection(x: Floats) -> Floats:
    low, high = x.max() - 1.0, x.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.maximum(x - middle, 0.0).sum() > 1.0 else (low, middle)
    return np.maximum(x - high, 0.0)


rows = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 50)), elements=st.floats(-100, 100))


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


@pytest.mark.parametrize("n_actions", [2, 3, 6])
def test_projection_against_a_quadratic_program(n_actions: int) -> None:
    for x in np.random.default_rng(n_actions).normal(size=(5, n_actions)):
        found = optimize.minimize(
            lambda p, x=x: ((p - x) ** 2).sum(), np.full(n_actions, 1 / n_actions), jac=lambda p, x=x: 2 * (p - x),
            method="SLSQP", bounds=[(0, 1)] * n_actions,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14},
        )  # fmt: skip
        np.testing.assert_allclose(project(x[None])[0], found.x, atol=1e-6)


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


def assert_close(first: PlanRun, second: PlanRun, tolerance: float = 1e-10) -> None:
    for name in ("J", "pi", "theta", "weights"):
        one, other = getattr(first, name), getattr(second, name)
        np.testing.assert_allclose(one, other, atol=tolerance * (1 + abs(other).max()), err_msg=name)
    np.testing.assert_array_equal(first.t, second.t)
    assert first.records.keys() == second.records.keys()
    for name, other in second.records.items():
        np.testing.assert_allclose(first.records[name], other, atol=tolerance * (1 + abs(other).max()), err_msg=name)


@each_density
@each_update
@each_convention
def test_compiled_and_reference_loops_agree(density: str, update: str, convention: str) -> None:
    for mdp in (garnet(20, seed=1), chain(8, beta=0.8), random_mdp(5, 9, 3, 0.95, exit_probability=0.05)):
        runs = [
            plan(mdp, **DENSITIES[density], **UPDATES[update], convention=convention, updates=60, engine=engine,
                 record=["v", "q", "d", "pi", "theta"], record_at=[0, 1, 7, 59, 60])
            for engine in ("compiled", "reference")
        ]  # fmt: skip
        assert [run.solver for run in runs] == ["compiled", "dense"]
        assert_close(runs[0], runs[1])
        assert len(runs[0].t) == 5


@each_density
@each_convention
def test_density_by_its_definition(density: str, convention: str) -> None:
    mdp = random_mdp(2, 7, 3, 0.9, exit_probability=0.1)
    run = plan(mdp, **DENSITIES[density], convention=convention, updates=20, eta=5.0, record=["d", "pi"])
    decides = ~mdp.is_terminal
    for t in (0, 1, 10, 20):
        visits = mdp.density(run.record("pi")[t], gamma=1.0 if density == "undiscounted" else 0.9)
        if convention == "paper":
            visits = np.where(decides, visits, 0.0)
        o = {"uniform": 1.0, "mixture": 0.3, "decaying": min(1.0, 3 / np.sqrt(t + 1))}.get(density, 0.0)
        uniform = 1 / decides.sum() if convention == "published" else 1 / mdp.n_states
        expected = o * uniform + (1 - o) * visits / visits.sum()
        np.testing.assert_allclose(run.record("d")[t][decides], expected[decides], atol=1e-12)
        assert (run.record("d")[t][~decides] == 0).all()


def complex_gradient(mdp: FiniteMDP, policy: Any, theta: Floats) -> Floats:
    """dJ/dtheta of J = p0 (I - gamma P_pi)^-1 r_pi with pi = policy(theta), by complex steps: exact to rounding."""
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
        run = plan(mdp, density="pg", eta=eta, updates=1, pi0=pi0, convention=convention, record=["theta"], engine=engine)
        step = np.diff(run.record("theta"), axis=0)[0] * size_of_density(mdp, pi0, convention) / eta
        gradient = complex_gradient(mdp, softmax, run.record("theta")[0])
        # rows of theta are shifted at will, and each row of the gradient sums to 0
        np.testing.assert_allclose(step - step.mean(axis=1, keepdims=True), gradient, atol=1e-11 * (1 + abs(gradient).max()))


@each_convention
@given(seed=seeds)
def test_direct_pg_update_is_a_projected_gradient_step(convention: str, seed: int) -> None:
    mdp = random_mdp(seed, 5, 3, 0.9)
    pi0 = mdp.check_policy(random_policy(seed + 1, mdp))
    gradient = complex_gradient(mdp, lambda pi: pi, pi0)
    v, q, d = naive(mdp, pi0)
    np.testing.assert_allclose(gradient[~mdp.is_terminal], (d[:, None] * q)[~mdp.is_terminal], atol=1e-10 * (1 + abs(v).max()))
    eta = 0.3
    run = plan(mdp, parametrization="direct", density="pg", eta=eta, updates=1, pi0=pi0, convention=convention)
    moved = pi0 + eta * gradient / size_of_density(mdp, pi0, convention)
    expected = [project_by_bisection(row) for row in moved]
    np.testing.assert_allclose(run.pi[~mdp.is_terminal], np.array(expected)[~mdp.is_terminal], atol=1e-10)


@each_convention
def test_entropy_term_by_its_formula(convention: str) -> None:
    mdp, lam, eta = random_mdp(8, 6, 4, 0.9), 0.2, 3.0
    pi0 = mdp.check_policy(random_policy(9, mdp))
    run = plan(mdp, density="uniform", eta=eta, lam=lam, updates=1, pi0=pi0, convention=convention, record=["theta", "d"])
    v, q, _ = naive(mdp, pi0)
    bonus = -lam * np.log(pi0)
    if convention == "paper":
        bonus -= (pi0 * bonus).sum(axis=1, keepdims=True)
    expected = run.record("theta")[0] + eta * run.record("d")[0][:, None] * pi0 * (q + bonus - v[:, None])
    np.testing.assert_allclose(run.pi, softmax(expected), atol=1e-12)


def test_the_centred_entropy_term_is_the_gradient_of_the_entropy() -> None:
    mdp = FiniteMDP(np.ones((1, 3, 1)), np.zeros((1, 3)), gamma=0.0)
    pi0 = np.array([[0.7, 0.2, 0.1]])
    run = plan(mdp, density="uniform", eta=1.0, lam=1.0, updates=1, pi0=pi0, convention="paper", record=["theta"])
    gradient = np.empty(3)
    for a in range(3):
        theta = np.log(pi0).astype(complex)
        theta[0, a] += 1e-30j
        pi = softmax(theta)
        gradient[a] = -(pi * np.log(pi)).sum().imag / 1e-30
    step = np.diff(run.record("theta"), axis=0)[0, 0]
    np.testing.assert_allclose(step - step.mean(), gradient - gradient.mean(), atol=1e-14)


@pytest.mark.parametrize(
    ("n_states", "settings", "updates"),
    [
        (6, {"density": "pg"}, 205),
        (6, {"density": "undiscounted"}, 204),
        (7, {"density": "pg"}, None),
        (7, {"density": "undiscounted"}, None),
        (10, {"density": "mixture", "o": 0.5}, 668),
        (10, {"density": "uniform"}, 361),
    ],
)
def test_published_times_on_the_chain(n_states: int, settings: dict[str, Any], updates: int | None) -> None:
    run = plan(chain(n_states, beta=0.95), parametrization="direct", eta=1.0, target=0.5, updates=15000, **settings)
    assert run.censored == (updates is None)
    assert run.time_to_target == (updates or 15000)


def test_target_cap_and_censoring() -> None:
    settings: dict[str, Any] = {"parametrization": "direct", "density": "pg", "eta": 1.0}
    run = plan(chain(6, beta=0.95), **settings, target=0.5, updates=15000)
    assert (run.updates, run.cap, run.censored) == (205, 15000, False)
    assert len(run.J) == 206
    assert run.J_norm[205] > 0.5 >= run.J_norm[204]
    assert (run.J_norm[:205] <= 0.5).all()
    for engine in ("compiled", "reference"):
        at_the_cap = plan(chain(6, beta=0.95), **settings, target=0.5, updates=205, engine=engine)
        assert (at_the_cap.time_to_target, at_the_cap.censored) == (205, False)
        too_short = plan(chain(6, beta=0.95), **settings, target=0.5, updates=204, engine=engine)
        assert (too_short.time_to_target, too_short.censored, too_short.updates) == (204, True, 204)
        at_once = plan(chain(6, beta=0.95), **settings, target=-10.0, updates=50, engine=engine)
        assert (at_once.time_to_target, at_once.updates, len(at_once.J)) == (0, 0, 1)
    free = plan(chain(6, beta=0.95), **settings, updates=300)
    assert free.time_to_target is None
    assert not free.censored
    np.testing.assert_array_equal(free.J[:205], run.J[:205])
    np.testing.assert_allclose(free.J[205], run.J[205], rtol=1e-14)


def test_strictly_above_the_target() -> None:
    """One state, one update to the optimum: J_norm is exactly 1 then, which is not above 1."""
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    mdp = FiniteMDP(P, [[0.0, 1.0], [0.0, 0.0]], gamma=0.5, terminal=[1], J_low=0.0)
    for engine in ("compiled", "reference"):
        settings: dict[str, Any] = {"parametrization": "direct", "density": "uniform", "eta": 5.0, "updates": 4, "engine": engine}
        run = plan(mdp, **settings, target=1.0)
        np.testing.assert_array_equal(run.J_norm, [0.5, 1.0, 1.0, 1.0, 1.0])
        assert run.censored
        assert plan(mdp, **settings, target=0.99).time_to_target == 1


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_records(engine: str) -> None:
    mdp = garnet(15, seed=3)
    settings: dict[str, Any] = {"density": "mixture", "o": 0.5, "eta": 10.0, "updates": 12, "engine": engine}
    every = plan(mdp, **settings, record=["v", "q", "d", "pi", "theta"])
    np.testing.assert_array_equal(every.t, np.arange(13))
    some = plan(mdp, **settings, record=["q", "pi"], record_at=[11, 0, 3, 3])
    np.testing.assert_array_equal(some.t, [0, 3, 11])
    for name in ("q", "pi", "weights"):
        np.testing.assert_array_equal(some.record(name), every.record(name)[[0, 3, 11]])
    np.testing.assert_allclose(every.J, plan(mdp, **settings).J, rtol=1e-14)
    for t in range(13):
        evaluation = mdp.evaluate(every.record("pi")[t])
        np.testing.assert_allclose(every.record("v")[t], evaluation.v, atol=1e-12)
        np.testing.assert_allclose(every.record("q")[t], evaluation.q, atol=1e-12)
        assert every.J[t] == pytest.approx(evaluation.J, abs=1e-13)
    np.testing.assert_array_equal(every.record("pi")[12], every.pi)
    np.testing.assert_array_equal(every.record("theta")[12], every.theta)
    np.testing.assert_allclose(every.record("weights")[1:], np.cumsum(10.0 * every.record("d")[:-1], axis=0), atol=1e-12)
    np.testing.assert_array_equal(every.record("weights")[12], every.weights)
    with pytest.raises(InputError, match=r"'v' was not recorded; ask for it with plan\(..., record=\['v'\]\)"):
        some.record("v")
    assert plan(mdp, **settings).records == {}


def test_records_end_where_the_target_is_met() -> None:
    for engine in ("compiled", "reference"):
        run = plan(
            chain(6, beta=0.95),
            parametrization="direct",
            density="pg",
            eta=1.0,
            target=0.5,
            updates=500,
            record=["pi"],
            engine=engine,
        )
        np.testing.assert_array_equal(run.t, np.arange(206))
        np.testing.assert_array_equal(run.record("pi")[205], run.pi)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_equals_its_single_runs_bit_for_bit(threads: int) -> None:
    mdps = [garnet(20, seed=s) for s in range(5)]
    settings: dict[str, Any] = {"eta": 10.0, "updates": 40, "density": "mixture", "record": ["d"], "record_at": [0, 40]}
    o_values: list[Any] = [0.1, 0.3, 0.5, 0.7, "10/sqrt(t)"]
    batch = plan(mdps, **settings, o=o_values, threads=threads)
    for mdp, o, run in zip(mdps, o_values, batch, strict=True):
        single = plan(mdp, **settings, o=o)
        for name in ("J", "pi", "theta", "weights"):
            np.testing.assert_array_equal(getattr(run, name), getattr(single, name))
        np.testing.assert_array_equal(run.record("d"), single.record("d"))
        assert run.settings == single.settings
        assert run.mdp is mdp


def test_batches_over_densities_step_sizes_and_entropy() -> None:
    mdp = chain(6)
    densities: list[Any] = ["pg", "uniform", np.full(6, 0.2)]
    by_density = plan([mdp], density=densities, updates=20)
    np.testing.assert_array_equal(by_density[1].J, plan(mdp, density="uniform", updates=20).J)
    assert [run.settings["density"] for run in by_density] == ["pg", "uniform", "array"]
    etas: list[Any] = [1.0, "5/t"]
    for run, eta, lam in zip(plan([mdp], eta=etas, lam=[0.0, 0.1], updates=20), etas, [0.0, 0.1], strict=True):
        np.testing.assert_array_equal(run.J, plan(mdp, eta=eta, lam=lam, updates=20).J)
    with pytest.raises(InputError, match="eta is a list of 2; in a batch of 3 runs it must hold 3 values, or one"):
        plan([mdp] * 3, eta=[1.0, 2.0])
    with pytest.raises(InputError, match="mdp is a list of 0"):
        plan([])
    with pytest.raises(InputError, match="threads is 0; it must be an integer of at least 1"):
        plan([mdp], threads=0)


def test_a_density_of_ones_own() -> None:
    mdp = garnet(12, seed=4)
    d = np.random.default_rng(0).random(12)
    array = plan(mdp, density=d, eta=3.0, updates=30, record=["d"])
    np.testing.assert_array_equal(array.record("d")[5][~mdp.is_terminal], d[~mdp.is_terminal])
    assert array.solver == "compiled"
    times = []

    def own(t: int, given: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
        assert given is mdp
        assert pytest.approx(mdp.evaluate(pi).J) == evaluation.J
        pi[:] = 0.0  # a copy: the run must not notice
        times.append(t)
        return d

    called = plan(mdp, density=own, eta=3.0, updates=30, record=["d"])
    assert_close(array, called)
    assert times == list(range(31))
    assert called.settings["density"] == "own"

    def pg(t: int, given: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
        visits = evaluation.density()
        return visits / visits.sum()

    assert_close(plan(mdp, density=pg, eta=3.0, updates=30), plan(mdp, density="pg", eta=3.0, updates=30))


def test_schedules_are_counted_from_1() -> None:
    mdp = random_mdp(1, 5, 2, 0.9)
    d = np.full(5, 0.25)
    run = plan(mdp, density=d, eta="8/t", updates=3)
    np.testing.assert_allclose(run.weights[~mdp.is_terminal], 0.25 * (8 + 4 + 8 / 3))
    called = plan(mdp, density=d, eta=lambda t: 8.0 / t, updates=3)
    np.testing.assert_array_equal(run.J, called.J)


def test_starting_policy_zero_updates_progress_and_settings() -> None:
    mdp = garnet(20, seed=6)
    pi0 = random_policy(3, mdp)
    none = plan(mdp, pi0=pi0, updates=0)
    assert none.J.shape == (1,)
    assert none.J[0] == pytest.approx(mdp.evaluate(pi0).J)
    np.testing.assert_allclose(none.pi, mdp.check_policy(pi0), atol=1e-15)
    assert plan(mdp, updates=0).J[0] == pytest.approx(mdp.J_low)
    for engine in ("compiled", "reference"):
        made: list[int] = []
        run = plan(mdp, updates=70, engine=engine, progress=made.append)
        assert sum(made) == 70 == run.updates
    assert run.settings == {
        "mdp": "garnet(20, 4, 2, seed=6)", "parametrization": "softmax", "density": "pg", "o": None, "eta": "1", "lam": 0.0,
        "updates": 70, "target": None, "convention": "published",
    }  # fmt: skip
    assert run.J_norm[0] == pytest.approx(0.0, abs=1e-12)


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
    """Path 0 -> 1 -> end, beside it the ring 2 <-> 3, which action 1 of state 0 enters if `reachable`."""
    P = np.zeros((5, 2, 5))
    P[0, :, 1] = P[1, :, 4] = P[2, :, 3] = P[3, :, 2] = 1.0
    if reachable:
        P[0, 1] = [0, 0, 1, 0, 0]
    r = np.zeros((5, 2))
    r[0, 0], r[1, 1], r[2, 0], r[3, 1] = 0.5, 1.0, 0.3, 0.2
    return FiniteMDP(P, r, gamma=0.9, terminal=[4])


def test_undiscounted_density_beside_a_set_that_is_never_left() -> None:
    runs = [plan(stranded(False), density="undiscounted", updates=30, record=["d"], engine=e) for e in ("compiled", "reference")]
    assert_close(runs[0], runs[1])
    np.testing.assert_allclose(runs[0].record("d")[0], [1 / 3, 1 / 3, 0, 0, 0], atol=1e-14)
    for engine in ("compiled", "reference"):
        with pytest.raises(InputError, match=r"undiscounted density .*finite"):
            plan(stranded(True), density="undiscounted", updates=30, engine=engine)
        direct = plan(stranded(True), density="undiscounted", parametrization="direct", pi0=deterministic([0] * 5, 2), eta=0.01,
                      updates=0, record=["d"], engine=engine)  # fmt: skip
        np.testing.assert_allclose(direct.record("d")[0], [1 / 3, 1 / 3, 0, 0, 0], atol=1e-14)


def test_planning_without_discount() -> None:
    mdp = four_rooms(1, 7, gamma=1.0)
    run = plan(mdp, density="mixture", o=0.5, eta=1.0, updates=200, parametrization="direct")
    assert run.J[-1] > run.J[0]
    assert run.J[-1] <= mdp.J_star + 1e-9
    assert run.solver == "dense"


def test_large_mdps_are_planned_sparsely_and_agree_with_the_compiled_loop() -> None:
    mdp = garnet(300, goal=5)
    settings: dict[str, Any] = {"density": "mixture", "o": 0.5, "eta": 100.0, "updates": 15}
    sparse_run, compiled = plan(mdp, **settings), plan(mdp, **settings, engine="compiled")
    assert (sparse_run.solver, compiled.solver) == ("iterative", "compiled")
    assert_close(sparse_run, compiled, 1e-9)


def test_the_solver_changes_when_the_policy_needs_it() -> None:
    """Random jumps at first, which are solved by iteration; then a walk along 2000 states, on which the iteration fails."""
    n = 2000
    successor = np.stack([np.random.default_rng(0).integers(n, size=n), np.minimum(np.arange(n) + 1, n - 1)], axis=1).ravel()
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


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"density": "best"}, "density is 'best'; it must be one of pg, undiscounted, uniform, mixture"),
        ({"density": ["pg", "uniform"]}, "density is not an array of numbers"),
        ({"density": np.ones(4)}, "density has shape (4,); it must be [5], one weight per state"),
        ({"density": np.full(5, -1.0)}, "density has an entry that is negative or not finite"),
        ({"density": np.full(5, np.nan)}, "density has an entry that is negative or not finite"),
        ({"density": lambda *_: np.ones(3)}, "density has shape (3,); it must be [5], one weight per state"),
        ({"density": lambda *_: np.full(5, np.nan)}, "density has an entry that is negative or not finite"),
        ({"density": "mixture"}, 'density "mixture" needs o, the off-policiness'),
        ({"o": 0.5}, "o is given, but density 'pg' does not take it; use density \"mixture\""),
        ({"density": np.ones(5), "o": 0.5}, "o is given, but a density of your own does not take it"),
        ({"density": "mixture", "o": 1.5}, "o is 1.5; a constant o is a probability in [0, 1]"),
        ({"density": "mixture", "o": -0.5}, "o is -0.5; a constant o is a probability in [0, 1]"),
        ({"density": "mixture", "o": "half"}, "o 'half' is not a schedule; write a number"),
        ({"density": "mixture", "o": "10/s"}, "o '10/s' is not a schedule; write a number"),
        ({"eta": "fast"}, "eta 'fast' is not a schedule; write a number"),
        ({"eta": 0.0}, "eta is 0; it must be positive"),
        ({"eta": -1.0}, "eta is -1; it must be positive"),
        ({"eta": np.nan}, "eta nan is not a schedule; write a number"),
        ({"eta": np.inf}, "eta inf is not a schedule; write a number"),
        ({"eta": lambda t: np.inf}, "the schedule <lambda> gives a value that is not finite"),
        ({"updates": -1}, "updates is -1; it must be an integer of at least 0"),
        ({"updates": 1.5}, "updates is 1.5; it must be an integer of at least 0"),
        ({"updates": "many"}, "updates is 'many'; it must be an integer of at least 0"),
        ({"updates": np.nan}, "updates is nan; it must be an integer of at least 0"),
        ({"updates": np.inf}, "updates is inf; it must be an integer of at least 0"),
        ({"lam": -0.1}, "lam is -0.1; the entropy weight must be a number of at least 0"),
        ({"lam": np.nan}, "lam is nan; the entropy weight must be a number of at least 0"),
        ({"lam": 0.1, "parametrization": "direct"}, "lam is given, but the direct parametrization has no entropy term"),
        ({"parametrization": "linear"}, "parametrization is 'linear'; it must be one of direct, softmax"),
        ({"convention": "mine"}, "convention is 'mine'; it must be one of published, paper"),
        ({"engine": "steam"}, "engine is 'steam'; it must be one of auto, compiled, reference"),
        ({"engine": "compiled", "density": lambda *_: np.ones(5)}, "engine 'compiled' takes the built-in densities and arrays"),
        ({"target": np.nan}, "target is nan; it must be a normalized return"),
        ({"record": ["J"]}, "record is 'J'; it must be one of v, q, d, pi, theta"),
        ({"record": ["v"], "record_at": [11]}, "record_at contains 11; times are the integers from 0 to 10"),
        ({"record": ["v"], "record_at": [-1]}, "record_at contains -1; times are the integers from 0 to 10"),
        ({"record": ["v"], "record_at": [0.5]}, "record_at contains 0.5; times are the integers from 0 to 10"),
        ({"record": ["v"], "record_at": "some"}, "record_at is 'some'; it must be one of all"),
        ({"record": ["v"], "updates": 10**9}, "recording 1000000001 times would take up to"),
        ({"pi0": np.full((5, 3), 1 / 3)}, "pi has shape (5, 3); this MDP takes (5, 2), states by actions"),
        ({"pi0": np.full((5, 2), 0.6)}, "pi is not a policy: its row for state 0 is not a distribution over the actions"),
    ],
)
def test_bad_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(chain(5), **({"updates": 10} | settings))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_target_needs_a_normalized_return() -> None:
    flat = FiniteMDP(np.ones((1, 2, 1)), np.ones((1, 2)), gamma=0.5)
    with pytest.raises(InputError, match="the normalized return is undefined"):
        plan(flat, target=0.5, updates=5)
    assert plan(flat, updates=5).J[0] == pytest.approx(2.0)
