"""An actor whose hidden units are standardized, so that what drifts switches none of them off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.networks import Space, make_network
from jekyllhyde.numpy_policy import Policy

INDICES, NUMBERS = Space(10, (), 2), Space(None, (4,), 2)
SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 90}


def by_hand(network: Any, x: Any) -> Any:
    x = np.asarray(x, np.float64)
    for i, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        if i:
            x = x - x.mean(-1, keepdims=True)
            x = np.maximum(x / np.sqrt(x.var(-1, keepdims=True) + 1e-6), 0.0)
        x = x @ np.asarray(weight, np.float64) + np.asarray(bias)
    return x


def test_the_forward_pass_against_numpy() -> None:
    network = replace(make_network(jax.random.key(0), (5, 8, 6, 3)), normalized=True)
    x = jax.random.normal(jax.random.key(1), (7, 5))
    assert np.asarray(network(x)) == pytest.approx(by_hand(network, x), abs=1e-4)
    assert np.asarray(network(x[0])) == pytest.approx(by_hand(network, x)[0], abs=1e-4)


def test_a_drift_of_all_biases_switches_nothing_off() -> None:
    plain = make_network(jax.random.key(0), (50, 16, 16, 2))
    sunk = replace(plain, biases=tuple(bias - 5.0 for bias in plain.biases))
    states = jnp.arange(50)
    assert np.ptp(np.asarray(sunk(states)), axis=0).max() == 0.0  # the same in every state
    afloat = replace(sunk, normalized=True)
    before = replace(plain, normalized=True)(states)
    assert np.asarray(afloat(states) + 5.0) == pytest.approx(np.asarray(before), abs=1e-3)


def test_the_defaults_actor_is_normalized_where_states_are_known_by_an_index() -> None:
    for space, expected in ((INDICES, True), (NUMBERS, False)):
        config = deep.configure("jekyll_hyde", space=space, **SMALL)
        networks = jekyll_hyde.init(jax.random.key(0), config, space).networks
        played = (networks.actor.network, networks.policy)
        assert [network.normalized for network in played] == [expected] * 2
        others = [networks.explorer.q.online.network]
        others += [critic.online.network for critic in networks.critics]
        assert not any(network.normalized for network in others)
    for name in ("published", "released", "paper", "recommended_0_3"):
        assert not deep.configure("jekyll_hyde", name).normalized_actor


@pytest.mark.parametrize("task", ["FrozenLake-v1", "CartPole-v1"])
def test_an_agent_is_saved_goes_on_and_leaves(task: str, tmp_path: Path) -> None:
    one = deep.JekyllHyde(task, seed=1, normalized_actor=True, warmup=8, **SMALL).learn(60)
    one.save(tmp_path / "agent")
    two = deep.JekyllHyde.load(tmp_path / "agent", task)
    seen: Any = np.arange(16) if "Lake" in task else np.eye(4, dtype=np.float32)
    one.learn(30)
    two.learn(30)
    probabilities = np.array([one.probabilities(x) for x in seen])
    assert np.array_equal(probabilities, [two.probabilities(x) for x in seen])
    one.export(tmp_path / "policy")
    policy = Policy(tmp_path / "policy")
    scores = np.array([policy.scores(x) for x in seen])
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert shares == pytest.approx(probabilities, abs=1e-4)
