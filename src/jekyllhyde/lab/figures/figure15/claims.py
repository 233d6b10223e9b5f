"""What the paper says about Figure 15, in our words, as tests on its numbers (Appendix E, the
critic's initial value).

The text refers to the figure of the critic's step here; what it says is about this one.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.lab.figures.figure02.claims import DECAYING, HALF, JH, ONP
from jekyllhyde.lab.figures.figure14.claims import all_solved
from jekyllhyde.lab.problems import problem_for_run as problem_of
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    SLIGHT,
    Estimate,
    Part,
    Untestable,
    above,
    arrived,
    at,
    below,
    both,
    claims,
    every,
    most,
    of_means,
    outcome,
    runs_of,
    say,
    time_ratio,
    trend,
)
from jekyllhyde.mdp.finite import Floats


def fruit(curves: Curves) -> float:
    """The value of the low-hanging fruit, beta gamma^(|S|-2)."""
    problem = curves.panel.experiment.problem
    return float(problem["beta"]) * problem_of(problem, 0).gamma ** (int(problem["n_states"]) - 2)


def _optimism(curves: Curves) -> Outcome:
    """Above the fruit's value the runs of on-policy updates find the optimum."""
    value = fruit(curves)
    high = curves.x > value
    if not high.any():
        raise Untestable(f"no q0 above {value:.4g} is among the points")
    shares = {label: float(arrived(curves, label)[:, high].mean()) for label in ONP}
    parts = [most(curves, arrived(curves, label)[:, high]) for label in ONP]
    return outcome(
        curves,
        parts,
        f"share of runs that reach the target with q0 above {value:.4g}: {say(shares)}",
    )


def _pessimism(curves: Curves) -> Outcome:
    """Up to the fruit's value none does."""
    value = fruit(curves)
    low = curves.x <= value
    if not low.any():
        raise Untestable(f"no q0 up to {value:.4g} is among the points")
    shares, limits = {}, {}
    parts: list[Part] = []
    for label in ONP:
        there = arrived(curves, label)
        shares[label] = float(there[:, low].mean())
        limits[label] = float(curves.x[there.any(axis=0)].min(initial=np.inf))
        parts.append(every(curves, ~there[:, low]))
    measured = f"share of runs that reach the target with q0 up to {value:.4g}: {say(shares)}; smallest q0 with one: {say(limits)}"
    return outcome(curves, parts, measured)


def _range(m: Floats) -> Floats:
    return np.asarray(m.max(axis=-1) / m.min(axis=-1))


def _ranges(curves: Curves, labels: tuple[str, ...]) -> dict[str, Estimate]:
    return {label: of_means(curves, _range, runs_of(curves, label)[0]) for label in labels}


def _less_sensitive(curves: Curves) -> Outcome:
    """The longest mean time relative to the shortest along q0 is smaller than for every on-policy
    update.
    """
    parts = []
    for label in JH:
        ratios = [
            of_means(curves, lambda a, b: _range(a) / _range(b), *runs_of(curves, label, other))
            for other in ONP
        ]
        parts += [below(one, 1.0) for one in ratios]
    return outcome(
        curves,
        parts,
        f"longest relative to shortest mean time along q0: {say(_ranges(curves, (*JH, *ONP)))}",
    )


def _in_particular_strong(curves: Curves) -> Outcome:
    """That range is smaller with o=0.5 than with o=10/sqrt(t)."""
    found = {
        a: of_means(curves, lambda x, y: _range(x) / _range(y), *runs_of(curves, a, b))
        for a, b in zip(HALF, DECAYING, strict=True)
    }
    return outcome(
        curves,
        [below(one, 1.0) for one in found.values()],
        f"that range relative to o=10/sqrt(t): {say(found)}",
    )


def _slightly_worse(curves: Curves) -> Outcome:
    """Times rise along q0, and from 0 to 1 by less than half."""
    low, high = at(curves, 0.0), at(curves, 1.0)
    rise = {label: time_ratio(curves, label, label, high, low) for label in (*JH, *ONP)}
    slopes = {label: trend(curves, label) for label in (*JH, *ONP)}
    parts = [both(above(slopes[label], 0.0), below(rise[label], SLIGHT)) for label in rise]
    return outcome(
        curves,
        parts,
        f"rank correlation of the mean time with q0: {say(slopes)}; time at 1 relative to 0: {say(rise)}",
    )


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "15a": claims(
        150_000,
        (
            "15a-optimism",
            "With q0 above the low-hanging fruit's value, on-policy updates find the end of the chain.",
            _optimism,
        ),
        (
            "15a-pessimism",
            "Otherwise on-policy updates, with entropy or without, always fail.",
            _pessimism,
        ),
        ("15a-less", "J&H is less sensitive to q0.", _less_sensitive),
        (
            "15a-strong",
            "It is so in particular when off-policiness is high.",
            _in_particular_strong,
        ),
        ("15a-whatever", "J&H is efficient whatever q0.", all_solved(*JH)),
    ),
    "15b": claims(
        120_000,
        (
            "15b-slightly",
            "On random MDPs performance slightly decreases with q0 for all algorithms.",
            _slightly_worse,
        ),
    ),
}
