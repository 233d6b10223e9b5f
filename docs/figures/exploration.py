"""Draw where each Hyde has been on one maze: `python docs/figures/exploration.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.mdp.maze import layout, maze
from jekyllhyde.plotting import new_figure, save_figure
from jekyllhyde.tabular.agents import TabularJekyllHyde

STEPS, HORIZON = 6000, 200
HYDES: dict[str, dict[str, Any]] = {
    "uniform": {"hyde": "uniform"},
    "q_learning, as published": {"convention": "published", "epsilon": 1.0},
    "optimistic, backward": {
        "hyde": "optimistic",
        "critic": "expected_sarsa",
        "eta_c": "visits",
        "replay": "backward",
    },
    "model_based": {},
}


def main() -> None:
    plan, problem = layout(), maze()
    figure, axes = new_figure(len(HYDES), (10.0, 2.9))
    for panel, (name, settings) in zip(axes, HYDES.items(), strict=True):
        agent = TabularJekyllHyde(TabularEnv(problem, HORIZON), seed=0, **settings).learn(STEPS)
        visits = agent.arrays()["n"].reshape(problem.n_states, -1).sum(axis=1)
        picture = np.full(plan.free.shape, np.nan)
        picture[tuple(plan.cell.T)] = np.log10(1 + visits[: len(plan.cell)])
        panel.imshow(np.where(plan.free, np.nan, 1.0), cmap="gray", vmin=0.0, vmax=1.6)
        image = panel.imshow(picture, cmap="viridis", vmin=0.0, vmax=3.0)
        for state, letter in ((0, "S"), (plan.trap, "T"), (plan.goal, "G")):
            row, column = plan.cell[state]
            look = {"color": "white", "fontsize": 7, "fontweight": "bold"}
            panel.text(column, row, letter, ha="center", va="center", **look)
        seen = np.mean(visits[: len(plan.cell)] > 0)
        panel.set_title(f"{name}\n{seen:.0%} of the cells", fontsize="medium")
        panel.set_axis_off()
    bar = figure.colorbar(image, ax=axes, shrink=0.7, ticks=[0, 1, 2, 3], label="visits")
    bar.ax.set_yticklabels(["0", "10", "100", "1,000"])
    save_figure(figure, Path(__file__).parents[1] / "_static" / "exploration-maze.png")


if __name__ == "__main__":
    main()
