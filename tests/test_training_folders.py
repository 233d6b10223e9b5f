"""A folder of `jh train --out` loses nothing: not to an environment that fails, not to a second
training, not to flags beside --resume; and it says what was run.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.cli import environment_training, main
from jekyllhyde.cli.training_folder import code_in_command
from jekyllhyde.cli.training_page import _named, _visits
from jekyllhyde.cli.training_task import Stopped

SMALL = ["--hidden", "8", "--batch", "8", "--capacity", "500"]
SHORT = ["--eval-every", "0", *SMALL]


class Failing(gym.Wrapper[Any, Any, Any, Any]):
    """CartPole that fails in its step 150, once: it raises, or its reward is none."""

    count, kind = 0, "raise"

    def __init__(self, **options: Any) -> None:
        super().__init__(gym.make("CartPole-v1"))

    def step(self, action: Any) -> Any:
        Failing.count += 1
        observation, reward, *others = super().step(action)
        if Failing.count == 150:
            if Failing.kind == "raise":
                raise RuntimeError("the motor is hot")
            reward = np.nan
        return observation, reward, *others


@pytest.fixture
def failing() -> Iterator[str]:
    gym.register("Failing-v0", Failing)
    Failing.count, Failing.kind = 0, "raise"
    yield "Failing-v0"
    del gym.registry["Failing-v0"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    status = main([str(word) for word in arguments])
    output = capsys.readouterr()
    return status, output.out, output.err


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("raise", r"RuntimeError in test_training_folders.py:\d+ \(the motor is hot\)"),
        ("nan", "nan"),
    ],
)
def test_an_environment_that_fails_costs_nothing(
    kind: str, words: str, failing: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Failing.kind = kind
    line = ["train", failing, "--agent", "ddqn", "--steps", 300, *SHORT, "--out"]
    out, whole = tmp_path / "failed", tmp_path / "whole"
    status, _, error = run(capsys, *line, out)
    assert status == 2
    assert error.count("\n") == 1
    assert re.search(words, error)
    assert (
        f"after 149 steps of run 0, which are saved; go on with: jh train --resume {out}" in error
    )
    assert deep.DoubleDQN.load(out / "agent").steps == 149
    assert all((out / name).exists() for name in ("episodes.parquet", "train.png", "report.html"))
    assert run(capsys, "train", "--resume", out)[0] == 0
    assert run(capsys, *line, whole)[0] == 0
    one, other = (deep.DoubleDQN.load(path / "agent").arrays() for path in (out, whole))
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name])


def test_a_training_is_not_written_over(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = ["train", "FrozenLake-v1", "--steps", 60, "--out", tmp_path]
    assert run(capsys, *line)[0] == 0
    status, _, error = run(capsys, *line)
    assert status == 2
    assert f"holds a training; go on with jh train --resume {tmp_path}" in error
    assert run(capsys, "train", "--resume", tmp_path, "--steps", 80)[0] == 0
    several = [*line[:-1], tmp_path / "runs", "--runs", 2, "--workers", 1]
    assert run(capsys, *several)[0] == 0
    assert run(capsys, *several)[0] == 2


@pytest.mark.parametrize("flag", ["--gamma=0.5", "--seed=7", "--runs=2", "--seeds=2", "--envs=2"])
def test_what_an_agent_is_cannot_be_given_anew(
    flag: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(capsys, "train", "FrozenLake-v1", "--steps", 20, "--out", tmp_path)[0] == 0
    before = (tmp_path / "config.toml").read_text()
    status, _, error = run(capsys, "train", "--resume", tmp_path, "--steps", 30, flag)
    assert status == 2
    assert "is given beside --resume" in error
    assert (tmp_path / "config.toml").read_text() == before


def test_the_configuration_has_the_whole_command_and_every_setting(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    line = ["train", "CartPole-v1", *SMALL, "--hidden-hyde", "8", "--seeds", "1"]
    assert run(capsys, *line, "--steps", 20, "--out", tmp_path)[0] == 0
    assert run(capsys, "train", "--resume", tmp_path, "--steps", 30)[0] == 0
    assert run(capsys, "train", "--resume", tmp_path, "--steps=40")[0] == 0
    config = tomllib.loads((tmp_path / "config.toml").read_text())
    words = shlex.split(config["run"]["command"])
    assert words[:3] == ["jh", "train", "CartPole-v1"]
    assert [word for word in words if word.startswith("--steps")] == ["--steps=40"]
    assert words[-2:] == ["--out", str(tmp_path)]
    assert "power=0.5" in config["settings"]["bonus"]
    assert "finer=True" in config["settings"]["bonus"]
    assert "weariness=" in config["settings"]["explorer"]


def test_a_training_is_evaluated_unless_that_is_forbidden(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    line = ["train", "FrozenLake-v1", "--steps", 1000, "--out"]
    assert run(capsys, *line, tmp_path / "one")[0] == 0
    agent = jh.TabularJekyllHyde.load(tmp_path / "one" / "best" / "agent.npz")
    assert [row["step"] for row in agent.evaluations] in ([500], [500, 1000])
    assert run(capsys, "eval", tmp_path / "one", "--best", "--episodes", 2)[0] == 0
    assert run(capsys, *line, tmp_path / "none", "--eval-every", 0)[0] == 0
    assert not (tmp_path / "none" / "best").exists()


def test_trainings_of_the_same_name_are_told_apart(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folders = [tmp_path / place / "lake" for place in ("one", "other")]
    for folder in folders:
        assert run(capsys, "train", "FrozenLake-v1", "--steps", 50, "--out", folder)[0] == 0
    page = tmp_path / "page.html"
    assert run(capsys, "compare", *folders, "--out", page)[0] == 0
    assert "<h1>one/lake and other/lake</h1>" in page.read_text()
    assert list(_named({Path("a/b"): [], Path("a/c"): []})) == ["b", "c"]


def test_warnings_are_sentences(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Not lines of our source."""
    shown: list[str] = []

    class Odd(gym.Wrapper[Any, Any, Any, Any]):
        def __init__(self, **options: Any) -> None:
            import warnings

            super().__init__(gym.make("FrozenLake-v1"))
            shown.append(warnings.formatwarning("the lake is cold", UserWarning, "a.py", 3))

    gym.register("Odd-v0", Odd)
    try:
        assert run(capsys, "train", "Odd-v0", "--steps", 5)[0] == 0
    finally:
        del gym.registry["Odd-v0"]
    assert set(shown) == {"jh: the lake is cold\n"}


