"""`jh figure`: the paper's figures, with their numbers and verdicts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jekyllhyde.cli.lab import Lab, compute, show_claims
from jekyllhyde.errors import InputError, check_choice, check_count

if TYPE_CHECKING:
    from jekyllhyde.lab.panel import Panel

PRESETS = ("paper", "quick")


@dataclass(frozen=True)
class Figure:
    """Make figures of the paper: picture, numbers with intervals, and a verdict on each claim."""

    panels: tyro.conf.Positional[tuple[str, ...]]
    """Panels such as 2a 6d, whole figures such as 5, or all."""
    lab: Annotated[Lab, tyro.conf.arg(name="lab")] = field(default_factory=Lab)
    runs: int | None = None
    """Runs per point, instead of the preset's."""
    preset: str = "paper"
    """paper (full size; hours for all) or quick (10 runs, 11 points per axis)."""
    out: Path = Path("out")
    """Folder for P.png, P.pdf, P.csv and P.claims.json of each panel P."""
    json: bool = False
    """Print one JSON object instead of the tables."""

    def run(self) -> int:
        """Compute, draw and judge."""
        from jekyllhyde.files import prepare_folder
        from jekyllhyde.lab import output
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.figures.drawings import DRAWINGS
        from jekyllhyde.lab.panel import judge, read

        check_choice(self.preset, "preset", PRESETS)
        names = chosen(self.panels, [*DRAWINGS, *PANELS])
        panels = [sized(PANELS[name], self.preset, self.runs) for name in names if name in PANELS]
        if self.lab.dry_run:
            compute(
                self.lab,
                [panel.experiment for panel in panels],
                " ".join(panel.name for panel in panels),
            )
            return 0
        folder = prepare_folder(self.out)
        report: dict[str, Any] = {}
        for name in names:
            if name in DRAWINGS:
                DRAWINGS[name](folder / f"{name}.png", folder / f"{name}.pdf")
                report[name] = {
                    "files": [str(folder / f"{name}.{ending}") for ending in ("png", "pdf")]
                }
                continue
            panel = sized(PANELS[name], self.preset, self.runs)
            start = time.perf_counter()
            store = compute(self.lab, [panel.experiment], f"panel {name}", quiet=self.json)
            assert store is not None
            curves = read(panel, store)
            files = [str(path) for path in output.write(curves, folder)]
            claims = judge(curves)
            report[name] = {
                "seconds": time.perf_counter() - start,
                "runs": curves.runs,
                "files": files,
                "claims": claims,
            }
            if not self.json:
                show_claims(
                    f"panel {name}: {panel.title}, {curves.runs} runs ({report[name]['seconds']:.1f} s)",
                    claims,
                )
        if self.json:
            print(json.dumps(report))
        else:
            print("\n".join(file for one in report.values() for file in one["files"]))
        return 0


def sized(panel: Panel, preset: str, runs: int | None) -> Panel:
    """The panel at the size asked for; an exact one has only one."""
    experiment = panel.experiment
    if panel.exact:
        return panel
    if check_choice(preset, "preset", PRESETS) == "quick":
        experiment = experiment.scaled(runs=min(10, experiment.runs), points=11)
    if runs is not None:
        experiment = replace(experiment, runs=check_count(runs, "runs", 1))
    return replace(panel, experiment=experiment)


def chosen(wanted: tuple[str, ...], names: list[str]) -> list[str]:
    """The panels meant by their names, by a figure's number, or by `all`."""
    found: dict[str, None] = {}
    for one in wanted:
        meant = [
            name
            for name in names
            if one in ("all", name)
            or (one.isdigit() and name.rstrip("abcdefghijklmnopqrstuvwxyz-") == one)
        ]
        if not meant:
            raise InputError(
                f"figure is {one!r}; it must be all, a figure's number, or one of {', '.join(names)}"
            )
        found |= dict.fromkeys(meant)
    if not found:
        raise InputError(
            f"no figure is given; it must be all, a figure's number, or one of {', '.join(names)}"
        )
    return list(found)
