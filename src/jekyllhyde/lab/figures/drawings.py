"""Figures 1 and 4: the chain and Four Rooms, drawn from the domains themselves."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.rooms import layout
from jekyllhyde.plotting import BLUE, RED, new_figure, save_figure

SMALL = {"ha": "center", "fontsize": "small"}


def draw_chain(*paths: Path, n: int = 6) -> None:
    """The chain: in every state, leave for the fruit (a_1) or walk on (a_2); arrows and rewards are
    those of `chain(n)`.
    """
    mdp = chain(n, convention="paper")
    figure, (axes,) = new_figure(size=(6.8, 2.3))
    place = {s: (1.6 * s, 0.0) for s in range(n - 1)} | {n - 1: (1.6 * (n - 2) / 2, -1.9)}
    for s, (x, y) in place.items():
        face, name = ("0.9", "end") if s == n - 1 else ("white", f"$s_{{{s}}}$")
        axes.scatter(x, y, s=480, facecolor=face, edgecolor="black", linewidth=1.1, zorder=3)
        axes.text(x, y, name, va="center", zorder=4, **SMALL)
    for s, a in np.ndindex(n - 1, 2):
        target, colour = int(mdp.P[[s * 2 + a]].indices[0]), (RED, BLUE)[a]
        axes.annotate(
            "",
            place[target],
            place[s],
            zorder=2,
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "shrinkA": 12,
                "shrinkB": 12,
                "connectionstyle": f"arc3,rad={-0.25 if (s, a) == (n - 2, 1) else 0.0}",
            },
        )
        if a == 1:
            shift = (1.05, -0.45) if target == n - 1 else (0.0, 0.16)
            x, y = np.mean([place[s], place[target]], axis=0) + shift
            axes.text(x, y, f"$a_2$: {mdp.r[s, a]:g}", color=colour, **SMALL)
    axes.text(-0.55, -1.15, r"$a_1$: $\beta\gamma^{{|S|-2}}$", color=RED, fontsize="small")
    axes.set(xlim=(-0.8, place[n - 2][0] + 0.8), ylim=(-2.4, 0.6), aspect="equal")
    axes.axis("off")
    save_figure(figure, *paths)


def draw_rooms(*paths: Path) -> None:
    """Four Rooms: walls, doors and goal, and how likely each cell is to be the start, on levels 1
    and 2.
    """
    figure, sides = new_figure(2, (6.8, 3.3))
    for level, axes in enumerate(sides, start=1):
        plan = layout(level)
        start = np.full(plan.free.shape, np.nan)
        start[plan.free] = np.where(plan.p0 > 0, 1000 * plan.p0, np.nan)
        shades = axes.imshow(start, cmap="Blues", vmin=0, vmax=14)
        axes.imshow(np.ma.masked_where(plan.free, ~plan.free), cmap="Greys", vmin=0, vmax=1.6)
        row, column = plan.cell[plan.goal]
        axes.text(column, row, "G", va="center", color=RED, fontweight="bold", **SMALL)
        axes.set_title(f"level {level}", fontsize="small")
        axes.set(xticks=[], yticks=[])
    figure.colorbar(
        shades, ax=figure.axes, shrink=0.8, label="probability of the start, in thousandths"
    )
    save_figure(figure, *paths)


DRAWINGS: dict[str, Callable[..., None]] = {"1": draw_chain, "4": draw_rooms}
