"""What is seen for the first time in an episode is paid once, and in each lane for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.episodes_of_lanes import begun, in_lane
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.deep.new_views import NewViews
from jekyllhyde.envs.space_parts import Part
from jekyllhyde.errors import InputError

CELLS = Space(None, (12,), 3, parts=(Part((), "cells", (4, 1), (3, 0) * 4),))
BONUS = NewViews()
VIEWS = np.eye(12, dtype=bool)[[0, 3, 6, 9]] | np.eye(12, dtype=bool)[[1, 1, 4, 7]]


@jax.jit
def _observe(state: Any, before: Any, after: Any, ended: Any) -> Any:
    step = Transition(before, jnp.int32(0), jnp.zeros(()), after, jnp.ones(()))
    return BONUS.observe(state, Samples.of(None, step, jnp.ones(())), ended)


def walked(state: Any, *places: int, ends: bool = True) -> tuple[Any, list[float]]:
    """The state after a walk through some of the views, and what each step of it is paid."""
    paid = []
    for i in range(1, len(places)):
        ended = jnp.asarray(ends and i == len(places) - 1)
        state = _observe(state, VIEWS[places[i - 1]], VIEWS[places[i]], ended)
        paid.append(float(BONUS.kept(state)))
    return state, paid


def test_a_view_is_paid_once_an_episode_and_where_it_begins_not_at_all() -> None:
    state = BONUS.init(jax.random.key(0), CELLS)
    for _ in range(2):  # the second episode is paid like the first
        state, paid = walked(state, 0, 1, 1, 0, 2, 1, 3)
        assert paid == [1, 0, 0, 1, 0, 1]


def test_lanes_have_episodes_of_their_own_and_one_that_breaks_off_is_forgotten() -> None:
    state = NewViews(lanes=2).init(jax.random.key(0), CELLS)
    state, paid = walked(state, 0, 1, ends=False)
    other, also = walked(in_lane(state, jnp.int32(1)), 0, 1, 2, ends=False)
    assert (paid, also) == ([1], [1, 1])
    back, again = walked(in_lane(other, jnp.int32(0)), 1, 0, 2, ends=False)
    assert again == [0, 1]
    assert walked(begun(back), 1, 0, ends=False)[1] == [1]
    assert walked(in_lane(begun(back), jnp.int32(1)), 2, 1, ends=False)[1] == [0]


def test_what_is_stored_with_a_step_is_its_bonus() -> None:
    samples = Samples.of(
        None,
        Transition(*(jnp.zeros(3) for _ in range(5)), novelty=jnp.array([1.0, 0.0, 1.0])),
        jnp.ones(3),
    )
    state = BONUS.init(jax.random.key(0), CELLS)
    assert BONUS.of(state, samples)[0].tolist() == [1.0, 0.0, 1.0]
    assert BONUS.unknown(state, VIEWS[0]) == 0.0


def test_states_by_an_index_have_a_place_each() -> None:
    agent = deep.JekyllHyde("FrozenLake-v1", bonus="new_views", batch=8, capacity=60).learn(50)
    data = agent.state.everyone.data
    before, after, paid = (
        np.asarray(x)[:50] for x in (data.observation, data.following, data.novelty)
    )
    seen: set[int] = set()
    for i in range(50):
        if i == 0 or before[i] != after[i - 1]:
            seen = set()
        seen.add(int(before[i]))
        assert paid[i] == (int(after[i]) not in seen)
        seen.add(int(after[i]))


def test_hyde_seeks_what_is_new_where_cells_are_seen(tmp_path: Path) -> None:
    small: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 90}
    pytest.importorskip("minigrid")
    here = {"autoreset_mode": gym.vector.AutoresetMode.DISABLED}
    envs = gym.make_vec("minigrid:MiniGrid-Empty-5x5-v0", 2, "sync", vector_kwargs=here)
    with pytest.warns(UserWarning, match="mission"):
        agent = deep.JekyllHyde(envs, **small).learn(60)
    assert agent.settings.bonus == NewViews(lanes=2)
    assert agent.settings.greedy_stretch == 0
    agent.save(tmp_path / "agent")
    again = deep.JekyllHyde.load(tmp_path / "agent")
    assert again.settings == agent.settings
    one, other = (a.state.networks.explorer.bonus for a in (agent, again))
    assert np.array_equal(one.seen, other.seen)
    assert np.asarray(one.seen).any(1).all()


def test_in_a_view_the_least_taken_action_comes_first() -> None:
    """However much more the network promises of another one."""
    config = deep.configure("jekyll_hyde", space=CELLS, hidden_hyde=(8,), hyde_noise=0.0)
    explorer = jekyll_hyde.init(jax.random.key(0), config, CELLS).networks.explorer
    view, taken = jnp.asarray(VIEWS[0]), []
    for _ in range(6):
        action = int(jnp.argmax(config.explorer.logits(explorer, config, view, None)))
        step = Transition(view, jnp.int32(action), jnp.zeros(()), view, jnp.ones(()))
        samples = Samples.of(None, step, jnp.ones(()))
        explorer = config.explorer.observe(explorer, config, samples, jnp.asarray(False))
        taken.append(action)
    assert sorted(taken[:3]) == sorted(taken[3:]) == [0, 1, 2]


def test_a_table_without_places_is_refused() -> None:
    with pytest.raises(InputError, match="places of new_views"):
        NewViews(places=0)
    with pytest.raises(InputError, match="lanes of new_views"):
        NewViews(lanes=0)
