"""MiniGrid's tasks in JAX, so that many seeds are trained at once on a GPU.

    python benchmarks/mini_grid.py --layouts FILE.npz

DoorKey, MultiRoom and KeyCorridor: the rules, rewards and views of MiniGrid, to which
`tests/test_mini_grid.py` holds them. Layouts are MiniGrid's own: the command above, which needs
MiniGrid, draws 2,048 per task with the seeds from 0, and a reset takes one of those in
`layouts.npz`. An episode succeeds at the goal or with a ball in hand; an observation is the vector
that our agents make of a view. Boxes and lava are not known.

Places are (x, y) from the upper left corner, and so are grids: [x, y]. A view is 7 by 7 cells, the
agent in the middle of the last row and looking up: [column, row].
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from jekyllhyde.envs.minigrid_cells import COLOURS, OBJECTS, STATES
from jekyllhyde.envs.space_parts import parts_of

LIMITS = {  # the steps after which an episode is cut
    "MiniGrid-DoorKey-5x5-v0": 250,
    "MiniGrid-DoorKey-6x6-v0": 360,
    "MiniGrid-DoorKey-8x8-v0": 640,
    "MiniGrid-MultiRoom-N2-S4-v0": 40,
    "MiniGrid-MultiRoom-N4-S5-v0": 120,  # of six rooms, in spite of its name
    "MiniGrid-KeyCorridorS3R1-v0": 270,
}
LAYOUTS = Path(__file__).with_name("layouts.npz")
COUNT = 2_048  # layouts of a task
ACTIONS = LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
DIRECTIONS = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)], np.int32)  # right, down, left, up
SIDE = 7  # of a view
# What is in a cell. From OPEN on there is one of each colour, but of WALL; what comes before OPEN
# or is it can be walked on, keys and balls can be taken, and from WALL on nothing is seen through.
UNSEEN, EMPTY, GOAL, OPEN, KEY, BALL, WALL, CLOSED, LOCKED = 0, 1, 2, 3, 9, 15, 21, 22, 28
DOOR_OBJECT, KEY_OBJECT, BALL_OBJECT = 4, 5, 6
NUMBERS = np.array(  # object, colour and state of each of these, as MiniGrid numbers them
    [
        *[(0, 0, 0), (1, 0, 0), (8, 1, 0)],
        *[(DOOR_OBJECT, colour, 0) for colour in range(COLOURS)],
        *[(KEY_OBJECT, colour, 0) for colour in range(COLOURS)],
        *[(BALL_OBJECT, colour, 0) for colour in range(COLOURS)],
        (2, 5, 0),
        *[(DOOR_OBJECT, colour, 1) for colour in range(COLOURS)],
        *[(DOOR_OBJECT, colour, 2) for colour in range(COLOURS)],
    ],
    np.uint8,
)
KINDS = (OBJECTS, COLOURS, STATES)
CODES = np.concatenate(  # [cells, bits of one]
    [np.arange(n) == NUMBERS[:, i, None] for i, n in enumerate(KINDS)], -1
)
PARTS = parts_of(
    spaces.Dict(direction=spaces.Discrete(4), image=spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)),
    KINDS,
)
WIDTH = sum(part.width for part in PARTS)


class State(NamedTuple):
    """What is in each cell [x, y]; where the agent is, its direction, and what it holds, which is
    EMPTY where that is nothing; steps since the start.
    """

    grid: jax.Array
    agent: jax.Array
    direction: jax.Array
    held: jax.Array
    elapsed: jax.Array


def reset(name: str, key: jax.Array) -> State:
    """One of the layouts, each as likely as the next."""
    return start(name, (jax.random.uniform(key) * len(_layouts(name)[0])).astype(jnp.int32))


def start(name: str, seed: jax.Array | int) -> State:
    """The layout that MiniGrid draws with a seed."""
    grids, agents = map(jnp.asarray, _layouts(name))
    agent = agents[seed].astype(jnp.int32)
    return State(grids[seed], agent[:2], agent[2], jnp.int32(EMPTY), jnp.int32(0))


def step(name: str, state: State, action: jax.Array) -> tuple[State, jax.Array, jax.Array]:
    """The state after an action, the reward, and whether the task is done."""
    front = state.agent + jnp.asarray(DIRECTIONS)[state.direction]
    cell, held = _cells(state.grid, front), state.held
    moves = (action == FORWARD) & (cell < KEY)
    picks = (action == PICK_UP) & (cell >= KEY) & (cell < WALL) & (held == EMPTY)
    drops = (action == DROP) & (cell == EMPTY)  # of nothing, it leaves the cell empty
    swaps = picks | drops
    left = jnp.where(swaps, held, jnp.where(action == TOGGLE, _toggled(cell, held), cell))
    x, y = (np.arange(n) for n in state.grid.shape)
    is_front = (x[:, None] == front[0]) & (y == front[1])
    turn = jnp.where(action == LEFT, 3, jnp.where(action == RIGHT, 1, 0))
    after = State(
        jnp.where(is_front, left.astype(jnp.uint8), state.grid),
        jnp.where(moves, front, state.agent),
        (state.direction + turn) % 4,
        jnp.where(swaps, cell, held),
        state.elapsed + 1,
    )
    done = (moves & (cell == GOAL)) | (picks & (cell >= BALL))
    return after, jnp.where(done, 1.0 - 0.9 * after.elapsed / LIMITS[name], 0.0), done


def observe(state: State) -> jax.Array:
    """The bits [WIDTH] of what the agent sees: its direction, and the cells in view."""
    directions = jnp.asarray(DIRECTIONS)
    ahead, right = directions[state.direction], directions[(state.direction + 1) % 4]
    column, row = np.indices((SIDE, SIDE))[..., None]
    places = state.agent + (SIDE - 1 - row) * ahead + (column - SIDE // 2) * right
    cells = _cells(state.grid, places)
    cells = jnp.where(_visible(cells < WALL), cells, UNSEEN)
    cells = cells.at[SIDE // 2, SIDE - 1].set(state.held)
    codes = jnp.asarray(CODES)[cells]
    return jnp.concatenate([jnp.arange(4) == state.direction, codes.ravel()])


def _cells(grid: jax.Array, places: jax.Array) -> jax.Array:
    # what is at each place [..., 2]; all is wall beyond the grid
    width, height = grid.shape
    x, y = places[..., 0], places[..., 1]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    cells = grid.ravel()[jnp.where(inside, x * height + y, 0)]
    return jnp.where(inside, cells.astype(jnp.int32), WALL)


def _toggled(cell: jax.Array, held: jax.Array) -> jax.Array:
    fits = (cell >= LOCKED) & (cell - LOCKED == held - KEY)
    opened = jnp.where(fits, cell - LOCKED + OPEN, cell)
    opened = jnp.where((cell >= CLOSED) & (cell < LOCKED), cell - CLOSED + OPEN, opened)
    return jnp.where((cell >= OPEN) & (cell < KEY), cell - OPEN + CLOSED, opened)


def _visible(is_clear: jax.Array) -> jax.Array:
    # Row by row away from the agent: a cell that is seen and seen through shows its neighbours in
    # its row and in the next. A row is the bits of a number, so that this is cheap.
    bits = 1 << np.arange(SIDE)
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


@lru_cache
def _layouts(name: str) -> tuple[np.ndarray, np.ndarray]:
    # grids [layouts, x, y], and the places and directions of agents [layouts, 3]
    with np.load(LAYOUTS) as file:
        return file[f"{name} grids"], file[f"{name} agents"]


def kinds_in(env: Any) -> np.ndarray:
    """What is in the cells of one of MiniGrid's environments, as states here have it."""
    encoded = env.grid.encode()
    is_kind = (encoded[..., None, :] == NUMBERS).all(-1)
    if not is_kind.any(-1).all():
        raise ValueError(f"{env} has what is not known here: {encoded[~is_kind.any(-1)][0]}")
    return is_kind.argmax(-1).astype(np.uint8)


def draw(name: str, count: int = COUNT) -> tuple[np.ndarray, np.ndarray]:
    """Grids and agents of MiniGrid's resets with the seeds from 0."""
    import gymnasium as gym

    env: Any = gym.make(f"minigrid:{name}").unwrapped
    grids, agents = [], []
    for seed in range(count):
        env.reset(seed=seed)
        grids.append(kinds_in(env))
        agents.append((*env.agent_pos, env.agent_dir))
    return np.array(grids), np.array(agents, np.uint8)


def main() -> None:
    """Draw the layouts, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layouts", type=Path, default=LAYOUTS)
    arrays = {}
    for name in LIMITS:
        arrays[f"{name} grids"], arrays[f"{name} agents"] = draw(name)
    np.savez_compressed(parser.parse_args().layouts, **arrays)


if __name__ == "__main__":
    main()
