"""A user's arrays P, r, p0 and terminal as the arrays of a model, every index and number checked.

Compiled loops trust these arrays: what passes here cannot lead them outside.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from jekyllhyde.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
CSR: TypeAlias = sparse.csr_array
ROW_SUM_TOLERANCE = 1e-8


def as_floats(value: Any, field: str) -> Floats:
    """`value` as a contiguous float array."""
    try:
        return np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} is not an array of numbers") from None


def read_transitions(P: Any) -> tuple[CSR, int, int]:
    """Any accepted form of P as CSR [S*A, S] with sorted, summed entries."""
    if sparse.issparse(P):
        rows, n_states = P.shape
        if n_states == 0 or rows == 0 or rows % n_states:
            raise InputError(
                f"P is sparse of shape {P.shape}; it must be [S*A, S] with at least one state and "
                "one action"
            )
        matrix = _as_csr(P, "P")
    else:
        dense = as_floats(P, "P")
        if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or 0 in dense.shape:
            raise InputError(f"P has shape {dense.shape}; it must be [S, A, S], or sparse [S*A, S]")
        n_states, rows = dense.shape[0], dense.shape[0] * dense.shape[1]
        matrix = sparse.csr_array(dense.reshape(rows, n_states))
    matrix.sum_duplicates()
    return matrix, int(n_states), int(rows // n_states)


def _as_csr(matrix: Any, field: str) -> CSR:
    # A copy in CSR form, after a check of the indices: SciPy trusts arrays that were changed.
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo" and matrix.nnz:
            places = np.array([matrix.row, matrix.col])
            if places.min() < 0 or (places.max(axis=1) >= matrix.shape).any():
                raise ValueError("an entry lies outside the matrix")
    except ValueError as error:
        raise InputError(f"{field} is not a sound sparse matrix: {error}") from None
    return sparse.csr_array(matrix, dtype=np.float64, copy=True)


def read_terminal(terminal: Any, n_states: int) -> tuple[Ints, NDArray[np.bool_]]:
    """The terminal states in order, and as a mask [S]."""
    indices = as_floats(terminal, "terminal").ravel()
    if (indices != np.floor(indices)).any() or ((indices < 0) | (indices >= n_states)).any():
        bad = indices[(indices != np.floor(indices)) | (indices < 0) | (indices >= n_states)][0]
        raise InputError(f"terminal contains {bad:g}; states are the integers 0 to {n_states - 1}")
    mask = np.zeros(n_states, dtype=bool)
    mask[indices.astype(np.int64)] = True
    return np.flatnonzero(mask).astype(np.int64), mask


def read_p0(p0: ArrayLike | None, n_states: int, is_terminal: NDArray[np.bool_]) -> Floats:
    """The initial distribution [S]; state 0 by default."""
    if p0 is None:
        start = np.zeros(n_states)
        start[0] = 1.0
    else:
        start = as_floats(p0, "p0").copy()
    if start.shape != (n_states,):
        raise InputError(f"p0 has shape {start.shape}; P has {n_states} states")
    fine = np.isfinite(start).all() and (start >= 0).all()
    if not (fine and abs(start.sum() - 1.0) <= ROW_SUM_TOLERANCE):
        raise InputError("p0 is not a distribution: its entries must be non-negative and sum to 1")
    if is_terminal[start > 0].all():
        raise InputError("p0 starts in terminal states only: nothing is reachable")
    return start


def read_model(
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
            f"P has the entry {P.data[bad[0]]} for state {s}, action {a}; "
            "probabilities are numbers in [0, 1]"
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
    allowed = (
        f"[{n_states}, {n_actions}], [{n_states}, {n_actions}, {n_states}] "
        f"or sparse [{P.shape[0]}, {n_states}]"
    )
    if sparse.issparse(r):
        if r.shape != P.shape:
            raise InputError(f"r is sparse of shape {r.shape}; it must have shape {allowed}")
        per_transition = np.asarray(_as_csr(r, "r")[row_of, P.indices]).ravel()
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
    expected: Any = np.bincount(row_of, weights=P.data * per_transition, minlength=P.shape[0])
    return expected.reshape(n_states, n_actions), np.ascontiguousarray(per_transition)
