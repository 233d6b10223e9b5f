"""Write the pages docs/figures.md and docs/claims.md, and their pictures, from docs/results alone.

python docs/figures/page.py

`docs/figures/paper.py` fills docs/results from stores of runs. Nothing on the pages is typed by
hand but the plain words about each figure, which have no numbers in them.
"""

from __future__ import annotations

from collections.abc import Mapping

from claims_page import claims_page
from deep_tables import (
    best_table,
    claims_of_figure3,
    conventions_table,
    figure3_table,
    read,
    sweep_seeds,
    sweeps_table,
)
from figures_page import figures_page
from results_tables import fit_table, readings_table, runs_table, speed_table
from stored_results import DOCS, PICTURES, RESULTS, Result, read_results

from jekyllhyde.lab.draw import draw
from jekyllhyde.lab.figures.drawings import DRAWINGS
from jekyllhyde.lab.interval_drawing import interval_svg


def main() -> None:
    results = read_results()
    write_pictures(results)
    (DOCS / "figures.md").write_text(figures_page(results))
    (DOCS / "claims.md").write_text(claims_page(results))
    (RESULTS / "runs.md").write_text(runs_table(results))
    (RESULTS / "speed-settings.md").write_text(speed_table())
    (RESULTS / "fit.md").write_text(fit_table(results))
    (RESULTS / "readings.md").write_text(readings_table(results))
    (RESULTS / "figure3.md").write_text(figure3_table(read("figure3")))
    (RESULTS / "figure3-claims.md").write_text(claims_of_figure3(results))
    (RESULTS / "deep-sweeps.md").write_text(sweeps_table(read("sweeps")))
    (RESULTS / "deep-best.md").write_text(best_table(sweep_seeds()))
    (RESULTS / "deep-conventions.md").write_text(conventions_table(read("conventions")))


def write_pictures(results: Mapping[str, Result]) -> None:
    """The panels, the drawings of the domains, and the small drawings of the claims."""
    for name, drawing in DRAWINGS.items():
        drawing(PICTURES / f"figure-{name}.png")
    folder = PICTURES / "claims"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name, result in results.items():
        draw(result.curves, PICTURES / f"figure-{name}.png")
        for claim in result.claims:
            if svg := interval_svg(claim.get("parts", ())):
                (folder / f"{claim['id']}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    main()
