"""The same agents without a model: step by step on any Gymnasium environment with Discrete
observations and actions.

Each step acts (`loop.act`), observes, and learns from that transition with the compiled loop of
`learn` (`loop.advance` without a problem). Termination stores the discount 0, truncation stores
gamma: it bootstraps. Actions that `info["action_mask"]` forbids have theta = -inf and Hyde's q =
-inf: they are neither taken nor counted on.

Resuming is exact. Beside the agent's own state, the environment's random state before the last
reset and the actions since then are kept: a fresh environment is brought back to where the old one
stood by playing them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.agents import TabularAgent
from jekyllhyde.tabular.arrays import (
    CONTROL,
    DIVERGED,
    EDGE,
    ENDED,
    SIZE_HYDE,
    SIZE_JEKYLL,
    STATE,
    STEPS,
    Edges,
)
from jekyllhyde.tabular.loop import act, advance, draw
from jekyllhyde.tabular.rng import uniform
from jekyllhyde.tabular.run import (
    CHUNK,
    bundles,
    empty_scratch,
    empty_trace,
    initial_state,
    make_room,
    uses_replay,
)

Progress = Callable[[int], None]
FIRST_ROOM = 1 << 10
EDGE_FIELDS = ("row", "pair", "next", "r", "discount")


@dataclass(frozen=True)
class Episodes:
    """The episodes that ended during one call of `learn`: undiscounted returns, lengths, and
    whether Hyde led, each [n].
    """

    returns: Floats
    lengths: Ints
    hyde: Ints


@dataclass
class Progression:
    """Where the environment stands: its random state before the last reset, the actions since, and
    the return so far.
    """

    random_state: dict[str, Any] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)
    episode_return: float = 0.0


class Learner:
    """An agent that has begun to learn from an environment."""

    def __init__(self, agent: TabularAgent, n_states: int, n_actions: int, env_id: str) -> None:
        if agent.critic == "mle":
            raise InputError(
                "critic is 'mle', which needs a known MDP; an agent that learns step by step takes another"
            )
        self.agent, self.env_id = agent, env_id
        self.state = initial_state(agent, n_states, n_actions, agent.seed, 0)
        self.edges = _edges(0)
        self.known = np.zeros(n_states, dtype=bool)
        self.progression = Progression()
        self.offsets = (0, 0)
        self.env: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """(S, A)."""
        n_states, n_actions = self.state.tables.pi.shape
        return n_states, n_actions

    def learn(self, env: Any, steps: int, progress: Progress) -> Episodes:
        """`steps` environment steps, going on where the last call stopped."""
        offsets = self.offsets = _check_env(env, self)
        self._enter(env, offsets)
        clock, words, tables = self.state.clock, self.state.words, self.state.tables
        trace, scratch = empty_trace(), empty_scratch()
        ended: list[tuple[float, int, int]] = []
        for i in range(steps):
            if i % CHUNK == 0:
                self._make_room(min(CHUNK, steps - i))
                jekyll, hyde, buffers, options = bundles(
                    self.agent, self.state, self.agent.gamma, self.shape[1], CHUNK
                )
                buffers = None if buffers is None else buffers._replace(from_model=False)
            action = int(act(tables, clock, words))
            observation, reward, terminated, truncated, info = env.step(action + offsets[1])
            s_next = int(observation) - offsets[0]
            self._mask(s_next, info)
            self._write(action, float(reward), s_next, 0.0 if terminated else self.agent.gamma)
            clock[ENDED] = 1 if terminated or truncated else 0
            leader = int(clock[CONTROL])
            self.progression.actions.append(action)
            self.progression.episode_return += float(reward)
            reason = advance(
                None,
                self.edges,
                tables,
                jekyll,
                hyde,
                buffers,
                options,
                words,
                clock,
                self.state.sums,
                trace,
                scratch,
                1,
            )
            if reason == DIVERGED:
                raise InputError(
                    f"the critic left the finite numbers at step {clock[STEPS]}; take a smaller eta or eta_c"
                )
            if clock[ENDED]:
                ended.append(
                    (self.progression.episode_return, len(self.progression.actions), leader)
                )
                self._reset(env, offsets)
            progress(1)
        columns = np.array(ended, dtype=np.float64).reshape(-1, 3).T
        return Episodes(columns[0], columns[1].astype(np.int64), columns[2].astype(np.int64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays that learning changes, by name; the unused ends of log and edges are
        left out.
        """
        state, capacity = self.state, self.agent.capacity
        sizes = np.minimum(state.clock[[SIZE_JEKYLL, SIZE_HYDE]], state.log.shape[1])
        used = (
            0
            if not uses_replay(self.agent)
            else int(state.clock[STEPS])
            if capacity is None
            else len(self.edges.r)
        )
        named = {
            **state.tables._asdict(),
            "words": state.words,
            "clock": state.clock,
            "sums": state.sums,
            "known": self.known,
        }
        named |= {"log_jekyll": state.log[0, : sizes[0]], "log_hyde": state.log[1, : sizes[1]]}
        named |= {
            f"edge_{name}": array[:used]
            for name, array in self.edges._asdict().items()
            if name in EDGE_FIELDS
        }
        return {name: array.copy() for name, array in named.items()}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over arrays that `arrays` gave, after checking that they belong to such an agent."""
        expected, state = self.arrays(), self.state
        for name, array in expected.items():
            fixed = not name.startswith(("log_", "edge_"))
            if (
                name not in arrays
                or arrays[name].dtype != array.dtype
                or (fixed and arrays[name].shape != array.shape)
            ):
                raise InputError(f"its array {name!r} is missing or of another kind")
        state.clock[:] = arrays["clock"]
        for name in ("theta", "pi", "q", "q_hyde", "n"):
            getattr(state.tables, name)[:] = arrays[name]
        state.words[:], state.sums[:], self.known[:] = (
            arrays["words"],
            arrays["sums"],
            arrays["known"],
        )
        state.log = np.zeros(
            (2, max(len(arrays["log_jekyll"]), len(arrays["log_hyde"]))), dtype=np.uint32
        )
        for row, name in enumerate(("log_jekyll", "log_hyde")):
            state.log[row, : len(arrays[name])] = arrays[name]
        self.edges = _edges(len(arrays["edge_row"]))
        for name in EDGE_FIELDS:
            getattr(self.edges, name)[:] = arrays[f"edge_{name}"]
        self._check_consistency()

    def _check_consistency(self) -> None:
        """Refuse numbers that the compiled loop would take for addresses."""
        (n_states, n_actions), clock, edges, room = (
            self.shape,
            self.state.clock,
            self.edges,
            self.state.log.shape[1],
        )
        sizes, capacity = clock[[SIZE_JEKYLL, SIZE_HYDE]], self.agent.capacity
        fits = {
            "clock": (clock >= 0).all() and clock[STATE] < n_states and clock[CONTROL] <= 1,
            "edges": all((places < n_states * n_actions).all() for places in edges[:3])
            and not (edges.next % n_actions).any()
            and not (edges.row % n_actions).any(),
            "log": not uses_replay(self.agent)
            or (np.minimum(sizes, capacity or sizes.max()).max() == room),
            "numbers": not self.state.log.size or self.state.log.max() < len(edges.r),
        }
        for name, fit in fits.items():
            if not fit:
                raise InputError(f"its {name} cannot be those of such an agent")

    # Phases of `learn`, in call order.

    def _enter(self, env: Any, offsets: tuple[int, int]) -> None:
        """Go on in the same environment, bring a fresh one back to where the last stood, or start."""
        if self.env is env:
            return
        self.env = env
        if not self.progression.random_state:
            _seed(env, self.agent.seed)
            self._reset(env, offsets)
            return
        env.unwrapped.np_random.bit_generator.state = self.progression.random_state
        observation, _ = env.reset()
        for action in self.progression.actions:
            observation, *_ = env.step(action + offsets[1])
        if int(observation) - offsets[0] != self.state.clock[STATE]:
            raise InputError(
                f"{self.env_id} did not come back to the state in which the agent was saved; is it made with other options, or "
                "random beyond its np_random?"
            )

    def _reset(self, env: Any, offsets: tuple[int, int]) -> None:
        self.progression = Progression(random_state=env.unwrapped.np_random.bit_generator.state)
        observation, info = env.reset()
        s = int(observation) - offsets[0]
        self._mask(s, info)
        self.state.clock[STATE] = s

    def _mask(self, s: int, info: dict[str, Any]) -> None:
        """Take the actions that the environment forbids in s out of the policies, when s is first
        seen.
        """
        if "action_mask" not in info:
            return
        allowed = np.asarray(info["action_mask"]).astype(bool)
        theta, pi, _, q_hyde, _ = self.state.tables
        if allowed.shape != theta[s].shape or not allowed.any():
            raise InputError(
                f"action_mask allows {allowed.sum()} actions, shape {allowed.shape}; it takes one or more, {theta[s].shape}"
            )
        if self.known[s]:
            if ((theta[s] > -np.inf) != allowed).any():
                raise InputError(
                    f"the action mask of state {s + self.offsets[0]} changed; a tabular agent takes masks that depend on the state"
                )
            return
        self.known[s] = True
        theta[s, ~allowed] = -np.inf
        pi[s] = allowed / allowed.sum()
        if self.agent.parametrization == "direct":
            theta[s, allowed] = pi[s, allowed]
        if q_hyde.size:
            q_hyde[s, ~allowed] = -np.inf

    def _write(self, action: int, reward: float, s_next: int, discount: float) -> None:
        """Put the transition where the log will point to: a bounded buffer's slot is used again
        with its entry.
        """
        clock, capacity = self.state.clock, self.agent.capacity
        slot = int(clock[STEPS])
        if not uses_replay(self.agent):
            slot = 0
        elif capacity is not None:
            size = int(clock[SIZE_HYDE if clock[CONTROL] else SIZE_JEKYLL])
            slot = (
                2 * capacity
                if size >= capacity and self.agent.when_full == "keep"
                else int(clock[CONTROL]) * capacity + size % capacity
            )
        clock[EDGE] = slot
        edges = self.edges
        row = int(clock[STATE]) * self.shape[1]
        edges.row[slot], edges.pair[slot], edges.next[slot] = (
            row,
            row + action,
            s_next * self.shape[1],
        )
        edges.r[slot], edges.discount[slot] = reward, discount

    def _make_room(self, steps: int) -> None:
        """Room for `steps` more transitions, in the log and in the edges."""
        make_room(self.state, self.agent, steps)
        needed = int(self.state.clock[STEPS]) + steps if uses_replay(self.agent) else 1
        if uses_replay(self.agent) and self.agent.capacity is not None:
            needed = 2 * self.agent.capacity + 1
        if len(self.edges.r) < needed:
            larger = _edges(max(needed, 2 * len(self.edges.r), FIRST_ROOM))
            for name in EDGE_FIELDS:
                old = getattr(self.edges, name)
                getattr(larger, name)[: len(old)] = old
            self.edges = larger


def _edges(room: int) -> Edges:
    row, pair, s_next = (np.zeros(room, dtype=np.uint32) for _ in range(3))
    return Edges(
        row,
        pair,
        s_next,
        np.zeros(room),
        np.zeros(room),
        np.zeros(0, dtype=np.uint32),
        np.zeros(0, dtype=np.int64),
    )


def _check_env(env: Any, learner: Learner) -> tuple[int, int]:
    """The first observation and action of the spaces, after checking that the environment is the
    learner's.
    """
    n_states, n_actions, env_id = describe(env)
    if (n_states, n_actions) != learner.shape or env_id != learner.env_id:
        raise InputError(
            f"this agent has learned {learner.env_id} ({learner.shape[0]} states, {learner.shape[1]} actions); "
            f"it cannot go on in {env_id} ({n_states} states, {n_actions} actions)"
        )
    return int(env.observation_space.start), int(env.action_space.start)


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


def _seed(env: Any, seed: int) -> None:
    try:
        env.reset(seed=seed)
    except TypeError as error:
        raise InputError(
            f"{describe(env)[2]} takes no seed in reset(seed=...); results could not be repeated"
        ) from error


def predict(learner: Learner, observation: int, deterministic: bool) -> int:
    """See `TabularAgent.predict`. Observations and actions are counted as the environment counts
    them.
    """
    first_state, first_action = learner.offsets
    n_states = learner.shape[0]
    if not (
        np.ndim(observation) == 0
        and first_state <= observation < first_state + n_states
        and int(observation) == observation
    ):
        raise InputError(
            f"observation is {observation!r}; it must be an integer from {first_state} to {first_state + n_states - 1}"
        )
    s, tables = int(observation) - first_state, learner.state.tables
    if deterministic:
        return int(np.argmax(tables.pi[s])) + first_action
    return int(draw(tables.pi, s, uniform(learner.state.words))) + first_action
