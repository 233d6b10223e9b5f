"""Figure 7: exact updates on 1000 random MDPs of 50 states; mean and decile, direct and softmax.

What the paper says about it, in our words, is from Section 4.2 and Appendix D.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import intervals
from jekyllhyde.lab.claim_tests import (
    claims,
    compare,
    each,
    each_pair,
    join,
    show,
    single,
    untestable,
)
from jekyllhyde.lab.estimates import (
    Estimate,
    at,
    average_gain,
    bounded,
    decile,
    ends_of,
    exactly,
    gain,
    label_of,
    mean,
    of_means,
    runs_of,
    share,
    spread,
)
from jekyllhyde.lab.figures.shared_claims import against, decile_higher, mean_above
from jekyllhyde.lab.figures.shared_experiments import (
    DIRECT,
    PLAN,
    PLAN_ENTROPY,
    PLANNED,
    PLANNED_ENTROPY,
    RANDOM,
    SOFTMAX,
    Series,
)
from jekyllhyde.lab.panel import Curves, Panel
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.verdicts import (
    EQUAL,
    SOLVED,
    Part,
    about,
    above,
    below,
    both,
    much_below,
    rounds_to,
)
from jekyllhyde.mdp.finite import Floats

PG, UNDISCOUNTED, UNIFORM, HIGH, TENTH, _, TIGHT = PLANNED
ON_POLICY = (PG, UNDISCOUNTED)
LOW = (*ON_POLICY, TIGHT)  # on-policy, or with little off-policiness
BUT_UNIFORM = tuple(tag for tag in PLANNED if tag != UNIFORM)


def _stagnates(curves: Curves, tag: str) -> NDArray[np.bool_]:
    """Stagnate at 99 %: below 0.995 at the end, less than 0.005 gained in the second half."""
    half = at(curves, curves.x[-1] / 2)
    samples = runs_of(curves, tag)[0]
    return (samples[:, -1] < 0.995) & (samples[:, -1] - samples[:, half] < 0.005)


def _growth(curves: Curves, a: str, b: str, x: float) -> Estimate:
    """What a wins on b from x to the end."""
    i = at(curves, x)
    one, other = runs_of(curves, a, b)
    lead = one - other
    return of_means(curves, lambda m: m[..., 0], lead[:, -1] - lead[:, i])


def _last_behind(curves: Curves, a: str, b: str) -> Estimate:
    """The last x at which the mean of a is not above that of b, 0 if there is none."""

    def last(one: Floats, other: Floats) -> Floats:
        behind = one <= other
        i = len(curves.x) - 1 - behind[..., ::-1].argmax(axis=-1)
        return np.where(behind.any(axis=-1), curves.x[i], 0.0)

    return of_means(curves, last, *runs_of(curves, a, b))


def _uniform_overtakes(curves: Curves) -> tuple[list[Part], str]:
    """Behind at update 1000, ahead at the end, and from about update 4000 on."""
    early, parts, texts = curves.x[at(curves, 1000)], list[Part](), []
    for tag in LOW:
        first, last = gain(curves, UNIFORM, tag, 1000), gain(curves, UNIFORM, tag)
        crossing, ahead = _last_behind(curves, UNIFORM, tag), above(last, 0.0)
        parts += [below(first, 0.0), ahead, both(ahead, about(crossing, 4000))]
        texts.append(
            f"{label_of(curves, tag)} {first} at {early:g}, {last} at the end, "
            f"behind until {crossing}"
        )
    return parts, f"mean of uniform less that of {'; '.join(texts)}"


def _entropy_first(curves: Curves) -> tuple[list[Part], str]:
    """Until update 1000 one with entropy leads all series without."""
    parts, texts = list[Part](), []
    for x in (250, 500, 1000):
        i = at(curves, x)
        samples = [values[:, i] for values in runs_of(curves, *PLANNED_ENTROPY, *PLANNED)]
        lead = of_means(
            curves, lambda *m: (np.max(m[:2], axis=0) - np.max(m[2:], axis=0))[..., 0], *samples
        )
        parts.append(above(lead, 0.0))
        texts.append(f"{lead} at {curves.x[i]:g}")
    return parts, f"best mean with entropy less best without: {', '.join(texts)}"


def _mean_less_decile(values: Floats) -> float:
    return float(values.mean() - np.quantile(values, 0.1))


def _depth(curves: Curves, tag: str) -> Estimate:
    return exactly(_mean_less_decile(ends_of(curves, tag)[0]))


def _depth_ratio(curves: Curves, a: str, b: str) -> Estimate:
    def depths(one: Floats, other: Floats) -> float:
        depth = _mean_less_decile(other)
        return _mean_less_decile(one) / depth if depth else np.nan

    samples = ends_of(curves, a, b)
    return bounded(curves, intervals.jointly(depths, *samples), len(samples[0]))


_ORDER = compare(
    "mean of o=0.5 at the end, less that of {}",
    each_pair(gain, against(HIGH, LOW), name="{b}"),
    above,
    0.0,
)
_SLOW = compare(
    "mean over the run of uniform less that of {}",
    each_pair(average_gain, against(UNIFORM, (HIGH, TENTH, *ON_POLICY)), name="{b}"),
    below,
    0.0,
)
_BOTH = compare(
    "mean of o=0.5 at the end, less that of {}",
    each_pair(gain, against(HIGH, (*ON_POLICY, UNIFORM)), name="{b}"),
    above,
    0.0,
)
_STABLE = join(  # the decile is less than half as far from the mean as with on-policy updates
    show("mean less decile at the end: {}", each(_depth, (HIGH, *ON_POLICY))),
    compare(
        "that of o=0.5 relative to {}",
        each_pair(_depth_ratio, against(HIGH, ON_POLICY), name="{b}"),
        much_below,
    ),
)
_DECILE_ORDER = decile_higher("o=0.5", against(HIGH, LOW))
_BESIDE = untestable("it sets this panel beside 7a; the numbers are in both panels' files")

CLAIMS = {
    "7a": claims(
        5_000,
        (
            "7a-equal",
            "All updates perform almost equally well.",
            compare("best less worst mean at the end: {}", single(spread, *PLANNED), below, EQUAL),
        ),
        (
            "7a-strong",
            "PG and undiscounted updates find strong policies.",
            mean_above(SOLVED, ON_POLICY),
        ),
        (
            "7a-stagnate",
            "They often stagnate at 99 % of the optimum.",
            compare(  # often: on more than one MDP in ten
                "share of MDPs that stay below 0.995 through the second half: {}",
                each(share, ON_POLICY, _stagnates),
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
            compare(
                "what o=0.5 wins from update {x[2000]:g} to the end on {}",
                each_pair(_growth, against(HIGH, LOW), 2000, name="{b}"),
                above,
                0.0,
            ),
        ),
        (
            "7a-uniform",
            "Uniform updates start late and overtake low off-policiness around update 4,000.",
            _uniform_overtakes,
        ),
        ("7a-slow", "Purely uniform updates slow training down.", _SLOW),
        ("7a-both", "It is best to have both an on-policy and an off-policy part.", _BOTH),
        (
            "7a-level",
            "The mean performance comes to about 0.997.",
            compare("mean at the end: {}", each(mean, PLANNED), rounds_to, 0.997, 3),
        ),
    ),
    "7b": claims(
        5_000,
        (
            "7b-decile",
            "The decile of on-policy updates stagnates around 0.99.",
            compare("decile at the end: {}", each(decile, ON_POLICY), rounds_to, 0.99, 2),
        ),
        ("7b-order", "High off-policiness has the higher decile.", _DECILE_ORDER),
        (
            "7b-stable",
            "High off-policiness is very stable: its decile is close to its mean.",
            _STABLE,
        ),
    ),
    "7c": claims(
        5_000,
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
            compare(
                "mean of uniform at the end, less that of {}",
                each_pair(gain, against(UNIFORM, BUT_UNIFORM), name="{b}"),
                below,
                0.0,
            ),
        ),
        ("7c-slow", "Purely uniform updates slow training down.", _SLOW),
        ("7c-both", "It is best to have both an on-policy and an off-policy part.", _BOTH),
        (
            "7c-bias",
            "Entropy biases on-policy updates: they end lower.",
            compare(
                "mean with lam=0.1 at the end, less that without: {}",
                each_pair(gain, tuple(zip(PLANNED_ENTROPY, ON_POLICY, strict=True)), name="{b}"),
                below,
                0.0,
            ),
        ),
        ("7c-entropy", "Entropy improves fastest until update 1,000.", _entropy_first),
    ),
    "7d": claims(
        5_000,
        ("7d-order", "The decile shows the same order as with direct.", _DECILE_ORDER),
        ("7d-stable", "High off-policiness is very stable, as with direct.", _STABLE),
        (
            "7d-thin",
            "Gaps between deciles are narrower than with direct.",
            untestable("it sets this panel beside 7b"),
        ),
    ),
}


def _on_random_mdps(name: str, series: Series, parametrization: dict[str, Any]) -> Experiment:
    settings = {**parametrization, "updates": 5000, "points": 500}
    problem = {**RANDOM, "n_states": 50}
    return Experiment(
        name=name, method="plan", problem=problem, series=series, settings=settings, runs=1000
    )


direct = _on_random_mdps("fig7a", PLAN, DIRECT)
softmax = _on_random_mdps("fig7c", PLAN + PLAN_ENTROPY, SOFTMAX)
PANELS = tuple(
    Panel(
        name,
        f"random MDPs, 50 states, {experiment.settings['parametrization']}, {statistic}",
        experiment,
        "updates",
        statistic=statistic,
        ylim=(0.9, 1.002),
        claims=CLAIMS[name],
    )
    for name, experiment, statistic in (
        ("7a", direct, "mean"),
        ("7b", direct, "decile"),
        ("7c", softmax, "mean"),
        ("7d", softmax, "decile"),
    )
)
