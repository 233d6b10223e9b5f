"""A Gymnasium vector environment as what happens in each of its lanes.

Vector environments begin new episodes by themselves, in one of three ways (their
`metadata["autoreset_mode"]`):

    SameStep    in the step that ends an episode; what it ended with is in info["final_obs"]
    NextStep    in the step after it, which takes no action and is no transition
    Disabled    not at all; they are reset here

Whichever it is, a lane has transitions with the observation that they really led to, and starts.
In a `SyncVectorEnv` that is reset here, every episode has a seed of its own, and a lane can be
brought back into one.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import iterate

from jekyllhyde.errors import InputError

RESET_HERE = {"autoreset_mode": AutoresetMode.DISABLED}  # with which lanes can return
View = tuple[Any, dict[str, Any]]  # an observation, and what comes with it


class LaneStep(NamedTuple):
    """What happened in a lane: the observation that the step led to, with its info, reward, and how
    it ended, None where there was no step; and where a new episode starts, None where none does.
    """

    reached: View | None
    reward: float
    terminated: bool
    truncated: bool
    start: View | None


class VectorLanes:
    """The lanes of a vector environment; `reset` has their first views, `step` takes an action for
    each of them. Where a lane awaits its reset (NextStep), its action does not count. Where lanes
    `can_return`, `play_again` brings one back into its episode, and `step_alone` is a step of it.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        self.env, self.n = env, int(env.num_envs)
        told = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        try:
            self.mode = AutoresetMode(told)
        except ValueError:
            raise InputError(
                f"metadata['autoreset_mode'] is {told!r}; it must be an AutoresetMode of Gymnasium"
            ) from None
        self.can_return = isinstance(env, SyncVectorEnv) and self.mode is AutoresetMode.DISABLED
        self._awaits = np.zeros(self.n, dtype=bool)  # a reset in the next step

    def reset(self, seeds: Sequence[int]) -> list[View]:
        """The first view of each lane; where lanes have no seeds of their own, the first counts."""
        self._awaits[:] = False
        return self._reset(seeds, np.ones(self.n, dtype=bool))

    def _reset(self, seeds: Sequence[int], lanes: Any) -> list[View]:
        # the views of these lanes are their first; those of the others do not count
        options: Any = {}
        if self.mode is AutoresetMode.DISABLED:
            options = {"options": {"reset_mask": lanes}}
        seed: Any = list(seeds) if self.can_return else seeds[0]
        return self._views(*self.env.reset(seed=seed, **options))

    def play_again(self, i: int, seed: int, actions: Sequence[Any]) -> View | None:
        """What a lane shows after these actions since its reset; None where it has ended before."""
        env: Any = self.env.envs[i]  # type: ignore[attr-defined]
        view: View = env.reset(seed=seed)
        for action in actions:
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                return None
            view = observation, info
        return view

    def step_alone(self, i: int, action: Any, seed: int) -> LaneStep:
        """What happens in one lane; `seed` is for the episode that may begin then."""
        env: Any = self.env.envs[i]  # type: ignore[attr-defined]
        observation, reward, terminated, truncated, info = env.step(action)
        start = env.reset(seed=seed) if terminated or truncated else None
        return LaneStep((observation, info), reward, bool(terminated), bool(truncated), start)

    def step(self, actions: Sequence[Any], seeds: Sequence[int]) -> list[LaneStep]:
        """What happens in each lane; `seeds` are for episodes that are begun here (Disabled)."""
        observations, rewards, terminated, truncated, infos = self.env.step(
            np.array(actions, dtype=self.env.action_space.dtype)
        )
        ended = np.asarray(terminated) | np.asarray(truncated)
        views = self._views(observations, infos)
        reached: list[View | None] = list(views)
        starts: list[View | None] = [None] * self.n
        if self.mode is AutoresetMode.SAME_STEP and ended.any():
            finals = infos["final_obs"]
            for i in np.flatnonzero(ended):
                reached[i] = (finals[i], _info(infos.get("final_info", {}), int(i)))
                starts[i] = views[i]
        elif self.mode is AutoresetMode.DISABLED and ended.any():
            begun = self._reset(seeds, ended)
            starts = [view if ends else None for view, ends in zip(begun, ended, strict=True)]
        elif self.mode is AutoresetMode.NEXT_STEP:
            for i in np.flatnonzero(self._awaits):
                reached[i], starts[i] = None, views[i]
            self._awaits = ended & ~self._awaits
        return [
            LaneStep(reached[i], rewards[i], bool(terminated[i]), bool(truncated[i]), starts[i])
            for i in range(self.n)
        ]

    def _views(self, observations: Any, infos: dict[str, Any]) -> list[View]:
        each = list(iterate(self.env.observation_space, observations))
        return [(observation, _info(infos, i)) for i, observation in enumerate(each)]


def _info(infos: dict[str, Any], lane: int) -> dict[str, Any]:
    # What is said of one lane: that of arrays; `_name` tells of which lanes, else it is of all.
    said = {}
    for name, values in infos.items():
        if isinstance(values, np.ndarray) and not name.startswith("_"):
            is_said = infos.get(f"_{name}")
            if is_said is None or is_said[lane]:
                said[name] = values[lane]
    return said
