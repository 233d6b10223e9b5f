"""How far one gets in MiniGrid's DoorKey-8x8 who learns nothing: `python benchmarks/walks.py`.

    uniform       all actions alike
    least taken   in each view an action that was taken least often there in this episode
    forward       the same, forward first among equals
    seeing        of the actions that would change the view, one that leads to what was seen least
                  often in this episode; only someone who knows the rules can do that

Each walks through 300 episodes. results/walks.md has the share of these in which the key was taken,
the door opened and the goal met, and goals per 50,000 steps; a minute on one core.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from common import table, write

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip

import mini_grid  # isort: skip
from jekyllhyde.deep.views import place_of  # isort: skip

TASK, EPISODES, PLACES, SEED = "MiniGrid-DoorKey-8x8-v0", 300, 1 << 16, 1
WALKS = ("uniform", "least taken", "forward", "seeing")
ACTIONS = len(mini_grid.ACTIONS)


class Walk(NamedTuple):
    """Where an episode stands: how often actions were taken [places, A] in a view and how often it
    was seen [places], the steps so far, and whether key, door and goal [3] were met.
    """

    state: mini_grid.State
    taken: Any
    seen: Any
    steps: Any
    met: Any


def episode(walk: str, hashes: Any, key: Any) -> Walk:
    """One episode, to its end."""
    start_key, key = jax.random.split(key)
    nothing = jnp.zeros((), jnp.int32), jnp.zeros(3, bool)
    tables = jnp.zeros((PLACES, ACTIONS)), jnp.zeros(PLACES)
    begin = Walk(mini_grid.reset(TASK, start_key), *tables, *nothing)

    def advance(at: Walk, key: Any) -> tuple[Walk, None]:
        def place(state: mini_grid.State) -> Any:
            return place_of(mini_grid.observe(state), hashes, PLACES)

        here, chance = place(at.state), 0.1 * jax.random.uniform(key, (ACTIONS,))
        wish = chance if walk == "uniform" else chance - at.taken[here]
        if walk == "forward":
            wish = wish.at[mini_grid.FORWARD].add(0.5)
        if walk == "seeing":
            all_actions = jnp.arange(ACTIONS)
            led_to = jax.vmap(lambda a: place(mini_grid.step(TASK, at.state, a)[0]))(all_actions)
            wish = jnp.where(led_to == here, -jnp.inf, chance - at.seen[led_to])
        action = jnp.argmax(wish)
        after, _, done = mini_grid.step(TASK, at.state, action)
        met = [after.held != mini_grid.EMPTY, ~jnp.any(after.grid >= mini_grid.LOCKED), done]
        moved = Walk(
            after,
            at.taken.at[here, action].add(1),
            at.seen.at[place(after)].add(1),
            at.steps + 1,
            at.met | jnp.stack(met),
        )
        return jax.tree.map(partial(jnp.where, at.met[-1]), at, moved), None

    return jax.lax.scan(advance, begin, jax.random.split(key, mini_grid.LIMITS[TASK]))[0]


def main() -> None:
    """Walk, and write the table."""
    rows = []
    hashes = jax.random.bits(jax.random.key(SEED), (mini_grid.WIDTH,))
    for walk in WALKS:
        run = jax.jit(lambda key, walk=walk: episode(walk, hashes, key)[-2:])
        steps, met = jax.lax.map(run, jax.random.split(jax.random.key(SEED), EPISODES))
        shares, goals = np.mean(met, 0), np.sum(met[:, -1])
        per = round(float(goals / np.sum(steps) * 50_000), 1)
        rows.append([walk, *(round(float(share), 2) for share in shares), per])
    columns = ["walk", "key", "door", "goal", "goals in 50,000 steps"]
    write("walks", [dict(zip(columns, row, strict=True)) for row in rows], table(columns, rows))


if __name__ == "__main__":
    main()
