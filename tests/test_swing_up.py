"""bsuite's cart-pole swing-up: its equations, rewards, ends and score, in both faces."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check

import jekyllhyde as jh
from jekyllhyde.cli import main
from jekyllhyde.envs import CartPoleSwingUp, swing_up
from jekyllhyde.errors import InputError
from jekyllhyde.lab.bsuite_score import HEIGHTS, swing_up_score

ID = "jekyllhyde/CartPoleSwingUp-v0"
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
LEFT, STILL, RIGHT = map(np.int64, range(3))
HANGING = np.array([0.0, 0.0, math.pi, 0.0, 0.0])


def test_a_push_by_hand() -> None:
    pushed = 10.0 / 1.1
    bent = pushed / (0.5 * (4 / 3 - 0.1 / 1.1))
    drawn = pushed + 0.05 * bent / 1.1
    once = swing_up.advance(HANGING, 2)
    assert once == pytest.approx([0.0, 0.01 * drawn, math.pi, 0.01 * bent, 1.0])
    twice = swing_up.advance(once, 1)
    assert twice[0] == pytest.approx(1e-4 * drawn)
    assert twice[2] == pytest.approx(math.pi + 1e-4 * bent)
    assert twice[4] == 2


def test_the_equations_are_those_of_cart_pole() -> None:
    """Which Gymnasium has with steps of twice the length, and without an action that is still."""
    other: Any = gym.make("CartPole-v1").unwrapped
    for draws in np.random.default_rng(0).normal(size=(20, 4)):
        for action in (0, 1):
            other.reset(seed=0)
            other.state = draws
            other.step(action)
            ours = swing_up.advance(np.append(draws, 0.0), 2 * action)
            ours[2] = math.remainder(ours[2] - draws[2], 2 * math.pi) + draws[2]
            assert (ours[:4] - draws) / 0.01 == pytest.approx((other.state - draws) / 0.02)


@pytest.mark.parametrize(
    ("state", "action", "reward", "ended"),
    [
        ((0.0, 0.0, 0.0, 0.0, 5), 1, 1.0, False),
        ((0.0, 0.0, 0.0, 0.0, 5), 2, 0.9, False),
        ((0.0, 0.0, math.acos(0.51), 0.0, 5), 1, 1.0, False),
        ((0.0, 0.0, math.acos(0.49), 0.0, 5), 0, -0.1, False),  # not high enough
        ((0.0, 0.0, 0.0, -1.01, 5), 1, 0.0, False),  # too quick
        ((-0.51, 0.0, 0.0, 0.0, 5), 1, 0.0, False),  # too far from the middle
        ((0.0, 0.0, 0.0, 0.0, 1000), 1, 1.0, False),
        ((0.0, 0.0, 0.0, 0.0, 1001), 1, 1.0, True),
        ((-3.01, 0.0, 0.0, 0.0, 5), 1, 0.0, True),
    ],
)
def test_rewards_and_ends(state: Any, action: int, reward: float, ended: bool) -> None:
    paid, over = swing_up.outcome(np.array(state), action, 0.5, 0.5)
    assert bool(over) == ended
    assert float(paid) == pytest.approx(reward)


def test_what_is_seen() -> None:
    seen = swing_up.observe(np.array([1.5, -3.0, math.pi / 2, 2.0, 250]), 0.5)
    assert seen == pytest.approx([0.5, -1.0, 1.0, 0.0, 2.0, 0.25, -1.0, -1.0], abs=1e-6)
    assert swing_up.observe(HANGING, 0.5)[6:].tolist() == [1.0, 1.0]


def played(env: Any, policy: Any, seed: int = 0) -> tuple[float, int]:
    observation, _ = env.reset(seed=seed)
    total, steps, ended = 0.0, 0, False
    while not ended:
        observation, reward, ended, truncated, _ = env.step(policy(observation))
        assert not truncated
        total, steps = total + reward, steps + 1
    return total, steps


def swinging(seen: Any) -> np.int64:
    """Push while that gives the pole energy, and keep it up once it is there."""
    x, speed, turn, angle = 3 * seen[0], 3 * seen[1], seen[4], math.atan2(seen[2], seen[3])
    if seen[3] > 0.8 and abs(turn) < 4:
        pull = 10 * angle + 2 * turn + 0.5 * x + speed
        return STILL if abs(pull) < 0.3 else RIGHT if pull > 0 else LEFT
    energy = turn**2 / 3 + 9.8 * (seen[3] - 1)
    if energy > 0.3:
        return STILL
    if abs(x) > 1.2:
        return LEFT if x > 0 else RIGHT
    return RIGHT if (turn * seen[3] > 0) == (energy > 0) else LEFT


def test_episodes() -> None:
    env = gym.make(ID)
    assert played(env, lambda _: STILL) == (0.0, 1001)
    lost, steps = played(env, lambda _: RIGHT)
    assert lost == pytest.approx(-0.1 * steps)
    assert 60 < steps < 100  # 3 = 9.3 t^2 / 2 and a swing of the pole
    assert played(env, swinging)[0] > 600  # bsuite takes 700 for the best there is
    starts = np.array([env.reset()[0] for _ in range(200)])
    assert (np.abs(starts[:, [0, 1, 4]]) <= [0.05 / 3, 0.05 / 3, 0.05]).all()
    assert (np.abs(starts[:, 2]) <= 0.05).all()
    assert (starts[:, 3] < -0.99).all()
    assert starts.std(0)[[0, 1, 2, 4]].min() > 0.005


def test_the_environment_is_accepted() -> None:
    gymnasium_check(gym.make(ID).unwrapped, skip_render_check=True)
    assert jh.check_env(ID, steps=1500).ok
    env = CartPoleSwingUp(height_threshold=0.25)
    assert env.x_reward_threshold == 0.75
    assert CartPoleSwingUp(0.25, 1.0).x_reward_threshold == 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CartPoleSwingUp(1.0), "height_threshold is 1.0; it must lie in"),
        (lambda: CartPoleSwingUp(0.5, 0.0), "x_reward_threshold is 0.0; it must be above 0"),
        (lambda: CartPoleSwingUp().step(STILL), "step was called outside of an episode"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_an_action_that_is_none() -> None:
    env = CartPoleSwingUp()
    env.reset(seed=0)
    with pytest.raises(InputError, match="action is 3; it must be 0, 1 or 2"):
        env.step(np.int64(3))


def test_the_face_in_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    jax, jnp = pytest.importorskip("jax"), pytest.importorskip("jax.numpy")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import classic_control  # type: ignore[import-not-found]

    task, env = classic_control.TASKS[ID], CartPoleSwingUp()
    env.reset(seed=1)
    state, step = jnp.asarray(env.state, jnp.float32), jax.jit(task.step)
    for action in np.random.default_rng(0).integers(3, size=150):
        seen, reward, ended, _, _ = env.step(action)
        state, paid, over = step(state, jnp.int32(action))
        assert np.asarray(task.observe(state)) == pytest.approx(seen, abs=1e-3)
        assert bool(over) == ended
        assert float(paid) == pytest.approx(reward)
    upright = jnp.zeros(5).at[4].set(task.limit - 1)
    after, paid, over = step(upright, jnp.int32(1))
    assert (float(paid), bool(over), float(after[4])) == (1.0, True, task.limit)
    assert np.asarray(task.reset(jax.random.key(0))).shape == HANGING.shape
    assert (task.width, task.n_actions) == (8, 3)
    sys.modules.pop("classic_control")


def test_the_score_by_hand() -> None:
    nothing = {height: np.zeros(1000) for height in HEIGHTS}
    assert (len(HEIGHTS), HEIGHTS[10], HEIGHTS[-1]) == (20, 0.5, 0.95)
    assert swing_up_score(nothing) == 0.0
    # one height: half of its episodes 350, the rest nothing: 175/700 of a half, and up
    once = nothing | {0.5: np.repeat([0.0, 350.0], 500)}
    assert swing_up_score(once) == pytest.approx((0.25 + 1.0) / 2 / 20)
    assert swing_up_score(nothing | {0.5: np.full(1000, 100.0)}) == pytest.approx(1 / 7 / 2 / 20)
    assert swing_up_score(nothing | {0.5: np.full(1000, -50.0)}) == 0.0  # no less than nothing
    assert swing_up_score({height: np.full(1000, 900.0) for height in HEIGHTS}) == 1.0
    late = np.append(np.zeros(1000), np.full(1000, 700.0))  # only 1,000 count
    assert swing_up_score(nothing | {0.0: late}) == 0.0
    runs = {height: np.stack([np.zeros(1000), np.full(1000, 700.0)]) for height in HEIGHTS}
    assert swing_up_score(runs).tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match=r"returns has none at height 0\.05; the heights are"):
        swing_up_score({height: nothing[height] for height in HEIGHTS if height != 0.05})


def test_from_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jax")
    small = "--warmup 10 --batch 4 --hidden 4 --hidden-hyde 4 --capacity 50"
    work = f"train {ID} --steps 30 {small} --env-kwargs height_threshold=0.9 --json"
    assert main(work.split()) == 0
    assert "30" in json.loads(capsys.readouterr().out)["work"]
    assert main(["list", "--json"]) == 0
    assert ID in json.loads(capsys.readouterr().out)["names"]["environments"]
