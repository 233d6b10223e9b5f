"""DeepSea seen as an image: the diver's cell is white, all others are black."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from jekyllhyde.envs.space_parts import SIDE
from jekyllhyde.envs.tabular import TabularEnv


class PixelDeepSea(gym.Env[NDArray[np.uint8], np.int64]):
    """DeepSea, with the grid as an image [side, side, 1] of 8 bits for convolutions to see; black
    where the dive has ended.

    Parameters
    ----------
    n : rows and columns; each is a pixel wide, or more where the image would have a side below 16.
    horizon : steps after which an episode is truncated; n by default.
    render_mode : None, "ansi" or "rgb_array".
    options : mapping, mapping_seed, stochastic and gamma, as `deep_sea` has them. The model stays
        at hand as `env.unwrapped.mdp`.
    """

    metadata = TabularEnv.metadata

    def __init__(
        self,
        n: int = 10,
        horizon: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self._sea = TabularEnv("deep_sea", horizon, render_mode, n=n, **options)
        self.mdp, self.render_mode, self.n = self._sea.mdp, render_mode, n
        self._pixels = np.ones((-(-SIDE // n),) * 2, np.uint8)  # of a cell
        side = n * len(self._pixels)
        self.observation_space = gym.spaces.Box(0, 255, (side, side, 1), np.uint8)
        self.action_space = self._sea.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        super().reset(seed=seed)
        state, info = self._sea.reset(seed=seed, options=options)
        return self._image(state), info

    def step(self, action: np.int64) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        state, reward, terminated, truncated, info = self._sea.step(action)
        return self._image(state), reward, terminated, truncated, info

    def render(self) -> Any:
        return self._sea.render()

    def _image(self, state: np.int64) -> NDArray[np.uint8]:
        cells = np.zeros(self.mdp.n_states, np.uint8)
        cells[state] = 255
        grid = cells[: self.n**2].reshape(self.n, self.n)
        return np.kron(grid, self._pixels)[:, :, None]
