"""The same agents without a model: step by step on any environment with Discrete spaces.

Each step acts, observes, and learns from that transition with the compiled loop of `learn`
(`algorithm.advance` in the world `Observed`). Termination stores the discount 0, truncation stores
gamma: it bootstraps. Where an environment declares no time limit, `recommended` cuts its episodes
(see `TabularSettings.cut`): a policy that walks in circles must not end the learning. Actions that
`info["action_mask"]` forbids have theta = -inf and Hyde's q = -inf: they are neither taken nor
counted on. Whatever an environment returns is checked before it reaches the loop.

A step is taken over as a whole: `look` checks what the environment returns and changes nothing,
`take_over` cannot fail.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.stepwise_agent import Outcome
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.algorithm import DIVERGED, advance
from jekyllhyde.tabular.hyde import Uniform, hyde_policy
from jekyllhyde.tabular.known_model import Observed, choose_action
from jekyllhyde.tabular.records import EDGE_FIELDS, Run, new_edges
from jekyllhyde.tabular.run_state import algorithm, initial_state

FIRST_ROOM = 1 << 10


class Sight(NamedTuple):
    """What an agent sees: the number of a state, and the actions that are allowed there [A], where
    the environment says so.
    """

    s: int
    allowed: NDArray[np.bool_] | None


class EnvironmentLearner:
    """What an agent has learned from an environment, and where it stands there.

    shape : (S, A).  offsets : the first observation and the first action of the spaces.
    """

    def __init__(
        self,
        settings: AgentSettings,
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
        settings.begin(self.state, settings.gamma, 1.0)
        self.edges = new_edges(0)
        self.known = np.zeros(shape[0], dtype=bool)

    def reserve(self, steps: int) -> None:
        """Room for `steps` more transitions, and the choices for them."""
        state = self.state
        self._make_room(steps)
        self.choices = algorithm(self.settings, state, self.settings.gamma, steps, False)
        self.run = Run(self.edges, state.tables, state.model, state.words, state.position)

    def look(self, observation: Any, info: dict[str, Any]) -> Sight:
        """The state that an observation stands for; an environment may return anything."""
        first, n_states = self.offsets[0], self.shape[0]
        is_index = np.ndim(observation) == 0 and np.asarray(observation).dtype.kind in "iub"
        if not is_index or not first <= int(observation) < first + n_states:
            raise InputError(
                f"{self.env_id} returned the observation {observation!r} at step "
                f"{self.state.steps + 1}; its space has the integers from {first} to "
                f"{first + n_states - 1}"
            )
        s = int(observation) - first
        if "action_mask" not in info:
            return Sight(s, None)
        allowed = np.asarray(info["action_mask"]).astype(bool)
        if allowed.shape != (self.shape[1],) or not allowed.any():
            raise InputError(
                f"action_mask allows {allowed.sum()} actions, shape {allowed.shape}; "
                f"it takes one or more, {(self.shape[1],)}"
            )
        if self.known[s] and ((self.state.table("theta")[s] > -np.inf) != allowed).any():
            raise InputError(
                f"the action mask of state {s + first} changed; "
                "a tabular agent takes masks that depend on the state"
            )
        return Sight(s, allowed)

    def enter(self, seen: Sight) -> int:
        """The first action of an episode that begins there."""
        now = self.state.position
        now.k, now.factor = 0, 1.0
        return self._choose(seen)

    def take_over(self, action: int, outcome: Outcome) -> int:
        """Learn from a step, and choose the action of the next; refuse to go on where the critic
        has diverged.
        """
        now, width = self.state.position, self.shape[1]
        discount = 0.0 if outcome.terminated else self.settings.gamma
        self._heed(outcome.following)
        edge = self._write(
            int(now.row[0]) + action, outcome.reward, outcome.following.s * width, discount
        )
        if advance(Observed(edge, outcome.ended), self.run, self.choices, 1) == DIVERGED:
            raise InputError(
                f"the critic left the finite numbers at step {self.state.steps}; "
                "take a smaller eta or eta_c"
            )
        return self._choose(outcome.start)

    def _choose(self, seen: Sight) -> int:
        # An action of the one in control, who stands there.
        state = self.state
        self._heed(seen)
        row = np.uint64(seen.s * self.shape[1])
        state.position.row = row
        control = int(state.position.control[0])
        pair = choose_action(state.tables, self.choices.explorer, row, control, state.words)
        return int(pair) - int(row)

    def _heed(self, seen: Sight) -> None:
        # Take the actions that the environment forbids in s out of the policies.
        s, allowed = seen
        if allowed is None or self.known[s]:
            return
        theta, pi = self.state.table("theta")[s], self.state.table("pi")[s]
        self.known[s] = True
        theta[~allowed] = -np.inf
        pi[:] = allowed / allowed.sum()
        if self.settings.option("parametrization") == "direct":
            theta[allowed] = pi[allowed]
        if self.state.tables.q_hyde.size:
            self.state.table("q_hyde")[s, ~allowed] = -np.inf

    def _write(self, pair: int, reward: float, following: int, discount: float) -> int:
        # Put the transition where the log will point to, and say where.
        #
        # A bounded buffer's slot is used again with its entry.
        control, capacity = int(self.state.position.control[0]), self.settings.option("capacity")
        slot = self.state.steps if self.settings.uses_replay else 0
        if self.settings.uses_replay and capacity is not None:
            size = self.state.sizes[control]
            is_dropped = size >= capacity and self.settings.option("when_full") == "keep"
            slot = 2 * capacity if is_dropped else control * capacity + size % capacity
        edges, row = self.edges, int(self.state.position.row[0])
        edges.row[slot], edges.pair[slot], edges.next[slot] = row, pair, following
        edges.r[slot], edges.discount[slot] = reward, discount
        return slot

    def _make_room(self, steps: int) -> None:
        # Room for `steps` more transitions, in the log and in the edges.
        self.state.make_room(self.settings, steps)
        room, capacity = len(self.edges.r), self.settings.option("capacity")
        slots = self.state.steps + steps if capacity is None else 2 * capacity + 1
        needed = slots if self.settings.uses_replay else 1
        if room < needed:
            larger = new_edges(max(needed, 2 * room, FIRST_ROOM))
            for name in EDGE_FIELDS:
                getattr(larger, name)[:room] = getattr(self.edges, name)
            self.edges = larger

    def beliefs(self, who: int, states: NDArray[np.int64]) -> tuple[Floats, Floats | None]:
        """Probabilities and values of the actions [N, A] in these states: Jekyll's, or Hyde's (1),
        who takes any of the best.
        """
        if not who:
            table = self.state.table
            return table("pi")[states], table(self.settings.values)[states]
        settings: Any = self.settings
        explorer, tables = settings.explorer(), self.state.tables
        if hasattr(explorer, "hyde_policy") and not isinstance(explorer, Uniform):
            pi = np.empty(self.shape)
            hyde_policy(explorer, tables, pi)
            return pi[states], None
        q = self.state.table("q_hyde")[states]
        best = q == q.max(axis=1, keepdims=True)
        return best / best.sum(axis=1, keepdims=True), q

    def measure(self) -> dict[str, float]:
        """What is logged: epsilon of the next trajectory, and the share of the states that were
        visited.
        """
        state, settings = self.state, self.settings
        values = {"coverage": float((state.table("n").sum(axis=1) > 0).mean())}
        choices = algorithm(settings, state, settings.gamma, 1, False)
        if hasattr(choices.leader, "epsilon"):
            values["epsilon"] = float(choices.leader.epsilon.rate_now(self.run, state.steps + 1))
        return values


def describe(env: Any) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The id of an environment with Discrete spaces, (S, A), and the spaces' first numbers."""
    from gymnasium import Env
    from gymnasium.spaces import Discrete

    require(
        isinstance(env, Env),
        f"env is {env!r}; a tabular agent takes one Gymnasium environment, as gymnasium.make "
        "returns it, and agents with networks take vector ones",
    )
    for name in ("observation_space", "action_space"):
        space = getattr(env, name)
        require(
            isinstance(space, Discrete),
            f"the environment's {name} is {space}; a tabular agent takes Discrete spaces, and "
            "agents with networks (jekyllhyde.deep) take others",
        )
    states, actions = env.observation_space, env.action_space
    env_id = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
    return env_id, (int(states.n), int(actions.n)), (int(states.start), int(actions.start))
