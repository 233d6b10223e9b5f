"""Pictures of the deep experiments.

python docs/figures/deep.py summarize DIR
    what `benchmarks/deep_study.py --out DIR` wrote -> docs/figures/deep-*.csv; DIR may have some of
    the parts only
python docs/figures/deep.py
    those tables -> docs/_static/deep-*.png
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from deep_summary import ROOMS, Rows, summarize
from deep_tables import NAMES, read

from jekyllhyde.deep.training_files import draw_policy
from jekyllhyde.mdp.rooms import four_rooms, layout
from jekyllhyde.plotting import COLOURS, DASHES, new_figure

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "_static"
LOOKS = [
    {"color": colour, "linestyle": dash}
    for colour, dash in zip(
        [*COLOURS, "#888888", "#7F3C8D"], [*DASHES, (0, (3, 3)), (0, (6, 2, 1, 2))], strict=True
    )
]
SCORE = "exact score of the greedy policy"
TRAPPED = 1e-3


def curve(rows: Rows, what: str, **where: str) -> tuple[list[float], list[float]]:
    chosen = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return [float(row["episode"]) for row in chosen], [float(row[what]) for row in chosen]


def figure(
    columns: int, rows: int = 1, width: float = 4.4, height: float = 3.5
) -> tuple[Any, list[Any]]:
    made, axes = new_figure(columns, (width * columns, height * rows), rows)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return made, axes


def legend(made: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    made.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=4 if len(labels) <= 8 else 5,  # two rows
        frameon=False,
        fontsize="small",
    )


def draw_levels(
    name: str, draw: Callable[[Any, str], None], xlabel: str, ylabel: str, **look: Any
) -> None:
    """Both levels side by side, each drawn by `draw(axes, level)`."""
    made, panels = figure(2)
    for level, axes in zip("12", panels, strict=True):
        draw(axes, level)
        axes.set(title=f"level {level}", xlabel=xlabel, ylabel=ylabel, **look)
    legend(made, panels[0])
    made.savefig(STATIC / f"deep-{name}.png")


def draw_rules(rows: Rows) -> None:
    rules = list(dict.fromkeys(row["rule"] for row in rows))

    def draw(axes: Any, level: str, what: str = "exact_score") -> None:
        for rule, look in zip(rules, LOOKS, strict=False):
            axes.plot(*curve(rows, what, rule=rule, level=level), label=rule, **look)

    draw_levels("rules", draw, "training episodes", SCORE, ylim=(-12, 93))
    titles = {
        "entropy": "policy entropy, nats",
        "trapped": "states with the optimal actions ruled out",
        "critic_error": "critic's error, mean |q - exact q|",
        "action_gap": "gap between the critic's two best actions",
        "coverage_hyde": "states that Hyde has seen",
        "batch_share": "goal transitions in a batch",
    }
    made, axes = figure(3, 2, 3.6, 2.7)
    for (what, title), each in zip(titles.items(), axes, strict=True):
        draw(each, "2", what)
        each.set_title(title, fontsize="small")
        each.set_ylim(bottom=0)
    axes[2].set_ylim(0, 30)  # normalized_advantage once leaves it
    axes[3].set_ylim(0, 7)
    axes[4].set_xlabel("training episodes, level 2")
    legend(made, axes[0])
    made.savefig(STATIC / "deep-collapse.png")


def draw_rooms(rows: Rows) -> None:
    """The policies of one seed after training; red where no optimal action has a probability above
    0.001.
    """
    rooms, (made, panels) = layout(2), figure(2, 1, 4.0, 4.0)
    for rule, axes in zip(ROOMS, panels, strict=True):
        pi = np.array(
            [[float(row[f"pi_{a}"]) for a in range(4)] for row in rows if row["rule"] == rule]
        )
        ruled_out = (pi * optimal_actions()).sum(1) < TRAPPED
        grid = np.full((*rooms.free.shape, 3), 0.24)
        grid[tuple(rooms.cell.T)] = np.where(
            ruled_out[:, None], (0.95, 0.62, 0.52), (0.93, 0.93, 0.93)
        )
        grid[tuple(rooms.cell[rooms.goal])] = (0.9, 0.62, 0.0)
        axes.imshow(grid)
        pi[rooms.goal] = 0.0
        draw_policy(axes, pi, rooms.cell, "black")
        axes.set(xticks=[], yticks=[], title=rule)
    made.savefig(STATIC / "deep-rooms.png")


def optimal_actions() -> Any:
    """Which actions [S, A] are optimal; none in the goal, which is never ruled out then."""
    mdp = four_rooms(2)
    q = mdp.optimal().q
    best = q >= q.max(1, keepdims=True) - 1e-9
    return best | mdp.is_terminal[:, None]


def draw_figure3(rows: Rows) -> None:
    series = [
        ("jekyll_hyde", "recommended"),
        ("jekyll_hyde", "published"),
        ("jekyll_hyde", "paper"),
    ]
    series += [(agent, "published") for agent in ("ddqn", "sac", "ddqn_rnd", "sac_rnd")]
    series += [(agent, "released") for agent in ("jekyll_hyde", "ddqn_rnd")]

    def draw(axes: Any, level: str) -> None:
        for (agent, config), look in zip(series, LOOKS, strict=False):
            where = {"agent": agent, "config": config, "level": level}
            x, middle = curve(rows, "iqm", **where)
            axes.plot(x, middle, label=f"{NAMES[agent]}, {config}", **look)
            band = (curve(rows, f"iqm_{end}", **where)[1] for end in ("lo", "hi"))
            axes.fill_between(x, *band, color=look["color"], alpha=0.1, linewidth=0)

    draw_levels("figure3", draw, "training episodes", f"{SCORE}, IQM", ylim=(-25, 100))


def draw_sweeps(rows: Rows) -> None:
    """Final scores against learning rates."""
    series = [
        ("jekyll_hyde", "eta"),
        ("ddqn", "eta_c"),
        ("ddqn 64-64", "eta_c"),
        ("ddqn_rnd", "eta_c"),
    ]
    series += [("ddqn_rnd 64-64", "eta_c"), ("sac", "eta"), ("sac_rnd", "eta")]

    def draw(axes: Any, level: str) -> None:
        for (call, what), look in zip(series, LOOKS, strict=False):
            chosen = [
                row
                for row in rows
                if (row["call"], row["what"], row["level"]) == (call, what, level)
            ]
            values, scores = (
                [float(row[name]) for row in chosen] for name in ("value", "exact_score")
            )
            axes.plot(values, scores, marker=".", label=call, **look)

    ylabel = "exact score after 500 episodes"
    draw_levels("sweeps", draw, "learning rate", ylabel, xscale="log")


def main() -> None:
    if sys.argv[1:2] == ["summarize"]:
        summarize(Path(sys.argv[2]))
        return
    draw_rules(read("rules"))
    draw_rooms(read("rooms"))
    draw_figure3(read("figure3"))
    draw_sweeps(read("sweeps"))


if __name__ == "__main__":
    main()
