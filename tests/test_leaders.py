"""Who leads: Jekyll practises what Hyde has met, and no longer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.deep.episodes_of_lanes import in_lane
from jekyllhyde.deep.leaders import Curious, Leader, Practising
from jekyllhyde.deep.learning import State
from jekyllhyde.deep.networks import Transition
from jekyllhyde.errors import InputError

JEKYLL, HYDE = False, True


def after(leader: Leader, episodes: list[tuple[bool, list[float]]], lane: int = 0) -> Any:
    """A state in which these episodes have been led, the last one to its last reward."""
    state: Any = State(jax.random.key(0), None, None, leader=leader.init())  # type: ignore[arg-type]
    state = in_lane(state, jnp.int32(lane))
    for hyde, rewards in episodes:
        for i, reward in enumerate(rewards):
            step = Transition(*(jnp.float32(x) for x in (0, 0, reward, 0, 1)))
            state = replace(state, hyde_acts=jnp.asarray(hyde))
            ended = jnp.asarray(i == len(rewards) - 1)
            state = replace(state, leader=leader.observe(state, step, ended))
    return state


def chance(leader: Leader, state: Any, curiosity: float) -> float:
    """That Hyde leads the next episode, if he is so curious."""
    explorer = SimpleNamespace(curiosity=lambda _: jnp.float32(curiosity))
    known = replace(state, networks=SimpleNamespace(explorer=None))
    return float(leader.epsilon(known, SimpleNamespace(explorer=explorer)))


def test_jekyll_practises_while_his_episodes_bring_less_than_the_best() -> None:
    leader = Practising()
    nothing = [(HYDE, [0.0, 0.0]), (JEKYLL, [0.0])]
    for episodes in ([], nothing[:1], nothing):  # there is nothing to practise yet
        assert chance(leader, after(leader, episodes), 1.0) == 1.0
    met = [*nothing, (HYDE, [0.0, 1.0])]
    assert chance(leader, after(leader, met), 1.0) == 0.5
    assert chance(leader, after(leader, met), 0.04) == pytest.approx(0.2)  # he is not needed
    learned = [*met, *[(JEKYLL, [1.0])] * 30]
    assert chance(leader, after(leader, learned), 1.0) == 1.0
    better = [*learned, (HYDE, [5.0])]
    assert chance(leader, after(leader, better), 1.0) == 0.5


def test_who_has_led_no_episode_practises() -> None:
    leader = Practising(share=0.25)
    assert chance(leader, after(leader, [(HYDE, [0.0]), (HYDE, [3.0])]), 1.0) == 0.75


def test_old_episodes_are_forgotten() -> None:
    leader = Practising(memory=0.5)
    early = [(HYDE, [0.0]), (HYDE, [1.0]), *[(JEKYLL, [0.0])] * 50]
    assert chance(leader, after(leader, early), 1.0) == 0.5
    assert chance(leader, after(leader, [*early, *[(JEKYLL, [1.0])] * 4]), 1.0) == 1.0


def test_lanes_have_episodes_of_their_own() -> None:
    leader = Practising(lanes=2)
    state = after(leader, [(HYDE, [2.0, 0.0])], lane=1)
    step = Transition(*(jnp.float32(x) for x in (0, 0, 7.0, 0, 1)))
    state = in_lane(state, jnp.int32(0))
    state = replace(state, leader=leader.observe(state, step, jnp.asarray(False)))
    assert state.leader.running.tolist() == [7.0, 0.0]
    assert float(state.leader.highest) == 2.0


def test_in_an_agent(tmp_path: Path) -> None:
    """What it remembers is what its episodes brought, also after it was saved."""
    small: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 90}
    env = gym.make("jekyllhyde/Chain-v0", n_states=4, horizon=8)
    agent = deep.JekyllHyde(env, seed=0, warmup=10, leader="practising(memory=0.9)", **small)
    agent.learn(120)
    known, episodes = agent.state.leader, agent.episodes
    weights = 0.9 ** np.arange(len(episodes))[::-1]
    led = np.bincount(episodes.hyde.astype(int), weights, 2)
    assert np.asarray(known.episodes) == pytest.approx(led, rel=1e-4)
    assert float(known.highest) == pytest.approx(episodes.returns.max())
    agent.save(tmp_path / "agent")
    loaded = deep.JekyllHyde.load(tmp_path / "agent", env)
    assert isinstance(loaded.settings.leader, Practising)
    assert (loaded.state.leader.total == agent.state.leader.total).all()
    jh.check_agent(
        lambda env, seed: deep.JekyllHyde(env, seed=seed, leader="practising", **small), steps=60
    )


def test_settings_that_cannot_be() -> None:
    with pytest.raises(InputError, match="lanes of practising is 0"):
        deep.configure("jekyll_hyde", leader="practising(lanes=0)")
    assert isinstance(deep.configure("jekyll_hyde", "recommended_0_3").leader, Leader)
    assert not isinstance(Curious(), Practising)
