"""Figure 7: exact updates on 1000 random MDPs of 50 states, direct and softmax, mean and decile;
what the paper says about it, in our words, is from Section 4.2 and Appendices C and D. `7-optimum`
and `7-visits` show what the domain itself is like.
"""

import numpy as np

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import Tests, claims, compare, crossed, never, relative, show
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import (
    O_HALF,
    O_T,
    O_TENTH,
    PLANNED,
    PLANNED_ENTROPY,
    PLANNED_PLAIN,
    UNIFORM,
)
from jekyllhyde.lab.panel import Curves, Panel
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.verdicts import HIGHER, LOWER, NO_LONGER, Estimate, about, rounds_to

LOW = (*PLANNED_PLAIN, O_T)  # on-policy, or with little off-policiness
BUT_UNIFORM = (*PLANNED_PLAIN, *PLANNED[3:])
HIGH_TO_LOW, UNIFORM_TO_LOW = crossed((O_HALF,), LOW), crossed((UNIFORM,), LOW)
WITH_ENTROPY = tuple(zip(PLANNED_ENTROPY, PLANNED_PLAIN, strict=True))


def stagnate(curves: Curves, tag: str) -> of.Bools:
    """Stay at 99 % or less, hardly nearer to the optimum than at half time."""
    (half,), (end,) = (of.values_at(curves, x, tag) for x in (curves.x[-1] / 2, of.LAST))
    return (end < 0.995) & ((1 - end) > said.NO_SHORTER.low * (1 - half))


def overtaking(curves: Curves, a: str, b: str) -> Estimate:
    """Last update at which the mean of the first is not above."""
    return of.of_means(
        curves,
        lambda first, second: np.where(first <= second, curves.x, 0.0).max(axis=-1),
        *of.runs_of(curves, a, b),
    )


def depth(curves: Curves, tag: str) -> Estimate:
    """Mean less decile at the end."""
    return of.of_runs(
        curves, lambda x: x.mean() - np.quantile(x, 0.1), *of.values_at(curves, of.LAST, tag)
    )


def decile_progress(curves: Curves, tag: str) -> Estimate:
    """Distance of the decile to the optimum at the end, relative to that at half time."""
    ends = (of.values_at(curves, x, tag)[0] for x in (curves.x[-1] / 2, of.LAST))
    return of.of_runs(
        curves,
        lambda half, end: (1 - np.quantile(end, 0.1)) / max(1 - np.quantile(half, 0.1), 1e-12),
        *ends,
    )


def entropy_lead(curves: Curves, *tags: str, x: float) -> Estimate:
    """Best mean with entropy less best without."""
    return of.of_means(
        curves,
        lambda *m: (np.max(m[:2], axis=0) - np.max(m[2:], axis=0))[..., 0],
        *of.values_at(curves, x, *tags),
    )


def horizon(curves: Curves, tag: str) -> Estimate:
    """Steps after which a reward of 1 makes the mean, 100 states."""
    return of.of_means(
        curves, lambda m: np.log(m[..., 0]) / np.log(0.99), *of.values_at(curves, 100, tag)
    )


def variation(curves: Curves, tag: str) -> Estimate:
    """Mean and deviation relative to the mean, 100 states."""
    return of.of_runs(curves, lambda v: 1 + v.std() / v.mean(), *of.values_at(curves, 100, tag))


def miss(curves: Curves, tag: str) -> of.Bools:
    """Leave a state without a visit."""
    return np.asarray(of.values_at(curves, 100, tag)[0] < 1)


DOMAIN = Experiment(
    name="fig7-optimum",
    method="plan",
    problem=shared.RANDOM,
    series=({"label": "optimum"},),
    settings={"updates": 0, "probe": True},
    vary={"n_states": [50, 100]},
    runs=200,
)
STABLE = compare(depth, (O_HALF,), said.EQUAL)


def _panel(name: str, shown: str, tests: Tests) -> Panel:
    parametrization, statistic = shown.split(", ")
    softmax = parametrization == "softmax"
    settings = shared.SOFTMAX if softmax else shared.DIRECT
    return shared.curve_panel(
        name,
        f"random MDPs, |S|=50, {shown}",
        Experiment(
            name="fig7c" if softmax else "fig7a",
            method="plan",
            problem={**shared.RANDOM, "n_states": 50},
            series=shared.PLAN + shared.PLAN_ENTROPY if softmax else shared.PLAN,
            settings={**settings, "updates": 5000, "points": 500},
            runs=1000,
        ),
        tests,
        statistic=statistic,
        ylim=(0.9, 1.002),
    )


