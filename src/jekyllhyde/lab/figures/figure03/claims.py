"""What the paper says about Figure 3, in our words, as tests on its numbers.

The best score is 89.14 on level 1 and 88.83 on level 2 (the paper says 90, the reward of the goal
without the steps to it); a policy has converged to it within half a point, exactly scored.
"""

from __future__ import annotations

from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    Test,
    above,
    below,
    claims,
    crossing,
    every,
    gain,
    mean,
    means,
    outcome,
    runs_of,
    say,
    untestable,
)

BASELINES = ("DDQN", "SAC", "DDQN+RND", "SAC+RND")
BEST = {"3a": 89.14, "3b": 88.83}
NEAR = 0.5
EPISODES = 500


def _best(curves: Curves) -> float:
    return BEST[curves.panel.name[:2]]


def _shares(curves: Curves, *labels: str) -> dict[str, float]:
    return {
        label: float((runs_of(curves, label)[0][:, -1] > _best(curves) - NEAR).mean())
        for label in labels
    }


def _reaches(curves: Curves) -> Outcome:
    found = means(curves, ("J&H", "J&H recommended"))
    half = {
        label: float(crossing(curves, label, _best(curves) - 2).mean())
        for label in ("J&H", "J&H recommended")
    }
    measured = f"mean score at the end: {say(found)} of {_best(curves):g}; episodes until a run is within 2 points: {say(half)}"
    return outcome(curves, [above(found["J&H"], _best(curves) - 2)], measured)


def _worse(curves: Curves) -> Outcome:
    gaps = {label: gain(curves, "J&H", label) for label in BASELINES}
    return outcome(
        curves,
        [above(gap, 0.0) for gap in gaps.values()],
        f"J&H's mean score at the end less that of {say(gaps)}",
    )


def _fail(curves: Curves) -> Outcome:
    runs = {label: runs_of(curves, label)[0][:, -1] < _best(curves) - NEAR for label in BASELINES}
    shares = _shares(curves, *BASELINES, "J&H", "J&H recommended")
    return outcome(
        curves,
        [every(curves, flags) for flags in runs.values()],
        f"share of seeds within {NEAR} of the optimum: {say(shares)}",
    )


def _converges(curves: Curves) -> Outcome:
    flags = runs_of(curves, "J&H")[0][:, -1] > _best(curves) - NEAR
    shares = _shares(curves, "J&H", "J&H paper", "J&H recommended")
    return outcome(
        curves,
        [every(curves, flags)],
        f"share of seeds within {NEAR} of the optimum: {say(shares)}",
    )


def _bonus(curves: Curves) -> Outcome:
    gains = {label: gain(curves, f"{label}+RND", label) for label in ("DDQN", "SAC")}
    return outcome(
        curves,
        [above(one, 0.0) for one in gains.values()],
        f"gain of the mean score at the end by RND: {say(gains)}",
    )


def _sac(curves: Curves) -> Outcome:
    gains = {f"SAC{bonus}": gain(curves, f"SAC{bonus}", f"DDQN{bonus}") for bonus in ("", "+RND")}
    return outcome(
        curves,
        [above(one, 0.0) for one in gains.values()],
        f"mean score at the end less that of DDQN: {say(gains)}",
    )


def _variance(curves: Curves) -> Outcome:
    spread = curves.samples["J&H"].std(axis=0)
    largest, last = float(spread.max()), float(spread[-1])
    measured = f"largest standard deviation over seeds {largest:.3g} at episode {curves.x[spread.argmax()]:g}, {last:.3g} at the end"
    return outcome(curves, [largest > 10, largest > 2 * last], measured)  # high, and temporary


def _stuck(curves: Curves) -> Outcome:
    found = {label: mean(curves, label) for label in BASELINES}
    return outcome(
        curves,
        [below(one, _best(curves) - 2) for one in found.values()],
        f"mean score at the end: {say(found)}",
    )


def _level(panel: str) -> tuple[Claim, ...]:
    entries: list[tuple[str, str, Test]] = [
        (f"{panel}-reaches", "J&H reaches the maximal score quite fast.", _reaches),
        (f"{panel}-worse", "The baselines do not perform as well.", _worse),
        (f"{panel}-bonus", "Adding an RND bonus increases the baselines' performance.", _bonus),
        (f"{panel}-sac", "SAC outperforms DDQN overall.", _sac),
        (f"{panel}-stuck", "The baselines get stuck below the maximum score.", _stuck),
    ]
    if panel == "3b":
        entries.append(
            (
                f"{panel}-variance",
                "Some seeds of J&H take longer: plateaus and a temporary high variance.",
                _variance,
            )
        )
    return claims(EPISODES, *entries)


def _exact(panel: str) -> tuple[Claim, ...]:
    return claims(
        EPISODES,
        (f"{panel}-converges", "J&H converges to optimality.", _converges),
        (f"{panel}-fail", "The baselines fail to converge to the optimal policy.", _fail),
        (
            f"{panel}-why",
            "It is the mixture of exploration and exploitation that holds the baselines back.",
            untestable("it gives a cause; scores alone do not show it"),
        ),
    )


CLAIMS = {
    "3a": _level("3a"),
    "3b": _level("3b"),
    "3a-exact": _exact("3a-exact"),
    "3b-exact": _exact("3b-exact"),
}
