"""Draw every planning figure into docs/_static and write the page docs/figures.md with the verdicts.

python docs/figures/planning.py [runs]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from jekyllhyde.lab.claims import judge
from jekyllhyde.lab.output import draw
from jekyllhyde.lab.panels import PANELS, Samples, run_panel

DOCS = Path(__file__).resolve().parent.parent
HEAD = """# Figures

The paper's planning figures, made by `jh figure all` at the size below, with a verdict on each claim that the paper makes about
them. Figures 5 and 6 are exact; Figure 7 runs every series on the same {runs} random MDPs and shows 95 % intervals (bootstrap of
the mean, order statistics for the decile). This page is written by `docs/figures/planning.py`.
"""


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else None
    samples: Samples = {}
    parts, walls = [], []
    for name in PANELS:
        start = time.perf_counter()
        curves = run_panel(name, runs, samples=samples)
        walls.append((name, curves.runs, time.perf_counter() - start))
        draw(curves, DOCS / "_static" / f"figure-{name}.png")
        rows = [f"| {one['claim']} | **{one['verdict']}** | {one['measured']} |".replace("|S|", "\\|S\\|") for one in judge(curves)]
        table = "\n".join(["| claim | verdict | measured |", "| --- | --- | --- |", *rows])
        image = f"```{{image}} _static/figure-{name}.png\n:alt: Panel {name}, {curves.panel.title}\n:width: 640px\n```"
        parts.append(f"## {name}: {curves.panel.title.replace('|', chr(92) + '|')}\n\n{image}\n\n{table}\n")
        print(name, f"{walls[-1][2]:.1f} s", flush=True)
    timing = "\n".join(f"| {name} | {count} | {seconds:.1f} |" for name, count, seconds in walls)
    shared = "A mean panel and its decile panel share their runs; the first of the two pays for both."
    note = f"On two cores, in seconds. {shared}"
    times = f"## Wall time\n\n{note}\n\n| panel | MDPs | seconds |\n| --- | --- | --- |\n{timing}\n"
    (DOCS / "figures.md").write_text("\n".join([HEAD.format(runs=walls[-1][1]), *parts, times]))


if __name__ == "__main__":
    main()
