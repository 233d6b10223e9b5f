"""Any finite MDP as pure JAX functions: `reset`, `step`, and the exact score of a deterministic
policy.

A `Model` holds the transitions as tables padded to the largest number K of successors; everything
is an array, so a model can be passed to a compiled function and mapped over. The score of a policy
is its expected undiscounted sum of rewards within `horizon` steps, by backward induction:

    v_0 = 0
    v_{k+1}(s) = sum_s' p(s'|s, pi(s)) (r(s, pi(s), s') + v_k(s'))
    score = p_0 . v_horizon

Discounted values of many policies at once come from as many backups as it takes for gamma^k to
vanish in 32 bits.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde.mdp.finite import FiniteMDP

# enough for gamma up to 0.999; without a discount, values that settle later are cut
MOST_BACKUPS = 20_000


class Model(NamedTuple):
    """The tables of a finite MDP.

    successor [S, A, K], probability [S, A, K], cumulative [S, A, K] (of the probabilities, 1 from
    the last successor on), reward [S, A, K], p0 [S], cumulative_p0 [S], is_terminal [S], horizon
    [].
    """

    successor: jax.Array
    probability: jax.Array
    cumulative: jax.Array
    reward: jax.Array
    p0: jax.Array
    cumulative_p0: jax.Array
    is_terminal: jax.Array
    horizon: jax.Array


class EnvState(NamedTuple):
    """Where an episode stands: the state's index and the steps taken."""

    s: jax.Array
    elapsed: jax.Array


def make_model(mdp: FiniteMDP, horizon: int) -> Model:
    """The tables of `mdp`, in 32 bits."""
    counts = np.diff(mdp.P.indptr)[:, None]
    places = np.arange(max(int(counts.max()), 1))
    is_entry = places < counts  # [S A, K], in P's order
    # a terminal state stays where it is and pays nothing; padding repeats no probability
    successor = np.arange(len(counts))[:, None] // mdp.n_actions + np.zeros_like(places)
    probability, reward = np.zeros(is_entry.shape), np.zeros(is_entry.shape)
    successor[is_entry], probability[is_entry], reward[is_entry] = (
        mdp.P.indices,
        mdp.P.data,
        mdp.r_next,
    )
    cumulative = np.cumsum(probability, axis=1)
    cumulative[places >= counts - 1] = 1.0
    cumulative_p0 = np.cumsum(mdp.p0)
    cumulative_p0[np.flatnonzero(mdp.p0)[-1] :] = 1.0
    shape = (mdp.n_states, mdp.n_actions, len(places))
    return Model(
        successor=jnp.asarray(successor.reshape(shape), jnp.int32),
        probability=jnp.asarray(probability.reshape(shape), jnp.float32),
        cumulative=jnp.asarray(cumulative.reshape(shape), jnp.float32),
        reward=jnp.asarray(reward.reshape(shape), jnp.float32),
        p0=jnp.asarray(mdp.p0, jnp.float32),
        cumulative_p0=jnp.asarray(cumulative_p0, jnp.float32),
        is_terminal=jnp.asarray(mdp.is_terminal),
        horizon=jnp.asarray(horizon, jnp.int32),
    )


def reset(model: Model, key: jax.Array) -> EnvState:
    """A start drawn from p0."""
    s = jnp.searchsorted(
        model.cumulative_p0, jax.random.uniform(key), side="right", method="compare_all"
    )
    return EnvState(s.astype(jnp.int32), jnp.zeros((), jnp.int32))


def step(
    model: Model, state: EnvState, action: jax.Array, key: jax.Array
) -> tuple[EnvState, jax.Array, jax.Array, jax.Array]:
    """One transition, as Gymnasium has it: the state after it, the reward, and whether the episode
    was terminated by the model or truncated by the horizon.
    """
    is_random = model.cumulative.shape[-1] > 1
    entry = (
        jnp.sum(jax.random.uniform(key) >= model.cumulative[state.s, action]) if is_random else 0
    )
    after = EnvState(model.successor[state.s, action, entry], state.elapsed + 1)
    terminated = model.is_terminal[after.s]
    truncated = ~terminated & (after.elapsed >= model.horizon)
    return after, model.reward[state.s, action, entry], terminated, truncated


@jax.jit
def exact_score(model: Model, actions: jax.Array) -> jax.Array:
    """The expected score [...] of the deterministic policies `actions` [..., S]."""
    states = jnp.arange(len(model.p0))
    successor, probability = model.successor[states, actions], model.probability[states, actions]
    r = jnp.sum(probability * model.reward[states, actions], axis=-1)

    def backward(_: int, v: jax.Array) -> jax.Array:
        return r + jnp.sum(
            probability * jnp.take_along_axis(v[..., None], successor, axis=-2), axis=-1
        )

    return jax.lax.fori_loop(0, model.horizon, backward, jnp.zeros_like(r)) @ model.p0


def optimal_score(model: Model) -> jax.Array:
    """The best score that any policy reaches within the horizon, time-dependent ones included."""

    def backward(_: int, v: jax.Array) -> jax.Array:
        return jnp.max(
            jnp.sum(model.probability * (model.reward + v[model.successor]), axis=-1), axis=-1
        )

    return jax.lax.fori_loop(0, model.horizon, backward, jnp.zeros(len(model.p0))) @ model.p0


@jax.jit
def policy_q(model: Model, pi: jax.Array, gamma: jax.Array | float) -> jax.Array:
    """The discounted q [..., S, A] of the policies `pi` [..., S, A]."""
    return _discounted_q(model, gamma, jnp.zeros_like(pi), lambda q: jnp.sum(pi * q, axis=-1))


@jax.jit
def optimal_q(model: Model, gamma: jax.Array | float) -> jax.Array:
    """The discounted optimal q [S, A]."""
    return _discounted_q(
        model, gamma, jnp.zeros_like(model.reward[..., 0]), lambda q: jnp.max(q, axis=-1)
    )


def _discounted_q(
    model: Model, gamma: jax.Array | float, q: jax.Array, value: Callable[[jax.Array], jax.Array]
) -> jax.Array:
    r = jnp.sum(model.probability * model.reward, axis=-1)

    def backward(_: jax.Array, q: jax.Array) -> jax.Array:
        return r + gamma * jnp.sum(
            model.probability * jnp.take(value(q), model.successor, axis=-1), axis=-1
        )

    needed = jnp.where(jnp.asarray(gamma) < 1.0, jnp.log(1e-8) / jnp.log(gamma), MOST_BACKUPS)
    n_backups = jnp.clip(jnp.ceil(needed), 1, MOST_BACKUPS).astype(jnp.int32)
    return jax.lax.fori_loop(0, n_backups, backward, q)


@jax.jit
def rollout(model: Model, actions: jax.Array, key: jax.Array) -> jax.Array:
    """The score of one episode of the deterministic policy `actions` [S], sampled."""
    start_key, key = jax.random.split(key)

    def advance(
        episode: tuple[EnvState, jax.Array, jax.Array, jax.Array],
    ) -> tuple[EnvState, jax.Array, jax.Array, jax.Array]:
        state, score, _, key = episode
        step_key, key = jax.random.split(key)
        after, reward, terminated, truncated = step(model, state, actions[state.s], step_key)
        return after, score + reward, terminated | truncated, key

    start = (reset(model, start_key), jnp.zeros(()), model.horizon <= 0, key)
    return jax.lax.while_loop(lambda episode: ~episode[2], advance, start)[1]
