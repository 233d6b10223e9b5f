"""`jh sweep`: an experiment of one's own, from a TOML file."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from jekyllhyde.cli.lab import Lab, compute
from jekyllhyde.cli.show import show_table
from jekyllhyde.errors import check_count, need
from jekyllhyde.files import prepare_folder


@dataclass(frozen=True)
class Sweep:
    """Run the experiment that a TOML file describes, and draw it with intervals."""

    # The experiment; the documentation's page on own experiments says what it may hold.
    file: tyro.conf.Positional[Path]
    # Options of the laboratory.
    lab: Annotated[Lab, tyro.conf.arg(name="lab")] = field(default_factory=Lab)
    # Runs per point, instead of the file's.
    runs: int | None = None
    # Folder for NAME.png, NAME.pdf and NAME.csv.
    out: Path = Path("out")
    # Print one JSON object instead of the table.
    json: bool = False

    def run(self) -> int:
        """Compute what the store lacks, draw, and print the points."""
        from jekyllhyde.lab.draw import write_panel
        from jekyllhyde.lab.panel import panel_of, read
        from jekyllhyde.lab.spec import Experiment

        experiment = Experiment.from_toml(self.file)
        if self.runs is not None:
            experiment = replace(experiment, runs=check_count(self.runs, "runs", 1))
        if not self.lab.dry_run:
            need("plot")
            prepare_folder(self.out)
        store = compute(self.lab, [experiment], experiment.name, quiet=self.json)
        if store is None:
            return 0
        curves = read(panel_of(experiment), store)
        files = [str(path) for path in write_panel(curves, self.out)]
        columns = {"mean": curves.y, "lo": curves.lo, "hi": curves.hi, "censored": curves.censored}
        rows = [
            {"series": label, curves.panel.xlabel: float(x)}
            | {name: float(values[tag][i]) for name, values in columns.items()}
            for tag, label in curves.labels.items()
            for i, x in enumerate(curves.x)
            if curves.panel.kind != "curve" or i + 1 == len(curves.x)
        ]
        name, runs = experiment.name, curves.runs
        if self.json:
            failed = sum(curves.failures.values())
            report = {"name": name, "runs": runs, "failed": failed, "points": rows, "files": files}
            print(json.dumps(report))
        else:
            show_table(f"{name}: {curves.panel.ylabel} ({runs} runs, 95 % intervals)", rows)
            print("\n".join(files))
        return 0
