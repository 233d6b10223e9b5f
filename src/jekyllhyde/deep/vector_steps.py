"""The steps of a vector environment, one after another, as if there were one environment.

Its lanes take turns. Each has an episode of its own, with its own leader; after each step the agent
learns once, as ever. All lanes act with one call of the environment: the actions for it are chosen
as the steps before it are learned from.

An interrupted or loaded agent is brought back to where it stood where lanes can return (see
`envs.vector_lanes`): every reset is seeded by (seed, lane, number of the lane's episode). Elsewhere
new episodes begin in all lanes.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from jekyllhyde.deep.spaces import View
from jekyllhyde.envs.vector_lanes import LaneStep, VectorLanes
from jekyllhyde.episode import Episode, reset_seed


class Lane(NamedTuple):
    """Where a lane stands: what is seen there, and its episode with the action chosen for it; the
    episode's number is counted in its lane.
    """

    view: View
    episode: Episode


@dataclass
class Lanes:
    """Where all lanes stand, how many episodes each has begun, and how many of them, from the first
    on, have been learned from since they last acted together.
    """

    places: list[Any]
    counts: list[int]
    taken: int = 0

    @property
    def begun(self) -> int:
        return sum(self.counts)


class VectorSteps:
    """The lanes of an environment, and what happened in them and is not learned from yet."""

    def __init__(self, env: Any, number: int, lanes: Lanes | None = None) -> None:
        self.source = VectorLanes(env)
        n = self.source.n
        is_known = lanes is not None and len(lanes.places) == n
        self.lanes = lanes if lanes and is_known else Lanes([None] * n, [number] * n)
        self.pending: list[tuple[int, LaneStep]] = []

    def new_episode(self, i: int) -> Episode:
        """One of lane `i` that Jekyll leads, with the next number."""
        self.lanes.counts[i] += 1
        return Episode(self.lanes.counts[i] - 1, 0, 0)

    def stored(self, i: int, view: View, episode: Episode, has_begun: bool) -> Episode:
        """Note where lane `i` stands after a step; the episode as an agent keeps it, numbered after
        all that have begun.
        """
        if has_begun:
            episode.number = self.new_episode(i).number
        self.lanes.places[i] = Lane(view, episode)
        self.lanes.taken = (i + 1) % self.source.n
        return replace(episode, number=self.lanes.begun)

    def restart(self, seed: int) -> list[tuple[Any, dict[str, Any]]]:
        """The first views of new episodes in all lanes."""
        if self.lanes.begun:
            warnings.warn(
                "the vector environment did not come back to where the agent stood; new episodes "
                "begin",
                stacklevel=5,
            )
        self.pending, self.lanes.taken = [], 0
        return self.source.reset(self._seeds(seed))

    def come_back(self, seed: int, as_action: Any, look: Any, is_same: Any) -> bool:
        """Whether all lanes could be brought back to where they stand; those that have not been
        learned from since they acted together act then.
        """
        lanes = self.lanes
        if None in lanes.places or not self.source.can_return:
            return False
        self.pending = []
        for i, (view, episode) in enumerate(lanes.places):
            actions = [as_action(index) for index in episode.actions]
            shown = self.source.play_again(i, reset_seed(seed, i, episode.number), actions)
            if shown is None or not is_same(look(*shown), view):
                return False
            if 0 < lanes.taken <= i:
                step = self.source.step_alone(
                    i, as_action(episode.next_action), self._seeds(seed)[i]
                )
                self.pending.append((i, step))
        return True

    def next(self, seed: int, as_action: Any) -> tuple[int, LaneStep]:
        """The lane whose turn it is, and what happened in it; the environment acts once all that
        happened has been taken.
        """
        if not self.pending:
            actions = [as_action(lane.episode.next_action) for lane in self.lanes.places]
            self.pending = list(enumerate(self.source.step(actions, self._seeds(seed))))
        return self.pending.pop(0)

    def _seeds(self, seed: int) -> list[int]:
        # of the next episode of each lane
        return [reset_seed(seed, i, count) for i, count in enumerate(self.lanes.counts)]
