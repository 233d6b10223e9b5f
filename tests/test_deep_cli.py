"""`jh train` with networks: what it prints and writes, and one sentence with exit status 2 for bad
input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pyarrow.parquet as pq
import pytest

from jekyllhyde import deep
from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.cli import main
from jekyllhyde.cli.flags import agent_options
from jekyllhyde.cli.learning import device_sentence

SMALL = ["--hidden", "8", "--batch", "8", "--capacity", "200"]
SHORT = ["--runs", "2", "--episodes", "20", *SMALL]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["train", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_train_with_networks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The command, the library and the files agree; the agent has networks whatever the problem is
    called.
    """
    arguments = ["--agent", "ddqn", "--level", "2", "--size", "7", *SHORT, "--eta-c", "0.005"]
    status, out, _ = run(capsys, "four-rooms", *arguments, "--out", str(tmp_path), "--json")
    report = json.loads(out)
    chosen = {"eta_c": 0.005, "hidden": (8,), "batch": 8, "capacity": 200}
    result = deep.train(
        "four_rooms", "ddqn", level=2, size=7, seeds=2, episodes=20, hyperparameters=chosen
    )
    measured = {row["quantity"]: row["mean"] for row in report["measured"]}
    table = pq.read_table(tmp_path / "train.parquet").to_pydict()
    assert status == 0
    assert report["settings"]["eta_c"] == 0.005
    assert measured["undiscounted score, exact"] == pytest.approx(result.exact_score[:, -1].mean())
    assert measured["undiscounted score of the optimum"] == pytest.approx(result.optimum)
    assert table["run"] == [0, 0, 1, 1]
    assert table["episode"] == [10, 20, 10, 20]
    assert table["exact_score"] == result.exact_score.ravel().tolist()
    for name in ("train.png", "rooms.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    loaded = deep.DoubleDQN.load(tmp_path / "run-1")
    states = range(result.mdp.n_states)
    assert [loaded.predict(s) for s in states] == result.pi[1, -1].argmax(-1).tolist()
    files = ("train.parquet", "train.png", "rooms.png", "run-0", "run-1")
    assert report["files"] == [str(tmp_path / name) for name in files]


def test_the_table_names_device_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "Chain-v0", "--n-states", "4", "--agent", "ddqn", *SHORT)
    assert status == 0
    assert "runs that diverged" in out
    assert f"device: {jax.default_backend()}; for 2 runs" in out


@pytest.mark.parametrize("chosen", [[], ["--agent", "ddqn"]])
def test_networks_on_a_gymnasium_environment(
    chosen: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without an agent, J&H with networks where a space is not Discrete; a line says so."""
    arguments = ["CartPole-v1", *chosen, "--steps", "120", "--runs", "2", *SMALL]
    status, out, _ = run(capsys, *arguments, "--out", str(tmp_path))
    assert status == 0
    assert ("not both spaces are Discrete" in out.splitlines()[0]) == (not chosen)
    assert "undiscounted return, last 100 episodes" in out
    table = pq.read_table(tmp_path / "episodes.parquet").to_pydict()
    assert table["return"] == table["length"]  # a reward of 1 per step
    assert set(table["run"]) == {0, 1}


def test_names_have_dashes_or_underscores(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for rule in ("soft-cross-entropy", "soft_cross_entropy"):
        arguments = ["--agent", "jekyll-hyde", "--actor-rule", rule, *SHORT, "--episodes", "10"]
        report = json.loads(run(capsys, "chain", "--n-states", "4", *arguments, "--json")[1])
        assert report["settings"]["actor_rule"] == "soft_cross_entropy"
        outputs.append(report["measured"])
    assert outputs[0] == outputs[1]


def test_the_faster_device_is_named() -> None:
    assert "times as fast as" in device_sentence("cpu", 1000)
    assert device_sentence("gpu", 5).startswith("device: gpu; for 5 runs")


@pytest.mark.parametrize("name", [name for name in AGENTS if AGENTS[name].extra == "deep"])
def test_every_option_shows_the_value_in_force(name: str) -> None:
    for config in ("recommended", "paper"):
        options = agent_options(find_agent(name), {"config": config})
        settings = deep.configure(name, config)
        assert options["config"].default == config
        for option in ("gamma", "eta_c", "hidden", "batch", "clip"):
            assert options[option].default == getattr(settings, option), option


BAD = {
    "FourRooms-v0 --agent ddqn --level 3": "level is 3; it must be 1 or 2",
    "FourRooms-v0 --agent ddqn --runs 0": "runs is 0",
    "FourRooms-v0 --agent ddqn --episodes 5": "episodes is 5",
    "FourRooms-v0 --agent ddqn --config best": "config is 'best'",
    "FourRooms-v0 --agent ppo": "agent is 'ppo'",
    "FourRooms-v0 --agent ddqn --device tpu": "device is 'tpu'",
    "FourRooms-v0 --agent jekyll-hyde --actor-rule guess": "actor_rule is 'guess'",
    "FourRooms-v0 --agent ddqn --n-states 5": "--n-states is given",
    "FourRooms-v0 --agent sac --epsilon-1 3": "--epsilon-1 is given, but jh train FourRooms-v0",
    "FourRooms-v0 --agent jekyll-hyde --trajectories 4": "--trajectories is given",
    "FourRooms-v0 --agent ddqn --o 0.5": "--o is given",
    "four_rooms --episodes 20": "four_rooms --agent tabular-jekyll-hyde does not take it",
    "Pendulum-v1": "action space",
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
    status, _, err = run(capsys, "FourRooms-v0", "--agent", "ddqn", "--device", "gpu")
    assert status == 2
    assert "JAX finds no such device here" in err


def cache_of(home: Path, **more: str) -> str:
    """Where a fresh process with that cache home keeps compiled programs, and how many it has
    written.
    """
    code = (
        "import jax; jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0);"
        "from jekyllhyde import deep;"
        "from jekyllhyde.deep.compiler import keep_compiled; "
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
