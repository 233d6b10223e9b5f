"""Figure 7: exact updates on 1000 random MDPs of 50 states, direct and softmax, mean and decile;
what the paper says about it, in our words, is from Section 4.2 and Appendix D.
"""

from typing import Any

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.claims import (
    EQUAL,
    LAST,
    SOLVED,
    Bools,
    Curves,
    Estimate,
    Floats,
    Measure,
    Measured,
    Row,
    about,
    above,
    against,
    at,
    average_gain,
    below,
    both,
    bounded,
    compare,
    decile,
    decile_higher,
    each,
    each_pair,
    end_means,
    gain,
    half_and_end,
    join,
    label_of,
    listing,
    mean,
    much_below,
    of_means,
    rounds_to,
    runs_of,
    share,
    show,
    single,
    spread,
    untestable,
    values_at,
)
from jekyllhyde.lab.figures.shared_experiments import (
    DIRECT,
    O_HALF,
    O_T,
    O_TENTH,
    PLAN,
    PLAN_ENTROPY,
    PLANNED,
    PLANNED_ENTROPY,
    PLANNED_PLAIN,
    RANDOM,
    SOFTMAX,
    UNIFORM,
    curve_panel,
)
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

LOW = (*PLANNED_PLAIN, O_T)  # on-policy, or with little off-policiness
BUT_UNIFORM = (*PLANNED_PLAIN, *PLANNED[3:])


def _stagnates(curves: Curves, tag: str) -> Bools:
    # Stagnate at 99 %: below 0.995 at the end, less than 0.005 gained in the second half.
    half, end = half_and_end(curves, tag).T
    return (end < 0.995) & (end - half < 0.005)


def _gain_since_2000(curves: Curves, a: str, b: str) -> Estimate:
    lead = np.subtract(*runs_of(curves, a, b))
    return of_means(curves, lambda m: m[..., 0], lead[:, -1] - lead[:, at(curves, 2000)])


def _uniform_overtakes(curves: Curves, tag: str) -> Measured:
    # Behind at update 1000, ahead at the end, and from about update 4000 on.
    first, last = gain(curves, UNIFORM, tag, 1000), gain(curves, UNIFORM, tag)
    ahead = above(last, 0.0)
    crossing = of_means(  # the last x at which its mean is not above that of the other
        curves,
        lambda uniform, other: np.where(uniform <= other, curves.x, 0.0).max(axis=-1),
        *runs_of(curves, UNIFORM, tag),
    )
    return [below(first, 0.0), ahead, both(ahead, about(crossing, 4000))], (
        f"{label_of(curves, tag)} {first} at {curves.x[at(curves, 1000)]:g}, {last} at the end, "
        f"behind until {crossing}"
    )


def _entropy_leads(curves: Curves, x: float) -> Measured:
    lead = of_means(
        curves,
        lambda *m: (np.max(m[:2], axis=0) - np.max(m[2:], axis=0))[..., 0],
        *values_at(curves, x, *PLANNED_ENTROPY, *PLANNED),
    )
    return [above(lead, 0.0)], f"{lead} at {curves.x[at(curves, x)]:g}"


def _mean_less_decile(values: Floats) -> float:
    return float(values.mean() - np.quantile(values, 0.1))


def _depth_ratio(curves: Curves, a: str, b: str) -> Estimate:
    samples = values_at(curves, LAST, a, b)
    ratio = intervals.jointly(
        lambda x, y: _mean_less_decile(x) / (_mean_less_decile(y) or np.nan), *samples
    )
    return bounded(curves, ratio, len(samples[0]))


def _less(text: str, function: Any, tag: str, part: Any, others: tuple[str, ...]) -> Measure:
    return compare(text, each_pair(function, against(tag, others), name="{b}"), part, 0.0)


_ORDER, _BOTH = (
    _less("mean of o=0.5 at the end, less that of {}", gain, O_HALF, above, others)
    for others in (LOW, (*PLANNED_PLAIN, UNIFORM))
)
_SLOW = _less(
    "mean over the run of uniform less that of {}",
    average_gain,
    UNIFORM,
    below,
    (O_HALF, O_TENTH, *PLANNED_PLAIN),
)
_STABLE = join(  # the decile is less than half as far from the mean as with on-policy updates
    show(
        "mean less decile at the end: {}",
        each(lambda c, tag: _mean_less_decile(*values_at(c, LAST, tag)), (O_HALF, *PLANNED_PLAIN)),
    ),
    compare(
        "that of o=0.5 relative to {}",
        each_pair(_depth_ratio, against(O_HALF, PLANNED_PLAIN), name="{b}"),
        much_below,
    ),
)
_DECILE_ORDER = decile_higher("o=0.5", against(O_HALF, LOW))
_BESIDE = untestable("it sets this panel beside 7a; the numbers are in both panels' files")


