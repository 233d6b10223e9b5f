"""Any finite MDP as a Gymnasium environment: observations are state indices, the episode is cut
after `horizon` steps.

Entering a terminal state terminates; the cut truncates, and a learner should bootstrap there.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.mdp.domains import chain, deep_sea
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet

HORIZON = 100
CELL = 8  # pixels


class TabularEnv(gym.Env[np.int64, np.int64]):
    """A finite MDP to act in.

    Parameters
    ----------
    mdp : the model; it stays at hand as `env.unwrapped.mdp`, for exact values.
    horizon : steps after which an episode is truncated.
    render_mode : None, "ansi" (text) or "rgb_array" (one square per state, the current one dark).
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self, mdp: FiniteMDP, horizon: int = HORIZON, render_mode: str | None = None
    ) -> None:
        if render_mode is not None:
            check_choice(render_mode, "render_mode", self.metadata["render_modes"])
        self.mdp, self.horizon, self.render_mode = (
            mdp,
            check_count(horizon, "horizon", 1),
            render_mode,
        )
        self.observation_space = Discrete(mdp.n_states)
        self.action_space = Discrete(mdp.n_actions)
        self._cumulative_p0 = np.cumsum(mdp.p0)
        self._state, self._elapsed = -1, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Draw a start from p0, or take options["state"]."""
        super().reset(seed=seed)
        if options and "state" in options:
            self._state = self._check_start(options["state"])
        else:
            self._state = _draw(self._cumulative_p0, self.np_random.random())
        self._elapsed = 0
        return np.int64(self._state), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """One transition; random numbers are drawn only where the model has a choice."""
        if self._state < 0:
            raise InputError("step was called before reset; reset starts an episode")
        if not self.action_space.contains(action):
            raise InputError(
                f"action is {action!r}; it must be an integer from 0 to {self.mdp.n_actions - 1}"
            )
        row = self._state * self.mdp.n_actions + int(action)
        first, last = self.mdp.P.indptr[row], self.mdp.P.indptr[row + 1]
        if first == last:
            raise InputError("the episode has ended; reset starts another")
        entry = first
        if last - first > 1:
            entry += _draw(np.cumsum(self.mdp.P.data[first:last]), self.np_random.random())
        self._state = int(self.mdp.P.indices[entry])
        self._elapsed += 1
        terminated = bool(self.mdp.is_terminal[self._state])
        truncated = not terminated and self._elapsed >= self.horizon
        return np.int64(self._state), float(self.mdp.r_next[entry]), terminated, truncated, {}

    def render(self) -> Any:
        """The current state as text, or as a picture of all states in rows."""
        if self.render_mode == "ansi":
            return self._text()
        if self.render_mode == "rgb_array":
            return self._picture()
        return None

    def _text(self) -> str:
        return (
            f"{self.mdp.name}: state {self._state} of {self.mdp.n_states}, step {self._elapsed}\n"
        )

    def _picture(self) -> NDArray[np.uint8]:
        width = int(np.ceil(np.sqrt(self.mdp.n_states)))
        colours = np.full((width * width, 3), 255, dtype=np.uint8)
        colours[: self.mdp.n_states] = (225, 225, 225)
        colours[self.mdp.terminal] = (200, 60, 60)
        colours[self._state] = (40, 70, 160)
        return np.kron(colours.reshape(width, width, 3), np.ones((CELL, CELL, 1), dtype=np.uint8))

    def _check_start(self, state: Any) -> int:
        start = check_count(state, "options['state']", 0)
        if start >= self.mdp.n_states or self.mdp.is_terminal[start]:
            raise InputError(
                f"options['state'] is {start}; it must be below {self.mdp.n_states} and not terminal"
            )
        return start


def _draw(cumulative: NDArray[np.float64], uniform: float) -> int:
    """The index at which the cumulative probabilities pass `uniform`; rounding in their sum cannot
    lead out of range.
    """
    return int(np.searchsorted(cumulative[:-1], uniform, side="right"))


def make_chain(horizon: int = HORIZON, render_mode: str | None = None, **domain: Any) -> TabularEnv:
    """The chain; `domain` goes to `chain` (n_states, beta, gamma, convention)."""
    return TabularEnv(chain(**domain), horizon, render_mode)


def make_garnet(
    horizon: int = HORIZON, render_mode: str | None = None, **domain: Any
) -> TabularEnv:
    """A random MDP; `domain` goes to `garnet` (n_states, n_actions, connectivity, gamma, seed,
    ...).
    """
    return TabularEnv(garnet(**domain), horizon, render_mode)


def make_deep_sea(
    horizon: int = HORIZON, render_mode: str | None = None, **domain: Any
) -> TabularEnv:
    """DeepSea; `domain` goes to `deep_sea` (n, gamma, convention)."""
    return TabularEnv(deep_sea(**domain), horizon, render_mode)
