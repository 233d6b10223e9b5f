"""Draw the rooms of the package into docs/_static/architecture.png: `python
docs/figures/architecture.py`.

`IMPORTS` says which rooms a room may import beside the floor; a test holds the package to it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "_static" / "architecture.png"
IMPORTS: dict[str, tuple[str, ...]] = {
    "mdp": (),
    "envs": ("mdp",),
    "planning": ("mdp",),
    "tabular": ("mdp",),
    "deep": ("mdp", "envs"),
    "theory": ("mdp", "planning"),
    "lab": ("mdp", "planning", "tabular", "deep"),
    "cli": ("mdp", "envs", "planning", "tabular", "deep", "theory", "lab"),
}
FLOOR = (
    "errors   files   intervals   plotting   registry   references   options\n"
    "agent   stepwise_agent   episode   schedule   simplex   jit   parallel"
)
COMMANDS = "jh plan\njh train\njh eval\njh watch\njh figure\njh sweep\njh report\njh store\njh list"
# left, bottom, width, height; what is in it; colour
ROOMS: dict[str, tuple[tuple[float, float, float, float], str, str]] = {
    "mdp": ((0.2, 4.1, 2.1, 1.5), "finite MDPs,\nexact values,\ndomains", "#56B4E9"),
    "envs": ((0.2, 2.0, 2.1, 1.5), "Gymnasium and\nJAX faces of\nthe domains", "#56B4E9"),
    "planning": ((3.3, 4.9, 2.3, 1.1), "exact updates\nU(theta, d)", "#E69F00"),
    "tabular": ((3.3, 3.4, 2.3, 1.1), "Algorithms 2 and 3", "#E69F00"),
    "deep": ((3.3, 1.9, 2.3, 1.1), "Algorithm 4,\nDDQN, SAC", "#E69F00"),
    "theory": ((6.6, 4.9, 2.3, 1.1), "conditions and\nbounds of a run", "#009E73"),
    "lab": ((6.6, 1.9, 2.3, 2.6), "experiment, cells,\nengine, store,\nfigure, claims", "#009E73"),
    "cli": ((9.7, 1.9, 1.1, 4.1), COMMANDS, "#CC79A7"),
    "the floor": ((0.2, 0.2, 10.6, 1.2), FLOOR, "#BBBBBB"),
}
# from the edge of one room to that of another: (x, y) and (x, y), in the direction of the data
ARROWS = (
    ((2.3, 5.2), (3.3, 5.4)),  # mdp, planning
    ((2.3, 4.7), (3.3, 4.1)),  # mdp, tabular
    ((2.3, 4.3), (3.3, 2.7)),  # mdp, deep
    ((1.25, 4.1), (1.25, 3.5)),  # mdp, envs
    ((2.3, 2.5), (3.3, 2.4)),  # envs, deep
    ((5.6, 5.45), (6.6, 5.45)),  # planning, theory
    ((5.6, 5.1), (6.6, 4.2)),  # planning, lab
    ((5.6, 3.9), (6.6, 3.5)),  # tabular, lab
    ((5.6, 2.4), (6.6, 2.4)),  # deep, lab
    ((8.9, 5.45), (9.7, 5.45)),  # theory, cli
    ((8.9, 3.2), (9.7, 3.2)),  # lab, cli
)


def draw() -> Any:
    """The picture."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    figure = Figure(figsize=(8.8, 5.0), dpi=150)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0.0, 11.0), ylim=(0.0, 6.6))
    axes.axis("off")
    for name, ((left, bottom, width, height), text, colour) in ROOMS.items():
        corner: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.12"}
        look: dict[str, Any] = {"facecolor": colour + "55", "edgecolor": "#333333"}
        axes.add_patch(FancyBboxPatch((left, bottom), width, height, **corner, **look))
        x, top = left + width / 2, bottom + height - 0.12
        title: dict[str, Any] = {"ha": "center", "va": "top", "weight": "bold", "size": 12}
        axes.text(x, top, name, **title)
        axes.text(x, (bottom + top - 0.34) / 2, text, ha="center", va="center", size=10)
    for begin, end in ARROWS:
        shape = {"arrowstyle": "-|>", "color": "#333333", "shrinkA": 1, "shrinkB": 1}
        axes.annotate("", xy=end, xytext=begin, arrowprops=shape)
    for x, text in ((1.25, "problems"), (4.45, "policies are updated"), (7.75, "evidence")):
        axes.text(x, 6.3, text, ha="center", va="center", size=12, style="italic")
    axes.text(10.25, 6.3, "command line", ha="center", va="center", size=12, style="italic")
    return figure


if __name__ == "__main__":
    draw().savefig(TARGET)
