"""What the paper says about Figure 11, in our words, as tests on its numbers (Appendix E, the
actor's step size).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.lab.figures.figure02.claims import JH, ONP
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    Part,
    Test,
    about,
    above,
    arrived,
    at,
    below,
    best,
    claims,
    every,
    much_above,
    of_means,
    outcome,
    reaching,
    runs_of,
    say,
    slowdown,
    step,
    time_ratio,
    untestable,
    within,
)
from jekyllhyde.mdp.finite import Floats


def never(curves: Curves, labels: tuple[str, ...], i: int | slice) -> Outcome:
    """No run of these series reaches the target at these places."""
    shares = {label: float(arrived(curves, label)[:, i].mean()) for label in labels}
    parts = [every(curves, ~arrived(curves, label)[:, i]) for label in labels]
    return outcome(curves, parts, f"share of runs that reach the target: {say(shares)}")


def _until_it_breaks(curves: Curves) -> Outcome:
    """At the smallest eta the time is longer than at the best, at the largest more than twice as
    long.
    """
    parts: list[Part] = []
    said = []
    for label in JH:
        place = best(curves, label)
        first, last = slowdown(curves, label, 0), slowdown(curves, label, -1)
        parts += [above(first, 1.0), much_above(last)]
        said.append(
            f"{label} best at {place}, {first} times as long at {curves.x[0]:g}, {last} times at {curves.x[-1]:g}"
        )
    return outcome(curves, parts, "; ".join(said))


def _no_divergence(curves: Curves) -> Outcome:
    return outcome(
        curves,
        [every(curves, curves.failures.get(label, 0) == 0) for label in JH],
        f"runs that diverged: {say(curves.failures)}",
    )


def _on_policy_never(curves: Curves) -> Outcome:
    return never(curves, ONP, slice(None))


def _default_not_best(curves: Curves) -> Outcome:
    i = at(curves, 1.0)
    found = {label: slowdown(curves, label, i) for label in JH}
    measured = f"mean time at eta={curves.x[i]:g} relative to the shortest: {say(found)}"
    return outcome(curves, [above(one, 1.0) for one in found.values()], measured)


def best_about(stated: float, *labels: str) -> Test:
    """The best place is about the one stated, within one step of the axis."""

    def test(curves: Curves) -> Outcome:
        found = {label: best(curves, label) for label in reaching(curves, labels)}
        medians = {
            label: float(curves.x[np.median(runs_of(curves, label)[0], axis=0).argmin()])
            for label in found
        }
        parts = [about(one, stated, step(curves)) for one in found.values()]
        return outcome(
            curves,
            parts,
            f"best {curves.panel.xlabel}: {say(found)}; by the median, which tails do not move: {say(medians)}",
        )

    return test


def _best_in_range(curves: Curves) -> Outcome:
    found = {label: best(curves, label) for label in reaching(curves, (*JH, *ONP))}
    return outcome(
        curves, [within(one, 2, 30) for one in found.values()], f"best eta: {say(found)}"
    )


def _too_fast(curves: Curves) -> Outcome:
    found = {label: slowdown(curves, label, -1) for label in reaching(curves, (*JH, *ONP))}
    measured = f"mean time at eta={curves.x[-1]:g} relative to the shortest: {say(found)}"
    return outcome(curves, [above(one, 1.0) for one in found.values()], measured)


def _more_tolerant(curves: Curves) -> Outcome:
    """The best eta of J&H, on (geometric) average over its variants, relative to that of on-policy
    updates.
    """

    def ratio(*m: Floats) -> Floats:
        places = np.log(np.stack([curves.x[one.argmin(axis=-1)] for one in m]))
        return np.asarray(np.exp(places[: len(JH)].mean(axis=0) - places[len(JH) :].mean(axis=0)))

    found = of_means(curves, ratio, *runs_of(curves, *JH, *ONP))
    return outcome(
        curves, [above(found, 1.0)], f"best eta of J&H relative to on-policy updates: {found}"
    )


def _shortest(*m: Floats) -> Floats:
    return np.min([one.min(axis=-1) for one in m], axis=0)


def _outperforms(curves: Curves) -> Outcome:
    """The best J&H against the best on-policy update, each at its best eta."""
    samples = runs_of(curves, *JH, *ONP)
    ratio = of_means(
        curves, lambda *m: _shortest(*m[: len(JH)]) / _shortest(*m[len(JH) :]), *samples
    )
    return outcome(
        curves,
        [below(ratio, 1.0)],
        f"shortest mean time of J&H relative to on-policy updates: {ratio}",
    )


def _levels(curves: Curves) -> Outcome:
    jh, on_policy = (of_means(curves, _shortest, *runs_of(curves, *labels)) for labels in (JH, ONP))
    medians = [
        min(float(np.median(one, axis=0).min()) for one in runs_of(curves, *labels))
        for labels in (JH, ONP)
    ]
    parts = [about(jh, 2500), about(on_policy, 3500)]
    measured = f"shortest mean time of J&H {jh} (2500 stated), of on-policy updates {on_policy} (3500 stated)"
    return outcome(
        curves, parts, f"{measured}; shortest medians {medians[0]:.4g} and {medians[1]:.4g}"
    )


def _default_unfavourable(curves: Curves) -> Outcome:
    """At eta 1 J&H takes longer than PG and undiscounted updates."""
    i = at(curves, 1.0)
    found = {f"{a} to {b}": time_ratio(curves, a, b, i) for a in JH for b in ONP[:2]}
    return outcome(
        curves,
        [above(one, 1.0) for one in found.values()],
        f"ratio of mean times at eta={curves.x[i]:g}: {say(found)}",
    )


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "11a": claims(
        150_000,
        (
            "11a-breaks",
            "A larger eta is better for J&H up to some value, where it breaks.",
            _until_it_breaks,
        ),
        ("11a-numerical", "That is not a matter of numerical stability.", _no_divergence),
        (
            "11a-softmax",
            "It is that softmax parameters run away faster than they can come back.",
            untestable("the stored times say nothing about the parameters"),
        ),
        ("11a-on-policy", "No eta lets on-policy updates find the optimum.", _on_policy_never),
        (
            "11a-easier",
            "On easier chains (lower beta, smaller) it is the same.",
            untestable("the panel has one chain; the paper does not show this either"),
        ),
        ("11a-default", "The default of 1 is not the best eta.", _default_not_best),
        ("11a-20", "An eta of about 20 is best here too.", best_about(20, *JH)),
    ),
    "11b": claims(
        120_000,
        ("11b-range", "Every update has its best eta between 2 and 30.", _best_in_range),
        (
            "11b-too-fast",
            "There is a value in not updating too fast: a very large eta is worse.",
            _too_fast,
        ),
        ("11b-tolerant", "Off-policiness tolerates a higher eta.", _more_tolerant),
        ("11b-jh-20", "J&H is best with eta of about 20.", best_about(20, *JH)),
        ("11b-on-policy-5", "On-policy updates are best with eta of about 5.", best_about(5, *ONP)),
        (
            "11b-outperforms",
            "Each at its best eta, J&H significantly outperforms on-policy updates.",
            _outperforms,
        ),
        (
            "11b-levels",
            "The best times are about 2,500 trajectories for J&H and 3,500 for on-policy updates.",
            _levels,
        ),
        ("11b-default", "The default eta of 1 is not favourable for J&H.", _default_unfavourable),
    ),
}
