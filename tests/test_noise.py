"""Random actions that last: their law, their end, and agents that take them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.noise import Persistent, Single
from jekyllhyde.errors import InputError
from test_vector_envs import SMALL, same, walks

ALWAYS: dict[str, Any] = {"epsilon_1": 1e9}  # epsilon stays 1
LASTING = "persistent(mu=1.5)"


class Restless(gym.Env[Any, Any]):
    """Counts its steps, from where no seed determines; nothing ends."""

    observation_space, action_space = Box(0.0, 1e9, (1,)), Discrete(2)
    resets, place = 0, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        Restless.resets += 1
        self.place = 1e4 * Restless.resets
        return self._see(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place += 1.0
        return self._see(), 1.0, False, False, {}

    def _see(self) -> Any:
        return np.array([self.place], np.float32)


KINDS: dict[str, Callable[..., Any]] = {
    "ddqn": lambda env, **more: deep.DoubleDQN(env, **SMALL, **more),
    "jekyll_hyde": lambda env, **more: deep.JekyllHyde(
        env,
        **{**SMALL, "hidden_hyde": (8,), "warmup": 5, "leader": "hyde_only", "hyde_noise": 0.3}
        | more,
    ),
}


@pytest.mark.parametrize("mu", [1.2, 2.0, 3.0])
def test_durations_have_the_law(mu: float) -> None:
    noise = Persistent(mu=mu, most=50)
    draws = (jnp.arange(200_000) + 0.5) / 200_000
    durations = np.asarray(jax.lax.map(noise.duration, draws, batch_size=1000))
    weight = np.arange(1, 51) ** -mu
    shares = np.bincount(durations, minlength=51)[1:] / len(draws)
    assert shares == pytest.approx(weight / weight.sum(), abs=2e-5)
    assert (int(noise.duration(jnp.zeros(()))), int(noise.duration(jnp.float32(1 - 1e-7)))) == (
        1,
        50,
    )


def test_an_action_is_drawn_once_and_lasts_until_its_end_or_the_episodes() -> None:
    noise, key = Persistent(mu=0.0, most=40), jax.random.key(0)
    state: Any = noise.init(Space(None, (2,), 3))
    logits = jnp.log(jnp.array([0.0, 1.0, 0.0]))
    assert (noise.lasting(state, logits, None) == logits).all()  # none is under way
    begun: Any = noise.observe(state, key, 1.0, jnp.int32(2), jnp.asarray(False))
    left = int(begun.left[0])
    assert left > 3
    assert (noise.lasting(begun, logits, None) == 0.0).all()  # it is drawn from all
    state = noise.observe(begun, key, 0.0, jnp.int32(2), jnp.asarray(False))
    assert int(state.left[0]) == left - 1
    assert int(jnp.argmax(noise.lasting(state, logits, None))) == 2
    forbidden = jnp.array([True, True, False])
    assert (noise.lasting(state, logits, forbidden) == 0.0).all()
    over = noise.observe(state, key, 0.0, jnp.int32(2), jnp.asarray(True))
    assert (noise.lasting(over, logits, None) == logits).all()


def played(agent: Any, lanes: int = 1) -> list[list[list[int]]]:
    """The actions of each lane, by episode."""
    data = jax.tree.map(lambda ring: np.asarray(ring)[: agent.steps], agent.state.everyone.data)
    episodes = []
    for lane in range(lanes):
        before, after = data.observation[lane::lanes], data.following[lane::lanes]
        begins = [0, *np.flatnonzero((before[1:] != after[:-1]).any(1)) + 1]
        episodes.append([part.tolist() for part in np.split(data.action[lane::lanes], begins[1:])])
    return episodes


def test_an_agent_repeats_its_random_actions() -> None:
    """With mu 0 nearly all of 1000 steps outlast an episode: each has one action, once there is an
    epsilon."""
    settings = {**SMALL, **ALWAYS, "noise": "persistent(mu=0.0)", "capacity": 400}
    for lanes, env in ((1, gym.make("CartPole-v1")), (3, gym.make_vec("CartPole-v1", 3, "sync"))):
        agent = deep.DoubleDQN(env, **settings).learn(300)
        assert agent.settings.noise.lanes == lanes
        for episodes in played(agent, lanes):
            runs = [len(list(groupby(actions))) for actions in episodes[1:]]
            assert len(runs) > 5
            assert np.mean(runs) < 1.3
            assert len({actions[0] for actions in episodes[1:]}) == 2
        plain = deep.DoubleDQN(gym.make("CartPole-v1"), **{**settings, "noise": "single"})
        (episodes,) = played(plain.learn(300))
        assert np.mean([len(list(groupby(actions))) for actions in episodes]) > 4


@pytest.mark.parametrize("kind", KINDS)
def test_the_contract(kind: str) -> None:
    jh.check_agent(lambda env, seed: KINDS[kind](env, seed=seed, noise=LASTING), steps=90)


@pytest.mark.parametrize("first", [1, 37])
def test_lanes_are_resumed_as_if_never_stopped(first: int, tmp_path: Path) -> None:
    whole = KINDS["ddqn"](walks(), noise=LASTING).learn(90)
    assert whole.state.noise.left.shape == (3,)
    KINDS["ddqn"](walks(), noise=LASTING).learn(first).save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent", walks()).learn(90 - first)
    assert same(loaded, whole)


def test_a_hyde_without_noise_takes_no_random_actions() -> None:
    """And one with it takes others than one whose actions are single."""
    makers: list[dict[str, Any]] = [
        {"hyde_noise": 0.0, "noise": LASTING},
        {"hyde_noise": 0.0},
        {"hyde_noise": 0.9, "noise": LASTING},
        {"hyde_noise": 0.9},
    ]
    actions = []
    for more in makers:
        small = {**SMALL, "hidden_hyde": (8,), "warmup": 5, "leader": "hyde_only", **more}
        agent = deep.JekyllHyde("CartPole-v1", **small).learn(60)
        actions.append(np.asarray(agent.state.everyone.data.action).tolist())
    quiet, plain, lasting, single = actions
    assert quiet == plain
    assert lasting != single != plain != lasting


def test_only_actions_that_are_allowed_last() -> None:
    from test_vector_envs import Count  # odd numbers forbid action 0

    settings: dict[str, Any] = {**SMALL, **ALWAYS, "noise": "persistent(mu=0.0)"}
    assert deep.DoubleDQN(Count(4), **settings).learn(40).steps == 40  # which it checks


def test_settings_of_noise() -> None:
    config = deep.configure("ddqn", noise="persistent(mu=3.0)")
    assert deep.describe(config)["noise"] == "persistent(mu=3.0)"
    assert "noise" not in deep.describe(deep.configure("ddqn"))
    assert deep.configure("jekyll_hyde", "published").noise == Single()
    assert deep.configure("jekyll_hyde").noise == Persistent(everywhere=False)
    with pytest.raises(InputError, match="noise is 'pink'; it must be one of single, persistent"):
        deep.configure("ddqn", noise="pink")
    with pytest.raises(InputError, match="most of persistent is 0"):
        deep.configure("ddqn", noise="persistent(most=0)")


@pytest.mark.parametrize("lanes", [1, 2])
def test_an_episode_that_is_broken_off_leaves_nothing_behind(lanes: int, tmp_path: Path) -> None:
    """Neither the random action under way, nor the return of its leader."""

    def make() -> Any:
        mode = {"autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP}
        if lanes == 1:
            return Restless()
        return gym.make_vec("CartPole-v1", lanes, "sync", vector_kwargs=mode)

    def again(kind: str, **more: Any) -> tuple[Any, Any]:
        agent = KINDS[kind](make(), **more)
        agent.learn(14).save(tmp_path / kind)  # before any episode ends
        loaded = type(agent).load(tmp_path / kind, make())
        with pytest.warns(UserWarning, match="new episode"):
            loaded.learn(lanes)
        return agent.state, loaded.state

    before, after = again("ddqn", noise="persistent(mu=0.0)", **ALWAYS)
    under_way = (before.noise.left > 1) & (before.noise.action >= 0)
    assert under_way.any()
    assert not (under_way & (after.noise.left == before.noise.left - 1)).any()
    before, after = again("jekyll_hyde", leader="bandit")
    assert (before.leader.running > 0).all()
    assert (after.leader.running == 1.0).all()


def test_lasting_actions_are_not_for_states_known_by_an_index() -> None:
    noise, key, logits = Persistent(everywhere=False), jax.random.key(0), jnp.arange(3.0)
    state = noise.init(Space(5, (), 3))
    assert state is None
    assert noise.observe(state, key, 1.0, jnp.int32(2), jnp.asarray(False)) is None
    assert (noise.lasting(state, logits, None) == logits).all()
    assert noise.init(Space(None, (2,), 3)) is not None
    assert Persistent().init(Space(5, (), 3)) is not None
