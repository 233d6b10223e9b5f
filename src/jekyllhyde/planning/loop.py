"""The compiled loop of exact policy updates on small MDPs: the same three phases as `plan`, without
leaving machine code.

States are the MDP's decision states in elimination order (see `mdp.elimination`); nothing is
updated elsewhere. Every visit to a decision state is followed by g of a visit, so visits sum to 1 +
g |d| when the one to a terminal state is counted, and to |d| when it is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.elimination import (
    ONE,
    ZERO,
    Model,
    Structure,
    back_substitute,
    dot,
    factor,
    fill_system,
    solve_transposed,
)
from jekyllhyde.planning.updates import direct_update, softmax_update

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Rule(NamedTuple):
    """What an update means: gamma; parametrization and entropy; d_t = o_t off + (1 - o_t) d_{pi,
    gamma_on}, normalized.
    """

    gamma: float
    softmax: bool
    lam: float
    centred: bool
    gamma_on: float
    count_terminal: bool
    off: Floats


class State(NamedTuple):
    """theta, pi, q [n, A]; v, d, weights [n]; scratch: step [n], M [n*n], inverse [n], work [n*A].
    weights = sum_t eta_t d_t.

    flat_pi, flat_q [n*A] are the same memory as pi and q.
    """

    theta: Floats
    pi: Floats
    q: Floats
    flat_pi: Floats
    flat_q: Floats
    v: Floats
    d: Floats
    weights: Floats
    step: Floats
    M: Floats
    inverse: Floats
    work: Floats


@kernel
def advance(
    model: Model,
    structure: Structure,
    rule: Rule,
    state: State,
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
    theta, pi, q, _, _, v, d, weights, step, _, _, work = state
    for t in range(len(eta)):
        J[t] = evaluate(model, structure, rule, state)
        if J[t] > J_stop:
            return t
        if not choose_density(model, structure, rule, state, o[t]):
            return -1 - t
        for s in range(len(d)):
            step[s] = eta[t] * d[s]
            weights[s] += step[s]
        if rule.softmax:
            softmax_update(theta, pi, q, v, step, rule.lam, rule.centred, work)
        else:
            direct_update(theta, pi, q, v, step, rule.lam, rule.centred, work)
    return len(eta)


@phase
def evaluate(model: Model, structure: Structure, rule: Rule, state: State) -> float:
    """Write v and q of pi into `state`, keep the factors of I - gamma P_pi there, and return J."""
    p, pair, successor, cell, r, p0 = model
    _, first, last, pointer, rows = structure
    pi, q, v, M, inverse = state.flat_pi, state.flat_q, state.v, state.M, state.inverse
    fill_system(M, first, last, p, pair, cell, pi, rule.gamma)
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
        q[pair[e]] += rule.gamma * p[e] * v[successor[e]]
    return dot(p0, v, ZERO, ZERO, np.uint64(len(v)))


@phase
def choose_density(model: Model, structure: Structure, rule: Rule, state: State, o: float) -> bool:
    """Write d_t into `state`, from the factors that `evaluate` left; False when it is infinite."""
    p, pair, _, cell, _, p0 = model
    _, first, last, pointer, rows = structure
    d, M, inverse = state.d, state.M, state.inverse
    if o == 1.0:
        for s in range(len(d)):
            d[s] = rule.off[s]
        return True
    if rule.gamma_on != rule.gamma:
        fill_system(M, first, last, p, pair, cell, state.flat_pi, rule.gamma_on)
        factor(M, inverse, d, last, pointer, rows)
    for s in range(len(d)):
        d[s] = p0[s]
    if not solve_transposed(M, inverse, d, first, last):
        return False
    total = 0.0
    for s in range(len(d)):
        total += d[s]
    if rule.count_terminal:
        total = 1.0 + rule.gamma_on * total
    for s in range(len(d)):
        d[s] = o * rule.off[s] + (1.0 - o) * d[s] / total
    return True
