"""The tabular agents: Dr Jekyll and Mr Hyde (Algorithm 3) and on-policy updates (Algorithm 2).

An agent is made with an environment, its id, or None; `learn(mdp, agent)` reads its settings alone.
Both take Gymnasium environments whose observations and actions are Discrete.
"""

from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.episode import Episode, has_time_limit
from jekyllhyde.errors import InputError, require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.personality import Beliefs
from jekyllhyde.policy_export import Exported
from jekyllhyde.schedule import ScheduleLike
from jekyllhyde.stepwise_agent import Outcome, StepwiseAgent
from jekyllhyde.tabular import agent_file
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.environment_learner import EnvironmentLearner, Sight, describe
from jekyllhyde.tabular.settings import JekyllHydeSettings, OnPolicySettings


class AgentTables(NamedTuple):
    """What an agent has learned step by step, [S, A] each: Jekyll's policy pi and critic q, and how
    often each action was taken. They are the agent's own memory.
    """

    pi: Floats
    q: Floats
    n: NDArray[np.int64]


def keywords_of(given: dict[str, Any]) -> dict[str, Any]:
    """The keywords of an agent, from the `locals` of its `__init__`."""
    return {name: given[name] for name in given.keys() - {"self", "__class__"}}


class TabularAgent(StepwiseAgent):
    """What all tabular agents share; an agent of your own is a subclass with a `settings_type`."""

    settings_type: ClassVar[type[AgentSettings]] = AgentSettings
    settings: AgentSettings

    def __init__(self, env: Any = None, *, seed: int = 0, **settings: Any) -> None:
        self.settings = self.settings_type(**settings)
        self._learner: EnvironmentLearner | None = None
        if env is not None:
            # settings alone need no Gymnasium
            from jekyllhyde.mdp.gym_import import make_environment

            env = make_environment(env)
        self._prepare(env, seed)
        if env is not None:
            self._learner = EnvironmentLearner(self.settings, self.seed, *describe(env))

    def save(self, path: str | Path) -> None:
        """Write settings and everything learned to one file (npz and JSON, no pickle)."""
        agent_file.save(self, path)

    @classmethod
    def load(cls, path: str | Path, env: Any = None, **own: Any) -> Self:
        """Read an agent that `save` wrote; learning goes on in `env` exactly where it stopped.
        Settings of the user's own, such as hyde="file.py:Mine", are given again.
        """
        return agent_file.load(cls, path, env, own)

    @property
    def tables(self) -> AgentTables:
        """The agent's tables [S, A]; rows are states from the first observation on."""
        table: Any = self.learner.state.table
        return AgentTables(pi=table("pi"), q=table(self.settings.values), n=table("n"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays that learning changes."""
        return agent_file.arrays_of(self.learner)

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self.learner.state.steps

    @property
    def learner(self) -> EnvironmentLearner:
        """What was learned step by step."""
        if self._learner is None:
            raise InputError("this agent has not learned yet; make it with an environment")
        return self._learner

    def _reserve(self, steps: int) -> None:
        settings, learner = self.settings, self.learner
        is_cut = settings.is_practical and not has_time_limit(self.env)
        self._cut = settings.cut(learner.shape[0]) if is_cut else None
        learner.reserve(steps)

    def _look(self, observation: Any, info: dict[str, Any]) -> Sight:
        return self.learner.look(observation, info)

    def _stands_at(self, seen: Sight) -> bool:
        return bool(seen.s * self.learner.shape[1] == self.learner.state.position.row[0])

    def _begin(self, number: int, seen: Sight) -> None:
        action = self.learner.enter(seen)
        self._episode = Episode(number, action, int(self.learner.state.position.control[0]))

    def _take_over(self, outcome: Outcome) -> bool:
        episode: Any = self._episode
        action = self.learner.take_over(episode.next_action, outcome)
        episode.actions.append(episode.next_action)
        episode.total += outcome.reward
        episode.next_action = action
        if outcome.ended:
            self.episodes.add(episode.total, len(episode.actions), episode.hyde, self.steps)
            hyde = int(self.learner.state.position.control[0])
            self._episode = Episode(episode.number + 1, action, hyde)
        return outcome.ended

    def _ask(self, observation: Any, who: int, action_mask: Any = None) -> Beliefs:
        learner, given = self.learner, np.asarray(observation)
        first, n_states = learner.offsets[0], learner.shape[0]
        states = given.ravel()
        is_index = given.ndim <= 1 and bool((states == np.floor(states)).all())
        require(
            is_index and ((states >= first) & (states < first + n_states)).all(),
            f"observation is {observation!r}; it must be an integer from {first} to "
            f"{first + n_states - 1}, or an array of them",
        )
        pi, q = learner.beliefs(who, states.astype(np.int64) - first)
        return Beliefs(pi, q, given.ndim == 1)

    def _as_action(self, index: int) -> int:
        return index + self.learner.offsets[1]

    def _exported(self) -> Exported:
        (n_states, n_actions), (first, first_action) = self.learner.shape, self.learner.offsets
        numbers = {"first_state": np.int64(first), "first_action": np.int64(first_action)}
        return Exported(
            arrays={"table": self.probabilities(first + np.arange(n_states)), **numbers},
            observation=f"an integer from {first} to {first + n_states - 1}",
            action=f"an integer from {first_action} to {first_action + n_actions - 1}",
        )

    @property
    def has_hyde(self) -> bool:
        """Whether a Hyde explores."""
        return isinstance(self.settings, JekyllHydeSettings)

    def _measure(self) -> dict[str, float]:
        return self.learner.measure()


class TabularJekyllHyde(TabularAgent):
    """Dr Jekyll and Mr Hyde (Algorithm 3); `JekyllHydeSettings` says what each keyword means."""

    name = "tabular_jekyll_hyde"
    settings_type = JekyllHydeSettings
    settings: JekyllHydeSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        gamma: float = 0.99,
        epsilon: ScheduleLike | None = None,
        o: ScheduleLike = 0.5,
        eta: float | None = None,
        eta_c: float | str = 0.1,
        q0: float = 0.0,
        parametrization: str = "softmax",
        actor: Any = None,
        critic: Any = None,
        mle_every: int = 1,
        nu: float = 0.0,
        batch: int | None = None,
        with_current: bool = False,
        normalization: str | None = None,
        density: str | None = None,
        capacity: int | None = None,
        when_full: str = "ring",
        successor: str | None = None,
        hyde: Any = None,
        replay: str | None = None,
        bonus: Any = None,
        hyde_q0: float | None = None,
        hyde_clip: float | None = None,
        hyde_eta: float | None = None,
        convention: str = "recommended",
    ) -> None:
        super().__init__(**keywords_of(locals()))


class TabularOnPolicy(TabularAgent):
    """On-policy actor-critic (Algorithm 2); `OnPolicySettings` says what each keyword means."""

    name = "tabular_on_policy"
    settings_type = OnPolicySettings
    settings: OnPolicySettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        gamma: float = 0.99,
        parametrization: str = "softmax",
        eta: float | None = None,
        eta_c: float | str = 0.1,
        q0: float = 0.0,
        actor: Any = None,
        critic: Any = None,
        mle_every: int = 1,
        nu: float = 0.0,
        nu_in: str | None = None,
        lam: float = 0.0,
        entropy: str | None = None,
        update: str | None = None,
        replay: bool = False,
        batch: int | None = None,
        with_current: bool = False,
        normalization: str | None = None,
        density: str | None = None,
        capacity: int | None = None,
        when_full: str = "ring",
        successor: str | None = None,
        convention: str = "published",
    ) -> None:
        super().__init__(**keywords_of(locals()))
