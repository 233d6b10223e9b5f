"""The README's table of scores is what the runs say; the tasks in which Stable-Baselines3 is
measured are those of our agents, bits and all.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import jekyllhyde as jh

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (\S+-v\d), (-?\d+) in ([\d,]+) steps \| (.*) \|$", re.MULTILINE)
STORE = ROOT / "benchmarks" / "results" / "scores.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in STORE.read_text().splitlines()]


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("scores")
    for name in ("scores", "peers_outside", "common"):
        sys.modules.pop(name, None)


def test_the_readme_says_how_many_seeds_solve_a_task() -> None:
    text = (ROOT / "README.md").read_text()
    head = next(line for line in text.splitlines() if line.startswith("| | J&H | SB3"))
    methods = [name.strip().replace("J&H", "jekyll-hyde") for name in head.split("|")[2:-1]]
    found = ROW.findall(text)
    assert len(found) == 3
    for task, level, budget, cells in found:
        for method, cell in zip(methods, cells.split(" | "), strict=True):
            key = {"task": task, "method": method, "steps": int(budget.replace(",", ""))}
            runs = [row for row in ROWS if key.items() <= row.items()]
            assert len({row["seed"] for row in runs}) == len(runs) > 0
            solved = sum(row["best"] >= float(level) for row in runs)
            assert cell == f"{solved} of {len(runs)}", (task, method)


def test_every_run_that_is_kept_is_of_a_part(scores: Any) -> None:
    cases = {tuple(case) for part in scores.PARTS.values() for case in part}
    assert {(row["task"], row["steps"], row["method"]) for row in ROWS} <= cases
    runs = [
        (row["task"], row["steps"], row["method"], row["settings"], row["seed"]) for row in ROWS
    ]
    assert len(set(runs)) == len(runs)


def invented(case: Any, seeds: int, **played: Any) -> list[dict[str, Any]]:
    evaluations = {"evaluations": [0.0, 1.0], "drawn_evaluations": [1.0, 1.0], "every": 15_000}
    row = case._asdict() | {"settings": "", "busy": 30.0, "best": 1.0} | evaluations | played
    return [row | {"seed": seed} for seed in range(seeds)]


def test_the_tables_count_budgets_seeds_and_what_is_solved(scores: Any) -> None:
    case = scores.Case("MiniGrid-DoorKey-8x8-v0", 300_000, "SB3 PPO, zoo")
    data = [
        *invented(case, 2, last=0.95, drawn=1.0),
        *invented(case, 1, last=0.94, drawn=1.0, evaluations=[0.0, 0.94], drawn_evaluations=[0, 0]),
        *invented(case._replace(steps=100), 5, last=0.0, drawn=0.0),  # no budget of ours
        *invented(case._replace(method="SB3 DQN"), 1, last=0.0, drawn=0.2, evaluations=[0, 0]),
    ]
    head, _, zoo, dqn = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in scores.part_table("grids", data).splitlines()
    )
    assert head[:5] == ["task", "method", "seeds", "last policy", "solved"]
    assert head[5:9] == ["best policy", "solved", "drawn policy", "solved"]
    assert head[9:] == ["ever, greedy", "ever, drawn", "processor seconds"]
    assert zoo[:5] == [
        "MiniGrid-DoorKey-8x8-v0, 300,000 steps",
        "SB3 PPO, zoo",
        "3",
        "0.95 [0.94, 0.95]",
        "2 of 3",
    ]
    assert zoo[5:9] == ["1.00 [1.00, 1.00]", "3 of 3", "1.00 [1.00, 1.00]", "3 of 3"]
    assert zoo[9:] == ["2, at 30,000", "2, at 15,000", "30"]
    assert dqn[2:5] == ["1", "0.00 [0.00, 0.00]", "0 of 1"]
    assert dqn[9:] == ["0", "1, at 15,000", "30"]


def test_rows_from_before_there_were_budgets_and_draws_are_counted(scores: Any) -> None:
    old = {"task": "CartPole-v1", "method": "SB3 DQN, zoo", "settings": "", "steps": 50_000}
    played = {"last": 400.0, "best": 500.0, "evaluations": [9.0, 480.0], "seconds": 1.0}
    data = [old | played | {"seed": seed} for seed in range(4)]
    small, zoo = (scores.part_table(part, data).splitlines() for part in ("defaults", "zoo"))
    assert small[0] == "| task | method | seeds | last policy | solved | best policy | solved |"
    assert "| 4 | 400.0 [400.0, 400.0] | 0 of 4 | 500.0 [500.0, 500.0] | 4 of 4 |" in small[2]
    assert zoo[2].endswith("| 4 of 4 | 4, at 10,000 |")


def test_a_run_that_is_kept_is_not_made_again(scores: Any, tmp_path: Path) -> None:
    made = []

    def make(**key: Any) -> dict[str, Any]:
        made.append(key["steps"])
        return {"last": 1.0}

    keys = [scores.Case("CartPole-v1", n, "SB3 PPO").key | {"seed": 0} for n in (100, 200)]
    old = keys[0] | {"last": 0.0}
    (tmp_path / "rows").write_text(json.dumps(old) + "\n")
    for _ in range(2):
        scores.make_missing(tmp_path / "rows", keys, make)
    assert made == [200]
    assert scores.kept_rows(tmp_path / "rows") == [old, keys[1] | {"last": 1.0}]


@pytest.mark.parametrize(
    ("name", "domain", "options"),
    [
        ("DeepSea of 10", "deep_sea", {"n": 10}),
        ("DeepSea of 20", "deep_sea", {"n": 20}),
        ("Four Rooms, level 1", "four_rooms", {"level": 1}),
    ],
)
def test_the_optimum_solves_a_yardstick_and_one_action_does_not(
    name: str, domain: str, options: dict[str, int], scores: Any
) -> None:
    task, best = scores.TASKS[name], getattr(jh, domain)(**options).optimal().pi.argmax(1)

    def policy(seen: Any, greedy: bool) -> Any:
        return best[seen]

    found = scores.scores(task, policy, 100, 0)
    assert task.solved <= found.mean() < task.solved + 0.6
    assert (found == scores.scores(task, policy, 100, 0)).all()
    best[:] = 0
    assert scores.scores(task, policy, 100, 0).mean() < task.solved


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("size", [5, 6, 8])
def test_in_minigrid_they_see_the_bits_that_our_agents_see(size: int, scores: Any) -> None:
    pytest.importorskip("minigrid")
    pytest.importorskip("jax")
    spaces = importlib.import_module("jekyllhyde.deep.spaces")
    task = scores.TASKS[f"MiniGrid-DoorKey-{size}x{size}-v0"]
    plain: Any = gym.make(task.id)
    bits, space = task.make(), spaces.space_of(plain, one_hot=True)
    assert bits.observation_space.shape == space.shape
    random = np.random.default_rng(size)
    seen, own = bits.reset(seed=size)[0], plain.reset(seed=size)[0]
    for _ in range(300):
        assert (seen == spaces.read(space, own)).all()
        assert bits.observation_space.contains(seen)
        action = random.integers(7)
        (seen, *_), (own, _, *ended, _) = bits.step(action), plain.step(action)
        if any(ended):
            seen, own = bits.reset()[0], plain.reset()[0]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_an_episode_in_a_grid_counts_by_its_success(scores: Any) -> None:
    pytest.importorskip("minigrid")
    task, random = scores.TASKS["MiniGrid-DoorKey-5x5-v0"], np.random.default_rng(0)
    found = scores.scores(task, lambda seen, greedy: random.integers(7, size=len(seen)), 20, 0)
    assert set(found) == {0.0, 1.0}
    assert not scores.scores(task, lambda seen, greedy: np.zeros(len(seen), int), 2, 0).any()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("task", "method"),
    [("MiniGrid-DoorKey-5x5-v0", "SB3 PPO, zoo"), ("DeepSea of 10", "SB3 DQN")],
)
def test_stable_baselines_is_trained_and_judged(
    task: str, method: str, scores: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("stable_baselines3", reason="the extra peers is not installed")
    pytest.importorskip("minigrid")
    monkeypatch.setattr(scores, "FINAL", 2)
    monkeypatch.setitem(scores.TASKS, task, scores.TASKS[task]._replace(every=500, episodes=2))
    row = scores.make(task, method, 0, 1_000)
    assert len(row["evaluations"]) == 2
    assert len(row["drawn_evaluations"]) == (2 if "Grid" in task else 0)
    assert {"last", "best", "drawn", "every", "seconds", "busy"} < row.keys()
