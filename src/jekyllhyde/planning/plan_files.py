"""What `jh plan --out` writes: the runs' curves as a Parquet table and as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import plotting
from jekyllhyde.errors import InputError
from jekyllhyde.files import write_parquet
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.plan_run import PlanRun


def _label(run: PlanRun) -> str:
    # The name of a run in tables and legends: `PG`, `undiscounted`, `uniform`, `o=0.5`, with lam
    # where it is used.
    density, lam = run.settings["density"], run.settings["lam"]
    name = {"pg": "PG", "mixture": f"o={run.settings['o']}"}.get(density, density)
    return f"{name} lam={lam:g}" if lam else name


def _normalized(run: PlanRun) -> Floats:
    # J_norm, or NaN where this MDP's normalized return is undefined.
    try:
        return run.J_norm
    except InputError:
        return np.full_like(run.J, np.nan)


def summarize(run: PlanRun) -> dict[str, Any]:
    """How a run ended, by name."""
    J_norm = float(_normalized(run)[-1])
    names = () if run.target is None else ("target", "time_to_target", "censored")
    return {
        "series": _label(run),
        "parametrization": run.settings["parametrization"],
        "eta": run.settings["eta"],
        "updates": run.updates,
        "J": float(run.J[-1]),
        "J_norm": None if np.isnan(J_norm) else J_norm,
        "solver": run.solver,
        **{name: getattr(run, name) for name in names},
    }


def write(runs: Sequence[PlanRun], folder: Path) -> list[str]:
    """plan.parquet, one row per run and evaluated count, and plan.png; returns their paths."""
    import pyarrow as pa

    names = ("mdp", "parametrization", "density", "o", "eta", "lam", "convention")
    kinds = dict.fromkeys(names, pa.string()) | {"lam": pa.float64()}
    tables = [
        pa.table(
            {
                "series": [_label(run)] * len(run.J),
                **{
                    name: pa.array([run.settings[name]] * len(run.J), kind)
                    for name, kind in kinds.items()
                },
                "t": np.arange(len(run.J)),
                "J": run.J,
                "J_norm": _normalized(run),
            }
        )
        for run in runs
    ]
    files = folder / "plan.parquet", folder / "plan.png"
    write_parquet(files[0], pa.concat_tables(tables))
    lines = {_label(run): (np.arange(len(run.J)), _normalized(run)) for run in runs}
    plotting.draw_lines(lines, "updates", "normalized return", runs[0].settings["mdp"], files[1])
    return list(map(str, files))
