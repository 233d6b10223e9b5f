"""Statistics over runs: runs are the unit that is resampled, and every resampling has an explicit
generator.

Samples have the runs on their first axis. Whatever is estimated comes as (y, lo, hi) with a 95 %
interval. A bootstrap draws n of the n runs with replacement, within each stratum where strata are
given, and takes the 2.5 % and 97.5 % quantiles of the statistic, or the estimate itself where it
lies beyond them; several series are resampled together, run by run, so that runs on the same MDP
stay paired. A generator that is not given is `default_rng(0)`: the same samples have the same
interval.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # its statistics, half a second that few need, are loaded when they are used
from numpy.typing import ArrayLike, NDArray

from jekyllhyde.errors import check_choice, require

Floats = NDArray[np.float64]
DRAWS = 1000
LEVELS = (0.025, 0.975)
Interval = tuple[Floats, Floats, Floats]
Rng = np.random.Generator | None


def interquartile_mean(samples: Floats) -> Floats:
    """The mean of the runs without the lowest and the highest quarter (rounded down)."""
    cut = len(samples) // 4
    return np.asarray(np.sort(samples, axis=0)[cut : len(samples) - cut].mean(axis=0))


STATISTICS: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda samples: np.asarray(samples.mean(axis=0)),
    "median": lambda samples: np.asarray(np.median(samples, axis=0)),
    "decile": lambda samples: np.asarray(np.quantile(samples, 0.1, axis=0)),
    "iqm": interquartile_mean,
}


def summarize(samples: Floats, statistic: str, draws: int = DRAWS, rng: Rng = None) -> Interval:
    """Mean, median, decile or iqm over runs with a 95 % interval, as the figures show them.

    The interval is a percentile bootstrap, but for the decile, which is too far out for that: it
    lies between two order statistics, since the number of runs below the true decile is binomial(n,
    0.1), whatever the distribution.
    """
    if statistic != "decile":
        return bootstrap(samples, statistic, draws=draws, rng=rng)
    n, ordered = len(samples), np.sort(samples, axis=0)
    low, high = (int(scipy.stats.binom.ppf(p, n, 0.1)) for p in LEVELS)
    return np.quantile(ordered, 0.1, axis=0), ordered[max(low - 1, 0)], ordered[min(high, n - 1)]


def weights(
    n: int, draws: int = DRAWS, rng: Rng = None, strata: ArrayLike | None = None
) -> NDArray[np.int64]:
    """How often each of n runs is drawn [draws, n]: n times in all, in each stratum as often as it
    has runs.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    groups = np.zeros(n) if strata is None else np.asarray(strata)
    require(
        len(groups) == n,
        f"strata has {len(groups)} entries; it must have one for each of the {n} runs",
    )
    counts = np.zeros((draws, n), dtype=np.int64)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        counts[:, members] = rng.multinomial(
            len(members), np.full(len(members), 1.0 / len(members)), size=draws
        )
    return counts


def bootstrap(
    samples: Floats,
    statistic: str = "mean",
    *,
    draws: int = DRAWS,
    rng: Rng = None,
    strata: ArrayLike | None = None,
) -> Interval:
    """A statistic over runs with its percentile bootstrap interval."""
    return jointly(
        STATISTICS[check_choice(statistic, "statistic", STATISTICS)],
        samples,
        draws=draws,
        rng=rng,
        strata=strata,
    )


def jointly(
    function: Callable[..., Any],
    *samples: Floats,
    draws: int = DRAWS,
    rng: Rng = None,
    strata: ArrayLike | None = None,
) -> Interval:
    """function(*samples) with its interval, the same runs drawn from every series."""
    n = _shared_runs(samples)
    y = np.asarray(function(*samples), dtype=np.float64)
    if n == 1:
        return y, y, y
    counts = weights(n, draws, rng, strata)
    if function is STATISTICS["mean"]:
        return _around(y, np.tensordot(counts, samples[0], axes=1) / n)
    drawn = (np.repeat(np.arange(n), row) for row in counts)
    return _around(y, [function(*(series[runs] for series in samples)) for runs in drawn])


def of_means(
    function: Callable[..., Any], *samples: Floats, draws: int = DRAWS, rng: Rng = None
) -> Interval:
    """A function of the series' means with its interval, much faster than `jointly`.

    `function` takes one array [..., X] per series, its means, and reduces the last axis (X is 1 for
    samples without one).
    """
    n = _shared_runs(samples)
    columns = [series[:, None] if series.ndim == 1 else series for series in samples]
    y = np.asarray(function(*(series.mean(axis=0) for series in columns)), dtype=np.float64)
    if n == 1:
        return y, y, y
    counts = weights(n, draws, rng)
    return _around(y, function(*(counts @ series / n for series in columns)))


def difference(
    a: Floats, b: Floats, statistic: str = "mean", *, draws: int = DRAWS, rng: Rng = None
) -> Interval:
    """The statistic of a less that of b, for series whose runs are paired."""
    _shared_runs((a, b))
    if statistic == "mean":
        return bootstrap(a - b, "mean", draws=draws, rng=rng)
    chosen = STATISTICS[check_choice(statistic, "statistic", STATISTICS)]
    return jointly(lambda x, y: chosen(x) - chosen(y), a, b, draws=draws, rng=rng)


