"""What the paper says about Figure 12, in our words, as tests on its numbers (Appendix E, the
critic's step size).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.figures.figure02.claims import DECAYING, HALF, JH, ONP
from jekyllhyde.lab.figures.figure11.claims import best_about, never
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    ALIKE,
    Estimate,
    Part,
    Untestable,
    above,
    at,
    below,
    bounded,
    claims,
    much_above,
    much_below,
    of_means,
    outcome,
    reaching,
    runs_of,
    say,
    slowdown,
    trend,
)
from jekyllhyde.mdp.finite import Floats

DEFAULT, BEST = 0.1, 0.025


def _high_is_better(curves: Curves) -> Outcome:
    found = {label: trend(curves, label) for label in JH}
    return outcome(
        curves,
        [below(one, 0.0) for one in found.values()],
        f"rank correlation of the mean time with eta_c: {say(found)}",
    )


def _one_is_best(curves: Curves) -> Outcome:
    """At 1 the mean time is within a tenth of the shortest."""
    i = at(curves, 1.0)
    found = {label: slowdown(curves, label, i) for label in JH}
    return outcome(
        curves,
        [below(one, ALIKE) for one in found.values()],
        f"mean time at eta_c=1 relative to the shortest: {say(found)}",
    )


def _on_policy_never(curves: Curves) -> Outcome:
    return never(curves, ONP, at(curves, 1.0))


def _tolerant(curves: Curves) -> Outcome:
    """Below the default, o=0.5 takes on average less than half the time of o=10/sqrt(t)."""
    small = curves.x < DEFAULT / 1.01
    if not small.any():
        raise Untestable("no eta_c below the default is among the points")
    found = {}
    for a, b in zip(HALF, DECAYING, strict=True):
        one, other = (samples[:, small].mean(axis=1) for samples in runs_of(curves, a, b))
        found[a] = of_means(curves, lambda x, y: x[..., 0] / y[..., 0], one, other)
    lost = {label: float(curves.censored[label][small].mean()) for label in (*HALF, *DECAYING)}
    measured = f"mean time over eta_c from {curves.x[0]:g} to {curves.x[small][-1]:g} relative to o=10/sqrt(t): {say(found)}"
    measured += f"; share at the cap, which draws the ratio towards 1: {say(lost)}"
    return outcome(curves, [much_below(one) for one in found.values()], measured)


def _too_high(curves: Curves) -> Outcome:
    """At 1 some runs never reach the target, and the mean time is more than twice the shortest."""
    i, parts = at(curves, 1.0), list[Part]()
    lost, slow = {}, {}
    for label in reaching(curves, (*JH, *ONP)):
        flags = runs_of(curves, label)[0][:, i] >= curves.cap
        lost[label], slow[label] = (
            bounded(curves, intervals.share(flags), len(flags)),
            slowdown(curves, label, i),
        )
        parts += [
            True if flags.any() else False if lost[label].hi < 0.05 else None,
            much_above(slow[label]),
        ]
    return outcome(
        curves,
        parts,
        f"share that never gets there at eta_c=1: {say(lost)}; time relative to the shortest: {say(slow)}",
    )


def _small_is_longer(curves: Curves) -> Outcome:
    found = {label: slowdown(curves, label, 0) for label in reaching(curves, (*JH, *ONP))}
    measured = f"mean time at eta_c={curves.x[0]:g} relative to the shortest: {say(found)}"
    return outcome(curves, [above(one, 1.0) for one in found.values()], measured)


def _small_is_steadier(curves: Curves) -> Outcome:
    """Relative spread (deviation over mean) below the stated best eta_c less that above, where most
    runs get there.
    """
    found = {label: _spread(curves, label) for label in (*JH, *ONP)}
    return outcome(
        curves,
        [below(one, 0.0) for one in found.values()],
        f"relative spread below eta_c=0.025 less that above: {say(found)}",
    )


def _spread(curves: Curves, label: str) -> Estimate:
    samples, known = runs_of(curves, label)[0], curves.censored[label] < 0.5
    low, high = known & (curves.x < BEST / 1.01), known & (curves.x > BEST * 1.01)
    if not low.any() or not high.any():
        raise Untestable(
            f"{label} gets there in most runs at no eta_c {'below' if not low.any() else 'above'} 0.025"
        )

    def spread(first: Floats, second: Floats) -> Floats:
        relative = np.sqrt(np.maximum(second / first**2 - 1, 0.0))
        return np.asarray(relative[..., low].mean(axis=-1) - relative[..., high].mean(axis=-1))

    return of_means(curves, spread, samples, samples**2)


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "12a": claims(
        100_000,
        ("12a-high", "On the deterministic chain a high critic step is better.", _high_is_better),
        ("12a-one", "The best critic step is 1.", _one_is_best),
        (
            "12a-on-policy",
            "Even a critic step of 1 does not let on-policy updates, with entropy or without, solve the chain.",
            _on_policy_never,
        ),
        (
            "12a-tolerant",
            "J&H is much more tolerant to a small critic step when off-policiness stays high.",
            _tolerant,
        ),
    ),
    "12b": claims(
        120_000,
        (
            "12b-risk",
            "On random MDPs too high a critic step may compromise convergence altogether.",
            _too_high,
        ),
        ("12b-small", "A small critic step takes longer.", _small_is_longer),
        ("12b-steadier", "A small critic step is steadier.", _small_is_steadier),
        ("12b-best", "The critic step is best around 0.025.", best_about(BEST, *JH, *ONP)),
    ),
}
