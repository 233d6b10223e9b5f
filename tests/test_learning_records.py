"""Callbacks, evaluations, records and where they go."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.errors import InputError
from jekyllhyde.sinks import crc32c, tensorboard

LAKE = "FrozenLake-v1"


def test_callbacks_are_told_in_order_and_can_stop() -> None:
    records: list[jh.Record] = []

    def note(agent: Any, record: jh.Record) -> bool:
        records.append(record)
        return record.step < 300

    agent = jh.TabularJekyllHyde(LAKE, seed=0)
    agent.learn(1000, callback=note, eval_every=150, eval_episodes=2, log_every=100)
    assert agent.steps == 300
    steps = {
        event: [record.step for record in records if record.event == event]
        for event in ("episode", "evaluation", "log")
    }
    assert steps["log"] == [100, 200, 300]
    assert steps["evaluation"] == [150, 300] == [row["step"] for row in agent.evaluations]
    assert steps["episode"] == agent.episodes.steps.tolist()
    assert [record.step for record in records] == sorted(record.step for record in records)
    last = next(record for record in reversed(records) if record.event == "episode")
    assert last.values["return"] == agent.episodes.returns[-1]
    logged = next(record for record in reversed(records) if record.event == "log").values
    assert {"return_hyde", "hyde_share", "epsilon", "coverage", "steps_per_second"} <= logged.keys()
    assert 0.0 < logged["epsilon"] <= 1.0
    assert logged["hyde_share"] == pytest.approx(
        (agent.episodes.lengths * agent.episodes.hyde)[-100:].sum()
        / agent.episodes.lengths[-100:].sum()
    )
    assert agent.learn(5).steps == 305


NETWORKS: dict[str, tuple[Any, set[str]]] = {
    "jekyll_hyde": (deep.JekyllHyde, {"epsilon", "critic_loss", "entropy", "bonus", "hyde_loss"}),
    "ddqn": (deep.DoubleDQN, {"epsilon", "critic_loss"}),
    "bootstrapped_dqn": (deep.BootstrappedDQN, {"critic_loss", "spread"}),
    "sac": (deep.DiscreteSAC, {"alpha", "critic_loss", "entropy"}),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_of_networks(name: str) -> None:
    kind, expected = NETWORKS[name]
    records: list[jh.Record] = []
    kwargs: dict[str, Any] = {"hidden": (8,), "batch": 8, "capacity": 100}
    agent = kind(LAKE, **kwargs)
    plain = kind(LAKE, **kwargs).learn(60)
    agent.learn(60, callback=lambda agent, record: records.append(record), log_every=30)
    (_, values) = [record.values for record in records if record.event == "log"]
    assert expected <= values.keys()
    assert all(np.isfinite(value) for value in values.values())
    a, b = agent.arrays(), plain.arrays()
    assert all(np.array_equal(a[key], b[key]) for key in a)  # being watched changes nothing


def test_evaluations_are_of_the_greedy_policy_and_can_be_repeated() -> None:
    agent = jh.TabularJekyllHyde(LAKE, seed=1).learn(2000)
    first, second = (jh.evaluate_policy(agent, LAKE, 20, seed=4) for _ in range(2))
    assert first.returns.tolist() == second.returns.tolist()
    assert first.lo <= first.mean <= first.hi
    assert first.mean == first.returns.mean()
    assert (first.lengths <= 100).all()
    other = jh.evaluate_policy(agent, LAKE, 20, seed=5)
    assert other.lengths.tolist() != first.lengths.tolist()
    drawn = jh.evaluate_policy(agent.hyde, LAKE, 20, deterministic=False)
    assert len(drawn.returns) == 20
    cut = jh.evaluate_policy(agent, LAKE, 3, max_steps=1)
    assert cut.lengths.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="n is 0"):
        jh.evaluate_policy(agent, LAKE, 0)
    with pytest.raises(InputError, match="max_steps is 0"):
        jh.evaluate_policy(agent, LAKE, max_steps=0)


def test_an_environment_without_an_id_needs_another_for_evaluations() -> None:
    class Own(gym.Env[Any, Any]):
        observation_space = gym.spaces.Discrete(2)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            return 0, {}

        def step(self, action: Any) -> Any:
            return 1, float(action), True, False, {}

    agent = jh.TabularJekyllHyde(Own())
    with pytest.raises(InputError, match="give eval_env"):
        agent.learn(10, eval_every=5)
    agent.learn(40, eval_every=20, eval_env=Own())
    assert agent.evaluations[-1]["mean"] == 1.0


def test_a_mask_is_heeded_in_predictions() -> None:
    agent = jh.TabularJekyllHyde(LAKE).learn(50)
    for action in range(4):
        mask = np.arange(4) == action
        assert agent.predict(0, action_mask=mask) == action
        assert agent.hyde.predict(0, deterministic=False, action_mask=mask) == action
    with pytest.raises(InputError, match="must allow an action"):
        agent.predict(0, action_mask=np.zeros(4))


def test_event_files_of_tensorboard(tmp_path: Path) -> None:
    assert crc32c(b"123456789") == 0xE3069283
    with tensorboard(tmp_path / "events") as sink:
        jh.TabularJekyllHyde(LAKE).learn(400, callback=sink, log_every=200)
    (file,) = (tmp_path / "events").iterdir()
    assert file.name.startswith("events.out.tfevents.")
    content, events = file.read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        events.append(content[12 : 12 + length])
        content = content[16 + length :]
    assert b"brain.Event:2" in events[0]
    assert sum(b"log/epsilon" in event for event in events) == 2
    assert sum(b"episode/return" in event for event in events) > 5
    place = next(event for event in events if b"log/coverage" in event).index(b"log/coverage")
    event = next(event for event in events if b"log/coverage" in event)
    (coverage,) = struct.unpack("<f", event[place + 13 : place + 17])
    assert 0.0 < coverage <= 1.0
