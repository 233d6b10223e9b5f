"""Four Rooms (Section 4.4, Appendix F) as a Gymnasium environment: find the goal in the first room
within 90 steps.

Observations are the indices of the free cells in reading order; actions are North, East, South,
West. A step costs 0.1, reaching the goal pays 90 and terminates, the cut after 90 steps truncates.
The score of an episode is its undiscounted sum of rewards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.envs.tabular import CELL, TabularEnv
from jekyllhyde.mdp.rooms import four_rooms, layout

HORIZON = 90
WALL, FLOOR, GOAL, AGENT = (60, 60, 60), (245, 245, 245), (200, 60, 60), (40, 70, 160)


class FourRooms(TabularEnv):
    """Four Rooms.

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
        horizon: int = HORIZON,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(four_rooms(level, size, slip=slip), horizon, render_mode)
        self.layout = layout(level, size)

    def _text(self) -> str:
        """Walls #, the goal G, the agent @."""
        symbols = np.where(self.layout.free, " ", "#")
        symbols[tuple(self.layout.cell[self.layout.goal])] = "G"
        symbols[tuple(self.layout.cell[self._state])] = "@"
        return "\n".join("".join(row) for row in symbols) + "\n"

    def _picture(self) -> NDArray[np.uint8]:
        colours = np.where(self.layout.free[..., None], np.array(FLOOR), np.array(WALL)).astype(
            np.uint8
        )
        colours[tuple(self.layout.cell[self.layout.goal])] = GOAL
        colours[tuple(self.layout.cell[self._state])] = AGENT
        return np.kron(colours, np.ones((CELL, CELL, 1), dtype=np.uint8))
