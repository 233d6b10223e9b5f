"""The pictures of exploration with networks plot what is kept of the runs; the page shows them."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KEPT: dict[str, Any] = json.loads((RESULTS / "deep_exploration.json").read_text())
RECORDS = [record for part, records in KEPT.items() if part != "speed" for record in records]
PICTURES = ("profile", "curves", "sea", "parts")


@pytest.fixture(scope="module")
def pictures() -> Iterator[Any]:
    """The script, under a name of its own: the benchmark's script is called as it is."""
    path = ROOT / "docs" / "figures" / "deep_exploration.py"
    spec = importlib.util.spec_from_file_location("deep_exploration_pictures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))
        spec.loader.exec_module(module)
        yield module
    sys.modules.pop("deep_exploration_numbers", None)


@pytest.fixture(scope="module")
def numbers(pictures: Any) -> Any:
    """The module beside it, which has what the pictures plot."""
    return pictures.numbers


def record(task: str, first: list[int], budget: int, **other: Any) -> dict[str, Any]:
    about = {"label": "recommended", "task": task, "seeds": len(first), "hyde": 0.5}
    return about | {"first": sorted(first), "budget": budget} | other


def scored(task: str, *runs: list[float], every: int = 100, **other: Any) -> dict[str, Any]:
    drawn = [[score - 1.0 for score in run] for run in runs]
    first = [every] * (len(runs) - 1) + [-1]
    budget = every * len(runs[0])
    return record(task, first, budget, scores=list(runs), drawn=drawn, **other)


@pytest.fixture
def small(numbers: Any) -> dict[str, Any]:
    """A few invented runs of every task that the pictures show."""

    def sea(n: int, first: list[int]) -> dict[str, Any]:
        counted = [at + 20 if at > 0 else -1 for at in first]
        return record(f"sea:{n}", first, 200, bsuite=counted, coverage=[0.1 * i for i in range(10)])

    parts = ("nothing", "one critic", "uniform replay")
    tasks = {"sea:20": 100, "rooms:1": 100, "MountainCar-v0": 6_000}
    return {
        "sea": [sea(10, [20, 40, 60, 60]), sea(20, [60, 80, 80, -1])],
        "before": [sea(20, [40, 40, 40, 40]) | {"label": "version 0.11"}],
        "windy": [record("windy:10", [100, -1, -1], 300)],
        "rooms": [record("rooms:1", [30, 40], 200)],
        "control": [
            scored(task, [0.0, 2.0], [1.0, 4.0]) for task in numbers.THRESHOLDS if "-v" in task
        ],
        "mazes": [scored(task, [0.0, 0.1], [0.0, 0.9]) for task in ("bends", "doors")],
        "ablation": [
            record(task, [budget // 2] * solved + [-1] * (4 - solved), budget, label=label)
            for task, budget in tasks.items()
            for label, solved in zip(parts, (3, 4, 1), strict=True)
        ],
        "peers": [
            record(task, first, 200, label=label, agent="ddqn")
            for task in ("sea:20", "sea:10")
            for label, first in (("slow", [80, 90]), ("lucky", [10, -1]), ("quick", [40, 60]))
        ],
        "speed": {"task": "sea:20"},
    }


def test_a_profile_steps_where_runs_are_solved(numbers: Any) -> None:
    x, (y, low, high) = numbers.profile(record("sea:10", [40, 40, 100, -1, -1], 300))
    assert x.tolist() == [0, 40, 100, 300]
    assert y.tolist() == [0, 0.4, 0.6, 0.6]  # two are never solved, and never count
    for i, k in enumerate((0, 2, 3, 3)):
        assert low[i] == pytest.approx(beta.ppf(0.025, k, 6 - k) if k else 0.0)
        assert high[i] == pytest.approx(beta.ppf(0.975, k + 1, 5 - k))
    _, (y, low, high) = numbers.profile(record("sea:10", [-1, -1], 300))
    assert y.tolist() == low.tolist() == [0, 0]
    assert high == pytest.approx(beta.ppf(0.975, 1, 2))


def test_a_learning_curve_is_the_mean_over_seeds(numbers: Any) -> None:
    runs = scored("bends", [0.0, 2.0, 5.0], [1.0, 4.0, 5.0], [2.0, 0.0, 5.0], every=2_000)
    steps, (mean, low, high) = numbers.learning_curve(runs, "scores")
    assert steps.tolist() == [2_000, 4_000, 6_000]
    assert mean.tolist() == [1.0, 2.0, 5.0]
    assert (low <= mean).all()
    assert (high >= mean).all()
    assert low[0] < 0.5
    assert high[0] > 1.5
    assert low[2] == high[2] == 5.0  # the runs agree
    assert numbers.learning_curve(runs, "drawn")[1][0].tolist() == [0.0, 1.0, 4.0]


def test_thresholds_are_those_by_which_runs_were_solved(numbers: Any) -> None:
    checked = set()
    for kept in RECORDS:
        if kept["task"] in numbers.THRESHOLDS and kept["label"] == "recommended":
            way = numbers.played(kept["task"])
            reached = np.array(kept[way]) >= numbers.THRESHOLDS[kept["task"]]
            steps, _ = numbers.learning_curve(kept, way)
            first = np.where(reached.any(1), steps[reached.argmax(1)], -1)
            assert sorted(first.tolist()) == kept["first"]
            checked.add(kept["task"])
    assert checked == set(numbers.THRESHOLDS)


def test_coverage_is_at_every_eighth_of_the_evaluations(numbers: Any) -> None:
    dives, share = numbers.coverage({"task": "sea:10", "budget": 75, "coverage": [0.5, 0.7, 1.0]})
    assert dives.tolist() == [20, 40, 60]  # of 20, 40 and 60 none is left out
    assert share.tolist() == [0.5, 0.7, 1.0]
    dives, _ = numbers.coverage({"task": "sea:20", "budget": 350, "coverage": []})
    assert dives.tolist() == list(range(20, 341, 40))
    dives, _ = numbers.coverage({"task": "sea:100", "budget": 2_400, "coverage": []})
    assert dives.tolist() == [100, 400, 700, 1_000, 1_300, 1_600, 1_900, 2_200]
    seas = [kept for kept in (*KEPT["sea"], *KEPT["before"]) if kept["task"].startswith("sea")]
    for kept in seas:  # where every dive takes as many steps as the sea has rows
        dives, share = numbers.coverage(kept)
        assert len(dives) == len(share)
        all_dives = kept["steps"] / kept["seeds"] / numbers.size_of(kept["task"])
        every = numbers.EVERY.get(kept["task"], 20)
        assert all_dives == kept["budget"] // every * every
        assert all(at % every == 0 for name in ("first", "found") for at in kept[name] if at > 0)


def test_the_default_is_what_is_recommended_now(numbers: Any, small: dict[str, Any]) -> None:
    assert numbers.default_of(small, "sea:20") is small["sea"][1]
    assert numbers.default_of(small, "bends") is small["mazes"][0]
    assert numbers.default_of(small, "sea:30") is None
    small["windy"] = [
        record("windy:50", [20], 100),
        record("windy:10", [20], 100, label="replay of 200,000"),
        record("windy:10", [20], 100),
    ]
    shown = numbers.defaults(small, numbers.FAMILIES["Stochastic DeepSea, by size"][0])
    assert shown == [small["windy"][2], small["windy"][0]]


def test_families_have_every_task_of_the_default_once(numbers: Any) -> None:
    shown = [
        kept["task"]
        for pattern, _ in numbers.FAMILIES.values()
        for kept in numbers.defaults(KEPT, pattern)
    ]
    assert len(shown) == len(set(shown))
    measured = {kept["task"] for kept in RECORDS if kept["label"] == "recommended"}
    assert {task for task in measured if not task.startswith(("sea", "windy"))} <= set(shown)
    assert [task for task in shown if task.startswith("sea")] == [
        f"sea:{n}" for n in (10, 20, 30, 40, 50)
    ]


def test_runs_that_are_never_solved_come_last_in_medians(numbers: Any) -> None:
    late = numbers.median_time(record("sea:20", [20, -1, -1], 100), 120.0)
    assert float(late[0]) == 120.0
    early = numbers.median_time(record("sea:20", [20, 40, -1], 100), 120.0)
    assert [float(end) for end in early] == [40.0, 20.0, 120.0]
    assert numbers.latest([20, 60, 40]) == 60
    assert np.isnan(numbers.latest([20, -1]))


def test_parts_come_by_how_many_runs_they_solve_and_peers_with_their_best(
    numbers: Any, small: dict[str, Any]
) -> None:
    rows = numbers.changes(small)
    assert list(rows) == ["nothing", "one critic", "uniform replay", *numbers.PEERS.values()]
    assert list(rows["nothing"]) == ["sea:20", "rooms:1", "MountainCar-v0"]
    assert {task: kept["label"] for task, kept in rows["Double DQN"].items()} == {"sea:20": "quick"}
    assert rows["bootstrapped DQN"] == {}
    table = (RESULTS / "deep_exploration.md").read_text()
    kept_rows = numbers.changes(KEPT)
    for agent, name in numbers.PEERS.items():
        for task, kept in kept_rows[name].items():
            assert f"| {agent}, {task}, 20 settings: {kept['label']} |" in table
    y, low, high = numbers.percent_solved(kept_rows["uniform replay"]["MountainCar-v0"])
    k = sum(at > 0 for at in kept_rows["uniform replay"]["MountainCar-v0"]["first"])
    assert float(y) == 100 * k / 32
    ends = [beta.ppf(0.025, k, 33 - k), beta.ppf(0.975, k + 1, 32 - k)]
    assert [float(low), float(high)] == pytest.approx([100 * end for end in ends])


def test_what_is_plotted_is_what_the_runs_say(pictures: Any, small: dict[str, Any]) -> None:
    sea = pictures.draw_profile(small).axes[0]
    lines = {line.get_label(): line.get_xydata().tolist() for line in sea.get_lines()}
    assert lines["10"] == [[0, 0], [20, 0.25], [40, 0.5], [60, 1], [200, 1]]
    assert lines["20"] == [[0, 0], [60, 0.25], [80, 0.75], [200, 0.75]]
    car = pictures.draw_curves(small).axes[0]
    assert car.get_title() == "MountainCar: 1 of 2 runs solved"
    lines = {line.get_label(): line.get_ydata() for line in car.get_lines()}
    assert lines["as it acts (greedy; MiniGrid: drawn)"].tolist() == [0.5, 3.0]
    assert lines["the other way"].tolist() == [-0.5, 2.0]
    assert set(lines["counts as solved"]) == {pictures.THRESHOLDS["MountainCar-v0"]}
    door = pictures.draw_curves(small).axes[-1]
    lines = {line.get_label(): line.get_ydata() for line in door.get_lines()}
    assert lines["the other way"].tolist() == [0.5, 3.0]
    growth, seen, *shares = pictures.draw_sea(small).axes
    lines = {line.get_label(): line.get_ydata() for line in growth.get_lines()}
    assert lines["half of the runs"].tolist() == [50, 80]
    assert lines["all runs"][0] == 60
    assert np.isnan(lines["all runs"][1])
    assert lines["all, by bsuite's rule"][0] == 80
    assert lines["states in reach"].tolist() == [55, 210]
    assert seen.get_lines()[0].get_xdata().tolist() == list(range(20, 201, 20))
    widths = [bar.get_width() for axes in shares for bar in axes.patches]
    assert widths == [0.5] * 12  # one for every task
    solved = pictures.draw_parts(small).axes[0]
    dots = [line.get_xydata().tolist() for line in solved.get_lines() if len(line.get_xdata()) == 1]
    assert dots[:3] == [[[75, 0]], [[100, 1]], [[25, 2]]]


def test_all_pictures_are_drawn_from_a_file_into_a_folder(
    pictures: Any, small: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "kept.json").write_text(json.dumps(small))
    pictures.main(tmp_path / "kept.json", tmp_path)
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert drawn == {f"deep-exploration-{name}.png" for name in PICTURES}
    for path in tmp_path.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000


def test_the_page_shows_every_picture(pictures: Any) -> None:
    page = (ROOT / "docs" / "deep-exploration.md").read_text()
    assert tuple(pictures.PICTURES) == PICTURES
    for name in PICTURES:
        assert (ROOT / "docs" / "_static" / f"deep-exploration-{name}.png").is_file()
        assert page.count(f"](_static/deep-exploration-{name}.png)") == 1
