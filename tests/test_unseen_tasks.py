"""The unseen tasks are sound: scripted policies solve them, uniform ones do not, both checks of
environments pass; and the table is what the rows say.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import jekyllhyde as jh

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
STORE = BENCHMARKS / "results" / "unseen.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in STORE.read_text().splitlines()]
NAMES = [
    *("maze_s", "maze_velocity", "maze_repeat", "maze_turtle", "maze_rays"),
    *("pix_keydoor", "pix_far", "pix_catch"),
    *("dict_switches", "dict_lock", "dict_lock_noise", "dict_image"),
]


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("unseen")
    for name in ("unseen", "unseen_grids", "unseen_mazes", "common"):
        sys.modules.pop(name, None)


def mean_return(env: Any, choose: Callable[[], int], episodes: int) -> float:
    totals = []
    for seed in range(episodes):
        env.reset(seed=seed)
        total, is_over = 0.0, False
        while not is_over:
            _, reward, terminated, truncated, _ = env.step(choose())
            total, is_over = total + reward, terminated or truncated
        totals.append(total)
    return fmean(totals)


def test_every_task_is_tested(unseen: Any) -> None:
    assert [*unseen.TASKS] == [*unseen.STEPS] == [*unseen.SCORES] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_scripted_policy_solves_a_task_and_a_uniform_one_does_not(
    name: str, unseen: Any
) -> None:
    scripted, uniform, decoy = unseen.SCORES[name]
    level = unseen.solved_from(name)
    assert max(uniform, decoy) < level < scripted
    env = unseen.TASKS[name]()
    assert mean_return(env, env.scripted, 5) == pytest.approx(
        scripted, abs=0.1 * (scripted - decoy)
    )
    assert env.goals == 5
    assert 0 < env.first_goal <= env.limit
    random, env = np.random.default_rng(1886), unseen.TASKS[name]()
    assert mean_return(env, lambda: int(random.integers(env.action_space.n)), 6) < level


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of images smaller than most
def test_both_checks_pass(name: str, unseen: Any) -> None:
    report = jh.check_env(unseen.TASKS[name], steps=500)
    assert report.ok, report
    gymnasium_check(unseen.TASKS[name](), skip_render_check=True)


class Constant:
    """Takes one action, whatever is seen; in episodes that are drawn, another."""

    def __init__(self, greedy: int, drawn: int, shapes: dict[str, tuple[int, ...]]) -> None:
        self.greedy, self.drawn, self.shapes = greedy, drawn, shapes

    def predict(self, seen: dict[str, np.ndarray], deterministic: bool) -> np.ndarray:
        assert {name: part.shape for name, part in seen.items()} == self.shapes
        return np.full(20, self.greedy if deterministic else self.drawn)


def test_twenty_episodes_are_played_beside_each_other(unseen: Any) -> None:
    agent = Constant(4, 0, {"stage": (20,), "colour": (20,), "dial": (20, 2)})
    assert unseen.evaluate(agent, "dict_lock", greedy=True) == pytest.approx(0.1)
    assert unseen.evaluate(agent, "dict_lock", greedy=False) == 0.0


def test_every_row_is_a_run_on_a_budget(unseen: Any) -> None:
    runs = [(row["task"], row["seed"], row["label"]) for row in ROWS]
    assert len(set(runs)) == len(runs) > 0
    for row in ROWS:
        steps = unseen.STEPS[row["task"]]
        assert row["steps"] == steps
        for way in ("greedy", "drawn"):
            assert len(row[way]) == steps // 2_500
            level = unseen.solved_from(row["task"])
            solved = [2_500 * (1 + i) for i, mean in enumerate(row[way]) if mean >= level]
            assert row[f"solved_{way}"] == (solved[0] if solved else None)
        assert (row["first_goal"] is None) == (row["goals"] == 0)


def test_the_table_is_what_the_rows_say(unseen: Any) -> None:
    text = STORE.with_suffix(".md").read_text()
    assert text == unseen.page(ROWS)
    lines = re.findall(r"^\| (\w+) \| (.+?) \| (\d+) \| ([\d,]+) \| (.*) \|$", text, re.MULTILINE)
    assert len(lines) == len({(row["task"], row["label"]) for row in ROWS})
    for task, label, seeds, budget, others in lines:
        runs = [row for row in ROWS if (row["task"], row["label"]) == (task, label)]
        assert (len(runs), f"{unseen.STEPS[task]:,}") == (int(seeds), budget)
        drawn, greedy, last_drawn, last_greedy, *_ = others.split(" | ")
        for way, cell, last in (("drawn", drawn, last_drawn), ("greedy", greedy, last_greedy)):
            solved = sorted(row[f"solved_{way}"] for row in runs if row[f"solved_{way}"])
            steps = ": " + " ".join(f"{step:,}" for step in solved) if solved else ""
            assert cell == f"{len(solved)} of {seeds}{steps}"
            assert float(last) == pytest.approx(fmean(row[way][-1] for row in runs), abs=0.006)


def test_medians_count_those_that_never_met_the_goal(unseen: Any) -> None:
    assert unseen.usual([300, None, 1_000]) == "1,000"
    assert unseen.usual([300, None]) == unseen.usual([None, 300, None]) == "never"
    assert unseen.how_many([None, 5_000, 2_500]) == "2 of 3: 2,500 5,000"
    assert unseen.how_many([None]) == "0 of 1"


def test_what_is_kept_is_not_run_again(
    unseen: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int, str, Any]] = []

    def make(task: str, seed: int, label: str, settings: Any) -> dict[str, Any]:
        made.append((task, seed, label, settings))
        return {name: ROWS[0][name] for name in ROWS[0].keys() - {"task", "seed", "label"}}

    monkeypatch.setattr(unseen, "make", make)
    monkeypatch.setattr(unseen, "pin_to_one_core", lambda: None)
    store = tmp_path / "rows.jsonl"
    call = ["unseen.py", "--tasks", "maze_s", "--store", str(store), "--label", "one", "--settings"]
    for seeds in (["1"], ["1", "2"]):
        monkeypatch.setattr(sys, "argv", [*call, '{"n_steps": 1}', "--seeds", *seeds])
        unseen.main()
    assert made == [("maze_s", 1, "one", {"n_steps": 1}), ("maze_s", 2, "one", {"n_steps": 1})]
    assert store.with_suffix(".md").read_text().count("| maze_s | one | 2 | 25,000 |") == 1
    monkeypatch.setattr(sys, "argv", ["unseen.py", "--settings", '{"n_steps": 1}'])
    with pytest.raises(SystemExit):
        unseen.main()
