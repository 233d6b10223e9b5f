"""Exact policy updates (Sections 2 and 4.2): evaluate, choose the density, update; again.

    for t = 0, 1, ...:   v_t, q_t, J_t  <- exact evaluation of pi_t
                         d_t            <- pg, undiscounted, uniform, mixture, or the user's
                         theta_{t+1}    <- theta_t + eta_t U(theta_t, d_t), projected        (Eq. 3)

`reference_loop` is that, for any size and any density. On small MDPs with a built-in density,
`compiled_updates` runs the same three phases in machine code; a test holds the two together.
"""

import threading
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.parallel import Stopped, run_all
from jekyllhyde.planning.compiled_updates import compiled_loop
from jekyllhyde.planning.densities import Density, DensityLike, check_density
from jekyllhyde.planning.plan_run import (
    Job,
    PlanRun,
    Progress,
    Times,
    broadcast,
    conclude,
    make_job,
)
from jekyllhyde.planning.updates import Tables, compiles, theta_of, update, update_tables
from jekyllhyde.schedule import ScheduleLike


class _Common(TypedDict, total=False):
    # what all runs of a batch share
    parametrization: Any
    updates: int
    target: float | None
    record: Sequence[str]
    record_at: Times
    pi0: ArrayLike | None
    convention: str
    engine: str
    threads: int | None
    progress: Progress | None


@overload
def plan(
    mdp: FiniteMDP,
    *,
    density: DensityLike = ...,
    o: ScheduleLike | None = ...,
    eta: ScheduleLike = ...,
    lam: float = ...,
    **common: Unpack[_Common],
) -> PlanRun: ...
@overload
def plan(
    mdp: Sequence[FiniteMDP],
    *,
    density: DensityLike | list[DensityLike] | list[str] = ...,
    o: ScheduleLike
    | list[ScheduleLike | None]
    | list[str | None]
    | list[float]
    | list[str]
    | None = ...,
    eta: ScheduleLike | list[ScheduleLike] | list[float] | list[str] = ...,
    lam: float | list[float] = ...,
    **common: Unpack[_Common],
) -> list[PlanRun]: ...


def plan(
    mdp: FiniteMDP | Sequence[FiniteMDP],
    *,
    parametrization: Any = "softmax",
    density: Any = "pg",
    o: Any = None,
    eta: Any = 1.0,
    lam: Any = 0.0,
    updates: int = 1000,
    target: float | None = None,
    record: Sequence[str] = (),
    record_at: Times = "all",
    pi0: ArrayLike | None = None,
    convention: str = "published",
    engine: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> PlanRun | list[PlanRun]:
    """Run exact policy updates from the uniform policy (or `pi0`).

    Parameters
    ----------
    mdp : the problem. A list of MDPs makes a batch: one run each, on all cores; `density`, `o`,
        `eta` and `lam` may then be lists too, of the same length, and a list with one MDP stands
        for as many copies as the others ask for.
    parametrization : "direct", "softmax", another rule ("cross_entropy", "raise_greedy",
        "natural_gradient"; see `row_rules`), or one's own, "file.py:Mine" or its record.
    density : "pg", "undiscounted", "uniform", "mixture", an array [S], or a callable (t, mdp, pi,
        evaluation) -> [S], which "file.py:function" names too.
    o : off-policiness o_t of the mixture: a number in [0, 1] or a schedule such as "10/sqrt(t)".
    eta : step size eta_t, a number or a schedule.     lam : entropy weight (softmax only).
    updates : how many, at most.     target : stop as soon as J_norm exceeds it.
    record, record_at : any of "v", "q", "d", "pi", "theta", at these times (all by default).
    convention : "published" or "paper"; see `densities` and `updates`.
    engine : "compiled", "reference", or "auto" by size.     threads : for a batch; all cores by
        default.
    progress : called with the number of updates made since the last call.
    """
    common: dict[str, Any] = {
        "parametrization": parametrization,
        "updates": updates,
        "target": target,
        "record": record,
        "record_at": record_at,
        "pi0": pi0,
        "convention": convention,
        "engine": engine,
    }
    progress = progress or (lambda count: None)
    if isinstance(mdp, FiniteMDP):
        return _run(make_job(mdp, density, o, eta, lam, **common), progress)
    require(
        isinstance(mdp, Sequence) and all(isinstance(each, FiniteMDP) for each in mdp),
        f"mdp is {mdp!r}; it must be a FiniteMDP or a list of them",
    )
    varied = broadcast(mdp=list(mdp), density=density, o=o, eta=eta, lam=lam)
    return _run_batch([make_job(**each, **common) for each in varied], threads, progress)


def _run_batch(jobs: list[Job], threads: int | None, progress: Progress) -> list[PlanRun]:
    stop = threading.Event()

    def report(count: int) -> None:
        if stop.is_set():
            raise Stopped
        progress(count)

    return run_all(lambda job: _run(job, report), jobs, threads, stop)


def _run(job: Job, progress: Progress) -> PlanRun:
    return (compiled_loop if job.compiled else reference_loop)(job, progress)


def reference_loop(job: Job, progress: Progress) -> PlanRun:
    """Evaluate, choose d_t, update: one line each. Iterative solves start from the last update's
    solution.
    """
    mdp, density = job.mdp, job.density
    apply = update_tables if compiles(job.rule) else update
    pi = job.pi0.copy()
    theta = theta_of(job.rule, pi)
    weights, work = np.zeros(mdp.n_states), np.empty(pi.size)
    J, taken = [], {}
    v, raw, solver = None, None, "auto"
    for t in range(job.updates + 1):
        evaluation = mdp.evaluate(pi, solver=solver, guess=v)
        v, solver = evaluation.v, evaluation.next_solver
        J.append(evaluation.J)
        done = t == job.updates or job.J_stop < evaluation.J
        if done and t not in job.record_at:
            break
        if not isinstance(density, Density):
            d = check_density(density(t, mdp, pi.copy(), evaluation), mdp)
        else:
            o, d = min(1.0, density.o(t + 1)), density.off
            if o < 1.0:
                raw = evaluation.density(density.gamma, raw)
                on = raw if density.count_terminal else np.where(mdp.is_terminal, 0.0, raw)
                d = o * density.off + (1.0 - o) * (on / on.sum())
        d = np.where(mdp.is_terminal, 0.0, d)
        if t in job.record_at:
            now = {"v": v, "q": evaluation.q, "d": d, "pi": pi, "theta": theta, "weights": weights}
            taken[t] = {name: now[name].copy() for name in job.record}
        if done:
            break
        step = job.eta(t + 1) * d
        weights += step
        apply(job.rule, Tables(theta.ravel(), pi.ravel(), evaluation.q.ravel(), v, step, work))
        progress(1)
    return conclude(job, np.array(J), taken, theta, pi, weights, evaluation.solver)
