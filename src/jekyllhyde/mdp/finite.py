"""Finite Markov decision processes with a known model (the paper's assumption A1).

An MDP is (S, A, p, p_0, r, gamma) as in Appendix A. The transition function is kept as sparse rows
over (s, a): row s*A + a of `P` [S*A, S] holds p(. | s, a). A terminal state is an index like any
other with no outgoing transitions and value 0, so for a policy pi and P_pi = sum_a pi(a|s) p(.|s,
a):

    v_pi = (I - gamma P_pi)^-1 r_pi         q_pi = r + gamma P v_pi         J(pi) = p_0 . v_pi
    d_{pi,gamma} = (I - gamma P_pi)^-T p_0  (visits before termination, and the one visit to a
    terminal state)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from jekyllhyde.errors import InputError

if TYPE_CHECKING:
    from jekyllhyde.mdp.elimination import Model, Structure
    from jekyllhyde.mdp.evaluation import Evaluation
    from jekyllhyde.mdp.optimum import Optimum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CSR: TypeAlias = sparse.csr_array
ROW_SUM_TOLERANCE = 1e-8
POLICY_TOLERANCE = 1e-6


class FiniteMDP:
    """A finite MDP with known model.

    Parameters
    ----------
    P : dense [S, A, S] or SciPy sparse [S*A, S]; row s*A + a is p(. | s, a). Rows of terminal
        states are ignored.
    r : [S, A], dense [S, A, S] or SciPy sparse [S*A, S] (a reward per successor; absent entries are
        0).
    p0 : initial distribution [S]; state 0 by default.
    gamma : discount in [0, 1]; 1 is accepted here and checked per policy, which must reach a
        terminal state almost surely.
    terminal : indices of the terminal states.
    J_low : the return that `normalize` maps to 0; the uniform policy's by default.
    name : how results and plots call this MDP.

    Attributes
    ----------
    P : CSR [S*A, S], empty rows at terminal states.     r : expected rewards [S, A].
    r_next : rewards per stored transition, aligned with `P.data`.     is_terminal : mask [S].
    """

    def __init__(
        self,
        P: Any,
        r: Any,
        *,
        p0: ArrayLike | None = None,
        gamma: float = 0.99,
        terminal: Sequence[int] | NDArray[np.integer[Any]] = (),
        J_low: float | None = None,
        name: str = "mdp",
    ) -> None:
        self.name = name
        self.gamma = _check_gamma(gamma)
        transitions, self.n_states, self.n_actions = _read_transitions(P)
        self.terminal, self.is_terminal = _read_terminal(terminal, self.n_states)
        self.p0 = _read_p0(p0, self.n_states, self.is_terminal)
        self.P, self.r, self.r_next = _read_model(transitions, r, self.is_terminal, self.n_actions)
        self._J_low = None if J_low is None else _check_finite_number(J_low, "J_low")
        for array in (
            self.P.data,
            self.P.indices,
            self.P.indptr,
            self.r,
            self.r_next,
            self.p0,
            self.terminal,
            self.is_terminal,
        ):
            array.setflags(write=False)

    def evaluate(
        self, pi: ArrayLike, *, solver: str = "auto", guess: Floats | None = None
    ) -> Evaluation:
        """Exact v, q, adv, J of the policy `pi` [S, A], and its densities from the same
        factorization.

        `solver` is "auto", "dense", "sparse_lu" or "iterative"; `guess` [S] starts an iterative
        solve.
        """
        from jekyllhyde.mdp.evaluation import evaluate

        return evaluate(self, self.check_policy(pi), solver=solver, guess=guess)

    def density(self, pi: ArrayLike, gamma: float | None = None) -> Floats:
        """d_{pi,gamma} [S] = sum_t gamma^t P(S_t = s), not normalized; `gamma` is the MDP's own by
        default, 1 undiscounted.
        """
        from jekyllhyde.mdp.evaluation import density

        return density(
            self, self.check_policy(pi), self.gamma if gamma is None else _check_gamma(gamma)
        )

    def optimal(self, method: str = "auto") -> Optimum:
        """An optimal policy with v, q, J, the action gaps and whether it is unique (A8)."""
        if method == "auto":
            return self._optimum
        from jekyllhyde.mdp.optimum import optimal

        return optimal(self, method)

    def normalize(self, J: ArrayLike) -> Any:
        """(J - J_low) / (J_star - J_low): 0 at the reference policy, 1 at the optimum."""
        low, star = self.J_low, self.J_star
        if not abs(star - low) > 1e-12 * max(1.0, abs(star)):
            raise InputError(
                f"{self.name}: the normalized return is undefined, the optimal return {star:g} equals the reference return"
            )
        return (np.asarray(J) - low) / (star - low)

    @property
    def J_star(self) -> float:
        """The optimal return."""
        return self._optimum.J

    @cached_property
    def J_low(self) -> float:
        """The reference return: given by the domain, or the uniform policy's."""
        return self.evaluate(self.uniform_policy()).J if self._J_low is None else self._J_low

    @cached_property
    def elimination(self) -> tuple[Structure, Model]:
        """For compiled loops on small MDPs: the order of elimination, and the model in that order."""
        from jekyllhyde.mdp.elimination import plan_elimination

        return plan_elimination(self)

    @cached_property
    def _optimum(self) -> Optimum:
        from jekyllhyde.mdp.optimum import optimal

        return optimal(self, "auto")

    def uniform_policy(self) -> Floats:
        """pi(a|s) = 1/A."""
        return np.full((self.n_states, self.n_actions), 1.0 / self.n_actions)

    def check_policy(self, pi: ArrayLike) -> Floats:
        """`pi` as a float array [S, A] whose rows are distributions; uniform at terminal states,
        which do not act.
        """
        array = as_floats(pi, "pi").copy()
        shape = (self.n_states, self.n_actions)
        if array.shape != shape:
            raise InputError(
                f"pi has shape {array.shape}; this MDP takes {shape}, states by actions"
            )
        with np.errstate(invalid="ignore"):
            is_fine = (
                np.isfinite(array).all(1)
                & (array >= 0).all(1)
                & (abs(array.sum(1) - 1.0) <= POLICY_TOLERANCE)
            )
        if not (is_fine | self.is_terminal).all():
            state = int(np.argmin(is_fine | self.is_terminal))
            raise InputError(
                f"pi is not a policy: its row for state {state} is not a distribution over the actions"
            )
        array[self.is_terminal] = 1.0 / self.n_actions
        return array

    def save(self, path: str | Path) -> None:
        """Write this MDP to one `.npz` file (versioned, no pickle)."""
        from jekyllhyde.mdp.files import save

        save(self, path)

    @staticmethod
    def load(path: str | Path) -> FiniteMDP:
        """Read an MDP written by `save`."""
        from jekyllhyde.mdp.files import load

        return load(path)

    def __repr__(self) -> str:
        return (
            f"FiniteMDP({self.name!r}: {self.n_states} states, {self.n_actions} actions, "
            f"{self.P.nnz} transitions, gamma={self.gamma:g})"
        )