def _panel(name: str, shown: str, *rows: Row) -> Panel:
    parametrization, statistic = shown.split(", ")
    softmax = parametrization == "softmax"
    return curve_panel(
        name,
        f"random MDPs, 50 states, {shown}",
        Experiment(
            name="fig7c" if softmax else "fig7a",
            method="plan",
            problem={**RANDOM, "n_states": 50},
            series=PLAN + PLAN_ENTROPY if softmax else PLAN,
            settings={**(SOFTMAX if softmax else DIRECT), "updates": 5000, "points": 500},
            runs=1000,
        ),
        *rows,
        statistic=statistic,
        ylim=(0.9, 1.002),
    )


PANELS = (
    _panel(
        "7a",
        "direct, mean",
        (
            "7a-equal",
            "All updates perform almost equally well.",
            compare("best less worst mean at the end: {}", single(spread, *PLANNED), below, EQUAL),
        ),
        (
            "7a-strong",
            "PG and undiscounted updates find strong policies.",
            end_means(above, SOLVED, PLANNED_PLAIN),
        ),
        (
            "7a-stagnate",
            "They often stagnate at 99 % of the optimum.",
            compare(  # often: on more than one MDP in ten
                "share of MDPs that stay below 0.995 through the second half: {}",
                each(share, PLANNED_PLAIN, _stagnates),
                above,
                0.1,
            ),
        ),
        (
            "7a-order",
            "High off-policiness ends above low off-policiness and on-policy updates.",
            _ORDER,
        ),
        (
            "7a-2000",
            "From update 2,000 on, low off-policiness loses ground to high.",
            _less(
                "what o=0.5 wins from update {x[2e3]:g} to the end on {}",
                _gain_since_2000,
                O_HALF,
                above,
                LOW,
            ),
        ),
        (
            "7a-uniform",
            "Uniform updates start late and overtake low off-policiness around update 4,000.",
            listing("mean of uniform less that of {}", _uniform_overtakes, LOW),
        ),
        ("7a-slow", "Purely uniform updates slow training down.", _SLOW),
        ("7a-both", "It is best to have both an on-policy and an off-policy part.", _BOTH),
        (
            "7a-level",
            "The mean performance comes to about 0.997.",
            compare("mean at the end: {}", each(mean, PLANNED), rounds_to, 0.997, 3),
        ),
    ),
    _panel(
        "7b",
        "direct, decile",
        (
            "7b-decile",
            "The decile of on-policy updates stagnates around 0.99.",
            compare("decile at the end: {}", each(decile, PLANNED_PLAIN), rounds_to, 0.99, 2),
        ),
        ("7b-order", "High off-policiness has the higher decile.", _DECILE_ORDER),
        (
            "7b-stable",
            "High off-policiness is very stable: its decile is close to its mean.",
            _STABLE,
        ),
    ),
    _panel(
        "7c",
        "softmax, mean",
        (
            "7c-level",
            "With softmax the mean stays around 0.99.",
            compare("mean at the end: {}", each(mean, BUT_UNIFORM), rounds_to, 0.99, 2),
        ),
        (
            "7c-order",
            "High off-policiness ends above low off-policiness and on-policy updates, "
            "as with direct.",
            _ORDER,
        ),
        (
            "7c-thin",
            "The gap between high and low off-policiness is much thinner than with direct.",
            _BESIDE,
        ),
        ("7c-slower", "Softmax takes longer to converge than direct.", _BESIDE),
        (
            "7c-uniform",
            "With softmax uniform updates stay behind.",
            _less("mean of uniform at the end, less that of {}", gain, UNIFORM, below, BUT_UNIFORM),
        ),
        ("7c-slow", "Purely uniform updates slow training down.", _SLOW),
        ("7c-both", "It is best to have both an on-policy and an off-policy part.", _BOTH),
        (
            "7c-bias",
            "Entropy biases on-policy updates: they end lower.",
            compare(
                "mean with lam=0.1 at the end, less that without: {}",
                each_pair(
                    gain, tuple(zip(PLANNED_ENTROPY, PLANNED_PLAIN, strict=True)), name="{b}"
                ),
                below,
                0.0,
            ),
        ),
        (
            "7c-entropy",
            "Entropy improves fastest until update 1,000.",
            listing(
                "best mean with entropy less best without: {}",
                _entropy_leads,
                (250, 500, 1000),
                ", ",
            ),
        ),
    ),
    _panel(
        "7d",
        "softmax, decile",
        ("7d-order", "The decile shows the same order as with direct.", _DECILE_ORDER),
        ("7d-stable", "High off-policiness is very stable, as with direct.", _STABLE),
        (
            "7d-thin",
            "Gaps between deciles are narrower than with direct.",
            untestable("it sets this panel beside 7b"),
        ),
    ),
)
