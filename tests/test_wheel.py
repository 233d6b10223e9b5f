"""The built wheel in an empty environment, as a new user has it; long, and it installs packages."""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
OWN = """
import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete


class Parts(gym.Env):
    action_space = Discrete(3)

    def __init__(self, pixels=False):
        self.pixels = pixels
        image = Box(0, 255, (20, 20, 1), np.uint8)
        self.observation_space = image if pixels else Dict(x=Box(-1, 1, (2,)), door=Discrete(3))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.steps += 1
        return self.observation_space.sample(), float(action), False, self.steps == 9, {}


gym.register("Dict-v0", Parts)
gym.register("Pixels-v0", Parts, kwargs={"pixels": True})
"""
TASKS: dict[str, list[str]] = {
    "CartPole-v1": [],
    "Acrobot-v1": [],
    "MountainCar-v0": [],
    "minigrid:MiniGrid-DoorKey-5x5-v0": ["--capacity", "500"],
    "own:Dict-v0": [],
    "own:Pixels-v0": ["--capacity", "500"],
    "Taxi-v4": [],
    "Blackjack-v1": [],
    "8 CartPoles": ["--envs", "8"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment that has the wheel with its extras, and nothing of ours else."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("jekyllhyde-*.whl")
    venv.create(folder / "venv", with_pip=True)
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    run(folder, "-m", "pip", "--quiet", "install", *constraints, f"{wheel}[deep,minigrid]")
    (folder / "own.py").write_text(OWN)
    return folder


def run(folder: Path, *arguments: Any) -> str:
    command = [str(folder / "venv" / "bin" / "python"), *map(str, arguments)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)  # noqa: PLW1510
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.long
def test_the_five_lines_of_the_readme(place: Path) -> None:
    section = (ROOT / "README.md").read_text().partition("## The agents")[2]
    code = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", section, re.DOTALL)
    assert code
    (place / "five.py").write_text(code[1])
    assert run(place, "five.py").strip() == code[2].strip()


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS)
def test_jh_train_first_try(place: Path, task: str) -> None:
    problem = "CartPole-v1" if task == "8 CartPoles" else task
    more = TASKS[task] if task not in ("Taxi-v4",) else []
    text = run(place, "-m", "jekyllhyde", "train", problem, "--steps", 1500, *more)
    assert "1500 steps" in text
