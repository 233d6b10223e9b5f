"""The compiled training loop: environment, agent and records in one function, for a batch of runs.

All runs of a batch advance together, one environment step each, until every one has had its
episodes. After every `every`-th episode a run records the agent's policy and critic in all states:
exact and sampled scores, and everything else that one may ask (entropy, gaps, critic error), come
from those. What is compiled is kept on disk between processes.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jekyllhyde.agent import Progress
from jekyllhyde.deep import networks
from jekyllhyde.deep.configurations import ALGORITHMS
from jekyllhyde.envs.functional import EnvState, Model, exact_score, reset, rollout, step

EVALUATION_EPISODES = 10
SEGMENTS = 20  # how often a long call reports its progress


class Inputs(NamedTuple):
    """What tells the runs of a batch apart, every leaf with a first axis of runs: problem, random
    key, settings.
    """

    models: Model
    keys: jax.Array
    configs: Any


class Records(NamedTuple):
    """What a run writes down at its evaluations.

    pi, q [E, S, A]; step [E] environment steps so far; arrivals [E, 2, S] how often each
    personality has entered each state; taken [E, S, A] how often each action was taken there.
    """

    pi: jax.Array
    q: jax.Array
    step: jax.Array
    arrivals: jax.Array
    taken: jax.Array


class Carry(NamedTuple):
    """The runs in flight, every leaf with a first axis of runs; `final` are the networks after the
    last episode asked for.
    """

    agent: Any
    env: EnvState
    key: jax.Array
    arrivals: jax.Array
    taken: jax.Array
    records: Records
    final: Any


class Programs(NamedTuple):
    """The compiled loop for one batch.

    start(models, keys, configs) -> carry; run(models, carry, configs, until) -> carry;
    score(models, pi, keys) of all runs.
    """

    start: Any
    run: Any
    score: Any


def compile_loop(inputs: Inputs, agent: str, n_evaluations: int, every: int) -> Programs:
    """Compile the loop for `inputs`, or for one run of them on a CPU; also from a thread of its
    own, beside others.
    """
    first: Inputs = jax.tree.map(lambda leaf: leaf[_groups(inputs)[0]], inputs)
    carry = jax.eval_shape(partial(_start, agent=agent, n_evaluations=n_evaluations), *first)
    pi = jnp.zeros((*inputs.keys.shape, *carry.records.pi.shape[1:]))
    lowered = (
        _start.lower(*first, agent, n_evaluations),
        _run.lower(first.models, carry, first.configs, jnp.int32(0), agent, every),
        _scores.lower(inputs.models, pi, inputs.keys),
    )
    return Programs(*(each.compile() for each in lowered))


def run_all(
    programs: Programs,
    inputs: Inputs,
    n_evaluations: int,
    every: int,
    progress: Progress | None = None,
) -> tuple[Records, jax.Array, jax.Array, Any]:
    """The records, exact and sampled scores [runs, E] and final networks of all runs, first axis
    runs.

    A GPU takes them as one batch. A CPU gains nothing from batching small matrices: there the runs
    are spread over threads, and none depends, to the last bit, on how many others there are.
    """
    n_segments = 1 if progress is None else min(SEGMENTS, n_evaluations)
    ends = [n_evaluations * every * i // n_segments for i in range(n_segments + 1)]

    def run_group(runs: slice) -> tuple[Records, Any]:
        own: Inputs = jax.tree.map(lambda leaf: leaf[runs], inputs)
        carry = programs.start(*own)
        for before, until in pairwise(ends):
            carry = programs.run(own.models, carry, own.configs, jnp.int32(until))
            carry.agent.t.block_until_ready()
            if progress is not None:
                progress((until - before) * len(own.keys))
        return carry.records, carry.final

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(run_group, _groups(inputs)))
    records, final = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
    return records, *programs.score(inputs.models, records.pi, inputs.keys), final


def _groups(inputs: Inputs) -> list[slice]:
    # Which runs go together: each alone on a CPU, all of them elsewhere.
    on_cpu = all(device.platform == "cpu" for device in inputs.keys.devices())
    return [slice(i, i + 1) for i in range(len(inputs.keys))] if on_cpu else [slice(None)]


@partial(jax.jit, static_argnames=("agent", "n_evaluations"))
def _start(models: Model, keys: jax.Array, configs: Any, agent: str, n_evaluations: int) -> Carry:
    def start_run(model: Model, key: jax.Array, config: Any) -> Carry:
        S, A, _ = model.successor.shape
        agent_key, reset_key, key = jax.random.split(key, 3)
        state = ALGORITHMS[agent].init(agent_key, config, networks.Space(S, (), A))
        return Carry(
            agent=state,
            records=Records(
                pi=jnp.zeros((n_evaluations, S, A)),
                q=jnp.zeros((n_evaluations, S, A)),
                step=jnp.zeros(n_evaluations, jnp.int32),
                arrivals=jnp.zeros((n_evaluations, 2, S), jnp.int32),
                taken=jnp.zeros((n_evaluations, S, A), jnp.int32),
            ),
            env=reset(model, reset_key),
            key=key,
            arrivals=jnp.zeros((2, S), jnp.int32),
            taken=jnp.zeros((S, A), jnp.int32),
            final=state.networks,
        )

    return jax.vmap(start_run)(models, keys, configs)


@partial(jax.jit, static_argnames=("agent", "every"), donate_argnames="carry")
def _run(
    models: Model, carry: Carry, configs: Any, until: jax.Array, agent: str, every: int
) -> Carry:
    # Advance all runs until each has had `until` episodes.

    def body(carry: Carry) -> Carry:
        carry, ended = jax.vmap(partial(_step, ALGORITHMS[agent]))(models, carry, configs)
        due = ended & (carry.agent.episodes % every == 0)
        index = jnp.where(due, carry.agent.episodes // every - 1, carry.records.step.shape[1])
        # the condition is on the batch as a whole, and nothing large goes through it: the steps
        # between cost nothing
        records, final, scores = jax.lax.cond(
            jnp.any(due),
            partial(_record, models, carry, index),
            lambda *kept: kept,
            carry.records,
            carry.final,
            carry.agent.scores,
        )
        told = replace(carry.agent, scores=scores)
        return carry._replace(records=records, final=final, agent=told)

    return jax.lax.while_loop(lambda c: jnp.any(c.agent.episodes < until), body, carry)


def _step(algorithm: Any, model: Model, carry: Carry, config: Any) -> tuple[Carry, jax.Array]:
    # One environment step of one run, and the update after it.
    key, step_key, reset_key = jax.random.split(carry.key, 3)
    action, agent_key = algorithm.act(carry.agent, config, carry.env.s)
    after, reward, terminated, truncated = step(model, carry.env, action, step_key)
    ended = terminated | truncated
    discount = 1.0 - terminated.astype(jnp.float32)
    return carry._replace(
        arrivals=carry.arrivals.at[carry.agent.hyde_acts.astype(jnp.int32), after.s].add(1),
        taken=carry.taken.at[carry.env.s, action].add(1),
        env=jax.tree.map(partial(jnp.where, ended), reset(model, reset_key), after),
        agent=algorithm.update(
            replace(carry.agent, key=agent_key),
            config,
            networks.Transition(carry.env.s, action, reward, after.s, discount),
            ended,
        ),
        key=key,
    ), ended


def _record(
    models: Model, carry: Carry, index: jax.Array, records: Records, final: Any, scores: Any
) -> tuple[Records, Any, Any]:
    # Write each run's record at its `index`; one that is out of range, as between evaluations,
    # writes nothing. The last one comes with the final networks. An agent that depends on its
    # scores is told the exact one.
    n_runs, n_evaluations, n_states, _ = records.pi.shape
    latest, is_last = carry.agent.networks, index == n_evaluations - 1
    pi, q = jax.vmap(lambda networks: networks.tables(jnp.arange(n_states)))(latest)
    if scores is not None:
        newest = jax.vmap(exact_score)(models, jnp.argmax(pi, -1)[:, None])
        moved = jnp.concatenate([scores[:, 1:], newest], axis=1)
        scores = networks.where_rows(index < n_evaluations, moved, scores)
    return (
        jax.tree.map(
            lambda record, value: record.at[jnp.arange(n_runs), index].set(value, mode="drop"),
            records,
            Records(pi, q, carry.agent.t, carry.arrivals, carry.taken),
        ),
        jax.tree.map(partial(networks.where_rows, is_last), latest, final),
        scores,
    )


@jax.jit
def _scores(models: Model, pi: jax.Array, keys: jax.Array) -> tuple[jax.Array, jax.Array]:
    # Exact and sampled scores [runs, E] of the greedy policies of `pi` [runs, E, S, A].

    def score_run(model: Model, actions: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        # 1 tells this stream from the training's, which splits the run's key
        streams = jax.random.split(
            jax.random.fold_in(key, 1), (actions.shape[0], EVALUATION_EPISODES)
        )
        episodes = jax.vmap(jax.vmap(partial(rollout, model), (None, 0)))(actions, streams)
        return exact_score(model, actions), jnp.mean(episodes, -1)

    return jax.vmap(score_run)(models, jnp.argmax(pi, -1), keys)
