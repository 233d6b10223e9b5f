"""DeepSea as an image, and the stochastic sea for networks by bsuite's rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import jekyllhyde as jh
from jekyllhyde import deep
from jekyllhyde.envs import PixelDeepSea
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.lab.bsuite_score import bad_dives
from jekyllhyde.mdp.deep_sea import action_mapping

ID = "jekyllhyde/PixelDeepSea-v0"


@pytest.mark.parametrize(("n", "cell"), [(4, 4), (10, 2), (16, 1), (20, 1)])
def test_the_image_shows_where_the_diver_is(n: int, cell: int) -> None:
    env = PixelDeepSea(n)
    plain = TabularEnv("deep_sea", n=n)
    side = n * cell
    assert env.observation_space == gym.spaces.Box(0, 255, (side, side, 1), np.uint8)
    image, _ = env.reset(seed=0)
    state, _ = plain.reset(seed=0)
    random, ended = np.random.default_rng(n), False
    while not ended:
        row, column = divmod(int(state), n)
        white = np.argwhere(image[:, :, 0] == 255)
        assert (white.min(0).tolist(), white.max(0).tolist()) == (
            [row * cell, column * cell],
            [row * cell + cell - 1, column * cell + cell - 1],
        )
        assert (image > 0).sum() == cell**2
        action = random.integers(2)
        image, *rest = env.step(action)
        state, *expected = plain.step(action)
        assert rest == expected
        ended = bool(rest[1])
    assert not image.any()


def test_the_pixel_sea_is_an_image_to_agents() -> None:
    gymnasium_check(gym.make(ID).unwrapped, skip_render_check=True)
    report = jh.check_env(ID, steps=100, env_kwargs={"n": 12, "stochastic": True})
    assert report.ok
    assert "the observation is an image (24, 24, 1), seen by convolutions" in str(report)
    env: Any = gym.make(ID, n=5, mapping="easy", gamma=0.9, render_mode="ansi").unwrapped
    env.reset(seed=0)
    assert (env.mdp.gamma, env.mdp.name, env.step(np.int64(0))[2]) == (
        0.9,
        "deep_sea(5, easy)",
        False,
    )
    assert "state" in env.render()
    with pytest.raises(InputError, match="deep_sea does not take level"):
        PixelDeepSea(level=2)
    with pytest.raises(InputError, match="n is 1; it must be an integer of at least 2"):
        PixelDeepSea(1)


def test_convolutions_learn_from_it() -> None:
    deep = pytest.importorskip("jekyllhyde.deep")
    small = {"hidden": (16,), "hidden_hyde": (16,), "batch": 8, "capacity": 200, "warmup": 20}
    agent = deep.JekyllHyde(ID, seed=0, **small).learn(60)
    assert agent.space.images == ((20, 20, 1),)
    assert len(agent.episodes) == 6
    assert agent.settings.gamma == 0.99
    assert agent.predict(PixelDeepSea().reset(seed=0)[0]) in (0, 1)


def test_bad_dives_of_a_training() -> None:
    deep = pytest.importorskip("jekyllhyde.deep")
    small = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 100, "warmup": 10}
    n, right = 4, action_mapping(4, 0)
    options: dict[str, Any] = {"n": n, "mapping_seed": 0, "seeds": 2, "episodes": 30, "every": 1}
    for stochastic in (False, True):
        result = deep.train("deep_sea", stochastic=stochastic, hyperparameters=small, **options)
        assert result.taken.sum((2, 3)).tolist() == result.step.tolist()
        assert result.taken[:, :, 0].sum(-1).tolist() == [list(range(1, 31))] * 2
        bad = bad_dives(result.taken, right)
        assert set(np.diff(bad, axis=1, prepend=0).ravel().tolist()) <= {0, 1}
        found = result.taken[:, :, n * n - 1, right[-1, -1]]
        if stochastic:  # some are carried off
            assert (bad + found <= result.episode).all()
            assert (bad + found < result.episode).any()
        else:
            assert (bad + found == result.episode).all()


@pytest.mark.parametrize(("kind", "batch"), [(deep.JekyllHyde, 32), (deep.DoubleDQN, 64)])
def test_a_batch_of_images_is_a_quarter_as_large_unless_it_is_given(
    kind: Any, batch: int, tmp_path: Path
) -> None:
    env = gym.make("jekyllhyde/PixelDeepSea-v0", n=4)
    agent = kind(env, capacity=50)
    assert agent.settings.batch == batch
    agent.save(tmp_path / "agent")
    assert kind.load(tmp_path / "agent", env).settings.batch == batch
    assert kind(env, capacity=50, batch=8).settings.batch == 8
    assert kind(env, capacity=50, config="paper").settings.batch == 4 * batch  # the text, literally
    assert kind("CartPole-v1", capacity=50).settings.batch == 4 * batch
