"""Which settings give the published speed on random MDPs (panels 2b, 2c and 9)?

python benchmarks/published_speed.py STORE [--runs 120] [--only PATTERN]

The code behind these panels was never released. Every setting that was tried is a row of `TRIED`,
and is run on MDPs that no figure uses, for 10,001 trajectories; what three published series say is
compared with it. The table goes to docs/results/speed-settings.csv. J&H is tried with eps=100/t,
o=0.5.
"""

from __future__ import annotations

import argparse
import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import lab
from jekyllhyde.lab.agreement import QUANTILE, published, published_runs
from jekyllhyde.lab.figures.shared_experiments import DEFAULTS, JEKYLL_HYDE, ON_POLICY, RANDOM
from jekyllhyde.lab.panel import panel_of

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "speed-settings.csv"
SEEDS = "run+1000"  # of the MDPs; no panel has them
TRAJECTORIES, MOST_RUNS = 10_001, 100_000
PLACES = (101, 301, 1001, 3001, 10_001)
PG, UNDISCOUNTED, J_AND_H = ON_POLICY[0], ON_POLICY[1], JEKYLL_HYDE[0]
REPLAY = {"replay": True}
FOUR, WITH_CURRENT = {"batch": 4}, {"batch": 4, "with_current": True}


def current_and_four(eta: float = 1.0, eta_c: float = 0.1, **more: Any) -> dict[str, Any]:
    """The transition under way and four replayed ones, with these steps for each of the five."""
    return {**WITH_CURRENT, "eta": 4 * eta, "eta_c": 4 * eta_c, **more}


# name: settings of both kinds of agents, and of Hyde
TRIED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "batch 4, steps divided": (FOUR, {"hyde_eta": 1.0}),
    "batch 4, actor undivided": ({**FOUR, "eta": 4.0}, {"hyde_eta": 1.0}),
    "batch 4, both undivided": ({**FOUR, "eta": 4.0, "eta_c": 0.4}, {"hyde_eta": 4.0}),
    "batch 5, actor undivided, critic .04": (
        {"batch": 5, "eta": 5.0, "eta_c": 0.2},
        {"hyde_eta": 1.0},
    ),
    "batch 5, both undivided": ({"batch": 5, "eta": 5.0, "eta_c": 0.5}, {"hyde_eta": 5.0}),
    "current and 4, both undivided": (current_and_four(), {"hyde_eta": 4.0}),
    "current and 4, critic .05": (current_and_four(eta_c=0.05), {"hyde_eta": 4.0}),
    "current and 4, critic .025": (current_and_four(eta_c=0.025), {"hyde_eta": 4.0}),
    "current and 4, critic .075": (current_and_four(eta_c=0.075), {"hyde_eta": 4.0}),
    "current and 4, stored successors": (current_and_four(successor="stored"), {"hyde_eta": 4.0}),
    "current and 4, Hyde .25": (current_and_four(), {"hyde_eta": 1.0}),
    "current and 4, Hyde .1": (current_and_four(), {"hyde_eta": 0.4}),
}


def series() -> list[dict[str, Any]]:
    """Every setting with each of the agents; Hyde's variants with J&H alone."""
    rows, seen = [], set()
    for name, (common, hyde) in TRIED.items():
        for agent in (PG, UNDISCOUNTED, J_AND_H):
            is_hyde = agent is J_AND_H
            settings = {**agent, **common, **(hyde if is_hyde else REPLAY)}
            key = str(sorted((k, v) for k, v in settings.items()))
            if key not in seen:
                seen.add(key)
                rows.append({**settings, "label": f"{agent['label']}: {name}"})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--runs", type=int, default=120)
    parser.add_argument("--only", default="", help="a pattern of labels")
    arguments = parser.parse_args()
    store, table = lab.Store.open(arguments.store, create=True), []
    for row in series():
        experiment = lab.Experiment(
            name="speed",
            method="learn",
            problem={**RANDOM, "seed": SEEDS},
            series=[row],
            settings={**DEFAULTS, "trajectories": TRAJECTORIES, "points": 1001},
            runs=arguments.runs,
        )
        panel = panel_of(experiment)
        if re.search(arguments.only, row["label"]):
            lab.engines.run([experiment], store, workers=1)
        if all(map(store.complete_runs, panel.digests)):  # with all runs that are there
            most = replace(panel, experiment=replace(experiment, runs=MOST_RUNS))
            table.append(compared(row["label"], lab.read(most, store)))
            print(" ".join(f"{value:>9}" for value in table[-1].values()), flush=True)
    with RESULT.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


def compared(label: str, curves: lab.Curves) -> dict[str, Any]:
    """The return at some places beside the published one, and how far apart the curves are, in
    standard errors of the difference.
    """
    agent, name = label.split(": ", maxsplit=1)
    (tag,) = curves.y
    x, theirs = published("2b")[agent]
    x, theirs = x[x <= TRAJECTORIES], theirs[x <= TRAJECTORIES]
    ours = np.interp(x, curves.x, curves.y[tag])
    error = np.interp(x, curves.x, curves.hi[tag] - curves.lo[tag]) / (2 * QUANTILE)
    distance = (ours - theirs) / (
        error * np.sqrt(1 + curves.runs / (published_runs("2b") or 1)) + 1e-3
    )
    return {
        "series": agent,
        "setting": name,
        "runs": curves.runs,
        **{f"at {place}": f"{np.interp(place, curves.x, curves.y[tag]):.3f}" for place in PLACES},
        **{f"published {place}": f"{np.interp(place, x, theirs):.3f}" for place in PLACES},
        "within noise": f"{np.mean(np.abs(distance) <= QUANTILE):.2f}",
        "distance": f"{np.sqrt(np.mean(distance**2)):.2f}",
        "points": len(x),
    }


if __name__ == "__main__":
    main()
