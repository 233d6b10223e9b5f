"""The planning panels of the paper (Figures 5, 6 and 7): what is run for each, as data.

A panel varies one thing along x and runs every series at every x. A `curve` panel plots the normalized return against updates, a
`time` panel the updates needed to exceed a target, the cap where they do not suffice. Figures 5 and 6 are exact; Figure 7
averages over random MDPs, seeds 0, 1, ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from jekyllhyde.errors import check_choice, check_count
from jekyllhyde.mdp.domains import chain
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.planning.plan import Progress, plan

CAP = 15_000
BATCH = 100
BASE = (
    ("PG", {"density": "pg"}),
    ("undiscounted", {"density": "undiscounted"}),
    ("uniform", {"density": "uniform"}),
    ("o=0.5", {"density": "mixture", "o": "0.5"}),
    ("o=0.1", {"density": "mixture", "o": "0.1"}),
    ("o=10/sqrt(t)", {"density": "mixture", "o": "10/sqrt(t)"}),
    ("o=10/t", {"density": "mixture", "o": "10/t"}),
)
ENTROPY = tuple((f"{label} lam=0.1", settings | {"lam": 0.1}) for label, settings in BASE[:2])
Series = tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True)
class Panel:
    """One panel: its axis, its problem at x, its settings at x (beside each series' own), and its series.

    kind : "curve" or "time".  sample : how many random MDPs the paper's size asks for, 1 where the panel is exact.
    statistic : "mean" or "decile" over the random MDPs.
    """

    name: str
    kind: str
    xlabel: str
    x: Floats
    problem: Callable[[float, int], FiniteMDP]
    settings: Callable[[float], dict[str, Any]]
    series: Series
    title: str
    logx: bool = False
    sample: int = 1
    statistic: str = "mean"


@dataclass(frozen=True)
class Curves:
    """A panel's numbers: per series y [len(x)] with an interval [lo, hi], over `runs` MDPs; exact panels have lo = y = hi.

    censored : share of runs that never reached the target, per series [len(x)] (time panels).
    """

    panel: Panel
    runs: int
    x: Floats
    y: dict[str, Floats]
    lo: dict[str, Floats]
    hi: dict[str, Floats]
    censored: dict[str, Floats] = field(default_factory=dict)


def _chain_panel(
    name: str, parametrization: str, xlabel: str, x: Sequence[float] | Floats, *, n: int = 15, beta: float = 0.5, title: str,
    logx: bool = False,
) -> Panel:  # fmt: skip
    """A `time` panel on the chain, in which one of |S|, beta, eta and lam is x."""
    softmax = parametrization == "softmax"

    def problem(value: float, seed: int) -> FiniteMDP:
        return chain(int(value) if xlabel == "|S|" else n, value if xlabel == "beta" else beta)

    def settings(value: float) -> dict[str, Any]:
        chosen = {"parametrization": parametrization, "eta": 10.0 if softmax else 1.0, "updates": CAP, "target": 0.5}
        return chosen | ({"eta": value} if xlabel == "eta" else {"lam": value} if xlabel == "lam" else {})

    series = BASE + ENTROPY if softmax and xlabel != "lam" else BASE
    return Panel(name, "time", xlabel, np.asarray(x, dtype=np.float64), problem, settings, series, title, logx=logx)


def _curve_panel(
    name: str, parametrization: str, updates: int, title: str, problem: Callable[[float, int], FiniteMDP], sample: int = 1,
    statistic: str = "mean",
) -> Panel:  # fmt: skip
    softmax = parametrization == "softmax"
    settings = {"parametrization": parametrization, "eta": 10.0 if softmax else 1.0, "updates": updates}
    x = np.arange(0.0, updates + 1, 1 if sample == 1 else 5)
    return Panel(
        name, "curve", "updates", x, problem, lambda _: settings, BASE + ENTROPY if softmax else BASE, title,
        sample=sample, statistic=statistic,
    )  # fmt: skip


_POWERS = 10.0 ** (np.arange(-20, 21) / 10)
_LAMBDAS = 10.0 ** (np.arange(-30, 11) / 10)
_BETAS = np.arange(100) / 100
_SIZES = np.arange(3.0, 26.0)

PANELS: dict[str, Panel] = {
    panel.name: panel
    for panel in (
        _curve_panel("5a", "direct", 999, "chain, |S|=10, beta=0.95, direct, eta=1", lambda x, seed: chain(10, 0.95)),
        _chain_panel("5b", "direct", "|S|", _SIZES, beta=0.95, title="chain, beta=0.95, direct, eta=1"),
        _chain_panel("5c", "direct", "beta", _BETAS, n=15, title="chain, |S|=15, direct, eta=1"),
        _chain_panel("5d", "direct", "eta", _POWERS, n=10, beta=0.5, title="chain, |S|=10, beta=0.5, direct", logx=True),
        _curve_panel("6a", "softmax", 9999, "chain, |S|=10, beta=0.95, softmax, eta=10", lambda x, seed: chain(10, 0.95)),
        _chain_panel("6b", "softmax", "|S|", _SIZES, beta=0.95, title="chain, beta=0.95, softmax, eta=10"),
        _chain_panel("6c", "softmax", "beta", _BETAS, n=15, title="chain, |S|=15, softmax, eta=10"),
        _chain_panel("6d", "softmax", "lam", _LAMBDAS, n=15, beta=0.5, title="chain, |S|=15, beta=0.5, softmax, eta=10", logx=True),
        *(
            _curve_panel(
                name, parametrization, 5000, f"random MDPs, 50 states, {parametrization}, {statistic}",
                lambda x, seed: garnet(50, 4, 2, seed=seed), sample=1000, statistic=statistic,
            )
            for name, parametrization, statistic in (
                ("7a", "direct", "mean"), ("7b", "direct", "decile"), ("7c", "softmax", "mean"), ("7d", "softmax", "decile"),
            )
        ),
    )
}  # fmt: skip


Samples = dict[tuple[str, str, int], Floats]


def run_panel(name: str, runs: int | None = None, progress: Progress | None = None, samples: Samples | None = None) -> Curves:
    """Run a panel; `runs` random MDPs for Figure 7 (the paper's size by default).

    `samples` keeps the returns on random MDPs, so that a mean and a decile panel called with the same dict share their runs.
    """
    panel = PANELS[check_choice(name, "panel", PANELS)]
    count = 1 if panel.sample == 1 else panel.sample if runs is None else check_count(runs, "runs", 1)
    if panel.kind == "time":
        return _times(panel, progress)
    samples = {} if samples is None else samples
    y, lo, hi = {}, {}, {}
    for label, own in panel.series:
        settings: Any = panel.settings(0.0) | own
        key = (settings["parametrization"], label, count)
        if panel.sample == 1 or key not in samples:
            samples[key] = _returns(panel, settings, count, progress)
        y[label], lo[label], hi[label] = summarize(samples[key], panel.statistic)
    return Curves(panel, count, panel.x, y, lo, hi)


def _returns(panel: Panel, settings: Any, count: int, progress: Progress | None) -> Floats:
    """J_norm [count, len(x)]; a batch of MDPs at a time, since a run keeps every return."""
    J = np.empty((count, len(panel.x)))
    for start in range(0, count, BATCH):
        mdps = [panel.problem(0.0, seed) for seed in range(start, min(start + BATCH, count))]
        for i, run in enumerate(plan(mdps, **settings, progress=progress)):
            J[start + i] = run.J_norm[panel.x.astype(int)]
    return J


def _times(panel: Panel, progress: Progress | None) -> Curves:
    y, censored = {}, {}
    for label, own in panel.series:
        mdps = [panel.problem(x, 0) for x in panel.x]
        varied = [panel.settings(x) | own for x in panel.x]
        lists: Any = {key: [one[key] for one in varied] for key in ("eta", "lam") if key in varied[0]}
        fixed: Any = {key: value for key, value in varied[0].items() if key not in lists}
        found = plan(mdps, **lists, **fixed, progress=progress)
        y[label] = np.array([run.time_to_target for run in found], dtype=np.float64)
        censored[label] = np.array([run.censored for run in found], dtype=np.float64)
    return Curves(panel, 1, panel.x, y, y, y, censored)


def summarize(J: Floats, statistic: str, draws: int = 1000) -> tuple[Floats, Floats, Floats]:
    """Mean or decile over runs (first axis) with a 95 % interval; runs are the unit.

    The mean's interval is a percentile bootstrap. The decile's lies between two order statistics: the number of runs below the true
    decile is binomial(n, 0.1), whatever the distribution.
    """
    n = len(J)
    if statistic == "mean":
        y = J.mean(axis=0)
        if n == 1:
            return y, y, y
        resampled = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=draws) @ J / n
        lo, hi = np.quantile(resampled, [0.025, 0.975], axis=0)
        return y, lo, hi
    ordered = np.sort(J, axis=0)
    low, high = (int(stats.binom.ppf(p, n, 0.1)) for p in (0.025, 0.975))
    return np.quantile(ordered, 0.1, axis=0), ordered[max(low - 1, 0)], ordered[min(high, n - 1)]
