"""The steps of a vector environment, one after another, as if there were one environment.

Its lanes take turns. Each has an episode of its own, with its own leader; after each step the agent
learns once, as ever. All lanes act with one call of the environment: the actions for it are chosen
as the steps before it are learned from.

An interrupted or loaded agent begins new episodes in all lanes: most vector environments cannot be
brought back into one.
"""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

from jekyllhyde.deep.spaces import View
from jekyllhyde.envs.vector_lanes import LaneStep, VectorLanes
from jekyllhyde.episode import Episode, reset_seed


class Lane(NamedTuple):
    """Where a lane stands: what is seen there, and its episode with the action chosen for it."""

    view: View
    episode: Episode


class VectorSteps:
    """The lanes, what happened in them and is not learned from yet, and how many episodes began."""

    def __init__(self, env: Any) -> None:
        self.source = VectorLanes(env)
        self.lanes: list[Any] = [None] * self.source.n
        self.pending: list[tuple[int, LaneStep]] = []
        self.begun = 0

    def new_episode(self) -> Episode:
        """One that Jekyll leads, with the next number."""
        self.begun += 1
        return Episode(self.begun - 1, 0, 0)

    def stored(self, i: int, view: View, episode: Episode, has_begun: bool) -> Episode:
        """Note where lane `i` stands; the episode as an agent keeps it, numbered after all that
        have begun.
        """
        if has_begun:
            episode.number = self.new_episode().number
        self.lanes[i] = Lane(view, episode)
        return replace(episode, number=self.begun)

    def restart(self, seed: int, number: int) -> list[tuple[Any, dict[str, Any]]]:
        """The first views of new episodes in all lanes, numbered from `number` on."""
        if number:
            warnings.warn(
                "a vector environment does not come back to where the agent stood; new episodes "
                "begin",
                stacklevel=5,
            )
        self.begun, self.pending = number, []
        return self.source.reset(reset_seed(seed, 0, number))

    def next(self, seed: int, as_action: Any) -> tuple[int, LaneStep]:
        """The lane whose turn it is, and what happened in it; the environment acts once all that
        happened has been taken.
        """
        if not self.pending:
            actions = [as_action(lane.episode.next_action) for lane in self.lanes]
            steps = self.source.step(actions, reset_seed(seed, 0, self.begun))
            self.pending = list(enumerate(steps))
        return self.pending.pop(0)
