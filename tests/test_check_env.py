"""`check_env` says what agents do with an environment and what is wrong with it; environments are
made of ids, modules, functions and classes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.utils.env_checker import check_env as gymnasium_check

import jekyllhyde as jh
from boundary_envs import ACTIONS, SPACES, Sampled
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.gym_import import make_environment


class Faulty(gym.Env[Any, Any]):
    """A walk of 10 steps with one thing wrong with it."""

    observation_space, action_space = Box(-5.0, 5.0, (2,)), Discrete(2)

    def __init__(self, fault: str = "") -> None:
        self.fault, self.count = fault, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if self.fault == "no seed":
            raise TypeError("reset() got an unexpected keyword argument 'seed'")
        super().reset(seed=seed if self.fault != "ignored seed" else None)
        self.count = 0
        return self._see(), {}

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.count += 1
        if self.fault == "raises":
            raise RuntimeError("out of order")
        reward = {"nan reward": np.nan, "text reward": "much"}.get(self.fault, 1.0)
        ended = self.count == 10 and self.fault != "endless"
        return self._see(), reward, ended, False, {}

    def _see(self) -> Any:
        observation = self.np_random.random(2).astype(np.float32)
        if self.count == 3:
            observation[0] = {"nan": np.nan, "outside": 7.0, "large": 4.9e3}.get(self.fault, 0.0)
        return observation[:1] if self.fault == "shape" and self.count == 3 else observation


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("no seed", "results cannot be repeated"),
        ("ignored seed", "gave two different observations"),
        ("nan reward", "the reward is nan at step 1; it must be finite"),
        ("text reward", "the reward is 'much' at step 1"),
        ("endless", r"no episode ended within 50 steps; .*TimeLimit"),
        ("raises", "it raised RuntimeError: 'out of order'"),
        ("nan", r"the observation has the number nan.*\(at step 3\)"),
        ("outside", "at step 3 is not in its space"),
        ("shape", r"has the shape \(1,\)"),
    ],
)
def test_what_is_wrong_is_said(fault: str, sentence: str) -> None:
    report = jh.check_env(Faulty(fault), steps=50)
    assert not report.ok
    (problem,) = report.problems
    with pytest.raises(InputError, match=sentence):
        raise InputError(problem)
    assert problem in str(report)


def test_vectors_are_checked_lane_by_lane() -> None:
    with pytest.raises(InputError, match="check one of its lanes"):
        jh.check_env(gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"))


def test_nothing_is_wrong() -> None:
    report = jh.check_env(Faulty, steps=50)
    assert report.ok
    text = str(report)
    assert "the observation is numbers (2), scaled by their running mean and variance" in text
    assert "there are 2 actions" in text
    assert "5 episodes ended, after 10 to 10 steps" in text
    assert "rewards were from 1 to 1" in text
    assert "nothing was found" in text


def test_what_agents_do_with_each_part_is_said() -> None:
    report = jh.check_env(Sampled(SPACES["dict"], ACTIONS["product"]), steps=30)
    assert report.ok, report
    text = str(report)
    for words in (
        "observation['image'] is an image (16, 16, 3), seen by convolutions; 1000 transitions",
        "observation['where']['x'] is numbers (2)",
        "observation['where']['room'] is categories, as 4 numbers",
        "observation['door'] is bits (2)",
        "actions are the product 2 x 3 = 6",
    ):
        assert words in text
    masked = jh.check_env(Sampled(SPACES["states"], ACTIONS["shifted"], masked=True), steps=30)
    assert "actions that info['action_mask'] forbids are not taken" in str(masked)
    refused = jh.check_env("Pendulum-v1")
    assert "TransformAction" in refused.problems[0]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_minigrid() -> None:
    pytest.importorskip("minigrid")
    report = jh.check_env("minigrid:MiniGrid-DoorKey-5x5-v0", steps=300)
    assert report.ok, report
    assert "observation['image'] is cells of categories, each a one-hot code (1029)" in str(report)
    assert "observation['mission'] is text, which is left out" in str(report)


@pytest.mark.parametrize("name", DOMAINS)
def test_our_environments_pass_both_checks(name: str) -> None:
    assert jh.check_env(DOMAINS[name].id, steps=300).ok
    gymnasium_check(gym.make(DOMAINS[name].id).unwrapped, skip_render_check=True)


def test_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "FrozenLake-v1", "--steps", "100", "--env-kwargs", "map_name=8x8"]) == 0
    assert "observations are 64 states" in capsys.readouterr().out
    assert main(["check", "Pendulum-v1", "--json"]) == 1
    assert "TransformAction" in json.loads(capsys.readouterr().out)["problems"][0]
    assert main(["check", "Nothing-v0"]) == 2


MODULE = """
import gymnasium as gym
from gymnasium.spaces import Discrete


class Own(gym.Env):
    action_space = Discrete(2)

    def __init__(self, size=3):
        self.observation_space = Discrete(size)


gym.register("Own-v0", Own)
"""


def test_ids_of_modules_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    before = list(sys.path)
    env = make_environment("own_module:Own-v0", {"size": 5})
    assert env.observation_space == Discrete(5)
    assert sys.path == before
    with pytest.raises(InputError, match="Gymnasium cannot make the environment 'nothing:Own-v0'"):
        make_environment("nothing:Own-v0")
    gym.registry.pop("Own-v0")


def test_environments_of_functions_and_classes() -> None:
    assert isinstance(make_environment(Faulty, {"fault": "nan"}), Faulty)
    env = Faulty()
    assert make_environment(env) is env
    assert make_environment(lambda: env) is env
    vector = gym.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    assert make_environment(vector) is vector
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (env, {"fault": ""}, "fault given beside an environment"),
        (lambda: 3, {}, "which returned 3; it must return a Gymnasium environment"),
        (Faulty, {"colour": 1}, "the function cannot make the environment"),
        (3, {}, "it must be the id of a Gymnasium environment"),
    ]
    for made, options, words in cases:
        with pytest.raises(InputError, match=words):
            make_environment(made, options)
    assert jh.from_gymnasium(lambda: gym.make("FrozenLake-v1")).n_states == 16
