"""Write the page docs/figures.md, its pictures (docs/_static) and the numbers (docs/results) from a
store.

python docs/figures/paper.py STORE [FIGURE3.npz]

Every panel that the store has; `jh figure all --store STORE` fills it. Figure 3 may come from
`benchmarks/deep_study.py` instead, which trains all of its agents on a GPU.
"""

from __future__ import annotations

import collections
import csv
import json
import sys
from pathlib import Path

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.intervals import summarize
from jekyllhyde.lab.draw import draw, note
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.drawings import DRAWINGS
from jekyllhyde.lab.judgement import from_store, judge
from jekyllhyde.lab.panel import Curves, Panel, read
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import VERDICTS, JudgedClaim

DOCS = Path(__file__).resolve().parent.parent
MOST_POINTS = 101
HEAD = """# Figures

The paper's figures, with a verdict on each claim that the paper makes about them: {counts}. Every panel
says how many runs it rests on; bands are 95 % intervals over runs (bootstrap of the mean, order statistics for the decile), times are means with the
cap for runs that never get there. This page is written by `docs/figures/paper.py` from a store that `jh figure all`
filled; {{doc}}`reproducing` says how to make it anew. The numbers behind the pictures are in `docs/results`.
Figure 3 was trained on a GPU, by `benchmarks/deep_study.py`; `jh figure 3` trains it where you are.

How verdicts are reached: a claim is made of parts, each decided by its 95 % interval. All parts hold: *supported*; none: *contradicted*;
otherwise, or where these runs cannot tell, *partly*. The readings of loose words ("about", "much", "slightly") are the same for all figures
and stand in `lab/verdicts.py`. They come from the words; but one reading was added after the first verdicts had been seen: what is said of an
axis or an algorithm without "all", "never" or "always" is *partly* right if it is so in at least half of the cases. It turned 5b-constant, 6b-constant,
14a-easiest, 14b-reliable and 15a-optimism from *contradicted* into *partly*; 5b-exponential and 12a-tolerant were softened likewise because the data
lean the stated way without deciding.
"""  # noqa: E501


def main() -> None:
    store = Store.open(sys.argv[1])
    (DOCS / "results").mkdir(exist_ok=True)
    parts, counts = [], collections.Counter[str]()
    for name, drawing in DRAWINGS.items():
        drawing(DOCS / "_static" / f"figure-{name}.png")
    for name, panel in PANELS.items():
        try:
            curves = (
                studied(panel, Path(sys.argv[2]))
                if name.startswith("3") and len(sys.argv) > 2
                else read(panel, store)
            )
        except InputError as error:
            print(error)
            continue
        draw(curves, DOCS / "_static" / f"figure-{name}.png")
        claims = judge(curves, from_store(PANELS, store))
        write_numbers(curves, claims)
        counts.update(one.verdict for one in claims)
        parts.append(section(curves, claims))
        print(name, curves.runs, flush=True)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    head = HEAD.format(counts=f"{said}, {sum(counts.values())} in all")
    (DOCS / "figures.md").write_text("\n".join([head, *parts]))


def studied(panel: Panel, path: Path) -> Curves:
    """A panel of Figure 3 from the study's arrays: `agent config/level//quantity`."""
    data, level = np.load(path), panel.experiment.problem["level"]
    samples, failures = {}, {}
    for series, tag in zip(panel.experiment.series, panel.labels, strict=True):
        key = f"{series['agent']} {series.get('config', 'published')}/{level}//"
        samples[tag] = data[key + panel.quantity].astype(np.float64)
        failures[tag] = int(data[key + "diverged"].sum())
    x = data[key + "episode"].astype(np.float64)
    summaries = {tag: summarize(values, panel.statistic) for tag, values in samples.items()}
    y, lo, hi = ({tag: lines[i] for tag, lines in summaries.items()} for i in range(3))
    runs = len(next(iter(samples.values())))
    censored = {tag: np.zeros(len(x)) for tag in samples}
    return Curves(panel, x, samples, y, lo, hi, censored, failures, runs)


def section(curves: Curves, claims: list[JudgedClaim]) -> str:
    panel = curves.panel
    rows = [f"| {cell(one.claim)} | **{one.verdict}** | {cell(one.measured)} |" for one in claims]
    table = (
        "\n".join(["| claim | verdict | measured |", "| --- | --- | --- |", *rows]) if rows else ""
    )
    about = f":alt: Panel {panel.name}, {panel.title}\n:width: 680px"
    image = f"```{{image}} _static/figure-{panel.name}.png\n{about}\n```"
    return f"## {panel.name}: {cell(panel.title)} ({note(curves)})\n\n{image}\n\n{table}\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("~", "\\~")


def write_numbers(curves: Curves, claims: list[JudgedClaim]) -> None:
    name = curves.panel.name
    shown = np.unique(np.linspace(0, len(curves.x) - 1, MOST_POINTS).round().astype(int))
    with (DOCS / "results" / f"{name}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["series", "x", "y", "lo", "hi", "median", "censored", "runs"])
        for tag, label in curves.labels.items():
            median = np.median(curves.samples[tag], axis=0)
            for i in shown:
                values = (
                    curves.x[i],
                    curves.y[tag][i],
                    curves.lo[tag][i],
                    curves.hi[tag][i],
                    median[i],
                    curves.censored[tag][i],
                )
                writer.writerow(
                    [label, *(f"{value:.6g}" for value in values), len(curves.samples[tag])]
                )
    (DOCS / "results" / f"{name}.claims.json").write_text(
        json.dumps([claim.record() for claim in claims], indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
