"""The same agents without a model: step by step on any environment with Discrete spaces.

Each step acts, observes, and learns from that transition with the compiled loop of `learn`
(`algorithm.advance` in the world `Observed`). Termination stores the discount 0, truncation stores
gamma: it bootstraps. Actions that `info["action_mask"]` forbids have theta = -inf and Hyde's
q = -inf: they are neither taken nor counted on. Whatever an environment returns is checked before
it reaches the loop.

Resuming is exact. Beside the agent's own state, the environment's random state before the last
reset and the actions since then are kept: a fresh environment is brought back to where the old one
stood by playing them again.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from jekyllhyde.agent import Episodes, Progress
from jekyllhyde.errors import InputError
from jekyllhyde.jit import kernel
from jekyllhyde.tabular.actors import sample_action
from jekyllhyde.tabular.algorithm import DIVERGED, advance
from jekyllhyde.tabular.known_model import Observed, hyde_action
from jekyllhyde.tabular.random_stream import Words, uniform
from jekyllhyde.tabular.records import EDGE_FIELDS, Place, Tables, new_edges
from jekyllhyde.tabular.run_state import CHUNK, algorithm, initial_state
from jekyllhyde.tabular.settings import TabularSettings

FIRST_ROOM = 1 << 10


@kernel
def choose_action(tables: Tables, explorer: Any, row: Place, control: int, words: Words) -> Place:
    """The place of an action of the personality in control."""
    u = uniform(words)
    return hyde_action(explorer, tables, row, u) if control else sample_action(tables, row, u)


@dataclass
class Progression:
    """Where the environment stands.

    Its random state before the last reset, the actions since, and the return so far.
    """

    random_state: dict[str, Any] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)
    episode_return: float = 0.0


class EnvironmentLearner:
    """What an agent has learned from an environment, and where it stands there."""

    def __init__(
        self, settings: TabularSettings, seed: int, shape: tuple[int, int], env_id: str
    ) -> None:
        if settings.uses_model:
            raise InputError(
                "critic is 'mle', which needs a known MDP; "
                "an agent that learns step by step takes another"
            )
        self.settings, self.seed, self.env_id = settings, seed, env_id
        self.state = initial_state(settings, *shape, seed, 0)
        self.edges = new_edges(0)
        self.known = np.zeros(shape[0], dtype=bool)
        self.progression = Progression()
        self.offsets = (0, 0)  # the first observation and action of the spaces
        self.env: Any = None

    @classmethod
    def for_env(cls, settings: TabularSettings, seed: int, env: Any) -> Self:
        """A learner before its first step in an environment."""
        *shape, env_id = describe(env)
        learner = cls(settings, seed, (shape[0], shape[1]), env_id)
        learner.offsets = (int(env.observation_space.start), int(env.action_space.start))
        return learner

    @property
    def shape(self) -> tuple[int, int]:
        """(S, A)."""
        n_states, n_actions = self.state.table("pi").shape
        return n_states, n_actions

    def learn(self, env: Any, steps: int, episodes: Episodes, progress: Progress) -> None:
        """`steps` environment steps, going on where the last call stopped."""
        self._enter(env)
        state, settings, width = self.state, self.settings, self.shape[1]
        for i in range(steps):
            if i % CHUNK == 0:
                count = min(CHUNK, steps - i)
                self._make_room(count)
                choices, run = (
                    algorithm(settings, state, settings.gamma, count, False),
                    state.on(self.edges),
                )
            row, control = np.uint64(state.position.row[0]), int(state.position.control[0])
            pair = choose_action(state.tables, choices.explorer, row, control, state.words)
            action = int(pair) - int(row)
            observation, reward, terminated, truncated, info = env.step(action + self.offsets[1])
            s_next = self._state_of(observation)
            self._mask(s_next, info)
            discount = 0.0 if terminated else settings.gamma
            edge = self._write(int(pair), self._check_reward(reward), s_next * width, discount)
            world = Observed(edge, bool(terminated or truncated))
            self.progression.actions.append(action)
            self.progression.episode_return += float(reward)
            reason = advance(world, run, choices, 1)
            if reason == DIVERGED:
                raise InputError(
                    f"the critic left the finite numbers at step {state.steps}; "
                    "take a smaller eta or eta_c"
                )
            if world.ended:
                length = len(self.progression.actions)
                episodes.add(self.progression.episode_return, length, control)
                self._reset(env)
            progress(1)

    # Phases of `learn`, in call order.

    def _enter(self, env: Any) -> None:
        # Go on in the same environment, bring a fresh one to where the last stood, or start.
        if self.env is env:
            return
        self._check_env(env)
        self.env = env
        if not self.progression.random_state:
            _seed(env, self.env_id, self.seed)
            self._reset(env)
            return
        env.unwrapped.np_random.bit_generator.state = self.progression.random_state
        observation, _ = env.reset()
        for action in self.progression.actions:
            observation, *_ = env.step(action + self.offsets[1])
        if self._state_of(observation) * self.shape[1] != self.state.position.row[0]:
            raise InputError(
                f"{self.env_id} did not come back to the state in which the agent was saved; "
                "is it made with other options, or random beyond its np_random?"
            )

    def _check_env(self, env: Any) -> None:
        *shape, env_id = describe(env)
        if tuple(shape) != self.shape or env_id != self.env_id:
            raise InputError(
                f"this agent has learned {self.env_id} ({self.shape[0]} states, {self.shape[1]} "
                f"actions); it cannot go on in {env_id} ({shape[0]} states, {shape[1]} actions)"
            )

    def _state_of(self, observation: Any) -> int:
        # The index of an observation; an environment may return anything.
        first, n_states = self.offsets[0], self.shape[0]
        is_index = np.ndim(observation) == 0 and np.asarray(observation).dtype.kind in "iub"
        if not is_index or not first <= int(observation) < first + n_states:
            raise InputError(
                f"{self.env_id} returned the observation {observation!r} at step "
                f"{self.state.steps + 1}; its space has the integers from {first} to "
                f"{first + n_states - 1}"
            )
        return int(observation) - first

    def _check_reward(self, reward: Any) -> float:
        if not math.isfinite(reward):
            raise InputError(
                f"{self.env_id} returned the reward {reward!r} at step {self.state.steps + 1}; "
                "rewards are finite numbers"
            )
        return float(reward)

    def _reset(self, env: Any) -> None:
        self.progression = Progression(random_state=env.unwrapped.np_random.bit_generator.state)
        observation, info = env.reset()
        s = self._state_of(observation)
        self._mask(s, info)
        self.state.position.row = s * self.shape[1]

    def _mask(self, s: int, info: dict[str, Any]) -> None:
        # Take the actions that the environment forbids in s out of the policies.
        if "action_mask" not in info:
            return
        allowed = np.asarray(info["action_mask"]).astype(bool)
        theta, pi = self.state.table("theta"), self.state.table("pi")
        if allowed.shape != theta[s].shape or not allowed.any():
            raise InputError(
                f"action_mask allows {allowed.sum()} actions, shape {allowed.shape}; "
                f"it takes one or more, {theta[s].shape}"
            )
        if self.known[s]:
            if ((theta[s] > -np.inf) != allowed).any():
                raise InputError(
                    f"the action mask of state {s + self.offsets[0]} changed; "
                    "a tabular agent takes masks that depend on the state"
                )
            return
        self.known[s] = True
        theta[s, ~allowed] = -np.inf
        pi[s] = allowed / allowed.sum()
        if self.settings.parametrization == "direct":
            theta[s, allowed] = pi[s, allowed]
        if self.state.tables.q_hyde.size:
            self.state.table("q_hyde")[s, ~allowed] = -np.inf

    def _write(self, pair: int, reward: float, following: int, discount: float) -> int:
        # Put the transition where the log will point to, and say where.
        #
        # A bounded buffer's slot is used again with its entry.
        control, capacity = int(self.state.position.control[0]), self.settings.capacity
        slot = self.state.steps if self.settings.uses_replay else 0
        if self.settings.uses_replay and capacity is not None:
            size = self.state.sizes[control]
            slot = control * capacity + size % capacity
            if size >= capacity and self.settings.when_full == "keep":
                slot = 2 * capacity
        edges, row = self.edges, int(self.state.position.row[0])
        edges.row[slot], edges.pair[slot], edges.next[slot] = row, pair, following
        edges.r[slot], edges.discount[slot] = reward, discount
        return slot

    def _make_room(self, steps: int) -> None:
        # Room for `steps` more transitions, in the log and in the edges.
        self.state.make_room(self.settings, steps)
        needed = self.state.steps + steps if self.settings.uses_replay else 1
        if self.settings.uses_replay and self.settings.capacity is not None:
            needed = 2 * self.settings.capacity + 1
        if len(self.edges.r) < needed:
            larger = new_edges(max(needed, 2 * len(self.edges.r), FIRST_ROOM))
            for name in EDGE_FIELDS:
                old = getattr(self.edges, name)
                getattr(larger, name)[: len(old)] = old
            self.edges = larger


def describe(env: Any) -> tuple[int, int, str]:
    """(S, A, id) of an environment with Discrete spaces."""
    from gymnasium import Env
    from gymnasium.spaces import Discrete

    if not isinstance(env, Env):
        raise InputError(
            f"env is {env!r}; it must be a Gymnasium environment, as gymnasium.make returns it"
        )
    for name in ("observation_space", "action_space"):
        if not isinstance(space := getattr(env, name), Discrete):
            raise InputError(
                f"the environment's {name} is {space}; a tabular agent takes Discrete spaces"
            )
    name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    return int(env.observation_space.n), int(env.action_space.n), name  # type: ignore[attr-defined]


def _seed(env: Any, env_id: str, seed: int) -> None:
    try:
        env.reset(seed=seed)
    except TypeError as error:
        raise InputError(
            f"{env_id} takes no seed in reset(seed=...); results could not be repeated"
        ) from error


def predict(learner: EnvironmentLearner, observation: Any, deterministic: bool) -> Any:
    """See `TabularAgent.predict`. Observations and actions count as the environment counts them."""
    (first_state, first_action), (n_states, _) = learner.offsets, learner.shape
    given = np.asarray(observation)
    states = given.ravel()
    is_index = given.ndim <= 1 and bool((states == np.floor(states)).all())
    if not is_index or not ((states >= first_state) & (states < first_state + n_states)).all():
        raise InputError(
            f"observation is {observation!r}; it must be an integer from {first_state} to "
            f"{first_state + n_states - 1}, or an array of them"
        )
    rows = states.astype(np.int64) - first_state
    pi, tables = learner.state.table("pi"), learner.state.tables
    if deterministic:
        actions = pi[rows].argmax(axis=1)
    else:
        places = [np.uint64(row) * tables.width for row in rows]
        drawn = [sample_action(tables, row, uniform(learner.state.words)) - row for row in places]
        actions = np.array(drawn, dtype=np.int64)
    actions = actions + first_action
    return int(actions[0]) if given.ndim == 0 else actions
