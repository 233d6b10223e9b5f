"""What a training leaves on disk: curves as a Parquet table and a picture, the rooms as a picture,
weights as safetensors.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jekyllhyde.deep import diagnostics
from jekyllhyde.deep.training import TrainResult
from jekyllhyde.errors import InputError

if TYPE_CHECKING:
    from jekyllhyde.mdp.rooms import Layout

BLUE, ORANGE, WALL = "#0072B2", "#D55E00", "#3c3c3c"
ARROWS = (
    (0, -1),
    (1, 0),
    (0, 1),
    (-1, 0),
)  # North, East, South, West on a picture whose rows go down


def write(result: TrainResult, folder: Path, layout: Layout | None = None) -> list[str]:
    """train.parquet, train.png, rooms.png where there is a `layout`, and a folder of weights per
    run; returns their names.
    """
    from jekyllhyde.deep.host import from_result

    _parquet(result, folder / "train.parquet")
    draw_curves(result, folder / "train.png")
    files = [folder / "train.parquet", folder / "train.png"]
    if layout is not None:
        draw_rooms(result, layout, folder / "rooms.png")
        files.append(folder / "rooms.png")
    for run in range(len(result.score)):
        files.append(folder / f"run-{run}")
        from_result(result, run).save(files[-1])
    return [str(file) for file in files]


def _parquet(result: TrainResult, path: Path) -> None:
    """One row per run and evaluation."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    runs, evaluations = result.score.shape
    columns: dict[str, Any] = {
        "run": np.repeat(np.arange(runs), evaluations),
        "episode": np.tile(result.episode, runs),
        "step": result.step,
        "score": result.score,
        "exact_score": result.exact_score,
        "entropy": diagnostics.entropy(result),
        "critic_error": diagnostics.critic_error(result),
        "coverage": diagnostics.coverage(result),
        "coverage_hyde": diagnostics.coverage(result, 1),
    }
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(pa.table({name: np.ravel(values) for name, values in columns.items()}), partial)
    partial.replace(path)


def draw_curves(result: TrainResult, path: Path) -> None:
    """Scores against training episodes: mean, one standard deviation, and every run's exact score."""
    figure, axes = _figure(1, (5.0, 3.2))
    axes[0].plot(result.episode, result.exact_score.T, color=BLUE, linewidth=0.5, alpha=0.4)
    for values, colour, dash, label in (
        (result.exact_score, BLUE, "-", "exact"),
        (result.score, ORANGE, "--", "ten episodes"),
    ):
        mean, deviation = values.mean(0), values.std(0)
        axes[0].plot(result.episode, mean, color=colour, linestyle=dash, label=label)
        axes[0].fill_between(
            result.episode,
            mean - deviation,
            mean + deviation,
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    axes[0].axhline(result.optimum, color="0.5", linewidth=0.8, linestyle=":")
    axes[0].set(xlabel="training episodes", ylabel="score of the greedy policy")
    axes[0].set_title(
        f"{result.agent} on {result.mdp.name} ({len(result.score)} runs)", fontsize="medium"
    )
    axes[0].spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize="small")
    figure.savefig(path)


def draw_rooms(result: TrainResult, layout: Layout, path: Path, run: int = 0) -> None:
    """Jekyll's policy and value in all cells at the end of a run, and how often Hyde (or the only
    personality) came there.
    """
    figure, axes = _figure(2, (9.0, 4.2))
    pi, q = result.pi[run, -1], result.q[run, -1]
    hyde = int(result.agent == "jekyll_hyde")
    visits = result.arrivals[run, -1, hyde]
    titles = (
        f"policy and value, run {run}",
        f"visits of {'Hyde' if hyde else 'the agent'} (log scale)",
    )
    for one, values, title in zip(
        axes, ((pi * q).sum(-1), np.log10(1 + visits)), titles, strict=True
    ):
        grid = np.full(layout.free.shape, np.nan)
        grid[tuple(layout.cell.T)] = values
        grid[tuple(layout.cell[layout.goal])] = np.nan
        one.set_facecolor(WALL)
        shown = one.imshow(grid, cmap="viridis")
        figure.colorbar(shown, ax=one, shrink=0.8)
        one.plot(*layout.cell[layout.goal][::-1], marker="*", color=ORANGE, markersize=12)
        one.set_title(title, fontsize="medium")
        one.set(xticks=[], yticks=[])
    direction = pi @ np.array(ARROWS)
    rows, columns = np.delete(layout.cell, layout.goal, axis=0).T
    u, v = np.delete(direction, layout.goal, axis=0).T
    axes[0].quiver(
        columns,
        rows,
        u,
        v,
        angles="xy",
        scale=1.4,
        scale_units="xy",
        width=0.006,
        color="white",
        pivot="middle",
    )
    figure.savefig(path)


def _figure(columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib; install jekyllhyde[plot]") from None
    figure = Figure(figsize=size, dpi=200, layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]
