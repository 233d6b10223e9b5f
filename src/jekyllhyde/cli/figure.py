"""`jh figure`: the paper's figures, those of exploration and the user's own, with their numbers and
verdicts; and `jh report`: one interactive page on what a store has of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

import jekyllhyde as jh
from jekyllhyde.cli.console import prepare_out, say, show_table
from jekyllhyde.cli.laboratory import Lab, compute, hint
from jekyllhyde.cli.panels import find_panels, ready
from jekyllhyde.errors import need, require
from jekyllhyde.progress_bar import progress_bar

if TYPE_CHECKING:
    from jekyllhyde.lab.stored_numbers import Numbers

Entry = dict[str, Any]  # of a panel in the JSON report


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
    # Folder that has P.csv and P.claims.json of each panel P, as this command writes them, or
    # docs/results: draw these again, and compute nothing.
    numbers: Annotated[Path | None, hint("none, runs are made", "PATH")] = None
    # Folder for P.png, P.pdf, P.csv and P.claims.json of each panel P.
    out: Path = Path("out")
    # Print one JSON object instead of the tables.
    json: bool = False

    def run(self) -> None:
        from jekyllhyde.lab.exploration.panels import PANELS as EXPLORATION
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.figures.drawings import DRAWINGS

        chosen = find_panels(self.panels, {**DRAWINGS, **PANELS}, EXPLORATION)
        panels = {name: panel for name, panel in chosen.items() if name not in DRAWINGS}
        if self.numbers is not None:
            makes = self._stored(panels, self.numbers)
        elif self.lab.dry_run:
            made = self._able(panels)
            compute(self.lab, [panel.experiment for panel in made.values()], " ".join(made))
            return
        else:
            makes = self._computed(panels, PANELS)
        report: dict[str, Entry] = {}
        for name in (name for name in chosen if name not in panels):
            paths = self.out / f"{name}.png", self.out / f"{name}.pdf"
            DRAWINGS[name](*paths)
            report[name] = {"files": [str(path) for path in paths]}
        report |= {name: make() for name, make in makes.items()}
        files = [file for entry in report.values() for file in entry["files"]]
        say(*([json.dumps(report)] if self.json else files))
        verdicts = [
            claim["verdict"] for entry in report.values() for claim in entry.get("claims", ())
        ]
        if verdicts and not self.json:
            say(f"{verdicts.count('supported')} of {len(verdicts)} claims hold")

    def _able(self, panels: Mapping[str, jh.lab.Panel]) -> dict[str, jh.lab.Panel]:
        # Those that can be computed here, at the size asked for.
        made, absent = ready(panels, self.preset, self.runs)
        for module, names in absent.items():
            if "all" not in self.panels:
                need(panels[names[0]].method.extra)
            say(f"left out, for lack of {module}: {', '.join(names)}", error=True)
        return made

    def _computed(
        self, panels: Mapping[str, jh.lab.Panel], paper: Mapping[str, jh.lab.Panel]
    ) -> dict[str, Callable[[], Entry]]:
        # How each panel is made of runs, those that the store lacks computed before.
        made = self._able(panels)
        others, _ = ready({**paper, **panels}, self.preset, self.runs)
        prepare_out(self.out)
        if len(made) > 1:  # all runs first, for claims that set panels beside each other
            experiments = [panel.experiment for panel in made.values()]
            compute(self.lab, experiments, f"{len(made)} panels", quiet=self.json)
        return {name: partial(self._make, panel, others) for name, panel in made.items()}

    def _stored(
        self, panels: Mapping[str, jh.lab.Panel], folder: Path
    ) -> dict[str, Callable[[], Entry]]:
        # How each panel is made of its numbers, all of them read before anything is written.
        from jekyllhyde.lab.stored_numbers import read_numbers

        flags = {**vars(self.lab), "runs": self.runs, "preset": self.preset}
        usual = {**vars(Lab()), "runs": None, "preset": Figure.preset}
        given = [f"--{name.replace('_', '-')}" for name in flags if flags[name] != usual[name]]
        where = f"numbers is {str(folder)!r}"
        require(not given, f"{where}, and what is there is only drawn; leave out {' '.join(given)}")
        stored = read_numbers(panels, folder)
        absent = [name for name in panels if name not in stored]
        asked = [name for name in absent if name in self.panels or not stored]
        require(not asked, f"{where}; it has no numbers of {', '.join(asked)}")
        if absent:
            say(f"left out, for lack of numbers: {', '.join(absent)}", error=True)
        prepare_out(self.out)
        return {name: partial(self._redraw, numbers) for name, numbers in stored.items()}

    def _make(self, panel: jh.lab.Panel, others: Mapping[str, jh.lab.Panel]) -> Entry:
        # Compute what the store lacks of a panel, draw it and judge it.
        from jekyllhyde.lab.draw import write_panel
        from jekyllhyde.lab.judgement import from_store

        start = time.perf_counter()
        store = compute(self.lab, [panel.experiment], f"panel {panel.name}", quiet=self.json)
        assert store is not None
        curves = jh.lab.read(panel, store)
        claims = jh.lab.judge(curves, from_store(others, store))
        files = write_panel(curves, self.out, claims)
        is_whole = self.preset == "paper" and self.runs is None
        return self._show(curves, [claim.record() for claim in claims], files, start, is_whole)

    def _redraw(self, numbers: Numbers) -> Entry:
        # Draw a panel from its numbers, with the verdicts of then.
        from jekyllhyde.lab.draw import write_files

        start, curves = time.perf_counter(), numbers.curves
        files = write_files(curves, self.out, numbers.text, numbers.claims)
        is_whole = curves.panel.exact or curves.runs >= curves.panel.experiment.runs
        entry = self._show(curves, numbers.claims, files, start, is_whole)
        if numbers.is_current is False and not self.json:
            say("these are runs of earlier settings")
        return entry | {"earlier_settings": numbers.is_current is False}

    def _show(
        self,
        curves: jh.lab.Curves,
        claims: Sequence[dict[str, Any]],
        files: Sequence[Path],
        start: float,
        is_whole: bool,
    ) -> Entry:
        # Say what a panel that was drawn comes to; fewer runs than it asks for may differ from the
        # paper by chance.
        from jekyllhyde.lab.agreement import compare_with_published

        panel, seconds = curves.panel, time.perf_counter() - start
        runs = f"{curves.runs} runs" if curves.runs else "runs not stated"
        title = f"panel {panel.name}: {panel.title}, {runs} ({seconds:.1f} s)"
        agreement = compare_with_published(curves) if panel.published else None
        if claims and not self.json:
            show_table(title, [{key: c[key] for key in ("id", "claim", "verdict")} for c in claims])
        elif not self.json:
            say(title)
        if agreement and not self.json:
            shown = agreement.text if is_whole or not agreement.points else agreement.numbers
            say(f"beside the paper: {shown}")
        return {
            "seconds": seconds,
            "runs": curves.runs or None,
            "files": [str(path) for path in files],
            "claims": list(claims),
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
