"""The tasks of MiniGrid that benchmarks train on are MiniGrid's: layouts, rules, rewards, views."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("minigrid")

import gymnasium as gym
import jax
import jax.numpy as jnp
from minigrid.core.world_object import Door, Goal, Key, Wall, WorldObj

from jekyllhyde import deep
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.spaces import read, space_of

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
DOOR_KEYS = [f"MiniGrid-DoorKey-{size}x{size}-v0" for size in (5, 6, 8)]
ROOMS = ["MiniGrid-MultiRoom-N2-S4-v0", "MiniGrid-MultiRoom-N4-S5-v0"]
CORRIDOR = "MiniGrid-KeyCorridorS3R1-v0"
NAMES = [*DOOR_KEYS, *ROOMS, CORRIDOR]
COLOURS = ["red", "green", "blue", "purple", "yellow", "grey"]
IN_ROOMS = {"moved", "opened", "closed", "in a door", "done"}
WITH_KEYS = IN_ROOMS | {"picked", "dropped", "unlocked"}


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import classic_control  # type: ignore[import-not-found]

    yield classic_control
    sys.modules.pop("classic_control")


def environment(name: str) -> Any:
    return gym.make(f"minigrid:{name}").unwrapped


def state_of(env: Any, mini_grid: Any) -> Any:
    """The state in JAX of one of MiniGrid's."""
    numbers = (1, 0, 0) if env.carrying is None else env.carrying.encode()
    return mini_grid.State(
        mini_grid.kinds_in(env),
        np.array(env.agent_pos, np.int32),
        np.int32(env.agent_dir),
        np.int32((mini_grid.NUMBERS == numbers).all(1).argmax()),
        np.int32(env.step_count),
    )


def assert_equal(state: Any, other: Any) -> None:
    jax.tree.map(np.testing.assert_array_equal, state, other)