def probability_of_improvement(
    a: Floats, b: Floats, *, paired: bool = False, draws: int = DRAWS, rng: Rng = None
) -> Interval:
    """P(A < B) + P(A = B) / 2: over all pairs of a run of each, resampled apart, or (`paired`) over
    runs of the same number.
    """
    if paired:
        return bootstrap((a < b) + 0.5 * (a == b), "mean", draws=draws, rng=rng)
    wins = (a[:, None] < b) + 0.5 * (a[:, None] == b)
    y = np.asarray(wins.mean())
    if len(a) == 1 and len(b) == 1:
        return y, y, y
    rng = np.random.default_rng(0) if rng is None else rng
    rows, columns = weights(len(a), draws, rng) / len(a), weights(len(b), draws, rng) / len(b)
    return _around(y, np.einsum("di,ij,dj->d", rows, wins, columns, optimize=True))


def share(flags: ArrayLike) -> Interval:
    """The share of runs that are true, with the exact (Clopper-Pearson) interval."""
    n, k = len(np.asarray(flags)), int(np.sum(flags))
    lo = 0.0 if k == 0 else scipy.stats.beta.ppf(LEVELS[0], k, n - k + 1)
    hi = 1.0 if k == n else scipy.stats.beta.ppf(LEVELS[1], k + 1, n - k)
    return np.asarray(k / n), np.asarray(lo), np.asarray(hi)


@dataclass(frozen=True)
class KaplanMeier:
    """The survival curve: the share of runs that are still under way just after each of `times`
    [K], with a 95 % interval.

    Between two times the curve is flat, before the first it is 1. `steps` are Greenwood's terms d /
    (n (n - d)), for n runs at risk of which d arrive.
    """

    times: Floats
    survival: Floats
    lo: Floats
    hi: Floats
    steps: Floats

    @property
    def median(self) -> tuple[float, float, float]:
        """The first time by which half of the runs have arrived, with its interval; infinite where
        the curve stays above.
        """
        y, lo, hi = (
            float(self.times[line <= 0.5].min(initial=np.inf))
            for line in (self.survival, self.lo, self.hi)
        )
        return y, lo, hi

    def restricted_mean(self, cap: float) -> tuple[float, float, float]:
        """The mean of min(time, cap), the area under the curve up to the cap, with a normal
        interval from Greenwood's variance.
        """
        inside = self.times < cap
        edges = np.concatenate([[0.0], self.times[inside], [cap]])
        areas = np.diff(edges) * np.concatenate([[1.0], self.survival[inside]])
        beyond = areas[::-1].cumsum()[::-1][1:]
        error = float(np.sqrt((beyond**2 * np.where(beyond > 0, self.steps[inside], 0.0)).sum()))
        y, width = float(areas.sum()), float(scipy.stats.norm.ppf(LEVELS[1])) * error
        return y, y - width, y + width


def kaplan_meier(times: ArrayLike, observed: ArrayLike) -> KaplanMeier:
    """The survival curve of runs that arrive at their time (`observed`) or are lost sight of there.

    A run that is lost at the very time of an arrival was still at risk. The interval is Greenwood's
    on the scale log(-log S), which stays within [0, 1].
    """
    when, arrived = np.asarray(times, dtype=np.float64), np.asarray(observed, dtype=bool)
    require(
        when.ndim == 1 and when.shape == arrived.shape and len(when),
        f"times has shape {when.shape} and observed {arrived.shape}; both must be lists of the "
        "same length",
    )
    at, arrivals = np.unique(when[arrived], return_counts=True)
    risk = len(when) - np.searchsorted(np.sort(when), at, side="left")
    curve = scipy.stats.ecdf(
        scipy.stats.CensoredData(uncensored=when[arrived], right=when[~arrived])
    ).sf
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # where nobody is left, Greenwood's variance is undefined
        ends = curve.confidence_interval(method="log-log")
        steps = arrivals / (risk * (risk - arrivals))
    kept = np.isin(curve.quantiles, at)
    lines = [np.nan_to_num(line.probabilities[kept]) for line in (curve, ends.low, ends.high)]
    return KaplanMeier(at, lines[0], lines[1], lines[2], steps)


def _shared_runs(samples: tuple[Floats, ...]) -> int:
    lengths = {len(series) for series in samples}
    require(
        len(lengths) == 1 and 0 not in lengths,
        f"samples have {', '.join(map(str, sorted(lengths)))} runs; every series must have the "
        "same runs",
    )
    return lengths.pop()


def _around(y: Floats, draws: ArrayLike) -> Interval:
    # The estimate with the quantiles of what was drawn, widened where they leave it out: those of
    # a statistic such as a rank correlation lie to one side of it.
    lo, hi = np.quantile(np.asarray(draws, dtype=np.float64), LEVELS, axis=0)
    return y, np.minimum(lo, y), np.maximum(hi, y)
