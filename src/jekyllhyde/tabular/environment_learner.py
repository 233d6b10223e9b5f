"""The same agents without a model: step by step on any environment with Discrete spaces.

Each step acts, observes, and learns from that transition with the compiled loop of `learn`
(`algorithm.advance` in the world `Observed`). Termination stores the discount 0, truncation stores
gamma: it bootstraps. Where an environment declares no time limit, `recommended` cuts its episodes
(see `TabularSettings.cut`): a policy that walks in circles must not end the learning. Actions that
`info["action_mask"]` forbids have theta = -inf and Hyde's q = -inf: they are neither taken nor
counted on. Whatever an environment returns is checked before it reaches the loop.

Resuming is exact. Beside the agent's own state, the environment's random state before the last
reset and the actions since then are kept: a fresh environment is brought back to where the old one
stood by playing them again.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.agent import Episodes, Progress
from jekyllhyde.errors import InputError, require
from jekyllhyde.tabular.algorithm import DIVERGED, advance
from jekyllhyde.tabular.known_model import Observed, choose_action
from jekyllhyde.tabular.records import EDGE_FIELDS, Run, new_edges, sample_action, uniform
from jekyllhyde.tabular.run_state import CHUNK, algorithm, initial_state
from jekyllhyde.tabular.settings import TabularSettings

FIRST_ROOM = 1 << 10


@dataclass
class Progression:
    """Where the environment stands.

    Its random state before the last reset, the actions since, and the return so far.
    """

    random_state: dict[str, Any] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)
    episode_return: float = 0.0


class EnvironmentLearner:
    """What an agent has learned from an environment, and where it stands there.

    shape : (S, A).  offsets : the first observation and the first action of the spaces.
    """

    def __init__(
        self,
        settings: TabularSettings,
        seed: int,
        env_id: str,
        shape: tuple[int, int],
        offsets: tuple[int, int],
    ) -> None:
        require(
            not settings.uses_model,
            "critic is 'mle', which needs a known MDP; "
            "an agent that learns step by step takes another",
        )
        self.settings, self.seed = settings, seed
        self.env_id, self.shape, self.offsets = env_id, shape, offsets
        self.state = initial_state(settings, *shape, seed, 0)
        self.edges = new_edges(0)
        self.known = np.zeros(shape[0], dtype=bool)
        self.progression = Progression()
        self.env: Any = None

    def learn(self, env: Any, steps: int, episodes: Episodes, progress: Progress) -> None:
        """`steps` environment steps, going on where the last call stopped."""
        self._enter(env)
        state, settings, width = self.state, self.settings, self.shape[1]
        is_cut = settings.convention == "recommended" and not has_time_limit(env)
        cut = settings.cut(self.shape[0]) if is_cut else None
        for i in range(steps):
            if i % CHUNK == 0:
                count = min(CHUNK, steps - i)
                self._make_room(count)
                choices = algorithm(settings, state, settings.gamma, count, False)
                run = Run(self.edges, state.tables, state.model, state.words, state.position)
            row, control = np.uint64(state.position.row[0]), int(state.position.control[0])
            pair = choose_action(state.tables, choices.explorer, row, control, state.words)
            action = int(pair) - int(row)
            answer = self._answer(env.step(action + self.offsets[1]))
            observation, reward, terminated, truncated, info = answer
            s_next = self._arrive(observation, info)
            discount = 0.0 if terminated else settings.gamma
            edge = self._write(int(pair), float(reward), s_next * width, discount)
            self.progression.actions.append(action)
            truncated = truncated or len(self.progression.actions) == cut
            world = Observed(edge, bool(terminated or truncated))
            self.progression.episode_return += float(reward)
            if advance(world, run, choices, 1) == DIVERGED:
                raise InputError(
                    f"the critic left the finite numbers at step {state.steps}; "
                    "take a smaller eta or eta_c"
                )
            if world.ended:
                episodes.add(
                    self.progression.episode_return, len(self.progression.actions), control
                )
                self._reset(env)
            progress(1)

    # Phases of `learn`, in call order.

    def _enter(self, env: Any) -> None:
        # Go on in the same environment, bring a fresh one to where the last stood, or start.
        if self.env is env:
            return
        env_id, shape, _ = describe(env)
        require(
            (env_id, shape) == (self.env_id, self.shape),
            f"this agent has learned {self.env_id} ({self.shape[0]} states, {self.shape[1]} "
            f"actions); it cannot go on in {env_id} ({shape[0]} states, {shape[1]} actions)",
        )
        self.env = env
        if not self.progression.random_state:
            try:
                env.reset(seed=self.seed)
            except TypeError as error:
                raise InputError(
                    f"{env_id} takes no seed in reset(seed=...); results could not be repeated"
                ) from error
            self._reset(env)
            return
        env.unwrapped.np_random.bit_generator.state = self.progression.random_state
        observation, info = env.reset()
        for action in self.progression.actions:
            observation, _, _, _, info = env.step(action + self.offsets[1])
        require(
            self._arrive(observation, info) * shape[1] == self.state.position.row[0],
            f"{env_id} did not come back to the state in which the agent was saved; "
            "is it made with other options, or random beyond its np_random?",
        )

    def _reset(self, env: Any) -> None:
        self.progression = Progression(random_state=env.unwrapped.np_random.bit_generator.state)
        answer = env.reset()
        require(
            isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict),
            f"{self.env_id} returned {answer!r} from reset; it returns (observation, info)",
        )
        self.state.position.row = self._arrive(*answer) * self.shape[1]

    def _answer(self, answer: Any) -> tuple[Any, float, Any, Any, dict[str, Any]]:
        # What a step returned, if it is what a step returns. An environment may return anything.
        if not (isinstance(answer, tuple) and len(answer) == 5 and isinstance(answer[4], dict)):
            raise InputError(
                f"{self.env_id} returned {answer!r} at step {self.state.steps + 1}; a step returns "
                "(observation, reward, terminated, truncated, info)"
            )
        try:
            is_finite = math.isfinite(answer[1])
        except TypeError:
            is_finite = False
        if not is_finite:
            raise InputError(
                f"{self.env_id} returned the reward {answer[1]!r} at step {self.state.steps + 1}; "
                "rewards are finite numbers"
            )
        return answer

    def _arrive(self, observation: Any, info: dict[str, Any]) -> int:
        # The state that an observation stands for, its action mask heeded.
        first, n_states = self.offsets[0], self.shape[0]
        is_index = np.ndim(observation) == 0 and np.asarray(observation).dtype.kind in "iub"
        if not is_index or not first <= int(observation) < first + n_states:
            raise InputError(
                f"{self.env_id} returned the observation {observation!r} at step "
                f"{self.state.steps + 1}; its space has the integers from {first} to "
                f"{first + n_states - 1}"
            )
        if "action_mask" in info:
            self._mask(int(observation) - first, np.asarray(info["action_mask"]).astype(bool))
        return int(observation) - first

    def _mask(self, s: int, allowed: NDArray[np.bool_]) -> None:
        # Take the actions that the environment forbids in s out of the policies.
        theta, pi = self.state.table("theta")[s], self.state.table("pi")[s]
        if allowed.shape != theta.shape or not allowed.any():
            raise InputError(
                f"action_mask allows {allowed.sum()} actions, shape {allowed.shape}; "
                f"it takes one or more, {theta.shape}"
            )
        if self.known[s]:
            if ((theta > -np.inf) != allowed).any():
                raise InputError(
                    f"the action mask of state {s + self.offsets[0]} changed; "
                    "a tabular agent takes masks that depend on the state"
                )
            return
        self.known[s] = True
        theta[~allowed] = -np.inf
        pi[:] = allowed / allowed.sum()
        if self.settings.parametrization == "direct":
            theta[allowed] = pi[allowed]
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
            is_dropped = size >= capacity and self.settings.when_full == "keep"
            slot = 2 * capacity if is_dropped else control * capacity + size % capacity
        edges, row = self.edges, int(self.state.position.row[0])
        edges.row[slot], edges.pair[slot], edges.next[slot] = row, pair, following
        edges.r[slot], edges.discount[slot] = reward, discount
        return slot

    def _make_room(self, steps: int) -> None:
        # Room for `steps` more transitions, in the log and in the edges.
        self.state.make_room(self.settings, steps)
        room, capacity = len(self.edges.r), self.settings.capacity
        slots = self.state.steps + steps if capacity is None else 2 * capacity + 1
        needed = slots if self.settings.uses_replay else 1
        if room < needed:
            larger = new_edges(max(needed, 2 * room, FIRST_ROOM))
            for name in EDGE_FIELDS:
                getattr(larger, name)[:room] = getattr(self.edges, name)
            self.edges = larger


def describe(env: Any) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The id of an environment with Discrete spaces, (S, A), and the spaces' first numbers."""
    from gymnasium import Env
    from gymnasium.spaces import Discrete

    require(
        isinstance(env, Env),
        f"env is {env!r}; it must be a Gymnasium environment, as gymnasium.make returns it",
    )
    for name in ("observation_space", "action_space"):
        space = getattr(env, name)
        require(
            isinstance(space, Discrete),
            f"the environment's {name} is {space}; a tabular agent takes Discrete spaces",
        )
    states, actions = env.observation_space, env.action_space
    env_id = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    return env_id, (int(states.n), int(actions.n)), (int(states.start), int(actions.start))


