"""Attempts to break each statement on random MDPs, densities, step sizes and starting policies."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from jekyllhyde import theory
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun

gammas = st.sampled_from([0.0, 0.3, 0.7, 0.9, 0.99])


@st.composite
def mdps(draw: st.DrawFn, max_gamma: float = 0.99) -> FiniteMDP:
    """A dense MDP, with or without full start coverage, or a garnet; rewards in [0, 1]."""
    seed, gamma = draw(st.integers(0, 10**6)), min(draw(gammas), max_gamma)
    n_states, n_actions = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    rng = np.random.default_rng(seed)
    if draw(st.booleans()):
        return garnet(
            n_states + 3, n_actions, 2, gamma=max(gamma, 0.3), seed=seed, goal=n_states + 2
        )
    P = rng.dirichlet(np.full(n_states, 0.3), size=(n_states, n_actions))
    P[P < 0.05] = 0.0
    P /= P.sum(axis=2, keepdims=True)
    start = (
        np.eye(n_states)[0]
        if draw(st.booleans())
        else rng.dirichlet(np.ones(n_states)) / 2 + 0.5 / n_states
    )
    return FiniteMDP(P, rng.random((n_states, n_actions)), p0=start, gamma=gamma)


@st.composite
def runs(
    draw: st.DrawFn,
    parametrization: str,
    updates: int = 400,
    log_eta: tuple[float, float] = (-1, 4),
) -> PlanRun:
    """A run with everything recorded: any density, a step size 10^log_eta, any start."""
    mdp = draw(mdps())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["pg", "uniform", "mixture", "array", "random"]))
    density: Any = kind
    if kind == "array":
        density = rng.exponential(size=mdp.n_states) * 10.0 ** rng.integers(-3, 1, mdp.n_states)
    if kind == "random":

        def density(t: int, mdp: Any, *_: Any) -> Any:
            return np.random.default_rng(t).exponential(size=mdp.n_states)

    o: Any = draw(st.sampled_from([0.01, 0.5, "1/t", "10/sqrt(t)"])) if kind == "mixture" else None
    pi0 = rng.dirichlet(np.ones(mdp.n_actions), size=mdp.n_states) if draw(st.booleans()) else None
    return plan(
        mdp,
        parametrization=parametrization,
        density=density,
        o=o,
        eta=10.0 ** draw(st.floats(*log_eta)),
        updates=updates if kind != "random" else 100,
        pi0=pi0,
        record=theory.RECORD,
    )


@given(st.sampled_from(["direct", "softmax"]).flatmap(runs))
def test_theorem_1_values_never_decrease(run: PlanRun) -> None:
    found = theory.monotonicity(run)
    assert found.holds, found


@given(runs("direct"))
def test_theorem_3_is_met_by_the_time_its_proof_promises(run: PlanRun) -> None:
    found = theory.hitting_time(run)
    event(f"ceiling reached: {found.ceiling is not None}")
    if found.ceiling is not None:
        assert found.t is not None
        assert found.t <= found.ceiling


@settings(max_examples=200)
@given(runs("softmax", updates=800, log_eta=(0.5, 3)))
def test_theorem_4_holds_with_the_states_ahead(run: PlanRun) -> None:
    assume(theory.uniqueness(run.mdp).enough)
    try:
        rate = theory.softmax_rate(run)
    except InputError as reason:
        assert "has not reached t_0" in str(reason)  # noqa: PT017
        event("t_0 not reached")
        return
    assert rate.t0_q <= rate.t0
    assert rate.excess(rate.bound) <= 1
    assert rate.excess(rate.linear) <= 1
    assert rate.excess(rate.policy_bound, rate.policy_gap) <= 1 + 1e-9
    support = rate.support
    assert (rate.excess_printed[support] <= 1).all()
    np.testing.assert_allclose(rate.bound[:, support].max(axis=1), rate.printed)
    event(f"printed statement fails outside the support: {bool((rate.excess_printed > 1).any())}")


@given(mdps(max_gamma=0.7), st.integers(0, 10**6), st.floats(0.05, 1.0))
def test_bound_for_every_t(mdp: FiniteMDP, seed: int, share: float) -> None:
    """With p0 > 0, at the theorem's step size and below; the printed constant and the smaller one
    that its proof gives.
    """
    rng = np.random.default_rng(seed)
    start = np.where(mdp.is_terminal, 0.0, rng.exponential(size=mdp.n_states) + 0.05)
    mdp = FiniteMDP(mdp.P, mdp.r, p0=start / start.sum(), gamma=mdp.gamma, terminal=mdp.terminal)
    assume(theory.uniqueness(mdp).unique)
    density = rng.random(mdp.n_states) + 0.1
    eta = share * theory.nonasymptotic_step(mdp, float(density[~mdp.is_terminal].max()))
    run = plan(mdp, density=density, eta=eta, updates=300, record=theory.RECORD)
    found = theory.nonasymptotic(run)
    assert (found.gap <= found.derived).all()
    assert (found.derived <= found.printed * (1 + 1e-12)).all()
    if found.t0 <= 300:
        assert theory.softmax_rate(run).t0 <= found.t0


@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(-4, 2))
def test_projection_lemma(seed: int, n: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, n))
    x = rng.dirichlet(np.full(n, 10.0 ** rng.uniform(-2, 1)))
    y = np.sort(rng.normal(size=n) * 10.0**size)[::-1]
    y[:k], y[k:] = rng.permutation(y[:k]), rng.permutation(y[k:])
    found = theory.projection_lemma(x, y, k)
    low, high = (x + y).min() - 1.0, (x + y).max()
    for _ in range(200):  # the projection again, by bisection on its threshold
        tau = (low + high) / 2
        low, high = (tau, high) if np.maximum(x + y - tau, 0).sum() > 1 else (low, tau)
    rounding = 1e-12 * max(1.0, 10.0**size)
    np.testing.assert_allclose(found.after, np.maximum(x + y - tau, 0)[:k].sum(), atol=n * rounding)
    assert found.after >= found.bound - n * rounding


@given(st.floats(0.05, 8.0), st.floats(1.2, 3.0), st.floats(0.0, 0.95), st.floats(0.05, 0.95))
def test_summable_weights_leave_a_gap(c: float, alpha: float, r2: float, start: float) -> None:
    soft = theory.counterexample(
        "softmax", eta=f"{c:.6f}/t^{alpha:.6f}", r2=r2, start=start, updates=300
    )
    assert soft.proved > 0
    assert (soft.gap >= soft.proved * (1 - 1e-9)).all()
    if soft.m < -2 * np.log(start):
        assert soft.printed > soft.gap[0]
    hard = theory.counterexample("direct", eta=f"{c:.6f}/t^{alpha:.6f}", start=start, updates=300)
    np.testing.assert_allclose(hard.proved, (1 - start) ** 2 / (2 * hard.m), rtol=1e-9)
    assert (hard.gap >= hard.proved * (1 - 1e-9)).all()
