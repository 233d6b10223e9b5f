"""Dr Jekyll and Mr Hyde with networks (Algorithm 4 of the paper).

Dr Jekyll exploits: an actor pi and a critic q. Mr Hyde explores: a Double DQN q~ on a novelty bonus
(RND in the paper). The numbers on the right are the lines of the listing:

    1-5     networks, empty buffers, Jekyll leads the first episode               init
    7       the personality in control acts, for the whole episode                act
    8, 9    its transition goes to F, and to Hyde's buffer where he acted         update
    10      at the end of an episode, Hyde leads the next with epsilon_t          Leader
    11-14   the batch: F, the last K transitions, and K of Hyde's                 update
    15, 16  Hyde    q~(s,a) <- bonus + gamma q~_target(s', argmax q~(s', .))      Hyde.learn
    17      critic  q(s,a)  <- r + gamma sum_a' pi(a'|s') q(s',a')                expected_sarsa
    18      actor   the expected update in each state, over all actions           learn_actor
    19      bonus   learns the batch (RND: its predictor moves to its target)     Hyde.learn

config="paper" is the listing; with `published` and `recommended` the K transitions of line 11 are
drawn from all that were seen. There is no o_t: a batch is half Hyde's, and F holds his too. Line 19
comes before 17, which does not read it. The actor's update is a rule of `actor_rules`; the paper's
is `paper`, and others can unlearn. Who explores (`explorers`) and who leads (`leaders`) are records
too: `hyde` and `scheduled` are the paper's. Settings are in `jekyll_hyde_settings`.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.deep.bonus import noted
from jekyllhyde.deep.critics import (
    ActorCritic,
    Bounds,
    Critic,
    Dueling,
    Sums,
    agreed,
    learn_critics,
)
from jekyllhyde.deep.jekyll_hyde_settings import CONFIGS, ELSEWHERE, Config
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.learning import Replay, State, chosen, counted
from jekyllhyde.deep.multistep import Ahead
from jekyllhyde.deep.networks import (
    Network,
    Samples,
    Space,
    Transition,
    among,
    blend,
    encode,
    mean,
    pick,
)
from jekyllhyde.deep.noise import noisy_greedy
from jekyllhyde.deep.priorities import Priorities
from jekyllhyde.deep.shared_start import shared

__all__ = [
    "CONFIGS",
    "ELSEWHERE",
    "Config",
    "Networks",
    "act",
    "expected_sarsa",
    "init",
    "learn",
    "update",
]


class Networks(ActorCritic):
    """Everything that is learned: Jekyll's networks, and Hyde's state."""

    explorer: Any
    played: Any = None  # the actor that plays, where he lags behind the one that learns

    @property
    def policy(self) -> Network:
        network: Network = self.actor.network if self.played is None else self.played
        return network


def init(key: jax.Array, config: Config, space: Space) -> State:
    """An agent before its first step: lines 1 to 5."""
    key, features_key, actor_key, *keys = jax.random.split(key, 5 + config.critics)
    space, features = space.embed(features_key, config)
    explorer = config.explorer.init((keys[0], keys[1]), config, space)
    example = noted(space.transition(), config.bonus, getattr(explorer, "bonus", None))
    example = replace(example, cut=jnp.asarray(False)) if config.cut_stays else example
    make = partial(Dueling.of, space) if config.dueling else space.network
    networks = Networks(
        features=features,
        actor=Learner.of(space.network(actor_key, config.hidden)),
        critics=tuple(
            Critic.of(make(k, config.hidden).scaled(config.first_values)) for k in keys[2:]
        ),
        explorer=explorer,
    )
    networks = shared(actor_key, networks) if config.shared_start else networks
    if config.normalized_actor:
        actor = replace(networks.actor.network, normalized=True)
        networks = replace(networks, actor=Learner.of(actor))
    if config.tau_actor != 1.0:
        networks = replace(networks, played=networks.actor.network)
    return State(
        key=key,
        networks=networks,
        everyone=Replay.empty(config.batch if config.fifo else config.capacity, example),
        hyde=Replay.empty(config.capacity, example),
        priorities=None
        if config.fifo or not config.prioritized
        else Priorities.empty(config.capacity),
        leader=config.leader.init(),
        noise=config.noise.init(space),
        sums=Sums.empty(config.lanes) if config.bounded else None,
    )


def act(
    state: State, config: Config, observation: Any, allowed: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """An action of the personality in control, uniform during the warm-up, and the next random
    key: line 7.
    """
    x = encode(state.networks.features, observation)
    hyde = config.explorer.logits(state.networks.explorer, config, x, allowed)
    jekyll = state.networks.policy(x)
    if config.greedy_stretch:
        is_greedy = (state.t // (config.greedy_stretch * config.lanes)) % 2 == 0
        jekyll = jnp.where(is_greedy, noisy_greedy(jekyll, 0.0, allowed), jekyll)
    logits = jnp.where(state.hyde_acts, config.noise.lasting(state.noise, hyde, allowed), jekyll)
    return state.draw_action(jnp.where(state.t < config.warmup, 0.0, logits), allowed)


def update(state: State, config: Config, transition: Transition, ended: jax.Array) -> State:
    """Store a transition, learn from one batch, and draw the next personality where the episode
    `ended`.
    """
    state = state.observed(transition)
    key, draw_key = jax.random.split(state.key)
    draws = jax.random.uniform(draw_key, (1 + 2 * config.batch,))
    draw, recent_draws, hyde_draws = draws[0], *jnp.split(draws[1:], 2)
    t, networks = counted(state.t), state.networks
    step = Samples.of(networks.features, transition, jnp.ones(()))
    seen = config.explorer.observe(networks.explorer, config, step, ended)
    networks = replace(networks, explorer=seen)
    transition = noted(transition, config.bonus, getattr(seen, "bonus", None))
    if config.cut_stays:
        transition = replace(transition, cut=ended & (transition.discount > 0.0))
    # with a warm-up, his replay takes what Jekyll saw too, until there is a batch of it
    warming = (config.warmup > 0) & (state.hyde.size < config.batch)
    everyone = state.everyone.add(transition)  # 9
    hyde = state.hyde.add(transition, state.hyde_acts | warming)  # 8
    recent, place, priorities = _recent(state, config, everyone, recent_draws)  # 11
    own = hyde.sample(hyde_draws, config.horizon)  # 12-14
    batch = jax.tree.map(lambda *halves: jnp.concatenate(halves), recent, own)
    samples = Samples.of(networks.features, *batch)
    sums = state.sums and state.sums.after(transition.reward, transition.discount)
    bounds = sums and sums.bounds(config.gamma, everyone, hyde)
    if priorities is not None:
        surprise = jnp.abs(td_error(networks, config, samples, bounds))
        priorities = priorities.learned(place, surprise[: config.batch])
    after = State(
        networks=chosen(t > config.warmup, learn(networks, config, samples, bounds), networks),
        everyone=everyone,
        hyde=hyde,
        key=key,
        t=t,
        episodes=counted(state.episodes, ended),
        hyde_acts=state.hyde_acts,
        priorities=priorities,
        leader=config.leader.observe(state, transition, ended),
        sums=sums,
    )
    hyde_acts = config.leader.hyde_next(after, config, draw, ended)  # 10
    epsilon, noise_key = config.hyde_noise * hyde_acts, jax.random.fold_in(draw_key, 1)
    noise = config.noise.observe(state.noise, noise_key, epsilon, transition.action, ended)
    return replace(after, hyde_acts=hyde_acts, noise=noise)


def _recent(
    state: State, config: Config, everyone: Replay, draws: jax.Array
) -> tuple[tuple[Transition, jax.Array], Any, Any]:
    # Jekyll's half of the batch, and where it comes from, if that is prioritized.
    if config.fifo:
        return everyone.everything(config.horizon), None, None
    if not config.prioritized:
        return everyone.sample(draws, config.horizon), None, None
    priorities = state.priorities.added(state.everyone.position)
    place, weight = priorities.draw(draws, everyone.size)
    return everyone.at(place, weight, config.horizon), place, priorities


def learn(
    networks: Networks, config: Config, samples: Samples, bounds: Bounds | None = None
) -> Networks:
    """One update of all networks: lines 15 to 19."""
    explorer = config.explorer.learn(networks.explorer, config, samples)  # 15, 16, 19
    goal = expected_sarsa(networks, config, samples, bounds)
    critics, values = learn_critics(networks.critics, samples, goal, config)  # 17
    if config.fresh_critic:
        values = [critic.online.network(samples.x) for critic in critics]
    opinions = values if config.votes else [agreed(values, config.pessimism)]
    actor = learn_actor(networks.actor, config, samples, *opinions)  # 18
    played = networks.played and blend(networks.played, actor.network, config.tau_actor)
    return replace(networks, actor=actor, critics=critics, explorer=explorer, played=played)


def expected_sarsa(
    networks: Networks, config: Config, samples: Samples, bounds: Bounds | None = None
) -> jax.Array:
    """The critics' goal [N], over all actions that the actor may take in s', whose value lies
    between the bounds; with n steps, a mean of what they and what one of them led to. Beyond the
    first step it was Hyde who acted, and his mistakes are not Jekyll's: an end that is worse than
    what one step promises counts as far as Jekyll would take the step into it.
    """
    if samples.ahead is not None:
        near = expected_sarsa(networks, config, replace(samples, ahead=None), bounds)
        far = expected_sarsa(networks, config, samples.far, bounds)
        far = jnp.where(far < near - config.tolerance * jnp.abs(near), near, far)
        share: Any = config.far_share
        if config.weigh_ends:
            is_bad_end = (samples.ahead.discount == 0.0) & (far < near)
            share *= jnp.where(is_bad_end, _chance_of_last(networks, samples.ahead), 1.0)
        return (1.0 - share) * near + share * far
    logits = samples.among_next(networks.actor.network(samples.x_next))
    following = [critic.target(samples.x_next) for critic in networks.critics]
    q = agreed(following, config.pessimism)
    v = jnp.sum(jax.nn.softmax(logits) * q, -1)
    v = v if bounds is None else jnp.clip(v, *bounds)
    return samples.reward + config.gamma * samples.discount * v


def _chance_of_last(networks: Networks, ahead: Ahead) -> jax.Array:
    # The probability [N] with which Jekyll takes the last of several steps.
    logits = among(ahead.allowed, networks.actor.network(ahead.before))
    return pick(jax.nn.softmax(logits), ahead.action)


def td_error(
    networks: Networks, config: Config, samples: Samples, bounds: Bounds | None = None
) -> jax.Array:
    """What the critics lack of their goal [N]."""
    q = agreed([each.online.network(samples.x) for each in networks.critics], config.pessimism)
    return expected_sarsa(networks, config, samples, bounds) - pick(q, samples.action)


def learn_actor(actor: Learner, config: Config, samples: Samples, *opinions: jax.Array) -> Learner:
    """One expected update in every state of the batch, by the rule that the configuration names,
    towards each of the critics' opinions q [N, A] alike.
    """
    chosen = config.actor_rule
    rule = ACTOR_RULES[chosen] if isinstance(chosen, str) else chosen

    def loss(network: Any) -> jax.Array:
        logits = samples.among(network(samples.x))
        losses = [rule(logits, samples.among(q), config.temperature) for q in opinions]
        return mean(jnp.mean(jnp.stack(losses), 0), samples.weight)

    gradient = jax.grad(loss)(actor.network)
    return actor.descend(gradient, config.eta, config.clip, config.adam_eps)
