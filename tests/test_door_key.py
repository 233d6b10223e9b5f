"""The DoorKey that benchmarks train on is MiniGrid's: layouts, rules, rewards and views."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("minigrid")

import gymnasium as gym
import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep.spaces import read, space_of

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
SIZES = (5, 6, 8)


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import classic_control  # type: ignore[import-not-found]

    yield classic_control
    sys.modules.pop("classic_control")


def name_of(size: int) -> str:
    return f"MiniGrid-DoorKey-{size}x{size}-v0"


def state_of(env: Any, door_key: Any) -> Any:
    """The state in JAX of one of MiniGrid's."""
    places = {
        cell.type: (x, y)
        for x in range(1, env.width - 1)
        for y in range(env.height)
        if (cell := env.grid.get(x, y)) is not None
    }
    wall, door = places["door"]
    lock = door_key.OPEN + env.grid.get(wall, door).encode()[2]
    key = (0, 0) if env.carrying else places["key"]
    return door_key.State(
        *(np.int32(number) for number in (wall, door, lock)),
        np.array(env.agent_pos, np.int32),
        np.int32(env.agent_dir),
        np.array(key, np.int32),
        np.bool_(env.carrying is not None),
        np.int32(env.step_count),
    )


def layout(state: Any) -> tuple[int, ...]:
    return (int(state.wall), int(state.door), *map(int, state.agent), *map(int, state.key))


def carry_over(env: Any, random: np.random.Generator) -> None:
    """Put the agent on a free cell, on either side of the wall or in the open door; as a rule
    before a thing.
    """
    before_things: list[tuple[int, ...]] = []
    elsewhere: list[tuple[int, ...]] = []
    for x, y, direction in np.ndindex(env.width, env.height, 4):
        cell = env.grid.get(x, y)
        if cell is None or getattr(cell, "is_open", False):
            env.agent_pos, env.agent_dir = (x, y), direction
            faced = env.grid.get(*env.front_pos)
            is_thing = faced is not None and faced.type != "wall"
            (before_things if is_thing else elsewhere).append((x, y, direction))
    views = before_things if random.random() < 0.7 else elsewhere
    *place, env.agent_dir = views[random.integers(len(views))]
    env.agent_pos = tuple(place)


@pytest.mark.parametrize("size", SIZES)
def test_steps_and_views_are_minigrids(size: int, benchmarks: Any) -> None:
    door_key, task = benchmarks.door_key, benchmarks.TASKS[name_of(size)]
    env: Any = gym.make("minigrid:" + name_of(size)).unwrapped
    space, random = space_of(env, one_hot=True), np.random.default_rng(size)
    assert (task.space, task.limit) == (space, env.max_steps)
    step, observe, events = jax.jit(task.step), jax.jit(task.observe), Counter[str]()
    for seed in range(40):
        seen, _ = env.reset(seed=seed)
        state = state_of(env, door_key)
        for _ in range(100):
            assert (np.asarray(observe(state)) == read(space, seen)).all()
            action = int(random.choice(7, p=[0.1, 0.1, 0.25, 0.2, 0.1, 0.2, 0.05]))
            before = state
            seen, reward, terminated, _, _ = env.step(action)
            after = step(state, np.int32(action))
            state, own_reward, own_terminated = jax.tree.map(np.asarray, after)
            assert float(own_reward) == pytest.approx(reward, abs=1e-6)
            assert bool(own_terminated) == terminated
            own = state._replace(key=np.where(state.held, 0, state.key))
            jax.tree.map(np.testing.assert_array_equal, own, state_of(env, door_key))
            events += Counter(
                moved=int((before.agent != state.agent).any()),
                picked=int(state.held & ~before.held),
                dropped=int(before.held & ~state.held),
                unlocked=int(before.lock == door_key.LOCKED) * int(state.lock == door_key.OPEN),
                closed=int(before.lock == door_key.OPEN) * int(state.lock == door_key.CLOSED),
                in_the_door=int(state.agent[0] == state.wall),
                reached=int(terminated),
            )
            if terminated:
                assert (np.asarray(observe(state)) == read(space, seen)).all()
                break
            if random.random() < 0.25:
                carry_over(env, random)
                seen, state = env.gen_obs(), state_of(env, door_key)
    names = {"moved", "picked", "dropped", "unlocked", "closed", "in_the_door", "reached"}
    assert set(events) == names


def test_the_layouts_of_the_smallest_room_are_minigrids(benchmarks: Any) -> None:
    reset = jax.jit(jax.vmap(partial(benchmarks.door_key.reset, 5)))
    states = reset(jax.random.split(jax.random.key(0), 12_000))
    numbers = np.column_stack([states.wall, states.door, states.agent, states.key])
    counts = Counter(map(tuple, numbers.tolist()))
    env: Any = gym.make("minigrid:" + name_of(5)).unwrapped
    theirs = set()
    for seed in range(150):
        env.reset(seed=seed)
        theirs.add(layout(state_of(env, benchmarks.door_key)))
    assert set(counts) == theirs
    assert len(theirs) == 2 * 3 * 2
    assert list(counts.values()) == pytest.approx([1000] * 12, abs=150)


@pytest.mark.parametrize("size", SIZES)
def test_the_ranges_of_layouts(size: int, benchmarks: Any) -> None:
    reset = jax.jit(jax.vmap(partial(benchmarks.door_key.reset, size)))
    states = jax.tree.map(np.asarray, reset(jax.random.split(jax.random.key(1), 4_000)))
    inner = set(range(1, size - 1))
    assert set(states.wall) == set(range(2, size - 2))
    assert set(states.door) == set(range(1, size - 2))
    assert set(states.direction) == set(range(4))
    assert (states.lock == benchmarks.door_key.LOCKED).all()
    assert not states.held.any()
    assert not states.elapsed.any()
    assert (states.agent != states.key).any(1).all()
    for place in (states.agent, states.key):
        assert set(place[:, 1]) == inner
        for wall in set(states.wall):
            assert set(place[states.wall == wall, 0]) == set(range(1, wall))


def test_an_agent_is_trained_and_its_score_is_the_share_of_goals_reached(benchmarks: Any) -> None:
    task = benchmarks.TASKS[name_of(5)]
    assert [float(task.score(total)) for total in (0.0, 0.1, 0.9)] == [0.0, 1.0, 1.0]
    small: dict[str, Any] = {"hidden": (4,), "hidden_hyde": (4,), "batch": 4, "capacity": 20}
    config = deep.configure("jekyll_hyde", warmup=2, **small)
    configs = jax.tree.map(lambda leaf: jnp.full(2, leaf, jnp.float32), config)
    keys = jax.random.split(jax.random.key(0), 2)
    scores, hyde = benchmarks.train(keys, configs, name_of(5), "jekyll_hyde", 5, 2)
    assert scores.shape == (2, 2, 2)  # greedy, and drawn
    assert hyde.shape == (2, 2)
    reached = benchmarks.EVALUATION_EPISODES * np.asarray(scores)
    assert reached == pytest.approx(np.rint(reached), abs=1e-3)
    assert ((scores >= 0) & (scores <= 1)).all()
