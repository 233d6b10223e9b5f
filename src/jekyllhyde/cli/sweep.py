"""`jh sweep`: an experiment of one's own, from a TOML file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from jekyllhyde.cli.lab import Lab, compute
from jekyllhyde.cli.show import show_table
from jekyllhyde.errors import check_count


@dataclass(frozen=True)
class Sweep:
    """Run the experiment that a TOML file describes, and draw it with intervals."""

    file: tyro.conf.Positional[Path]
    """The experiment; the documentation's page on own experiments says what it may hold."""
    lab: Annotated[Lab, tyro.conf.arg(name="lab")] = field(default_factory=Lab)
    runs: int | None = None
    """Runs per point, instead of the file's."""
    out: Path = Path("out")
    """Folder for NAME.png, NAME.pdf and NAME.csv."""
    json: bool = False
    """Print one JSON object instead of the table."""

    def run(self) -> int:
        """Compute what the store lacks, draw, and print the points."""
        from jekyllhyde.files import prepare_folder
        from jekyllhyde.lab import output
        from jekyllhyde.lab.panel import panel_of, read
        from jekyllhyde.lab.spec import Experiment

        experiment = Experiment.from_toml(self.file)
        if self.runs is not None:
            experiment = replace(experiment, runs=check_count(self.runs, "runs", 1))
        folder = self.out if self.lab.dry_run else prepare_folder(self.out)
        store = compute(self.lab, [experiment], experiment.name, quiet=self.json)
        if store is None:
            return 0
        curves = read(panel_of(experiment), store)
        files = [str(path) for path in output.write(curves, folder)[:3]]
        points = range(len(curves.x)) if curves.panel.kind != "curve" else [len(curves.x) - 1]
        rows = [
            {
                "series": label,
                curves.panel.xlabel: float(curves.x[i]),
                "mean": float(curves.y[label][i]),
                "lo": float(curves.lo[label][i]),
                "hi": float(curves.hi[label][i]),
                "censored": float(curves.censored[label][i]),
            }
            for label in curves.y
            for i in points
        ]
        if self.json:
            failed = sum(curves.failures.values())
            print(
                json.dumps(
                    {
                        "name": experiment.name,
                        "runs": curves.runs,
                        "failed": failed,
                        "points": rows,
                        "files": files,
                    }
                )
            )
            return 0
        show_table(
            f"{experiment.name}: {curves.panel.ylabel} ({curves.runs} runs, 95 % intervals)", rows
        )
        print("\n".join(files))
        return 0
