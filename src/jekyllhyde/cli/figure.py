"""`jh figure`: the paper's figures, with their numbers and verdicts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from jekyllhyde.cli.show import Progress, show_table
from jekyllhyde.errors import InputError


@dataclass(frozen=True)
class Figure:
    """Make planning figures of the paper: picture, numbers with intervals, and a verdict on each claim."""

    panels: tyro.conf.Positional[tuple[str, ...]]
    """Panels such as 5a 6d, whole figures such as 5, or all."""
    runs: int | None = None
    """Random MDPs for Figure 7; the paper's size by default."""
    out: Path = Path("out")
    """Folder for P.png, P.pdf, P.csv and P.claims.json of each panel P."""
    json: bool = False
    """Print one JSON object instead of the tables."""

    def run(self) -> int:
        """`jh figure`."""
        from jekyllhyde.lab import output
        from jekyllhyde.lab.claims import judge
        from jekyllhyde.lab.panels import PANELS, Samples, run_panel
        from jekyllhyde.planning.output import prepare_folder

        names = [panel for wanted in self.panels for panel in PANELS if wanted in ("all", panel, panel[:-1])]
        for wanted in self.panels:
            if not any(wanted in ("all", panel, panel[:-1]) for panel in PANELS):
                raise InputError(f"figure is {wanted!r}; it must be all, or one of {', '.join(PANELS)}")
        folder = prepare_folder(self.out)
        report, samples = {}, Samples()
        for name in dict.fromkeys(names):
            panel = PANELS[name]
            start = time.perf_counter()
            with Progress(None, f"panel {name}") as advance:
                curves = run_panel(name, self.runs, advance, samples)
            files = [str(path) for path in output.write(curves, folder)]
            claims = judge(curves)
            report[name] = {"seconds": time.perf_counter() - start, "runs": curves.runs, "files": files, "claims": claims}
            if not self.json:
                show_table(f"panel {name}: {panel.title} ({report[name]['seconds']:.1f} s)", claims)
                print("\n".join(files))
        if self.json:
            print(json.dumps(report))
        return 0
