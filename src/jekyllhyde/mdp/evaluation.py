"""Exact evaluation of one policy: the linear system I - gamma P_pi, factored once, solved for v and
transposed for d.

Four ways to solve it, chosen by size and visible in the result: `dense` (LAPACK) up to a few
hundred states; above that `substitution` where every step leads to a later state, as in time that
is part of the state (DeepSea); `iterative` elsewhere (BiCGSTAB scaled by the diagonal, restarted
until the residual is at rounding level), which random sparse graphs like because they mix fast; and
`sparse_lu` where the iteration does not get there, as on long chains and on grids without discount,
which factor with little fill. No S x S matrix is ever made dense above the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from jekyllhyde.errors import check_choice, require
from jekyllhyde.mdp.finite import CSR, Bools, FiniteMDP, Floats, refuse
from jekyllhyde.mdp.linalg import Sparse, bicgstab, residual_of, substitute
from jekyllhyde.parallel import interruptible

SOLVERS = ("auto", "dense", "sparse_lu", "iterative")
DENSE_LIMIT = 256
ITERATIONS = 400
TOLERANCE, ROUNDING = 1e-13, 1e-15


@dataclass(frozen=True)
class Evaluation:
    """Exact values of one policy.

    v : [S].  q : [S, A].  J : expected return p0 . v.
    solver : how the system was solved.  residual : max|r_pi - (I - gamma P_pi) v| / max|r_pi|.
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
        """The method that solved the system: dense, substitution, sparse_lu or iterative."""
        return self.system.method

    @property
    def next_solver(self) -> str:
        """What to ask for after a small change of the policy: where the iteration failed it is not
        tried again.
        """
        return "sparse_lu" if self.solver == "sparse_lu" else "auto"

    def density(self, gamma: float | None = None, guess: Floats | None = None) -> Floats:
        """d_{pi,gamma} [S]; with the MDP's own discount it costs one transposed solve of the same
        factorization.
        """
        system = self.system
        if gamma is not None and gamma != system.gamma:
            system = System(system.P, gamma, system.solver)
        return density(self.mdp, system, self.mdp.check_vector(guess, "guess"))


class System:
    """I - gamma P_pi, factored on first use and kept."""

    def __init__(self, P: CSR, gamma: float, solver: str = "auto") -> None:
        self.P, self.gamma, self.solver = P, gamma, check_choice(solver, "solver", SOLVERS)
        self.method = _method(P) if solver == "auto" else solver

    def solve(
        self, b: Floats, *, transposed: bool = False, guess: Floats | None = None
    ) -> tuple[Floats, float]:
        """Solve (I - gamma P_pi) x = b for x, or its transpose, and the residual max|b - A x| /
        max|b|.
        """
        if not b.any():
            return np.zeros_like(b), 0.0
        iterates = self.method == "iterative"
        x = self._iterate(b, transposed, guess) if iterates else self._direct(b, transposed)
        largest = abs(b - (x - self.gamma * ((self.P.T if transposed else self.P) @ x))).max()
        residual = float(largest / abs(b).max())
        if not iterates or largest <= 100 * _attainable(b, x):
            return x, residual
        require(
            self.solver != "iterative",
            f"the iterative solver stopped at a residual of {residual:.1e} after {ITERATIONS} "
            "steps; use solver 'sparse_lu' or 'auto' for this policy",
        )
        self.method = "sparse_lu"
        return self.solve(b, transposed=transposed)

    @cached_property
    def _direct(self) -> Callable[[Floats, bool], Floats]:
        is_long = self.P.shape[0] > DENSE_LIMIT and self.method != "substitution"
        return interruptible(FACTORS[self.method], self.P, self.gamma, long=is_long)

    def _iterate(self, b: Floats, transposed: bool, guess: Floats | None) -> Floats:
        # BiCGSTAB, restarted from the true residual until that is at rounding level or ITERATIONS
        # are spent.
        P = sparse.csr_array(self.P.T) if transposed else self.P
        A = Sparse(P.indptr, P.indices, P.data, self.gamma)
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


def _method(P: CSR) -> str:
    if P.shape[0] <= DENSE_LIMIT:
        return "dense"
    is_forward = (P.indices > np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))).all()
    return "substitution" if is_forward else "iterative"


def _attainable(b: Floats, x: Floats) -> float:
    # The residual to aim at; visits without discount outgrow b by orders of magnitude, and rounding
    # is relative to them.
    return float(max(TOLERANCE * abs(b).max(), ROUNDING * abs(x).max()))


