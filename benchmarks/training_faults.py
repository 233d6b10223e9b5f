"""What docs/reliability.md counts of trainings: killed, killed while saving, interrupted, masked,
and long ones.

    python benchmarks/training_faults.py kills --count 50
    python benchmarks/training_faults.py saves --count 50
    python benchmarks/training_faults.py interrupts --count 500
    python benchmarks/training_faults.py masks --count 1000000
    python benchmarks/training_faults.py growth --count 1000000

Each prints what was tried, survived and failed, and adds it to benchmarks/results/reliability.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

import jekyllhyde as jh
from jekyllhyde import deep, files

RESULTS = Path(__file__).parent / "results" / "reliability.json"
SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 300}
STEPS, EVERY = 3_000, 50  # of a training, and between its checkpoints
CALLS = 10  # about as many as a save is made of


def make(env: Any = "CartPole-v1") -> Any:
    return deep.JekyllHyde(env, seed=3, warmup=20, **SMALL)


def digest(agent: Any) -> str:
    arrays = {**agent.arrays(), "episodes": agent.episodes.table}
    return hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest()


# In a child.


def train(folder: Path, die_at: int) -> None:
    """Learn to the end with checkpoints, from the last one on; die at that call of what saving is
    made of (0: never). Says when it has begun, and what came of it.
    """
    if die_at:
        _die_at(die_at)
    place = folder / "agent"
    agent = deep.JekyllHyde.load(place, "CartPole-v1") if place.exists() else make()
    print("begun", flush=True)
    while agent.steps < STEPS:
        agent.learn(EVERY)
        agent.save(place)
    print(digest(agent), flush=True)


def _die_at(call: int) -> None:
    count = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return wrapped

    from jekyllhyde.deep import agent_files

    for place, name in (
        (os, "fsync"),
        (Path, "replace"),
        (Path, "mkdir"),
        (files, "sync_folder"),
        (files, "_exchange"),
        (agent_files, "save_file"),
        (agent_files, "write_json"),
    ):
        setattr(place, name, wrap(getattr(place, name)))


def _child(folder: Path, die_at: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "child", "--folder", str(folder)]
    return subprocess.Popen([*command, "--die-at", str(die_at)], stdout=subprocess.PIPE, text=True)


def _finish(child: subprocess.Popen[str]) -> str:
    text, _ = child.communicate()
    return text.split()[-1]


def killed(count: int, in_save: bool, seed: int = 0) -> dict[str, Any]:
    """Kill trainings, each of them ten times, and compare their ends with an undisturbed one's."""
    chance = random.Random(seed)
    tally: dict[str, Any] = {"tried": 0, "survived": 0, "failed": [], "litter": 0}
    with tempfile.TemporaryDirectory() as place:
        whole = _finish(_child(Path(place) / "whole"))
        while tally["tried"] < count:
            folder, deaths = Path(place) / f"{tally['tried']}", 0
            while deaths < min(10, count - tally["tried"]):
                child = _child(folder, chance.randrange(1, 4 * CALLS) if in_save else 0)
                assert child.stdout is not None
                is_begun = child.stdout.readline() == "begun\n"
                if not in_save:
                    time.sleep(chance.uniform(0.0, 1.0))
                    child.kill()
                deaths += child.wait() == -signal.SIGKILL and is_begun
                child.stdout.close()
            end = _finish(_child(folder))
            tally["tried"] += deaths
            tally["survived"] += deaths * (end == whole)
            tally["failed"] += [] if end == whole else [f"after {tally['tried']} kills"]
            tally["litter"] += len(list(folder.glob(".*")))
            print(tally, flush=True)
    return tally


