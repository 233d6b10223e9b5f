"""Any finite MDP as a Gymnasium environment, and Four Rooms with its map.

Observations are state indices, and the episode is cut after `horizon` steps. Entering a terminal
state terminates; the cut truncates, and a learner should bootstrap there.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice, check_count, require
from jekyllhyde.mdp.domains import Domain, find_domain, refuse_others
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.rooms import layout

CELL = 8  # pixels
WALL, FLOOR, PAPER = (60, 60, 60), (245, 245, 245), (225, 225, 225)
GOAL, AGENT = (200, 60, 60), (40, 70, 160)


class TabularEnv(gym.Env[np.int64, np.int64]):
    """A finite MDP to act in.

    Parameters
    ----------
    mdp : the model, or the name of a domain, which takes the `options`; the model stays at hand as
        `env.unwrapped.mdp`, for exact values.
    horizon : steps after which an episode is truncated; the domain's by default.
    render_mode : None, "ansi" (text) or "rgb_array" (one square per state, the current one dark).

    `reset` draws the start from p0, or takes it from options["state"].
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 10,
    }

    def __init__(
        self,
        mdp: FiniteMDP | str,
        horizon: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            check_choice(render_mode, "render_mode", self.metadata["render_modes"])
        cut = Domain.horizon
        if isinstance(mdp, str):
            domain = find_domain(mdp)
            mdp, cut = domain(**options), domain.cut(**options)
        else:
            refuse_others("a finite MDP", options, {})
        self.mdp, self.render_mode = mdp, render_mode
        self.horizon = check_count(cut if horizon is None else horizon, "horizon", 1)
        self.observation_space = gym.spaces.Discrete(mdp.n_states)
        self.action_space = gym.spaces.Discrete(mdp.n_actions)
        self._cumulative_p0 = np.cumsum(mdp.p0)
        self._state, self._elapsed = -1, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        super().reset(seed=seed)
        if options and "state" in options:
            start = check_count(options["state"], "options['state']", 0)
            require(
                start < self.mdp.n_states and not self.mdp.is_terminal[start],
                f"options['state'] is {start}; it must be below {self.mdp.n_states} "
                "and not terminal",
            )
        else:
            start = self._draw(self._cumulative_p0)
        self._state, self._elapsed = start, 0
        return np.int64(start), {}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
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
        # random numbers are drawn only where the model has a choice
        is_random = last - first > 1
        entry = first + (self._draw(np.cumsum(self.mdp.P.data[first:last])) if is_random else 0)
        self._state = int(self.mdp.P.indices[entry])
        self._elapsed += 1
        terminated = bool(self.mdp.is_terminal[self._state])
        truncated = not terminated and self._elapsed >= self.horizon
        return np.int64(self._state), float(self.mdp.r_next[entry]), terminated, truncated, {}

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return self._text()
        pixels = np.ones((CELL, CELL, 1), dtype=np.uint8)
        return None if self.render_mode is None else np.kron(self._picture(), pixels)

    def _draw(self, cumulative: NDArray[np.float64]) -> int:
        # Rounding in the sum of the probabilities cannot lead out of range.
        return int(np.searchsorted(cumulative[:-1], self.np_random.random(), side="right"))

    def _text(self) -> str:
        return (
            f"{self.mdp.name}: state {self._state} of {self.mdp.n_states}, step {self._elapsed}\n"
        )

    def _picture(self) -> NDArray[np.uint8]:
        width = int(np.ceil(np.sqrt(self.mdp.n_states)))
        colours = np.full((width * width, 3), 255, dtype=np.uint8)
        colours[: self.mdp.n_states] = PAPER
        colours[self.mdp.terminal] = GOAL
        colours[self._state] = AGENT
        return colours.reshape(width, width, 3)


class FourRooms(TabularEnv):
    """Four Rooms (Section 4.4, Appendix F): find the goal in the first room within 90 steps.

    Observations are the indices of the free cells in reading order; actions are North, East, South,
    West. A step costs 0.1, reaching the goal pays 90 and terminates. The score of an episode is its
    undiscounted sum of rewards.

    Parameters
    ----------
    level : 1 starts on any free cell but the goal, 2 never in the goal's room.
    size : cells per side, walls included; odd.
    slip : probability that a move is drawn uniformly instead of taken.
    horizon : steps after which an episode is truncated.
    render_mode : None, "ansi" (text) or "rgb_array" (the grid).
    """

    def __init__(
        self,
        level: int = 1,
        size: int = 15,
        slip: float = 0.0,
        horizon: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            "four_rooms", horizon, render_mode, level=level, size=size, slip=slip, **options
        )
        self.layout = layout(level, size)

    def _cells(self) -> NDArray[np.int64]:
        # 0 at walls, 1 on the floor, 2 at the goal, 3 where the agent is
        cells = self.layout.free.astype(np.int64)
        cells[tuple(self.layout.cell[[self.layout.goal, self._state]].T)] = (2, 3)
        return cells

    def _text(self) -> str:
        return "\n".join("".join(row) for row in np.array(list("# G@"))[self._cells()]) + "\n"

    def _picture(self) -> NDArray[np.uint8]:
        return np.array([WALL, FLOOR, GOAL, AGENT], np.uint8)[self._cells()]
