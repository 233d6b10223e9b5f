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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jekyllhyde.errors import check_number, require
from jekyllhyde.mdp.model_arrays import (
    CSR,
    Bools,
    Floats,
    Ints,
    as_floats,
    read_model,
    read_p0,
    read_terminal,
    read_transitions,
    refuse,
)

if TYPE_CHECKING:
    from jekyllhyde.mdp.elimination import Model
    from jekyllhyde.mdp.evaluation import Evaluation
    from jekyllhyde.mdp.optimum import Optimum

__all__ = ["CSR", "Bools", "FiniteMDP", "Floats", "Ints", "as_floats", "refuse"]
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
        transitions, self.n_states, self.n_actions = read_transitions(P)
        self.terminal, self.is_terminal = read_terminal(terminal, self.n_states)
        self.p0 = read_p0(p0, self.n_states, self.is_terminal)
        self.P, self.r, self.r_next = read_model(transitions, r, self.is_terminal, self.n_actions)
        self._J_low = None if J_low is None else check_number(J_low, "J_low", "a finite number")
        for array in (
            *(self.P.data, self.P.indices, self.P.indptr, self.r, self.r_next),
            *(self.p0, self.terminal, self.is_terminal),
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

        return evaluate(
            self, self.check_policy(pi), solver=solver, guess=self.check_vector(guess, "guess")
        )

    def density(self, pi: ArrayLike, gamma: float | None = None) -> Floats:
        """d_{pi,gamma} [S] = sum_t gamma^t P(S_t = s), not normalized; `gamma` is the MDP's own by
        default, 1 undiscounted.
        """
        from jekyllhyde.mdp.evaluation import System, density, policy_transitions

        P_pi = policy_transitions(self, self.check_policy(pi))
        return density(self, System(P_pi, self.gamma if gamma is None else _check_gamma(gamma)))

    def optimal(self, method: str = "auto") -> Optimum:
        """An optimal policy with v, q, J, the action gaps and whether it is unique (A8)."""
        from jekyllhyde.mdp.optimum import optimal

        return self._optimum if method == "auto" else optimal(self, method)

    def normalize(self, J: ArrayLike) -> Any:
        """(J - J_low) / (J_star - J_low): 0 at the reference policy, 1 at the optimum."""
        low, star = self.J_low, self.J_star
        require(
            abs(star - low) > 1e-12 * max(1.0, abs(star)),
            f"{self.name}: the normalized return is undefined, the optimal return {star:g} "
            "equals the reference return",
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
    def elimination(self) -> Model:
        """For compiled loops: the model in the order of its elimination."""
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
        which do not act. Terminal states at the end may be left out, as the one that
        `from_gymnasium` adds.
        """
        array, shape = as_floats(pi, "pi").copy(), (self.n_states, self.n_actions)
        if array.ndim == 2 and self.is_terminal[len(array) :].all():
            missing = max(self.n_states - len(array), 0)
            array = np.pad(array, ((0, missing), (0, 0)), constant_values=1.0 / self.n_actions)
        require(
            array.shape == shape,
            f"pi has shape {array.shape}; this MDP takes {shape}, states by actions",
        )
        with np.errstate(invalid="ignore"):
            is_fine = self.is_terminal | (
                np.isfinite(array).all(1)
                & (array >= 0).all(1)
                & (abs(array.sum(1) - 1.0) <= POLICY_TOLERANCE)
            )
        require(
            is_fine.all(),
            f"pi is not a policy: its row for state {np.argmin(is_fine)} is not a distribution "
            "over the actions",
        )
        array[self.is_terminal] = 1.0 / self.n_actions
        return array

    def check_vector(self, values: ArrayLike | None, field: str) -> Floats | None:
        """`values` as a finite float array [S]; None stays."""
        if values is None:
            return None
        array = as_floats(values, field)
        require(
            array.shape == (self.n_states,) and np.isfinite(array).all(),
            f"{field} has shape {array.shape}; it must hold {self.n_states} finite numbers",
        )
        return array

    def save(self, path: str | Path) -> None:
        """Write this MDP to one `.npz` file (versioned, no pickle)."""
        from jekyllhyde.mdp.mdp_file import save

        save(self, path)

    @staticmethod
    def load(path: str | Path) -> FiniteMDP:
        """Read an MDP written by `save`."""
        from jekyllhyde.mdp.mdp_file import load

        return load(path)

    def __repr__(self) -> str:
        return (
            f"FiniteMDP({self.name!r}: {self.n_states} states, {self.n_actions} actions, "
            f"{self.P.nnz} transitions, gamma={self.gamma:g})"
        )


def _check_gamma(gamma: float) -> float:
    try:
        value = float(gamma)
    except (TypeError, ValueError):
        value = np.nan
    require(0.0 <= value <= 1.0, f"gamma is {gamma}; it must lie in [0, 1]")
    return value
