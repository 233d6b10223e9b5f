"""What is logged of an agent with networks: numbers of now, from a batch spread over its replay.

Nothing of it is kept or learned from. `epsilon` is the probability that Hyde leads (J&H), or of a
uniform action (Double DQN); losses are those that the next update would go down.
"""

from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep import bootstrapped, jekyll_hyde, sac
from jekyllhyde.deep.explorers import HydeState
from jekyllhyde.deep.learning import Settings, State, decreasing
from jekyllhyde.deep.networks import Samples, mean, pick

BATCH = 256


def measure(state: State, config: Settings) -> dict[str, jax.Array]:
    """The numbers by name; which there are depends on the algorithm."""
    spread = (jnp.arange(BATCH) + 0.5) / BATCH
    samples = Samples.of(state.networks.features, *state.everyone.sample(spread))
    if isinstance(config, jekyll_hyde.Config):
        return _of_jekyll_hyde(state, config, samples)
    if isinstance(config, sac.Config):
        return _of_sac(state, config, samples)
    if isinstance(config, bootstrapped.Config):
        return _of_bootstrapped(state, config, samples)
    return _of_ddqn(state, config, samples)


def _of_jekyll_hyde(
    state: State, config: jekyll_hyde.Config, samples: Samples
) -> dict[str, jax.Array]:
    networks = state.networks
    bounds = state.sums and state.sums.bounds(config.gamma, state.everyone, state.hyde)
    goal = jekyll_hyde.expected_sarsa(networks, config, samples, bounds)
    values = {
        "epsilon": config.leader.epsilon(state, config),
        **_of_actor(networks, samples, goal),
    }
    explorer = networks.explorer
    if not isinstance(explorer, HydeState):
        return values
    bonus, _ = config.bonus.of(explorer.bonus, samples)
    goal = config.explorer.goal(explorer, config, samples, bonus)  # type: ignore[attr-defined]
    return {
        **values,
        "bonus": mean(bonus, samples.weight),
        "hyde_loss": _error(explorer.q.online.network, samples, goal),
    }


def _of_sac(state: State, config: sac.Config, samples: Samples) -> dict[str, jax.Array]:
    networks = state.networks
    return {
        "alpha": jnp.exp(networks.log_alpha.network),
        **_of_actor(networks, samples, sac.soft_goal(networks, config, samples)),
        **_of_bonus(networks, config, samples),
    }


def _of_ddqn(state: State, config: Any, samples: Samples) -> dict[str, jax.Array]:
    networks = state.networks
    best = jnp.argmax(networks.q.online.network(samples.x_next), -1)
    value = pick(networks.q.target(samples.x_next), best)
    goal = samples.reward + config.gamma * samples.discount * value
    return {
        "epsilon": decreasing(config, state.episodes),
        "critic_loss": _error(networks.q.online.network, samples, goal),
        **_of_bonus(networks, config, samples),
    }


def _of_bootstrapped(
    state: State, config: bootstrapped.Config, samples: Samples
) -> dict[str, jax.Array]:
    networks = state.networks
    goal = networks.q.double_dqn(samples, samples.reward, config.gamma * samples.discount)
    taken = jax.vmap(pick, (0, None))(networks.q.each(samples.x), samples.action)
    return {
        "critic_loss": mean(jnp.mean((taken - goal) ** 2, 0), samples.weight),
        "spread": mean(jnp.std(taken, 0), samples.weight),
        **_of_bonus(networks, config, samples),
    }


def _of_actor(networks: Any, samples: Samples, goal: jax.Array) -> dict[str, jax.Array]:
    log_pi = jax.nn.log_softmax(networks.actor.network(samples.x))
    entropy = -jnp.sum(jnp.exp(log_pi) * log_pi, -1)
    return {
        "critic_loss": _error(networks.critics[0].online.network, samples, goal),
        "entropy": mean(entropy, samples.weight),
    }


def _of_bonus(networks: Any, config: Any, samples: Samples) -> dict[str, jax.Array]:
    if not config.with_bonus:
        return {}
    bonus, _ = config.bonus.of(networks.bonus, samples)
    return {"bonus": mean(bonus, samples.weight)}


def _error(network: Any, samples: Samples, goal: jax.Array) -> jax.Array:
    return mean((pick(network(samples.x), samples.action) - goal) ** 2, samples.weight)
