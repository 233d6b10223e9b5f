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


SWING = "jekyllhyde/CartPoleSwingUp-v0"
DOOR = "MiniGrid-DoorKey-{0}x{0}-v0"


def default(part: str) -> list[dict[str, Any]]:
    return [row for row in KEPT[part] if row["label"] == "recommended"]


def earlier(task: str) -> dict[str, Any]:
    """The row of an earlier default."""
    rows = (*KEPT["before"], *KEPT["scored_before"])
    return next(row for row in rows if row["task"] == task)


def end(row: dict[str, Any], way: str) -> float:
    """The mean score at the end."""
    return float(np.mean([run[-1] for run in row[way]]))


def counted(row: dict[str, Any]) -> int:
    return sum(at >= 0 for at in row["bsuite"])


def test_the_page_has_the_tables_of_what_is_kept(benchmarks: None) -> None:
    import deep_exploration_tables  # type: ignore[import-not-found]

    assert (RESULTS / "deep_exploration.md").read_text() == deep_exploration_tables.tables()


def test_one_seed_serves_for_all_of_the_default() -> None:
    parts = ("sea", "windy", "rooms", "control", "swing", "mazes", "door", "grids")
    rows = [row for part in parts for row in KEPT[part]]
    assert {row["label"] for row in rows} == {"recommended"}
    assert {row["seed"] for row in rows} == {9041}
    chosen = [row for part in ("chosen", "chosen_windy") for row in KEPT[part]]
    assert {row["seed"] for row in chosen} == {77}
    assert {row["seed"] for row in KEPT["chosen_cells"]} == {4242}


def test_the_readme_says_how_many_runs_solve_a_task() -> None:
    text = (ROOT / "README.md").read_text()
    seas = default("sea")
    bends, doors = default("mazes")
    keys = default("door")
    two, six_rooms, corridor = default("grids")
    assert solved([six_rooms])[:2] == (0, 8)
    assert "| MultiRoom of six rooms, of 200,000 steps | 0 of 8 | - |" in text
    for name, rows, unit in (
        ("DeepSea, sizes from 10 to 50", seas, "dives"),
        ("DeepSea of 100 (version 0.11)", [earlier("sea:100")], "dives"),
        ("Four Rooms, both levels", default("rooms"), "episodes"),
        ("a continuous maze with bends and a decoy", [bends], "steps"),
        ("one with narrow doors, of 60,000 steps", [doors], "steps"),
        ("MiniGrid's DoorKey-5x5 and 6x6", keys[:2], "steps"),
        ("DoorKey-8x8", keys[2:], "steps"),
        ("KeyCorridorS3R1", [corridor], "steps"),
        ("MultiRoom of two rooms, of 60,000 steps", [two], "steps"),
        ("bsuite's cart-pole swing-up, middle height", default("swing"), "steps"),
    ):
        number, runs, last = solved(rows)
        assert f"| {name} | {number} of {runs} | {last:,} {unit} |" in text, name
    sizes = [int(row["task"].partition(":")[2]) for row in seas]
    assert set(sizes) == set(range(10, 51, 2))


def test_what_the_page_says_of_seas() -> None:
    seas, windy = default("sea"), default("windy")
    number, runs, latest = solved(seas)
    assert number == runs - 1
    assert f"{number} of {runs} runs of the 21 sizes" in PAGE
    assert f"the last at {latest:,} dives" in PAGE
    assert solved([of("sea", "sea:48", "recommended")])[0] == 19
    hundred = of("before", "sea:100", "sea:100, version 0.12")
    number, runs, latest = solved([hundred])
    many = f"{number} of {runs} runs of 100 were solved within {hundred['budget']:,} dives"
    assert f"{many}, all of them by {latest:,}" in PAGE
    assert f"the treasure had been met by {max(hundred['found']):,} as well" in PAGE
    assert "20 of 20 by {2:,} dives".format(*solved([earlier("sea:100")])) in PAGE
    assert [int(row["task"].partition(":")[2]) for row in windy] == list(range(10, 51, 2))
    every = [row for row in windy if int(row["task"].partition(":")[2]) <= 32]
    lost = {row["task"]: row["seeds"] - counted(row) for row in every}
    assert {task: count for task, count in lost.items() if count} == {"windy:24": 1}
    *rest, last = [counted(row) for row in windy[len(every) :]]
    assert f"up to 32 but one of 24, and {', '.join(map(str, rest))} and {last} of 20" in PAGE
    shares = [counted(row) / row["seeds"] for row in windy]
    assert f"a mean share of {np.mean(shares):.2f} over the 21 sizes" in PAGE
    before = earlier("windy:50")
    assert f"(0.11: {counted(before)} of 20 by {max(before['bsuite']):,})" in PAGE
    rooms = default("rooms")
    assert "all {0} runs, the last after {2} episodes".format(*solved(rooms)) in PAGE


