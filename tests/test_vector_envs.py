"""Vector environments: the three ways in which they begin new episodes have one outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from safetensors.numpy import load_file, save_file

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.envs.vector_lanes import LaneStep, VectorLanes
from jekyllhyde.errors import InputError
from jekyllhyde.policy_returns import environment_like


class Count(gym.Env[Any, Any]):
    """Counts its steps up to `length`, from 100 times its episode on; odd numbers forbid action 0.

    The last step terminates where the length is even, and truncates where it is odd.
    """

    observation_space, action_space = Box(0.0, 1e9, (1,)), Discrete(2, start=1)

    def __init__(self, length: int = 3) -> None:
        self.length, self.episode, self.count = length, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.episode, self.count = self.episode + 1, 0
        return self._see()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in (1, 2)
        assert self.count < self.length
        assert self.count % 2 == 0 or action == 2, "a masked action was taken"
        self.count += 1
        observation, info = self._see()
        ended, is_even = self.count == self.length, self.length % 2 == 0
        return observation, float(self.count), ended and is_even, ended and not is_even, info

    def _see(self) -> tuple[Any, dict[str, Any]]:
        number = np.array([100.0 * self.episode + self.count], np.float32)
        return number, {"action_mask": np.array([self.count % 2 == 0, True])}


def lengths(count: int) -> list[Any]:
    return [lambda length=2 + i: Count(length) for i in range(count)]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_every_mode_has_the_same_transitions(mode: AutoresetMode, kind: Any) -> None:
    env = kind(lengths(2), autoreset_mode=mode)
    lanes = VectorLanes(env)
    views = lanes.reset([1, 2])
    seen: list[list[tuple[float, float, bool]]] = [[], []]
    for _ in range(9):
        steps = lanes.step([2, 2], [3, 4])
        for i, step in enumerate(steps):
            if step.reached is not None:
                before, after = (float(view[0][0]) for view in (views[i], step.reached))
                assert step.reward == after % 100
                assert after == before + 1  # never from one episode into another
                assert step.reached[1]["action_mask"][0] == (after % 2 == 0)
                seen[i].append((before, after, step.terminated or step.truncated))
                assert step.terminated == (i == 0 and step.reward == 2)
                assert step.truncated == (i == 1 and step.reward == 3)
                views[i] = step.reached
            if step.start is not None:
                assert float(step.start[0][0]) % 100 == 0
                views[i] = step.start
    env.close()
    for i, episodes in enumerate(seen):
        ends = [after % 100 for _, after, ended in episodes if ended]
        assert len(ends) >= 2
        assert set(ends) == {2 + i}


def test_lanes_of_gymnasiums_own_vector_environment() -> None:
    env = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode="vector_entry_point")
    lanes = VectorLanes(env)
    lanes.reset([1] * 3)
    steps: list[LaneStep] = []
    for _ in range(60):
        steps += lanes.step([0, 1, 0], [0] * 3)
    # every start follows an end, and pushing one way ends an episode within 12 steps
    assert sum(step.start is not None for step in steps) >= 12
    assert all(step.reward == 1.0 for step in steps if step.reached is not None)


def test_a_mode_that_nobody_knows_is_refused() -> None:
    env = SyncVectorEnv(lengths(1))
    env.metadata = {"autoreset_mode": "sometimes"}
    with pytest.raises(InputError, match="autoreset_mode'] is 'sometimes'"):
        VectorLanes(env)


SMALL: dict[str, Any] = {"hidden": (8,), "batch": 4, "capacity": 60}


def make(mode: AutoresetMode, count: int = 2) -> Any:
    return SyncVectorEnv(lengths(count), autoreset_mode=mode)


def test_an_agent_learns_from_all_lanes(tmp_path: Path) -> None:
    """Every transition that is stored is one of a lane, whatever the mode; steps are counted once;
    two calls are one.
    """
    for mode in AutoresetMode:
        agent = deep.DoubleDQN(make(mode), **SMALL).learn(31)
        assert agent.steps == int(agent.state.t) == 31
        data = jax.tree.map(np.asarray, agent.state.everyone.data)
        before, after = data.observation[:31, 0], data.following[:31, 0]
        assert (after == before + 1).all()
        assert (data.reward[:31] == after % 100).all()
        ends = data.discount[:31] == 0  # lanes of 2 steps terminate, those of 3 are cut
        assert set(after[ends] % 100) == {2.0}
        assert set(agent.episodes.lengths) == {2, 3}
        returns = {2: 3.0, 3: 6.0}
        assert agent.episodes.returns.tolist() == [returns[n] for n in agent.episodes.lengths]
        parts = deep.DoubleDQN(make(mode), **SMALL).learn(5).learn(26)
        assert same(agent, parts)
    agent.save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent", make(mode))
    assert same(loaded, agent)
    with pytest.warns(UserWarning, match="new episodes begin"):
        loaded.learn(10)
    assert loaded.steps == 41


def same(first: Any, second: Any) -> bool:
    a, b = first.arrays(), second.arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_each_lane_has_its_own_leader() -> None:
    agent = deep.JekyllHyde(
        make(AutoresetMode.NEXT_STEP, 3), **SMALL, hidden_hyde=(8,), warmup=5, epsilon_1=20.0
    )
    agent.learn(120)
    assert 0 < agent.episodes.hyde.mean() < 1
    # Hyde's replay has what he did, beside the first batch of everything
    hyde = int((agent.episodes.lengths * agent.episodes.hyde).sum())
    assert abs(int(agent.state.hyde.size) - min(hyde + 4, 60)) <= 8


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_evaluations_have_one_environment_like_the_lanes(mode: str) -> None:
    vector = gym.make_vec("CartPole-v1", 2, vectorization_mode=mode)
    env = environment_like(vector)
    assert isinstance(env, gym.Env)
    assert env.spec is not None
    assert env.spec.id == "CartPole-v1"
    with pytest.raises(InputError, match="not in a vector of them"):
        jh.evaluate_policy(object(), vector)


def test_tables_take_one_environment() -> None:
    with pytest.raises(InputError, match="vector"):
        jh.TabularJekyllHyde(gym.make_vec("FrozenLake-v1", 2, vectorization_mode="sync"))


class Walk(gym.Env[Any, Any]):
    """A random walk of random length, all of it drawn from the seed of its reset."""

    observation_space, action_space = Box(-100.0, 100.0, (2,)), Discrete(2)
    fails_at = 0  # number of the step, of all of them, at which it raises

    def __init__(self) -> None:
        self.place, self.left = 0.0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.left = float(self.np_random.normal()), int(self.np_random.integers(1, 9))
        return self._see(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Walk.fails_at -= 1
        if Walk.fails_at == 0:
            raise RuntimeError("broken")
        self.place += (2 * action - 1) * float(self.np_random.exponential())
        self.left -= 1
        ended = self.left == 0
        return self._see(), self.place, ended and self.place > 0, ended and self.place <= 0, {}

    def _see(self) -> Any:
        return np.array([self.place, self.left], np.float32)


def walks(count: int = 3, mode: AutoresetMode = AutoresetMode.DISABLED) -> Any:
    return SyncVectorEnv([Walk] * count, autoreset_mode=mode)


HYDE: dict[str, Any] = {**SMALL, "hidden_hyde": (8,), "warmup": 5, "epsilon_1": 20.0}


@pytest.mark.parametrize("first", [0, 1, 36, 37, 38])
def test_lanes_are_resumed_as_if_never_stopped(first: int, tmp_path: Path) -> None:
    whole = deep.JekyllHyde(walks(), **HYDE).learn(90)
    deep.JekyllHyde(walks(), **HYDE).learn(first).save(tmp_path / "agent")
    between = deep.JekyllHyde.load(tmp_path / "agent")
    between.save(tmp_path / "agent")  # without an environment, lanes are kept
    loaded = deep.JekyllHyde.load(tmp_path / "agent", walks()).learn(90 - first)
    assert same(loaded, whole)
    assert len(whole.episodes) > 10


@pytest.mark.parametrize("at", [1, 2, 25, 40])
def test_a_lane_that_raises_loses_nothing(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = deep.JekyllHyde(walks(), **HYDE).learn(60)
    monkeypatch.setattr(Walk, "fails_at", at)
    agent = deep.JekyllHyde(walks(), **HYDE)
    with pytest.raises(RuntimeError, match="broken"):
        agent.learn(60)
    agent.learn(60 - agent.steps)
    assert same(agent, whole)


def test_lanes_that_cannot_return_begin_new_episodes(tmp_path: Path) -> None:
    agent = deep.DoubleDQN(walks(), **SMALL).learn(20)
    agent.save(tmp_path / "agent")
    for other in (walks(mode=AutoresetMode.NEXT_STEP), walks(count=2)):
        loaded = deep.DoubleDQN.load(tmp_path / "agent", other)
        with pytest.warns(UserWarning, match="new episodes begin"):
            loaded.learn(10)
        assert loaded.steps == 30


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lanes.table", -1.0),
        ("lanes.actions", 7),
        ("lanes.lengths", 10**9),
        ("lanes.taken", 3),
        ("lanes.view.observation", np.nan),
    ],
)
def test_lanes_that_contradict_themselves_are_refused(
    name: str, value: float, tmp_path: Path
) -> None:
    deep.DoubleDQN(walks(), **SMALL).learn(20).save(tmp_path / "agent")
    file = tmp_path / "agent" / "state.safetensors"
    arrays = load_file(file)
    arrays[name] = np.full_like(arrays[name], value)
    save_file(arrays, file)
    with pytest.raises(InputError, match="its lanes cannot be those of such an agent"):
        deep.DoubleDQN.load(tmp_path / "agent")


@pytest.mark.parametrize(
    ("name", "value"), [("lowest", 1.0), ("highest", -1.0), ("highest", np.nan)]
)
def test_sums_that_cannot_be_are_refused(name: str, value: float, tmp_path: Path) -> None:
    deep.JekyllHyde(walks(), **HYDE).learn(20).save(tmp_path / "agent")
    file = tmp_path / "agent" / "state.safetensors"
    arrays = load_file(file)
    (key,) = (key for key in arrays if key.endswith(f".sums.{name}"))
    arrays[key] = np.full_like(arrays[key], value)
    save_file(arrays, file)
    with pytest.raises(InputError, match="its sums cannot be that of such an agent"):
        deep.JekyllHyde.load(tmp_path / "agent")


@pytest.mark.parametrize("make_env", [walks, Walk])
def test_hyde_may_take_over_within_an_episode(make_env: Any, tmp_path: Path) -> None:
    """Who acts is the episode's affair: each lane has its own, and a saved agent knows it."""
    settings = {**HYDE, "leader": "handing_over(chance=0.3)"}
    agent = deep.JekyllHyde(make_env(), **settings).learn(41)
    assert 0 < agent.episodes.hyde.mean() < 1
    agent.save(tmp_path / "agent")
    again = deep.JekyllHyde.load(tmp_path / "agent", make_env()).learn(30)
    assert same(again, agent.learn(30))
