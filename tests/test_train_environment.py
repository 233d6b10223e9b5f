"""`jh train` in an environment: what it leaves and goes on with; `jh eval` and `jh watch`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pyarrow.parquet as pq
import pytest

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.cli import main
from jekyllhyde.cli.live_table import live_table, rows
from jekyllhyde.progress_bar import progress_bar

LAKE = ["train", "FrozenLake-v1", "--eval-every", "500", "--eval-episodes", "3"]
SMALL = ["--hidden", "8", "--hidden-hyde", "8", "--batch", "8", "--capacity", "500"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    status = main([str(word) for word in arguments])
    output = capsys.readouterr()
    return status, output.out, output.err


def table(path: Path) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
    return columns


def test_the_folder_of_a_training(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "lake"
    status, text, _ = run(capsys, *LAKE, "--steps", 1500, "--out", out, "--json")
    report = json.loads(text)
    assert status == 0
    assert report["measured"][1]["quantity"] == "undiscounted return, last evaluation"
    episodes, evaluations = table(out / "episodes.parquet"), table(out / "evaluations.parquet")
    assert list(episodes) == ["run", "episode", "step", "return", "length", "hyde"]
    assert np.cumsum(episodes["length"]).tolist() == episodes["step"]
    assert set(episodes["hyde"]) == {0, 1}
    assert evaluations["step"] == [500, 1000, 1500]
    assert all(lo <= mean for lo, mean in zip(evaluations["lo"], evaluations["mean"], strict=True))
    config = tomllib.loads((out / "config.toml").read_text())
    assert config["run"]["command"].startswith("jh train FrozenLake-v1 --eval-every 500")
    assert config["run"]["agent"] == "tabular_jekyll_hyde"
    assert config["versions"]["jekyllhyde"] == jh.__version__
    assert config["settings"]["gamma"] == 0.99
    assert (out / "train.png").read_bytes().startswith(b"\x89PNG")
    agent = jh.TabularJekyllHyde.load(out / "agent" / "agent.npz", "FrozenLake-v1")
    assert agent.steps == 1500
    assert (out / "best" / "agent.npz").exists()
    for file in report["files"]:
        assert Path(file).exists()


def test_going_on_is_never_having_stopped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    two = [*LAKE, "--runs", 2]  # in two processes, or in this one
    assert run(capsys, *two, "--workers", 2, "--steps", 1700, "--out", whole)[0] == 0
    assert run(capsys, *two, "--workers", 1, "--steps", 800, "--out", parts)[0] == 0
    assert run(capsys, "train", "--resume", parts, "--steps", 1700)[0] == 0
    for name in ("episodes.parquet", "evaluations.parquet"):
        assert table(whole / name) == table(parts / name)
    for name in ("run-0", "run-1"):
        a, b = (np.load(path / name / "agent" / "agent.npz") for path in (whole, parts))
        assert all(np.array_equal(a[key], b[key]) for key in a.files)


def test_episodes_end_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "train", "FrozenLake-v1", "--episodes", 7, "--out", tmp_path)[0] == 0
    assert len(table(tmp_path / "episodes.parquet")["run"]) == 7
    assert run(capsys, "train", "--resume", tmp_path, "--episodes", 9)[0] == 0
    assert len(table(tmp_path / "episodes.parquet")["run"]) == 9


def test_keywords_of_the_environment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = ["--env-kwargs", "map_name=8x8", "is_slippery=False", "--steps", 50, "--out", tmp_path]
    assert run(capsys, "train", "FrozenLake-v1", *flags)[0] == 0
    lake = gym.make("FrozenLake-v1", map_name="8x8")
    agent = jh.TabularJekyllHyde.load(tmp_path / "agent" / "agent.npz", lake)
    assert agent.tables.q.shape == (64, 4)
    status, _, error = run(capsys, "train", "FrozenLake-v1", "--env-kwargs", "8x8")
    assert (status, error) == (2, "jh: env_kwargs is '8x8'; it must be name=value\n")


def test_networks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = ["train", "CartPole-v1", "--steps", 300, "--eval-every", 150, *SMALL, "--out", tmp_path]
    assert run(capsys, *line)[0] == 0
    agent = deep.JekyllHyde.load(tmp_path / "agent", "CartPole-v1")
    assert agent.steps == 300
    assert [row["step"] for row in agent.evaluations] == [150, 300]
    assert run(capsys, "train", "--resume", tmp_path, "--steps", 350)[0] == 0
    assert deep.JekyllHyde.load(tmp_path / "agent").steps == 350


class Pressing(gym.Wrapper[Any, Any, Any, Any]):
    """FrozenLake in which Ctrl-C is pressed in step 321."""

    count = 0

    def __init__(self, **options: Any) -> None:
        super().__init__(gym.make("FrozenLake-v1"))

    def step(self, action: Any) -> Any:
        Pressing.count += 1
        if Pressing.count == 321:
            os.kill(os.getpid(), signal.SIGINT)
        return super().step(action)


@pytest.fixture
def pressing() -> Iterator[str]:
    gym.register("Pressing-v0", Pressing)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    Pressing.count = 0
    yield "Pressing-v0"
    signal.signal(signal.SIGINT, handler)
    del gym.registry["Pressing-v0"]


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent")
def test_ctrl_c_finishes_the_step_and_saves(
    pressing: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "stopped"
    status, _, error = run(capsys, "train", pressing, "--steps", 600, "--out", out)
    assert status == 130
    assert error == (
        "jh: stopped after 321 steps of run 0, which are saved; "
        f"go on with: jh train --resume {out}\n"
    )
    for name in ("episodes.parquet", "evaluations.parquet", "train.png", "report.html"):
        assert (out / name).exists()
    assert run(capsys, "train", "--resume", out)[0] == 0
    assert run(capsys, "train", pressing, "--steps", 600, "--out", tmp_path / "whole")[0] == 0
    episodes = [table(path / "episodes.parquet") for path in (out, tmp_path / "whole")]
    assert episodes[0] == episodes[1]
    Pressing.count = 0
    status, _, error = run(capsys, "train", pressing, "--steps", 600)
    assert (status, error) == (130, "jh: stopped; nothing is kept without --out FOLDER\n")


BAD = {
    "train --resume nowhere": "'nowhere' is no folder that jh train --out wrote",
    "train chain --resume nowhere": "only learning step by step in an environment is resumed",
    "train FrozenLake-v1 --steps 0": "steps is 0",
    "train FrozenLake-v1 --eval-every -1": "eval_every is -1",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, error = run(capsys, *line.split())
    assert status == 2
    assert BAD[line] in error
    assert error.count("\n") == 1


def test_the_rows_of_the_live_table() -> None:
    values = {"episodes": 3, "return_hyde": 2.0, "epsilon": 0.25, "critic_loss": 1e-5}
    assert rows(values, 10, 20) == [
        ("steps", "10 of 20"),
        ("episodes", "3"),
        ("return, Hyde's last 100", "2"),
        ("epsilon", "0.25"),
        ("critic's loss", "1e-05"),
    ]
    assert rows({}, 10, None)[0] == ("steps", "10")


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_kill_leaves_the_old_checkpoint_or_the_new(tmp_path: Path) -> None:
    """Killed at moments of its own choice, resumed each time: the curve of a run that lived."""
    line = ["train", "FrozenLake-v1", "--steps", "3000", "--checkpoint-every", "1"]
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "jekyllhyde"]
    first = True
    for delay in (0.2, 0.05, 0.4):
        start = ["--out", str(out)] if first else ["--resume", str(out)]
        child = subprocess.Popen(
            [*command, *(line if first else ["train"]), *start],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        checkpoint = out / "agent" / "agent.npz"
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while child.poll() is None and not (
            checkpoint.exists() and checkpoint.stat().st_mtime_ns > before
        ):
            time.sleep(0.01)
        time.sleep(delay)
        child.kill()
        _, errors = child.communicate()
        assert b"Error" not in errors, errors
        first = False
    assert main(["train", "--resume", str(out)]) == 0
    assert main([*line, "--checkpoint-every", "100000", "--out", str(tmp_path / "whole")]) == 0
    episodes = [table(path / "episodes.parquet") for path in (out, tmp_path / "whole")]
    assert episodes[0] == episodes[1]
    for folder in (out, out / "agent"):
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_eval_and_watch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "lake"
    two = ["--runs", 2, "--workers", 1]
    assert run(capsys, *LAKE, "--steps", 500, *two, "--out", out)[0] == 0
    status, text, _ = run(capsys, "eval", out, "--episodes", 5, "--json")
    rows_of_runs = json.loads(text)["returns"]
    assert status == 0
    assert [row["run"] for row in rows_of_runs] == ["0", "1", "means"]
    agent = jh.TabularJekyllHyde.load(out / "run-1" / "agent" / "agent.npz")
    assert rows_of_runs[1]["mean"] == jh.evaluate_policy(agent, "FrozenLake-v1", 5).mean
    status, text, _ = run(capsys, "eval", out, "--episodes", 3, "--who", "hyde", "--best")
    assert "hyde of" in text
    status, text, _ = run(capsys, "watch", out, "--fps", 1000, "--most", 3)
    assert status == 0
    assert text.count("FHFH") >= 1
    film = tmp_path / "film.gif"
    assert run(capsys, "watch", out, "--out", film, "--most", 3)[0] == 0
    assert film.read_bytes().startswith(b"GIF8")
    faults = {
        ("watch", out, "--out", "film.txt"): "it must end in .gif or .mp4",
        ("watch", out, "--who", "utterson"): "who is 'utterson'",
        ("eval", tmp_path): "is no folder that jh train --out wrote",
        ("watch", out, "--number", 5): "number is 5; the training has 2 runs, from 0 on",
    }
    for line, words in faults.items():
        status, _, error = run(capsys, *line)
        assert status == 2
        assert words in error


def test_pages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "other")]
    for seed, folder in enumerate(folders):
        assert run(capsys, *LAKE, "--steps", 500, "--seed", seed, "--out", folder)[0] == 0
    page = (folders[0] / "report.html").read_text()
    assert "Who led when" in page
    assert "Jekyll&#39;s value" in page
    assert "jh train FrozenLake-v1" in page
    assert run(capsys, "compare", *folders, "--out", tmp_path / "both.html")[0] == 0
    both = (tmp_path / "both.html").read_text()
    assert "<h1>one and other</h1>" in both
    assert "other: Jekyll" in both


def test_copies_of_the_environment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = ["train", "CartPole-v1", "--envs", 3, "--steps", 90, *SMALL, "--out", tmp_path]
    assert run(capsys, *line)[0] == 0
    agent = deep.JekyllHyde.load(tmp_path / "agent")
    assert agent.steps == 90
    assert len(agent.episodes) >= 3
    status, _, error = run(capsys, "train", "FrozenLake-v1", "--envs", 3, "--steps", 9)
    assert status == 2
    assert error.count("\n") == 1


BONUS = """
from typing import NamedTuple