def free_cells(env: Any) -> set[tuple[int, int]]:
    """Those where an agent may stand, on either side of doors."""
    found, waiting = set(), [(int(env.agent_pos[0]), int(env.agent_pos[1]))]
    while waiting:
        x, y = waiting.pop()
        cell = env.grid.get(x, y)
        if (x, y) not in found and (cell is None or cell.type != "wall"):
            found.add((x, y))
            waiting += [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    return {at for at in found if (cell := env.grid.get(*at)) is None or cell.can_overlap()}


def carry_over(env: Any, random: np.random.Generator) -> None:
    """Put the agent on a free cell, as a rule before a thing."""
    before_things: list[Any] = []
    elsewhere: list[Any] = []
    for place in sorted(free_cells(env)):
        for direction in range(4):
            env.agent_pos, env.agent_dir = place, direction
            faced = env.grid.get(*env.front_pos)
            is_thing = faced is not None and faced.type != "wall"
            (before_things if is_thing else elsewhere).append((place, direction))
    some = before_things if before_things and random.random() < 0.7 else elsewhere
    env.agent_pos, env.agent_dir = some[random.integers(len(some))]


def choose(env: Any, random: np.random.Generator) -> int:
    """An action: one of seven, or what is of use before the cell in front."""
    faced = env.grid.get(*env.front_pos)
    if random.random() < 0.6 or (faced is not None and faced.type == "wall"):
        return int(random.integers(7))
    if faced is None:
        return int(random.choice([2, 2, 2, 4]))
    if faced.type == "door":
        return int(random.choice([2, 5]))
    return 2 if faced.type == "goal" else 3


def event_of(before: Any, after: Any, done: bool, mini_grid: Any) -> Counter[str]:
    """What a step did."""
    changed = np.argwhere(before.grid != after.grid)
    was, now = ([int(s.grid[x, y]) for x, y in changed] for s in (before, after))
    standing = int(after.grid[tuple(after.agent)])
    empty = mini_grid.EMPTY
    return +Counter(
        {
            "moved": int((before.agent != after.agent).any()),
            "picked": int(before.held == empty != after.held),
            "dropped": int(before.held != empty == after.held),
            "opened": sum(mini_grid.CLOSED <= kind < mini_grid.LOCKED for kind in was),
            "unlocked": sum(kind >= mini_grid.LOCKED for kind in was),
            "closed": sum(kind >= mini_grid.CLOSED for kind in now),
            "in a door": int(mini_grid.OPEN <= standing < mini_grid.KEY),
            "done": int(done),
        }
    )


class Match:
    """MiniGrid and JAX side by side; each step has to be the same."""

    def __init__(self, name: str, env: Any, benchmarks: Any) -> None:
        self.env, self.task, self.mini_grid = env, benchmarks.TASKS[name], benchmarks.mini_grid
        self.space: Space = space_of(env, one_hot=True)
        self.step, self.observe = jax.jit(self.task.step), jax.jit(self.task.observe)
        self.events = Counter[str]()

    def play(self, state: Any, steps: int, random: np.random.Generator, carried: float) -> None:
        env = self.env
        self.assert_seen(state, env.gen_obs())
        for _ in range(steps):
            action, before = choose(env, random), state
            seen, reward, terminated, _, _ = env.step(action)
            after = self.step(state, np.int32(action))
            state, own_reward, own_terminated = jax.tree.map(np.asarray, after)
            assert float(own_reward) == pytest.approx(reward, abs=1e-6)
            assert bool(own_terminated) == terminated
            assert_equal(state, state_of(env, self.mini_grid))
            self.assert_seen(state, seen)
            self.events += event_of(before, state, terminated, self.mini_grid)
            if terminated:
                return
            if random.random() < carried:
                carry_over(env, random)
                state = state_of(env, self.mini_grid)
                self.assert_seen(state, env.gen_obs())

    def assert_seen(self, state: Any, seen: Any) -> None:
        assert (np.asarray(self.observe(state)) == read(self.space, seen)).all()


@pytest.mark.parametrize("name", NAMES)
def test_steps_and_views_are_minigrids(name: str, benchmarks: Any) -> None:
    env = environment(name)
    match, random = Match(name, env, benchmarks), np.random.default_rng(NAMES.index(name))
    assert (match.task.space, match.task.limit) == (match.space, env.max_steps)
    for seed in range(24):
        env.reset(seed=seed)
        start = jax.tree.map(np.asarray, benchmarks.mini_grid.start(name, seed))
        assert_equal(start, state_of(env, benchmarks.mini_grid))
        steps = 200 if name == CORRIDOR else 60
        match.play(start, steps, random, carried=0.25 if seed % 4 else 0.0)
    names = IN_ROOMS if name in ROOMS else WITH_KEYS
    assert names - {"opened"} <= set(match.events) <= names
    assert name not in ROOMS or match.events["opened"]


def thing(random: np.random.Generator) -> WorldObj | None:
    """What may lie in a cell; a ball ends our tasks, and so has no place where it does not."""
    kind, colour = random.choice(5, p=[0.55, 0.15, 0.18, 0.1, 0.02]), str(random.choice(COLOURS))
    if kind == 2:
        lock = random.integers(3)
        return Door(colour, is_open=bool(lock == 0), is_locked=bool(lock == 2))
    return [None, Wall(), None, Key(colour), Goal()][kind]


def test_any_grid_of_walls_doors_and_keys_is_played_as_minigrid_does(benchmarks: Any) -> None:
    name, random = DOOR_KEYS[2], np.random.default_rng(1612)
    env = environment(name)
    match = Match(name, env, benchmarks)
    for seed in range(60):
        env.reset(seed=seed)
        for x, y in np.ndindex(6, 6):
            if (x + 1, y + 1) != tuple(env.agent_pos):
                env.grid.set(x + 1, y + 1, thing(random))
        env.carrying = Key(str(random.choice(COLOURS))) if seed % 2 else None
        match.play(state_of(env, benchmarks.mini_grid), 120, random, carried=0.25)
    assert set(match.events) == WITH_KEYS


@pytest.mark.parametrize("name", NAMES)
def test_layouts_are_those_of_minigrids_seeds(name: str, benchmarks: Any) -> None:
    mini_grid, env = benchmarks.mini_grid, environment(name)
    seeds = [*range(16), *range(16, mini_grid.COUNT, 331), mini_grid.COUNT - 1]
    for seed in seeds:
        env.reset(seed=seed)
        assert_equal(mini_grid.start(name, seed), state_of(env, mini_grid))
    drawn = [np.stack(each) for each in mini_grid.draw(name, 3)]
    stored = [mini_grid.start(name, seed) for seed in range(3)]
    assert (drawn[0] == np.stack([state.grid for state in stored])).all()
    assert (drawn[1][:, 2] == [int(state.direction) for state in stored]).all()


@pytest.mark.parametrize("name", [DOOR_KEYS[0], CORRIDOR])
def test_a_reset_is_any_of_the_layouts(name: str, benchmarks: Any) -> None:
    mini_grid = benchmarks.mini_grid

    def counted(states: Any) -> Counter[tuple[Any, ...]]:
        own = jax.tree.map(np.asarray, states)
        assert (own.held == mini_grid.EMPTY).all()
        assert not own.elapsed.any()
        rows = zip(own.grid, own.agent, own.direction, strict=True)
        return Counter((grid.tobytes(), *place, turn) for grid, place, turn in rows)

    keys = jax.random.split(jax.random.key(0), 20_000)
    resets: Any = jax.jit(jax.vmap(benchmarks.TASKS[name].reset))
    drawn = counted(resets(keys))
    starts: Any = jax.vmap(lambda seed: mini_grid.start(name, seed))
    known = counted(starts(jnp.arange(mini_grid.COUNT)))
    assert set(drawn) == set(known)
    ratios = [drawn[each] / count for each, count in known.items()]
    assert np.mean(ratios) == pytest.approx(20_000 / mini_grid.COUNT, rel=0.05)


def test_the_layouts_of_the_smallest_room_are_all_there(benchmarks: Any) -> None:
    states = [benchmarks.mini_grid.start(DOOR_KEYS[0], seed) for seed in range(400)]
    places = {(np.asarray(s.grid).tobytes(), *s.agent.tolist(), int(s.direction)) for s in states}
    assert len(places) == 2 * 3 * 2 * 4


def test_what_is_not_known_is_refused(benchmarks: Any) -> None:
    env = environment("MiniGrid-LavaGapS5-v0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"has what is not known here: \[9 0 0\]"):
        benchmarks.mini_grid.kinds_in(env)


def test_an_agent_is_trained_and_its_score_is_the_share_of_successes(benchmarks: Any) -> None:
    task = benchmarks.TASKS[ROOMS[0]]
    assert [float(task.score(total)) for total in (0.0, 0.1, 0.9)] == [0.0, 1.0, 1.0]
    small: dict[str, Any] = {"hidden": (4,), "hidden_hyde": (4,), "batch": 4, "capacity": 20}
    config = deep.configure("jekyll_hyde", warmup=2, **small)
    configs = jax.tree.map(lambda leaf: jnp.full(2, leaf, jnp.float32), config)
    keys = jax.random.split(jax.random.key(0), 2)
    carry = benchmarks.begin(keys, configs, ROOMS[0], "jekyll_hyde")
    carry, scores, hyde, ends = benchmarks.go_on(carry, configs, ROOMS[0], "jekyll_hyde", 5)
    assert carry.agent.t.tolist() == [5, 5]
    assert scores.shape == (2, 2)  # greedy, and drawn
    assert ends.tolist() == [0, 0]
    assert hyde.shape == (2,)
    reached = benchmarks.EVALUATION_EPISODES * np.asarray(scores)
    assert reached == pytest.approx(np.rint(reached), abs=1e-3)
    assert ((scores >= 0) & (scores <= 1)).all()
