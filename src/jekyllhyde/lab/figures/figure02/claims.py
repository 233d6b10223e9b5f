"""What the paper says about Figure 2, in our words, as tests on its numbers (Section 4.3)."""

from __future__ import annotations

from jekyllhyde.intervals import share
from jekyllhyde.lab.figures.series import JEKYLL_HYDE, ON_POLICY, labels
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    ALIKE,
    FOUND,
    SOLVED,
    Estimate,
    Part,
    Test,
    above,
    at,
    below,
    bounded,
    claims,
    crossing_ratio,
    every,
    gain,
    gap_ratio,
    means,
    outcome,
    runs_of,
    say,
)

JH, ONP = labels(JEKYLL_HYDE), labels(ON_POLICY)
PLAIN, ENTROPY = ONP[:2], ONP[2:]
JH_100 = tuple(label for label in JH if "eps=100/t" in label)
JH_SQRT = tuple(label for label in JH if "eps=10/sqrt(t)" in label)
HALF = tuple(
    label for label in JH if "o=0.5" in label
)  # and the same with o=10/sqrt(t), in the same order:
DECAYING = tuple(label for label in JH if "o=10/sqrt(t)" in label)
UCB = ("PG nu=1", "PG nu=0.1", "PG nu=0.01")


def share_above(curves: Curves, label: str, level: float) -> Estimate:
    """The share of runs that end above a level."""
    end = runs_of(curves, label)[0][:, -1]
    return bounded(curves, share(end > level), len(end))


def all_above(level: float, *names: str) -> Test:
    """Every run of these series ends above the level."""

    def test(curves: Curves) -> Outcome:
        parts = [every(curves, runs_of(curves, label)[0][:, -1] > level) for label in names]
        found = {label: share_above(curves, label, level) for label in names}
        return outcome(curves, parts, f"share of runs above {level:g} at the end: {say(found)}")

    return test


def none_above(level: float, *names: str) -> Test:
    """No run of these series ends above the level."""

    def test(curves: Curves) -> Outcome:
        parts = [every(curves, runs_of(curves, label)[0][:, -1] <= level) for label in names]
        found = {label: share_above(curves, label, level) for label in names}
        return outcome(curves, parts, f"share of runs above {level:g} at the end: {say(found)}")

    return test


def mean_above(level: float, *names: str) -> Test:
    """The mean of each series ends above the level."""

    def test(curves: Curves) -> Outcome:
        found = means(curves, names)
        return outcome(
            curves, [above(one, level) for one in found.values()], f"mean at the end: {say(found)}"
        )

    return test


def mean_below(level: float, *names: str, beside: tuple[str, ...] = ()) -> Test:
    """The mean of each series ends below the level; `beside` are only reported."""

    def test(curves: Curves) -> Outcome:
        found = means(curves, names)
        more = f"; beside them: {say(means(curves, beside))}" if beside else ""
        return outcome(
            curves,
            [below(one, level) for one in found.values()],
            f"mean at the end: {say(found)}{more}",
        )

    return test


def ends_above(pairs: tuple[tuple[str, str], ...]) -> Test:
    """At the end the first of each pair has the higher mean."""

    def test(curves: Curves) -> Outcome:
        found = {f"{a} less {b}": gain(curves, a, b) for a, b in pairs}
        return outcome(
            curves,
            [above(one, 0.0) for one in found.values()],
            f"difference of means at the end: {say(found)}",
        )

    return test


def crosses_sooner(level: float, pairs: tuple[tuple[str, str], ...]) -> Test:
    """The first of each pair needs less time to the level."""

    def test(curves: Curves) -> Outcome:
        found = {f"{a} to {b}": crossing_ratio(curves, a, b, level) for a, b in pairs}
        return outcome(
            curves,
            [below(one, 1.0) for one in found.values()],
            f"ratio of mean times to {level:g}: {say(found)}",
        )

    return test