def interrupted(count: int, seed: int = 0) -> dict[str, Any]:
    """Press Ctrl-C at random moments; after each the agent is saved, and it is compared with one
    that was never disturbed.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(seed)
    agent, other = make().learn(30), make().learn(30)
    tally: dict[str, Any] = {"tried": 0, "survived": 0, "failed": []}
    with tempfile.TemporaryDirectory() as place:
        while tally["tried"] < count:
            timer = threading.Timer(
                chance.uniform(0.0, 0.03), os.kill, (os.getpid(), signal.SIGINT)
            )
            try:
                timer.start()
                agent.learn(10**6)
            except KeyboardInterrupt:
                tally["tried"] += 1
            timer.join()
            agent.save(Path(place) / "agent")
            other.learn(agent.steps - other.steps)
            loaded = deep.JekyllHyde.load(Path(place) / "agent")
            is_good = digest(loaded) == digest(agent) == digest(other)
            tally["survived"] += is_good
            tally["failed"] += [] if is_good else [f"at step {agent.steps}"]
    return tally | {"steps": agent.steps}


# In this process.


class Masked(gym.Env[Any, Any]):
    """Random masks; counts the forbidden actions that were taken."""

    action_space = Discrete(4)

    def __init__(self, is_discrete: bool) -> None:
        self.is_discrete, self.forbidden, self.elapsed, self.s = is_discrete, 0, 0, 0
        self.observation_space = Discrete(16) if is_discrete else Box(-1.0, 1.0, (2,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.elapsed = 0
        return self._see()

    def step(self, action: int) -> Any:
        self.forbidden += not self.mask[int(action)]
        self.elapsed += 1
        ended = self.elapsed == 20
        observation, info = self._see()
        return observation, float(self.np_random.normal()), False, ended, info

    def _see(self) -> Any:
        self.s = int(self.np_random.integers(16))
        number = self.s if self.is_discrete else int(self.np_random.integers(1, 16))
        self.mask = np.array([(number >> i) & 1 for i in range(4)], bool)
        if not self.mask.any():
            self.mask[0] = True
        seen = self.s if self.is_discrete else self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return seen, {"action_mask": self.mask}


def masks(count: int) -> dict[str, Any]:
    """Forbidden actions that agents took in so many steps each."""
    result: dict[str, Any] = {"steps": count}
    makers = {
        "tabular_jekyll_hyde": lambda: jh.TabularJekyllHyde(Masked(True), capacity=10_000),
        "jekyll_hyde": lambda: make(Masked(False)),
        "ddqn": lambda: deep.DoubleDQN(Masked(False), hidden=(8,), batch=8, capacity=300),
        "sac": lambda: deep.DiscreteSAC(Masked(False), hidden=(8,), batch=8, capacity=300),
    }
    for name, maker in makers.items():
        agent = maker()
        agent.learn(count)
        result[name] = agent.env.forbidden
        print(result, flush=True)
    return result


class Trivial(gym.Env[Any, Any]):
    """Nothing happens, in episodes of 10 steps."""

    observation_space, action_space = Box(0.0, 1.0, (1,)), Discrete(2)

    def __init__(self) -> None:
        self.elapsed = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.elapsed = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> Any:
        self.elapsed += 1
        return np.zeros(1, np.float32), 0.0, False, self.elapsed == 10, {}


def growth(count: int) -> dict[str, Any]:
    """Memory and the size of a checkpoint after a tenth of so many steps, and after all."""
    agent = deep.DoubleDQN(Trivial(), hidden=(8,), batch=8, capacity=300)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for steps in (count // 10, count // 2, count):
            agent.learn(steps - agent.steps)
            agent.save(Path(place) / "agent")
            size = sum(file.stat().st_size for file in (Path(place) / "agent").iterdir())
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            memory = pages * resource.getpagesize() / 2**20
            rows.append({"steps": steps, "MiB": round(memory, 1), "file_kB": size // 1000})
            print(rows[-1], flush=True)
    return {"rows": rows, "episodes": len(agent.episodes)}


def main() -> None:
    works: dict[str, Callable[[int], dict[str, Any]]] = {
        "kills": lambda count: killed(count, in_save=False),
        "saves": lambda count: killed(count, in_save=True),
        "interrupts": interrupted,
        "masks": masks,
        "growth": growth,
    }
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=(*works, "child"))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--die-at", type=int, default=0)
    given = parser.parse_args()
    if given.what == "child":
        train(given.folder, given.die_at)
        return
    result = works[given.what](given.count)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    trainings = known.get("training", {}) | {given.what: result}
    RESULTS.write_text(json.dumps(known | {"training": trainings}, indent=1) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
