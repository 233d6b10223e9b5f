"""What the checks say about limits: certain where it is certain, open otherwise, never wrong.

The truth of each random run is worked out here from dense matrices, plain loops and the known
behaviour of series; nothing is shared with the package but the runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from jekyllhyde import theory
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.schedule import Schedule
from mdps import dense_model, naive
from theory_by_hand import stays_put

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def verdicts(run: PlanRun) -> dict[str, str]:
    return {c.name: c.verdict for c in theory.check(run)}


# ------------------------------------------------------------------ series with a known behaviour

# name: d_t, whether its sum is infinite, whether its average stays positive, whether it does itself
SERIES: dict[str, tuple[Callable[[float], float], bool, bool, bool]] = {
    "1/(t log t)": (lambda t: 1 / (t * math.log(t)), True, False, False),
    "1/(t log^2 t)": (lambda t: 1 / (t * math.log(t) ** 2), False, False, False),
    "1/log t": (lambda t: 1 / math.log(t), True, False, False),
    "1/t": (lambda t: 1 / t, True, False, False),
    "1/t^1.01": (lambda t: t**-1.01, False, False, False),
    "1/t^2": (lambda t: t**-2.0, False, False, False),
    "constant": (lambda t: 0.5, True, True, True),
    "waves": (lambda t: 0.3 + 0.2 * math.sin(math.log(t)), True, True, True),
    "powers of 2": (lambda t: float(math.log2(t).is_integer()), True, False, False),
}


def bandit() -> FiniteMDP:
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    return FiniteMDP(P, [[1.0, 0.0], [0.0, 0.0]], gamma=0.5, terminal=[1])


@pytest.mark.parametrize("name", SERIES)
def test_slow_series_are_left_open(name: str) -> None:
    """A finite run does not show on which side of the limit a series is."""
    series = SERIES[name][0]

    def density(t: int, mdp: FiniteMDP, *_: Any) -> Floats:
        return np.full(mdp.n_states, series(t + 2.0))

    run = plan(
        bandit(), density=density, updates=2000, record=theory.RECORD, record_at=[500, 1000, 2000]
    )
    checks = {c.name: c for c in theory.check(run)}
    assert [checks[c].verdict for c in ("C4", "C4-s", "C5", "q_inf = q_star")] == ["open"] * 4
    assert checks["C7"].verdict in {"open", "fails"}
    assert checks["C7"].verdict == "open" or run.records["d"].min() == 0.0
    assert "lately" in checks["C4"].sentence


def test_growing_steps_are_not_refused() -> None:
    run = plan(bandit(), density="uniform", eta=Schedule(1.0, -0.5), updates=10)
    growth = theory.weight_growth(run)
    assert (growth.diverges[0], growth.linear[0]) == (1, 1)


# ------------------------------------------------------------------ 1,000 random runs


@dataclass(frozen=True)
class Truth:
    """What is certain, state by state: 1 true, 0 false, nan not known to this test."""

    diverges: Floats
    linear: Floats
    optimal: float


def reached(start: Bools, step: Bools) -> Bools:
    """The states on paths from `start` along step [S, S]."""
    seen = start.copy()
    for _ in range(len(start)):
        seen |= step[seen].any(axis=0)
    return seen


def value_iteration(P: Floats, r: Floats, gamma: float) -> Floats:
    q = np.zeros(r.shape)
    for _ in range(300):
        q = r + gamma * P @ q.max(axis=1)
    return q


def truth(mdp: FiniteMDP, spec: dict[str, Any]) -> Truth:
    """The limits of a run with these settings, from first principles."""
    P, r_next = dense_model(mdp)
    n = mdp.n_states
    alpha, kind = spec["alpha"], spec["density"]
    unknown = np.full(n, np.nan)
    if kind in SERIES:
        _, infinite, average, _ = SERIES[kind]
        return Truth(np.full(n, float(infinite)), np.full(n, float(average)), float(infinite))
    if kind == "uniform":
        return Truth(np.full(n, float(alpha <= 1)), np.full(n, float(alpha <= 0)), alpha <= 1)
    reachable = reached(mdp.p0 > 0, P.max(axis=1) > 0)
    off = math.inf if kind == "pg" else alpha + spec["o"]
    softmax = spec["parametrization"] == "softmax"
    # the off-policy part; the start; every reachable state for softmax, by the divergence lemma
    diverges = np.where(off <= 1, 1.0, np.where(reachable, np.nan, 0.0))
    if alpha > 1:
        diverges = np.zeros(n)
    elif softmax:
        diverges = np.where(reachable, 1.0, diverges)
    diverges = np.where((mdp.p0 > 0) & (alpha <= 1), 1.0, diverges)
    linear = unknown.copy()
    if alpha > 0:
        linear[:] = 0.0
    elif off <= 0:
        linear[:] = 1.0
    elif np.nan_to_num(diverges[reachable], nan=0.0).all():
        q = value_iteration(P, (P * r_next).sum(axis=2), mdp.gamma)
        best = q >= q.max(axis=1, keepdims=True) - 1e-7
        single = best.sum(axis=1) == 1
        every = reached(mdp.p0 > 0, (P * best[:, :, None]).max(axis=1) > 0)
        sure = reached(mdp.p0 > 0, (P * (best & single[:, None])[:, :, None]).max(axis=1) > 0)
        linear = np.where(sure, 1.0, np.where(every, np.nan, 0.0))
    linear = np.where(~reachable & (off > 0), 0.0, linear)
    known = diverges[~np.isnan(diverges)]
    optimal = 1.0 if len(known) == n and known.all() else math.nan
    if softmax and (diverges == 0).any():
        optimal = 0.0  # a softmax policy with finite weights keeps what it should unlearn
    return Truth(diverges, linear, optimal)


def random_run(seed: int) -> tuple[PlanRun, Truth]:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 7)), int(rng.integers(2, 4))
    P = np.zeros((n, k, n))
    for s in range(n):
        for a in range(k):
            successors = rng.choice(n, size=min(n, int(rng.integers(1, 3))), replace=False)
            P[s, a, successors] = rng.dirichlet(np.ones(len(successors)))
    mdp = FiniteMDP(P, rng.random((n, k)), gamma=float(rng.choice([0.3, 0.9])))
    kinds = ["pg", "pg", "uniform", "mixture", "mixture", str(rng.choice(list(SERIES)))]
    spec: dict[str, Any] = {
        "parametrization": str(rng.choice(["direct", "softmax"])),
        "density": str(rng.choice(kinds)),
        "alpha": float(rng.choice([0.0, 0.0, 0.5, 1.0, 1.5])),
        "o": float(rng.choice([0.0, 0.5, 1.0, 2.0])),
    }
    eta = 10 ** float(rng.uniform(-1, 2))
    if spec["density"] in SERIES:
        series, spec["alpha"] = SERIES[spec["density"]][0], 0.0
        density: Any = lambda t, mdp, *_: np.full(mdp.n_states, series(t + 2.0))  # noqa: E731
        o, updates = None, 12
    else:
        density, updates = spec["density"], 200
        o = Schedule(0.5, spec["o"]) if density == "mixture" else None
    run = plan(
        mdp,
        parametrization=spec["parametrization"],
        density=density,
        o=o,
        eta=Schedule(eta, spec["alpha"]),
        updates=updates,
        record=theory.RECORD,
        record_at=[0, updates // 4, updates // 2, updates],
        convention="paper",
    )
    return run, truth(mdp, spec)


def agrees(said: str, per_state: Floats) -> bool:
    """Whether a verdict about all of these states contradicts what is known of one."""
    if said == "holds":
        return not (per_state == 0).any()
    return said != "fails" or not (per_state == 1).all()


def test_verdicts_random() -> None:
    """1,000 random runs; the counts at the end say that the verdicts are not empty either."""
    counts: dict[tuple[str, str], int] = {}
    for seed in range(1000):
        run, known = random_run(seed)
        said = verdicts(run)
        P, r = dense(run.mdp)
        q = value_iteration(P, r, run.mdp.gamma)
        best = q >= q.max(axis=1, keepdims=True) - 1e-7
        on_support = reached(run.mdp.p0 > 0, (P * best[:, :, None]).max(axis=1) > 0)
        where = f"seed {seed}: {run.settings}"
        if theory.weights.is_settled(run):
            assert stays_put(run), where
            taken = reached(run.mdp.p0 > 0, (P * (run.pi > 0)[:, :, None]).max(axis=1) > 0)
            infinite = np.where(taken & (run.eta.alpha <= 1.0), 1.0, 0.0)
            assert said["C4"] == ("holds" if infinite.all() else "fails"), where
            left = q.max(axis=1) - naive(run.mdp, run.pi)[0]
            assert said["q_inf = q_star"] == ("fails" if (left > 1e-8).any() else "holds"), where
        else:
            assert agrees(said["C4"], known.diverges), where
            if run.settings["parametrization"] == "softmax" and run.solver == "compiled":
                assert said["C4"] != "open", where  # a built-in density is always decided
            assert agrees(said["C4-s"], known.linear), where
            assert agrees(said["C5"], known.linear[on_support]), where
            assert agrees(said["q_inf = q_star"], np.array([known.optimal])), where
            reachable = reached(run.mdp.p0 > 0, P.max(axis=1) > 0)
            if theory.limit(run).J_optimal:
                assert not (known.diverges[reachable] == 0).any(), where
            if run.eta.constant:  # then the average of d_t(s) has the limit of W(s)/T
                assert said["C7"] != "holds" or not (known.linear == 0).any(), where
                assert said["C7"] != "fails" or not (known.linear == 1).all(), where
        for name in ("C4", "C4-s", "C5", "C7", "q_inf = q_star"):
            counts[name, said[name]] = counts.get((name, said[name]), 0) + 1
    for name in ("C4", "C4-s", "C5", "C7", "q_inf = q_star"):
        assert all(counts[name, verdict] >= 50 for verdict in ("holds", "fails", "open")), counts


def dense(mdp: FiniteMDP) -> tuple[Floats, Floats]:
    P, r_next = dense_model(mdp)
    return P, (P * r_next).sum(axis=2)