def test_what_the_page_says_of_steps() -> None:
    car, acrobot, pole = default("control")
    assert solved([car, acrobot, pole])[:2] == (60, 60)
    at = [solved([row])[2] for row in (car, acrobot, pole)]
    assert "by {:,}, {:,} and {:,} steps".format(*at) in PAGE
    there = [row["end"] for row in (car, acrobot, pole)]
    assert "{}, {} and {} of 20 are there at the end".format(*there) in PAGE
    swing = default("swing")[0]
    middle, (_, _, last) = np.median(swing["first"]), solved([swing])
    assert f"all 20 runs get to 100 within {swing['budget']:,} steps" in PAGE
    assert f"half of them by {middle:,.0f} and the last at {last:,}; {swing['end']}" in PAGE
    assert f"with a mean of {end(swing, 'scores'):.0f}" in PAGE
    bends, doors = default("mazes")
    assert solved([bends])[:2] == (20, 20)
    assert f"with bends all of them, half by {np.median(bends['first']):,.0f} steps" in PAGE
    assert "narrow doors** {} of {} by {:,}".format(*solved([doors])) in PAGE


def test_what_the_page_says_of_minigrid() -> None:
    five, six, eight = default("door")
    keys = [solved([row]) for row in (five, six, eight)]
    assert {found[:2] for found in keys} == {(20, 20)}
    at = [found[2] for found in keys]
    assert "by {:,} steps, of 6x6 20 of 20 by {:,}, of 8x8 20 of 20 by {:,}".format(*at) in PAGE
    assert f"half of them by {np.median(eight['first']):,.0f} steps and the last by" in PAGE
    assert f"{eight['end']} are there at the end of {eight['budget']:,}" in PAGE
    assert f"Hyde has met the goal by {max(eight['met']):,}" in PAGE
    assert f"a mean of {end(eight, 'drawn'):.2f} drawn" in PAGE
    assert f"Greedy actions are a loss in 8x8 ({end(eight, 'scores'):.2f})" in PAGE
    greedy = [end(row, "scores") for row in (six, five, version_12(six["task"]))]
    greedy.append(end(version_12(five["task"]), "scores"))
    at_the_end = "({:.2f} and {:.2f} at the end; {:.2f} and {:.2f})".format(*greedy)
    assert at_the_end in PAGE
    two, six_rooms, corridor = default("grids")
    before = [end(version_12(row["task"]), "drawn") for row in (corridor, two, six_rooms)]
    now = [end(row, "drawn") for row in (corridor, two, six_rooms)]
    ends = [f"{value:.2f} (0.12: {was:.2f})" for value, was in zip(now, before, strict=True)]
    assert f"KeyCorridorS3R1's drawn actions succeed in {ends[0]}" in PAGE
    assert f"MultiRoom of two rooms in {ends[1]}" in PAGE
    assert f"a mean of {now[2]:.2f} drawn, rising (0.12: {before[2]:.2f})" in PAGE
    assert max(six_rooms["met"]) == 20_000
    assert "Now he does, by 20,000 steps in every run" in PAGE


