"""What the paper says about Figure 7, in our words, as tests on its numbers (Section 4.2, Appendix
D, random MDPs).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    EQUAL,
    SOLVED,
    Estimate,
    Part,
    about,
    above,
    at,
    below,
    both,
    bounded,
    claims,
    gain,
    means,
    much_below,
    of_means,
    outcome,
    rounds_to,
    runs_of,
    say,
    untestable,
)
from jekyllhyde.mdp.finite import Floats

ON_POLICY = ("PG", "undiscounted")
LOW = (*ON_POLICY, "o=10/t")
HIGH = "o=0.5"
SERIES = (*ON_POLICY, "uniform", "o=0.5", "o=0.1", "o=10/sqrt(t)", "o=10/t")
ENTROPY = ("PG lam=0.1", "undiscounted lam=0.1")


def decile(curves: Curves, label: str, i: int = -1) -> Estimate:
    """The decile over runs at one place."""
    samples = runs_of(curves, label)[0][:, i]
    return bounded(curves, intervals.summarize(samples, "decile"), len(samples))


def decile_gain(curves: Curves, a: str, b: str, i: int = -1) -> Estimate:
    """The decile of a less that of b, the same runs drawn from both."""
    one, other = runs_of(curves, a, b)
    return bounded(curves, intervals.difference(one[:, i], other[:, i], "decile"), len(one))


def _almost_equal(curves: Curves) -> Outcome:
    samples = [one[:, -1] for one in runs_of(curves, *SERIES)]
    spread = of_means(
        curves, lambda *m: np.max(m, axis=0)[..., 0] - np.min(m, axis=0)[..., 0], *samples
    )
    return outcome(curves, [below(spread, EQUAL)], f"best less worst mean at the end: {spread}")


def _strong_policies(curves: Curves) -> Outcome:
    found = means(curves, ON_POLICY)
    return outcome(
        curves, [above(one, SOLVED) for one in found.values()], f"mean at the end: {say(found)}"
    )


def _often_stagnate(curves: Curves) -> Outcome:
    """Often: on more than one MDP in ten. Stagnate at 99 %: below 0.995 at the end, less than 0.005
    gained in the second half.
    """
    half, parts, found = at(curves, curves.x[-1] / 2), [], {}
    for label in ON_POLICY:
        samples = runs_of(curves, label)[0]
        stuck = (samples[:, -1] < 0.995) & (samples[:, -1] - samples[:, half] < 0.005)
        found[label] = bounded(curves, intervals.share(stuck), len(stuck))
        parts.append(above(found[label], 0.1))
    return outcome(
        curves, parts, f"share of MDPs that stay below 0.995 through the second half: {say(found)}"
    )


def order(curves: Curves) -> Outcome:
    """At the end, high off-policiness less each of the low ones."""
    found = {label: gain(curves, HIGH, label) for label in LOW}
    return outcome(
        curves,
        [above(one, 0.0) for one in found.values()],
        f"mean of {HIGH} at the end, less that of {say(found)}",
    )


def _from_2000(curves: Curves) -> Outcome:
    """From update 2000 on, the advantage of high off-policiness grows."""
    i, parts, found = at(curves, 2000), [], {}
    for label in LOW:
        high, low = runs_of(curves, HIGH, label)
        lead = high - low
        found[label] = of_means(curves, lambda m: m[..., 0], lead[:, -1] - lead[:, i])
        parts.append(above(found[label], 0.0))
    return outcome(
        curves, parts, f"what {HIGH} wins from update {curves.x[i]:g} to the end on {say(found)}"
    )


def _uniform_overtakes(curves: Curves) -> Outcome:
    """Behind at update 1000, ahead at the end, and from about update 4000 on."""
    early, parts, said = at(curves, 1000), [], []
    for label in LOW:
        first, last = gain(curves, "uniform", label, early), gain(curves, "uniform", label)
        crossing = _last_behind(curves, label)
        parts += [
            below(first, 0.0),
            above(last, 0.0),
            both(above(last, 0.0), about(crossing, 4000)),
        ]
        said.append(
            f"{label} {first} at {curves.x[early]:g}, {last} at the end, behind until {crossing}"
        )
    return outcome(curves, parts, f"mean of uniform less that of {'; '.join(said)}")


def _last_behind(curves: Curves, label: str) -> Estimate:
    def last(a: Floats, b: Floats) -> Floats:
        behind = a <= b
        return np.where(
            behind.any(axis=-1),
            curves.x[len(curves.x) - 1 - behind[..., ::-1].argmax(axis=-1)],
            0.0,
        )

    return of_means(curves, last, *runs_of(curves, "uniform", label))


def _uniform_slow(curves: Curves) -> Outcome:
    """Over the whole run on average, uniform below the mixture."""
    found = {}
    for label in (HIGH, "o=0.1", *ON_POLICY):
        uniform, other = runs_of(curves, "uniform", label)
        found[label] = of_means(curves, lambda m: m[..., 0], (uniform - other).mean(axis=1))
    return outcome(
        curves,
        [below(one, 0.0) for one in found.values()],
        f"mean over the run of uniform less that of {say(found)}",
    )


def _both_parts(curves: Curves) -> Outcome:
    """The even mixture ends above on-policy and above uniform."""
    found = {label: gain(curves, HIGH, label) for label in (*ON_POLICY, "uniform")}
    return outcome(
        curves,
        [above(one, 0.0) for one in found.values()],
        f"mean of {HIGH} at the end, less that of {say(found)}",
    )


def _direct_level(curves: Curves) -> Outcome:
    found = means(curves, SERIES)
    return outcome(
        curves,
        [rounds_to(one, 0.997, 3) for one in found.values()],
        f"mean at the end: {say(found)}",
    )


def _softmax_level(curves: Curves) -> Outcome:
    found = means(curves, tuple(label for label in SERIES if label != "uniform"))
    return outcome(
        curves,
        [rounds_to(one, 0.99, 2) for one in found.values()],
        f"mean at the end: {say(found)}",
    )


def _stable(curves: Curves) -> Outcome:
    """The decile is close to the mean: less than half as far from it as with on-policy updates."""

    def far(a: Floats) -> float:
        return float(a.mean() - np.quantile(a, 0.1))

    spread = {label: far(runs_of(curves, label)[0][:, -1]) for label in (HIGH, *ON_POLICY)}
    found = {}
    for label in ON_POLICY:
        one, other = (samples[:, -1] for samples in runs_of(curves, HIGH, label))
        interval = intervals.jointly(lambda a, b: far(a) / far(b) if far(b) else np.nan, one, other)
        found[label] = bounded(curves, interval, len(one))
    measured = (
        f"mean less decile at the end: {say(spread)}; that of {HIGH} relative to {say(found)}"
    )
    return outcome(curves, [much_below(one) for one in found.values()], measured)


def decile_order(curves: Curves) -> Outcome:
    """At the end, the decile of high off-policiness above that of each of the low ones."""
    found = {label: decile_gain(curves, HIGH, label) for label in LOW}
    return outcome(
        curves,
        [above(one, 0.0) for one in found.values()],
        f"decile of {HIGH} at the end, less that of {say(found)}",
    )


def _decile_stagnates(curves: Curves) -> Outcome:
    found = {label: decile(curves, label) for label in ON_POLICY}
    return outcome(
        curves,
        [rounds_to(one, 0.99, 2) for one in found.values()],
        f"decile at the end: {say(found)}",
    )


def _uniform_stays_behind(curves: Curves) -> Outcome:
    found = {label: gain(curves, "uniform", label) for label in SERIES if label != "uniform"}
    return outcome(
        curves,
        [below(one, 0.0) for one in found.values()],
        f"mean of uniform at the end, less that of {say(found)}",
    )


def _entropy_worse(curves: Curves) -> Outcome:
    found = {
        plain: gain(curves, helped, plain) for plain, helped in zip(ON_POLICY, ENTROPY, strict=True)
    }
    return outcome(
        curves,
        [below(one, 0.0) for one in found.values()],
        f"mean with lam=0.1 at the end, less that without: {say(found)}",
    )


def _entropy_first(curves: Curves) -> Outcome:
    """Until update 1000 one with entropy leads all series without."""
    parts: list[Part] = []
    said = []
    for x in (250, 500, 1000):
        i = at(curves, x)
        samples = [one[:, i] for one in runs_of(curves, *ENTROPY, *SERIES)]
        lead = of_means(
            curves, lambda *m: (np.max(m[:2], axis=0) - np.max(m[2:], axis=0))[..., 0], *samples
        )
        parts.append(above(lead, 0.0))
        said.append(f"{lead} at {curves.x[i]:g}")
    return outcome(curves, parts, f"best mean with entropy less best without: {', '.join(said)}")


_BESIDE = untestable("it sets this panel beside 7a; the numbers are in both panels' files")

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "7a": claims(
        5_000,
        ("7a-equal", "All updates perform almost equally well.", _almost_equal),
        ("7a-strong", "PG and undiscounted updates find strong policies.", _strong_policies),
        ("7a-stagnate", "They often stagnate at 99 % of the optimum.", _often_stagnate),
        (
            "7a-order",
            "High off-policiness ends above low off-policiness and on-policy updates.",
            order,
        ),
        ("7a-2000", "From update 2,000 on, low off-policiness loses ground to high.", _from_2000),
        (
            "7a-uniform",
            "Uniform updates start late and overtake low off-policiness around update 4,000.",
            _uniform_overtakes,
        ),
        ("7a-slow", "Purely uniform updates slow training down.", _uniform_slow),
        ("7a-both", "It is best to have both an on-policy and an off-policy part.", _both_parts),
        ("7a-level", "The mean performance comes to about 0.997.", _direct_level),
    ),
    "7b": claims(
        5_000,
        ("7b-decile", "The decile of on-policy updates stagnates around 0.99.", _decile_stagnates),
        ("7b-order", "High off-policiness has the higher decile.", decile_order),
        (
            "7b-stable",
            "High off-policiness is very stable: its decile is close to its mean.",
            _stable,
        ),
    ),
    "7c": claims(
        5_000,
        ("7c-level", "With softmax the mean stays around 0.99.", _softmax_level),
        (
            "7c-order",
            "High off-policiness ends above low off-policiness and on-policy updates, as with direct.",
            order,
        ),
        (
            "7c-thin",
            "The gap between high and low off-policiness is much thinner than with direct.",
            _BESIDE,
        ),
        ("7c-slower", "Softmax takes longer to converge than direct.", _BESIDE),
        ("7c-uniform", "With softmax uniform updates stay behind.", _uniform_stays_behind),
        ("7c-slow", "Purely uniform updates slow training down.", _uniform_slow),
        ("7c-both", "It is best to have both an on-policy and an off-policy part.", _both_parts),
        ("7c-bias", "Entropy biases on-policy updates: they end lower.", _entropy_worse),
        ("7c-entropy", "Entropy improves fastest until update 1,000.", _entropy_first),
    ),
    "7d": claims(
        5_000,
        ("7d-order", "The decile shows the same order as with direct.", decile_order),
        ("7d-stable", "High off-policiness is very stable, as with direct.", _stable),
        (
            "7d-thin",
            "Gaps between deciles are narrower than with direct.",
            untestable("it sets this panel beside 7b"),
        ),
    ),
}
