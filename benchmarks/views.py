"""What keeps an agent that sees views from MiniGrid's DoorKey: `python benchmarks/views.py`.

Every layout of 5x5, 6x6 and 8x8 is solved exactly, for who knows all. Then

    clone      a network of views learns the best actions by heart
    regress    it learns the exact values of all actions, with one network or two (`Dueling`)
    fixpoint   the values that expected SARSA from single steps converges to where all states are
               visited alike, in a table of what is seen: of views, or of the last few of them

and the share of starts is counted from which the policy gets to the goal in time; of networks also
the share of states in which the greedy action is one of the best. results/views.md has the table,
means over three seeds of networks; minutes on one core.
"""

from __future__ import annotations

import argparse
from collections import deque
from functools import partial
from typing import Any, NamedTuple

from common import machine, table, write

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip
import optax  # type: ignore[import-untyped]  # isort: skip

import mini_grid  # isort: skip
from jekyllhyde.deep.critics import Dueling  # isort: skip
from jekyllhyde.deep.networks import Space  # isort: skip

GAMMA, HIDDEN, BATCH, UPDATES = 0.99, (64, 64), 256, 12_000
TEMPERATURE = 0.01  # of actions that are drawn
SLOW = 0.005  # rate of the running mean of weights
FREE, HELD, THROUGH = range(3)  # the key lies, is held, and has opened the door
MOVES = [0, 1, 2, 3, 5, 6]  # all actions but to drop
GOAL = -1


class Layouts(NamedTuple):
    """All states of some layouts: `states` [S, 5] (layout, x, y, direction, phase), what each of
    MOVES leads to [S, A], GOAL among them, steps to the goal [S], and views [S, bits].
    """

    states: np.ndarray
    led_to: np.ndarray
    steps: np.ndarray
    views: np.ndarray


def solve(name: str, first: int, last: int) -> Layouts:
    """The different layouts among the stored ones, from the first to the last, with each state
    that is reached.
    """
    grids, _ = mini_grid._layouts(name)
    _, different = np.unique(grids.reshape(len(grids), -1), axis=0, return_index=True)
    states: list[tuple[int, ...]] = []
    led_to: list[list[int]] = []
    for layout in sorted(different)[first:last]:
        _walk(int(layout), grids[layout], states, led_to)
    table_of = np.array(led_to)
    return Layouts(np.array(states), table_of, _steps(table_of), _views(name, np.array(states)))


def _walk(layout: int, grid: Any, states: list[Any], led_to: list[Any]) -> None:
    # Add the states that are reached in a layout, by breadth, from all starts.
    key, door, goal = (
        tuple(int(n) for n in np.argwhere(kind)[0])
        for kind in (
            (grid >= mini_grid.KEY) & (grid < mini_grid.BALL),
            grid >= mini_grid.LOCKED,
            grid == mini_grid.GOAL,
        )
    )

    def is_free(place: tuple[int, int], phase: int) -> bool:
        if place in (key, door):
            return phase > FREE if place == key else phase == THROUGH
        return grid[place] in (mini_grid.EMPTY, mini_grid.GOAL)

    def after(state: tuple[int, ...], move: int) -> tuple[int, ...]:
        x, y, direction, phase = state
        step = mini_grid.DIRECTIONS[direction]
        front = x + int(step[0]), y + int(step[1])
        if move in (mini_grid.LEFT, mini_grid.RIGHT):
            return x, y, (direction + (1 if move == mini_grid.RIGHT else 3)) % 4, phase
        if move == mini_grid.FORWARD and is_free(front, phase):
            return *front, direction, phase
        if (move, front, phase) == (mini_grid.PICK_UP, key, FREE):
            return x, y, direction, HELD
        if (move, front, phase) == (mini_grid.TOGGLE, door, HELD):
            return x, y, direction, THROUGH
        return state

    base, cells = len(states), np.ndindex(door[0] - 1, grid.shape[1] - 2)
    places = [(x + 1, y + 1) for x, y in cells if (x + 1, y + 1) != key]
    starts = [(*place, direction, FREE) for place in places for direction in range(4)]
    known = {state: base + i for i, state in enumerate(starts)}
    waiting = deque(known)
    while waiting:
        state = waiting.popleft()
        states.append((layout, *state))
        led_to.append([])
        for move in MOVES:
            reached = after(state, move)
            if reached[:2] != goal and reached not in known:
                known[reached] = base + len(known)
                waiting.append(reached)
            led_to[-1].append(GOAL if reached[:2] == goal else known[reached])


