"""Draw how long unlearning takes, and write the page's table: `python docs/figures/unlearning.py`.

The trial: two actions with equal probabilities. In n updates of step 1 the first is worth 1 and the
second 0; then they change places, and the updates are counted until the second leads. The rules are
the package's own, those of tables and those of networks, with logits in the place of a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.files import write_text
from jekyllhyde.planning.updates import PARAMETRIZATIONS, Tables, make_rule, theta_of, update_tables
from jekyllhyde.plotting import COLOURS, DASHES, finish, new_figure, save_figure

HERE = Path(__file__).resolve().parent
UPDATES = (10, 100, 1000, 10_000)
GRID = tuple(np.unique(np.geomspace(1, 10_000, 25).astype(int)).tolist())
FIRST, SECOND = np.array([1.0, 0.0]), np.array([0.0, 1.0])  # what the actions are worth
LEARNED = 1000  # updates before the turn in the left picture
LEAD = 1e-9  # of the second action, beyond rounding
TABLES = tuple(name for name in PARAMETRIZATIONS if name != "mirror_step")  # natural_gradient
Floats = NDArray[np.float64]


def policies(name: str, *values: tuple[Floats, int]) -> Iterator[Floats]:
    """The policies of a table's rule, the first one included: q, and for how many updates."""
    rule, _ = make_rule(name, 0.0, "published")
    pi = np.full((1, 2), 0.5)
    theta, work = theta_of(rule, pi), np.empty(2)
    yield pi[0].copy()
    for q, count in values:
        for _ in range(count):
            v, step = pi[0] @ q, np.ones(1)
            update_tables(rule, Tables(theta.ravel(), pi.ravel(), q, np.array([v]), step, work))
            yield pi[0].copy()


def updates_back(name: str, n: int) -> int:
    """Updates of a table's rule until the second action leads, after n for the first."""
    most = 2 * n + 100
    for count, pi in enumerate(policies(name, (FIRST, n), (SECOND, most))):
        if pi[1] > pi[0] + LEAD:
            return count - n
    raise ValueError(f"{name} does not come back within {most} updates")


def network_rule(name: str) -> Callable[[int], int]:
    """As `updates_back`, for a rule of networks: a function of n."""

    def improved(logits: Any, q: Any) -> Any:
        rule = ACTOR_RULES[name]
        return logits - jax.grad(lambda x: jnp.sum(rule(x[None], q[None], 1.0)))(logits)

    @jax.jit
    def count(n: Any) -> Any:
        first, second = jnp.asarray(FIRST), jnp.asarray(SECOND)
        learned = jax.lax.fori_loop(0, n, lambda _, x: improved(x, first), jnp.zeros(2))
        return jax.lax.while_loop(
            lambda now: (now[0][1] <= now[0][0] + LEAD) & (now[1] < 3 * n + 100),
            lambda now: (improved(now[0], second), now[1] + 1),
            (learned, 0),
        )[1]

    def in_doubles(n: int) -> int:
        with jax.enable_x64(True):
            return int(count(n))

    return in_doubles


def counts() -> dict[tuple[str, str], tuple[int, ...]]:
    """Updates back for every n of UPDATES, by rule and place."""
    back = {(name, "tables"): tuple(updates_back(name, n) for n in UPDATES) for name in TABLES}
    return back | {
        (name, "networks"): tuple(map(network_rule(name), UPDATES)) for name in ACTOR_RULES
    }


def table() -> str:
    """The page's table, as Markdown; a rule with the same counts in both places has one line."""
    places: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (name, place), numbers in counts().items():
        places.setdefault((name, numbers), []).append(place)
    rows = [["rule", "in", *(f"n = {n:,}" for n in UPDATES)], ["---"] * (2 + len(UPDATES))]
    for (name, numbers), where in places.items():
        rows.append([f"`{name}`", " and ".join(where), *(f"{count:,}" for count in numbers)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def draw() -> Any:
    figure, (left, right) = new_figure(2, (8.6, 3.3))
    looks = {
        name: {"color": colour, "linestyle": dash}
        for name, colour, dash in zip(TABLES, COLOURS, DASHES, strict=False)
    }
    for name in ("softmax", "cross_entropy", "raise_greedy"):
        path = np.array(list(policies(name, (FIRST, LEARNED), (SECOND, LEARNED + 10))))
        left.plot(np.log(path[:, 0] / path[:, 1]), label=name, **looks[name])
    left.axhline(0.0, color="#888888", linewidth=0.8)
    left.axvline(LEARNED, color="#888888", linewidth=0.8, linestyle=":")
    finish(left, "updates; the actions change places at 1,000", "log odds of the first action", "")
    for name in TABLES:
        back = [updates_back(name, n) for n in GRID]
        right.loglog(GRID, back, label=name, **looks[name])
    finish(right, "n, updates for the first action", "updates until the second leads", "")
    return figure


def main() -> None:
    write_text(HERE / "unlearning.md", table())
    save_figure(draw(), HERE.parent / "_static" / "unlearning.png")


if __name__ == "__main__":
    main()
