"""Frames of a replay are stored once, and never taken for others."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde.deep.encoders import Seen
from jekyllhyde.deep.learning import Replay
from jekyllhyde.deep.networks import Transition

add = jax.jit(Replay.add)


def seen(number: int) -> Seen:
    image = jnp.full((16, 16, 1), number % 251, jnp.uint8)
    return Seen(jnp.full(1, float(number)), (image,), jnp.array([number + 1, 7], jnp.int32))


def transition(before: int, after: int) -> Transition:
    return Transition(
        seen(before), jnp.int32(0), jnp.float32(before), seen(after), jnp.float32(1.0)
    )


def number_of_frames(replay: Replay) -> int:
    assert replay.frames is not None
    return int(jnp.any(replay.frames.digests != 0, -1).sum())


def test_frames_are_stored_once() -> None:
    """Two episodes of lanes that take turns: 2 + 2 transitions have 3 + 3 frames."""
    replay = Replay.empty(8, transition(0, 0))
    for before, after in ((0, 1), (100, 101), (1, 2), (101, 102)):
        replay = add(replay, transition(before, after))
    assert number_of_frames(replay) == 6
    replay = add(replay, transition(2, 3), False)
    assert number_of_frames(replay) == 6
    batch, weight = replay.everything()
    assert weight.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert batch.observation.images[0][:4, 0, 0, 0].tolist() == [0, 100, 1, 101]
    assert batch.following.images[0][:4, 0, 0, 0].tolist() == [1, 101, 2, 102]
    assert replay.frames is not None
    assert len(replay.frames.digests) == 11  # a quarter more than transitions, not twice as many


def test_what_was_written_over_is_not_drawn() -> None:
    """Episodes of one step have two frames each, more than there is room for."""
    replay = Replay.empty(8, transition(0, 0))
    for i in range(40):
        replay = add(replay, transition(10 * i, 10 * i + 1))
    batch, weight = replay.everything()
    is_drawn = np.asarray(weight) > 0
    assert 4 <= is_drawn.sum() <= 6
    for side, shift in ((batch.observation, 0), (batch.following, 1)):
        images = np.asarray(side.images[0])[is_drawn, 0, 0, 0]
        numbers = np.asarray(batch.reward)[is_drawn].astype(int) + shift
        assert images.tolist() == (numbers % 251).tolist()
    assert np.asarray(batch.reward)[is_drawn].max() == 390


def test_long_episodes_lose_nothing() -> None:
    replay = Replay.empty(8, transition(0, 0))
    for i in range(50):
        replay = add(replay, transition(i, i + 1))
    batch, weight = replay.everything()
    assert weight.tolist() == [1.0] * 8
    assert sorted(np.asarray(batch.observation.images[0])[:, 0, 0, 0].tolist()) == [*range(42, 50)]
