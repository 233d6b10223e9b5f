"""What the paper says about Figure 14, in our words, as tests on its numbers (Appendix E,
parameters of the chain).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.figures.figure02.claims import DECAYING, ENTROPY, HALF, JH, PLAIN
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    Estimate,
    Part,
    Test,
    Untestable,
    about,
    above,
    arrived,
    at,
    below,
    both,
    bounded,
    claims,
    every,
    most,
    of_means,
    outcome,
    runs_of,
    say,
    time_ratio,
    untestable,
)
from jekyllhyde.mdp.finite import Floats


def all_solved(*labels: str) -> Test:
    """The runs of these series reach the target at every x."""

    def test(curves: Curves) -> Outcome:
        shares = {
            label: float(1 - np.mean(curves.censored[label]))
            for label in labels
            if runs_of(curves, label)
        }
        lowest = {label: float(1 - np.max(curves.censored[label])) for label in labels}
        parts = [most(curves, arrived(curves, label)) for label in labels]
        return outcome(
            curves,
            parts,
            f"share of runs that reach the target: {say(shares)}; at the worst {curves.panel.xlabel}: {say(lowest)}",
        )

    return test


def _maintained(curves: Curves) -> Outcome:
    """On the longest chain o=10/sqrt(t) takes longer than o=0.5."""
    found = {b: time_ratio(curves, b, a, -1) for a, b in zip(HALF, DECAYING, strict=True)}
    measured = f"mean time at |S|={curves.x[-1]:g} relative to o=0.5: {say(found)}"
    return outcome(curves, [above(one, 1.0) for one in found.values()], measured)


def _easiest(curves: Curves) -> Outcome:
    i = at(curves, 3)
    flags = {label: ~arrived(curves, label)[:, i] for label in PLAIN}
    shares = {
        label: bounded(curves, intervals.share(one), len(one)) for label, one in flags.items()
    }
    parts = [most(curves, one) for one in flags.values()]
    return outcome(curves, parts, f"share of runs that fail at |S|=3: {say(shares)}")


def _entropy_late(curves: Curves) -> Outcome:
    """The median on the smallest chain, which the sentence before is about; a mean near the cap,
    where times end, says nothing.
    """
    i, found = at(curves, 3), {}
    for label in ENTROPY:
        samples = runs_of(curves, label)[0][:, i]
        found[label] = bounded(
            curves, intervals.kaplan_meier(samples, samples < curves.cap).median, len(samples)
        )
    lost = {label: float(curves.censored[label][i]) for label in ENTROPY}
    measured = f"median time at |S|=3: {say(found)}; share that does not get there by {curves.cap}: {say(lost)}"
    if all(np.isinf(one.y) for one in found.values()):
        raise Untestable(
            f"most runs do not get there by the cap, so nobody knows when they do; {measured}"
        )
    return outcome(
        curves,
        [None if np.isinf(one.y) else about(one, 150_000) for one in found.values()],
        measured,
    )


def _small_beta(curves: Curves) -> Outcome:
    """At the smallest beta all runs find the optimal policy, at the largest not."""
    parts: list[Part] = []
    shares = {}
    for label in PLAIN:
        there = arrived(curves, label)
        parts.append(both(every(curves, there[:, 0]), not there[:, -1].all()))
        shares[label] = (
            f"{there[:, 0].mean():.4g} at {curves.x[0]:g}, {there[:, -1].mean():.4g} at {curves.x[-1]:g}"
        )
    return outcome(curves, parts, f"share of runs that reach the target: {say(shares)}")


def _entropy_pushes(curves: Curves) -> Outcome:
    """The largest beta that at least half of the runs solve is larger with entropy, by less than
    0.1.
    """
    parts: list[Part] = []
    limits: dict[str, Estimate] = {}
    shifts: dict[str, Estimate] = {}

    def limit(shares: Floats) -> Floats:
        enough = shares >= 0.5
        return np.where(
            enough.any(axis=-1),
            curves.x[enough.shape[-1] - 1 - enough[..., ::-1].argmax(axis=-1)],
            -1.0,
        )

    for plain, helped in zip(PLAIN, ENTROPY, strict=True):
        flags = [arrived(curves, label).astype(np.float64) for label in (plain, helped)]
        limits |= {
            label: of_means(curves, limit, one)
            for label, one in zip((plain, helped), flags, strict=True)
        }
        shifts[helped] = of_means(curves, lambda a, b: limit(b) - limit(a), *flags)
        parts.append(both(above(shifts[helped], 0.0), below(shifts[helped], 0.1)))
    return outcome(
        curves,
        parts,
        f"largest beta that half of the runs solve (-1: none): {say(limits)}; shift: {say(shifts)}",
    )


def _strong_is_faster(curves: Curves) -> Outcome:
    """On average over x, o=0.5 takes less time than o=10/sqrt(t)."""
    found = {}
    for a, b in zip(HALF, DECAYING, strict=True):
        one, other = (samples.mean(axis=1) for samples in runs_of(curves, a, b))
        found[a] = of_means(curves, lambda x, y: x[..., 0] / y[..., 0], one, other)
    return outcome(
        curves,
        [below(one, 1.0) for one in found.values()],
        f"mean time relative to o=10/sqrt(t): {say(found)}",
    )


_FATAL = untestable(
    "it gives a cause; the stored times show the effect alone (14b-small, 12a-on-policy)"
)

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "14a": claims(
        150_000,
        (
            "14a-scales",
            "J&H scales well with the chain's size where off-policiness is maintained.",
            all_solved(*HALF),
        ),
        (
            "14a-maintained",
            "It does less so where off-policiness decays (o=10/sqrt(t)).",
            _maintained,
        ),
        ("14a-easiest", "On-policy updates fail even on the easiest chain.", _easiest),
        ("14a-entropy", "With entropy they reach 0.5 around trajectory 150,000.", _entropy_late),
        (
            "14a-converged",
            "On-policy updates have settled on the fruit before the later states' values are estimated.",
            untestable("it gives a cause; the stored times show the effect alone (14a-easiest)"),
        ),
    ),
    "14b": claims(
        150_000,
        (
            "14b-small",
            "With beta small enough on-policy updates solve the chain of 10 states.",
            _small_beta,
        ),
        ("14b-entropy", "Entropy pushes that limit a bit further, not by much.", _entropy_pushes),
        ("14b-critic", "The time that the critic needs is fatal to on-policy updates.", _FATAL),
        ("14b-reliable", "J&H is reliable, whatever beta.", all_solved(*JH)),
        ("14b-strong", "It is so in particular with strong off-policiness.", _strong_is_faster),
    ),
}
