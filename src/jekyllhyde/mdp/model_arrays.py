"""A user's arrays P, r, p0 and terminal as the arrays of a model, every index and number checked.

Compiled loops trust these arrays: what passes here cannot lead them outside.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from jekyllhyde.errors import InputError, require

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
CSR: TypeAlias = sparse.csr_array
ROW_SUM_TOLERANCE = 1e-8


def as_floats(value: Any, field: str) -> Floats:
    """`value` as a contiguous float array."""
    try:
        return np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{field} is not an array of numbers") from None


def refuse(wrong: Sequence[Any] | NDArray[Any], sentence: Callable[[Any], str]) -> None:
    """Refuse input in which something is wrong, in a sentence about the first such thing."""
    if len(wrong):
        raise InputError(sentence(wrong[0]))


def read_transitions(P: Any) -> tuple[CSR, int, int]:
    """Any accepted form of P as CSR [S*A, S] with sorted, summed entries."""
    if not sparse.issparse(P):
        dense = as_floats(P, "P")
        require(
            dense.ndim == 3 and dense.shape[0] == dense.shape[2] and 0 not in dense.shape,
            f"P has shape {dense.shape}; it must be [S, A, S], or sparse [S*A, S]",
        )
        P = sparse.csr_array(dense.reshape(-1, len(dense)))
    rows, n_states = P.shape
    require(
        n_states and rows and rows % n_states == 0,
        f"P is sparse of shape {P.shape}; it must be [S*A, S] with at least one state and one "
        "action",
    )
    matrix = _as_csr(P, "P")
    matrix.sum_duplicates()
    return matrix, int(n_states), int(rows // n_states)


def _as_csr(matrix: Any, field: str) -> CSR:
    # A copy in CSR form, after a check of the indices: SciPy trusts arrays that were changed.
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo" and matrix.nnz:
            places = np.array([matrix.row, matrix.col])
            require(
                places.min() >= 0 and (places.max(axis=1) < matrix.shape).all(),
                "an entry lies outside the matrix",
            )
    except ValueError as error:
        raise InputError(f"{field} is not a sound sparse matrix: {error}") from None
    return sparse.csr_array(matrix, dtype=np.float64, copy=True)


def read_terminal(terminal: Any, n_states: int) -> tuple[Ints, Bools]:
    """The terminal states in order, and as a mask [S]."""
    indices = as_floats(terminal, "terminal").ravel()
    refuse(
        indices[(indices != np.floor(indices)) | (indices < 0) | (indices >= n_states)],
        lambda bad: f"terminal contains {bad:g}; states are the integers 0 to {n_states - 1}",
    )
    states = np.unique(indices).astype(np.int64)
    return states, np.bincount(states, minlength=n_states) > 0


def read_p0(p0: ArrayLike | None, n_states: int, is_terminal: Bools) -> Floats:
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


def read_model(P: CSR, r: Any, is_terminal: Bools, n_actions: int) -> tuple[CSR, Floats, Floats]:
    """P without the terminal rows, the expected rewards [S, A], and the rewards per stored
    transition.
    """
    row_of = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    keep = ~is_terminal[row_of // n_actions]
    refuse(
        np.flatnonzero(keep & ~(np.isfinite(P.data) & (P.data >= 0))),
        lambda entry: (
            f"P has the entry {P.data[entry]} for {_pair(row_of[entry], n_actions)}; "
            "probabilities are numbers in [0, 1]"
        ),
    )
    sums = np.bincount(row_of[keep], weights=P.data[keep], minlength=P.shape[0])
    refuse(
        np.flatnonzero((abs(sums - 1.0) > ROW_SUM_TOLERANCE) & ~np.repeat(is_terminal, n_actions)),
        lambda row: (
            f"P does not sum to 1 for {_pair(row, n_actions)}: the row sums to {sums[row]:.9g}"
        ),
    )
    keep &= P.data > 0
    row_kept = row_of[keep]
    index_type = np.int32 if max(len(row_kept), P.shape[1]) < 2**31 else np.int64
    indices = P.indices[keep].astype(index_type)
    counts = np.bincount(row_kept, minlength=P.shape[0])
    indptr = np.append(0, np.cumsum(counts)).astype(index_type)
    reduced = sparse.csr_array((P.data[keep], indices, indptr), shape=P.shape)
    reduced.has_canonical_format = True
    return reduced, *_read_rewards(r, reduced, row_kept, n_actions)


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
        columns = P.indices if dense.ndim == 3 else 0  # one reward per successor, or one
        per_transition = dense.reshape(P.shape[0], -1)[row_of, columns]
    refuse(
        row_of[~np.isfinite(per_transition)],
        lambda row: f"r is not a finite number for {_pair(row, n_actions)}",
    )
    expected: Any = np.bincount(row_of, weights=P.data * per_transition, minlength=P.shape[0])
    return expected.reshape(n_states, n_actions), np.ascontiguousarray(per_transition)
