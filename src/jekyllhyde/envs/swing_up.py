"""bsuite's cart-pole swing-up (Osband et al., 2020): a pole that hangs down is to be swung up.

A push costs, standing still does not, and nothing pays before the pole is up: whoever does not
explore learns to stand still.

    actions   0 and 2 push the cart left and right with a force of 10, 1 does not
    reward    1 where cos(angle) > height_threshold, |turn| < 1 and |x| < x_reward_threshold;
              0.1 less for a push
    end       the cart leaves the table, |x| > 3, or more than 10 seconds have passed: both
              terminate, for the time is among the observations

The equations stand here once, for NumPy and for JAX: `xp` is the module that computes. A state is
[x, speed, angle, turn, steps], the angle 0 where the pole is up.
"""

import math
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require

TIME, LIMIT = 0.01, 1000  # seconds of a step; steps, after which the next one is the last
CART, POLE, LENGTH, FORCE, GRAVITY = 1.0, 0.1, 0.5, 10.0, 9.8
TABLE, SLOW, COST, SPREAD = 3.0, 1.0, 0.1, 0.05
# of what is seen; the table is too short, and the pole too light, for greater speeds
MOST = np.array([2.0, 10.0, 1.0, 1.0, 100.0, 2.0, 1.0, 1.0], np.float32)


def start(draws: Any, xp: Any = np) -> Any:
    """The first state, of four numbers that were drawn from [0, 1)."""
    below = SPREAD * (2.0 * draws - 1.0) + xp.asarray([0.0, 0.0, math.pi, 0.0])
    return xp.concatenate([below, xp.zeros(1)])


def advance(state: Any, action: Any, xp: Any = np) -> Any:
    """The state after a step, by Euler's rule."""
    x, speed, angle, turn, steps = state
    sine, cosine, mass = xp.sin(angle), xp.cos(angle), CART + POLE
    pushed = (FORCE * (action - 1.0) + POLE * LENGTH * turn**2 * sine) / mass
    bent = (GRAVITY * sine - cosine * pushed) / (LENGTH * (4.0 / 3.0 - POLE * cosine**2 / mass))
    drawn = pushed - POLE * LENGTH * bent * cosine / mass
    angle = (angle + TIME * turn) % (2.0 * math.pi)
    return xp.stack([x + TIME * speed, speed + TIME * drawn, angle, turn + TIME * bent, steps + 1])


def outcome(state: Any, action: Any, height: Any, width: Any, xp: Any = np) -> tuple[Any, Any]:
    """The reward of the action that led to `state`, and whether the episode ends there."""
    x, _, angle, turn, steps = state
    is_up = (xp.cos(angle) > height) & (xp.abs(turn) < SLOW) & (xp.abs(x) < width)
    return is_up - COST * xp.abs(action - 1.0), (steps > LIMIT) | (xp.abs(x) > TABLE)


def observe(state: Any, width: Any, xp: Any = np) -> Any:
    """What is seen of a state: 8 numbers, the last two whether place and turn could be paid."""
    x, speed, angle, turn, steps = state
    is_central, is_slow = (
        xp.where(xp.abs(value) < most, 1.0, -1.0) for value, most in ((x, width), (turn, SLOW))
    )
    place = [x / TABLE, speed / TABLE, xp.sin(angle), xp.cos(angle), turn, steps / LIMIT]
    return xp.stack([*place, is_central, is_slow]).astype(xp.float32)


class CartPoleSwingUp(gym.Env[NDArray[np.float32], np.int64]):
    """bsuite's cart-pole swing-up; `lab.bsuite_score.swing_up_score` scores it.

    Parameters
    ----------
    height_threshold : cosine of the pole's angle above which it is up; bsuite's are 0, 0.05, ...,
        0.95.
    x_reward_threshold : distance from the middle below which the pole's being up is paid; 1 -
        height_threshold by default, as in bsuite's experiment.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self, height_threshold: float = 0.5, x_reward_threshold: float | None = None
    ) -> None:
        require(
            -1.0 <= height_threshold < 1.0,
            f"height_threshold is {height_threshold}; it must lie in [-1, 1)",
        )
        width = 1.0 - height_threshold if x_reward_threshold is None else x_reward_threshold
        require(width > 0.0, f"x_reward_threshold is {width}; it must be above 0")
        self.height_threshold, self.x_reward_threshold = height_threshold, width
        self.observation_space = gym.spaces.Box(-MOST, MOST)
        self.action_space = gym.spaces.Discrete(3)
        self.state: NDArray[np.float64] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.state = start(self.np_random.random(4))
        return observe(self.state, self.x_reward_threshold), {}

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        if self.state is None:
            raise InputError("step was called outside of an episode; reset starts one")
        if not self.action_space.contains(action):
            raise InputError(f"action is {action}; it must be 0, 1 or 2")
        after = advance(self.state, action)
        reward, ended = outcome(after, action, self.height_threshold, self.x_reward_threshold)
        self.state = None if ended else after
        seen = observe(after, self.x_reward_threshold)
        return seen, float(reward), bool(ended), False, {}