class Inverse(NamedTuple):
    def value(self, visits, log_count):
        return 1.0 / (1.0 + visits)
"""


def test_code_of_a_stored_command_runs_only_if_trusted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A training with a choice of the user's own goes on, and is shown, with --trust."""
    (tmp_path / "mine.py").write_text(BONUS)
    out, own = tmp_path / "lake", ["--convention", "published", "--bonus"]
    start = ["train", "FrozenLake-v1", *own, tmp_path / "mine.py:Inverse", "--steps", 50]
    assert run(capsys, *start, "--out", out)[0] == 0
    page = tmp_path / "page.html"
    lines: list[list[Any]] = [
        ["train", "--resume", out, "--steps", 60],
        ["eval", out, "--episodes", 2],
        ["watch", out, "--fps", 1000, "--most", 2],
        ["compare", out, "--out", page],
    ]
    for line in lines:
        status, _, error = run(capsys, *line)
        assert status == 2
        assert "mine.py:Inverse; if you trust that code, give --trust" in error
        assert run(capsys, *line, "--trust")[0] == 0
    config = tomllib.loads((out / "config.toml").read_text())
    assert "--trust" not in config["run"]["arguments"]
    place = out / "agent" / "agent.npz"
    assert jh.TabularJekyllHyde.load(place, bonus=f"{tmp_path / 'mine.py'}:Inverse").steps == 60


def test_the_way_to_go_on_says_that_code_is_trusted(tmp_path: Path) -> None:
    from jekyllhyde.cli import parse

    line = ["train", "FrozenLake-v1", "--steps", "5"]
    trusting = [*line, "--critic", "mine.py:Timid"]
    for words, end in ((line, f"--resume {tmp_path}"), (trusting, f"{tmp_path} --trust")):
        assert parse(words).task.how_to_go_on(tmp_path).endswith(end)


def test_what_is_printed_is_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal obeys nothing that a name contains."""
    out = tmp_path / "a\x1b[2Jb"
    status, text, _ = run(capsys, "train", "FrozenLake-v1", "--steps", 20, "--out", out)
    assert status == 0
    assert "\x1b" not in text
    assert "a\\x1b[2Jb" in text
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with live_table("[/b]\x07 on Lake", None) as show:
        show({"epsilon": 0.5}, 1)
    with progress_bar(3, "[/b]\x07 bar") as advance:
        advance(1)
    shown = capsys.readouterr().err
    assert "\x07" not in shown
    assert "[/b]\\x07 on Lake" in shown
    assert "[/b]\\x07 bar" in shown
