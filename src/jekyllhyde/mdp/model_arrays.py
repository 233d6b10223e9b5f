"""A user's arrays P, r, p0 and terminal as the arrays of a model, every index and number checked.

Compiled loops trust these arrays: what passes here cannot lead them outside.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from jekyllhyde.errors import InputError, require

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
        require(
            n_states and rows and rows % n_states == 0,
            f"P is sparse of shape {P.shape}; it must be [S*A, S] with at least one state and one "
            "action",
        )
        matrix = _as_csr(P, "P")
    else:
        dense = as_floats(P, "P")
        require(
            dense.ndim == 3 and dense.shape[0] == dense.shape[2] and 0 not in dense.shape,
            f"P has shape {dense.shape}; it must be [S, A, S], or sparse [S*A, S]",
        )
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
    bad = indices[(indices != np.floor(indices)) | (indices < 0) | (indices >= n_states)]
    if len(bad):
        raise InputError(
            f"terminal contains {bad[0]:g}; states are the integers 0 to {n_states - 1}"
        )
    mask = np.zeros(n_states, dtype=bool)
    mask[indices.astype(np.int64)] = True
    return np.flatnonzero(mask).astype(np.int64), mask


def read_p0(p0: ArrayLike | None, n_states: int, is_terminal: NDArray[np.bool_]) -> Floats:
    """The initial distribution [S]; state 0 by default."""
    start = np.eye(1, n_states)[0] if p0 is None else as_floats(p0, "p0").copy()
    require(start.shape == (n_states,), f"p0 has shape {start.shape}; P has {n_states} states")
    require(
        np.isfinite(start).all()
        and (start >= 0).all()
        and abs(start.sum() - 1.0) <= ROW_SUM_TOLERANCE,
        "p0 is not a distribution: its entries must be non-negative and sum to 1",
    )
    require(
        not is_terminal[start > 0].all(), "p0 starts in terminal states only: nothing is reachable"
    )
    return start


def read_model(
    P: CSR, r: Any, is_terminal: NDArray[np.bool_], n_actions: int
) -> tuple[CSR, Floats, Floats]:
    """P without the terminal rows, the expected rewards [S, A], and the rewards per stored
    transition.
    """
    row_of = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    keep = ~is_terminal[row_of // n_actions]
    bad = np.flatnonzero(keep & ~(np.isfinite(P.data) & (P.data >= 0)))
    if len(bad):
        raise InputError(
            f"P has the entry {P.data[bad[0]]} for {_pair(row_of[bad[0]], n_actions)}; "
            "probabilities are numbers in [0, 1]"
        )
    sums = np.bincount(row_of[keep], weights=P.data[keep], minlength=P.shape[0])
    wrong = np.flatnonzero(
        (abs(sums - 1.0) > ROW_SUM_TOLERANCE) & ~np.repeat(is_terminal, n_actions)
    )
    if len(wrong):
        raise InputError(
            f"P does not sum to 1 for {_pair(wrong[0], n_actions)}: "
            f"the row sums to {sums[wrong[0]]:.9g}"
        )
    keep &= P.data > 0
    row_of, columns, data = row_of[keep], P.indices[keep], P.data[keep]
    index_type = np.int32 if len(data) < 2**31 and P.shape[1] < 2**31 else np.int64
    counts = np.bincount(row_of, minlength=P.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index_type)
    reduced = sparse.csr_array((data, columns.astype(index_type), indptr), shape=P.shape)
    reduced.has_canonical_format = True
    return reduced, *_read_rewards(r, reduced, row_of, n_actions)


def _pair(row: int, n_actions: int) -> str:
    return "state {}, action {}".format(*divmod(int(row), n_actions))


def _read_rewards(r: Any, P: CSR, row_of: Ints, n_actions: int) -> tuple[Floats, Floats]:
    n_states = P.shape[1]
    allowed = (
        f"[{n_states}, {n_actions}], [{n_states}, {n_actions}, {n_states}] "
        f"or sparse [{P.shape[0]}, {n_states}]"
    )
    if sparse.issparse(r):
        require(r.shape == P.shape, f"r is sparse of shape {r.shape}; it must have shape {allowed}")
        per_transition = np.asarray(_as_csr(r, "r")[row_of, P.indices]).ravel()
    else:
        dense = as_floats(r, "r")
        require(
            dense.shape in ((n_states, n_actions), (n_states, n_actions, n_states)),
            f"r has shape {dense.shape}; it must have shape {allowed}",
        )
        by_row = dense.reshape(P.shape[0], -1)  # one column, or one per successor
        per_transition = by_row[row_of, P.indices if dense.ndim == 3 else 0]
    infinite = row_of[~np.isfinite(per_transition)]
    if len(infinite):
        raise InputError(f"r is not a finite number for {_pair(infinite[0], n_actions)}")
    expected: Any = np.bincount(row_of, weights=P.data * per_transition, minlength=P.shape[0])
    return expected.reshape(n_states, n_actions), np.ascontiguousarray(per_transition)
