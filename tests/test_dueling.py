"""Critics of a value and of what actions add to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.critics import Dueling, regress
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.networks import Network, Samples, Space, Transition
from jekyllhyde.errors import InputError

SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 90}
NUMBERS = Space(None, (6,), 4)


def forward(network: Network, x: np.ndarray) -> np.ndarray:
    """The forward pass, once more."""
    *hidden, (weight, bias) = zip(network.weights, network.biases, strict=True)
    for w, b in hidden:
        x = np.maximum(x @ np.asarray(w) + np.asarray(b), 0.0)
    return x @ np.asarray(weight) + np.asarray(bias)


def test_values_are_a_value_and_what_actions_add() -> None:
    x = np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32)
    q = Dueling.of(NUMBERS, jax.random.key(1), (16, 8))
    gain = forward(q.gain, x)
    expected = forward(q.value, x) + gain - gain.mean(1)[:, None]
    np.testing.assert_allclose(q(x), expected, atol=1e-5)
    assert q(x).shape == (9, 4)
    np.testing.assert_allclose(q.scaled(0.1)(x), 0.1 * expected, atol=1e-5)


def test_what_is_learned_of_a_value_leaves_actions_where_they_were() -> None:
    """A goal that is off by as much for every action moves the value, and all actions alike."""
    q = Learner.of(Dueling.of(NUMBERS, jax.random.key(0), (16,)))
    x = jax.random.normal(jax.random.key(1), (4, 6))
    of_each = [
        Transition(x, jnp.full(4, action), jnp.zeros(4), x, jnp.ones(4)) for action in range(4)
    ]
    batch = jax.tree.map(lambda *parts: jnp.concatenate(parts), *of_each)
    samples = Samples.of(None, batch, jnp.ones(16))
    before = np.asarray(q.network(x))
    goal = before.T.ravel() + 0.3
    config = deep.configure("jekyll_hyde", clip=1e9)
    for _ in range(30):
        q, _ = regress(q, samples, jnp.asarray(goal), 1e-2, config)
    moved = np.asarray(q.network(x)) - before
    np.testing.assert_allclose(moved, 0.3, atol=0.06)
    np.testing.assert_allclose(moved - moved.mean(1)[:, None], 0.0, atol=0.02)


def test_jekylls_critics_alone_are_dueling() -> None:
    config = deep.configure("jekyll_hyde", dueling=True, **SMALL)
    networks = jekyll_hyde.init(jax.random.key(0), config, NUMBERS).networks
    for critic in networks.critics:
        assert isinstance(critic.online.network, Dueling)
        assert isinstance(critic.target, Dueling)
        assert critic(jnp.ones((2, 6))).shape == (2, 4)
    assert isinstance(networks.actor.network, Network)
    assert isinstance(networks.explorer.q.online.network, Network)
    released = deep.configure("jekyll_hyde", "released", dueling=True, **SMALL)
    with pytest.raises(InputError, match="dueling is True, which shared_start"):
        jekyll_hyde.init(jax.random.key(0), released, NUMBERS)


def test_an_agent_with_them_is_saved_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("minigrid")

    def make() -> Any:
        return gym.make("minigrid:MiniGrid-Empty-5x5-v0")

    with pytest.warns(UserWarning, match="text, which is left out"):
        agent = deep.JekyllHyde(make(), seed=0, warmup=10, dueling=True, **SMALL)
    agent.learn(50).save(tmp_path / "agent")
    with pytest.warns(UserWarning, match="text, which is left out"):
        again = deep.JekyllHyde.load(tmp_path / "agent", make()).learn(30)
    assert again.settings == agent.settings
    agent.learn(30)
    assert (again.episodes.table == agent.episodes.table).all()
    for one, other in zip(jax.tree.leaves(again.state), jax.tree.leaves(agent.state), strict=True):
        assert (one == other).all()
    agent.export(tmp_path / "policy")