def _dense_factors(P: CSR, gamma: float) -> Callable[[Floats, bool], Floats]:
    # LAPACK's factors of I - gamma P, as what solves with them or with their transpose.
    factors = linalg.lu_factor(np.eye(P.shape[0]) - gamma * P.toarray(), check_finite=False)
    return lambda b, transposed: linalg.lu_solve(factors, b, int(transposed), check_finite=False)


def _sparse_factors(P: CSR, gamma: float) -> Callable[[Floats, bool], Floats]:
    # The same of SuperLU. An M-matrix needs no pivoting: the pattern alone sets the order, which
    # halves the fill on grids. It is imported here, for small models do without it.
    from scipy.sparse import linalg as sparse_linalg

    factors = sparse_linalg.splu(
        sparse.csc_array(sparse.eye_array(P.shape[0]) - gamma * P),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return lambda b, transposed: factors.solve(b, trans="T" if transposed else "N")


def _no_factors(P: CSR, gamma: float) -> Callable[[Floats, bool], Floats]:
    # Every step leads to a later state: values are known from the last one backwards.
    def solve(b: Floats, transposed: bool) -> Floats:
        A = sparse.csr_array(P.T) if transposed else P
        x = b.copy()
        substitute(Sparse(A.indptr, A.indices, A.data, gamma), x, not transposed)
        return x

    return solve


FACTORS = {"dense": _dense_factors, "sparse_lu": _sparse_factors, "substitution": _no_factors}


def policy_transitions(mdp: FiniteMDP, pi: Floats) -> CSR:
    """P_pi [S, S] as CSR. A state's A rows are adjacent in P, so P_pi is P with scaled entries and
    every A-th row pointer.
    """
    P, weights = mdp.P, np.repeat(pi.ravel(), np.diff(mdp.P.indptr))
    matrix = sparse.csr_array(
        (P.data * weights, P.indices, P.indptr[:: mdp.n_actions]), shape=(len(pi), len(pi))
    )
    if 2 * np.count_nonzero(pi) < pi.size:  # products are cheaper without what is never taken
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def evaluate(
    mdp: FiniteMDP, pi: Floats, *, solver: str = "auto", guess: Floats | None = None
) -> Evaluation:
    """Exact v, q and J of `pi`; see `FiniteMDP.evaluate`."""
    system = System(policy_transitions(mdp, pi), mdp.gamma, solver)
    if mdp.gamma == 1.0:
        _require_proper(system.P, mdp, np.ones(mdp.n_states, dtype=bool), "its values")
    v, residual = system.solve(np.einsum("sa,sa->s", pi, mdp.r), guess=guess)
    return Evaluation(
        v=v,
        q=mdp.r + mdp.gamma * (mdp.P @ v).reshape(mdp.r.shape),
        J=float(mdp.p0 @ v),
        residual=residual,
        mdp=mdp,
        system=system,
    )


def density(mdp: FiniteMDP, system: System, guess: Floats | None = None) -> Floats:
    """d_{pi,gamma} [S] of the policy and the discount of `system`; see `FiniteMDP.density`."""
    if system.gamma != 1.0:
        return system.solve(mdp.p0, transposed=True, guess=guess)[0]
    # d_{pi,1} is finite if and only if termination is certain: the states that are never visited
    # are left out first
    visited = _reachable(system.P, mdp.p0 > 0)
    _require_proper(system.P, mdp, visited, "the undiscounted density")
    d = np.zeros(mdp.n_states)
    inner = system.P if visited.all() else system.P[visited][:, visited]
    d[visited] = System(inner, 1.0, system.solver).solve(
        mdp.p0[visited], transposed=True, guess=None if guess is None else guess[visited]
    )[0]
    return d


def _reachable(P: CSR, sources: Bools) -> Bools:
    # States that can be reached from `sources` (a mask), themselves included, along positive
    # entries of P: those that a search finds from one more state, which leads to the sources.
    from scipy.sparse import csgraph  # here, for a discount below 1 does without it

    n, links = P.shape[0], P.copy()
    links.eliminate_zeros()
    indices = np.append(links.indices, np.flatnonzero(sources))
    indptr = np.append(links.indptr, len(indices))
    graph = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n + 1, n + 1))
    found = csgraph.breadth_first_order(graph, n, return_predecessors=False)
    return np.isin(np.arange(n), found)


def _require_proper(P_pi: CSR, mdp: FiniteMDP, among: Bools, what: str) -> None:
    # Refuse a policy that, from some state in the mask `among`, never reaches a terminal state.
    refuse(
        np.flatnonzero(among & ~_reachable(sparse.csr_array(P_pi.T), mdp.is_terminal)),
        lambda stuck: (
            f"with gamma = 1 {what} must be finite, but this policy never reaches a terminal "
            f"state from state {stuck}"
        ),
    )