def version_12(task: str) -> dict[str, Any]:
    return of("scored_before", task, f"{task}, version 0.12")


def test_what_the_page_says_of_what_was_tried_in_minigrid() -> None:
    rare, new = "what is new in the episode and rare", "what is new in the episode"
    alone = "drawn actions alone"
    then = {
        name: [round(float(np.mean([run[i] for run in row["drawn"]])), 2) for i in (7, -1)]
        for name in (row["label"] for row in KEPT["chosen_cells"])
        for row in [of("chosen_cells", DOOR.format(8), name)]
        if "MultiRoom" not in name
    }
    early = {name: values[0] for name, values in then.items()}
    late = {name: values[1] for name, values in then.items()}
    assert (early[new], early["0.12's default"], early[rare]) == (0.79, 0.54, 0.46)
    assert "drawn actions succeed in 0.79, with 0.12's default in 0.54" in PAGE
    assert early[f"{rare}, what was never tried is unknown"] == 0.38
    assert early[f"{rare}, {alone}"] == 0.76
    assert "Without these 0.76 instead of 0.46" in PAGE
    assert late[f"E3B, {alone}"] == 0.90
    assert late[f"{new}, {alone}: the default"] == 0.98
    assert late[f"0.12's, weariness of 1, {alone}"] == 0.77
    assert late[f"0.12's default, {alone}"] == 0.55
    assert "0.77 instead of 0.55 with 0.12's bonus" in PAGE


def test_what_the_page_says_of_what_was_tried() -> None:
    votes, plain = (
        of("chosen", DOOR.format(8), f"ten steps, replay of 200,000{more}, tolerance")
        for more in (", votes", "")
    )
    assert "0.97 instead of 0.93 (8 runs each), of greedy ones 0.40 instead of 0.27" in PAGE
    ends = [end(row, way) for way in ("drawn", "scores") for row in (votes, plain)]
    assert [round(value, 2) for value in ends] == [0.97, 0.93, 0.40, 0.27]
    assert solved([votes])[0] == 7
    labels = (
        "five steps, tolerance",
        "ten steps, tolerance",
        "ten steps, votes, tolerance",
        "ten steps, votes",
        "ten steps, votes, all ends weighed",
    )
    swings = [
        sum(0 <= at <= 90_000 for at in of("chosen", SWING, name)["first"]) for name in labels
    ]
    assert swings == [4, 3, 3, 7, 5]
    windy = [counted(row) for row in KEPT["chosen_windy"][:4]]
    assert windy == [3, 4, 4, 6]


def test_what_the_page_says_of_parts() -> None:
    exchanged = ("sea:20", "windy:10", "rooms:1", "MountainCar-v0")
    rule = [solved([of("ablation", task, "the paper's actor rule")])[0] for task in exchanged]
    assert f"({rule[0]}, {rule[1]}, {rule[2]} and {rule[3]} of 32)" in PAGE
    lost = [solved([of("ablation", "sea:20", name)])[0] for name in PARTS_OF_HYDE]
    assert f"the sea of 20 is lost ({lost[0]} and {lost[1]} of 32)" in PAGE
    uniform = solved([of("ablation", "MountainCar-v0", "uniform replay")])[0]
    assert f"Without priorities MountainCar is solved in {uniform} runs of 32" in PAGE
    beyond = solved([of("exchanged", "MountainCar-v0", "several steps beyond rewards")])[0]
    assert f"{beyond} of 32 runs where steps go on beyond rewards" in PAGE
    car = {row["label"]: row for row in KEPT["exchanged"]}

    def by(name: str, steps: int) -> int:
        return sum(0 <= at <= steps for at in car[name]["first"])

    sooner = ("the critics' mean", "no bounds", "drawn actions alone", "Hyde of 0.3", "nothing")
    assert [by(name, 14_000) for name in sooner] == [11, 12, 13, 5, 23]
    later = ("uniform replay", "Hyde no optimist", "nothing")
    assert [by(name, 16_000) for name in later] == [1, 15, 27]


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
