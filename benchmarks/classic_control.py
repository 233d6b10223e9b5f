"""Gymnasium's classic control in JAX, so that many seeds are trained at once on a GPU; bsuite's
swing-up, at its middle height; and tasks of MiniGrid (`mini_grid`).

MountainCar-v0, Acrobot-v1 and CartPole-v1: the same equations, starts, rewards and time limits;
`tests/test_deep_exploration.py` holds them to Gymnasium's. `begin` and `go_on` train, and score
what was learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import maze_task
import mini_grid
import remembering_task
from jekyllhyde.deep import ALGORITHMS, networks
from jekyllhyde.envs import swing_up
from jekyllhyde.envs.space_parts import Part

EVALUATION_EPISODES = 100
MIDDLE = 0.5  # of the heights of the swing-up, and how near to the middle it is paid there


class Task(NamedTuple):
    """reset(key) -> state; step(state, action) -> state, reward, terminated; observe(state).
    `parts` are of observations that are more than numbers; `score` is that of an episode's return.
    """

    reset: Callable[[jax.Array], Any]
    step: Callable[[Any, jax.Array], tuple[Any, jax.Array, jax.Array]]
    observe: Callable[[Any], jax.Array]
    width: int
    n_actions: int
    limit: int
    parts: tuple[Part, ...] = ()
    score: Callable[[jax.Array], jax.Array] = lambda total: total

    @property
    def space(self) -> networks.Space:
        """What the agent meets."""
        return networks.Space(None, (self.width,), self.n_actions, parts=self.parts)


def _uniform(low: list[float], high: list[float]) -> Callable[[jax.Array], jax.Array]:
    return lambda key: jax.random.uniform(
        key, (len(low),), minval=jnp.array(low), maxval=jnp.array(high)
    )


def _car(state: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    position, speed = state
    speed = jnp.clip(speed + (action - 1) * 0.001 - 0.0025 * jnp.cos(3 * position), -0.07, 0.07)
    position = jnp.clip(position + speed, -1.2, 0.6)
    speed = jnp.where((position <= -1.2) & (speed < 0), 0.0, speed)
    return jnp.stack([position, speed]), -jnp.ones(()), (position >= 0.5) & (speed >= 0)


def _pole(state: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    _, speed, angle, turn = state
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    pushed = (20.0 * action - 10.0 + 0.05 * turn**2 * sine) / 1.1
    bent = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
    change = jnp.stack([speed, pushed - 0.05 * bent * cosine / 1.1, turn, bent])
    after = state + 0.02 * change
    fell = (jnp.abs(after[0]) > 2.4) | (jnp.abs(after[2]) > 12 * jnp.pi / 180)
    return after, jnp.ones(()), fell


def _swing(state: jax.Array, torque: jax.Array) -> jax.Array:
    # how the two links move, each of length 1 and weight 1, with their centres in the middle
    first, second, turn_1, turn_2 = state
    cosine, sine = jnp.cos(second), jnp.sin(second)
    d1, d2 = 3.5 + cosine, 1.25 + 0.5 * cosine
    phi2 = 4.9 * jnp.cos(first + second - jnp.pi / 2)
    phi1 = (
        -0.5 * turn_2**2 * sine - turn_2 * turn_1 * sine + 14.7 * jnp.cos(first - jnp.pi / 2) + phi2
    )
    bent = (torque + d2 / d1 * phi1 - 0.5 * turn_1**2 * sine - phi2) / (1.25 - d2**2 / d1)
    return jnp.stack([turn_1, turn_2, -(d2 * bent + phi1) / d1, bent])


def _acrobot(state: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    torque, dt = action - 1.0, 0.2
    k1 = _swing(state, torque)
    k2 = _swing(state + dt / 2 * k1, torque)
    k3 = _swing(state + dt / 2 * k2, torque)
    k4 = _swing(state + dt * k3, torque)
    after = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    angles = (after[:2] + jnp.pi) % (2 * jnp.pi) - jnp.pi
    fastest = jnp.pi * jnp.array([4.0, 9.0])
    after = jnp.concatenate([angles, jnp.clip(after[2:], -fastest, fastest)])
    is_up = -jnp.cos(after[0]) - jnp.cos(after[0] + after[1]) > 1.0
    return after, jnp.where(is_up, 0.0, -1.0), is_up


def _tip(state: jax.Array) -> jax.Array:
    return jnp.concatenate(
        [jnp.stack([f(state[i]) for i in (0, 1) for f in (jnp.cos, jnp.sin)]), state[2:]]
    )


def _hanging(key: jax.Array) -> jax.Array:
    start: jax.Array = swing_up.start(jax.random.uniform(key, (4,)), jnp)
    return start


def _swung(state: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    after = swing_up.advance(state, action, jnp)
    return after, *swing_up.outcome(after, action, MIDDLE, MIDDLE, jnp)


TASKS = {
    "MountainCar-v0": Task(_uniform([-0.6, 0.0], [-0.4, 0.0]), _car, lambda s: s, 2, 3, 200),
    "Acrobot-v1": Task(_uniform([-0.1] * 4, [0.1] * 4), _acrobot, _tip, 6, 3, 500),
    "CartPole-v1": Task(_uniform([-0.05] * 4, [0.05] * 4), _pole, lambda s: s, 4, 2, 500),
    "jekyllhyde/CartPoleSwingUp-v0": Task(
        _hanging,
        _swung,
        partial(swing_up.observe, width=MIDDLE, xp=jnp),
        8,
        3,
        swing_up.LIMIT + 1,
    ),
    **{
        name: Task(
            partial(mini_grid.reset, name),
            partial(mini_grid.step, name),
            mini_grid.observe,
            mini_grid.WIDTH,
            len(mini_grid.ACTIONS),
            limit,
            mini_grid.PARTS,
            lambda total: total > 0.0,  # so that the mean is the share that succeeded
        )
        for name, limit in mini_grid.LIMITS.items()
    },
    **{
        name: Task(
            partial(maze_task.reset, name),
            partial(maze_task.step, name),
            lambda state: state.place,
            2,
            5,
            maze_task.LIMIT,
        )
        for name in maze_task.MAZES
    },
}


REMEMBERING = "remembering "  # before the name of a task of MiniGrid that also shows what was done
TASKS |= {
    REMEMBERING + name: remembering_task.remembering(TASKS[name]) for name in mini_grid.LIMITS
}


class Carry(NamedTuple):
    """A run in flight."""

    agent: Any
    state: Any
    elapsed: jax.Array
    key: jax.Array


@partial(jax.jit, static_argnames=("name", "algorithm"))
def begin(keys: jax.Array, configs: Any, name: str, algorithm: str) -> Carry:
    """Runs before their first step, an axis of them first in every leaf."""
    task = TASKS[name]

    def start(key: jax.Array, config: Any) -> Carry:
        agent_key, reset_key, key = jax.random.split(key, 3)
        agent = ALGORITHMS[algorithm].init(agent_key, config, task.space)
        return Carry(agent, task.reset(reset_key), jnp.zeros((), jnp.int32), key)

    return jax.vmap(start)(keys, configs)


@partial(jax.jit, static_argnames=("name", "algorithm", "steps"), donate_argnames="carry")
def go_on(
    carry: Carry, configs: Any, name: str, algorithm: str, steps: int
) -> tuple[Carry, jax.Array, jax.Array, jax.Array]:
    """Runs after so many more steps each, the mean scores [runs, 2] of greedy episodes and of those
    in which Jekyll draws his actions, the share [runs] of the steps that Hyde took, and how many
    [runs] of his episodes came to an end before their time.
    """
    run = partial(_go_on, TASKS[name], ALGORITHMS[algorithm], steps)
    if jax.default_backend() == "cpu":  # nothing is gained beside each other, and rings are copied
        return jax.lax.map(lambda each: run(*each), (carry, configs))
    return jax.vmap(run)(carry, configs)


def _go_on(
    task: Task, plain: Any, steps: int, carry: Carry, config: Any
) -> tuple[Carry, jax.Array, jax.Array, jax.Array]:
    def advance(carry: Carry, _: None) -> tuple[Carry, tuple[jax.Array, jax.Array]]:
        key, reset_key = jax.random.split(carry.key)
        seen = task.observe(carry.state)
        action, agent_key = plain.act(carry.agent, config, seen)
        after, reward, terminated = task.step(carry.state, action)
        elapsed = carry.elapsed + 1
        ended = terminated | (elapsed >= task.limit)
        step = networks.Transition(seen, action, reward, task.observe(after), 1.0 - terminated)
        agent = plain.update(replace(carry.agent, key=agent_key), config, step, ended)
        start = task.reset(reset_key)
        state = jax.tree.map(partial(jnp.where, ended), start, after)
        hyde = carry.agent.hyde_acts
        return Carry(agent, state, jnp.where(ended, 0, elapsed), key), (hyde, hyde & terminated)

    carry, (hyde, ends) = jax.lax.scan(advance, carry, length=steps)
    keys = jax.random.split(jax.random.fold_in(carry.key, 1), EVALUATION_EPISODES)
    return carry, scores_of(task, carry.agent.networks, keys), jnp.mean(hyde), jnp.sum(ends)


def scores_of(task: Task, learned: Any, keys: jax.Array) -> jax.Array:
    """The mean scores [2] of greedy episodes, and of those whose actions are drawn."""
    score = partial(_score, task, learned)
    return jnp.stack([jnp.mean(jax.vmap(partial(score, draws))(keys)) for draws in (False, True)])


def _score(task: Task, learned: Any, draws: bool, key: jax.Array) -> jax.Array:
    def advance(state: tuple[Any, ...], key: jax.Array) -> tuple[tuple[Any, ...], None]:
        where, total, alive = state
        pi, _q = learned.tables(task.observe(where)[None])
        drawn = jax.random.categorical(key, jnp.log(pi[0]))
        after, reward, terminated = task.step(where, drawn if draws else jnp.argmax(pi[0]))
        return (after, total + alive * reward, alive & ~terminated), None

    start = (task.reset(key), jnp.zeros(()), jnp.asarray(True))
    keys = jax.random.split(jax.random.fold_in(key, 1), task.limit)
    return task.score(jax.lax.scan(advance, start, keys)[0][1])
