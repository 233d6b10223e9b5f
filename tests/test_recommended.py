"""The default depends on what is seen: states by an index, numbers and codes, images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.bits import BitsState
from jekyllhyde.deep.counts import Counts, CountsState
from jekyllhyde.deep.leaders import Curious
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.new_views import NewViews
from jekyllhyde.deep.spaces import space_of
from jekyllhyde.envs.space_parts import Part

NUMBERS, INDICES = Space(None, (4,), 2), Space(10, (), 2)
CELLS = Part((), "cells", (2,), (3, 0, 3, 0))
VIEWS = Space(None, (6,), 2, parts=(CELLS,))
CODES = Space(None, (6,), 2, parts=(Part((), "categories", (2,), (3, 0, 3, 0)),))


def changed(one: Any, other: Any) -> set[str]:
    return {name for name, value in vars(one).items() if value != vars(other)[name]}


def test_one_default_but_for_what_the_space_asks_for() -> None:
    config = deep.configure("jekyll_hyde", space=INDICES)
    assert config == deep.configure("jekyll_hyde")
    assert (config.far_share, config.bonus.power) == (0.35, 1.0)
    seen = deep.configure("jekyll_hyde", space=NUMBERS)
    assert changed(seen, config) == {"far_share", "bonus", "normalized_actor"}
    assert seen.far_share == 0.5
    assert changed(seen.bonus, config.bonus) == {"power"}
    codes = deep.configure("jekyll_hyde", space=CODES)
    assert codes == seen
    views = deep.configure("jekyll_hyde", space=VIEWS)
    assert changed(views, codes) == {"bonus", "capacity", "greedy_stretch"}
    assert (views.bonus, views.greedy_stretch) == (NewViews(), 0)
    for name in ("published", "released", "paper", "recommended_0_3"):
        plain = deep.configure("jekyll_hyde", name)
        assert deep.configure("jekyll_hyde", name, space=NUMBERS) == plain
    given = deep.configure("jekyll_hyde", seen)
    assert deep.configure("jekyll_hyde", given, space=INDICES) == seen
    for agent in ("ddqn", "bootstrapped_dqn", "sac"):
        assert deep.configure(agent, space=NUMBERS) == deep.configure(agent)


def test_views_of_a_grid_are_kept_longer() -> None:
    for agent in deep.ALGORITHMS:
        assert deep.configure(agent, space=VIEWS).capacity == 100_000
        for space in (NUMBERS, INDICES, CODES):
            assert deep.configure(agent, space=space).capacity == 40_000
        assert deep.configure(agent, "published", space=VIEWS).capacity == 40_000
    assert deep.configure("jekyll_hyde", space=VIEWS, capacity=500).capacity == 500


def test_what_is_given_counts() -> None:
    given: dict[str, Any] = {"n_steps": 2, "leader": "curious", "bonus": "rnd", "tau_actor": 1.0}
    config = deep.configure("jekyll_hyde", space=NUMBERS, **given)
    assert (config.n_steps, config.leader, config.tau_actor) == (2, Curious(), 1.0)
    assert type(config.bonus).__name__ == "RND"
    assert config.far_share == 0.5


def test_agents_look_at_their_environment() -> None:
    lake, pole = deep.JekyllHyde("FrozenLake-v1"), deep.JekyllHyde("CartPole-v1")
    assert lake.settings == deep.configure("jekyll_hyde")
    assert pole.settings == deep.configure("jekyll_hyde", space=pole.space)
    assert deep.JekyllHyde("CartPole-v1", leader="curious").settings.leader == Curious()
    tables = deep.train("chain", seeds=1, episodes=10)
    assert tables.config.far_share == 0.35


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
        observation, reward, *_ = env.step(int(agent.predict(observation, deterministic=True)))
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


class Hall(gym.Env[Any, Any]):
    """Forward or back in a hall of a few places, each shown as a code, as a number or as pixels."""

    action_space = spaces.Discrete(2)

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.observation_space = {
            "codes": spaces.MultiDiscrete([5, 2]),
            "numbers": spaces.Box(0.0, 5.0, (1,), np.float32),
            "pixels": spaces.Box(0, 255, (16, 16, 1), np.uint8),
            "both": spaces.Dict(
                {"room": spaces.Discrete(5), "at": spaces.Box(0.0, 5.0, (1,), np.float32)}
            ),
            "index": spaces.Discrete(5),
        }[kind]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return self._seen(), {}

    def step(self, action: int) -> Any:
        self.at = max(0, min(4, self.at + (1 if action else -1)))
        return self._seen(), float(self.at == 4), self.at == 4, False, {}

    def _seen(self) -> Any:
        number = np.array([self.at], np.float32)
        picture = np.zeros((16, 16, 1), np.uint8)
        picture[self.at] = 255
        return {
            "codes": np.array([self.at, 0]),
            "numbers": number,
            "pixels": picture,
            "both": {"room": self.at, "at": number},
            "index": self.at,
        }[self.kind]


SMALL: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 200}
DRAWN = {"codes": True, "pixels": True, "both": True, "numbers": False, "index": False}


@pytest.mark.parametrize("kind", DRAWN)
def test_actions_are_drawn_where_a_bump_changes_nothing(kind: str) -> None:
    env = gym.wrappers.TimeLimit(Hall(kind), 20)
    agent = deep.JekyllHyde(env, **SMALL).learn(30)
    assert agent.draws_actions is DRAWN[kind]
    seen, _ = env.reset()
    for who in (agent, agent.hyde):
        asked = {int(who.predict(seen)) for _ in range(60)}
        greedy = {int(who.predict(seen, deterministic=True)) for _ in range(60)}
        assert len(greedy) == 1
        if who is agent:
            assert len(asked) == 1 + DRAWN[kind]
    assert not deep.DoubleDQN(env, **{k: SMALL[k] for k in ("hidden", "batch")}).draws_actions


def test_evaluations_of_drawn_actions_are_those_of_their_seed() -> None:
    """Whatever was asked before; and asking goes on as if there had been none."""
    env = gym.wrappers.TimeLimit(Hall("codes"), 20)
    agents = [deep.JekyllHyde(env, **SMALL) for _ in range(2)]
    lengths = [jh.evaluate_policy(agents[0], env, 20, seed=s).lengths.tolist() for s in (1, 2)]
    assert lengths[0] != lengths[1]
    seen, _ = env.reset()
    draws = [[int(agent.predict(seen)) for _ in range(30)] for agent in agents]
    assert draws[0] == draws[1]
    assert jh.evaluate_policy(agents[0], env, 20, seed=1).lengths.tolist() == lengths[0]
    greedy = jh.evaluate_policy(agents[0], env, 20, seed=1, deterministic=True)
    assert len(set(greedy.lengths.tolist())) == 1


def test_an_agent_of_ones_own_decides_for_itself() -> None:
    class Mine:
        def predict(self, observation: Any, deterministic: bool = True) -> int:
            return int(deterministic)

    env = gym.wrappers.TimeLimit(Hall("codes"), 20)
    assert jh.evaluate_policy(Mine(), env, 2).lengths.tolist() == [4, 4]
    assert jh.evaluate_policy(Mine(), env, 2, deterministic=False).lengths.tolist() == [20, 20]


def test_jekyll_is_greedy_in_every_other_stretch() -> None:
    space = Space(None, (1,), 2)
    for lanes in (1, 3):
        given: dict[str, Any] = {"greedy_stretch": 4, "lanes": lanes, "warmup": 0}
        config = deep.configure("jekyll_hyde", space=space, **given)
        state = jekyll_hyde.init(jax.random.key(0), config, space)
        state = eqx.tree_at(lambda s: s.hyde_acts, state, jnp.asarray(False))
        act = jax.jit(
            lambda s, key, c=config: jekyll_hyde.act(replace(s, key=key), c, jnp.ones(1))[0]
        )
        keys = jax.random.split(jax.random.key(1), 40)
        for t in range(0, 24, 2):
            moved = eqx.tree_at(lambda s: s.t, state, jnp.int32(t))
            taken = {int(act(moved, key)) for key in keys}
            assert len(taken) == (1 if t // (4 * lanes) % 2 == 0 else 2)
