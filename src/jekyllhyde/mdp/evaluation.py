"""Exact evaluation of one policy: the linear system I - gamma P_pi, factored once, solved for v and
transposed for d.

Three ways to solve it, chosen by size and visible in the result: `dense` (LAPACK) up to a few
hundred states; above that `iterative` (BiCGSTAB scaled by the diagonal, restarted until the
residual is at rounding level), which random sparse graphs like because they mix fast; and
`sparse_lu` where the iteration does not get there, as on long chains and on grids without discount,
which factor with little fill. No S x S matrix is ever made dense above the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import CSR, FiniteMDP, Floats
from jekyllhyde.mdp.krylov import bicgstab, residual_of, sparse_of
from jekyllhyde.parallel import interruptible

SOLVERS = ("auto", "dense", "sparse_lu", "iterative")
DENSE_LIMIT = 256
ITERATIONS = 400
TOLERANCE = 1e-13
ROUNDING = 1e-15


@dataclass(frozen=True)
class Evaluation:
    """Exact values of one policy.

    v : [S].  q : [S, A].  J : expected return p0 . v.  solver, residual : how the system was
        solved, and
    max|r_pi - (I - gamma P_pi) v| / max|r_pi|.
    """

    v: Floats
    q: Floats
    J: float
    residual: float
    mdp: FiniteMDP = field(repr=False)
    system: System = field(repr=False)

    @property
    def adv(self) -> Floats:
        """Advantages q - v [S, A]."""
        return self.q - self.v[:, None]

    @property
    def solver(self) -> str:
        """The method that solved the system: dense, sparse_lu or iterative."""
        return self.system.method

    def density(self, gamma: float | None = None, guess: Floats | None = None) -> Floats:
        """d_{pi,gamma} [S]; with the MDP's own discount it costs one transposed solve of the same
        factorization.
        """
        guess = self.mdp.check_vector(guess, "guess")
        if gamma is None or gamma == self.mdp.gamma:
            if self.mdp.gamma == 1.0:
                return _undiscounted(self.system.P, self.mdp, self.system.solver, guess)
            return self.system.solve(self.mdp.p0, transposed=True, guess=guess)[0]
        return _density(self.system.P, self.mdp, gamma, self.system.solver, guess)


class System:
    """I - gamma P_pi, factored on first use and kept."""

    def __init__(self, P: CSR, gamma: float, solver: str = "auto") -> None:
        if solver not in SOLVERS:
            raise InputError(f"solver is {solver!r}; it must be one of {', '.join(SOLVERS)}")
        self.P, self.gamma, self.solver = P, gamma, solver
        small = P.shape[0] <= DENSE_LIMIT
        self.method = solver if solver != "auto" else "dense" if small else "iterative"
        self._factors: Any = None

    def solve(
        self, b: Floats, *, transposed: bool = False, guess: Floats | None = None
    ) -> tuple[Floats, float]:
        """Solve (I - gamma P_pi) x = b for x, or its transpose, and the residual max|b - A x| /
        max|b|.
        """
        if not b.any():
            return np.zeros_like(b), 0.0
        x = self._attempt(b, transposed, guess)
        largest = abs(b - self._apply(x, transposed)).max()
        residual = float(largest / abs(b).max())
        if self.method == "iterative" and not largest <= 100 * _attainable(b, x):
            if self.solver == "iterative":
                raise InputError(
                    f"the iterative solver stopped at a residual of {residual:.1e} after "
                    f"{ITERATIONS} steps; use solver 'sparse_lu' or 'auto' for this policy"
                )
            self.method = "sparse_lu"
            return self.solve(b, transposed=transposed)
        return x, residual

    def _apply(self, x: Floats, transposed: bool) -> Floats:
        product: Floats = (self.P.T if transposed else self.P) @ x
        return x - self.gamma * product

    def _attempt(self, b: Floats, transposed: bool, guess: Floats | None) -> Floats:
        if self.method == "iterative":
            return self._iterate(b, transposed, guess)
        is_dense = self.method == "dense"
        if self._factors is None:
            make, P, gamma = _dense_factors if is_dense else _sparse_factors, self.P, self.gamma
            small = len(b) <= DENSE_LIMIT
            self._factors = make(P, gamma) if small else interruptible(make, P, gamma)
        if is_dense:
            return linalg.lu_solve(self._factors, b, trans=int(transposed), check_finite=False)
        return self._factors.solve(b, trans="T" if transposed else "N")

    def _iterate(self, b: Floats, transposed: bool, guess: Floats | None) -> Floats:
        """BiCGSTAB, restarted from the true residual until that is at rounding level or ITERATIONS
        are spent.
        """
        P = sparse.csr_array(self.P.T) if transposed else self.P
        A = sparse_of(P, self.gamma)
        scale = 1.0 / (1.0 - self.gamma * self.P.diagonal())
        x = np.zeros_like(b) if guess is None else guess.copy()
        rest, left, previous = np.empty_like(b), ITERATIONS, np.inf
        while left > 0:
            largest, goal = residual_of(A, b, x, rest), _attainable(b, x)
            if largest <= goal or not largest < 0.5 * previous:
                break
            previous = largest
            left -= bicgstab(A, scale, rest, x, max(0.1 * goal, 1e-9 * largest), left)
        return x


def _attainable(b: Floats, x: Floats) -> float:
    """The residual to aim at; visits without discount outgrow b by orders of magnitude, and
    rounding is relative to them.
    """
    return float(max(TOLERANCE * abs(b).max(), ROUNDING * abs(x).max()))


def _dense_factors(P: CSR, gamma: float) -> Any:
    """LAPACK's factors of I - gamma P."""
    return linalg.lu_factor(np.eye(P.shape[0]) - gamma * P.toarray(), check_finite=False)


