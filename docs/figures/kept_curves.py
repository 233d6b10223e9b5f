"""Curves whose runs are in no store, with all that docs/results says was measured of them.

For Figure 3 there are, beside the panels' own numbers, the mean exact scores of the table of its
ends, and of the sweeps that were not kept by seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
from deep_tables import NAMES, read
from scipy import stats
from stored_results import Result, read_results

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.claims import describe
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.rooms_sweeps import BEST, EPISODES, LEVELS, shortfall
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.recalled import Recalled
from jekyllhyde.lab.verdicts import Estimate, Undecided

Known = dict[tuple[str, str], Estimate]


def without_runs(
    name: str, results: Mapping[str, Result], curves: Curves | None = None
) -> Recalled:
    """The curves of a panel as they are in docs/results, or these, with what is known of them."""
    if curves is None:
        if name not in results:
            raise Undecided(f"it needs runs of panel {name}")
        curves = results[name].curves
    known = known_of_all().get(name, {}) | dict(known_of_figure3(name, curves))
    return Recalled(
        **{each.name: getattr(curves, each.name) for each in fields(Curves)}, known=known
    )


@cache
def known_of_all() -> Mapping[str, Known]:
    """By panel every estimate among the parts of the claims, with what is said of it elsewhere; but
    none that is said of two groups of series by the same name.
    """
    found: dict[str, dict[tuple[str, str], set[Estimate]]] = defaultdict(lambda: defaultdict(set))
    for name, result in read_results().items():
        for claim in result.claims:
            for part in claim.get("parts", ()):
                what, _, other = part["what"].rpartition(" in ")
                found[name][part["what"], part["name"]].add(estimate_of(part))
                if other in PANELS:
                    found[other][what, part["name"]].add(estimate_of(part))
    return {
        name: {key: next(iter(values)) for key, values in known.items() if len(values) == 1}
        for name, known in found.items()
    }


def estimate_of(part: Mapping[str, Any]) -> Estimate:
    """The estimate of a part as it is written to files."""
    ends = ((part["y"], np.nan), (part["lo"], -np.inf), (part["hi"], np.inf))
    return Estimate(*(default if value is None else value for value, default in ends))


def known_of_figure3(name: str, curves: Curves) -> Iterator[tuple[tuple[str, str], Estimate]]:
    panel, _, kind = name.partition("-")
    if panel not in BEST or kind not in ("exact", "weights"):
        return
    level = str(LEVELS[panel])
    if kind == "exact":
        for row in read("figure3"):
            chosen = (row["config"], row["level"], row["episode"])
            if chosen == ("published", level, str(EPISODES)):
                yield (describe(of.mean, curves, {}), NAMES[row["agent"]]), mean_of(row)
        return
    place = {"x": 1.0, "top": BEST[panel]}
    what = describe(shortfall, curves, place)
    for agent in ("ddqn_rnd", "sac_rnd"):
        distances = {
            float(row["value"]): mean_of(row, place["top"])
            for row in read("sweeps")
            if (row["call"], row["level"], row["what"]) == (agent, level, "bonus_weight")
        }
        there = distances.pop(place["x"])
        best = min(distances.values(), key=lambda distance: distance.y)
        ratio = Estimate(there.y / best.y, there.lo / best.hi, there.hi / best.lo)
        if NAMES[agent] not in curves.labels.values():
            yield (what, NAMES[agent]), ratio


def mean_of(row: Mapping[str, str], top: float = 0.0) -> Estimate:
    """The mean exact score of a row, or its distance to `top`, with a t interval."""
    y, seeds = abs(top - float(row["exact_score"])), int(row["seeds"])
    half = stats.t.ppf(0.975, seeds - 1) * float(row["deviation"]) / np.sqrt(seeds - 1)
    return Estimate(y, y - half, y + half)
