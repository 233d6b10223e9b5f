"""The default depends on what is seen: states by an index, numbers and codes, images."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from jekyllhyde import deep
from jekyllhyde.deep.bits import BitsState
from jekyllhyde.deep.counts import Counts, CountsState
from jekyllhyde.deep.jekyll_hyde import SEEN
from jekyllhyde.deep.leaders import Curious, Practising
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.spaces import space_of
from jekyllhyde.envs.space_parts import Part

NUMBERS, INDICES = Space(None, (4,), 2), Space(10, (), 2)
CELLS = Part((), "cells", (2,), (3, 0, 3, 0))
VIEWS = Space(None, (6,), 2, parts=(CELLS,))
CODES = Space(None, (6,), 2, parts=(Part((), "categories", (2,), (3, 0, 3, 0)),))


def changed(one: Any, other: Any) -> set[str]:
    return {name for name, value in vars(one).items() if value != vars(other)[name]}


def test_states_by_index_have_single_steps_and_a_curious_hyde() -> None:
    config = deep.configure("jekyll_hyde", space=INDICES)
    assert config == deep.configure("jekyll_hyde")
    assert (config.n_steps, config.tau_actor, config.leader) == (1, 1.0, Curious())
    assert "rarest" not in str(deep.describe(config)["bonus"])


def test_what_is_seen_changes_the_default_alone() -> None:
    config = deep.configure("jekyll_hyde", space=NUMBERS)
    assert changed(config, deep.configure("jekyll_hyde")) == set(SEEN)
    assert config.leader == Practising()
    assert config.bonus == Counts(finer=True, rarest=True)
    for name in ("published", "released", "paper", "recommended_0_3"):
        plain = deep.configure("jekyll_hyde", name)
        assert deep.configure("jekyll_hyde", name, space=NUMBERS) == plain
    given = deep.configure("jekyll_hyde", config)
    assert deep.configure("jekyll_hyde", given, space=INDICES) == config
    for agent in ("ddqn", "bootstrapped_dqn", "sac"):
        assert deep.configure(agent, space=NUMBERS) == deep.configure(agent)


def test_what_is_given_counts() -> None:
    given: dict[str, Any] = {"n_steps": 2, "leader": "curious", "bonus": "rnd", "tau_actor": 1.0}
    config = deep.configure("jekyll_hyde", space=NUMBERS, **given)
    assert (config.n_steps, config.leader, config.tau_actor) == (2, Curious(), 1.0)
    assert type(config.bonus).__name__ == "RND"
    assert config.far_share == SEEN["far_share"]


def test_agents_look_at_their_environment() -> None:
    lake, pole = deep.JekyllHyde("FrozenLake-v1"), deep.JekyllHyde("CartPole-v1")
    assert lake.settings == deep.configure("jekyll_hyde")
    assert pole.settings == deep.configure("jekyll_hyde", space=pole.space)
    assert deep.JekyllHyde("CartPole-v1", leader="curious").settings.leader == Curious()
    tables = deep.train("chain", seeds=1, episodes=10)
    assert tables.config.n_steps == 1


def test_cells_of_a_grid_are_counted_by_the_rarest() -> None:
    bonus = Counts(rarest=True)
    key = jax.random.key(0)
    assert isinstance(bonus.init(key, VIEWS), BitsState)
    for space in (NUMBERS, INDICES, CODES):
        assert isinstance(bonus.init(key, space), CountsState)
    assert isinstance(Counts().init(key, VIEWS), CountsState)


class Rooms(gym.Env[Any, Any]):
    """Where it stands as a code, and how near the goal is as numbers."""

    observation_space = spaces.Dict(
        {"room": spaces.Discrete(4), "place": spaces.Box(0.0, 1.0, (1,), np.float32)}
    )
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return self._seen(), {}

    def step(self, action: int) -> Any:
        self.at = max(0, self.at + (1 if action else -1))
        return self._seen(), float(self.at == 19), self.at == 19, False, {}

    def _seen(self) -> dict[str, Any]:
        return {"room": self.at // 5, "place": np.array([self.at / 20], np.float32)}


def test_a_far_reward_is_found_in_a_dict() -> None:
    env = gym.wrappers.TimeLimit(Rooms(), 60)
    assert space_of(env, one_hot=True).n_states is None
    agent = deep.JekyllHyde(env).learn(2_500)
    observation, _ = env.reset(seed=0)
    steps = 0
    for _ in range(60):
        observation, reward, *_ = env.step(int(agent.predict(observation)))
        steps += 1
        if reward:
            break
    assert (reward, steps) == (1.0, 19)


@pytest.mark.parametrize("rarest", [False, True])
def test_views_are_counted_whole_or_by_what_is_in_them(rarest: bool) -> None:
    """Two views that share all but one cell: what is known of one is known of the other."""
    bonus = Counts(rarest=rarest)
    state = bonus.init(jax.random.key(0), VIEWS)
    one = jnp.array([True, False, False, True, False, False])
    other = jnp.array([True, False, False, False, True, False])
    batch = deep.networks.Transition(one, jnp.int32(0), jnp.zeros(()), one, jnp.ones(()))
    step = deep.networks.Samples.of(None, batch, jnp.ones(()))
    for _ in range(8):
        state = bonus.observe(state, step)
    assert float(bonus.unknown(state, one)[0]) < 0.05
    assert float(bonus.unknown(state, other)[0]) == 1.0
    if rarest:
        both = one | other
        assert float(bonus.count(state, both)[0]) == 0.0
