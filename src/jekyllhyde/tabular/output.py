"""A learner's curves as a Parquet table and as a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.tabular.learn_run import LearnRun

if TYPE_CHECKING:
    from jekyllhyde.tabular.stepwise import Episodes

COLUMNS = (
    "J",
    "J_norm",
    "J_jekyll",
    "J_norm_jekyll",
    "epsilon",
    "steps",
    "hyde_trajectories",
    "least_count",
    "unvisited",
)
WINDOW = 100


def final(result: LearnRun, which: str) -> Floats:
    """Each run's last evaluated normalized return [R]: the "global" one or "jekyll"'s."""
    values = result.J_norm if which == "global" else result.J_norm_jekyll
    last = values.shape[1] - 1 - np.argmax(~np.isnan(values[:, ::-1]), axis=1)
    return values[np.arange(len(values)), last]


def write(result: LearnRun, folder: Path) -> list[str]:
    """train.parquet, one row per run and evaluation until the run stopped, and train.png, mean with
    95 % interval.
    """
    runs, evaluations = result.J.shape
    kept = ~np.isnan(result.J_jekyll).ravel()
    table: dict[str, Any] = {
        "run": np.repeat(np.arange(runs), evaluations)[kept],
        "trajectories": np.tile(result.trajectories, runs)[kept],
    }
    table |= {name: getattr(result, name).ravel()[kept] for name in COLUMNS}
    _write_parquet(table, folder / "train.parquet")
    curves = {which: result.curve(which) for which in ("global", "jekyll")}
    lines = {
        name: (result.trajectories, *curves[which])
        for name, which in (("global", "global"), ("Jekyll", "jekyll"))
    }
    title = f"{result.settings['agent']} on {result.settings['mdp']} ({runs} runs)"
    _draw(lines, "trajectories", "normalized return", title, folder / "train.png")
    return [str(folder / "train.parquet"), str(folder / "train.png")]


def write_episodes(episodes: Sequence[Episodes], folder: Path) -> list[str]:
    """train.parquet, one row per run and episode, and train.png, the running mean of returns
    against steps, averaged over runs.
    """
    table = {
        "run": np.concatenate([np.full(len(one.returns), run) for run, one in enumerate(episodes)]),
        "episode": np.concatenate([np.arange(len(one.returns)) for one in episodes]),
        "return": np.concatenate([one.returns for one in episodes]),
        "length": np.concatenate([one.lengths for one in episodes]),
        "hyde": np.concatenate([one.hyde for one in episodes]),
    }
    _write_parquet(table, folder / "train.parquet")
    least = min((int(one.lengths.sum()) for one in episodes), default=0)
    grid = np.linspace(0, least, 200)
    smooth = np.array(
        [
            np.interp(grid, np.cumsum(one.lengths), _running_mean(one.returns))
            for one in episodes
            if len(one.returns)
        ]
    )
    mean, width = (
        smooth.mean(axis=0),
        1.96 * smooth.std(axis=0, ddof=min(1, len(smooth) - 1)) / np.sqrt(len(smooth)),
    )
    lines = {f"mean of the last {WINDOW} episodes": (grid, mean, mean - width, mean + width)}
    _draw(lines, "environment steps", "return", f"{len(episodes)} runs", folder / "train.png")
    return [str(folder / "train.parquet"), str(folder / "train.png")]


def _running_mean(values: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    end = np.arange(1, len(values) + 1)
    start = np.maximum(end - WINDOW, 0)
    return (total[end] - total[start]) / (end - start)


def _write_parquet(columns: dict[str, Any], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    partial = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(pa.table(columns), partial)
    partial.replace(path)


def _draw(
    lines: dict[str, tuple[Any, ...]], xlabel: str, ylabel: str, title: str, path: Path
) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib; install jekyllhyde[plot]") from None
    from jekyllhyde.planning.output import COLOURS, DASHES

    figure = Figure(figsize=(5.0, 3.2), dpi=200, layout="constrained")
    axes = figure.subplots()
    for i, (label, (x, y, lo, hi)) in enumerate(lines.items()):
        axes.plot(x, y, color=COLOURS[i], linestyle=DASHES[i], label=label)
        axes.fill_between(x, lo, hi, color=COLOURS[i], alpha=0.2, linewidth=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path)
