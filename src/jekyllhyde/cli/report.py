"""`jh report`: one interactive page on what a store has of the paper's figures."""

import json
from dataclasses import dataclass
from pathlib import Path

import tyro

from jekyllhyde.cli.figure import find_panels, sized, with_extras
from jekyllhyde.cli.show import progress_bar
from jekyllhyde.errors import InputError, need


@dataclass(frozen=True)
class Report:
    """Write an interactive HTML report on stored runs of the paper's figures: charts, claims,
    differences, provenance.
    """

    # Panels such as 2a 11b, whole figures such as 5, one's own (file.py:NAME), or all; those that
    # the store lacks runs for are listed as not made.
    panels: tyro.conf.Positional[tuple[str, ...]] = ("all",)
    # The store's folder.
    store: Path = Path("jh-store")
    # The size at which the figures were made: paper or quick.
    preset: str = "paper"
    # The file to write.
    out: Path = Path("report.html")
    # Print one JSON object instead of the summary.
    json: bool = False

    def run(self) -> int:
        """Read what is there and write the page."""
        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.lab.html_page import write_page
        from jekyllhyde.lab.panel import has_runs, read
        from jekyllhyde.lab.store import Store

        need("plot")
        store = Store.open(self.store)
        chosen = find_panels(self.panels, PANELS)
        panels = {name: sized(panel, self.preset) for name, panel in chosen.items()}
        able, absent = with_extras(panels)
        made = {name: panel for name, panel in able.items() if has_runs(panel, store)}
        lacking = absent | {"runs": [name for name in able if name not in made]}
        skipped = {f"for lack of {what}": names for what, names in lacking.items() if names}
        if not made:
            raise InputError(
                f"store is {str(self.store)!r}; it lacks runs for {', '.join(panels)}, make some "
                "with jh figure"
            )
        curves = []
        with progress_bar(len(made), "panels") as advance:
            for panel in made.values():
                curves.append(read(panel, store))
                advance(1)
        path = write_page(curves, self.out, store, skipped)
        not_made = [name for names in skipped.values() for name in names]
        if self.json:
            runs = {shown.panel.name: shown.runs for shown in curves}
            print(json.dumps({"file": str(path), "runs": runs, "not_made": not_made}))
            return 0
        print(f"panels: {', '.join(made)}")
        for reason, names in skipped.items():
            print(f"not made, {reason}: {', '.join(names)}")
        print(path)
        return 0
