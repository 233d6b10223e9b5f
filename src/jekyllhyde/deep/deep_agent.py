"""What the agents with networks share: a loop on the host around the compiled `act` and `update`,
under the contract of all agents (`jekyllhyde.agent`).
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.vector import VectorEnv

from jekyllhyde.deep import (
    agent_files,
    compiler,
    configure,
    learning,
    networks,
    replay_files,
    spaces,
)
from jekyllhyde.deep.compiled_steps import compiled, initial_of
from jekyllhyde.deep.episodes_of_lanes import for_lanes, widened
from jekyllhyde.deep.exported_network import exported
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.packed_state import Arrays, Packing
from jekyllhyde.deep.vector_steps import Lane, Lanes, VectorSteps
from jekyllhyde.deep.views import shows_codes
from jekyllhyde.episode import Episode, check_reward, name_of
from jekyllhyde.errors import InputError
from jekyllhyde.interrupts import Interrupts
from jekyllhyde.mdp.gym_import import make_environment
from jekyllhyde.personality import Beliefs
from jekyllhyde.policy_export import Exported
from jekyllhyde.stepwise_agent import PATIENCE, Outcome, StepwiseAgent


class DeepAgent(StepwiseAgent):
    """What the agents with networks share. With an environment, or after `load`, there is a state;
    an agent without one is its settings alone.

    config : recommended, published (as the figure was made), released (with what the authors' code
        does beside that) or paper (the text, literally).
    """

    settings_type: ClassVar[type[learning.Settings]]
    # what the default has instead where states are not known by an index
    seen: ClassVar[Mapping[str, Any]] = {}
    space: networks.Space  # where there is a state

    def __init__(
        self, env: spaces.Env | str | None, seed: int, config: Any, given: dict[str, Any]
    ) -> None:
        self._prepare(None if env is None else make_environment(env), seed)
        mdp = getattr(getattr(self.env, "unwrapped", None), "mdp", None)
        chosen = {} if mdp is None else {"gamma": mdp.gamma}
        chosen |= {
            f.name: given[f.name] for f in fields(self.settings_type) if given[f.name] is not None
        }
        self.settings = configure(self.name, config, **chosen)
        self._arrays: Arrays | None = None
        self.imported = 0  # transitions of others in the replay
        self._vector: VectorSteps | None = None
        self._lanes: Lanes | None = None  # of a vector environment, where they stand
        if self.env is not None:
            space = spaces.space_of(self.env, self.settings.one_hot)
            settings = configure(self.name, config, space=space, **chosen)
            self.settings = for_lanes(settings, self.env)
            self._start(space)

    def _start(self, space: networks.Space) -> Self:
        compiler.stay_in_thread()  # before JAX makes its first array
        self.space, self._steps, self._looking = space, 0, spaces.looking(space)
        self._observation = spaces.example(space)
        self._begin_state()
        return self

    def _begin_state(self) -> None:
        compiler.keep_compiled()
        compiler.leave_room()
        # on the device once, not with every call
        config = jax.tree.map(jnp.float32, self.settings)
        settings = Packing.of(config)
        self._config = settings.pack(config)
        start = initial_of(self.name)(jax.random.key(self.seed), self.settings, space=self.space)
        self._step = Packing.of(spaces.example_step(self.space))
        self._compiled = compiled(self.name, Packing.of(start), settings, self._step)
        self.state = start

    def _make_room(self) -> None:
        # The environment may have more lanes than one that the agent has learned in.
        settings, state = for_lanes(self.settings, self.env), self.state
        if settings != self.settings:
            self.settings = settings
            self._begin_state()
            self.state = widened(state, self.state)

    @property
    def state(self) -> learning.State:
        """Everything the agent knows, as its algorithm has it, until learning goes on."""
        arrays = self._known()
        state: learning.State = self._compiled.unpack(arrays)
        return state

    @state.setter
    def state(self, state: learning.State) -> None:
        self._arrays = self._compiled.pack(state)

    def _known(self) -> Arrays:
        if self._arrays is None:
            raise InputError("the agent has no environment; give one, or load one that has learned")
        return self._arrays

    @property
    def steps(self) -> int:
        return self._steps

    def _look(self, observation: Any, info: dict[str, Any]) -> spaces.View:
        try:
            return self._looking(observation, info)
        except InputError as error:
            shown = " ".join(repr(observation)[:80].split())
            raise InputError(
                f"{name_of(self.env)} returned the observation {shown} at step "
                f"{self._steps + 1}: {error}"
            ) from None

    def _stands_at(self, seen: spaces.View) -> bool:
        return _are_same(seen, self._observation)

    def _begin(self, number: int, seen: spaces.View) -> None:
        self._arrays, chosen = self._compiled.begin(self._arrays, self._config, seen)
        action, hyde = np.asarray(chosen).tolist()
        self._observation, self._episode = seen, Episode(number, action, hyde)

    def _reserve(self, steps: int) -> None:
        compiler.leave_room()  # replay has its size from the beginning

    def _enter(self, interrupts: Interrupts) -> None:
        if not isinstance(self.env, VectorEnv):
            super()._enter(interrupts)
            return
        self._interrupts = interrupts
        if self.is_inside:
            return
        number = 0 if self._episode is None else self._episode.number
        self._vector = vector = self._vector or VectorSteps(self.env, number, self._lanes)
        self._lanes = vector.lanes
        has_come_back = self._failures < PATIENCE and vector.come_back(
            self.seed, self._as_action, self._look, _are_same
        )
        if not has_come_back:
            starts = [self._look(*view) for view in vector.restart(self.seed)]
            for i, start in enumerate(starts):
                self._begin_lane(i, vector.new_episode(i), start)
        self.is_inside = True

    def _begin_lane(self, i: int, episode: Episode, start: spaces.View) -> None:
        vector: Any = self._vector
        self._interrupts.is_closed = True
        self._arrays = self._compiled.lead(self._arrays, np.bool_(episode.hyde), np.int32(i))
        self._begin(episode.number, start)
        begun: Any = self._episode
        vector.lanes.places[i] = Lane(start, begun)
        self._interrupts.is_closed = False

    def _try_lane(self, vector: VectorSteps) -> Outcome:
        i, step = vector.next(self.seed, self._as_action)
        start = None if step.start is None else self._look(*step.start)
        if step.reached is None:
            self._begin_lane(i, vector.lanes.places[i].episode, start)  # type: ignore[arg-type]
            return self._try_lane(vector)
        following, ended = self._look(*step.reached), step.terminated or step.truncated
        reward = check_reward(self.env, step.reward, self._steps + 1)
        return Outcome(reward, following, start or following, step.terminated, ended, i)

    def _try(self) -> Outcome:
        return super()._try() if self._vector is None else self._try_lane(self._vector)

    def _take_over(self, outcome: Outcome) -> bool:
        reward, following, start, terminated, ended, lane = outcome
        if lane is not None:
            vector: Any = self._vector
            self._observation, self._episode = vector.lanes.places[lane]
        episode: Any = self._episode
        step = spaces.Step(
            self._observation,
            following,
            start,
            np.array((reward, not terminated), np.float32),
            np.array((episode.next_action, ended, episode.hyde, lane or 0), np.int32),
        )
        self._arrays, chosen = self._compiled.turn(
            self._arrays, self._config, self._step.pack_on_host(step)
        )
        action, hyde = np.asarray(chosen).tolist()
        episode.actions.append(episode.next_action)
        episode.total += reward
        self._steps += 1
        self._observation, episode.next_action = start, action
        if ended:
            self.episodes.add(episode.total, len(episode.actions), episode.hyde, self._steps)
            self._episode = Episode(episode.number + 1, action, hyde)
        else:
            episode.hyde = hyde  # he may have taken over
        if lane is not None:
            self._episode = vector.stored(lane, self._observation, self._episode, ended)
        return ended

    def _ask(self, observation: Any, who: int, action_mask: Any = None) -> Beliefs:
        arrays = self._known()
        x = spaces.read(self.space, observation)
        is_batch = spaces.is_batch(self.space, x)
        view = spaces.View(x, spaces.read_mask(self.space, action_mask))
        asked = view if is_batch else jax.tree.map(lambda part: part[None], view)
        pi, q = self._compiled.ask[who](arrays, self._config, asked)
        return Beliefs(np.asarray(pi), None if q is None else np.asarray(q), is_batch)

    def _as_action(self, index: int) -> Any:
        return spaces.action_of(self.space, index)

    def _exported(self) -> Exported:
        return exported(self.space, self.state.networks)

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "episodes": self.episodes.table,
            **agent_files.named_arrays(self.state),
        }

    def save(self, path: str | Path) -> None:
        agent_files.save(path, self)

    @classmethod
    def load(cls, path: str | Path, env: spaces.Env | str | None = None, **own: Any) -> Self:
        """The agent saved in a folder; with an environment of the same spaces it goes on learning
        where it stood. Settings of the user's own, such as bonus="file.py:Mine", are given again.
        """
        return agent_files.load(cls, path, env, own)

    def export_replay(self, target: str | Path) -> None:
        """Write the transitions that the agent keeps to a file.parquet, or to a dataset of Minari,
        "minari:NAME-v0".
        """
        replay_files.export_replay(self, target)

    def import_replay(self, source: str | Path) -> int:
        """Put transitions behind those that the agent keeps, to learn from; returns how many."""
        return replay_files.import_replay(self, source)

    @property
    def draws_actions(self) -> bool:
        # Who bumps into a wall sees the same codes or pixels again, and what is most probable there
        # bumps for ever; numbers change, and control wants the same action each time.
        space: Space | None = getattr(self, "space", None)
        return space is not None and shows_codes(space) and self.has_hyde

    @property
    def has_hyde(self) -> bool:
        return hasattr(self.settings, "explorer")

    def _measure(self) -> dict[str, float]:
        values = self._compiled.measure(self._arrays, self._config)
        return {name: float(value) for name, value in values.items()}


def _are_same(one: spaces.View, other: spaces.View) -> bool:
    return all(map(np.array_equal, *map(jax.tree.leaves, (one, other))))
