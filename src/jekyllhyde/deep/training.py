"""Whole training runs in one compiled call: environment, agent and records, for many seeds and settings at once.

All runs advance together, one environment step each, until every one has had its episodes; a run's numbers do not depend on the
others in the batch. After every `every`-th episode a run records Jekyll's policy and critic in all states, from which come the
exact score of the greedy policy, the sampled one, and everything else that one may ask (entropy, gaps, critic error).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from jekyllhyde.deep.agents import AGENTS, Agent, configure
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.replay import Transition
from jekyllhyde.envs.functional import EnvState, Model, exact_score, make_model, optimal_score, reset, rollout, step
from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP

HORIZONS = {"four_rooms": 90}
HORIZON = 100
EVALUATION_EPISODES = 10
SEGMENTS = 20  # how often a long call reports its progress


class Records(NamedTuple):
    """What a run writes down at its evaluations.

    pi, q [E, S, A]; step [E] environment steps so far; arrivals [E, 2, S] how often each personality has entered each state.
    """

    pi: Array
    q: Array
    step: Array
    arrivals: Array


class Carry(NamedTuple):
    """The runs in flight, every leaf with a first axis of runs; `final` are the networks after the last episode asked for."""

    agent: Any
    env: EnvState
    key: Array
    arrivals: Array
    records: Records
    final: Any


@dataclass(frozen=True)
class TrainResult:
    """Learning curves of several seeds.

    episode [E]; score [seeds, E] mean of ten sampled greedy episodes; exact_score [seeds, E] expected score of the greedy policy;
    optimum the best score; step [seeds, E] environment steps; pi, q [seeds, E, S, A] Jekyll's policy and critic;
    arrivals [seeds, E, 2, S] entries into each state by Jekyll and by Hyde; networks: the final ones, first axis seeds.
    """

    episode: NDArray[np.int64]
    score: NDArray[np.float64]
    exact_score: NDArray[np.float64]
    optimum: float
    step: NDArray[np.int64]
    pi: NDArray[np.float32]
    q: NDArray[np.float32]
    arrivals: NDArray[np.int32]
    networks: Any
    agent: str
    config: Any
    mdp: FiniteMDP
    device: str


def train(
    env: str = "four_rooms",
    agent: str = "jekyll_hyde",
    *,
    seeds: int = 10,
    episodes: int = 500,
    config: Any = "recommended",
    seed: int = 0,
    every: int = 10,
    device: str | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    progress: Callable[[float], None] | None = None,
    **domain: Any,
) -> TrainResult:
    """Train `agent` on a domain with several seeds at once.

    Parameters
    ----------
    env : four_rooms, chain, garnet or deep_sea; `domain` goes to its maker (`level`, `size`, `slip`, `n_states`, ...).
    agent : jekyll_hyde, ddqn, ddqn_rnd, sac or sac_rnd.
    seeds, episodes : how many runs, and training episodes per run.
    config : "published", "paper", "recommended", or a Config of the agent; `hyperparameters` replace some of its values.
    seed : the root seed; run i depends on (seed, i) alone.
    every : training episodes between two evaluations.
    device : "cpu" or "gpu"; JAX's default otherwise.
    progress : called with the share of the episodes done.
    """
    return sweep(
        env, agent, [hyperparameters or {}], seeds=seeds, episodes=episodes, config=config, seed=seed, every=every,
        device=device, progress=progress, **domain,
    )[0]  # fmt: skip


def sweep(
    env: str,
    agent: str,
    settings: Sequence[Mapping[str, Any]],
    *,
    seeds: int = 10,
    episodes: int = 500,
    config: Any = "recommended",
    seed: int = 0,
    every: int = 10,
    device: str | None = None,
    progress: Callable[[float], None] | None = None,
    **domain: Any,
) -> list[TrainResult]:
    """`train` for each of `settings` (which may differ in numbers such as eta, not in names or sizes), in one compiled call."""
    seeds, every = check_count(seeds, "seeds", 1), check_count(every, "every", 1)
    n_evaluations = check_count(episodes, "episodes", every) // every
    mdp = DOMAINS[check_choice(env, "env", DOMAINS)](**domain)
    configs = [configure(agent, config, level=domain.get("level", 1), **{"gamma": mdp.gamma, **each}) for each in settings]
    if len({jax.tree.structure(each) for each in configs}) != 1:
        raise InputError("the settings of a sweep differ in a name or a size; they may differ in numbers such as eta only")
    with jax.default_device(find_device(device)) as _:
        model = make_model(mdp, HORIZONS.get(env, HORIZON))
        runs = [jax.random.fold_in(jax.random.key(check_count(seed, "seed", 0)), i) for i in range(seeds)]
        keys = jnp.stack(runs * len(configs))
        stacked = jax.tree.map(lambda *leaves: jnp.repeat(jnp.asarray(leaves, jnp.float32), seeds), *configs)
        carry = _advance(model, keys, stacked, agent, n_evaluations, every, progress)
        scores = _scores(model, carry.records.pi, keys)
        optimum = float(optimal_score(model))
    parts = jax.tree.map(np.asarray, (carry.records, *scores, carry.final))
    return [
        _result(jax.tree.map(lambda leaf, i=i: leaf[i * seeds : (i + 1) * seeds], parts), optimum, every, agent, each, mdp)
        for i, each in enumerate(configs)
    ]


def _result(parts: Any, optimum: float, every: int, agent: str, config: Any, mdp: FiniteMDP) -> TrainResult:
    records, exact, sampled, final = parts
    return TrainResult(
        episode=every * np.arange(1, records.step.shape[1] + 1),
        score=sampled.astype(np.float64),
        exact_score=exact.astype(np.float64),
        optimum=optimum,
        step=records.step.astype(np.int64),
        pi=records.pi,
        q=records.q,
        arrivals=records.arrivals,
        networks=final,
        agent=agent,
        config=config,
        mdp=mdp,
        device=str(jax.devices()[0].platform),
    )


def find_device(name: str | None) -> Any:
    """The device of that name, or JAX's first one."""
    if name is None:
        return jax.devices()[0]
    check_choice(name, "device", ("cpu", "gpu"))
    try:
        return jax.devices(name)[0]
    except RuntimeError:
        raise InputError(f"device is {name!r}; JAX finds no such device here, only {jax.default_backend()}") from None


