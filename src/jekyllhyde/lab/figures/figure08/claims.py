"""What the paper says about Figure 8, in our words, as tests on its numbers (Appendix E, the chain
against trajectories).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.lab.figures.figure02.claims import (
    DECAYING,
    HALF,
    JH,
    JH_100,
    JH_SQRT,
    ONP,
    all_above,
    crosses_sooner,
    mean_above,
    none_above,
)
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    FOUND,
    SOLVED,
    above,
    claims,
    crossing,
    gap_ratio,
    means,
    much_above,
    of_means,
    outcome,
    runs_of,
    say,
)
from jekyllhyde.mdp.finite import Floats


def _much_better(curves: Curves) -> Outcome:
    """The worst J&H less the best on-policy update at the end, at least half the way from the fruit
    to the optimum.
    """
    samples = [one[:, -1] for one in runs_of(curves, *JH, *ONP)]

    def lead(*m: Floats) -> Floats:
        return np.asarray((np.min(m[: len(JH)], axis=0) - np.max(m[len(JH) :], axis=0))[..., 0])

    found = of_means(curves, lead, *samples)
    return outcome(
        curves, [above(found, FOUND)], f"worst J&H less best on-policy mean at the end: {found}"
    )


def _o_matters_more(curves: Curves) -> Outcome:
    """The mean time to 0.5 changes by a larger factor with o than with eps."""
    runs_of(curves, *JH)
    samples = [crossing(curves, label, FOUND) for label in (*HALF, *DECAYING)]

    def factors(*m: Floats) -> tuple[Floats, Floats]:
        a, b, c, d = (
            np.log(one[..., 0]) for one in m
        )  # (eps=100/t, 10/sqrt(t)) with o=0.5, then with o=10/sqrt(t)
        return np.abs((c + d) - (a + b)) / 2, np.abs((b + d) - (a + c)) / 2

    by_o, by_eps = (
        of_means(curves, lambda *m, i=i: np.exp(factors(*m)[i]), *samples) for i in (0, 1)
    )
    more = of_means(curves, lambda *m: np.exp(factors(*m)[0] - factors(*m)[1]), *samples)
    return outcome(
        curves,
        [above(more, 1.0)],
        f"factor in the mean time to 0.5: with o {by_o}, with eps {by_eps}, ratio {more}",
    )


def _eps_keeps_away(curves: Curves) -> Outcome:
    """At the end eps=10/sqrt(t) is more than twice as far from the optimum as eps=100/t."""
    found = {b: gap_ratio(curves, b, a) for a, b in zip(JH_100, JH_SQRT, strict=True)}
    ends = means(curves, JH)
    measured = f"distance to the optimum relative to eps=100/t: {say(found)}; means at the end: {say(ends)}"
    return outcome(curves, [much_above(one) for one in found.values()], measured)


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "8a": claims(
        100_000,
        ("8a-better", "J&H performs much better than on-policy updates.", _much_better),
        (
            "8a-all-runs",
            "All variants of J&H find the optimal policy in all runs.",
            all_above(FOUND, *JH),
        ),
        (
            "8a-on-policy",
            "On-policy updates, with entropy or without, never do.",
            none_above(FOUND, *ONP),
        ),
        (
            "8a-off-policy",
            "Off-policiness makes convergence faster: o=0.5 is sooner than o=10/sqrt(t).",
            crosses_sooner(FOUND, tuple(zip(HALF, DECAYING, strict=True))),
        ),
        (
            "8a-o-matters",
            "Off-policiness matters more for speed than the exploration schedule.",
            _o_matters_more,
        ),
        (
            "8a-eps",
            "With eps=10/sqrt(t) exploration keeps the global return from coming close to the optimum.",
            _eps_keeps_away,
        ),
    ),
    "8b": claims(
        100_000,
        (
            "8b-jekyll",
            "Jekyll alone converges well to the optimum, with eps=10/sqrt(t) too.",
            mean_above(SOLVED, *JH),
        ),
        (
            "8b-all-runs",
            "All variants of J&H converge to the optimal policy in all runs (Jekyll).",
            all_above(SOLVED, *JH),
        ),
    ),
}