def has_time_limit(env: Any) -> bool:
    """Whether an environment says after how many steps it ends an episode."""
    is_told = getattr(env.spec, "max_episode_steps", None) is not None
    return is_told or any(map(env.has_wrapper_attr, ("_max_episode_steps", "horizon")))


def predict(learner: EnvironmentLearner, observation: Any, deterministic: bool) -> Any:
    """See `TabularAgent.predict`. Observations and actions count as the environment counts them."""
    (first_state, first_action), (n_states, n_actions) = learner.offsets, learner.shape
    given, tables = np.asarray(observation), learner.state.tables
    states = given.ravel()
    is_index = given.ndim <= 1 and bool((states == np.floor(states)).all())
    if not is_index or not ((states >= first_state) & (states < first_state + n_states)).all():
        raise InputError(
            f"observation is {observation!r}; it must be an integer from {first_state} to "
            f"{first_state + n_states - 1}, or an array of them"
        )
    rows = states.astype(np.int64) - first_state
    if deterministic:
        actions = learner.state.table("pi")[rows].argmax(axis=1)
    else:
        places = [np.uint64(row) * tables.width for row in rows]
        drawn = [sample_action(tables, row, uniform(learner.state.words)) for row in places]
        actions = np.array(drawn, dtype=np.int64) % n_actions
    return int(actions[0]) + first_action if given.ndim == 0 else actions + first_action
