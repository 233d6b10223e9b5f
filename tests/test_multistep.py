"""Returns of several steps, against sums by hand."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep.learning import Replay
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.errors import InputError

GAMMA = 0.9
# observation, reward, where it led, discount; two episodes: one terminates, one is cut
ROWS = [(0, 1.0, 1, 1.0), (1, 2.0, 2, 1.0), (2, 4.0, 3, 0.0), (5, 8.0, 6, 1.0), (6, 16.0, 7, 1.0)]


def ring(capacity: int, rows: list[tuple[int, float, int, float]]) -> Replay:
    replay = Replay.empty(capacity, Space(10, (), 2).transition())
    for before, reward, after, discount in rows:
        numbers = (jnp.float32(x) for x in (reward, discount))
        value, left = numbers
        step = Transition(jnp.int32(before), jnp.int32(0), value, jnp.int32(after), left)
        replay = replay.add(step)
    return replay


def by_hand(rows: list[tuple[int, float, int, float]], i: int, n: int) -> tuple[float, int, float]:
    total, factor, place, discount = 0.0, 1.0, rows[i][0], 1.0
    for k, (before, reward, after, left) in enumerate(rows[i : i + n]):
        if discount == 0 or before != place:
            break
        total, place, discount = total + factor * reward, after, GAMMA**k * left
        factor *= GAMMA
    return total, place, discount


@pytest.mark.parametrize("n", [2, 3, 9])
@pytest.mark.parametrize("capacity", [5, 8])
def test_sums_by_hand(n: int, capacity: int) -> None:
    uniform = (jnp.arange(5) + 0.5) / 5
    batch, weight = ring(capacity, ROWS).sample(uniform, n, GAMMA)
    assert weight.tolist() == [1.0] * 5
    for i in range(5):
        total, place, discount = by_hand(ROWS, i, n)
        assert batch.ahead.reward[i] == pytest.approx(total)
        assert batch.ahead.following[i] == place
        assert batch.ahead.discount[i] == pytest.approx(discount)


def test_the_newest_is_not_followed_by_the_oldest() -> None:
    """A ring that was written over: the place behind the newest holds the oldest, which starts
    where the newest led."""
    rows = [(7, 1.0, 8, 1.0), (8, 2.0, 9, 1.0), (9, 4.0, 7, 1.0)]
    batch, _ = ring(3, [(0, 0.0, 0, 1.0), *rows]).sample((jnp.arange(3) + 0.5) / 3, 3, GAMMA)
    newest = int(np.argmax(batch.reward))
    assert batch.reward[newest] == batch.ahead.reward[newest] == 4.0


def test_far_samples_keep_what_was_taken() -> None:
    batch, weight = ring(8, ROWS).sample(jnp.array([0.1]), 3, GAMMA)
    near = Samples.of(jnp.arange(10.0)[:, None], batch, weight)
    far = near.far
    assert (near.x_next.item(), far.x_next.item()) == (1.0, 3.0)
    assert (near.reward.item(), far.reward.item()) == (1.0, pytest.approx(1 + 1.8 + 3.24))
    assert far.x is near.x
    assert near.far.far is not None
    single, _ = ring(8, ROWS).sample(jnp.array([0.1]))
    alone = Samples.of(None, single, weight)
    assert alone.far is alone


SMALL: dict[str, Any] = {"hidden": (16,), "batch": 16, "capacity": 500}


HYDE: dict[str, Any] = {"hidden_hyde": (8,), "warmup": 5}


@pytest.mark.parametrize(("kind", "more"), [(deep.DoubleDQN, {}), (deep.JekyllHyde, HYDE)])
def test_agents_learn_from_several_steps(kind: Any, more: dict[str, Any]) -> None:
    agents = [kind("CliffWalking-v1", n_steps=n, **SMALL, **more).learn(60) for n in (1, 3)]
    states = np.arange(48)
    assert not np.array_equal(agents[0].q(states), agents[1].q(states))
    assert "n_steps=3" in repr(agents[1].settings)
    leaves = [str(jax.tree.structure(agent.state)) for agent in agents]
    assert leaves[0] == leaves[1]  # they are stored alike


def test_what_returns_of_several_steps_do_not_take() -> None:
    with pytest.raises(InputError, match="takes one environment, not a vector of 2"):
        deep.DoubleDQN(gym.make_vec("CartPole-v1", 2, "sync"), n_steps=3)
    with pytest.raises(InputError, match="fifo"):
        deep.JekyllHyde("FrozenLake-v1", config="paper", n_steps=3)
    with pytest.raises(InputError, match="n_steps is 0"):
        deep.DoubleDQN(n_steps=0)
