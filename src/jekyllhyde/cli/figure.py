"""`jh figure`: the paper's figures, those of exploration and the user's own, with their numbers and
verdicts; and `jh report`: one interactive page on what a store has of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

import jekyllhyde as jh
from jekyllhyde import references
from jekyllhyde.cli.console import say, show_table
from jekyllhyde.cli.laboratory import Lab, compute, hint, with_runs
from jekyllhyde.errors import check_choice, missing, need, require
from jekyllhyde.files import prepare_folder
from jekyllhyde.progress_bar import progress_bar


@dataclass(frozen=True)
class Figure:
    """Make figures of the paper, or of the exploration experiments: picture, numbers with
    intervals, and a verdict on each claim.
    """

    # Panels such as 2a 6d, whole figures such as 5, all of the paper's (all), exploration or one of
    # its panels such as exploration-peers, or one's own: file.py:NAME, where NAME is a Panel or a
    # tuple of them.
    panels: Annotated[
        tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(help_behavior_hint="(required)")
    ]
    # Options of the laboratory.
    lab: Annotated[Lab, tyro.conf.arg(name="lab")] = field(default_factory=Lab)
    # Runs per point.
    runs: Annotated[int | None, hint("the preset's")] = None
    # paper (full size; hours for all) or quick (10 runs, 11 points per axis).
    preset: str = "paper"
    # Folder for P.png, P.pdf, P.csv and P.claims.json of each panel P.
    out: Path = Path("out")
    # Print one JSON object instead of the tables.
    json: bool = False

    def run(self) -> None:
        from jekyllhyde.lab.exploration.panels import PANELS as EXPLORATION
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.figures.drawings import DRAWINGS

        chosen = find_panels(self.panels, {**DRAWINGS, **PANELS}, EXPLORATION)
        drawings = [name for name in chosen if name in DRAWINGS]
        panels = {name: panel for name, panel in chosen.items() if name not in drawings}
        made, absent = ready(panels, self.preset, self.runs)
        for module, names in absent.items():
            if "all" not in self.panels:
                need(panels[names[0]].method.extra)
            say(f"left out, for lack of {module}: {', '.join(names)}", error=True)
        if self.lab.dry_run:
            compute(self.lab, [panel.experiment for panel in made.values()], " ".join(made))
            return
        need("plot")
        folder = prepare_folder(self.out)
        report: dict[str, Any] = {}
        for name in drawings:
            paths = folder / f"{name}.png", folder / f"{name}.pdf"
            DRAWINGS[name](*paths)
            report[name] = {"files": [str(path) for path in paths]}
        others, _ = ready({**PANELS, **panels}, self.preset, self.runs)
        if len(made) > 1:  # all runs first, for claims that set panels beside each other
            experiments = [panel.experiment for panel in made.values()]
            compute(self.lab, experiments, f"{len(made)} panels", quiet=self.json)
        report |= {name: self._make(panel, folder, others) for name, panel in made.items()}
        files = [file for entry in report.values() for file in entry["files"]]
        say(*([json.dumps(report)] if self.json else files))
        verdicts = [
            claim["verdict"] for entry in report.values() for claim in entry.get("claims", ())
        ]
        if verdicts and not self.json:
            say(f"{verdicts.count('supported')} of {len(verdicts)} claims hold")

    def _make(
        self, panel: jh.lab.Panel, folder: Path, others: Mapping[str, jh.lab.Panel]
    ) -> dict[str, Any]:
        # Compute what the store lacks of a panel, draw it and judge it.
        from jekyllhyde.lab.agreement import compare_with_published
        from jekyllhyde.lab.draw import write_panel
        from jekyllhyde.lab.judgement import from_store

        start = time.perf_counter()
        store = compute(self.lab, [panel.experiment], f"panel {panel.name}", quiet=self.json)
        assert store is not None
        curves = jh.lab.read(panel, store)
        claims = jh.lab.judge(curves, from_store(others, store))
        files = [str(path) for path in write_panel(curves, folder, claims)]
        seconds = time.perf_counter() - start
        records = [claim.record() for claim in claims]
        title = f"panel {panel.name}: {panel.title}, {curves.runs} runs ({seconds:.1f} s)"
        if claims and not self.json:
            rows = [{"id": c.id, "claim": c.claim, "verdict": c.verdict} for c in claims]
            show_table(title, rows)
        elif not self.json:
            say(title)
        agreement = compare_with_published(curves) if panel.published else None
        if agreement and not self.json:
            # fewer runs than the panel asks for may differ by chance
            is_whole = self.preset == "paper" and self.runs is None
            shown = agreement.text if is_whole or not agreement.points else agreement.numbers
            say(f"beside the paper: {shown}")
        return {
            "seconds": seconds,
            "runs": curves.runs,
            "files": files,
            "claims": records,
            "published": agreement and agreement.text,
        }


@dataclass(frozen=True)
class Report:
    """Write an interactive HTML report on stored runs of the paper's figures: charts, claims,
    differences, provenance.
    """

    # Panels such as 2a 11b, whole figures such as 5, one's own (file.py:NAME, or the file.toml of a
    # sweep), or all; those that the store lacks runs for are listed as not made.
    panels: tyro.conf.Positional[tuple[str, ...]] = ("all",)
    # The store's folder.
    store: Path = Path("jh-store")
    # The size at which the figures were made: paper or quick.
    preset: str = "paper"
    # The file to write.
    out: Path = Path("report.html")
    # Run the Python code that a sweep's file names.
    trust: bool = False
    # Print one JSON object instead of the summary.
    json: bool = False

    def run(self) -> None:
        from jekyllhyde.lab.exploration.panels import PANELS as EXPLORATION
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.html_page import write_page
        from jekyllhyde.lab.panel import has_runs

        need("plot")
        store = jh.lab.Store.open(self.store)
        sweeps = [name for name in self.panels if name.endswith(".toml")]
        panels = {panel.name: panel for panel in map(self._sweep, sweeps)}
        if others := tuple(name for name in self.panels if name not in sweeps):
            panels |= find_panels(others, PANELS, EXPLORATION)
        able, absent = ready(panels, self.preset)
        made = {name: panel for name, panel in able.items() if has_runs(panel, store)}
        absent["runs"] = [name for name in able if name not in made]
        skipped = {f"for lack of {what}": names for what, names in absent.items() if names}
        require(
            made,
            f"store is {str(self.store)!r}; it lacks runs for {', '.join(panels)}, make some "
            f"with jh {'sweep' if sweeps else 'figure'}",
        )
        curves = []
        with progress_bar(len(made), "panels") as advance:
            for panel in made.values():
                curves.append(jh.lab.read(panel, store))
                advance(1)
        path = write_page(curves, self.out, store, skipped)
        if self.json:
            report = {
                "file": str(path),
                "runs": {shown.panel.name: shown.runs for shown in curves},
                "not_made": [name for names in skipped.values() for name in names],
            }
            print(json.dumps(report))
        else:
            lines = [f"not made, {reason}: {', '.join(names)}" for reason, names in skipped.items()]
            say(f"panels: {', '.join(made)}", *lines, str(path))

    def _sweep(self, file: str) -> jh.lab.Panel:
        return jh.lab.panel_of(jh.lab.Experiment.from_toml(file, trust=self.trust))


def ready(
    panels: Mapping[str, jh.lab.Panel], preset: str, runs: int | None = None
) -> tuple[dict[str, jh.lab.Panel], dict[str, list[str]]]:
    """The panels that can be made, at the size asked for, and the names of the others by the module
    that they lack.
    """
    check_choice(preset, "preset", ("paper", "quick"))
    lacks = {name: [*missing(panel.method.extra), ""][0] for name, panel in panels.items()}
    absent = {
        module: [name for name in lacks if lacks[name] == module]
        for module in lacks.values()
        if module
    }
    made = {
        name: panel if panel.exact else sized(panel, preset, runs)
        for name, panel in panels.items()
        if not lacks[name]
    }
    return made, absent


def sized(panel: jh.lab.Panel, preset: str, runs: int | None) -> jh.lab.Panel:
    """The panel with as many points and runs as asked for."""
    experiment = panel.experiment
    if preset == "quick":
        experiment = experiment.scaled(runs=min(10, experiment.runs), points=11)
    return replace(panel, experiment=with_runs(experiment, runs))


def find_panels(
    wanted: tuple[str, ...], paper: Mapping[str, Any], exploration: Mapping[str, Any]
) -> dict[str, Any]:
    """What is meant by names, a figure's number, `all`, `exploration`, or file.py:NAME, by name."""
    names = ", ".join([*paper, *exploration])
    allowed = f"all, a figure's number, exploration, file.py:NAME, or one of {names}"
    require(wanted, f"no figure is given; it must be {allowed}")
    panels: dict[str, Any] = {}
    for name in wanted:
        meant = (
            _own_panels(name)
            if references.is_reference(name)
            else {
                key: panel
                for key, panel in paper.items()
                if name in ("all", key)
                or (name.isdigit() and name == key.rstrip("abcdefghijklmnopqrstuvwxyz-"))
            }
            | {key: panel for key, panel in exploration.items() if name in ("exploration", key)}
        )
        require(meant, f"figure is {name!r}; it must be {allowed}")
        panels |= meant
    return panels


def _own_panels(reference: str) -> dict[str, Any]:
    # The panels that "file.py:NAME" names; the files that they refer to are found beside it.
    def is_figure(value: Any) -> bool:
        panels = value if isinstance(value, (tuple, list)) else (value,)
        return bool(panels) and all(isinstance(panel, jh.lab.Panel) for panel in panels)

    loaded = references.load_value("figure", reference, is_figure, "Panel (or tuple of Panels)")
    folder = Path(reference.rpartition(":")[0]).resolve().parent
    return {
        panel.name: replace(panel, experiment=replace(panel.experiment, folder=folder))
        if isinstance(panel.experiment, jh.Experiment) and panel.experiment.folder == Path()
        else panel
        for panel in (loaded if isinstance(loaded, (tuple, list)) else (loaded,))
    }
