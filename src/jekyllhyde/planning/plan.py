"""Exact policy updates (Sections 2 and 4.2): evaluate, choose the density, update; again.

    for t = 0, 1, ...:   v_t, q_t, J_t  <- exact evaluation of pi_t
                         d_t            <- pg, undiscounted, uniform, mixture, or the user's
                         theta_{t+1}    <- theta_t + eta_t U(theta_t, d_t), projected          (Eq. 2)

`reference_loop` is that, for any size and any density. On small MDPs with a built-in density,
`compiled_loop` runs the same three phases in machine code (`loop.advance`); a test holds the two
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.parallel import run_all
from jekyllhyde.planning.densities import Density, DensityLike, check_density
from jekyllhyde.planning.job import Job, Recorder, Times, broadcast, make_job
from jekyllhyde.planning.loop import Rule, State, advance
from jekyllhyde.planning.run import PlanRun
from jekyllhyde.planning.updates import PARAMETRIZATIONS, theta_of
from jekyllhyde.schedule import ScheduleLike

WORK = 200_000_000  # operations between two reports of progress

Progress = Callable[[int], None]


@overload
def plan(
    mdp: FiniteMDP,
    *,
    parametrization: str = ...,
    density: DensityLike = ...,
    o: ScheduleLike | None = ...,
    eta: ScheduleLike = ...,
    lam: float = ...,
    updates: int = ...,
    target: float | None = ...,
    record: Sequence[str] = ...,
    record_at: Times = ...,
    pi0: ArrayLike | None = ...,
    convention: str = ...,
    engine: str = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> PlanRun: ...
@overload
def plan(
    mdp: Sequence[FiniteMDP],
    *,
    parametrization: str = ...,
    density: DensityLike | list[DensityLike] | list[str] = ...,
    o: ScheduleLike
    | list[ScheduleLike | None]
    | list[str | None]
    | list[float]
    | list[str]
    | None = ...,
    eta: ScheduleLike | list[ScheduleLike] | list[float] | list[str] = ...,
    lam: float | list[float] = ...,
    updates: int = ...,
    target: float | None = ...,
    record: Sequence[str] = ...,
    record_at: Times = ...,
    pi0: ArrayLike | None = ...,
    convention: str = ...,
    engine: str = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> list[PlanRun]: ...


def plan(
    mdp: FiniteMDP | Sequence[FiniteMDP],
    *,
    parametrization: str = "softmax",
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
    parametrization : "direct" or "softmax".
    density : "pg", "undiscounted", "uniform", "mixture", an array [S], or a callable (t, mdp, pi,
        evaluation) -> [S].
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
    if isinstance(mdp, FiniteMDP):
        return _run(make_job(mdp, density=density, o=o, eta=eta, lam=lam, **common), progress)
    if not isinstance(mdp, Sequence) or not all(isinstance(one, FiniteMDP) for one in mdp):
        raise InputError(f"mdp is {mdp!r}; it must be a FiniteMDP or a list of them")
    varied = broadcast({"mdp": list(mdp), "density": density, "o": o, "eta": eta, "lam": lam})
    jobs = [make_job(**one, **common) for one in varied]
    return run_all(lambda job: _run(job, progress), jobs, threads)


def _run(job: Job, progress: Progress | None) -> PlanRun:
    loop = compiled_loop if job.compiled else reference_loop
    recorder = Recorder(job)
    J, theta, pi, weights, solver = loop(job, recorder, progress or (lambda n: None))
    if not np.isfinite(J).all():
        t = int(np.flatnonzero(~np.isfinite(J))[0])
        raise InputError(
            f"{job.mdp.name}: the return is not finite after update {t}; eta = {job.eta} is too large for these values"
        )
    return PlanRun(
        mdp=job.mdp,
        J=J,
        pi=pi,
        theta=theta,
        weights=weights,
        updates=len(J) - 1,
        cap=job.updates,
        target=job.target,
        censored=job.target is not None and not J[-1] > job.J_stop,
        t=np.array(recorder.taken, dtype=np.int64),
        records={name: np.array(kept) for name, kept in recorder.kept.items()},
        settings=job.settings,
        solver=solver,
        density=job.density,
        eta=job.eta,
    )


Outcome = tuple[Floats, Floats, Floats, Floats, str]


def reference_loop(job: Job, recorder: Recorder, progress: Progress) -> Outcome:
    """Evaluate, choose d_t, update: one line each. Iterative solves start from the last update's
    solution.
    """
    mdp, update, density = job.mdp, PARAMETRIZATIONS[job.parametrization], job.density
    pi = job.pi0.copy()
    theta = theta_of(job.parametrization, pi)
    weights, work = np.zeros(mdp.n_states), np.empty(mdp.n_states * mdp.n_actions)
    J: list[float] = []
    v, raw, solver = None, None, "auto"
    for t in range(job.updates + 1):
        evaluation = mdp.evaluate(pi, solver=solver, guess=v)
        v, solver = evaluation.v, "auto" if evaluation.solver == "iterative" else evaluation.solver
        J.append(evaluation.J)
        done = t == job.updates or job.J_stop < evaluation.J
        if done and t not in recorder.times:
            break
        if not isinstance(density, Density):
            d = check_density(density(t, mdp, pi.copy(), evaluation), mdp)
        else:
            o = min(1.0, density.o(t + 1))
            d = density.off
            if o < 1.0:
                on, raw = density.on_policy(mdp, evaluation, raw)
                d = o * density.off + (1.0 - o) * on
        d = np.where(mdp.is_terminal, 0.0, d)
        if t in recorder.times:
            recorder.take(t, v=v, q=evaluation.q, d=d, pi=pi, theta=theta, weights=weights)
        if done:
            break
        step = job.eta(t + 1) * d
        weights += step
        update(theta, pi, evaluation.q, v, step, job.lam, job.centred, work)
        progress(1)
    return np.array(J), theta, pi, weights, evaluation.solver


def compiled_loop(job: Job, recorder: Recorder, progress: Progress) -> Outcome:
    """The same in machine code, in stretches that end at the times to record."""
    mdp, density = job.mdp, job.density
    assert isinstance(density, Density)
    structure, model = mdp.elimination
    n, A = len(model.p0), mdp.n_actions
    off = density.off[structure.order]
    rule = Rule(
        mdp.gamma,
        job.parametrization == "softmax",
        job.lam,
        job.centred,
        density.gamma,
        density.count_terminal,
        off,
    )
    pi, q = job.pi0[structure.order], np.empty((n, A))
    state = State(
        theta_of(job.parametrization, pi),
        pi,
        q,
        pi.reshape(-1),
        q.reshape(-1),
        np.empty(n),
        np.empty(n),
        np.zeros(n),
        np.empty(n),
        np.empty(n * n),
        np.empty(n),
        np.empty(n * A),
    )

    def unfold(array: Floats, at_terminal: float = 0.0) -> Floats:
        """From decision states in elimination order to all states."""
        full = np.full((mdp.n_states, *array.shape[1:]), at_terminal)
        full[structure.order] = array
        return full

    at_terminal = {"pi": 1.0 / A, "theta": 1.0 / A if job.parametrization == "direct" else 0.0}

    J = np.empty(job.updates + 1)
    chunk = 1 + WORK // (n**3 + 1000)
    stops = sorted({*range(0, job.updates, chunk), *recorder.times, job.updates})
    for t, end in zip(stops, [*stops[1:], job.updates], strict=True):
        o = np.minimum(1.0, density.o.values(t + 1, max(end - t, 1)))
        if t in recorder.times or t == job.updates:
            made = advance(model, structure, rule, state, np.zeros(1), o[:1], J[t : t + 1], np.inf)
        if t in recorder.times:
            _require_finite(made >= 0, t, mdp)
            recorder.take(
                t,
                **{
                    k: unfold(a, at_terminal.get(k, 0.0))
                    for k, a in state._asdict().items()
                    if k in recorder.kept
                },
            )
        made = advance(
            model, structure, rule, state, job.eta.values(t + 1, end - t), o, J[t:end], job.J_stop
        )
        _require_finite(made >= 0, t - 1 - made, mdp)
        progress(made)
        if made < end - t:
            J = J[: t + made + 1]
            break
    theta, pi = (unfold(a, at_terminal[k]) for k, a in (("theta", state.theta), ("pi", state.pi)))
    return J, theta, pi, unfold(state.weights), "compiled"


def _require_finite(is_finite: bool, t: int, mdp: FiniteMDP) -> None:
    if not is_finite:
        raise InputError(
            f"{mdp.name}: the undiscounted density is infinite before update {t}, the policy may never reach a terminal state"
        )
