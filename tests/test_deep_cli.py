"""`jh train` with networks: what it prints and writes, and one sentence with exit status 2 for bad
input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import jax
import numpy as np
import pyarrow.parquet as pq
import pytest

from jekyllhyde import deep
from jekyllhyde.cli import main
from jekyllhyde.cli.train_deep import DEFAULTS, SHARED, Deep, device_sentence

SMALL = [
    "--size",
    "7",
    "--seeds",
    "2",
    "--episodes",
    "20",
    "--hidden",
    "8",
    "--batch",
    "8",
    "--capacity",
    "200",
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["train", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_train_with_networks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The command, the library and the files agree."""
    arguments = [
        "FourRooms-v0",
        "--agent",
        "ddqn",
        "--level",
        "2",
        *SMALL,
        "--eta-c",
        "0.005",
        "--out",
        str(tmp_path),
        "--json",
    ]
    status, out, _ = run(capsys, *arguments)
    report = json.loads(out)
    own = {"eta_c": 0.005, "hidden": (8,), "batch": 8, "capacity": 200}
    result = deep.train(
        "four_rooms", "ddqn", level=2, size=7, seeds=2, episodes=20, hyperparameters=own
    )
    measured = {row["quantity"]: row["mean"] for row in report["measured"]}
    table = pq.read_table(tmp_path / "train.parquet").to_pydict()
    assert status == 0
    assert report["device"] == jax.default_backend()
    assert measured["score, exact"] == pytest.approx(result.exact_score[:, -1].mean())
    assert measured["optimum"] == pytest.approx(result.optimum)
    assert table["run"] == [0, 0, 1, 1]
    assert table["episode"] == [10, 20, 10, 20]
    assert table["exact_score"] == result.exact_score.ravel().tolist()
    for name in ("train.png", "rooms.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    loaded = deep.DoubleDQN.load(tmp_path / "run-1")
    states = range(result.mdp.n_states)
    assert [loaded.predict(s) for s in states] == result.pi[1, -1].argmax(-1).tolist()
    assert report["files"] == [
        str(tmp_path / name)
        for name in ("train.parquet", "train.png", "rooms.png", "run-0", "run-1")
    ]


def test_the_table_names_device_and_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "Chain-v0", "--n-states", "4", "--agent", "ddqn", *SMALL[2:])
    assert status == 0
    assert "seeds that diverged" in out
    assert f"device: {jax.default_backend()}; for 2 seeds" in out


def test_the_faster_device_is_named() -> None:
    assert "times as fast as" in device_sentence("cpu", 1000)
    assert device_sentence("gpu", 5).startswith("device: gpu; for 5 seeds")


def test_every_hyperparameter_is_a_flag() -> None:
    flags = {field.name for field in fields(Deep)} | set(SHARED) - set(DEFAULTS)
    for agent in deep.AGENTS:
        settings = {field.name for field in fields(deep.configure(agent))}
        assert settings - {"gamma", "rnd"} <= flags, (
            agent
        )  # gamma is the problem's, rnd the agent's name


BAD = {
    "FourRooms-v0 --level 3": "level is 3; it must be 1 or 2",
    "FourRooms-v0 --seeds 0": "seeds is 0",
    "FourRooms-v0 --episodes 5": "episodes is 5",
    "FourRooms-v0 --config best": "config is 'best'",
    "FourRooms-v0 --agent ppo": "agent is 'ppo'",
    "FourRooms-v0 --agent on-policy": "agent is 'on-policy'",
    "FourRooms-v0 --device tpu": "device is 'tpu'",
    "FourRooms-v0 --actor-rule guess": "actor_rule is 'guess'",
    "FourRooms-v0 --n-states 5": "four_rooms does not take n_states",
    "FourRooms-v0 --agent sac --epsilon-1 3": "hyperparameter of sac is 'epsilon_1'",
    "FourRooms-v0 --trajectories 4": "trajectories is given",
    "FourRooms-v0 --runs 4": "runs is given",
    "FourRooms-v0 --o 0.5": "o is given",
    "four_rooms --episodes 20": "episodes is given, but jekyll-hyde on four_rooms is tabular",
    "CartPole-v1 --agent ddqn": "problem is 'CartPole-v1'",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *line.split())
    assert status == 2
    assert BAD[line] in err
    assert err.count("\n") == 1
    assert out == ""


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU here")
def test_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "FourRooms-v0", "--device", "gpu")
    assert status == 2
    assert "JAX finds no such device here" in err


def cache_of(home: Path, **more: str) -> str:
    """Where a fresh process with that cache home keeps compiled programs, and how many it has
    written.
    """
    code = (
        "import jax; jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0); from jekyllhyde import deep;"
        "from jekyllhyde.deep.cache import keep_compiled; "
        "small = {'hidden': (4,), 'batch': 4, 'capacity': 50};"
        "r = deep.train('chain', 'ddqn', n_states=4, seeds=1, episodes=10, hyperparameters=small);"
        "print(keep_compiled(), float(r.q.sum()))"
    )
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith("JAX_COMPILATION")
    }
    environment |= {"XDG_CACHE_HOME": str(home), **more}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_compiled_programs_are_kept_between_processes(tmp_path: Path) -> None:
    folder = tmp_path / "jekyllhyde" / "jax"
    first = cache_of(tmp_path)
    programs = {path.name for path in folder.glob("*-cache")}
    assert first.startswith(str(folder))
    assert any("_run" in name for name in programs)
    assert cache_of(tmp_path) == first  # the same numbers from the stored programs, and no new ones
    assert {path.name for path in folder.glob("*-cache")} == programs


def test_no_cache_where_none_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder, total = cache_of(tmp_path / "file").split()
    assert folder == "None"
    assert np.isfinite(float(total))
