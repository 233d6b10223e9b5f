"""Bootstrapped DQN: what heads learn from, who acts, and what all of them make of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import bootstrapped, ddqn
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.numpy_policy import Policy
from test_vector_envs import same, walks

SMALL: dict[str, Any] = {"hidden": (8,), "batch": 4, "capacity": 60, "heads": 3}
SPACE = Space(5, (), 2)


def state_of(**settings: Any) -> tuple[Any, Any]:
    config = deep.configure("bootstrapped_dqn", **{**SMALL, **settings})
    return config, bootstrapped.init(jax.random.key(1), config, SPACE)


def samples_of(place: list[int]) -> Samples:
    n = len(place)
    s, ones = jnp.arange(n) % 5, jnp.ones(n)
    batch = Transition(s, jnp.zeros(n, jnp.int32), ones, s, 0.0 * ones)
    return Samples.of(None, batch, ones, jnp.array(place))


def test_a_prior_scales_with_its_setting_and_never_moves() -> None:
    (config, small), (_, large) = state_of(prior_scale=1.0), state_of(prior_scale=4.0)
    heads = [state.networks.q.critics.online.network for state in (small, large)]
    x = jnp.arange(5)
    values = [jax.vmap(lambda network: network(x))(head.prior) for head in heads]
    assert np.asarray(values[1]) == pytest.approx(4.0 * np.asarray(values[0]), rel=1e-5)
    assert np.abs(values[0]).max() > 0.05
    whole = jax.vmap(lambda network: network(x))(heads[0])
    learned = jax.vmap(lambda network: network(x))(heads[0].learned)
    assert np.asarray(whole) == pytest.approx(np.asarray(values[0] + learned), abs=1e-6)
    networks = small.networks
    for _ in range(3):
        networks = ddqn.learn(networks, config, samples_of([0, 1, 2, 3]))
    after = networks.q.critics
    for prior in (after.online.network.prior, after.target.prior):
        assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), prior, heads[0].prior))
    assert (after.online.network.learned.weights[0] != heads[0].learned.weights[0]).any()
    assert (after.target.learned.weights[0] != heads[0].learned.weights[0]).any()


def test_what_belongs_to_a_head() -> None:
    config, state = state_of(share=0.3, capacity=4000)
    q, places = state.networks.q, jnp.arange(4000)
    belongs = np.asarray(q.belonging(places, config))
    assert belongs.shape == (3, 4000)
    assert belongs.mean(1) == pytest.approx(0.3, abs=0.03)
    both = (belongs[0] & belongs[1]).mean()
    assert both == pytest.approx(0.09, abs=0.02)  # heads have not the same ones
    assert (q.belonging(places[::7], config) == belongs[:, ::7]).all()  # once and for all
    everything = replace(config, share=1.0)
    assert np.asarray(q.belonging(places, everything)).all()


def test_heads_learn_from_their_own_alone() -> None:
    """A batch of what is not a head's leaves it as it is; else it learns Double DQN's goal."""
    config, state = state_of(tau=1.0)
    q = state.networks.q
    belongs = np.asarray(q.belonging(jnp.arange(60), config))
    place = int(np.flatnonzero(belongs.any(0) & ~belongs.all(0))[0])
    samples = samples_of([place])
    goal = q.double_dqn(samples, samples.reward, samples.discount)
    assert (goal == 1.0).all()
    learned = q.learn(samples, goal, 1e-2, config.tau, config)
    x = jnp.zeros(1, jnp.int32)
    before, after = (np.asarray(each.each(x))[:, 0, 0] for each in (q, learned))
    own = belongs[:, place]
    assert (after[~own] == before[~own]).all()
    assert (np.abs(1.0 - after[own]) < np.abs(1.0 - before[own])).all()


def test_goals_are_each_heads_own() -> None:
    _, state = state_of()
    q, samples = state.networks.q, samples_of([0, 1, 2, 3, 4])
    goals = np.asarray(q.double_dqn(samples, samples.reward, 0.5))
    for k in range(3):
        values = np.asarray(q.head(jnp.int32(k))(jnp.arange(5)))
        assert goals[k] == pytest.approx(1.0 + 0.5 * values.max(1), abs=1e-5)
    mean = np.asarray(q(jnp.arange(5)))
    assert mean == pytest.approx(np.asarray(q.each(jnp.arange(5))).mean(0), abs=1e-6)
    pi, shown = state.networks.tables(jnp.arange(5))
    assert (np.argmax(pi, 1) == np.argmax(mean, 1)).all()
    assert np.asarray(shown) == pytest.approx(mean, abs=1e-6)


def test_a_head_acts_for_an_episode() -> None:
    config, state = state_of(heads=8, prior_scale=10.0)
    act, update = jax.jit(bootstrapped.act), jax.jit(bootstrapped.update)
    values_of = jax.jit(lambda state: state.networks.q.each(jnp.arange(5)))
    none, zero = jnp.int32(0), jnp.zeros(())
    only, heads = jnp.array([False, True]), []
    for t in range(30):
        head = int(state.leader.head[0])
        s = jnp.int32(t % 5)
        assert int(act(state, config, s)[0]) == int(np.argmax(values_of(state)[head, t % 5]))
        assert int(act(state, config, s, only)[0]) == 1
        step = Transition(none, none, zero, none, zero)
        state = update(state, config, step, jnp.asarray(t % 3 == 2))
        heads.append(head)
    by_episode = np.array(heads).reshape(10, 3)
    assert (by_episode == by_episode[:, :1]).all()
    assert len(set(heads)) > 3


@pytest.mark.parametrize("first", [1, 37])
def test_lanes_have_heads_of_their_own_and_are_resumed(first: int, tmp_path: Path) -> None:
    whole = deep.BootstrappedDQN(walks(), **SMALL).learn(90)
    assert whole.settings.lanes == 3
    assert whole.state.leader.head.shape == (3,)
    deep.BootstrappedDQN(walks(), **SMALL).learn(first).save(tmp_path / "agent")
    loaded = deep.BootstrappedDQN.load(tmp_path / "agent", walks()).learn(90 - first)
    assert same(loaded, whole)
    wider = deep.BootstrappedDQN.load(tmp_path / "agent", walks(4))
    heads = deep.BootstrappedDQN.load(tmp_path / "agent").state.leader.head
    assert (wider.state.leader.head[:3] == heads).all()
    with pytest.warns(UserWarning, match="new episodes begin"):
        assert wider.learn(40).steps == first + 40


@pytest.mark.parametrize(
    ("env", "more"),
    [
        ("FrozenLake-v1", {}),
        ("FrozenLake-v1", {"trained_embedding": True}),
        ("FrozenLake-v1", {"one_hot": False}),
        ("CartPole-v1", {}),
        ("CartPole-v1", {"hidden": ()}),
    ],
)
def test_the_mean_of_all_heads_leaves_as_one_network(
    env: str, more: dict[str, Any], tmp_path: Path
) -> None:
    agent = deep.BootstrappedDQN(env, **{**SMALL, "hidden": (8, 4), **more}).learn(9)
    agent.export(tmp_path / "policy")
    space = gym.make(env).observation_space
    seen = np.array([space.sample() for _ in range(20)])
    scores = np.asarray(Policy(tmp_path / "policy").scores(seen, ()))
    assert scores == pytest.approx(np.asarray(agent.q(seen)), rel=1e-4, abs=1e-4)


def test_the_sea_is_dived_to_its_ground() -> None:
    """Which a uniform policy would take 2^8 episodes for, on average."""
    settings: dict[str, Any] = {"tau": 0.05, "adam_eps": 1e-5}
    result = deep.train(
        "deep_sea",
        "bootstrapped_dqn",
        n=8,
        seeds=2,
        episodes=160,
        every=20,
        hyperparameters=settings,
    )
    assert result.solved(0.02)[:, -1].all()
