"""What is new in an episode, and who leads by what episodes brought; both once for every lane."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import gymnasium as gym
import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep.episodes_of_lanes import in_lane
from jekyllhyde.deep.episodic import Episodic
from jekyllhyde.deep.leaders import Bandit
from jekyllhyde.deep.learning import State
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.errors import InputError

INDICES = replace(Space(6, (), 2), one_hot=True)
RIDGE = 0.1


def observed(bonus: Episodic, state: Any, before: int, after: int, ended: bool = False) -> Any:
    step = Transition(jnp.int32(before), jnp.int32(0), jnp.ones(()), jnp.int32(after), jnp.ones(()))
    samples = Samples.of(None, step, jnp.ones(()))
    return _observe(bonus, state, samples, jnp.asarray(ended))


@jax.jit
def _observe(bonus: Episodic, state: Any, samples: Samples, ended: Any) -> Any:
    return bonus.observe(state, samples, ended)


def by_definition(phi: Any, states: list[int]) -> list[float]:
    """The bonuses of an episode through `states`, C being inverted at every step."""
    C, bonuses = RIDGE * np.eye(phi.shape[1]), []
    for before, after in pairwise(states):
        C = C + np.outer(phi[before], phi[before])
        bonuses.append(RIDGE * phi[after] @ np.linalg.solve(C, phi[after]))
    return bonuses


def test_the_bonus_is_the_elliptical_one_and_begins_anew_with_an_episode() -> None:
    bonus = Episodic(features=16)
    state = bonus.init(jax.random.key(0), INDICES)
    phi = np.array([bonus.phi(state, jnp.int32(i)) for i in range(6)], np.float64)
    assert np.linalg.norm(phi, axis=1) == pytest.approx(np.ones(6))
    for walk in ([0, 1, 2, 1, 1, 3], [0, 1, 4], [5, 5, 5, 5]):
        found = []
        for i, (before, after) in enumerate(pairwise(walk)):
            state = observed(bonus, state, before, after, ended=i == len(walk) - 2)
            found.append(float(bonus.kept(state)))
        assert found == pytest.approx(by_definition(phi, walk), abs=1e-3)
    # what was seen n times is worth ridge / (n + ridge)
    assert found == pytest.approx([RIDGE / (n + RIDGE) for n in (1, 2, 3)], rel=1e-2)


def test_what_was_never_seen_is_worth_the_most() -> None:
    bonus = Episodic(features=256)
    state = bonus.init(jax.random.key(0), INDICES)
    state = observed(bonus, state, 0, 1)
    assert float(bonus.kept(state)) > 0.9
    state = observed(bonus, state, 1, 0)
    assert float(bonus.kept(state)) < 0.1


def test_vectors_that_are_near_are_alike() -> None:
    bonus = Episodic(features=256)
    state = bonus.init(jax.random.key(0), Space(None, (3,), 2))
    here = jnp.array([0.5, -1.0, 0.2])
    near, far = bonus.phi(state, here + 0.02), bonus.phi(state, here + 2.0)
    assert float(bonus.phi(state, here) @ near) > 0.99
    assert abs(float(bonus.phi(state, here) @ far)) < 0.3


def test_the_normalizer() -> None:
    state = Episodic(features=4).init(jax.random.key(0), INDICES)
    step = Transition(*(jnp.zeros(3) for _ in range(5)), novelty=jnp.array([0.2, 0.4, 0.6]))
    samples = Samples.of(None, step, jnp.ones(3))
    plain, same = Episodic(features=4).of(state, samples)
    assert same is state
    assert np.asarray(plain) == pytest.approx([0.2, 0.4, 0.6])
    scaled, moved = Episodic(features=4, normalize=True).of(state, samples)
    assert float(moved.scale) == pytest.approx(1.0 + 0.01 * (0.4 - 1.0))
    assert np.asarray(scaled * moved.scale) == pytest.approx(np.asarray(plain))


def test_lanes_have_episodes_of_their_own(tmp_path: Path) -> None:
    small: dict[str, Any] = {"hidden": (4,), "batch": 4, "capacity": 100, "gamma": 0.9}
    own: dict[str, Any] = {"bonus": "episodic(features=8, width=2.0)"}

    def make() -> Any:
        here = {"autoreset_mode": gym.vector.AutoresetMode.DISABLED}
        return gym.make_vec("CartPole-v1", 2, "sync", vector_kwargs=here)

    agent = deep.DoubleDQN(make(), normalize_observations=False, **small, **own).learn(80)
    assert agent.settings.bonus.lanes == 2
    data = jax.tree.map(lambda ring: np.asarray(ring)[:80], agent.state.everyone.data)
    bonus, state = agent.settings.bonus, agent.state.networks.bonus
    assert state.inverse.shape == (2, 8, 8)
    for lane in range(2):
        before, after = data.observation[lane::2], data.following[lane::2]
        novelty = data.novelty[lane::2]
        starts = [0, *(i for i in range(1, 40) if (before[i] != after[i - 1]).any()), 40]
        assert len(starts) > 2  # more than one episode
        for begin, end in pairwise(starts):
            walk = np.concatenate([before[begin:end], after[end - 1 : end]])
            phi = np.array([bonus.phi(state, jnp.asarray(x)) for x in walk], np.float64)
            expected = by_definition(phi, list(range(len(walk))))
            assert novelty[begin:end] == pytest.approx(expected, abs=2e-3)
    agent.save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent", make())
    assert loaded.settings == agent.settings
    for each in (agent, loaded):
        each.learn(10)
    newest = [each.state.everyone.data.novelty for each in (agent, loaded)]
    assert (newest[0] == newest[1]).all()
    agent.export_replay(tmp_path / "replay.parquet")
    assert loaded.import_replay(tmp_path / "replay.parquet") == 90
    wider = deep.DoubleDQN.load(tmp_path / "agent", gym.make_vec("CartPole-v1", 3, "sync"))
    narrow = deep.DoubleDQN.load(tmp_path / "agent")
    inverses = [each.state.networks.bonus.inverse for each in (wider, narrow)]
    assert (inverses[0][:2] == inverses[1]).all()
    with pytest.warns(UserWarning, match="new episodes begin"):
        assert wider.learn(9).steps == 89


def bandit_after(bandit: Bandit, episodes: list[tuple[bool, list[float]]]) -> State:
    state: Any = State(jax.random.key(0), None, None, leader=bandit.init())  # type: ignore[arg-type]
    for hyde, rewards in episodes:
        for i, reward in enumerate(rewards):
            step = Transition(*(jnp.float32(x) for x in (0, 0, reward, 0, 1)))
            state = replace(state, hyde_acts=jnp.asarray(hyde))
            ended = jnp.asarray(i == len(rewards) - 1)
            state = replace(state, leader=bandit.observe(state, step, ended))
    return state


def test_the_bandit_by_hand() -> None:
    bandit = Bandit(memory=0.5, width=1.0)
    assert float(bandit.epsilon(bandit_after(bandit, []), None)) == 0.5
    once = bandit_after(bandit, [(False, [1.0, 2.0])])
    assert float(bandit.epsilon(once, None)) == 1.0  # Hyde has not led yet
    state = bandit_after(bandit, [(False, [1.0, 2.0]), (True, [0.0, -1.0]), (False, [5.0])])
    known = state.leader
    assert known.episodes.tolist() == [1.25, 0.5]
    assert known.total.tolist() == [0.25 * 3 + 5, -0.5]
    assert (float(known.lowest), float(known.highest), float(known.running[0])) == (-1, 5, 0)
    doubt = np.sqrt(np.log1p(1.75) / np.array([1.25, 0.5]))
    expected = np.array([(5.75 / 1.25 + 1) / 6, 0.0]) + doubt
    assert np.asarray(bandit.bounds(known)) == pytest.approx(expected, rel=1e-5)
    assert float(bandit.epsilon(state, None)) == float(expected[1] > expected[0])
    draw = jnp.float32(0.3)
    after = bandit.hyde_next(state, None, draw, jnp.asarray(True))
    assert bool(after) == (expected[1] > expected[0])


def test_who_brings_more_leads_more() -> None:
    bandit = Bandit()
    decide, observe = jax.jit(Bandit.epsilon), jax.jit(Bandit.observe)
    for best, alike in ((0, False), (1, False), (0, True)):
        state, led = bandit_after(bandit, []), np.zeros(2)
        for _ in range(200):
            hyde = bool(decide(bandit, state, None) > 0.5)
            led[int(hyde)] += 1
            reward = 7.0 if alike or int(hyde) == best else 0.0
            step = Transition(*(jnp.float32(x) for x in (0, 0, reward, 0, 1)))
            state = replace(state, hyde_acts=jnp.asarray(hyde))
            state = replace(state, leader=observe(bandit, state, step, jnp.asarray(True)))
        share = led[best] / led.sum()
        assert 0.4 < share < 0.6 if alike else 0.85 < share < 1.0


def test_the_bandits_lanes_run_apart() -> None:
    bandit = Bandit(lanes=2)
    state: Any = bandit_after(bandit, [])
    for lane, reward, ended in ((0, 1.0, False), (1, 10.0, False), (0, 2.0, True)):
        step = Transition(*(jnp.float32(x) for x in (0, 0, reward, 0, 1)))
        state = in_lane(state, jnp.int32(lane))
        state = replace(state, leader=bandit.observe(state, step, jnp.asarray(ended)))
    assert state.leader.running.tolist() == [0.0, 10.0]
    assert state.leader.total.tolist() == [3.0, 0.0]


def test_an_agent_with_both(tmp_path: Path) -> None:
    small: dict[str, Any] = {"hidden": (4,), "hidden_hyde": (4,), "batch": 4, "capacity": 50}

    def make() -> Any:
        return gym.make("jekyllhyde/Chain-v0", n_states=4, horizon=8)

    own: dict[str, Any] = {"bonus": "episodic(features=8)", "leader": "bandit(memory=0.9)"}
    agent = deep.JekyllHyde(make(), seed=0, warmup=10, **small, **own).learn(60)
    led, returns = agent.episodes.hyde.astype(int), agent.episodes.returns
    weights = 0.9 ** np.arange(len(led))[::-1]
    known = agent.state.leader
    assert np.asarray(known.episodes) == pytest.approx(np.bincount(led, weights, 2), rel=1e-4)
    assert np.asarray(known.total) == pytest.approx(
        np.bincount(led, weights * returns, 2), rel=1e-4
    )
    assert 0 < led.sum() < len(led)
    novelty = np.asarray(agent.state.hyde.data.novelty)[: int(agent.state.hyde.size)]
    assert ((novelty > 0) & (novelty <= 1)).all()
    agent.save(tmp_path / "agent")
    loaded = deep.JekyllHyde.load(tmp_path / "agent", make())
    assert (loaded.learn(20).episodes.table == agent.learn(20).episodes.table).all()


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"bonus": "episodic(features=0)"}, "features of episodic is 0"),
        ({"bonus": "episodic(lanes=0)"}, "lanes of episodic is 0"),
        ({"leader": "bandit(lanes=0)"}, "lanes of bandit is 0"),
        ({"leader": "bandits"}, "leader is 'bandits'; it must be one of scheduled, curious"),
    ],
)
def test_settings_that_cannot_be(option: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        deep.configure("jekyll_hyde", **option)
