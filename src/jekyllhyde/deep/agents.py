"""The agents with networks in ordinary Gymnasium environments.

    agent = JekyllHyde("CartPole-v1", seed=0, gamma=0.99).learn(10_000)
    agent.predict(observation)
    agent.save("folder")

Settings that are not given are those of the configuration: "recommended", "published", "paper", or
"recommended_0_3", which is what version 0.3 recommended.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp

from jekyllhyde.agent import AGENTS
from jekyllhyde.deep import (
    TrainResult,
    actor_rules,
    bootstrapped,
    ddqn,
    explorers,
    jekyll_hyde,
    leaders,
    networks,
    sac,
    spaces,
)
from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.deep.deep_agent import DeepAgent
from jekyllhyde.deep.noise import Noise

Widths = tuple[int, ...] | None


class JekyllHyde(DeepAgent):
    """Dr Jekyll and Mr Hyde (Algorithm 4)."""

    name = "jekyll_hyde"
    settings_type = jekyll_hyde.Config
    elsewhere = jekyll_hyde.ELSEWHERE

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | jekyll_hyde.Config = "recommended",
        gamma: float | None = None,
        eta: float | None = None,
        eta_c: float | None = None,
        tau: float | None = None,
        actor_rule: str | actor_rules.Rule | None = None,
        normalize_observations: bool | None = None,
        temperature: float | None = None,
        critics: int | None = None,
        dueling: bool | None = None,
        votes: bool | None = None,
        pessimism: float | None = None,
        n_steps: int | None = None,
        far_share: float | None = None,
        quiet: float | None = None,
        tolerance: float | None = None,
        weigh_ends: bool | None = None,
        tau_actor: float | None = None,
        normalized_actor: bool | None = None,
        greedy_stretch: int | None = None,
        cut_stays: bool | None = None,
        fresh_critic: bool | None = None,
        epsilon_1: float | None = None,
        schedule: str | None = None,
        explorer: str | explorers.Explorer | None = None,
        leader: str | leaders.Leader | None = None,
        bonus: str | Bonus | None = None,
        gamma_hyde: float | None = None,
        eta_hyde: float | None = None,
        tau_hyde: float | None = None,
        hyde_noise: float | None = None,
        noise: str | Noise | None = None,
        hyde_terminates: bool | None = None,
        hyde_xavier: bool | None = None,
        shared_start: bool | None = None,
        hidden_hyde: Widths = None,
        hidden: Widths = None,
        trained_embedding: bool | None = None,
        one_hot: bool | None = None,
        batch: int | None = None,
        fifo: bool | None = None,
        prioritized: bool | None = None,
        bounded: bool | None = None,
        first_values: float | None = None,
        capacity: int | None = None,
        warmup: int | None = None,
        clip: float | None = None,
        adam_eps: float | None = None,
        lanes: int | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


class DoubleDQN(DeepAgent):
    """Double DQN; a bonus that is given is added to the reward."""

    name = "ddqn"
    settings_type = ddqn.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | ddqn.Config = "recommended",
        eta_c: float | None = None,
        tau: float | None = None,
        gamma: float | None = None,
        hidden: Widths = None,
        capacity: int | None = None,
        batch: int | None = None,
        n_steps: int | None = None,
        epsilon_1: float | None = None,
        schedule: str | None = None,
        noise: str | Noise | None = None,
        bonus: str | Bonus | None = None,
        with_bonus: bool | None = None,
        normalize_observations: bool | None = None,
        bonus_weight: float | None = None,
        trained_embedding: bool | None = None,
        one_hot: bool | None = None,
        timeout_terminates: bool | None = None,
        falling_step: bool | None = None,
        adam_eps: float | None = None,
        clip: float | None = None,
        lanes: int | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


class BootstrappedDQN(DeepAgent):
    """Bootstrapped DQN with random priors; a bonus that is given is added to the reward."""

    name = "bootstrapped_dqn"
    settings_type = bootstrapped.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | bootstrapped.Config = "recommended",
        heads: int | None = None,
        prior_scale: float | None = None,
        share: float | None = None,
        gamma: float | None = None,
        eta_c: float | None = None,
        hidden: Widths = None,
        tau: float | None = None,
        batch: int | None = None,
        n_steps: int | None = None,
        capacity: int | None = None,
        with_bonus: bool | None = None,
        bonus: str | Bonus | None = None,
        bonus_weight: float | None = None,
        one_hot: bool | None = None,
        trained_embedding: bool | None = None,
        clip: float | None = None,
        normalize_observations: bool | None = None,
        adam_eps: float | None = None,
        lanes: int | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


class DiscreteSAC(DeepAgent):
    """Discrete soft actor-critic; a bonus that is given has a critic of its own."""

    name = "sac"
    settings_type = sac.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | sac.Config = "recommended",
        gamma: float | None = None,
        hidden: Widths = None,
        eta: float | None = None,
        eta_c: float | None = None,
        capacity: int | None = None,
        tau: float | None = None,
        warmup: int | None = None,
        bonus: str | Bonus | None = None,
        batch: int | None = None,
        with_bonus: bool | None = None,
        clip: float | None = None,
        bonus_weight: float | None = None,
        adam_eps: float | None = None,
        bonus_terminates: bool | None = None,
        fresh_critic: bool | None = None,
        normalize_observations: bool | None = None,
        trained_embedding: bool | None = None,
        one_hot: bool | None = None,
        lanes: int | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


def from_result(result: TrainResult, run: int = 0) -> DeepAgent:
    """One run of `train` as an agent that predicts and saves, with an empty replay."""
    agent: DeepAgent = AGENTS[result.agent].cls(config=result.config)
    agent._start(networks.Space(result.mdp.n_states, (), result.mdp.n_actions))
    agent.state = replace(
        agent.state, networks=jax.tree.map(lambda leaf: jnp.asarray(leaf[run]), result.networks)
    )
    return agent
