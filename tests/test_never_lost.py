"""Whatever stops `learn`, the agent is usable, savable, and a prefix of the undisturbed run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.errors import InputError
from jekyllhyde.stepwise_agent import StepwiseAgent

MAKERS: dict[str, Callable[[Any], StepwiseAgent]] = {
    "tables": lambda env: jh.TabularJekyllHyde(env, seed=3),
    "networks": lambda env: deep.JekyllHyde(
        env, seed=3, hidden=(8,), hidden_hyde=(8,), batch=8, capacity=100, warmup=20
    ),
}
# Interrupts at random moments of one run, which goes on after each; after each it is compared with
# a run that was never disturbed.
CHILD = """
import hashlib, os, random, signal, sys, tempfile, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import jekyllhyde as jh
from jekyllhyde import deep

kind, interrupts = sys.argv[1], int(sys.argv[2])


def make():
    if kind == "tables":
        return jh.TabularJekyllHyde("FrozenLake-v1", seed=3)
    small = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 100, "warmup": 20}
    return deep.JekyllHyde("FrozenLake-v1", seed=3, **small)


def digest(agent):
    arrays = {**agent.arrays(), "episodes": agent.episodes.table}
    return hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest()


agent, other, draw = make().learn(30), make().learn(30), random.Random(int(sys.argv[3]))
done = 0
while done < interrupts:
    presses = draw.choice([1, 1, 2, 3])  # the second comes at once
    timer = threading.Timer(
        draw.uniform(0.0, 0.03),
        lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(presses)],
    )
    try:
        timer.start()
        try:
            agent.learn(10**6)
        finally:
            timer.join()
            time.sleep(0.01)  # the presses that are left
    except KeyboardInterrupt:
        done += 1
    other.learn(agent.steps - other.steps)
    assert digest(agent) == digest(other), f"they differ after {agent.steps} steps"
with tempfile.TemporaryDirectory() as folder:
    agent.save(folder + "/agent")
    loaded = type(agent).load(folder + "/agent", "FrozenLake-v1").learn(50)
assert digest(loaded) == digest(other.learn(50))
print(done, agent.steps, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is sent to the child")
@pytest.mark.parametrize("kind", MAKERS)
def test_interrupts_at_any_moment(kind: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, kind, "100", "0"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    done, steps = map(int, child.stdout.split())
    assert done == 100
    assert steps > 100


def same(one: StepwiseAgent, other: StepwiseAgent) -> bool:
    a, b = one.arrays(), other.arrays()
    return all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


class Moody(gym.Wrapper[Any, Any, Any, Any]):
    """Does something bad in its steps of these numbers, counted over its whole life."""

    def __init__(self, bad: Callable[[Any], Any], *numbers: int) -> None:
        super().__init__(gym.make("FrozenLake-v1"))
        self.bad, self.numbers, self.count = bad, numbers, 0

    def step(self, action: Any) -> Any:
        self.count += 1
        outcome = super().step(action)
        return self.bad(outcome) if self.count in self.numbers else outcome


def crash(outcome: Any) -> Any:
    raise RuntimeError("the simulator is gone")


@pytest.mark.parametrize("kind", MAKERS)
def test_an_environment_that_raises(kind: str) -> None:
    whole = MAKERS[kind]("FrozenLake-v1").learn(120)
    agent = MAKERS[kind](Moody(crash, 51, 60))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the simulator is gone"):
            agent.learn(120 - agent.steps)
        assert 50 <= agent.steps < 60
        assert same(agent, MAKERS[kind]("FrozenLake-v1").learn(agent.steps))
    assert same(agent.learn(120 - agent.steps), whole)


@pytest.mark.parametrize("kind", MAKERS)
def test_an_episode_that_always_fails_is_given_up(kind: str) -> None:
    agent = MAKERS[kind](Moody(crash, *range(41, 1000)))
    for _ in range(2):
        with pytest.raises(RuntimeError):
            agent.learn(100)
    agent.env.numbers = ()
    with pytest.warns(UserWarning, match="a new episode begins"):
        agent.learn(60)
    assert agent.steps == 100


BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "reward": (lambda out: (out[0], np.nan, *out[2:]), "the reward nan at step 31"),
    "words": (lambda out: (out[0], "much", *out[2:]), "the reward 'much' at step 31"),
    "observation": (lambda out: (99, *out[1:]), "observation .*99"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("kind", MAKERS)
def test_what_cannot_be_learned_from_is_refused_on_arrival(kind: str, what: str) -> None:
    bad, words = BAD[what]
    agent = MAKERS[kind](Moody(bad, 31))
    with pytest.raises(InputError, match=words):
        agent.learn(100)
    assert same(agent, MAKERS[kind]("FrozenLake-v1").learn(30))
    assert same(agent.learn(70), MAKERS[kind]("FrozenLake-v1").learn(100))


class Blank(gym.Env[Any, Any]):
    """Numbers, and in the fifth step none."""

    observation_space, action_space = Box(-1.0, 1.0, (2,)), Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.count += 1
        return np.full(2, np.nan if self.count == 5 else 0.5, np.float32), 0.0, False, False, {}


def test_an_observation_that_is_no_number_is_refused_with_its_step() -> None:
    agent = MAKERS["networks"](Blank())
    with pytest.raises(InputError, match=r"Blank returned the observation .* at step 5"):
        agent.learn(10)
    assert agent.steps == 4


def test_the_environment_of_an_agent_may_be_used_between_lessons() -> None:
    env = gym.make("FrozenLake-v1")
    agent = MAKERS["tables"](env).learn(50)
    jh.evaluate_policy(agent, env, 3)
    assert same(agent.learn(50), MAKERS["tables"]("FrozenLake-v1").learn(100))
    agent.learn(100, eval_env=env, eval_every=30)
    assert same(agent, MAKERS["tables"]("FrozenLake-v1").learn(200))


def test_a_handler_of_ones_own_is_called_between_steps(tmp_path: Path) -> None:
    code = """
import os, signal, sys
import jekyllhyde as jh
calls = []
signal.signal(signal.SIGINT, lambda number, frame: calls.append(agent.is_inside))
agent = jh.TabularJekyllHyde("FrozenLake-v1").learn(5)
step = agent.env.step
def press(action):
    os.kill(os.getpid(), signal.SIGINT)
    return step(action)
agent.env.step = press
agent.learn(3)
assert calls == [True] * 3, calls
signal.signal(signal.SIGINT, signal.SIG_IGN)
agent.learn(3)
assert len(calls) == 3
"""
    subprocess.run([sys.executable, "-c", code], check=True)


class Unprintable(np.ndarray[Any, Any]):
    """An observation that nobody should write out."""

    def __repr__(self) -> str:
        raise AssertionError("an observation was written out in a step")

    __str__ = __repr__


class Quiet(gym.ObservationWrapper[Any, Any, Any]):
    def observation(self, observation: Any) -> Any:
        return np.asarray(observation).view(Unprintable)


def test_no_step_writes_out_what_it_was_given() -> None:
    """The sentences on wrong answers cost more than the step itself."""
    env = Quiet(gym.make("CartPole-v1", disable_env_checker=True))
    assert deep.DoubleDQN(env, hidden=(8,), batch=8, capacity=100).learn(30).steps == 30
