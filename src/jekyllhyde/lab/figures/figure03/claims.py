"""What the paper says about Figure 3, in our words, as tests on its numbers.

The best score is 89.14 on level 1 and 88.83 on level 2 (the paper says 90, the reward of the goal
without the steps to it); a policy has converged to it within half a point, exactly scored.
"""

from jekyllhyde.lab.claim_tests import (
    FIRST_ONLY,
    Measured,
    Row,
    against,
    claims,
    compare,
    each,
    each_pair,
    in_runs,
    show,
    untestable,
)
from jekyllhyde.lab.estimates import LAST, crossing, ends_above, gain, mean, values_at
from jekyllhyde.lab.panel import Claim, Curves
from jekyllhyde.lab.verdicts import above, below, every

JH, PAPER, RECOMMENDED = "jh", "jh-paper", "jh-recommended"
BASELINES = ("ddqn", "sac", "ddqn+rnd", "sac+rnd")
BEST = {"3a": 89.14, "3b": 88.83}
NEAR = 0.5
EPISODES = 500


def _converged(curves: Curves, tag: str, level: float) -> float:
    return float(ends_above(curves, tag, level).mean())


def _variance(curves: Curves) -> Measured:
    spread = curves.samples[JH].std(axis=0)
    largest, last = float(spread.max()), float(spread[-1])
    measured = (
        f"largest standard deviation over seeds {largest:.3g} "
        f"at episode {curves.x[spread.argmax()]:g}, {last:.3g} at the end"
    )
    return [largest > 10, largest > 2 * last], measured  # high, and temporary


def _scores(panel: str, *more: Row) -> tuple[Claim, ...]:
    best = BEST[panel]
    return claims(
        EPISODES,
        (
            f"{panel}-reaches",
            "J&H reaches the maximal score quite fast.",
            compare(
                f"mean score at the end: {{}} of {best:g}",
                each(mean, (JH, RECOMMENDED)),
                above,
                best - 2,
                deciding=FIRST_ONLY,
            ),
            show(
                "episodes until a run is within 2 points: {}",
                each(lambda curves, tag: crossing(curves, tag, best - 2).mean(), (JH, RECOMMENDED)),
            ),
        ),
        (
            f"{panel}-worse",
            "The baselines do not perform as well.",
            compare(
                "J&H's mean score at the end less that of {}",
                each_pair(gain, against(JH, BASELINES), name="{b}"),
                above,
                0.0,
            ),
        ),
        (
            f"{panel}-bonus",
            "Adding an RND bonus increases the baselines' performance.",
            compare(
                "gain of the mean score at the end by RND: {}",
                each_pair(gain, (("ddqn+rnd", "ddqn"), ("sac+rnd", "sac")), name="{b}"),
                above,
                0.0,
            ),
        ),
        (
            f"{panel}-sac",
            "SAC outperforms DDQN overall.",
            compare(
                "mean score at the end less that of DDQN: {}",
                each_pair(gain, (("sac", "ddqn"), ("sac+rnd", "ddqn+rnd")), name="{a}"),
                above,
                0.0,
            ),
        ),
        (
            f"{panel}-stuck",
            "The baselines get stuck below the maximum score.",
            compare("mean score at the end: {}", each(mean, BASELINES), below, best - 2),
        ),
        *more,
    )


def _convergence(panel: str) -> tuple[Claim, ...]:
    level = BEST[panel] - NEAR
    text = f"share of seeds within {NEAR} of the optimum: {{}}"
    return claims(
        EPISODES,
        (
            f"{panel}-exact-converges",
            "J&H converges to optimality.",
            in_runs(every, ends_above, (JH,), level),
            show(text, each(_converged, (JH, PAPER, RECOMMENDED), level)),
        ),
        (
            f"{panel}-exact-fail",
            "The baselines fail to converge to the optimal policy.",
            in_runs(every, lambda curves, tag: values_at(curves, LAST, tag)[0] < level, BASELINES),
            show(text, each(_converged, (*BASELINES, JH, RECOMMENDED), level)),
        ),
        (
            f"{panel}-exact-why",
            "It is the mixture of exploration and exploitation that holds the baselines back.",
            untestable("it gives a cause; scores alone do not show it"),
        ),
    )


_PLATEAUS = "Some seeds of J&H take longer: plateaus and a temporary high variance."
CLAIMS = {
    "3a": _scores("3a"),
    "3b": _scores("3b", ("3b-variance", _PLATEAUS, _variance)),
    "3a-exact": _convergence("3a"),
    "3b-exact": _convergence("3b"),
}
