"""What was done before, where the same is seen again: by hand, in Gymnasium's terms, and in JAX."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env as gymnasium_check

import jekyllhyde as jh
from jekyllhyde.envs import Remembering
from jekyllhyde.envs.remembering import TIMES
from jekyllhyde.errors import InputError

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
DOOR_KEY = "MiniGrid-DoorKey-6x6-v0"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


class Corridor(gym.Env[Any, Any]):
    """Five cells of which the colour is seen, black or white in turns; two actions from 1 on."""

    def __init__(self, as_dict: bool) -> None:
        plain = spaces.Discrete(2)
        self.as_dict, self.place = as_dict, 0
        self.observation_space: Any = spaces.Dict(colour=plain) if as_dict else plain
        self.action_space: Any = spaces.Discrete(2, start=1)

    def _seen(self) -> Any:
        colour = np.int64(self.place % 2)
        return {"colour": colour} if self.as_dict else colour

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place += int(action == 2)
        return self._seen(), 0.0, self.place == 5, False, {}


@pytest.mark.parametrize("as_dict", [False, True])
def test_by_hand(as_dict: bool) -> None:
    env = Remembering(Corridor(as_dict))
    name = "colour" if as_dict else "observation"
    assert isinstance(env.observation_space, spaces.Dict)
    assert set(env.observation_space.spaces) == {name, "taken"}
    seen, _ = env.reset(seed=0)
    assert (seen[name], seen["taken"].tolist()) == (0, [0] * 6)
    steps = [  # action; colour after it; how often each action was taken where that is seen
        (1, 0, (1, 0)),
        (1, 0, (2, 0)),
        (2, 1, (0, 0)),
        (2, 0, (2, 1)),  # another cell, and the same colour
        (1, 0, (3, 1)),
        (1, 0, (4, 1)),
        (2, 1, (0, 1)),
    ]
    for action, colour, counts in steps:
        seen, *_ = env.step(action)
        assert seen[name] == colour
        expected = [int(n >= least) for least in (1, 2, 4) for n in counts]
        assert seen["taken"].tolist() == expected
        assert env.observation_space.contains(seen)
    seen, _ = env.reset()
    assert not seen["taken"].any()


def test_it_is_an_environment_as_gymnasium_wants_them() -> None:
    gymnasium_check(Remembering(gym.make("FrozenLake-v1").unwrapped), skip_render_check=True)
    env = Remembering(gym.make("CartPole-v1"))
    again = gym.make(env.spec)  # type: ignore[arg-type]
    assert isinstance(again, Remembering)
    env.reset(seed=0)
    for _ in range(8):  # numbers that vary are never seen twice
        assert not env.step(0)[0]["taken"].any()


def test_what_cannot_be_remembered_is_refused() -> None:
    with pytest.raises(InputError, match="takes Discrete ones"):
        Remembering(gym.make("Pendulum-v1"))
    with pytest.raises(InputError, match="shows 'taken' already"):
        Remembering(Remembering(gym.make("CartPole-v1")))


def test_an_agent_learns_is_saved_and_goes_on(tmp_path: Path) -> None:
    from jekyllhyde import deep

    def make() -> Any:
        return jh.Remembering(gym.make("FrozenLake-v1", is_slippery=False))

    small: dict[str, Any] = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 200}
    agent = deep.JekyllHyde(make(), seed=0, warmup=10, **small).learn(60)
    agent.save(tmp_path / "agent")
    again = deep.JekyllHyde.load(tmp_path / "agent", make()).learn(40)
    straight = deep.JekyllHyde(make(), seed=0, warmup=10, **small).learn(60).learn(40)
    assert (again.episodes.table == straight.episodes.table).all()
    observation, _ = make().reset(seed=1)
    assert again.predict(observation, True) == straight.predict(observation, True)


def test_in_jax_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minigrid")
    import jax

    from jekyllhyde.deep.spaces import read, space_of

    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import classic_control  # type: ignore[import-not-found]

    try:
        task = classic_control.TASKS[classic_control.REMEMBERING + DOOR_KEY]
        env: Any = Remembering(gym.make(f"minigrid:{DOOR_KEY}").unwrapped)
        space, random, bits = space_of(env, one_hot=True), np.random.default_rng(0), Counter[int]()
        assert task.space == space
        step, observe = jax.jit(task.step), jax.jit(task.observe)
        for seed in range(3):
            seen, _ = env.reset(seed=seed)
            inner = classic_control.mini_grid.start(DOOR_KEY, seed)
            state = task.reset(jax.random.key(0))._replace(inner=inner)
            for _ in range(150):
                assert (np.asarray(observe(state)) == read(space, seen)).all()
                action = int(random.integers(7))
                seen, _, ended, _, _ = env.step(action)
                state = step(state, np.int32(action))[0]
                bits += Counter(seen["taken"].reshape(len(TIMES), 7).sum(1).tolist())
                if ended:
                    break
        assert max(bits) >= 3
    finally:
        sys.modules.pop("classic_control")
