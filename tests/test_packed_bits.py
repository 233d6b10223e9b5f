"""Observations of bits alone are stored eight to a byte, and come back as they were."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from jekyllhyde import deep
from jekyllhyde.deep.learning import Replay
from jekyllhyde.deep.multistep import Horizon
from jekyllhyde.deep.networks import Transition
from jekyllhyde.deep.replay_files import transitions
from jekyllhyde.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:the observation")  # the mission is text
SEEN = 7 * 7 * 21 + 4  # bits of a view
SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 64}


def rooms() -> Any:
    """MiniGrid's, where views are bits alone."""
    pytest.importorskip("minigrid")
    return gym.make("minigrid:MiniGrid-Empty-5x5-v0")


def steps(bits: int, count: int) -> list[Transition]:
    seen = np.random.default_rng(bits).integers(0, 2, (count + 1, bits)).astype(bool)
    nothing, goes_on = jnp.zeros(()), jnp.ones(())
    return [
        Transition(jnp.asarray(a), jnp.int32(0), nothing, jnp.asarray(b), goes_on)
        for a, b in pairwise(seen)
    ]


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 1029])
def test_what_is_stored_comes_back(bits: int) -> None:
    made = steps(bits, 5)
    replay = Replay.empty(6, made[0])
    for step in made:
        replay = replay.add(step)
    assert replay.data.observation.shape == (6, -(-bits // 8))
    batch, _ = replay.at(jnp.arange(5), jnp.ones(5), Horizon(3, 1.0))
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *made)
    assert batch.observation.dtype == bool
    assert np.array_equal(batch.observation, stacked.observation)
    assert np.array_equal(batch.following, stacked.following)
    # two more steps where there are as many; the last of them begins one before where it leads
    assert np.array_equal(batch.ahead.following, stacked.following[[2, 3, 4, 4, 4]])
    assert np.array_equal(batch.ahead.before, stacked.observation[[2, 3, 4, 4, 4]])
    kept = transitions(replay)
    assert kept.observation.dtype == bool
    assert np.array_equal(kept.following, stacked.following)
    whole, weights = replay.everything()
    assert weights.tolist() == [1, 1, 1, 1, 1, 0]
    assert np.array_equal(whole.observation[:5], stacked.observation)


def test_numbers_and_indices_are_stored_as_they_are() -> None:
    zero = jnp.zeros(())
    for seen in (jnp.zeros(3), jnp.int32(2)):
        example = Transition(seen, jnp.int32(0), zero, seen, zero)
        replay = Replay.empty(4, example)
        assert replay.bits == 0
        assert replay.data.observation.dtype == seen.dtype


@pytest.mark.parametrize("kind", [deep.JekyllHyde, deep.DoubleDQN])
def test_files_that_stored_a_byte_for_each_bit_are_taken(kind: Any, tmp_path: Path) -> None:
    small = {name: value for name, value in SMALL.items() if "hyde" not in name}
    small |= {"hidden_hyde": (8,)} if kind is deep.JekyllHyde else {}
    agent = kind(rooms(), seed=1, **small).learn(40)
    agent.save(tmp_path / "agent")
    path = tmp_path / "agent" / "state.safetensors"
    arrays = load_file(path)
    loose = [name for name in arrays if name.endswith((".data.observation", ".data.following"))]
    assert len(loose) == (4 if kind is deep.JekyllHyde else 2)
    for name in loose:
        assert arrays[name].shape == (64, 130)
        arrays[name] = np.unpackbits(arrays[name], axis=-1, count=SEEN).astype(bool)
    save_file(arrays, path)
    again = kind.load(tmp_path / "agent", rooms())
    assert np.array_equal(again.state.everyone.data.following, agent.state.everyone.data.following)
    agent.export_replay(tmp_path / "one.parquet")
    again.export_replay(tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    for name in loose:  # too many bits
        arrays[name] = np.zeros((64, SEEN + 8), bool)
    save_file(arrays, path)
    with pytest.raises(InputError, match="fit"):
        kind.load(tmp_path / "agent", rooms())


def test_a_replay_is_imported_into_bits(tmp_path: Path) -> None:
    agent = deep.JekyllHyde(rooms(), seed=1, **SMALL).learn(30)
    agent.export_replay(tmp_path / "steps.parquet")
    other = deep.JekyllHyde(rooms(), seed=2, **SMALL)
    other.import_replay(tmp_path / "steps.parquet")
    one, two = (transitions(each.state.everyone) for each in (agent, other))
    assert np.array_equal(one.observation, two.observation)
    assert other.state.everyone.data.observation.dtype == np.uint8
