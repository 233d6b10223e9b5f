"""Invented runs of the figures' panels.

A world gives the mean of a series, known by its label, along the axis; or a few kinds of runs in
turn [kinds, X], where nan is a run that diverged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jekyllhyde.intervals import summarize
from jekyllhyde.lab.panel import Curves, Panel
from mdps import Floats

World = Callable[[str, Floats], Floats]


def axis_of(panel: Panel) -> Floats:
    if panel.words:
        return np.arange(len(panel.words), dtype=np.float64)
    if panel.kind != "curve":
        return np.array(next(iter(panel.experiment.axes.values())), dtype=np.float64)
    return np.linspace(0.0, panel.cap, 501)


def make(
    panel: Panel,
    world: World,
    runs: int = 20,
    noise: float | Floats = 0.01,
    x: Floats | None = None,
) -> Curves:
    """Curves of a panel in which `world` gives the mean; relative noise in times, absolute (a tenth
    of it) in returns.
    """
    rng = np.random.default_rng(0)
    runs = 1 if panel.exact else runs
    noise = 0.0 if panel.exact else noise
    x = axis_of(panel) if x is None else x
    samples, censored, failures = {}, {}, {}
    for tag, label in panel.labels.items():
        kinds = np.atleast_2d(np.asarray(world(label, x), dtype=np.float64)) + 0.0 * x
        y = kinds[np.arange(runs) % len(kinds)]
        failures[tag] = int(np.isnan(y).any(axis=1).sum())
        y = np.where(np.isnan(y), np.inf, y) if panel.kind == "time" else np.nan_to_num(y)
        draws = rng.normal(size=y.shape)
        if panel.kind == "time":
            lost = y >= panel.cap
            times = np.where(lost, 1.0, y) * (1 + noise * draws)
            samples[tag] = np.where(lost, panel.cap, np.clip(times, 1, panel.cap - 1))
            censored[tag] = lost.mean(axis=0)
        else:
            samples[tag] = y + 0.01 * noise * (1 - y) * draws
            censored[tag] = np.zeros(len(x))
    summaries = {tag: summarize(runs_, panel.statistic, draws=50) for tag, runs_ in samples.items()}
    y_, lo, hi = ({tag: ends[i] for tag, ends in summaries.items()} for i in range(3))
    return Curves(panel, x, samples, y_, lo, hi, censored, failures, runs)
