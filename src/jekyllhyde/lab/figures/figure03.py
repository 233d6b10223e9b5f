"""Figure 3: deep agents on Four Rooms, level 1 (3a) and level 2 (3b), score against training
episodes.

`J&H` and the baselines are as published; J&H is also there as the paper's text has it, and as we
recommend it. The score is that of ten greedy episodes after every ten of training; `3a-exact` and
`3b-exact` show the exact score of the same greedy policies. The sweeps of Appendix F are in
`rooms_sweeps`.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.claims import Tests, apart, claims, compare, crossed, never, show, untestable
from jekyllhyde.lab.figures import rooms_sweeps
from jekyllhyde.lab.figures.rooms_sweeps import BEST, EPISODES
from jekyllhyde.lab.panel import Curves, Panel
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.verdicts import HIGHER, MUCH_LONGER, MUCH_SHORTER, USUALLY, Estimate, above

SERIES = (
    {"label": "J&H", "agent": "jekyll_hyde"},
    {"label": "DDQN", "agent": "ddqn"},
    {"label": "SAC", "agent": "sac"},
    {"label": "DDQN+RND", "agent": "ddqn_rnd"},
    {"label": "SAC+RND", "agent": "sac_rnd"},
    {"label": "J&H paper", "agent": "jekyll_hyde", "config": "paper"},
    {"label": "J&H recommended", "agent": "jekyll_hyde", "config": "recommended_0_3"},
)
JH, PAPER, RECOMMENDED = "jh", "jh-paper", "jh-recommended"
BASELINES = ("ddqn", "sac", "ddqn+rnd", "sac+rnd")
RATE_SAC_RND = 0.001
NEAR = 0.5  # to the best score, exactly scored: a policy has converged to it


def time_to_top(curves: Curves, tag: str, level: float) -> Estimate:
    """Mean time to {level}, relative to the length of the runs."""
    time = of.crossing_mean(curves, tag, level)
    return Estimate(time.y / curves.cap, time.lo / curves.cap, time.hi / curves.cap)


def temporary(curves: Curves, tag: str) -> Estimate:
    """Largest deviation between seeds, relative to that at the end."""
    (samples,) = of.runs_of(curves, tag)
    return of.of_runs(
        curves, lambda runs: runs.std(axis=0).max() / max(runs[:, -1].std(), 1e-9), samples
    )


def slowest(curves: Curves, tag: str, level: float) -> Estimate:
    """Time of the slowest seed to {level}, relative to the median."""
    (times,) = of.crossings(curves, level, tag)
    of.require(np.median(times) < curves.cap, f"half of the seeds never get to {level}")
    return of.of_runs(curves, lambda runs: runs.max() / np.median(runs), times)


def _scores(panel: str) -> Tests:
    top = BEST[panel] - NEAR
    return {
        f"{panel}-reaches": (
            compare(of.mean, (JH,), above(top)),
            compare(time_to_top, (JH,), MUCH_SHORTER, level=top),
            show(of.mean, (RECOMMENDED,)),
        ),
        f"{panel}-worse": compare(of.gain, crossed((JH,), BASELINES), HIGHER),
        f"{panel}-bonus": (
            compare(of.gain, (("ddqn+rnd", "ddqn"), ("sac+rnd", "sac")), HIGHER),
            apart(  # SAC+RND has a rate of its own; SAC at the same one
                of.mean,
                (f"{panel}-exact", "sac+rnd", {}),
                (f"{panel}-rates", "sac", {"x": RATE_SAC_RND}),
                HIGHER,
            ),
        ),
        f"{panel}-sac": tuple(
            compare(gain, (("sac", "ddqn"), ("sac+rnd", "ddqn+rnd")), HIGHER)
            for gain in (of.gain, of.average_gain)
        ),
        f"{panel}-stuck": compare(of.share, BASELINES, *USUALLY, flags=of.ends_below, level=top),
    }


def _convergence(panel: str) -> Tests:
    top = BEST[panel] - NEAR
    return {
        f"{panel}-exact-converges": (
            never(of.ends_below, (JH,), level=top),
            show(of.count, (PAPER, RECOMMENDED), flags=of.ends_below, level=top),
        ),
        f"{panel}-exact-fail": never(of.ends_above, BASELINES, level=top),
    }


WHY = {"3a-exact-why": untestable("it gives a cause; scores alone do not show it")}
VARIANCE = {
    "3b-variance": (
        compare(slowest, (JH,), MUCH_LONGER, level=BEST["3b"] - NEAR),
        compare(temporary, (JH,), MUCH_LONGER),
    )
}
EXPERIMENTS = {
    level: Experiment(
        name=f"fig{panel}",
        method="deep",
        problem={"name": "four_rooms", "level": level},
        series=SERIES,
        settings={"config": "published", "episodes": EPISODES},
        runs=10,
    )
    for panel, level in (("3a", 1), ("3b", 2))
}
PANELS = tuple(
    Panel(
        name,
        f"Four Rooms, level {level}" + (", exact" if exact else ""),
        EXPERIMENTS[level],
        "training episodes",
        "exact_score" if exact else "score",
        "iqm" if exact else "mean",
        ylim=(-12, 93),
        claims=claims(EPISODES, tests),
    )
    for name, level, exact, tests in (
        ("3a", 1, False, _scores("3a")),
        ("3b", 2, False, {**_scores("3b"), **VARIANCE}),
        ("3a-exact", 1, True, {**_convergence("3a"), **WHY}),
        ("3b-exact", 2, True, _convergence("3b")),
    )
)
PANELS += rooms_sweeps.PANELS
