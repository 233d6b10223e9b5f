"""The tabular agents: Dr Jekyll and Mr Hyde (Algorithm 3) and on-policy updates (Algorithm 2).

An agent is made with an environment, its id, or None; `learn(mdp, agent)` reads its settings alone.
Both take Gymnasium environments whose observations and actions are Discrete.
"""

from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from jekyllhyde.agent import Agent, Episodes, Progress
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.schedule import ScheduleLike
from jekyllhyde.tabular import agent_file
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.environment_learner import EnvironmentLearner, describe, predict
from jekyllhyde.tabular.peer_settings import (
    PeerSettings,
    PsrlSettings,
    QLearningSettings,
    UcbHSettings,
    UcbviSettings,
)
from jekyllhyde.tabular.settings import JekyllHydeSettings, OnPolicySettings


def _keywords(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in given.keys() - {"self", "__class__"}}


class TabularAgent(Agent):
    """What all tabular agents share; an agent of your own is a subclass with a `settings_type`."""

    settings_type: ClassVar[type[AgentSettings]] = AgentSettings
    settings: AgentSettings

    def __init__(self, env: Any = None, *, seed: int = 0, **settings: Any) -> None:
        self.settings = self.settings_type(**settings)
        self.seed = check_count(seed, "seed", 0)
        self.env, self.episodes = None, Episodes()
        self._learner: EnvironmentLearner | None = None
        if env is not None:
            # settings alone need no Gymnasium
            from jekyllhyde.mdp.gym_import import make_environment

            self.env = make_environment(env)
            self._learner = EnvironmentLearner(self.settings, self.seed, *describe(self.env))

    def learn(self, total_timesteps: int, *, progress: Progress | None = None) -> Self:
        """Learn from so many steps of the environment, going on where the last call stopped."""
        steps = check_count(total_timesteps, "total_timesteps", 0)
        require(
            self.env is not None, "the agent has no environment; give one when it is made or loaded"
        )
        self.learner.learn(self.env, steps, self.episodes, progress or (lambda n: None))
        return self

    def predict(self, observation: Any, deterministic: bool = True) -> Any:
        """Jekyll's action: his most probable one, or one drawn from his policy.

        An array of observations gives an array of actions. Drawing moves the agent's random stream.
        """
        return predict(self.learner, observation, deterministic)

    def save(self, path: str | Path) -> None:
        """Write settings and everything learned to one file (npz and JSON, no pickle)."""
        agent_file.save(self, path)

    @classmethod
    def load(cls, path: str | Path, env: Any = None) -> Self:
        """Read an agent that `save` wrote; learning goes on in `env` exactly where it stopped."""
        return agent_file.load(cls, path, env)

    @property
    def learner(self) -> EnvironmentLearner:
        """What was learned step by step."""
        if self._learner is None:
            raise InputError("this agent has not learned yet; make it with an environment")
        return self._learner

    @property
    def pi(self) -> Floats:
        """Jekyll's policy [S, A], as learned step by step."""
        return self.learner.state.table("pi")

    @property
    def q(self) -> Floats:
        """Jekyll's critic [S, A], as learned step by step."""
        return self.learner.state.table("q")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays that learning changes."""
        return agent_file.arrays_of(self.learner)


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
        super().__init__(**_keywords(locals()))


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
        normalization: str | None = None,
        density: str | None = None,
        capacity: int | None = None,
        when_full: str = "ring",
        successor: str | None = None,
        convention: str = "published",
    ) -> None:
        super().__init__(**_keywords(locals()))


class TabularPeer(TabularAgent):
    """One of the field's explorers; `peers` says what they are."""

    settings_type = PeerSettings

    @property
    def q(self) -> Floats:
        """What the agent takes actions to be worth [S, A], as learned step by step."""
        return self.learner.state.table("q_hyde")


class TabularQLearning(TabularPeer):
    """Q-learning, epsilon-greedy, optimistic at first where `optimism` is above 0."""

    name = "tabular_q_learning"
    settings_type = QLearningSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        epsilon: float = 0.1,
        eta_c: float | str = 0.1,
        optimism: float = 0.0,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**_keywords(locals()))


class TabularUcbH(TabularPeer):
    """Q-learning with the Hoeffding bonus (Jin et al., 2018)."""

    name = "tabular_ucb_h"
    settings_type = UcbHSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        c: float = 0.001,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**_keywords(locals()))


class TabularUcbvi(TabularPeer):
    """UCBVI, optimistic values in the learned model (Azar et al., 2017)."""

    name = "tabular_ucbvi"
    settings_type = UcbviSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        c: float = 0.01,
        batch: int = 16,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**_keywords(locals()))


class TabularPsrl(TabularPeer):
    """Posterior sampling (Osband et al., 2013)."""

    name = "tabular_psrl"
    settings_type = PsrlSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        alpha: float = 0.1,
        sigma: float = 0.1,
        mu: float = 1.0,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**_keywords(locals()))
