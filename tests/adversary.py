"""A standing adversary: files of every kind, mutated, given to the functions that read them.

`python tests/adversary.py --cases 100000 --seed 1` is the long run; the tests take a few thousand
cases of it. A reader may take a file or refuse it with an `InputError` of one line. Everything else
is a failure: another exception, the end of the process, more than `SECONDS` for a case (more where
it may have to be compiled for), more than `MEMORY` in all. Readers work in a child process, so that
its end is seen.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jekyllhyde import TabularJekyllHyde, chain
from jekyllhyde.agent import AGENTS
from jekyllhyde.errors import InputError
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.mdp.finite import FiniteMDP
from lab_sweeps import planned

SECONDS, MEMORY = 5, 2 * 2**30
WORDS = [b"0", b"-1", b"1e400", b"nan", b"null", b"4294967296", b"9223372036854775808", b"[]", b'"']
WORDS += [b"{", b"}", b"[", b"\n", b"\x00", b"\xff\xff\xff\xff", b"true", b"../", b"\x1b[2J", b"="]


@dataclass(frozen=True)
class Reader:
    """How to make the files of which one is mutated, in a folder; and how to read it.

    is_apart : in a process that is started anew, for what it imports does not survive a fork.
    """

    make: Callable[[Path], list[Path]]
    read: Callable[[Path], object]
    is_apart: bool = False
    seconds: int = SECONDS


def _make_mdp(folder: Path) -> list[Path]:
    chain(5).save(folder / "mdp.npz")
    return [folder / "mdp.npz"]


def _make_agent(folder: Path) -> list[Path]:
    agent = TabularJekyllHyde("jekyllhyde/Chain-v0")
    agent.learn(60)
    agent.save(folder / "agent.npz")
    return [folder / "agent.npz"]


def _make_store(folder: Path) -> Store:
    experiment = planned(2, vary={"n_states": [3, 4]})
    store = Store.open(folder / "store", create=True)
    curve = {"at": [0, 1], "J_norm": [0.0, 0.5], "end": 2, "J_norm_end": 0.25}
    rows = [{"run": 0, **curve}, {"run": 1, "failure": "diverged"}]
    store.add([(cell, rows) for cell in experiment.cells], 1.0)
    return store


def _look(store: Path) -> None:
    opened = Store.open(store)
    opened.verify()
    opened.table(opened.cells)
    for part in opened.parts:
        opened.provenance(part)


def _make_spec(folder: Path) -> list[Path]:
    (folder / "x.toml").write_text(SPEC)
    return [folder / "x.toml"]


FLAGS = ("--agent", "ddqn", "--steps", "12", "--hidden", "4", "--batch", "4", "--capacity", "8")


def make_training(folder: Path) -> list[Path]:
    """The folder of a training with networks; its numbers are made up, for learning takes longer
    than reading them.
    """
    from safetensors.numpy import load_file, save_file

    from jekyllhyde.cli.training_folder import TrainingFolder
    from jekyllhyde.deep import DoubleDQN

    state, text = (folder / "agent" / name for name in ("state.safetensors", "agent.json"))
    agent = DoubleDQN("FrozenLake-v1", hidden=(4,), batch=4, capacity=8)
    agent.save(folder / "agent")
    TrainingFolder(folder, 1, AGENTS["ddqn"]).write_config(("FrozenLake-v1", *FLAGS), {})
    counts = {".t": 12, ".episodes": 1, ".everyone.size": 8, ".everyone.position": 4}
    arrays = load_file(state) | {name: np.array(n, np.int32) for name, n in counts.items()}
    arrays |= {"episodes": np.array([[0.0, 10, 0, 10]]), "actions": np.array([1, 2], np.int32)}
    save_file(arrays, state)
    about = json.loads(text.read_text()) | {
        "steps": 12,
        "evaluations": [{"step": 10, "mean": 0.1, "lo": 0.0, "hi": 0.5, "episodes": 3}],
        "episode": {"number": 1, "next_action": 3, "hyde": 0, "total": 0.0},
    }
    text.write_text(json.dumps(about))
    return [state, text, folder / "config.toml"]


COMMANDS = (
    ("eval", "{}", "--episodes", "1"),
    ("watch", "{}", "--most", "2", "--fps", "1000"),
    ("train", "--resume", "{}", *FLAGS[2:4], "--runs", "1", "--workers", "1", "--envs", "1"),
)


def use_training(folder: Path, command: tuple[str, ...]) -> None:
    """Give a folder to a command; what it refuses with is raised."""
    from jekyllhyde.cli import main

    output, error = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(error):
        try:
            status: object = main([word.format(folder) for word in command])
        except SystemExit as stop:
            status = f"SystemExit({stop.code})"
    told = error.getvalue().removesuffix("\n")
    if status == 2 and told.isprintable():
        raise InputError(told)
    if status != 0 or "Traceback" in told:
        raise RuntimeError(f"it ended with {status}: {told}")


def _read_training(path: Path) -> None:
    from jekyllhyde.deep import DoubleDQN

    is_config = path.name == "config.toml"
    folder, number = path.parents[not is_config], zlib.crc32(path.read_bytes())
    if is_config or number % 8 == 0:
        use_training(folder, COMMANDS[number % len(COMMANDS)])
    else:
        DoubleDQN.load(folder / "agent")


SPEC = """
name = "x"
title = "ε against η"
method = "learn"
runs = 20
seed = 3
[problem]
name = "chain"
n_states = 5
beta = 0.9
[vary]
o = [0.1, 0.5]
eta = {from = 0.1, to = 1.0, per_decade = 2}
[settings]
trajectories = 100
target = 0.95
hyde = "uniform"
[[series]]
label = "J&H"
epsilon = "10/sqrt(t)"
[[series]]
label = "other"
tag = "other"
epsilon = 0.5
"""

READERS = {
    "MDP": Reader(_make_mdp, FiniteMDP.load),
    "tabular agent": Reader(_make_agent, TabularJekyllHyde.load),
    "experiment": Reader(_make_spec, Experiment.from_toml),
    "part": Reader(
        lambda folder: list((_make_store(folder).folder / "parts").glob("*.parquet"))[:1],
        lambda path: _look(path.parent.parent),
    ),
    "index": Reader(
        lambda folder: [_make_store(folder).folder / "index.jsonl"], lambda path: _look(path.parent)
    ),
    "manifest": Reader(
        lambda folder: [_make_store(folder).folder / "manifest.json"],
        lambda path: _look(path.parent),
    ),
    "training with networks": Reader(make_training, _read_training, is_apart=True, seconds=60),
}


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The bytes after one to four small accidents or attacks."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(len(changed) + 1)
        if chance.random() < 0.3:  # where archives and Parquet files keep what they declare
            place = max(0, len(changed) - chance.randrange(1, 700))
        end = place + chance.choice((1, 1, 2, 4, 8, 64))
        kind = chance.randrange(7)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[place:end] = chance.randbytes(min(end, len(changed)) - place)
        elif kind == 2:
            del changed[place:end]
        elif kind == 3:
            changed[place:place] = changed[place:end]
        elif kind == 4:
            word = chance.choice(WORDS)
            changed[place : place + chance.choice((0, len(word)))] = word
        elif kind == 5:
            changed[place:end] = bytes([chance.choice((0, 255, 127, 128))]) * (end - place)
        elif chance.random() < 0.2:
            del changed[place:]
    return bytes(changed)


def _cases(reader: Reader, seeds: range, say: Callable[[str], None]) -> None:
    # In the child: a line per case, "taken", "refused" or what went wrong.
    with tempfile.TemporaryDirectory() as name:
        whole = {path: path.read_bytes() for path in reader.make(Path(name))}
        for seed in seeds:
            for path, content in whole.items():
                path.write_bytes(content)
            path = list(whole)[seed % len(whole)]
            path.write_bytes(mutate(whole[path], random.Random(seed)))
            signal.alarm(reader.seconds)
            try:
                reader.read(path)
                say("taken")
            except InputError as error:
                lines = len(str(error).splitlines())
                say("refused" if lines == 1 else f"case {seed}: {lines} lines, {error!r}"[:300])
            except Exception:
                say(f"case {seed}: {traceback.format_exc(limit=-2)!r}"[:600])
            signal.alarm(0)


def attack(name: str, cases: int, seed: int = 0) -> tuple[Counter[str], list[str]]:
    """How many of so many cases were taken and refused, and what failed."""
    tally: Counter[str] = Counter()
    failures: list[str] = []
    first, last = seed * 10**9, seed * 10**9 + cases
    while first < last:
        lines = _lines_of_program if READERS[name].is_apart else _lines_of_child
        for line in lines(name, range(first, last)):
            first += 1
            if line in ("taken", "refused"):
                tally[line] += 1
            else:
                failures.append(line)
                first += line.startswith("ended")  # the case that the child did not survive
        if first < last and len(failures) > 20:
            break
    return tally, failures


def _lines_of_program(name: str, seeds: range) -> Iterator[str]:
    seeded = ["--first", str(seeds.start), "--cases", str(len(seeds))]
    with subprocess.Popen(
        [sys.executable, __file__, "--reader", name, *seeded],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        for line in child.stdout or ():
            yield line.rstrip("\n")
        _, status = os.waitpid(child.pid, 0)
        child.returncode = status
    yield from _end(status, 0)  # it tells its memory itself: the system counts its parent's too


def _lines_of_child(name: str, seeds: range) -> Iterator[str]:
    ours, theirs = os.pipe()
    inherited = _resident()
    child = os.fork()
    if child == 0:
        os.close(ours)
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what native code says before it dies
        with open(theirs, "w", buffering=1) as file:
            _cases(READERS[name], seeds, lambda line: print(line, file=file))
        os._exit(0)
    os.close(theirs)
    with open(ours) as file:
        for line in file:
            yield line.rstrip("\n")
    _, status, usage = os.wait4(child, 0)
    yield from _end(status, usage.ru_maxrss * 1024 - inherited)


def _end(status: int, memory: int) -> Iterator[str]:
    if status:
        number = os.WTERMSIG(status)
        yield f"ended by {signal.Signals(number).name}" if number else f"ended with {status}"
    elif memory > MEMORY:
        yield f"case ?: it took {memory / 2**30:.1f} GiB"


def _resident() -> int:
    # Bytes of this process in memory, which a child begins with.
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def _most_resident() -> int:
    # Bytes that this process ever had in memory.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return max(
        (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), default=0
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=list(READERS), default=None)
    parser.add_argument("--first", type=int, default=None, help="read here, from this case on")
    given = parser.parse_args()
    if given.first is not None:
        cases = range(given.first, given.first + given.cases)
        _cases(READERS[given.reader], cases, lambda line: print(line, flush=True))
        for line in _end(0, _most_resident()):
            print(line, flush=True)
        return
    for name in [given.reader] if given.reader else READERS:
        started = time.perf_counter()
        cases = given.cases if given.reader else given.cases // len(READERS)
        tally, failures = attack(name, cases, given.seed)
        seconds = time.perf_counter() - started
        print(f"{name}: {dict(tally)}, {len(failures)} failed ({seconds:.0f} s)", flush=True)
        for failure in failures[:20]:
            print("   ", failure)


if __name__ == "__main__":
    main()
