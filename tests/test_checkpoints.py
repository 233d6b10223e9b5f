"""Checkpoints: whole or not at all, and what is not one is refused in one sentence."""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import jekyllhyde as jh
from jekyllhyde import deep, files
from jekyllhyde.errors import InputError

LAKE = "FrozenLake-v1"
SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 50}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    deep.JekyllHyde(LAKE, warmup=20, **SMALL).learn(60).save(folder / "networks")
    jh.TabularJekyllHyde(LAKE).learn(60).save(folder / "tables.npz")
    return folder


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("touch executed",)


def edited(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda about: about | changes


def within(name: str, **changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda about: about | {name: about[name] | changes}


# changes of agent.json
TEXTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another agent": edited(agent="ddqn"),
    "a newer format": edited(format=99),
    "no format": lambda about: {},
    "a list": lambda about: [about],
    "steps that are not those of the replay": edited(steps=3),
    "steps that are no number": edited(steps="many"),
    "a negative seed": edited(seed=-1),
    "an absurd width": within("settings", hidden=[10**9]),
    "absurdly many layers": within("settings", hidden=[1] * 10**6),
    "absurdly many critics": within("settings", critics=10**9),
    "an absurd capacity": within("settings", capacity=10**12),
    "an absurd space": within("space", n_states=10**12),
    "a space of text": within("space", n_states="16"),
    "an action that there is not": within("episode", next_action=4),
    "a leader that there is not": within("episode", hyde=7),
    "an episode before its time": within("episode", number=-1),
    "more of an episode": within("episode", mood="good"),
    "code for a rule": within("settings", actor_rule="os.py:system"),
    "a path for a bonus": within("settings", bonus="../../evil.py:Bonus()"),
    "evaluations of text": edited(evaluations=[{"step": "evil"}]),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_hostile_texts_of_agents_with_networks(fault: str, saved: Path, tmp_path: Path) -> None:
    about = json.loads((saved / "networks" / "agent.json").read_text())
    (tmp_path / "agent.json").write_text(json.dumps(TEXTS[fault](about)))
    os.link(saved / "networks" / "state.safetensors", tmp_path / "state.safetensors")
    refuse(deep.JekyllHyde, tmp_path)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(word: str, saved: Path, tmp_path: Path) -> None:
    text = (saved / "networks" / "agent.json").read_text()
    (tmp_path / "agent.json").write_text(text.replace('"total": 0.0', f'"total": {word}'))
    os.link(saved / "networks" / "state.safetensors", tmp_path / "state.safetensors")
    refuse(deep.JekyllHyde, tmp_path)


def changed(name: str, value: Callable[[Any], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda arrays: arrays | {name: np.ascontiguousarray(value(arrays[name]))}


ARRAYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda arrays: {},
    "one more": lambda arrays: arrays | {"more": np.zeros(3)},
    "another type": changed(".t", lambda t: t.astype(np.int64)),
    "a position outside": changed(".everyone.position", lambda x: x * 0 + 50),
    "a position that contradicts the size": changed(".everyone.size", lambda x: x * 0 + 7),
    "a negative size": changed(".hyde.size", lambda x: x * 0 - 1),
    "a state outside": changed(".everyone.data.observation", lambda x: x + 16),
    "an action outside": changed(".everyone.data.action", lambda x: x + 4),
    "rewards that are none": changed(".everyone.data.reward", lambda x: x + np.nan),
    "time that does not fit": changed(".t", lambda x: x + 1),
    "episodes of no steps": changed("episodes", lambda x: x * 0),
    "actions that are none": changed("actions", lambda x: np.full(3, 9, np.int32)),
    "episodes of another width": changed("episodes", lambda x: x[:, :2]),
}


@pytest.mark.parametrize("fault", ARRAYS)
def test_hostile_arrays_of_agents_with_networks(fault: str, saved: Path, tmp_path: Path) -> None:
    os.link(saved / "networks" / "agent.json", tmp_path / "agent.json")
    arrays = load_file(saved / "networks" / "state.safetensors")
    save_file(ARRAYS[fault](arrays), tmp_path / "state.safetensors")
    refuse(deep.JekyllHyde, tmp_path)


@pytest.mark.parametrize("length", [2**60, 99_000_000, 8])
def test_headers_that_lie(length: int, saved: Path, tmp_path: Path) -> None:
    os.link(saved / "networks" / "agent.json", tmp_path / "agent.json")
    content = (saved / "networks" / "state.safetensors").read_bytes()
    (tmp_path / "state.safetensors").write_bytes(struct.pack("<Q", length) + content[8:])
    refuse(deep.JekyllHyde, tmp_path)


def test_code_is_not_run(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.link(saved / "networks" / "agent.json", tmp_path / "agent.json")
    (tmp_path / "state.safetensors").write_bytes(pickle.dumps(Evil()))
    refuse(deep.JekyllHyde, tmp_path)
    arrays = dict(np.load(saved / "tables.npz"))
    arrays["pi"] = np.array([Evil()], dtype=object)
    np.savez(tmp_path / "evil.npz", **arrays)
    refuse(jh.TabularJekyllHyde, tmp_path / "evil.npz")
    (tmp_path / "evil.npz").write_bytes(pickle.dumps(Evil()))
    refuse(jh.TabularJekyllHyde, tmp_path / "evil.npz")
    assert not (tmp_path / "executed").exists()


HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a newer version": edited(version=99),
    "absurd tables": edited(shape=[10**9, 10**9]),
    "negative tables": edited(shape=[-16, -4]),
    "an absurd capacity": within("settings", capacity=10**12),
    "an action that there is not": within("episode", next_action=4),
    "actions that are none": within("episode", actions=["up"]),
    "a return that is none": within("episode", total=float("nan")),
    "an episode longer than life": within("episode", actions=[0] * 1000),
    "evaluations of text": edited(evaluations=["good"]),
}


@pytest.mark.parametrize("fault", HEADERS)
def test_hostile_headers_of_tabular_agents(fault: str, saved: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(saved / "tables.npz"))
    header = HEADERS[fault](json.loads(str(arrays["header"])))
    np.savez(tmp_path / "x.npz", **(arrays | {"header": np.array(json.dumps(header))}))
    refuse(jh.TabularJekyllHyde, tmp_path / "x.npz")


def test_arrays_larger_than_their_file(saved: Path, tmp_path: Path) -> None:
    """An array that says it has 8 TB, and one that is packed to a hundredth of its size."""
    arrays = dict(np.load(saved / "tables.npz"))
    np.savez_compressed(tmp_path / "bomb.npz", **(arrays | {"n": np.zeros(10**6)}))
    refuse(jh.TabularJekyllHyde, tmp_path / "bomb.npz")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    padded = header + b" " * (117 - len(header)) + b"\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        archive.writestr("header.npy", content)
    refuse(jh.TabularJekyllHyde, tmp_path / "liar.npz")


def refuse(kind: Any, path: Path) -> None:
    """Loading gives one sentence that names the file or folder."""
    with pytest.raises(InputError) as caught:
        kind.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


WRITER = """
import sys
from pathlib import Path
from jekyllhyde.files import write_folder
folder = Path(sys.argv[1])
for i in range(10**6):
    def fill(partial):
        (partial / "a").write_text(str(i) * 1000)
        (partial / "b").write_text(str(i) * 1000)
    write_folder(folder, fill)
    if i == 0:
        print("begun", flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one operation there")
def test_a_kill_leaves_one_folder_or_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for i in range(12):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.003 * i)
        child.kill()
        child.communicate()
        assert (folder / "a").read_text() == (folder / "b").read_text()
    files.write_folder(folder, lambda partial: (partial / "a").write_text("whole"))
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]  # no litter
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_where_folders_cannot_be_exchanged_they_are_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_exchange", lambda one, other: False)
    for content in ("old", "new"):
        files.write_folder(tmp_path / "x", lambda partial: (partial / "a").write_text(content))  # noqa: B023
    assert (tmp_path / "x" / "a").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_full_disk(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old checkpoint stands, and one sentence says why."""
    agent = deep.JekyllHyde.load(saved / "networks")
    agent.save(tmp_path / "agent")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jekyllhyde.deep.agent_files.save_file", full)
    with pytest.raises(InputError, match=r"cannot write the folder .*: No space left on device"):
        agent.save(tmp_path / "agent")
    assert deep.JekyllHyde.load(tmp_path / "agent").steps == 60
    assert [path.name for path in tmp_path.iterdir()] == ["agent"]
