"""Folders of trainings that lie, given to `jh eval`, `jh watch`, `jh compare` and
`jh train --resume`: one sentence, nothing run, nothing waited for.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import adversary
import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.errors import InputError

Change = Callable[[Path], Any]
EVAL, WATCH, RESUME = adversary.COMMANDS


@pytest.fixture(autouse=True)
def _patience() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError("it waits for something")

    handler = signal.signal(signal.SIGALRM, stop)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    adversary.make_training(folder)
    return folder


@pytest.fixture
def training(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "training")
    return tmp_path / "training"


def refused(folder: Path, command: tuple[str, ...]) -> str:
    with pytest.raises(InputError) as refusal:
        adversary.use_training(folder, command)
    sentence = str(refusal.value)
    assert sentence.startswith("jh: ")
    assert len(sentence) < 1000
    return sentence


@pytest.mark.parametrize("command", [EVAL, WATCH, RESUME], ids=lambda command: command[0])
def test_the_folder_is_whole(training: Path, command: tuple[str, ...]) -> None:
    adversary.use_training(training, command)


# How a file is replaced.
def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def endless(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def large(path: Path) -> None:
    os.truncate(path, 1 << 40)


ACCIDENTS: dict[str, Change] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "a pipe": fifo,
    "a device": endless,
    "a link to itself": loop,
    "a link to nowhere": nowhere,
    "a folder": folder_instead,
    "of a TiB": large,
    "of zeros": lambda path: path.write_bytes(bytes(10_000)),
    "of brackets": lambda path: path.write_bytes(b"[" * 100_000),
}


@pytest.mark.parametrize("name", ["config.toml", "agent/agent.json", "agent/state.safetensors"])
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_accidents(training: Path, name: str, accident: str) -> None:
    ACCIDENTS[accident](training / name)
    for command in (EVAL, RESUME):
        assert "agent" in refused(training, command) or name == "config.toml"


@pytest.mark.parametrize("accident", ["a pipe", "a link to itself", "a link to nowhere", "empty"])
def test_accidents_of_the_agents_folder(training: Path, accident: str) -> None:
    shutil.rmtree(training / "agent")
    (training / "agent").touch()
    ACCIDENTS[accident](training / "agent")
    for command in (EVAL, RESUME):
        refused(training, command)


def edited(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda about: about | changes


def within(name: str, **changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda about: about | {name: about[name] | changes}


ROW = {"step": 1, "mean": 0.0, "lo": 0.0, "hi": 0.0, "episodes": 1}
PART = [["x"], "numbers", [4], []]
TEXTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a newer format": edited(format=4),
    "an agent of two lines": edited(agent="ddqn\n\x1b[2Jjh: all is well"),
    "a seed beyond all": edited(seed=10**30),
    "an evaluation without a mean": edited(evaluations=[{"step": 1}]),
    "an evaluation of a list": edited(evaluations=[ROW | {"mean": [1]}]),
    "an evaluation at no step": edited(evaluations=[ROW | {"step": 0.5}]),
    "an evaluation beyond all steps": edited(evaluations=[ROW | {"step": 2**70}]),
    "a discount of text": within("settings", gamma="large"),
    "a discount of a list": within("settings", gamma=[0.9, 0.9]),
    "no discount": within("settings", gamma=None),
    "a discount that is true": within("settings", gamma=True),
    "a setting that there is not": within("settings", greed=1),
    "no setting": edited(settings={}),
    "no actions": within("space", n_actions=0),
    "a fraction of an action": within("space", n_actions=4.0),
    "actions of another product": within("space", factors=[[3, 0]]),
    "half a factor": within("space", factors=[[4]]),
    "parts of an index": within("space", parts=[PART]),
    "a part of no kind": within("space", n_states=None, shape=[4], parts=[["x"], "soul", [4], []]),
    "masks of text": within("space", masked="yes"),
    "a return beyond all": within("episode", total=10**400),
    "an action of text": within("episode", next_action="left"),
}


@pytest.mark.parametrize("fault", TEXTS)
def test_texts_that_lie(training: Path, fault: str) -> None:
    path = training / "agent" / "agent.json"
    path.write_text(json.dumps(TEXTS[fault](json.loads(path.read_text()))))
    assert "holds" in refused(training, EVAL)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400", "-1e999"])
def test_numbers_that_are_none(training: Path, number: str) -> None:
    path = training / "agent" / "agent.json"
    path.write_text(path.read_text().replace('"mean": 0.1', f'"mean": {number}'))
    assert f"the number {number}" in refused(training, EVAL)


def headed(change: Callable[[dict[str, Any]], Any], more: int = 0) -> Change:
    # With another header; `more` bytes at the end.
    def write(path: Path) -> None:
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        text = json.dumps(change(header)).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])
        os.truncate(path, path.stat().st_size + more)

    return write


def said(name: str, **changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda header: header | {name: header[name] | changes}


def overlapping(header: dict[str, Any]) -> Any:
    return header | {".t": header[".t"] | {"data_offsets": header[".episodes"]["data_offsets"]}}


def unreal(header: dict[str, Any]) -> Any:
    end = max(about["data_offsets"][1] for name, about in header.items() if "__" not in name)
    huge = {"dtype": "U8", "shape": [1 << 43], "data_offsets": [end, end + (1 << 43)]}
    return header | {"huge": huge}


def array_of(name: str, value: Callable[[Any], Any]) -> Change:
    def write(path: Path) -> None:
        arrays = load_file(path)
        save_file(arrays | {name: np.ascontiguousarray(value(arrays[name]))}, path)

    return write


STATES: dict[str, Change] = {
    "a header of 2^60 bytes": lambda path: path.write_bytes(struct.pack("<Q", 1 << 60)),
    "a header of 64 MiB": lambda path: path.write_bytes(
        struct.pack("<Q", 1 << 26) + b"{" + b" " * (1 << 26)
    ),
    "offsets that overlap": headed(overlapping),
    "offsets that end before they begin": headed(said(".t", data_offsets=[8, 4])),
    "offsets beyond the file": headed(said(".t", data_offsets=[1 << 50, (1 << 50) + 4])),
    "negative offsets": headed(said(".t", data_offsets=[-4, 0])),
    "an absurd shape": headed(said("episodes", shape=[1 << 62, 4])),
    "a shape that overflows": headed(said("episodes", shape=[1 << 63, 1 << 63])),
    "a negative shape": headed(said("episodes", shape=[-1, -4])),
    "another type": headed(said(".t", dtype="F32")),
    "a type of another size": headed(said(".t", dtype="F64")),
    "a type that NumPy has not": headed(said(".t", dtype="F8_E4M3")),
    "no such type": headed(said(".t", dtype="SOUL")),
    "a path for a name": headed(lambda header: header | {"../../x": header.pop(".t")}),
    "bytes that nobody owns": headed(lambda header: header, more=100),
    "one array of 8 TiB": headed(unreal, more=1 << 43),
    "steps that contradict the text": array_of(".t", lambda t: t + 1),
    "episodes that contradict the count": array_of("episodes", lambda rows: np.tile(rows, (2, 1))),
    "an episode longer than life": array_of("actions", lambda a: np.zeros(99, np.int32)),
    "flags that are neither": array_of(".hyde_acts", lambda flag: np.uint8(7).view(np.bool_)),
}


@pytest.mark.parametrize("fault", STATES)
def test_arrays_that_lie(training: Path, fault: str) -> None:
    STATES[fault](training / "agent" / "state.safetensors")
    assert "holds" in refused(training, EVAL)


def argued(*arguments: Any) -> Callable[[str], str]:
    return lambda text: _with_line(text, "arguments", json.dumps(arguments))


def _with_line(text: str, key: str, value: str) -> str:
    lines = [f"{key} = {value}" if line.startswith(key) else line for line in text.splitlines()]
    return "\n".join(lines)


CONFIGS: dict[str, Callable[[str], str]] = {
    "no arguments": argued(),
    "arguments of numbers": argued(1, 2),
    "one argument": lambda text: _with_line(text, "arguments", '"FrozenLake-v1"'),
    "a flag for a problem": argued("--json", "FrozenLake-v1"),
    "help": argued("FrozenLake-v1", "--help"),
    "a seed of text": argued("FrozenLake-v1", "--seed", "x"),
    "a flag without its value": argued("FrozenLake-v1", "--agent", "ddqn", "--steps"),
    "a flag that there is not": argued("FrozenLake-v1", "--agent", "ddqn", "--greed", "1"),
    "an environment that there is not": argued("../../etc-v0", "--agent", "ddqn"),
    "control characters": argued("FrozenLake-v1", "--agent", "\x1b[2Jddqn"),
    "two lines": argued("FrozenLake-v1\n", "--agent", "ddqn"),
    "keywords of thousands of brackets": argued("FrozenLake-v1", "--env-kwargs", "x=" + "(" * 9999),
    "keywords of thousands of signs": argued("FrozenLake-v1", "--env-kwargs", "x=" + "-" * 99999),
    "another environment": argued("CliffWalking-v1", "--agent", "ddqn"),
    "a module of others": argued("evil:Id-v0", "--agent", "ddqn"),
    "a module without a version": argued("evil:Id", "--agent", "ddqn"),
    "an agent of others": argued("FrozenLake-v1", "--agent", "evil.py:Agent"),
    "no run": lambda text: _with_line(text, "runs", "0"),
    "runs that are not there": lambda text: _with_line(text, "runs", "1000000000000"),
    "runs of text": lambda text: _with_line(text, "runs", '"all"'),
    "an agent that is a path": lambda text: _with_line(text, "agent", '"../../evil"'),
    "an agent that is a list": lambda text: _with_line(text, "agent", "[1]"),
    "no versions": lambda text: text.replace("[versions]", "[persons]"),
    "a table for a command": lambda text: _with_line(text, "command", "{}"),
}


@pytest.mark.parametrize("fault", CONFIGS)
def test_commands_that_lie(
    training: Path, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('executed', 'w')\nAgent = None\n")
    path = training / "config.toml"
    path.write_text(CONFIGS[fault](path.read_text()))
    of_the_line = ("help", "a seed of text", "a flag", "keywords")  # which only one of them reads
    if not fault.startswith(of_the_line):
        refused(training, EVAL)
        refused(training, ("compare", "{}", "--out", str(tmp_path / "page.html")))
    if not fault.startswith(("runs", "an agent that is a path", "another")):
        refused(training, RESUME)
    assert not (tmp_path / "executed").exists()


def test_code_that_an_agent_names_is_not_run(
    training: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither for networks nor for tables, unless it is given again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('executed', 'w')\nclass Mine: pass\n")
    path = training / "agent" / "agent.json"
    about = json.loads(path.read_text())
    about["settings"]["bonus"] = f"{tmp_path}/evil.py:Mine"
    path.write_text(json.dumps(about))
    with pytest.raises(InputError, match="its bonus is of your own"):
        deep.DoubleDQN.load(training / "agent")
    jh.TabularJekyllHyde("FrozenLake-v1").learn(20).save("tables.npz")
    arrays = dict(np.load("tables.npz"))
    header = json.loads(str(arrays["header"]))
    header["settings"]["hyde"] = "evil.py:Mine"
    np.savez("evil.npz", **{**arrays, "header": np.array(json.dumps(header))})
    with pytest.raises(InputError, match="its hyde is of your own"):
        jh.TabularJekyllHyde.load("evil.npz")
    assert not (tmp_path / "executed").exists()


def test_a_table_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent.npz")
    with pytest.raises(InputError, match="not a plain file"):
        jh.TabularJekyllHyde.load(tmp_path / "agent.npz")