def keeps_up(level: float, pairs: tuple[tuple[str, str], ...], *, end: bool = False) -> Test:
    """The first of each pair takes at most a tenth longer to the level; at the `end` its distance
    to the optimum is as small.
    """

    def test(curves: Curves) -> Outcome:
        found = {f"{a} to {b}": crossing_ratio(curves, a, b, level) for a, b in pairs}
        gaps = {f"{a} to {b}": gap_ratio(curves, a, b) for a, b in pairs} if end else {}
        parts = [below(one, ALIKE) for one in (*found.values(), *gaps.values())]
        more = f"; of distances to the optimum at the end: {say(gaps)}" if end else ""
        return outcome(curves, parts, f"ratio of mean times to {level:g}: {say(found)}{more}")

    return test


def _eventually(curves: Curves) -> Outcome:
    """Above 0.95 is there; still rising over the second half is halfway, since the end is not seen."""
    half, parts, said = at(curves, curves.x[-1] / 2), list[Part](), []
    for label in UCB[:2]:
        samples = runs_of(curves, label)[0]
        rise = bounded(curves, share(samples[:, -1] > samples[:, half]), len(samples))
        end = means(curves, [label])[label]
        parts.append(True if above(end, SOLVED) else False if above(rise, 0.5) is False else None)
        said.append(
            f"{label} {end} at the end, share of runs above their return at half time {rise}"
        )
    return outcome(curves, parts, "; ".join(said))


_PAIRS_O = tuple(zip(HALF, DECAYING, strict=True))
_PAIRS_EPS = tuple(zip(JH_100, JH_SQRT, strict=True))
_VANILLA = tuple((a, b) for a in JH_100 for b in PLAIN)

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "2a": claims(
        100_000,
        (
            "2a-on-policy",
            "On-policy updates, with entropy or without, cannot solve the chain.",
            none_above(FOUND, *ONP),
        ),
        ("2a-ucb", "PG with a strong UCB bonus (nu=1) solves it.", all_above(FOUND, "PG nu=1")),
        (
            "2a-ucb-only",
            "nu=1 is the only on-policy setting that does: smaller bonuses fail.",
            none_above(FOUND, *UCB[1:]),
        ),
        ("2a-jh", "Every J&H variant solves it.", all_above(FOUND, *JH)),
        (
            "2a-half",
            "o=0.5 finds the optimal policy significantly sooner than o=10/sqrt(t).",
            crosses_sooner(FOUND, _PAIRS_O),
        ),
        ("2a-sufficient", "eps=100/t explores enough.", mean_above(SOLVED, *JH_100)),
        (
            "2a-asymptotic",
            "eps=100/t is closer to the optimum in the end than eps=10/sqrt(t).",
            ends_above(_PAIRS_EPS),
        ),
    ),
    "2b": claims(
        100_000,
        (
            "2b-solve",
            "All algorithms but those with a large UCB bonus solve random MDPs.",
            mean_above(SOLVED, *JH, *ONP, "PG nu=0.01"),
        ),
        (
            "2b-ucb",
            "UCB with nu 0.1 or 1 explores too much to solve random MDPs in time (published setting batch=1).",
            mean_below(SOLVED, *UCB[:2], beside=tuple(f"{label} batch=4" for label in UCB)),
        ),
        ("2b-eventually", "They eventually will.", _eventually),
    ),
    "2c": claims(
        100_000,
        (
            "2c-bias",
            "Entropy regularization incurs a bias.",
            ends_above(tuple(zip(PLAIN, ENTROPY, strict=True))),
        ),
        (
            "2c-off-policy",
            "The off-policy part of J&H does not slow convergence down compared with plain on-policy updates (eps=100/t).",
            keeps_up(SOLVED, _VANILLA, end=True),
        ),
        (
            "2c-mixture",
            "J&H with eps=10/sqrt(t) is worse in global return; Jekyll alone: see 9b.",
            ends_above(_PAIRS_EPS),
        ),
    ),
}
