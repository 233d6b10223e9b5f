"""The sweeps of Appendix F behind Figure 3: learning rates, the bonus's rate and weight, and how
slowly the random actions of DDQN decay, on both levels of Four Rooms.

Everything else is as published. A value that is said to perform best leaves a mean distance to the
best score that is no more than 10 % longer than that of the best other value of its set.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.claims import Tests, claims, compare
from jekyllhyde.lab.panel import Curves, Panel, Test
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.verdicts import ALIKE, HIGHER, NO_LONGER, Estimate, about

# The best scores (the paper says 90, the reward of the goal without the steps to it).
BEST = {"3a": 89.14, "3b": 88.83}
LEVELS = {"3a": 1, "3b": 2}
EPISODES = 500
RUNS = 30
RATES = (0.001, 0.003, 0.006, 0.01, 0.03, 0.06)
RATES_JEKYLL = (0.0006, *RATES)
RATES_RND = (0.001, 0.003, 0.01, 0.03, 0.1)
WEIGHTS = (0.1, 0.3, 0.6, 1.0, 1.3, 1.6)
DECAYS = (10.0, 100.0)
# Hyde's epsilon_1 in steps by level, the time limit of an episode in steps, and DDQN's decay in
# episodes, as the appendix has them.
HYDE_STEPS = {1: 4_000, 2: 40_000}
LIMIT, DDQN_EPISODES = 90, 100
# By sweep: its axis, its values, and per series the settings that take them.
SWEEPS: dict[str, tuple[str, tuple[float, ...], Mapping[str, tuple[str, ...]]]] = {
    "jh": ("learning rate", RATES_JEKYLL, {"J&H": ("eta", "eta_c")}),
    "rates": ("learning rate", RATES, {"DDQN": ("eta_c",), "SAC": ("eta", "eta_c")}),
    "rnd": ("learning rate of RND", RATES_RND, {"J&H": ("eta_rnd",)}),
    "weights": (
        "weight of the bonus",
        WEIGHTS,
        {"DDQN+RND": ("bonus_weight",), "SAC+RND": ("bonus_weight",)},
    ),
    "decay": ("episodes of the decay", DECAYS, {"DDQN": ("epsilon_1",)}),
}
AGENTS = {
    "J&H": "jekyll_hyde",
    "DDQN": "ddqn",
    "SAC": "sac",
    "DDQN+RND": "ddqn_rnd",
    "SAC+RND": "sac_rnd",
}


def shortfall(curves: Curves, tag: str, x: float, top: float) -> Estimate:
    """Distance to {top}, relative to the shortest elsewhere."""
    i, (samples,) = of.at(curves, x), of.runs_of(curves, tag)
    of.between(curves, of.FIRST, of.LAST, 2)
    return of.of_means(
        curves,
        lambda m: (top - m[..., i]) / (top - np.delete(m, i, axis=-1).max(axis=-1)),
        samples,
    )


def gain_along(curves: Curves, tag: str) -> Estimate:
    """Difference of means, last {xlabel} less first."""
    (samples,) = of.runs_of(curves, tag)
    return of.of_means(curves, lambda m: m[..., 0], samples[:, -1] - samples[:, 0])


def distance_along(curves: Curves, tag: str, top: float) -> Estimate:
    """Distance to {top}, last {xlabel} relative to first."""
    (samples,) = of.runs_of(curves, tag)
    return of.of_means(curves, lambda m: (top - m[..., -1]) / (top - m[..., 0]), samples)


def hydes_decay(curves: Curves, level: int) -> Estimate:
    """Episodes of Hyde's epsilon_1 on level {level}, relative to DDQN's.

    As many or more as there are if each lasts as long as it may.
    """
    ratio = HYDE_STEPS[level] / LIMIT / DDQN_EPISODES
    return Estimate(ratio, ratio, np.inf)


def _best(sweep: str, *tags: str, **where: Any) -> tuple[Test, ...]:
    # On both levels, since the sentence does not tell them apart; an agent that there are no runs
    # of leaves its own part open.
    return tuple(
        compare(
            shortfall,
            (tag,),
            NO_LONGER,
            panel="" if panel == "3a" else f"{panel}-{sweep}",
            top=top,
            **where,
        )
        for panel, top in BEST.items()
        for tag in tags
    )


TESTS: dict[str, Tests] = {
    "3a-jh": {"3a-jh-rate": _best("jh", "jh", x=0.001)},
    "3a-rates": {
        "3a-rates-ddqn": _best("rates", "ddqn", x=0.01),
        "3a-rates-sac": _best("rates", "sac", x=0.01),
    },
    "3a-rnd": {"3a-rnd-best": _best("rnd", "jh", x=0.003)},
    "3a-weights": {"3a-weights-best": _best("weights", "ddqn+rnd", "sac+rnd", x=1.0)},
    "3a-decay": {
        "3a-decay-little": compare(distance_along, ("ddqn",), ALIKE, top=BEST["3a"]),
        "3a-decay-hyde": tuple(
            compare(hydes_decay, ((),), about(1.0), level=level) for level in HYDE_STEPS
        ),
    },
    "3b-decay": {"3b-decay-better": compare(gain_along, ("ddqn",), HIGHER)},
}


def _suite(panel: str, sweep: str) -> Suite:
    coordinate, values, series = SWEEPS[sweep]
    experiments = {
        value: Experiment(
            name=f"fig{panel}-{sweep}",
            method="deep",
            problem={"name": "four_rooms", "level": LEVELS[panel]},
            series=[
                {"label": label, "agent": AGENTS[label], **dict.fromkeys(names, value)}
                for label, names in series.items()
            ],
            settings={"config": "published", "episodes": EPISODES},
            runs=RUNS,
        )
        for value in values
    }
    return Suite(f"fig{panel}-{sweep}", coordinate, experiments, values[:1])


PANELS = tuple(
    Panel(
        f"{panel}-{sweep}",
        f"level {LEVELS[panel]}",
        _suite(panel, sweep),
        coordinate,
        "exact_score_end",
        logx=sweep != "weights",
        claims=claims(EPISODES, TESTS.get(f"{panel}-{sweep}", {})),
    )
    for sweep, (coordinate, _, _) in SWEEPS.items()
    for panel in BEST
)