def test_agents_and_their_episodes_say_what_they_are() -> None:
    agent = jh.TabularJekyllHyde("FrozenLake-v1", seed=0)
    assert repr(agent.episodes) == "Episodes(none has ended)"
    agent.learn(200)
    text = f"Episodes({len(agent.episodes)}, mean return of the last "
    assert repr(agent.episodes).startswith(text)
    assert repr(agent).startswith("TabularJekyllHyde(FrozenLake-v1, 200 steps, Episodes(")
    assert repr(jh.TabularJekyllHyde()) == "TabularJekyllHyde(without an environment)"


def test_seeds_are_runs(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["train", "FrozenLake-v1", "--steps", 20, "--json"]
    for flags in (["--seeds", 2], ["--seeds=2"], ["--runs", 2]):
        status, text, _ = run(capsys, *line, *flags)
        assert (status, json.loads(text)["runs"]) == (0, 2)


@pytest.mark.parametrize(
    ("problem", "is_trusted"),
    [
        ("minigrid:MiniGrid-Empty-5x5-v0", True),
        ("minigrid.envs:MiniGrid-Empty-5x5-v0", True),
        ("os:Id-v0", False),  # of the standard library
        ("mine:Mine-v0", False),
        ("numpy.py:Mine", False),  # a file, whatever it is called
        ("no such:Id-v0", False),
        ("../minigrid:Id-v0", False),
        ("FrozenLake-v1", True),
    ],
)
def test_installed_packages_are_trusted_and_files_are_not(
    problem: str, is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine.py").write_text("raise SystemExit('it was run')")
    assert (code_in_command([problem]) == []) == is_trusted


def test_a_file_in_the_way_of_a_package_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "minigrid.py").write_text("raise SystemExit('it was run')")
    monkeypatch.delitem(sys.modules, "minigrid", raising=False)
    assert code_in_command(["minigrid:Id-v0"]) == ["minigrid:Id-v0"]


def test_networks_on_a_grid_show_their_visits() -> None:
    agent = deep.JekyllHyde("FrozenLake-v1", hidden=(8,), hidden_hyde=(8,), batch=4, capacity=90)
    visits = _visits(agent.learn(60), 16)
    assert (len(visits), visits.sum()) == (16, 60)


def test_runs_that_were_stopped_before_their_first_checkpoint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to draw yet, and the sentence is the one of the stop."""

    def stopped(*_: Any) -> None:
        raise Stopped("stopped and saved")

    monkeypatch.setattr(environment_training, "run_in_processes", stopped)
    line = ["train", "FrozenLake-v1", "--runs", 2, "--workers", 2, "--out", tmp_path]
    assert run(capsys, *line)[::2] == (130, "jh: stopped and saved\n")
