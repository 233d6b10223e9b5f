"""Fill docs/results from stores of runs, then write the pages and pictures (`page.py`).

python docs/figures/paper.py STORE [STORE ...] [FIGURE3.npz]

A panel is taken from the first store that has runs of all of its cells. What no store has stays as
it is in docs/results, and what the claims of other panels need of it is taken from there
(`kept_curves.py`); its own claims are judged anew by `judge_again.py`, where readings change.
Figure 3 may come from `benchmarks/deep_study.py`, which trains all of its agents on a GPU; its
sweeps come from docs/figures/deep-sweep-seeds.csv, where that is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import page
from deep_tables import sweep_seeds
from kept_curves import without_runs
from stored_results import MADE, RESULTS, read_results

from jekyllhyde.files import write_text
from jekyllhyde.intervals import Floats, summarize
from jekyllhyde.lab.agreement import published
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.rooms_sweeps import AGENTS, SWEEPS
from jekyllhyde.lab.judgement import judge
from jekyllhyde.lab.panel import Curves, Others, Panel, has_runs, read
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.stored_numbers import numbers_text
from jekyllhyde.lab.verdicts import Undecided

MOST_POINTS = 101


def main() -> None:
    stores = [Store.open(path) for path in sys.argv[1:] if not path.endswith(".npz")]
    study = next((Path(path) for path in sys.argv[1:] if path.endswith(".npz")), None)
    curves, results = partial(curves_of, stores, study), read_results()

    def others(name: str) -> Curves:
        try:
            return curves(name)
        except Undecided:
            return without_runs(name, results)

    for name in PANELS:
        try:
            write_numbers(curves(name), others)
        except Undecided:
            print(f"{name}: as it was")
    page.main()


def curves_of(stores: Sequence[Store], study: Path | None, name: str) -> Curves:
    """A panel's curves, from the study or from the first store that has them."""
    panel = PANELS[name]
    if panel.experiment.method == "deep" and panel.kind == "end":
        return swept(panel, sweep_seeds())
    if study is not None and panel.experiment.method == "deep":
        return studied(panel, study)
    able = [store for store in stores if has_runs(panel, store)]
    if not able:
        raise Undecided(f"it needs runs of panel {name} with the present settings")
    return read(panel, able[0])


def studied(panel: Panel, path: Path) -> Curves:
    """A panel of Figure 3 from the study's arrays: `agent config/level//quantity`."""
    data, level = np.load(path), panel.experiment.problem["level"]
    samples, failures = {}, {}
    for series, tag in zip(panel.experiment.series, panel.labels, strict=True):
        config = series.get("config", "published").removesuffix("_0_3")  # as the study calls it
        key = f"{series['agent']} {config}/{level}//"
        samples[tag] = data[key + panel.quantity].astype(np.float64)
        failures[tag] = int(data[key + "diverged"].sum())
    x = data[key + "episode"].astype(np.float64)
    summaries = {tag: summarize(values, panel.statistic) for tag, values in samples.items()}
    y, lo, hi = ({tag: lines[i] for tag, lines in summaries.items()} for i in range(3))
    runs = len(next(iter(samples.values())))
    censored = {tag: np.zeros(len(x)) for tag in samples}
    return Curves(panel, x, samples, y, lo, hi, censored, failures, runs)


def swept(panel: Panel, rows: Sequence[Mapping[str, str]]) -> Curves:
    """A sweep of Figure 3 from the scores of its seeds."""
    _, x, series = SWEEPS[panel.name.partition("-")[2]]
    level = str(panel.experiment.problem["level"])
    samples, failures = {}, {}
    for tag, label in panel.labels.items():
        chosen = [
            row
            for row in rows
            if row["call"].removesuffix(" decay") == AGENTS[label]
            and (row["level"], row["what"]) == (level, series[label][0])
        ]
        by_value = [[row for row in chosen if float(row["value"]) == value] for value in x]
        if not all(by_value):
            continue
        samples[tag] = np.array(
            [[float(row["exact_score"]) for row in seeds] for seeds in by_value]
        ).T
        failures[tag] = sum(int(row["diverged"]) for row in chosen)
    if not samples:
        raise Undecided(f"it needs the seeds of sweep {panel.name}")
    panel = replace(panel, series=tuple(samples))
    summaries = {tag: summarize(values, panel.statistic) for tag, values in samples.items()}
    y, lo, hi = ({tag: lines[i] for tag, lines in summaries.items()} for i in range(3))
    runs = len(next(iter(samples.values())))
    censored = {tag: np.zeros(len(x)) for tag in samples}
    return Curves(panel, np.array(x), samples, y, lo, hi, censored, failures, runs)


def write_numbers(curves: Curves, others: Others) -> None:
    """P.csv and P.claims.json of a panel P, and in made.json what was run for it."""
    name = curves.panel.name
    places = kept(curves.x, curves.panel.published)
    write_text(RESULTS / f"{name}.csv", numbers_text(curves, places, digits=6))
    claims = [claim.record() for claim in judge(curves, others)]
    (RESULTS / f"{name}.claims.json").write_text(json.dumps(claims, indent=1) + "\n")
    made = json.loads(MADE.read_text()) | {name: curves.panel.experiment.digest}
    MADE.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    print(name, curves.runs, flush=True)


def kept(x: Floats, name: str) -> list[int]:
    """Places that stand for the whole curve: evenly spaced ones, and those of published points."""
    evenly = np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int)
    theirs = np.concatenate([np.zeros(0), *(line[0] for line in published(name).values())])
    inside = theirs[(theirs >= x[0]) & (theirs <= x[-1])]
    nearest = [int(np.abs(x - place).argmin()) for place in np.unique(inside)]
    return sorted({*evenly.tolist(), *nearest})


if __name__ == "__main__":
    main()