def _steps(led_to: np.ndarray) -> np.ndarray:
    # Of the shortest way to the goal.
    steps = np.full(len(led_to), np.inf)
    while True:
        shorter = 1 + np.where(led_to == GOAL, 0.0, steps[led_to]).min(1)
        if (shorter == steps).all():
            return steps
        steps = shorter


def _views(name: str, states: np.ndarray) -> np.ndarray:
    grids, _ = mini_grid._layouts(name)
    keys, doors = (
        np.array([np.argwhere(is_it)[0] for is_it in kind])
        for kind in ((grids >= mini_grid.KEY) & (grids < mini_grid.BALL), grids >= mini_grid.LOCKED)
    )
    stored = jnp.asarray(grids)

    def view(state: jax.Array, key: jax.Array, door: jax.Array) -> jax.Array:
        layout, x, y, direction, phase = state
        grid = stored[layout].astype(jnp.int32)
        colour = grid[key[0], key[1]]
        lock = grid[door[0], door[1]]
        grid = grid.at[key[0], key[1]].set(jnp.where(phase > FREE, mini_grid.EMPTY, colour))
        opened = lock - mini_grid.LOCKED + mini_grid.OPEN
        grid = grid.at[door[0], door[1]].set(jnp.where(phase == THROUGH, opened, lock))
        held = jnp.where(phase > FREE, colour, mini_grid.EMPTY)
        place = jnp.array([x, y])
        return mini_grid.observe(mini_grid.State(grid, place, direction, held, jnp.int32(0)))

    seen: Any = jax.jit(jax.vmap(view))
    parts = np.array_split(states, max(1, len(states) // 20_000))
    return np.concatenate([np.asarray(seen(p, keys[p[:, 0]], doors[p[:, 0]])) for p in parts])


def success(layouts: Layouts, policy: np.ndarray, limit: int, draws: bool) -> float:
    """The share of starts [most 4,000 of them] from which actions lead to the goal in time; the
    policy [S, A] is one of states.
    """
    random = np.random.default_rng(0)
    at = np.flatnonzero(layouts.states[:, 4] == FREE)
    at = at if len(at) < 4_000 else random.choice(at, 4_000, replace=False)
    for _ in range(limit):
        under_way = at != GOAL
        chosen = policy[at]
        drawn = (random.random((len(at), 1)) < chosen.cumsum(1)).argmax(1)
        action = drawn if draws else chosen.argmax(1)
        at = np.where(under_way, layouts.led_to[at, action], GOAL)
    return float((at == GOAL).mean())


def learn(layouts: Layouts, others: Layouts, limit: int, kind: str, seed: int) -> list[float]:
    """Success of the greedy policy and of drawn actions, and how often the greedy action is a best
    one, in other layouts than those that it has learned: the best actions ("clone"), or values with
    one network ("one") or two ("two"). What counts is the running mean of its weights.
    """
    goals, is_best = _goals(layouts, kind), _goals(others, "clone") > 0
    space = Space(None, (layouts.views.shape[1],), len(MOVES))
    key = jax.random.key(seed)
    make: Any = partial(Dueling.of, space) if kind == "two" else space.network
    network = make(key, HIDDEN)
    adam = optax.adam(1e-3)

    def loss(network: Any, x: Any, goal: Any, action: Any) -> Any:
        y = network(x.astype(jnp.float32))
        if kind == "clone":
            return -jnp.mean(jnp.sum(goal * jax.nn.log_softmax(y), -1))
        return jnp.mean(jnp.take_along_axis(y - goal, action[:, None], 1) ** 2)

    @jax.jit
    def update(network: Any, slow: Any, moments: Any, *batch: Any) -> tuple[Any, Any, Any]:
        change, moments = adam.update(jax.grad(loss)(network, *batch), moments)
        network = jax.tree.map(jnp.add, network, change)
        return network, jax.tree.map(lambda s, w: s + SLOW * (w - s), slow, network), moments

    slow, moments, random = network, adam.init(network), np.random.default_rng(seed)
    for _ in range(UPDATES):
        i = random.integers(len(goals), size=BATCH)
        actions = random.integers(len(MOVES), size=BATCH)
        batch = layouts.views[i], goals[i], actions
        network, slow, moments = update(network, slow, moments, *batch)
    y = np.concatenate([np.asarray(slow(v)) for v in np.array_split(others.views, 50)])
    temperature = 1.0 if kind == "clone" else TEMPERATURE
    pi = np.asarray(jax.nn.softmax(y / temperature))
    share = is_best[np.arange(len(pi)), pi.argmax(1)].mean()
    return [*(success(others, pi, limit, draws) for draws in (False, True)), float(share)]


def _goals(layouts: Layouts, kind: str) -> np.ndarray:
    # the exact values of all actions, or how good actions share a probability of 1
    steps = 1 + np.where(layouts.led_to == GOAL, 0, layouts.steps[layouts.led_to])
    is_best = steps == steps.min(1, keepdims=True)
    return is_best / is_best.sum(1, keepdims=True) if kind == "clone" else GAMMA**steps


def fixpoint(layouts: Layouts, limit: int, views: int, temperature: float | None) -> list[float]:
    """Success of the greedy policy and of drawn actions where values are those of the last `views`
    views in a table, and actions greedy or soft.
    """
    n, n_actions = layouts.led_to.shape
    trail = np.arange(n)[:, None]
    for _ in range(views - 1):
        reached = np.where(trail[:, -1:] == GOAL, GOAL, layouts.led_to[trail[:, -1]])
        trail = np.column_stack([np.repeat(trail, n_actions, 0), reached.ravel()])
    _, of_view = np.unique(np.packbits(layouts.views, 1), axis=0, return_inverse=True)
    mix = np.random.default_rng(0).integers(1 << 62, size=(views, of_view.max() + 2))
    hashed = np.bitwise_xor.reduce(
        [mix[k][np.where(s == GOAL, -1, of_view.ravel()[s])] for k, s in enumerate(trail.T)]
    )
    _, seen = np.unique(hashed, return_inverse=True)
    # where each action leads: the trail less its first step, by its place in the list
    base = n_actions ** (views - 1)
    following = after = layouts.led_to[trail[:, -1]]
    tail = np.arange(len(trail)) % base  # the actions of a trail as the digits of a number
    if views > 1:
        later = tail % (base // n_actions) * n_actions
        following = (trail[:, 1] * base + later)[:, None] + np.arange(n_actions)
    counts = (trail != GOAL).all(1).astype(float)
    weight = np.maximum(np.bincount(seen, counts), 1e-9)
    is_over = (after == GOAL) | (counts == 0)[:, None]
    following = np.where(is_over, 0, following)
    q = np.zeros((len(weight), n_actions))
    for _ in range(400):
        pi = _policy(q, temperature)
        value = GAMMA * np.where(is_over, 1.0 / GAMMA, (pi * q).sum(1)[seen][following])
        new = np.column_stack([np.bincount(seen, counts * v) / weight for v in value.T])
        done, q = np.abs(new - q).max() < 1e-6, new
        if done:
            break
    whole = layouts._replace(
        states=layouts.states[trail[:, -1]], led_to=np.where(after == GOAL, GOAL, following)
    )
    # a trail begins with views that are all alike, as after actions that do nothing
    still = tail == base - 1
    whole.states[~(still & (counts > 0)), 4] = GOAL
    pi = _policy(q, temperature)[seen]
    return [success(whole, pi, limit, draws) for draws in (False, True)]


def _policy(q: np.ndarray, temperature: float | None) -> np.ndarray:
    if temperature is None:
        return np.eye(q.shape[1])[q.argmax(1)]
    z = np.exp((q - q.max(1, keepdims=True)) / temperature)
    return np.asarray(z / z.sum(1, keepdims=True))


def main() -> None:
    """All of it, into results/views.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=100, help="layouts that a network learns from")
    most, rows = parser.parse_args().most, []
    for size, last in ((5, 1), (6, 4), (8, 2)):
        name = f"MiniGrid-DoorKey-{size}x{size}-v0"
        limit, layouts = mini_grid.LIMITS[name], solve(name, 0, mini_grid.COUNT)
        about = f"{size}x{size}"
        for views in range(1, last + 1):
            greedy = fixpoint(layouts, limit, views, None)[0]
            soft = fixpoint(layouts, limit, views, TEMPERATURE)[1]
            last_views = "the last view" if views == 1 else f"the last {views} views"
            words = f"table of values of {last_views}"
            rows.append((about, words, f"{greedy:.2f}", f"{soft:.2f}", ""))
    few, others = solve(name, 0, most), solve(name, most, mini_grid.COUNT)
    for kind, words in (
        ("clone", "network, of the best actions"),
        ("one", "network, of their exact values"),
        ("two", "the same, a value and what actions add, of two networks"),
    ):
        means = np.mean([learn(few, others, limit, kind, seed) for seed in range(3)], 0)
        rows.append((f"8x8, {most} layouts", words, *(f"{share:.2f}" for share in means)))
    columns = ("DoorKey", "what is learned", "greedy", "drawn", "greedy action is a best one")
    text = table(columns, rows)
    write("views", {"machine": machine(), "rows": rows}, text)


if __name__ == "__main__":
    main()
