"""What `jh plan --out` writes: the runs' curves as a Parquet table and as a picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jekyllhyde import plotting
from jekyllhyde.errors import InputError
from jekyllhyde.files import write_parquet
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.planning.plan_run import PlanRun


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


def write(runs: Sequence[PlanRun], folder: Path) -> list[str]:
    """plan.parquet, one row per run and evaluated count, and plan.png; returns their paths."""
    import pyarrow as pa

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
    write_parquet(folder / "plan.parquet", pa.concat_tables(tables))
    lines = {label(run): (np.arange(len(run.J)), normalized(run)) for run in runs}
    title = runs[0].settings["mdp"]
    plotting.draw_lines(lines, "updates", "normalized return", title, folder / "plan.png")
    return [str(folder / "plan.parquet"), str(folder / "plan.png")]
