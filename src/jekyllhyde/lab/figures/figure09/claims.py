"""What the paper says about Figure 9, in our words, as tests on its numbers (Section 4.3, Appendix
E, random MDPs).

The on-policy series without `batch=1` are the published ones, which learn from replay.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.lab.figures.figure02.claims import (
    DECAYING,
    ENTROPY,
    HALF,
    JH_100,
    JH_SQRT,
    PLAIN,
    ends_above,
    keeps_up,
    mean_above,
)
from jekyllhyde.lab.figures.figure07.claims import decile_gain
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    ALIKE,
    EQUAL,
    FEWEST,
    SOLVED,
    Estimate,
    Part,
    Untestable,
    about,
    above,
    at,
    below,
    both,
    claims,
    crossing_ratio,
    gain,
    gap_ratio,
    of_means,
    outcome,
    runs_of,
    say,
)
from jekyllhyde.mdp.finite import Floats

_O = tuple(zip(HALF, DECAYING, strict=True))
_ENTROPY = tuple(zip(ENTROPY, PLAIN, strict=True))
_CLOSE = (*JH_100, *PLAIN)


def _entropy_no_faster(curves: Curves) -> Outcome:
    """Entropy saves no more than a tenth of the time to 0.95."""
    found = {a: crossing_ratio(curves, a, b, SOLVED) for a, b in _ENTROPY}
    parts = [above(one, 1 / ALIKE) for one in found.values()]
    return outcome(
        curves, parts, f"mean time to 0.95 relative to that without entropy: {say(found)}"
    )


def _entropy_plateau(curves: Curves) -> Outcome:
    """In the second half the distance to the optimum shrinks by less than a tenth, and it ends
    larger than without entropy.
    """
    half, parts, shrink = at(curves, curves.x[-1] / 2), list[Part](), {}
    bias = {a: gap_ratio(curves, a, b) for a, b in _ENTROPY}
    for label in ENTROPY:
        samples = runs_of(curves, label)[0]
        shrink[label] = of_means(
            curves, lambda m: (1 - m[..., 1]) / (1 - m[..., 0]), samples[:, [half, -1]]
        )
        parts += [above(shrink[label], 1 / ALIKE), above(bias[label], 1.0)]
    measured = f"distance to the optimum at the end relative to half time: {say(shrink)}; relative to no entropy: {say(bias)}"
    return outcome(curves, parts, measured)


def _average_gain(curves: Curves, a: str, b: str) -> Estimate:
    one, other = runs_of(curves, a, b)
    return of_means(curves, lambda m: m[..., 0], (one - other).mean(axis=1))


def _half_slower(curves: Curves) -> Outcome:
    """On average over the run o=0.5 is below o=10/sqrt(t), by less than 0.01."""
    found = {a: _average_gain(curves, a, b) for a, b in _O}
    parts = [both(below(one, 0.0), above(one, -EQUAL)) for one in found.values()]
    return outcome(curves, parts, f"mean over the run less that with o=10/sqrt(t): {say(found)}")


def _jekyll_comparable(curves: Curves) -> Outcome:
    """With eps=10/sqrt(t), Jekyll is at most a tenth farther from the optimum than plain updates."""
    found = {f"{a} to {b}": gap_ratio(curves, a, b) for a in JH_SQRT for b in PLAIN}
    return outcome(
        curves,
        [below(one, ALIKE) for one in found.values()],
        f"ratio of distances to the optimum: {say(found)}",
    )


def _only_the_mixture(curves: Curves) -> Outcome:
    """Jekyll with eps=10/sqrt(t) is at most a tenth farther from the optimum than with eps=100/t."""
    found = {b: gap_ratio(curves, b, a) for a, b in zip(JH_100, JH_SQRT, strict=True)}
    measured = f"Jekyll's distance to the optimum relative to eps=100/t: {say(found)}"
    return outcome(curves, [below(one, ALIKE) for one in found.values()], measured)


def _no_winner(curves: Curves) -> Outcome:
    """The interval of the difference between the two schedules of o contains 0."""
    if curves.runs < FEWEST:
        raise Untestable(f"{curves.runs} runs are too few for an interval")
    found = {a: gain(curves, a, b) for a, b in _O}
    parts = [one.lo <= 0 <= one.hi for one in found.values()]
    return outcome(curves, parts, f"mean at the end less that with o=10/sqrt(t): {say(found)}")


def _comparable(curves: Curves) -> Outcome:
    samples = [one[:, -1] for one in runs_of(curves, *_CLOSE)]
    spread = of_means(curves, lambda *m: (np.max(m, axis=0) - np.min(m, axis=0))[..., 0], *samples)
    return outcome(
        curves,
        [below(spread, EQUAL)],
        f"best less worst mean at the end, of {', '.join(_CLOSE)}: {spread}",
    )


def _ten_times(curves: Curves) -> Outcome:
    """The distance to the optimum at 10^5 relative to that at 10^6 trajectories."""
    places, found = [at(curves, 1e5), at(curves, 1e6)], {}
    for label in _CLOSE:
        samples = runs_of(curves, label)[0][:, places]
        found[label] = of_means(curves, lambda m: (1 - m[..., 0]) / (1 - m[..., 1]), samples)
    measured = f"distance to the optimum at {curves.x[places[0]]:g} relative to {curves.x[places[1]]:g} trajectories: {say(found)}"
    return outcome(curves, [about(one, 10.0) for one in found.values()], measured)


def _rate(curves: Curves) -> Outcome:
    """The slope of the log distance to the optimum against log trajectories, from 10^5 to 10^6, is
    about -1.
    """
    chosen, found = curves.x >= curves.x[at(curves, 1e5)], {}
    x = np.log(curves.x[chosen])
    x = (x - x.mean()) / ((x - x.mean()) ** 2).sum()

    def slope(m: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(1 - m, 1e-300)) @ x)

    for label in _CLOSE:
        found[label] = of_means(curves, slope, runs_of(curves, label)[0][:, chosen])
    measured = (
        f"exponent of the distance to the optimum in trajectories, 10^5 to 10^6: {say(found)}"
    )
    return outcome(curves, [about(one, -1.0) for one in found.values()], measured)


def _risk(curves: Curves) -> Outcome:
    """The decile at the end with o=0.5 (eps=100/t) above those with o=10/sqrt(t) and on-policy."""
    found = {label: decile_gain(curves, HALF[0], label) for label in (DECAYING[0], *PLAIN)}
    return outcome(
        curves,
        [above(one, 0.0) for one in found.values()],
        f"decile of {HALF[0]} at the end, less that of {say(found)}",
    )


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "9a": claims(
        100_000,
        (
            "9a-keeps-up",
            "J&H (eps=100/t) keeps up with the speed of the true gradient.",
            keeps_up(SOLVED, tuple((a, "PG") for a in JH_100)),
        ),
        (
            "9a-eps",
            "J&H with eps=10/sqrt(t) has a low global return because it goes on exploring.",
            ends_above(tuple((a, b) for a in PLAIN for b in JH_SQRT)),
        ),
        ("9a-entropy-speed", "Entropy does not make training faster.", _entropy_no_faster),
        ("9a-plateau", "Entropy biases the objective, and performance plateaus.", _entropy_plateau),
        (
            "9a-half",
            "o=0.5 slows convergence a bit in the first 100,000 trajectories.",
            _half_slower,
        ),
        (
            "9a-default-99",
            "With the default steps 0.99 is reached (one half of a comparison, the other is 13a-99).",
            mean_above(0.99, *JH_100, *PLAIN, *(f"{label} batch=1" for label in PLAIN)),
        ),
    ),
    "9b": claims(
        100_000,
        (
            "9b-mixture",
            "J&H with eps=10/sqrt(t) is worse only because of the mixture: Jekyll alone is not.",
            _only_the_mixture,
        ),
        (
            "9b-comparable",
            "Jekyll alone (eps=10/sqrt(t)) is comparable with plain on-policy updates.",
            _jekyll_comparable,
        ),
        (
            "9b-better",
            "It is even slightly better.",
            ends_above(tuple((a, b) for a in JH_SQRT for b in PLAIN)),
        ),
    ),
    "9c": claims(
        1_000_000,
        ("9c-half", "After more trajectories o=0.5 gets better than o=10/sqrt(t).", ends_above(_O)),
        (
            "9c-no-winner",
            "The results are not significant enough to elect a winner among the schedules of o.",
            _no_winner,
        ),
        ("9c-comparable", "All perform comparably.", _comparable),
        (
            "9c-ten",
            "With ten times the data the distance to the optimum is ten times smaller.",
            _ten_times,
        ),
        ("9c-rate", "The distance to the optimum falls like 1/t.", _rate),
    ),
    "9d": claims(
        1_000_000,
        ("9d-risk", "Strong off-policiness mitigates the risk: it improves the worst case.", _risk),
    ),
}