def _advance(
    model: Model, keys: Array, configs: Any, agent: str, n_evaluations: int, every: int, progress: Callable[[float], None] | None
) -> Carry:
    """All runs from their first step to their last record, in segments if someone wants to know how far they are."""
    carry = _start(model, keys, configs, agent, n_evaluations)
    n_segments = 1 if progress is None else min(SEGMENTS, n_evaluations)
    for segment in range(1, n_segments + 1):
        until = n_evaluations * every * segment // n_segments
        carry = _run(model, carry, configs, jnp.asarray(until), agent, every)
        if progress is not None:
            carry.agent.t.block_until_ready()
            progress(segment / n_segments)
    return carry


@partial(jax.jit, static_argnames=("agent", "n_evaluations"))
def _start(model: Model, keys: Array, configs: Any, agent: str, n_evaluations: int) -> Carry:
    space = Space(model.n_states, 1, model.n_actions)
    S, A = model.n_states, model.n_actions

    def one(key: Array, config: Any) -> Carry:
        agent_key, reset_key, key = jax.random.split(key, 3)
        state = AGENTS[agent].init(agent_key, config, space)
        records = Records(
            pi=jnp.zeros((n_evaluations, S, A)),
            q=jnp.zeros((n_evaluations, S, A)),
            step=jnp.zeros(n_evaluations, jnp.int32),
            arrivals=jnp.zeros((n_evaluations, 2, S), jnp.int32),
        )
        return Carry(state, reset(model, reset_key), key, jnp.zeros((2, S), jnp.int32), records, state.networks)

    return jax.vmap(one)(keys, configs)


@partial(jax.jit, static_argnames=("agent", "every"), donate_argnames="carry")
def _run(model: Model, carry: Carry, configs: Any, until: Array, agent: str, every: int) -> Carry:
    """Advance all runs until each has had `until` episodes."""

    def body(carry: Carry) -> Carry:
        carry, ended = jax.vmap(partial(_step, model, AGENTS[agent]))(carry, configs)
        due = ended & (carry.agent.episodes % every == 0)
        # the condition is on the batch as a whole, and nothing large goes through it: the steps between cost nothing
        record = partial(_record, model, AGENTS[agent], carry.agent.networks, configs)
        progress = (carry.agent.t, carry.arrivals)
        index = jnp.where(due, carry.agent.episodes // every - 1, carry.records.step.shape[1])
        records, final = jax.lax.cond(
            jnp.any(due), record, lambda records, final, *_: (records, final), carry.records, carry.final, index, *progress
        )
        return carry._replace(records=records, final=final)

    return jax.lax.while_loop(lambda c: jnp.any(c.agent.episodes < until), body, carry)


def _step(model: Model, agent: Agent, carry: Carry, config: Any) -> tuple[Carry, Array]:
    """One environment step of one run, and the update after it."""
    key, step_key, reset_key = jax.random.split(carry.key, 3)
    action, state = agent.act(carry.agent, config, carry.env.s)
    after, outcome = step(model, carry.env, action, step_key)
    ended = outcome.terminated | outcome.truncated
    discount = 1.0 - outcome.terminated.astype(jnp.float32)
    arrivals = carry.arrivals.at[state.personality, after.s].add(1)
    state = agent.update(state, config, Transition(carry.env.s, action, outcome.reward, after.s, discount), ended)
    env: EnvState = jax.tree.map(lambda new, old: jnp.where(ended, new, old), reset(model, reset_key), after)
    return carry._replace(agent=state, env=env, key=key, arrivals=arrivals), ended


def _record(
    model: Model, agent: Agent, networks: Any, configs: Any, records: Records, final: Any, index: Array, t: Array, arrivals: Array
) -> tuple[Records, Any]:
    """Write each run's record at its `index`; one that is out of range, as between evaluations, writes nothing."""
    n_runs, n_evaluations = records.step.shape
    pi, q = jax.vmap(lambda n, config: agent.tables(n, config, jnp.arange(model.n_states)))(networks, configs)
    values, runs, last = Records(pi, q, t, arrivals), jnp.arange(n_runs), index == n_evaluations - 1

    def keep_last(new: Array, old: Array) -> Array:
        return jnp.where(last.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    written = jax.tree.map(lambda record, value: record.at[runs, index].set(value, mode="drop"), records, values)
    return written, jax.tree.map(keep_last, networks, final)


@jax.jit
def _scores(model: Model, pi: Array, keys: Array) -> tuple[Array, Array]:
    """Exact and sampled scores [runs, E] of the greedy policies of `pi` [runs, E, S, A]."""
    actions = jnp.argmax(pi, -1)

    def sampled(key: Array, policies: Array) -> Array:
        # 1 tells this stream from the training's, which splits the run's key
        streams = jax.random.split(jax.random.fold_in(key, 1), (policies.shape[0], EVALUATION_EPISODES))
        episode = jax.vmap(jax.vmap(partial(rollout, model), (None, 0)))
        return jnp.mean(episode(policies, streams), -1)

    return exact_score(model, actions), jax.vmap(sampled)(keys, actions)
