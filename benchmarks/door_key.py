"""MiniGrid's DoorKey in JAX, so that many seeds are trained at once on a GPU.

A wall parts a square room. The agent is left of it, and so is the key to the door in the wall; the
goal is in the far corner. The same layouts, rules, rewards and views as MiniGrid's, which
`tests/test_door_key.py` holds them to; an observation is the vector that our agents make of a view.

Places are (x, y) from the upper left corner, which is wall. A view is 7 by 7 cells, the agent in
the middle of the last row and looking up: [column, row].
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from jekyllhyde.envs.minigrid_cells import COLOURS, OBJECTS, STATES
from jekyllhyde.envs.space_parts import parts_of

SIZES = {f"MiniGrid-DoorKey-{size}x{size}-v0": size for size in (5, 6, 8)}
ACTIONS = LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
DIRECTIONS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], np.int32)  # right, down, left, up
SIDE = 7  # of a view
CELLS = UNSEEN, EMPTY, WALL, KEY, GOAL, OPEN, CLOSED, LOCKED = range(8)
# object, colour and state of each of CELLS, as MiniGrid numbers them
NUMBERS = [(0, 0, 0), (1, 0, 0), (2, 5, 0), (5, 4, 0), (8, 1, 0), (4, 4, 0), (4, 4, 1), (4, 4, 2)]
KINDS = (OBJECTS, COLOURS, STATES)
CODES = np.array(  # [cells, bits of one]
    [
        np.concatenate([np.arange(n) == i for n, i in zip(KINDS, own, strict=True)])
        for own in NUMBERS
    ]
)
PARTS = parts_of(
    spaces.Dict(direction=spaces.Discrete(4), image=spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)),
    KINDS,
)
WIDTH = sum(part.width for part in PARTS)


class State(NamedTuple):
    """The x of the wall, the y of the door in it and what it is (OPEN, CLOSED or LOCKED); where the
    agent is, and its direction; where the key lies unless it is held; steps since the start.
    """

    wall: jax.Array
    door: jax.Array
    lock: jax.Array
    agent: jax.Array
    direction: jax.Array
    key: jax.Array
    held: jax.Array
    elapsed: jax.Array


def limit_of(size: int) -> int:
    """The steps after which an episode is cut."""
    return 10 * size**2


def reset(size: int, key: jax.Array) -> State:
    """A layout: each possible one of a wall is as likely as the next."""
    uniform, inner = jax.random.uniform(key, (5,)), size - 2

    def below(i: int, n: jax.Array | int) -> jax.Array:
        return (uniform[i] * n).astype(jnp.int32)

    def place(i: jax.Array) -> jax.Array:
        return jnp.stack([1 + i // inner, 1 + i % inner])

    wall = 2 + below(0, size - 4)
    room = (wall - 1) * inner
    agent, other = below(1, room), below(2, room - 1)
    return State(
        wall,
        1 + below(3, size - 3),
        jnp.int32(LOCKED),
        place(agent),
        below(4, 4),
        place(other + (other >= agent)),
        jnp.asarray(False),
        jnp.int32(0),
    )


def step(size: int, state: State, action: jax.Array) -> tuple[State, jax.Array, jax.Array]:
    """The state after an action, the reward, and whether the goal is reached."""
    front = state.agent + jnp.asarray(DIRECTIONS)[state.direction]
    cell = _cells(size, state, front)
    moves = (action == FORWARD) & ((cell == EMPTY) | (cell == GOAL) | (cell == OPEN))
    picks = (action == PICK_UP) & (cell == KEY)
    drops = (action == DROP) & (cell == EMPTY) & state.held
    opens = (action == TOGGLE) & ((cell == CLOSED) | ((cell == LOCKED) & state.held))
    closes = (action == TOGGLE) & (cell == OPEN)
    turn = jnp.where(action == LEFT, 3, jnp.where(action == RIGHT, 1, 0))
    after = State(
        state.wall,
        state.door,
        jnp.where(opens, OPEN, jnp.where(closes, CLOSED, state.lock)),
        jnp.where(moves, front, state.agent),
        (state.direction + turn) % 4,
        jnp.where(drops, front, state.key),
        (state.held | picks) & ~drops,
        state.elapsed + 1,
    )
    reached = moves & (cell == GOAL)
    return after, jnp.where(reached, 1.0 - 0.9 * after.elapsed / limit_of(size), 0.0), reached


def observe(size: int, state: State) -> jax.Array:
    """The bits [WIDTH] of what the agent sees: its direction, and the cells in view."""
    directions = jnp.asarray(DIRECTIONS)
    ahead, right = directions[state.direction], directions[(state.direction + 1) % 4]
    column, row = np.indices((SIDE, SIDE))[..., None]
    cells = _cells(
        size, state, state.agent + (SIDE - 1 - row) * ahead + (column - SIDE // 2) * right
    )
    cells = jnp.where(_visible(cells), cells, UNSEEN)
    cells = cells.at[SIDE // 2, SIDE - 1].set(jnp.where(state.held, KEY, EMPTY))
    codes = jnp.asarray(CODES)[cells]
    return jnp.concatenate([jnp.arange(4) == state.direction, codes.ravel()])


def _cells(size: int, state: State, place: jax.Array) -> jax.Array:
    # what is at each place [..., 2]; all is wall beyond the room
    x, y = place[..., 0], place[..., 1]
    is_key = ~state.held & (place == state.key).all(-1)
    cells = jnp.where((x == size - 2) & (y == size - 2), GOAL, jnp.where(is_key, KEY, EMPTY))
    cells = jnp.where(x == state.wall, jnp.where(y == state.door, state.lock, WALL), cells)
    return jnp.where(((place < 1) | (place > size - 2)).any(-1), WALL, cells)


def _visible(cells: jax.Array) -> jax.Array:
    # Row by row away from the agent: a cell that is seen and seen through shows its neighbours in
    # its row and in the next. A row is the bits of a number, so that this is cheap.
    bits = 1 << np.arange(SIDE)
    is_clear = (cells != WALL) & (cells != CLOSED) & (cells != LOCKED)
    clear = jnp.sum(jnp.where(is_clear, bits[:, None], 0), 0)
    seen, rows = jnp.int32(1 << SIDE // 2), []
    for row in reversed(range(SIDE)):
        for _ in range(SIDE - 1):
            seen = seen | _beside(seen & clear[row])
        rows.append(seen)
        seen = _beside(seen & clear[row])
    return (jnp.stack(rows[::-1]) & bits[:, None]) > 0


def _beside(bits: jax.Array) -> jax.Array:
    return bits | bits << 1 | bits >> 1
