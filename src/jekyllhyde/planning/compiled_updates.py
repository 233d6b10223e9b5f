"""Exact policy updates on small MDPs without leaving machine code: the three phases of `plan`.

States are the MDP's decision states in elimination order (see `mdp.elimination`); nothing is
updated elsewhere. Every visit to a decision state is followed by g of a visit, so visits sum to 1 +
g |d| when the one to a terminal state is counted, and to |d| when it is not.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.elimination import (
    Model,
    back_substitute,
    dot,
    factor,
    fill_system,
    solve_transposed,
)
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.parallel import WORK, interruptible
from jekyllhyde.planning.densities import Density
from jekyllhyde.planning.plan_run import Job, PlanRun, Progress, conclude
from jekyllhyde.planning.updates import Tables, is_direct, theta_of, update
from jekyllhyde.simplex import ONE, ZERO


class Mixture(NamedTuple):
    """d_t = o_t off + (1 - o_t) d_{pi, gamma}, normalized; see `densities`."""

    gamma: float
    count_terminal: bool
    off: Floats


class Visits(NamedTuple):
    """d, weights = sum_t eta_t d_t [n]; scratch: M [n*n], inverse [n].

    Apart from the tables, because records within records cost time in a loop.
    """

    d: Floats
    weights: Floats
    M: Floats
    inverse: Floats


@kernel
def advance(
    model: Model,
    gamma: float,
    rule: Any,
    mixture: Mixture,
    tables: Tables,
    visits: Visits,
    eta: Floats,
    o: Floats,
    J: Floats,
    J_stop: float,
) -> int:
    """Evaluate and update len(eta) times, J[t] being the return before update t.

    With a step of 0 it observes: v, q, d and J are those of pi, which stays. Returns how many
    updates were made; fewer when J exceeds `J_stop`; -1 - t when the undiscounted density is
    infinite at t.
    """
    d, weights, _, _ = visits
    for t in range(len(eta)):
        J[t] = _evaluate(model, gamma, tables, visits)
        if J[t] > J_stop:
            return t
        if not _choose_density(model, gamma, mixture, tables.pi, visits, o[t]):
            return -1 - t
        for s in range(len(d)):
            tables.step[s] = eta[t] * d[s]
            weights[s] += tables.step[s]
        update(rule, tables)
    return len(eta)


@phase
def _evaluate(model: Model, gamma: float, tables: Tables, visits: Visits) -> float:
    # Write v and q of pi, keep the factors of I - gamma P_pi in `visits`, and return J.
    _, first, last, pointer, rows, p, pair, successor, cell, r, p0 = model
    _, pi, q, v, _, _ = tables
    M, inverse = visits.M, visits.inverse
    fill_system(M, first, last, p, pair, cell, pi, gamma)
    n_actions = len(pi) // len(v)
    i = ZERO
    for s in range(len(v)):
        total = 0.0
        for _ in range(n_actions):
            total += pi[i] * r[i]
            i += ONE
        v[s] = total
    factor(M, inverse, v, last, pointer, rows)
    back_substitute(M, inverse, v, last)
    for e in range(len(q)):
        q[e] = r[e]
    for e in range(len(p)):
        q[pair[e]] += gamma * p[e] * v[successor[e]]
    return dot(p0, v, ZERO, ZERO, np.uint64(len(v)))


@phase
def _choose_density(
    model: Model,
    gamma: float,
    mixture: Mixture,
    pi: Floats,
    visits: Visits,
    o: float,
) -> bool:
    # Write d_t into `visits`, from the factors that `_evaluate` left; False when it is infinite.
    _, first, last, pointer, rows, p, pair, _, cell, _, p0 = model
    d, _, M, inverse = visits
    if o == 1.0:
        for s in range(len(d)):
            d[s] = mixture.off[s]
        return True
    if mixture.gamma != gamma:
        fill_system(M, first, last, p, pair, cell, pi, mixture.gamma)
        factor(M, inverse, d, last, pointer, rows)
    for s in range(len(d)):
        d[s] = p0[s]
    if not solve_transposed(M, inverse, d, first, last):
        return False
    total = 0.0
    for s in range(len(d)):
        total += d[s]
    if mixture.count_terminal:
        total = 1.0 + mixture.gamma * total
    for s in range(len(d)):
        d[s] = o * mixture.off[s] + (1.0 - o) * d[s] / total
    return True


def compiled_loop(job: Job, progress: Progress) -> PlanRun:
    """All updates of a job, in stretches that end at the times to record."""
    mdp, density = job.mdp, job.density
    assert isinstance(density, Density)
    model = mdp.elimination
    order = model.order
    n, pi = len(order), job.pi0[order]
    tables = Tables(
        theta=theta_of(job.rule, pi).ravel(),
        pi=pi.ravel(),
        q=np.empty(pi.size),
        v=np.empty(n),
        step=np.empty(n),
        work=np.empty(pi.size),
    )
    visits = Visits(np.empty(n), np.zeros(n), np.empty(n * n), np.empty(n))
    arrays = {name: getattr(tables, name).reshape(pi.shape) for name in ("theta", "pi", "q")}
    arrays |= {"v": tables.v, "d": visits.d, "weights": visits.weights}
    unfold = partial(_unfold, job, order, arrays)
    mixture = Mixture(density.gamma, density.count_terminal, density.off[order])
    problem = (model, mdp.gamma, job.rule, mixture, tables, visits)
    # about how many operations one update takes: two eliminations, and passes over the tables
    elimination = np.diff(model.pointer) @ (model.last.astype(np.int64) - np.arange(n))
    cost = 1000 + 2 * int(elimination) + n * n + 4 * len(model.p) + 20 * len(model.r)
    call = partial(interruptible, advance, long=cost >= 5 * WORK)
    J, taken = np.empty(job.updates + 1), {}
    stops = sorted({*range(0, job.updates, 1 + WORK // cost), *job.record_at, job.updates})
    for t, end in zip(stops, [*stops[1:], job.updates], strict=True):
        o = np.minimum(1.0, density.o.values(t + 1, max(end - t, 1)))
        if t in job.record_at or t == job.updates:
            made = call(*problem, np.zeros(1), o[:1], J[t:], np.inf)
        if t in job.record_at:
            _require_finite(made, t, mdp)
            taken[t] = unfold(job.record)
        made = call(*problem, job.eta.values(t + 1, end - t), o, J[t:], job.J_stop)
        _require_finite(made, t, mdp)
        progress(made)
        if made < end - t:
            J = J[: t + made + 1]
            break
    return conclude(job, J, taken, **unfold(("theta", "pi", "weights")), solver="compiled")


def _unfold(
    job: Job, order: Ints, arrays: dict[str, Floats], names: tuple[str, ...]
) -> dict[str, Floats]:
    # Copies of these arrays, from decision states in elimination order to all states.
    policies = ("pi", "theta") if is_direct(job.rule) else ("pi",)
    unfolded = {}
    for name in names:
        shape = (job.mdp.n_states, *arrays[name].shape[1:])
        unfolded[name] = np.full(shape, 1.0 / job.mdp.n_actions if name in policies else 0.0)
        unfolded[name][order] = arrays[name]
    return unfolded


def _require_finite(made: int, t: int, mdp: FiniteMDP) -> None:
    require(
        made >= 0,
        f"{mdp.name}: the undiscounted density is infinite before update {t - 1 - made}, "
        "the policy may never reach a terminal state",
    )
