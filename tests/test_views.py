"""Views, cells of a grid as codes: first values of 0, and an explorer who leaves circles."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.episodes_of_lanes import begun, for_lanes, in_lane
from jekyllhyde.deep.explorers import Optimist
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.deep.views import Taken
from jekyllhyde.envs.space_parts import Part
from jekyllhyde.errors import InputError

VIEWS = Space(None, (6,), 3, parts=(Part((), "cells", (2, 1), (3, 0, 3, 0)),))
FIRST, SECOND = jnp.array([1, 0, 0, 1, 0, 0], bool), jnp.array([1, 0, 0, 0, 1, 0], bool)


def agent(space: Space = VIEWS, **settings: Any) -> tuple[Any, Any]:
    small = {"hidden": (8,), "hidden_hyde": (8,), "batch": 4, "capacity": 20, "warmup": 0}
    config = deep.configure("jekyll_hyde", **{**small, **settings})
    return config, jekyll_hyde.init(jax.random.key(0), config, space)


def observed(config: Any, state: Any, view: Any, action: int, ended: bool = False) -> Any:
    step = Transition(view, jnp.int32(action), jnp.zeros(()), view, jnp.ones(()))
    samples = Samples.of(None, step, jnp.ones(()))
    return config.explorer.observe(state, config, samples, jnp.asarray(ended))


def test_what_was_taken_is_known_by_view_action_and_lane_until_the_episode_ends() -> None:
    taken = Taken.empty(jax.random.key(0), VIEWS, lanes=2)
    for view, action in ((FIRST, 1), (FIRST, 1), (SECOND, 2)):
        taken = taken.after(view, action, False)
    assert np.asarray(taken.times(jnp.stack([FIRST, SECOND]))).tolist() == [[0, 2, 0], [0, 0, 1]]
    other = in_lane(taken, jnp.int32(1))
    assert not np.asarray(other.times(FIRST)).any()
    ended = in_lane(other.after(FIRST, 0, True), jnp.int32(0))
    assert np.asarray(ended.times(FIRST)).tolist() == [0, 2, 0]
    assert not np.asarray(ended.after(FIRST, 0, True).times(SECOND)).any()


def test_the_optimist_tries_another_action_where_he_has_been() -> None:
    # whatever was tried is known here, and the network has no preference
    config, state = agent(bonus="counts(decay=1e9)", first_values=0.0)
    explorer = state.networks.explorer
    for action in (0, 0, 0, 1, 1, 2):
        explorer = observed(config, explorer, FIRST, action)
    assert int(jnp.argmax(config.explorer.logits(explorer, config, FIRST, None))) == 2
    explorer = observed(config, explorer, FIRST, 2)
    explorer = observed(config, explorer, FIRST, 2)
    assert int(jnp.argmax(config.explorer.logits(explorer, config, FIRST, None))) == 1
    explorer = observed(config, explorer, FIRST, 1, ended=True)
    assert int(jnp.argmax(config.explorer.logits(explorer, config, FIRST, None))) == 0


def test_an_episode_that_is_broken_off_is_forgotten() -> None:
    taken = in_lane(Taken.empty(jax.random.key(0), VIEWS, lanes=2), jnp.int32(1))
    begun_anew = begun({"explorer": in_lane(taken.after(FIRST, 1, False), jnp.int32(0))})
    assert np.asarray(in_lane(begun_anew, jnp.int32(1))["explorer"].times(FIRST)).any()
    here = begun(in_lane(begun_anew, jnp.int32(1)))["explorer"]
    assert not np.asarray(here.times(FIRST)).any()


def test_who_remembers_no_episode_is_loaded_in_an_environment_with_more_lanes(
    tmp_path: Path,
) -> None:
    small: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 4, "capacity": 50}
    deep.JekyllHyde("CartPole-v1", **small).learn(10).save(tmp_path / "agent")
    loaded = deep.JekyllHyde.load(tmp_path / "agent", gym.make_vec("CartPole-v1", 3))
    with pytest.warns(UserWarning, match="episode"):
        assert loaded.learn(9).steps == 19


def test_weariness_of_0_and_states_by_index_forget_what_was_taken() -> None:
    tireless: dict[str, Any] = {"bonus": "counts(decay=1e9)", "explorer": "optimist(weariness=0.0)"}
    config, state = agent(**tireless, first_values=0.0)
    explorer = state.networks.explorer
    for action in (0, 0, 0, 1, 2):
        explorer = observed(config, explorer, FIRST, action)
    assert int(jnp.argmax(config.explorer.logits(explorer, config, FIRST, None))) == 0
    assert agent(Space(5, (), 3))[1].networks.explorer.taken is None


def test_the_optimist_has_room_for_the_lanes_of_an_environment() -> None:
    config, _ = agent()
    wide = for_lanes(config, SimpleNamespace(num_envs=3))
    assert wide.explorer.lanes == 3
    state = jekyll_hyde.init(jax.random.key(0), wide, VIEWS)
    assert state.networks.explorer.taken.n.shape[0] == 3
    with pytest.raises(InputError, match="lanes of optimist"):
        Optimist(lanes=0)