def as_floats(value: Any, field: str) -> Floats:
    """`value` as a contiguous float array."""
    try:
        return np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} is not an array of numbers") from None


def _check_gamma(gamma: float) -> float:
    try:
        value = float(gamma)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 <= value <= 1.0:
        raise InputError(f"gamma is {gamma}; it must lie in [0, 1]")
    return value


def _check_finite_number(value: float, field: str) -> float:
    if not (isinstance(value, (int, float, np.number)) and np.isfinite(value)):
        raise InputError(f"{field} is {value}; it must be a finite number")
    return float(value)


def _read_transitions(P: Any) -> tuple[CSR, int, int]:
    """Any accepted form of P as CSR [S*A, S] with sorted, summed entries."""
    if sparse.issparse(P):
        rows, n_states = P.shape
        if n_states == 0 or rows == 0 or rows % n_states:
            raise InputError(
                f"P is sparse of shape {P.shape}; it must be [S*A, S] with at least one state and one action"
            )
        matrix = sparse.csr_array(P, dtype=np.float64, copy=True)  # sum_duplicates works in place
    else:
        dense = as_floats(P, "P")
        if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or 0 in dense.shape:
            raise InputError(f"P has shape {dense.shape}; it must be [S, A, S], or sparse [S*A, S]")
        n_states, rows = dense.shape[0], dense.shape[0] * dense.shape[1]
        matrix = sparse.csr_array(dense.reshape(rows, n_states))
    matrix.sum_duplicates()
    return matrix, int(n_states), int(rows // n_states)


def _read_terminal(terminal: Any, n_states: int) -> tuple[Ints, NDArray[np.bool_]]:
    indices = as_floats(terminal, "terminal").ravel()
    if (indices != np.floor(indices)).any() or ((indices < 0) | (indices >= n_states)).any():
        bad = indices[(indices != np.floor(indices)) | (indices < 0) | (indices >= n_states)][0]
        raise InputError(f"terminal contains {bad:g}; states are the integers 0 to {n_states - 1}")
    mask = np.zeros(n_states, dtype=bool)
    mask[indices.astype(np.int64)] = True
    return np.flatnonzero(mask).astype(np.int64), mask


def _read_p0(p0: ArrayLike | None, n_states: int, is_terminal: NDArray[np.bool_]) -> Floats:
    if p0 is None:
        start = np.zeros(n_states)
        start[0] = 1.0
    else:
        start = as_floats(p0, "p0").copy()
    if start.shape != (n_states,):
        raise InputError(f"p0 has shape {start.shape}; P has {n_states} states")
    if not (
        np.isfinite(start).all()
        and (start >= 0).all()
        and abs(start.sum() - 1.0) <= ROW_SUM_TOLERANCE
    ):
        raise InputError("p0 is not a distribution: its entries must be non-negative and sum to 1")
    if is_terminal[start > 0].all():
        raise InputError("p0 starts in terminal states only: nothing is reachable")
    return start


def _read_model(
    P: CSR, r: Any, is_terminal: NDArray[np.bool_], n_actions: int
) -> tuple[CSR, Floats, Floats]:
    """P without the terminal rows, the expected rewards [S, A], and the rewards per stored
    transition.
    """
    n_states = P.shape[1]
    row_of = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    state_of = row_of // n_actions
    keep = ~is_terminal[state_of]
    bad = np.flatnonzero(keep & ~(np.isfinite(P.data) & (P.data >= 0)))
    if len(bad):
        s, a = divmod(int(row_of[bad[0]]), n_actions)
        raise InputError(
            f"P has the entry {P.data[bad[0]]} for state {s}, action {a}; probabilities are numbers in [0, 1]"
        )
    sums = np.bincount(row_of[keep], weights=P.data[keep], minlength=P.shape[0])
    wrong = np.flatnonzero(
        (abs(sums - 1.0) > ROW_SUM_TOLERANCE) & ~np.repeat(is_terminal, n_actions)
    )
    if len(wrong):
        s, a = divmod(int(wrong[0]), n_actions)
        raise InputError(
            f"P does not sum to 1 for state {s}, action {a}: the row sums to {sums[wrong[0]]:.9g}"
        )
    keep &= P.data > 0
    row_of, columns, data = row_of[keep], P.indices[keep], P.data[keep]
    counts = np.bincount(row_of, minlength=P.shape[0])
    index_type = np.int32 if len(data) < 2**31 and n_states < 2**31 else np.int64
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index_type)
    reduced = sparse.csr_array((data, columns.astype(index_type), indptr), shape=P.shape)
    reduced.has_canonical_format = True
    expected, per_transition = _read_rewards(r, reduced, row_of, is_terminal, n_actions)
    return reduced, expected, per_transition


