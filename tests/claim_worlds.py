"""Invented runs of the figures' panels.

A world gives the mean of a series, known by its label, along the axis.
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
    if panel.kind == "time":
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
    samples, censored = {}, {}
    for tag, label in panel.labels.items():
        y = np.broadcast_to(np.asarray(world(label, x), dtype=np.float64), x.shape)
        draws = rng.normal(size=(runs, len(x)))
        if panel.kind == "time":
            lost = y >= panel.cap
            samples[tag] = np.where(
                lost, panel.cap, np.clip(y * (1 + noise * draws), 1, panel.cap - 1)
            )
            censored[tag] = lost.astype(np.float64)
        else:
            samples[tag] = y + 0.01 * noise * (1 - y) * draws
            censored[tag] = np.zeros(len(x))
    summaries = {tag: summarize(runs_, panel.statistic, draws=50) for tag, runs_ in samples.items()}
    y_, lo, hi = ({tag: ends[i] for tag, ends in summaries.items()} for i in range(3))
    return Curves(panel, x, samples, y_, lo, hi, censored, dict.fromkeys(panel.labels, 0), runs)


def random_world(panel: Panel) -> Curves:
    """Curves of a panel in a world drawn from its name, with eight noisy runs."""
    rng = np.random.default_rng(list(panel.name.encode()))
    x = axis_of(panel) if panel.kind == "time" else np.linspace(0.0, panel.cap, 51)
    u, runs = (x - x[0]) / (x[-1] - x[0]), 1 if panel.exact else 8
    samples, censored = {}, {}
    for tag in panel.labels:
        level, slope = rng.uniform(0.02, 1.1), rng.normal()
        draws = rng.normal(size=(runs, len(x)))
        if panel.kind == "time":
            times = panel.cap * level * np.exp(slope * u) * np.exp(0.2 * draws)
            samples[tag] = np.clip(np.round(times), 1, panel.cap)
            censored[tag] = (samples[tag] == panel.cap).mean(axis=0)
        else:
            top = 90.0 if "score" in panel.quantity else 1.0
            gap = level * np.exp(-(5 + slope) * u) + 0.001 * level * np.exp(draws)
            samples[tag], censored[tag] = top * (1 - gap), np.zeros(len(x))
    y = {tag: values.mean(axis=0) for tag, values in samples.items()}
    return Curves(panel, x, samples, y, y, y, censored, dict.fromkeys(panel.labels, 1), runs)
