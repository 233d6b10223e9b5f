"""An environment that also shows what was done before, where the same is seen again.

Who sees a part of the world may come to the same view in two different places, or twice on his way:
facing a wall he does not know whether he has already looked to the left. What he did in this view
before in the episode tells the two apart. Without it, action values learned from single steps take
the two for one, and the greedy policy of the best values there can be goes round in circles
(docs/deep-exploration.md, DoorKey).
"""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require

TIMES = (1, 2, 4)  # a bit for each: whether an action was taken so often
NAME = "taken"


class Remembering(
    gym.Wrapper[dict[str, Any], Any, Any, Any], gym.utils.RecordConstructorArgs
):  # as Gymnasium's own wrappers are, so that the environment can be made again from its spec
    """The observations of `env` in a Dict, where `taken` says how often each action was taken in
    this episode when the same was seen: once, twice and four times or more.

    Observations that are a Dict keep their names; others are its "observation". Actions must be
    Discrete. Where nothing is ever seen twice, as with numbers that vary, `taken` stays 0.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)
        actions, seen = env.action_space, env.observation_space
        if not isinstance(actions, spaces.Discrete):
            raise InputError(f"env has the actions {actions}; Remembering takes Discrete ones")
        self._parts = dict(seen.spaces) if isinstance(seen, spaces.Dict) else {"observation": seen}
        require(NAME not in self._parts, f"env shows {NAME!r} already; it remembers")
        self._is_dict, self._first = isinstance(seen, spaces.Dict), int(actions.start)
        self._n_actions = int(actions.n)
        bits = spaces.MultiBinary(len(TIMES) * self._n_actions)
        self.observation_space = spaces.Dict({**self._parts, NAME: bits})
        self._taken: dict[Any, NDArray[np.int64]] = {}
        self._seen: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._taken = {}
        return self._with_taken(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._counts()[int(action) - self._first] += 1
        return self._with_taken(observation), reward, terminated, truncated, info

    def _with_taken(self, observation: Any) -> dict[str, Any]:
        self._seen = _key(observation)
        counts = self._taken.get(self._seen, np.zeros(self._n_actions, np.int64))
        bits = np.concatenate([counts >= least for least in TIMES]).astype(np.int8)
        parts = observation if self._is_dict else {"observation": observation}
        return {**parts, NAME: bits}

    def _counts(self) -> NDArray[np.int64]:
        return self._taken.setdefault(self._seen, np.zeros(self._n_actions, np.int64))


def make_remembering(env: str, render_mode: str | None = None, **kwargs: Any) -> Remembering:
    """The environment of an id, with memory: what "jekyllhyde/Remembering-v0" makes, where an id is
    needed, as on the command line.
    """
    inner = gym.make(env, render_mode=render_mode, **kwargs)
    return Remembering(inner)


def _key(observation: Any) -> Any:
    # what is the same for the same observation
    if isinstance(observation, Mapping):
        return tuple((name, _key(observation[name])) for name in sorted(observation))
    if isinstance(observation, tuple):
        return tuple(map(_key, observation))
    array = np.asarray(observation)
    return array.dtype.str, array.shape, array.tobytes()
