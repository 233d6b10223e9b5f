"""A run's curves as a Parquet table and as a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.plan_run import PlanRun

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MOST_POINTS = 2000


def label(run: PlanRun) -> str:
    """The name of a run in tables and legends: `PG`, `undiscounted`, `uniform`, `o=0.5`, with lam
    where it is used.
    """
    density, o, lam = run.settings["density"], run.settings["o"], run.settings["lam"]
    name = {"pg": "PG", "mixture": f"o={o}"}.get(density, density)
    return f"{name} lam={lam:g}" if lam else name


def normalized(run: PlanRun) -> Floats:
    """J_norm, or NaN where this MDP's normalized return is undefined."""
    try:
        return run.J_norm
    except InputError:
        return np.full_like(run.J, np.nan)


def prepare_folder(folder: Path) -> Path:
    """Make sure, before any work is done, that results can be written to `folder`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"out is {str(folder)!r}; it cannot be written to ({error.strerror or error})"
        ) from None
    return folder


def write_parquet(runs: Sequence[PlanRun], path: Path) -> None:
    """One row per run and evaluated count: series, parametrization, density, o, eta, lam,
    convention, t, J, J_norm.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = []
    for run in runs:
        count = len(run.J)
        columns = {"series": pa.array([label(run)] * count)}
        for name in ("mdp", "parametrization", "density", "o", "eta", "lam", "convention"):
            columns[name] = pa.array(
                [run.settings[name]] * count, pa.float64() if name == "lam" else pa.string()
            )
        columns |= {
            "t": pa.array(np.arange(count)),
            "J": pa.array(run.J),
            "J_norm": pa.array(normalized(run)),
        }
        tables.append(pa.table(columns))
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(pa.concat_tables(tables), partial)
    partial.replace(path)


def draw(runs: Sequence[PlanRun], path: Path) -> None:
    """Normalized return against updates, one line per run."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib; install jekyllhyde[plot]") from None
    figure = Figure(figsize=(5.0, 3.2), dpi=200, layout="constrained")
    axes = figure.subplots()
    for i, run in enumerate(runs):
        J = normalized(run)
        shown = np.unique(np.linspace(0, len(J) - 1, MOST_POINTS).astype(int))
        axes.plot(shown, J[shown], color=COLOURS[i % 7], linestyle=DASHES[i % 7], label=label(run))
    axes.axhline(1.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel("updates")
    axes.set_ylabel("normalized return")
    axes.set_title(runs[0].settings["mdp"], fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path)
