"""Exploration: how long until Jekyll is at the optimum, and beside whom.

J&H as recommended, one setting for all tasks, on every yardstick; how its time grows with the size
of DeepSea; the same agent without a model, as published, and with one part exchanged at a time; and
beside the field's explorers, who are tuned for every task: steps, regret, and the share of runs
within a factor of the fastest agent. A time is that to 0.99 of the normalized optimum.

The claims are what docs/exploration.md promises or asks; each is judged by 95 % intervals over
runs.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from jekyllhyde.lab.cell_settings import slug
from jekyllhyde.lab.claims import compare
from jekyllhyde.lab.estimates import gain
from jekyllhyde.lab.exploration.claim_estimates import (
    arrivals,
    at_least,
    at_most,
    close_places,
    differences,
    distance,
    each_of,
    exponents,
    extreme_ratios,
    performance_profile,
    ratios,
)
from jekyllhyde.lab.exploration.experiments import (
    ABLATED,
    ABLATIONS,
    AGENTS,
    MODEL_FREE,
    MOST_STEPS,
    RECOMMENDED,
    Series,
    experiment,
)
from jekyllhyde.lab.exploration.tuned_peers import PEERS, comparison, tuned
from jekyllhyde.lab.panel import Claim, Panel, Test
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.verdicts import HIGHER, LOWER, NO_LONGER, NO_SHORTER, SHORTER, above, below
from jekyllhyde.lab.yardsticks import YARDSTICKS

NEARLY_ALL, CLOSE, FOUR_OF_FIVE = 0.95, 1.25, 0.8
SIZES = (10, 20, 30, 50, 100)
LIMITS = {"taxi": 100_000, "cliff_walking": 20_000, "frozen_lake_8x8": 300_000}
SMALL: tuple[str, ...] = ("chain", "garnet", "deep_sea_10", "deep_sea_20", "river_swim_12")
SMALL += ("locks_12", "cliff_walking", "frozen_lake_4x4")
COMPARED = ("chain", "garnet", "river_swim_6", "locks_6", "frozen_lake_4x4")
MOST_OF_PEERS = 1_000_000  # steps, more than any peer is given


def tags(*series: Series) -> tuple[str, ...]:
    """The tags of these series."""
    return tuple(slug(each["label"]) for each in series)


JH, FREE, PUBLISHED_JH = tags(*AGENTS)
PARTS, SHARES = tags(*ABLATIONS)[:-3], tags(*ABLATIONS)[-3:]  # all but o, and o
FIELD = tuple(map(slug, PEERS.values()))


def suite(name: str, tasks: Iterable[str], *agents: Series) -> Suite:
    """The same agents on several yardsticks."""
    return Suite(
        f"exploration-{name}", "task", {task: experiment(task, agents) for task in tasks}, SMALL
    )


def panel(name: str, title: str, shown: Suite, *rows: tuple[str, str, Test], **look: Any) -> Panel:
    """Median steps to the optimum, by task."""
    look = {"quantity": "steps_99", "statistic": "median", "most": MOST_STEPS, **look}
    claims = tuple(Claim(id, text, (test,)) for id, text, test in rows)
    return Panel(f"exploration-{name}", title, shown, shown.coordinate, claims=claims, **look)


ON_ALL = suite("yardsticks", YARDSTICKS, RECOMMENDED)
GROWTH = Suite(
    "exploration-growth",
    "n",
    {n: experiment(f"deep_sea_{n}", (RECOMMENDED, MODEL_FREE)) for n in SIZES},
    SIZES[:3],
)
CONVENTIONS = suite("conventions", COMPARED, *AGENTS)
EXCHANGED = suite("parts", ABLATED, RECOMMENDED, *ABLATIONS)
BESIDE_PEERS = Suite(
    "exploration-peers",
    "task",
    {task: comparison(task, settings) for task, settings in tuned().items()},
    SMALL,
)
_PANELS = (
    panel(
        "yardsticks",
        "J&H as recommended, untuned",
        ON_ALL,
        (
            "yardsticks-solved",
            "One setting is above 0.99 of the optimum in 95 % of the runs, on every yardstick.",
            each_of("share of runs", arrivals(JH), above(NEARLY_ALL)),
        ),
        (
            "yardsticks-limits",
            "Taxi takes 100,000 steps at most, CliffWalking 20,000, FrozenLake 8x8 300,000.",
            each_of("share of runs in time", arrivals(JH, LIMITS), above(NEARLY_ALL)),
        ),
    ),
    panel(
        "growth",
        "DeepSea with a random mapping",
        GROWTH,
        (
            "growth-model-based",
            "DeepSea of size N is solved within 20 N trajectories with the model-based Hyde.",
            each_of(
                "share of runs in time",
                arrivals(JH, {f"{n}": 20 * n for n in SIZES}),
                above(NEARLY_ALL),
            ),
        ),
        (
            "growth-model-free",
            "It is solved within N^2 / 2 trajectories with the model-free one.",
            each_of(
                "share of runs in time",
                arrivals(FREE, {f"{n}": n * n // 2 for n in SIZES}),
                above(NEARLY_ALL),
            ),
        ),
        (
            "growth-exponent",
            "Trajectories grow more slowly than the number of cells, N^2.",
            each_of("exponent of N", exponents((JH, FREE)), below(2.0)),
        ),
        quantity="time_99",
        most=SIZES[-1] ** 2 // 2,
        logx=True,
    ),
    panel(
        "conventions",
        "J&H as recommended and as published",
        CONVENTIONS,
        (
            "conventions-paper",
            "The paper's chain and random MDPs take no longer than with the published agent.",
            each_of(
                "median steps relative to it",
                ratios(JH, (PUBLISHED_JH,), ("chain", "garnet")),
                NO_LONGER,
            ),
        ),
        (
            "conventions-model",
            "A model in memory makes it faster.",
            each_of("median steps relative to model-free", ratios(JH, (FREE,)), SHORTER),
        ),
    ),
    panel(
        "parts",
        "one part of the default exchanged at a time",
        EXCHANGED,
        (
            "parts-needed",
            "No part can be spared: without it a task takes 1.25 times as long, or more.",
            each_of(
                "at the worst task, relative to the default",
                extreme_ratios(JH, PARTS, np.max),
                above(CLOSE),
            ),
        ),
        (
            "parts-harmless",
            "No part slows a task down by more than a tenth.",
            each_of(
                "at the best task, relative to the default",
                extreme_ratios(JH, PARTS, np.min),
                NO_SHORTER,
            ),
        ),
        (
            "parts-share",
            "The share o of Hyde's samples hardly matters, constant or adaptive.",
            each_of("largest factor on a task", extreme_ratios(JH, SHARES, distance), NO_LONGER),
        ),
    ),
    panel(
        "peers",
        "beside explorers that are tuned for every task",
        BESIDE_PEERS,
        (
            "peers-solved",
            "J&H is above 0.99 of the optimum in 95 % of the runs, on every task.",
            each_of("share of runs", arrivals(JH), above(NEARLY_ALL)),
        ),
        (
            "peers-close",
            "On four of five tasks it takes at most 1.25 times the steps of the best tuned peer.",
            each_of("share of tasks", close_places(JH, FIELD, CLOSE), at_least(FOUR_OF_FIVE)),
        ),
        (
            "peers-each",
            "It does so on every task.",
            each_of("median steps, best peer = 1", ratios(JH, FIELD), at_most(CLOSE)),
        ),
        most=MOST_OF_PEERS,
    ),
    panel(
        "regret",
        "beside explorers that are tuned for every task",
        BESIDE_PEERS,
        (
            "regret-least",
            "An explorer of its own costs no return on the way: J&H's regret is not above that of "
            "the best peer.",
            each_of("regret less the least of a peer", differences(JH, FIELD), LOWER),
        ),
        quantity="regret",
        statistic="mean",
    ),
    panel(
        "profile",
        "performance profile",
        BESIDE_PEERS,
        (
            "profile-twice",
            "In more runs than any peer, J&H takes at most twice as long as the fastest agent.",
            compare(gain, [(JH, peer) for peer in FIELD], HIGHER, x=2.0),
        ),
        (
            "profile-reliable",
            "In more runs than any peer it arrives within a hundred times as long.",
            compare(gain, [(JH, peer) for peer in FIELD], HIGHER),
        ),
        most=MOST_OF_PEERS,
        view=performance_profile,
    ),
)
PANELS: dict[str, Panel] = {each.name: each for each in _PANELS}
