"""What a training leaves on disk: curves as a Parquet table and a picture, the rooms as a picture,
weights as safetensors.
"""

from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.deep import TrainResult, diagnostics, from_result
from jekyllhyde.files import write_parquet
from jekyllhyde.intervals import summarize
from jekyllhyde.mdp.rooms import MOVES, Layout
from jekyllhyde.plotting import BLUE, RED, finish, new_figure, save_figure

WALL = "#3c3c3c"


def write(result: TrainResult, folder: Path, layout: Layout | None = None) -> list[str]:
    """train.parquet, train.png, rooms.png where there is a `layout`, and a folder of weights per
    run; returns their names.
    """
    runs = [f"run-{run}" for run in range(len(result.score))]
    pictures = ["train.png"] if layout is None else ["train.png", "rooms.png"]
    write_parquet(folder / "train.parquet", table(result))
    draw_curves(result, folder / "train.png")
    if layout is not None:
        draw_rooms(result, layout, folder / "rooms.png")
    for run, name in enumerate(runs):
        from_result(result, run).save(folder / name)
    return [str(folder / name) for name in ("train.parquet", *pictures, *runs)]


def table(result: TrainResult) -> dict[str, Any]:
    """Columns with one row per run and evaluation."""
    runs, evaluations = result.score.shape
    return {
        "run": np.repeat(np.arange(runs), evaluations),
        "episode": np.tile(result.episode, runs),
        "step": result.step.ravel(),
        "score": result.score.ravel(),
        "exact_score": result.exact_score.ravel(),
        "entropy": diagnostics.entropy(result).ravel(),
        "critic_error": diagnostics.critic_error(result).ravel(),
        "coverage": diagnostics.coverage(result).ravel(),
        "coverage_hyde": diagnostics.coverage(result, 1).ravel(),
    }


def draw_curves(result: TrainResult, path: Path) -> None:
    """Scores against training episodes: the mean with its 95 % interval, and every run's exact
    score.
    """
    figure, (axes,) = new_figure()
    axes.plot(result.episode, result.exact_score.T, color=BLUE, linewidth=0.5, alpha=0.4)
    for values, colour, dash, label in (
        (result.exact_score, BLUE, "-", "exact"),
        (result.score, RED, "--", "ten episodes"),
    ):
        mean, lo, hi = summarize(values, "mean")
        axes.plot(result.episode, mean, color=colour, linestyle=dash, label=label)
        axes.fill_between(result.episode, lo, hi, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(result.optimum, color="0.5", linewidth=0.8, linestyle=":")
    finish(
        axes,
        "training episodes",
        "score of the greedy policy",
        f"{result.agent} on {result.mdp.name} ({len(result.score)} runs)",
    )
    save_figure(figure, path)


def draw_rooms(result: TrainResult, layout: Layout, path: Path, run: int = 0) -> None:
    """Jekyll's policy and value in all cells at the end of a run, and how often Hyde (or the only
    personality) came there.
    """
    figure, (left, right) = new_figure(2, (9.0, 4.2))
    pi, q = result.pi[run, -1], result.q[run, -1]
    hyde = int(result.agent == "jekyll_hyde")
    for axes, values, title in (
        (left, (pi * q).sum(-1), f"policy and value, run {run}"),
        (
            right,
            np.log10(1 + result.arrivals[run, -1, hyde]),
            f"visits of {('the agent', 'Hyde')[hyde]} (log scale)",
        ),
    ):
        grid = np.full(layout.free.shape, np.nan)
        grid[tuple(layout.cell.T)] = values
        grid[tuple(layout.cell[layout.goal])] = np.nan
        axes.set_facecolor(WALL)
        figure.colorbar(axes.imshow(grid, cmap="viridis"), ax=axes, shrink=0.8)
        axes.plot(*layout.cell[layout.goal][::-1], marker="*", color=RED, markersize=12)
        axes.set_title(title, fontsize="medium")
        axes.set(xticks=[], yticks=[])
    draw_policy(left, np.delete(pi, layout.goal, axis=0), np.delete(layout.cell, layout.goal, 0))
    save_figure(figure, path)


def draw_policy(axes: Any, pi: Any, cells: Any, colour: str = "white") -> None:
    """An arrow in each of the `cells` [n, 2], as long and in the direction as pi [n, 4] moves."""
    down, right = (pi @ MOVES).T
    axes.quiver(
        *cells.T[::-1],
        right,
        down,
        angles="xy",
        scale=1.4,
        scale_units="xy",
        width=0.006,
        color=colour,
        pivot="middle",
    )
