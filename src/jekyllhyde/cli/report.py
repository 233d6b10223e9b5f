"""`jh report`: one interactive page on what a store has of the paper's figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from jekyllhyde.cli.figure import chosen, sized
from jekyllhyde.cli.show import Progress
from jekyllhyde.errors import InputError


@dataclass(frozen=True)
class Report:
    """Write an interactive HTML report on stored runs of the paper's figures: charts, claims,
    differences, provenance.
    """

    panels: tyro.conf.Positional[tuple[str, ...]] = ("all",)
    """Panels such as 2a 11b, whole figures such as 5, or all; those that the store lacks runs for
    are listed as not made.
    """
    store: Path = Path("jh-store")
    """The store's folder."""
    preset: str = "paper"
    """The size at which the figures were made: paper or quick."""
    out: Path = Path("report.html")
    """The file to write."""
    json: bool = False
    """Print one JSON object instead of the summary."""

    def run(self) -> int:
        """Read what is there and write the page."""
        from jekyllhyde.lab import report
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.panel import read
        from jekyllhyde.lab.store import Store

        store = Store.open(self.store)
        names = chosen(self.panels, list(PANELS))
        panels = {name: sized(PANELS[name], self.preset, None) for name in names}
        made = [name for name in names if report.has(store, panels[name])]
        skipped = [name for name in names if name not in made]
        if not made:
            raise InputError(
                f"store is {str(self.store)!r}; it lacks runs for {', '.join(skipped)}, make some with jh figure"
            )
        curves = []
        with Progress(len(made), "panels") as advance:
            for name in made:
                curves.append(read(panels[name], store))
                advance(1)
        path = report.write(curves, self.out, store, skipped)
        if self.json:
            print(
                json.dumps(
                    {
                        "file": str(path),
                        "runs": {one.panel.name: one.runs for one in curves},
                        "not_made": skipped,
                    }
                )
            )
            return 0
        print(
            f"panels: {', '.join(made)}"
            + (f"\nnot made, for lack of runs: {', '.join(skipped)}" if skipped else "")
        )
        print(path)
        return 0