PANELS = (
    _panel(
        "7a",
        "direct, mean",
        {
            "7a-equal": compare(of.spread, (PLANNED,), said.EQUAL),
            "7a-strong": compare(of.mean, PLANNED_PLAIN, said.SOLVES),
            "7a-stagnate": compare(of.share, PLANNED_PLAIN, said.OFTEN, flags=stagnate),
            "7a-order": compare(of.gain, HIGH_TO_LOW, HIGHER),
            "7a-2000": compare(of.gain_since, HIGH_TO_LOW, HIGHER, since=2000),
            "7a-uniform": (
                compare(of.gain, UNIFORM_TO_LOW, LOWER, x=1000),
                compare(of.gain, UNIFORM_TO_LOW, HIGHER),
                compare(overtaking, UNIFORM_TO_LOW, about(4000)),
            ),
            "7a-slow": tuple(
                compare(of.average_gain, pairs, LOWER, panel=panel)
                for pairs in [crossed((UNIFORM,), (O_HALF, O_TENTH, *PLANNED_PLAIN))]
                for panel in ("", "7c")
            ),
            "7a-both": tuple(
                compare(of.gain, pairs, HIGHER, panel=panel)
                for pairs in [crossed((O_HALF,), (*PLANNED_PLAIN, UNIFORM))]
                for panel in ("", "7c")
            ),
            "7a-level": compare(of.mean, PLANNED, rounds_to(0.997, 3)),
        },
    ),
    _panel(
        "7b",
        "direct, decile",
        {
            "7b-decile": (
                compare(of.decile, PLANNED_PLAIN, rounds_to(0.99, 2)),
                compare(decile_progress, PLANNED_PLAIN, said.NO_SHORTER),
            ),
            "7b-order": compare(of.decile_gain, HIGH_TO_LOW, HIGHER),
            "7b-stable": STABLE,
        },
    ),
    _panel(
        "7c",
        "softmax, mean",
        {
            "7c-level": (
                compare(of.mean, PLANNED, rounds_to(0.99, 2)),
                relative(of.gap, PLANNED, "7a", said.LONGER),
            ),
            "7c-order": compare(of.gain, HIGH_TO_LOW, HIGHER),
            "7c-thin": relative(of.gain, HIGH_TO_LOW, "7a", said.THINNER, said.MUCH_THINNER),
            "7c-slower": relative(
                of.crossing_mean, BUT_UNIFORM, "7a", said.LONGER, level=said.SOLVED
            ),
            "7c-uniform": compare(of.gain, crossed((UNIFORM,), BUT_UNIFORM), LOWER),
            "7c-bias": compare(of.gap_ratio, WITH_ENTROPY, said.LONGER, said.MUCH_LONGER),
            "7c-entropy": tuple(
                compare(entropy_lead, ((*PLANNED_ENTROPY, *PLANNED),), HIGHER, x=x)
                for x in (250, 500, 1000)
            ),
        },
    ),
    _panel(
        "7d",
        "softmax, decile",
        {
            "7d-order": compare(of.decile_gain, HIGH_TO_LOW, HIGHER),
            "7d-stable": STABLE,
            "7d-thin": relative(of.decile_gain, HIGH_TO_LOW, "7b", said.THINNER),
        },
    ),
    Panel(
        "7-optimum",
        "random MDPs, optimal return",
        DOMAIN,
        "|S|",
        "J_star",
        claims=claims(
            0,
            {
                "7-optimum-value": compare(of.mean, ("optimum",), about(0.6), x=100),
                "7-optimum-horizon": compare(horizon, ("optimum",), about(10)),
                "7-optimum-variance": compare(variation, ("optimum",), NO_LONGER),
                "7-optimum-visits": never(miss, ("optimum",), "7-visits"),
            },
        ),
    ),
    Panel(
        "7-visits",
        "random MDPs, states visited",
        DOMAIN,
        "|S|",
        "visited",
        claims=claims(
            0, {"7-visits-often": (never(miss, ("optimum",)), show(of.mean, ("optimum",), x=100))}
        ),
    ),
)
