"""The optimum: policy iteration, with value iteration's sweeps as the cheap alternative on large
models.

`policy_iteration` evaluates exactly and improves greedily until no action is better; `modified`
does a fixed number of cheap sweeps instead of the exact evaluation and ends with one exact
evaluation, checked by the Bellman residual. The action gaps delta(s) = v_star(s) - max over
non-optimal actions of q_star(s, a), and uniqueness (A8), are what Theorem 4 needs.
"""

from dataclasses import dataclass

import numpy as np

from jekyllhyde.errors import InputError, check_choice, require
from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.evaluation import DENSE_LIMIT, Evaluation, evaluate
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.mdp.linalg import Sparse

METHODS = ("auto", "policy_iteration", "modified", "value_iteration")
SWEEPS = 20


@dataclass(frozen=True)
class Optimum:
    """An optimal policy and what the theory asks of it.

    v, q : optimal values [S], [S, A].  J : optimal return.
    actions : an optimal action per state [S].  pi : the same as a policy [S, A].
    gap : delta(s) [S], inf where every action is optimal or the state is terminal.
    unique : whether there is one optimal action in every non-terminal state (A8).
    iterations : policy improvements made.  residual : max |max_a q - v|.
    """

    v: Floats
    q: Floats
    J: float
    actions: Ints
    pi: Floats
    gap: Floats
    unique: bool
    iterations: int
    residual: float
    method: str


def optimal(mdp: FiniteMDP, method: str = "auto") -> Optimum:
    """Solve `mdp`; see `FiniteMDP.optimal`."""
    check_choice(method, "method", METHODS)
    if method == "auto":
        large = mdp.n_states > DENSE_LIMIT and mdp.gamma < 1.0
        method = "modified" if large else "policy_iteration"
    if method == "policy_iteration":
        evaluation, actions, iterations = _policy_iteration(mdp, mdp.uniform_policy())
    else:
        require(mdp.gamma < 1.0, f"method {method!r} needs gamma below 1; use 'policy_iteration'")
        swept, iterations = _sweep_until_stable(mdp, SWEEPS if method == "modified" else 0)
        evaluation, actions, _ = _policy_iteration(mdp, _deterministic(mdp, swept))
    v, q, decides = evaluation.v, evaluation.q, ~mdp.is_terminal
    is_optimal = q >= v[:, None] - 1e-9 * max(1.0, float(abs(v).max()))
    return Optimum(
        v=v,
        q=q,
        J=evaluation.J,
        actions=actions,
        pi=_deterministic(mdp, actions),
        gap=np.where(decides, v - np.where(is_optimal, -np.inf, q).max(axis=1), np.inf),
        unique=bool((is_optimal.sum(axis=1) == 1)[decides].all()),
        iterations=iterations,
        residual=float(abs(q.max(axis=1) - v)[decides].max()),
        method=method,
    )


def _policy_iteration(mdp: FiniteMDP, pi: Floats) -> tuple[Evaluation, Ints, int]:
    # Howard's algorithm. An action is changed only for one that is clearly better, so it ends
    # despite rounding.
    evaluation = evaluate(mdp, pi)
    actions = (
        np.argmax(evaluation.q, axis=1) if mdp.gamma < 1.0 else _greedy_and_ending(mdp, evaluation)
    )
    states = np.arange(mdp.n_states)
    for iteration in range(1, 10_000):
        evaluation = evaluate(
            mdp,
            _deterministic(mdp, actions),
            solver=evaluation.next_solver,
            guess=evaluation.v,
        )
        q, tolerance = evaluation.q, 1e-11 * max(1.0, float(abs(evaluation.v).max()))
        best = np.argmax(q, axis=1)
        better = q[states, best] > q[states, actions] + tolerance
        if not better.any():
            return evaluation, actions, iteration
        actions = np.where(better, best, actions)
    raise InputError(
        f"{mdp.name}: policy iteration did not end; are the rewards of very different sizes?"
    )


def _deterministic(mdp: FiniteMDP, actions: Ints) -> Floats:
    return (actions[:, None] == np.arange(mdp.n_actions)).astype(np.float64)


def _greedy_and_ending(mdp: FiniteMDP, evaluation: Evaluation) -> Ints:
    # Greedy actions for gamma = 1, ties going to the action that ends sooner: no cycle of reward 0
    # is then stayed in.
    steps, _ = evaluation.system.solve((~mdp.is_terminal).astype(np.float64))
    q = evaluation.q
    tied = q >= q.max(axis=1, keepdims=True) - 1e-11 * max(1.0, float(abs(q).max()))
    return np.argmin(np.where(tied, (mdp.P @ steps).reshape(q.shape), np.inf), axis=1)


def _sweep_until_stable(mdp: FiniteMDP, partial_sweeps: int) -> tuple[Ints, int]:
    # Value iteration with `partial_sweeps` cheap evaluation sweeps after each improvement (modified
    # policy iteration).
    v = np.where(mdp.is_terminal, 0.0, mdp.r.min() / (1.0 - mdp.gamma))
    actions = np.zeros(mdp.n_states, dtype=np.int64)
    tolerance = 1e-9 * max(1.0, float(abs(mdp.r).max())) * (1.0 - mdp.gamma)
    model = Sparse(mdp.P.indptr, mdp.P.indices, mdp.P.data, mdp.gamma)
    sweeps, change = 0, np.inf
    while change > tolerance:
        change = _improve_sweep(model, mdp.r, v, actions)
        for _ in range(partial_sweeps):
            _evaluate_sweep(model, mdp.r, v, actions)
        sweeps += 1
    return actions, sweeps


@kernel
def _improve_sweep(model: Sparse, r: Floats, v: Floats, actions: Ints) -> float:
    # One Gauss-Seidel sweep of v(s) <- max_a r + gamma P v, in place; returns the largest change.
    change = 0.0
    for s in range(len(v)):
        best, best_action = -np.inf, 0
        for a in range(r.shape[1]):
            value = _backup(model, r, v, s, a)
            if value > best:
                best, best_action = value, a
        change = max(change, abs(best - v[s]))
        v[s], actions[s] = best, best_action
    return change


@kernel
def _evaluate_sweep(model: Sparse, r: Floats, v: Floats, actions: Ints) -> None:
    # One Gauss-Seidel sweep of v(s) <- r + gamma P v under fixed actions, in place.
    for s in range(len(v)):
        v[s] = _backup(model, r, v, s, actions[s])


@phase
def _backup(model: Sparse, r: Floats, v: Floats, s: int, a: int) -> float:
    # r(s, a) + gamma sum_s' p(s'|s, a) v(s').
    row, value = s * r.shape[1] + a, r[s, a]
    for e in range(model.indptr[row], model.indptr[row + 1]):
        value += model.gamma * model.data[e] * v[model.indices[e]]
    return value
