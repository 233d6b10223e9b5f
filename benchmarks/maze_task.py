"""The mazes of `point_maze` in JAX, so that many seeds are trained at once on a GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

LONG, CHANCE, LIMIT = 0.05, 0.005, 200
DECOY, GOAL = 0.07, 0.1  # their radii
# Upright walls, where they stand and from which height to which; start, decoy and goal.
BENDS = [(0.33, 0.0, 0.75), (0.66, 0.25, 1.0)]
DOORS = [(0.25, 0.15, 1.0), (0.5, 0.0, 0.85), (0.75, 0.15, 1.0)]
MAZES: dict[str, Any] = {
    "bends": (BENDS, (0.1, 0.1), (0.1, 0.45), (0.9, 0.9)),
    "doors": (DOORS, (0.1, 0.9), (0.1, 0.6), (0.9, 0.9)),
}
MOVES = LONG * np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])


class State(NamedTuple):
    """Where the point is, and the key of what chance does to it."""

    place: jax.Array
    key: jax.Array


def reset(maze: str, key: jax.Array) -> State:
    place_key, key = jax.random.split(key)
    start = jnp.asarray(MAZES[maze][1])
    return State(start + jax.random.uniform(place_key, (2,), minval=-0.02, maxval=0.02), key)


def step(maze: str, state: State, action: jax.Array) -> tuple[State, jax.Array, jax.Array]:
    walls, _, decoy, goal = MAZES[maze]
    key, chance_key = jax.random.split(state.key)
    move = jnp.asarray(MOVES)[action] + CHANCE * jax.random.normal(chance_key, (2,))
    after = jnp.clip(state.place + move, 0.0, 1.0)
    for x, low, high in walls:
        crosses = (state.place[0] - x) * (after[0] - x) <= 0
        stopped = crosses & (low <= after[1]) & (after[1] <= high)
        after = after.at[0].set(jnp.where(stopped, state.place[0], after[0]))
    is_decoy = jnp.hypot(*(after - jnp.asarray(decoy))) < DECOY
    is_goal = jnp.hypot(*(after - jnp.asarray(goal))) < GOAL
    return State(after, key), jnp.where(is_goal, 1.0, 0.1 * is_decoy), is_decoy | is_goal
