"""Counts of bits: an action is as new as the rarest thing that is seen."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep.bits import Bits
from jekyllhyde.deep.networks import Samples, Space, Transition

SPACE = Space(None, (4,), 2)


def step_of(x: Any, action: int) -> Samples:
    return Samples.of(
        None, Transition(x, jnp.int32(action), jnp.zeros(()), x, jnp.ones(())), jnp.ones(())
    )


def test_against_a_count_by_hand() -> None:
    bonus, random = Bits(), np.random.default_rng(0)
    state = bonus.init(jax.random.key(0), SPACE)
    steps = [(random.integers(2, size=4), int(random.integers(2))) for _ in range(60)]
    for bits, action in steps:
        state = bonus.observe(state, step_of(jnp.asarray(bits, bool), action))
    for bits in np.array(list(np.ndindex(2, 2, 2, 2)), bool):
        counts = [
            min(
                (sum(a == action for b, a in steps if b[i]) for i in np.flatnonzero(bits)),
                default=0,
            )
            for action in range(2)
        ]
        x = jnp.asarray(bits)
        assert bonus.count(state, x).tolist() == counts
        unknown = [(1.0 + n) ** -2.0 for n in counts]
        assert bonus.unknown(state, x).tolist() == pytest.approx(unknown)
        batch = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), step_of(x, 1))
        paid, _ = bonus.of(state, batch)
        assert paid.tolist() == pytest.approx([max(counts[1], 1) ** -0.5] * 2)


def test_what_is_rare_stays_new_where_all_else_is_known() -> None:
    bonus = Bits()
    state = bonus.init(jax.random.key(0), SPACE)
    for _ in range(50):
        state = bonus.observe(state, step_of(jnp.array([True, True, False, False]), 0))
    assert float(bonus.unknown(state, jnp.array([True, False, False, False]))[0]) < 1e-3
    assert float(bonus.unknown(state, jnp.array([True, True, True, False]))[0]) == 1.0


@pytest.mark.parametrize("env", ["FrozenLake-v1", "CartPole-v1"])
def test_in_an_agent(env: str) -> None:
    small: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 90}
    agent = deep.JekyllHyde(env, seed=0, warmup=10, bonus="bits(decay=1.0)", **small).learn(60)
    n = agent.state.networks.explorer.bonus.n
    if env == "FrozenLake-v1":  # states by index are counted as they are
        assert n.shape == (gym.make(env).observation_space.n, 4)  # type: ignore[attr-defined]
        assert float(n.sum()) == 60
