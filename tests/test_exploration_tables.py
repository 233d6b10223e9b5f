"""The tables of exploration with networks are those of the runs that are kept, and what the README
and the page say of them is true; the mazes in JAX are those of the benchmark that steps them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KEPT: dict[str, list[dict[str, Any]]] = json.loads((RESULTS / "deep_exploration.json").read_text())
PAGE = " ".join((ROOT / "docs" / "deep-exploration.md").read_text().split())


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield
    for name in ("deep_exploration_tables", "maze_task", "point_maze", "common"):
        sys.modules.pop(name, None)


def of(part: str, task: str, label: str) -> dict[str, Any]:
    return next(row for row in KEPT[part] if (row["task"], row["label"]) == (task, label))


def solved(rows: list[dict[str, Any]]) -> tuple[int, int, int]:
    """How many runs were, of how many, and the last of them."""
    first = [at for row in rows for at in row["first"]]
    return sum(at >= 0 for at in first), len(first), max(first)


def fresh(*tasks: str) -> list[dict[str, Any]]:
    """The same on seeds that served for nothing else."""
    return [row for row in KEPT["fresh"] if row["task"] in tasks]


SWING = "jekyllhyde/CartPoleSwingUp-v0"


def default(part: str) -> list[dict[str, Any]]:
    return [row for row in KEPT[part] if row["label"] == "recommended"]


def before(*tasks: str) -> list[dict[str, Any]]:
    """The default of version 0.10, on two sets of seeds."""
    return [row for row in KEPT["before"] if row["task"] in tasks]


def test_the_page_has_the_tables_of_what_is_kept(benchmarks: None) -> None:
    import deep_exploration_tables  # type: ignore[import-not-found]

    assert (RESULTS / "deep_exploration.md").read_text() == deep_exploration_tables.tables()


def test_the_readme_says_how_many_runs_solve_a_task() -> None:
    text = (ROOT / "README.md").read_text()
    seas = default("sea")
    for name, rows, unit in (
        ("DeepSea of 10, 12, ... 50", seas[:-1], "dives"),
        ("DeepSea of 100", seas[-1:], "dives"),
        ("Four Rooms, both levels", KEPT["rooms"], "episodes"),
        (
            "a continuous maze with bends and a decoy",
            [of("mazes", "bends", "recommended")],
            "steps",
        ),
        ("bsuite's cart-pole swing-up, middle height (version 0.10)", before(SWING), "steps"),
    ):
        number, runs, last = solved(rows + fresh(*(row["task"] for row in rows)))
        assert f"| {name} | {number} of {runs} | {last:,} {unit} |" in text
    assert [row["task"] for row in seas] == [f"sea:{n}" for n in (*range(10, 51, 2), 100)]


def test_what_the_page_says_of_the_tables() -> None:
    count = [sum(at >= 0 for at in row["bsuite"]) for row in default("windy")]
    assert count == [20, 20, 20, 17, 8]
    larger = of("windy", "windy:50", "replay of 200,000")
    assert sum(at >= 0 for at in larger["bsuite"]) == 9
    assert "bsuite counts all runs up to 30, 17 of 20 at 40 and 8 at 50" in PAGE
    assert "with five times as much, 9 of 20 are counted" in PAGE
    control, tasks = default("control"), ("MountainCar-v0", "Acrobot-v1", "CartPole-v1")
    assert solved(control)[:2] == (60, 60)
    last, earlier = (
        [solved([row])[2] for row in rows] for rows in (control, before(*tasks)[: len(tasks)])
    )
    assert f"MountainCar and Acrobot by {last[0]:,} steps" in PAGE
    assert last[0] == last[1]
    assert f"(0.10: by {earlier[0]:,} and {earlier[1]:,}), CartPole by {last[2]:,} " in PAGE
    there = [row["end"] for row in (*control, *before(*tasks))]
    assert "and {}, {} and {} are there at the end ({}, {} and {}; on other".format(*there) in PAGE
    assert "on other seeds {}, {} and {})".format(*there[6:]) in PAGE
    number, runs, late = solved(before(SWING))
    assert (
        f"0.10's default {number} of {runs} runs get to bsuite's 100, the last at {late:,}" in PAGE
    )
    assert f"{sum(row['end'] for row in before(SWING))} are above it at 300,000" in PAGE
    bends, doors = default("mazes")
    assert solved([bends])[0] == solved([bends])[1]
    assert np.median(bends["first"]) == 12_000
    assert sum(0 <= at <= 30_000 for at in doors["first"]) == 9
    assert f"9 by 30,000 steps (0.10: one of eight) and {solved([doors])[0]} by 60,000" in PAGE
    car, maze = of("control", "MountainCar-v0", "all parts"), of("mazes", "bends", "all parts")
    assert "MountainCar {} of {} by {:,} steps and".format(*solved([car])) in PAGE
    assert "the maze with bends {} of {} by {:,}, the".format(*solved([maze])) in PAGE
    assert f"({last[0]:,} and {solved([bends])[2]:,}, other seeds)" in PAGE
    sea = of("sea", "sea:50", "what is for numbers")
    assert solved([sea])[0] == 19
    assert (
        f"takes {min(at for at in sea['first'] if at > 0)} to {max(sea['first']):,} dives" in PAGE
    )
    for size in (20, 26):
        assert solved([of("windy", f"windy:{size}", "what is for numbers")])[0] == 20
    exchanged = ("sea:20", "windy:10", "rooms:1", "MountainCar-v0")
    rule = [solved([of("ablation", task, "the paper's actor rule")])[0] for task in exchanged]
    assert f"({rule[0]}, {rule[1]}, {rule[2]} and {rule[3]} of 32)" in PAGE
    lost = [solved([of("ablation", "sea:20", name)])[0] for name in PARTS_OF_HYDE]
    assert f"the sea of 20 is lost ({lost[0]} and {lost[1]} of 32)" in PAGE
    uniform = solved([of("ablation", "MountainCar-v0", "uniform replay")])[0]
    assert f"Without priorities MountainCar is solved in {uniform} runs of 32" in PAGE


def test_what_the_page_says_of_fresh_seeds() -> None:
    assert {(row["label"], row["seeds"], row["seed"]) for row in KEPT["fresh"]} == {
        ("recommended", 20, 2611)
    }
    seas = fresh(*(row["task"] for row in KEPT["sea"]))
    assert len(seas) == 11
    assert f"to 50 and of 100: all {solved(seas)[0]} runs" in PAGE
    assert solved(seas)[0] == solved(seas)[1]
    assert f"the last of 50 at {solved(fresh('sea:50'))[2]} dives" in PAGE
    there = solved(fresh("rooms:1", "rooms:2"))
    assert there[0] == there[1]
    assert f"and all {there[0]} of Four Rooms" in PAGE
    windy = [row for row in KEPT["fresh"] if row["task"].startswith("windy")]
    count = [sum(at >= 0 for at in row["bsuite"]) for row in windy]
    assert "bsuite counts {}, {}, {}, {} and {} of 20".format(*count) in PAGE
    assert f"{sum(count)} of 100" in PAGE


PARTS_OF_HYDE = ("Hyde no optimist", "Hyde of 0.3")


@pytest.mark.parametrize("maze", ["bends", "doors"])
def test_the_mazes_in_jax_are_those_that_are_stepped(
    maze: str, benchmarks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    jax = pytest.importorskip("jax")
    import maze_task  # type: ignore[import-not-found]
    import point_maze  # type: ignore[import-not-found]

    class Still(np.random.Generator):
        """Chance does nothing."""

        def normal(self, *arguments: Any, **named: Any) -> Any:
            return np.zeros(2)

    env = point_maze.PointMaze(maze)
    env.reset(seed=0)
    env.np_random = Still(np.random.PCG64(0))
    monkeypatch.setattr(maze_task, "CHANCE", 0.0)
    step, stream = (
        jax.jit(lambda state, a: maze_task.step(maze, state, a)),
        np.random.default_rng(1),
    )
    places, ended = stream.uniform(size=(400, 2)), 0
    for place in places:
        env.place, action = place.copy(), int(stream.integers(5))
        following, reward, over, _, _ = env.step(action)
        state = maze_task.State(jax.numpy.asarray(place, jax.numpy.float32), jax.random.key(0))
        after, paid, terminated = step(state, action)
        assert np.allclose(after.place, following, atol=1e-6)
        assert float(paid) == pytest.approx(reward)
        assert bool(terminated) == over
        ended += over
    assert ended > 5
