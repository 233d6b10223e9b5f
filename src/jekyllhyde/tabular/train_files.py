"""What `jh train --out` writes of runs on a known model: a Parquet table and a picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import plotting
from jekyllhyde.files import write_parquet
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