def _read_rewards(
    r: Any, P: CSR, row_of: Ints, is_terminal: NDArray[np.bool_], n_actions: int
) -> tuple[Floats, Floats]:
    n_states = P.shape[1]
    allowed = f"[{n_states}, {n_actions}], [{n_states}, {n_actions}, {n_states}] or sparse [{P.shape[0]}, {n_states}]"
    if sparse.issparse(r):
        if r.shape != P.shape:
            raise InputError(f"r is sparse of shape {r.shape}; it must have shape {allowed}")
        per_transition = np.asarray(
            sparse.csr_array(r, dtype=np.float64)[row_of, P.indices]
        ).ravel()
    else:
        dense = as_floats(r, "r")
        if dense.shape == (n_states, n_actions):
            per_transition = dense.reshape(-1)[row_of]
        elif dense.shape == (n_states, n_actions, n_states):
            per_transition = dense.reshape(P.shape)[row_of, P.indices]
        else:
            raise InputError(f"r has shape {dense.shape}; it must have shape {allowed}")
    if not np.isfinite(per_transition).all():
        s, a = divmod(int(row_of[np.flatnonzero(~np.isfinite(per_transition))[0]]), n_actions)
        raise InputError(f"r is not a finite number for state {s}, action {a}")
    expected = np.bincount(row_of, weights=P.data * per_transition, minlength=P.shape[0])
    return np.asarray(expected, dtype=np.float64).reshape(
        n_states, n_actions
    ), np.ascontiguousarray(per_transition)