def _sparse_factors(P: CSR, gamma: float) -> Any:
    """SuperLU of I - gamma P. An M-matrix needs no pivoting: the pattern alone sets the order,
    which halves the fill on grids.
    """
    matrix = sparse.csc_array(sparse.eye_array(P.shape[0]) - gamma * P)
    return sparse_linalg.splu(
        matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )


def policy_transitions(mdp: FiniteMDP, pi: Floats) -> CSR:
    """P_pi [S, S] as CSR. A state's A rows are adjacent in P, so P_pi is P with scaled entries and
    every A-th row pointer.
    """
    weights = np.repeat(pi.ravel(), np.diff(mdp.P.indptr))
    indptr = mdp.P.indptr[:: mdp.n_actions]
    matrix = sparse.csr_array(
        (mdp.P.data * weights, mdp.P.indices, indptr), shape=(mdp.n_states, mdp.n_states)
    )
    if 2 * np.count_nonzero(pi) < pi.size:  # products are cheaper without what is never taken
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def evaluate(
    mdp: FiniteMDP, pi: Floats, *, solver: str = "auto", guess: Floats | None = None
) -> Evaluation:
    """Exact v, q and J of `pi`; see `FiniteMDP.evaluate`."""
    P_pi = policy_transitions(mdp, pi)
    if mdp.gamma == 1.0:
        _require_proper(P_pi, mdp, np.ones(mdp.n_states, dtype=bool), "its values")
    system = System(P_pi, mdp.gamma, solver)
    r_pi = np.einsum("sa,sa->s", pi, mdp.r)
    v, residual = system.solve(r_pi, guess=guess)
    q = mdp.r + mdp.gamma * (mdp.P @ v).reshape(mdp.r.shape)
    return Evaluation(v=v, q=q, J=float(mdp.p0 @ v), residual=residual, mdp=mdp, system=system)


def density(mdp: FiniteMDP, pi: Floats, gamma: float) -> Floats:
    """d_{pi,gamma} [S] without the values; see `FiniteMDP.density`."""
    return _density(policy_transitions(mdp, pi), mdp, gamma, "auto", None)


def _density(P_pi: CSR, mdp: FiniteMDP, gamma: float, solver: str, guess: Floats | None) -> Floats:
    if gamma == 1.0:
        return _undiscounted(P_pi, mdp, solver, guess)
    return System(P_pi, gamma, solver).solve(mdp.p0, transposed=True, guess=guess)[0]


def _undiscounted(P_pi: CSR, mdp: FiniteMDP, solver: str, guess: Floats | None) -> Floats:
    """d_{pi,1}: finite if and only if termination is certain, so the states that are never visited
    are left out first.
    """
    visited = _reachable(P_pi, mdp.p0 > 0)
    _require_proper(P_pi, mdp, visited, "the undiscounted density")
    d = np.zeros(mdp.n_states)
    inner = P_pi if visited.all() else P_pi[visited][:, visited]
    d[visited] = System(inner, 1.0, solver).solve(
        mdp.p0[visited], transposed=True, guess=None if guess is None else guess[visited]
    )[0]
    return d


def _reachable(P: CSR, sources: np.ndarray) -> np.ndarray:
    """States that can be reached from `sources` (a mask), themselves included, along positive
    entries of P.
    """
    n = P.shape[0]
    links = sparse.coo_array(P)
    positive = links.data > 0
    start = np.flatnonzero(sources)
    rows = np.concatenate([links.row[positive], np.full(len(start), n)])
    columns = np.concatenate([links.col[positive], start])
    graph = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    reached = csgraph.breadth_first_order(sparse.csr_matrix(graph), n, return_predecessors=False)
    mask = np.zeros(n + 1, dtype=bool)
    mask[reached] = True
    return mask[:n]


def _require_proper(P_pi: CSR, mdp: FiniteMDP, among: np.ndarray, what: str) -> None:
    """Refuse a policy that, from some state in the mask `among`, never reaches a terminal state."""
    ends = (
        _reachable(sparse.csr_array(P_pi.T), mdp.is_terminal)
        if mdp.is_terminal.any()
        else mdp.is_terminal
    )
    stuck = np.flatnonzero(among & ~ends)
    if len(stuck):
        raise InputError(
            f"with gamma = 1 {what} must be finite, but this policy never reaches a terminal "
            f"state from state {stuck[0]}"
        )
