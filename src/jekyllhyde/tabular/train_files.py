"""What `jh train --out` writes: curves of runs, or episodes, as a Parquet table and a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import intervals, plotting
from jekyllhyde.agent import Episodes
from jekyllhyde.files import write_parquet
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.tabular.learn_run import LearnRun

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


def write(result: LearnRun, folder: Path) -> list[str]:
    """train.parquet, one row per run and evaluation until the run stopped, and train.png, mean with
    95 % interval.
    """
    runs, evaluations = result.J.shape
    kept = ~np.isnan(result.J_jekyll).ravel()
    table = {
        "run": np.repeat(np.arange(runs), evaluations)[kept],
        "trajectories": np.tile(result.trajectories, runs)[kept],
        **{name: getattr(result, name).ravel()[kept] for name in COLUMNS},
    }
    lines = {
        name: (result.trajectories, *result.curve(name.lower())) for name in ("global", "Jekyll")
    }
    title = f"{result.settings['agent']} on {result.settings['mdp']} ({runs} runs)"
    return _write(table, lines, ("trajectories", "normalized return", title), folder)


def write_episodes(runs: Sequence[Episodes], folder: Path) -> list[str]:
    """train.parquet, one row per run and episode, and train.png, the running mean of returns
    against steps, averaged over runs.
    """
    table = {
        "run": np.repeat(np.arange(len(runs)), [len(run.returns) for run in runs]),
        "episode": np.concatenate([np.arange(len(run.returns)) for run in runs]),
        "return": np.concatenate([run.returns for run in runs]),
        "length": np.concatenate([run.lengths for run in runs]),
        "hyde": np.concatenate([run.hyde for run in runs]),
    }
    ended = [run for run in runs if len(run.returns)]
    grid = np.linspace(0, min((int(run.lengths.sum()) for run in ended), default=0), 200)
    smooth = [np.interp(grid, run.lengths.cumsum(), _running_mean(run.returns)) for run in ended]
    mean = intervals.summarize(np.array(smooth or [np.full(len(grid), np.nan)]), "mean")
    lines = {f"mean of the last {WINDOW} episodes": (grid, *mean)}
    words = ("environment steps", "undiscounted return", f"{len(runs)} runs")
    return _write(table, lines, words, folder)


def _running_mean(values: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    end = np.arange(1, len(values) + 1)
    start = np.maximum(end - WINDOW, 0)
    return (total[end] - total[start]) / (end - start)


def _write(
    table: dict[str, Any],
    lines: Mapping[str, plotting.Line],
    words: tuple[str, str, str],
    folder: Path,
) -> list[str]:
    files = folder / "train.parquet", folder / "train.png"
    write_parquet(files[0], table)
    plotting.draw_lines(lines, *words, files[1])
    return list(map(str, files))
