"""Double DQN, alone or with a bonus added to the reward: the paper's baselines DDQN and DDQN+RND.

    q(s,a)  <-  r + weight * bonus + gamma q_target(s', argmax q(s', .))

The behaviour is greedy, but for a uniform action with probability epsilon_e, which falls with the
number of episodes e; such an action may last (`noise`). In the authors' release the step of q is
a hundredth while the policy is any good: see `falling_step`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.bonus import RND, noted
from jekyllhyde.deep.critics import Critic
from jekyllhyde.deep.learning import Replay, Settings, State, decreasing, update_from_replay
from jekyllhyde.deep.networks import (
    Samples,
    Space,
    Transition,
    among,
    encode,
    static,
)
from jekyllhyde.deep.noise import Noise, Single, noisy_greedy

EVALUATIONS, FALL = 10, 0.01  # the last ones, by which the step falls so far


class Config(Settings):
    """Settings of Double DQN."""

    eta_c: float = 1e-2  # step of q
    epsilon_1: float = 10.0  # scale of epsilon_e, in episodes
    bonus_weight: float = 1.0  # weight of the bonus in the reward
    noise: Noise = Single()  # how long random actions last: single, persistent, or "file.py:Mine"
    with_bonus: bool = static(False)  # add the bonus to the reward
    schedule: str = static("published")  # form of epsilon_e: paper or published
    n_steps: int = static(1)  # of the returns that q learns from
    timeout_terminates: bool = static(False)  # a time-out counts as an end
    # q's step is a hundredth while the mean of the last ten evaluations of `train` is above 0
    falling_step: bool = static(False)
    hidden: tuple[int, ...] = static((30, 10))  # widths of hidden layers


CONFIGS = {
    "published": Config(
        trained_embedding=True,
        timeout_terminates=True,
        bonus=RND(per_action=True, deep_target=True),
    ),
    "released": Config(
        trained_embedding=True,
        timeout_terminates=True,
        falling_step=True,
        bonus=RND(deep_target=True, xavier=False),
    ),
    "paper": Config(
        schedule="paper",
        epsilon_1=100.0,
        clip=jnp.inf,
        adam_eps=1e-8,
        bonus=RND(clip=jnp.inf, adam_eps=1e-8),
    ),
    # as wide as Jekyll; 30-10 with a step of 0.01 learns little on Four Rooms
    "recommended_0_3": Config(eta_c=1e-3, hidden=(64, 64)),
    "recommended": Config(eta_c=1e-3, hidden=(64, 64), one_hot=True),
}


class Networks(eqx.Module):
    """Everything that is learned, and what encodes observations (None where nothing does). `tables`
    has the greedy policy pi [S, A] and q [S, A] in all `observations`, whose actions may be
    restricted.
    """

    features: Any
    q: Any  # a critic, or an ensemble
    bonus: Any  # the bonus's state, where there is one

    def tables(
        self, observations: Any, allowed: jax.Array | None = None
    ) -> tuple[jax.Array, jax.Array]:
        q = self.q(encode(self.features, observations))
        return jax.nn.one_hot(jnp.argmax(among(allowed, q), -1), q.shape[-1]), q


def init(key: jax.Array, config: Config, space: Space) -> State:
    """An agent before its first step."""
    scores = jnp.full(EVALUATIONS, jnp.nan) if config.falling_step else None
    state = begin(key, config, space, _critic)
    return replace(state, noise=config.noise.init(space), scores=scores)


def _critic(key: jax.Array, config: Config, space: Space) -> Critic:
    return Critic.of(space.network(key, config.hidden, xavier=False))


def begin(key: jax.Array, config: Any, space: Space, make_q: Callable[..., Any]) -> State:
    """The state with networks and an empty replay; `make_q` has q of a key, settings and space."""
    key, features_key, q_key, bonus_key = jax.random.split(key, 4)
    space, features = space.embed(features_key, config)
    networks = Networks(
        features=features,
        q=make_q(q_key, config, space),
        bonus=config.bonus.init(bonus_key, space) if config.with_bonus else None,
    )
    example = noted(space.transition(), config.bonus, networks.bonus)
    return State(key=key, networks=networks, everyone=Replay.empty(config.capacity, example))


def act(
    state: State, config: Config, observation: Any, allowed: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Greedy, or uniform with probability epsilon_e."""
    q = state.networks.q(encode(state.networks.features, observation))
    epsilon = config.noise.share(decreasing(config, state.episodes))
    logits = noisy_greedy(q, epsilon, allowed)
    return state.draw_action(config.noise.lasting(state.noise, logits, allowed), allowed)


def update(state: State, config: Config, transition: Transition, ended: jax.Array) -> State:
    """Store a transition and learn from one batch, once there are enough."""
    if config.timeout_terminates:
        transition = replace(transition, discount=jnp.where(ended, 0.0, transition.discount))
    if state.scores is not None:
        is_good = jnp.nanmean(state.scores) > 0.0  # never before the first evaluation
        step: Any = config.eta_c * jnp.where(is_good, FALL, 1.0)
        config = replace(config, eta_c=step)
    after = update_from_replay(
        learn, state, config, transition, ended, lambda after: after.everyone.size >= config.batch
    )
    return replace(
        after,
        noise=config.noise.observe(
            state.noise,
            jax.random.fold_in(state.key, 2),  # 0 and 1 are its halves
            decreasing(config, after.episodes),
            transition.action,
            ended,
        ),
    )


def learn(networks: Networks, config: Any, samples: Samples) -> Networks:
    """One update of q, and of the bonus where there is one."""
    far = samples.far
    reward, bonus = far.reward, networks.bonus
    if config.with_bonus:
        novelty, bonus = config.bonus.of(bonus, samples)
        reward = reward + config.bonus_weight * novelty
        bonus = config.bonus.learn(bonus, samples)
    discount = config.gamma * far.discount
    goal = networks.q.double_dqn(far, reward, discount)
    q = networks.q.learn(far, goal, config.eta_c, config.tau, config)
    return replace(networks, q=q, bonus=bonus)
