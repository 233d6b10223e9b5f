"""What the paper says about Figure 6, in our words, as tests on its numbers (Appendix D, softmax
parametrization).
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.lab.figures.figure05.claims import (
    C4,
    ON_POLICY,
    constant_is_better,
    ends,
    fruit,
    half_at_25,
    reliable,
    same_limit,
    scales,
    strong_reaches,
    ten_times_smaller,
    tight_is_long,
    times,
    weak_is_stuck,
    weight_is_speed,
)
from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    ABOUT,
    FOUND,
    MUCH,
    Estimate,
    Part,
    Untestable,
    about,
    claims,
    largest,
    outcome,
    say,
    solved,
    step,
    untestable,
)

ENTROPY = tuple(f"{label} lam=0.1" for label in ON_POLICY)
PAIRS = tuple(zip(ON_POLICY, ENTROPY, strict=True))


def _never_exact(curves: Curves) -> Outcome:
    """Neither those that find the optimum nor those that settle on the fruit are there at the end."""
    gaps = {
        label: abs((1.0 if y > FOUND else 0.0) - y)
        for label, y in ends(curves, ("uniform", "o=0.5", *ON_POLICY)).items()
    }
    return outcome(
        curves,
        [gap > 1e-10 for gap in gaps.values()],
        f"distance to the optimum or the fruit at the end: {say(gaps)}",
    )


def _entropy_stages(curves: Curves) -> Outcome:
    """Below the fruit up to update 2000, then slowly up to it."""
    first = (curves.x >= 500) & (curves.x < 2000)
    if not first.any():
        raise Untestable("no point lies between updates 500 and 2000")
    early = {label: float(times(curves, label)[first].mean()) for label in ENTROPY}
    late = ends(curves, ENTROPY)
    parts = [y < -0.01 for y in early.values()] + [abs(y) < 0.01 for y in late.values()]
    return outcome(
        curves,
        parts,
        f"mean over updates 500 to 2000: {say(early)}; at the end: {say(late)} (0 is the fruit)",
    )


def _entropy_fails(curves: Curves) -> Outcome:
    late = ends(curves, ENTROPY)
    return outcome(
        curves, [y <= FOUND for y in late.values()], f"normalized return at the end: {say(late)}"
    )


def _entropy_hurts(curves: Curves) -> Outcome:
    """Fewer chains solved than without entropy."""
    sizes = {label: int(solved(curves, label).sum()) for pair in PAIRS for label in pair}
    measured = f"chain sizes solved, of {len(curves.x)}: {say(sizes)}"
    return outcome(curves, [sizes[helped] < sizes[plain] for plain, helped in PAIRS], measured)


def _entropy_helps(curves: Curves) -> Outcome:
    """Larger beta solved than without entropy, and not the largest."""
    limit = {
        label: np.nan_to_num(largest(curves, label), nan=-1.0) for pair in PAIRS for label in pair
    }
    parts = [limit[helped] > limit[plain] for plain, helped in PAIRS] + [
        not solved(curves, label)[-1] for label in ENTROPY
    ]
    return outcome(
        curves,
        parts,
        f"largest beta solved (-1: none): {say({key: float(y) for key, y in limit.items()})}",
    )


def _undiscounted_edge(curves: Curves) -> Outcome:
    """Where both solve, undiscounted needs fewer updates than PG, with entropy and without."""
    parts, ratios = [], {}
    for pg, undiscounted in (ON_POLICY, ENTROPY):
        both = solved(curves, pg) & solved(curves, undiscounted)
        if both.any():
            ratios[undiscounted] = float(
                (times(curves, undiscounted)[both] / times(curves, pg)[both]).mean()
            )
            parts.append(ratios[undiscounted] < 1.0)
    if not parts:
        raise Untestable("there is no beta that both solve")
    return outcome(
        curves, parts, f"mean ratio of updates to those of PG where both solve: {say(ratios)}"
    )


def _large_lambda(curves: Curves) -> Outcome:
    """The largest lam that solves is about 0.25."""
    limit = {label: largest(curves, label) for label in ("uniform", "o=0.5", "o=0.1", *ON_POLICY)}
    parts = [
        False if np.isnan(x) else about(Estimate(x, x, x), 0.25, step(curves))
        for x in limit.values()
    ]
    return outcome(curves, parts, f"largest lam that reaches the target: {say(limit)}")


def _small_lambda(curves: Curves) -> Outcome:
    """Near to null: below 0.25 the longest time is within a factor 1.25 of the shortest."""
    small = curves.x < 0.25
    spread = {}
    for label in C4:
        y = times(curves, label)[small]
        if len(y) > 1 and y.min() < curves.cap:
            spread[label] = float(y.max() / y.min())
    if not spread:
        raise Untestable(
            "no series that meets C4 solves this chain at two values of lam below 0.25"
        )
    return outcome(
        curves,
        [y <= ABOUT for y in spread.values()],
        f"longest relative to shortest time over lam < 0.25: {say(spread)}",
    )


def _sweet_spot(curves: Curves) -> Outcome:
    """Exists; narrow: within a decade of lam; slow: twice the time of o=0.5 at its best."""
    parts: list[Part] = []
    spans, slow = {}, {}
    for label in ON_POLICY:
        there = curves.x[solved(curves, label)]
        spans[label] = float(there.max() / there.min()) if len(there) else 0.0
        slow[label] = float(times(curves, label).min() / times(curves, "o=0.5").min())
        parts += [0 < spans[label] <= 10, slow[label] > MUCH]
    measured = f"largest to smallest lam that solves: {say(spans)}; best time relative to o=0.5: {say(slow)}"
    return outcome(curves, parts, measured)


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "6a": claims(
        9_999,
        (
            "6a-fruit",
            "On-policy updates converge to the low-hanging fruit under softmax too.",
            fruit,
        ),
        (
            "6a-strong",
            "With enough off-policiness the optimal policy is found, as with the direct parametrization.",
            strong_reaches,
        ),
        (
            "6a-tight",
            "o=10/t stays on the low-hanging fruit, as with the direct parametrization.",
            weak_is_stuck,
        ),
        (
            "6a-never",
            "Softmax never converges completely, neither to the optimal nor to the suboptimal policy.",
            _never_exact,
        ),
        (
            "6a-entropy",
            "With entropy, on-policy updates are below the fruit until update 2000, then converge to it.",
            _entropy_stages,
        ),
        (
            "6a-entropy-fails",
            "On-policy updates fail even with entropy regularization.",
            _entropy_fails,
        ),
        (
            "6a-rate",
            "Ten times the step size makes softmax converge about as fast as direct.",
            untestable("it sets this panel beside 5a"),
        ),
    ),
    "6b": claims(
        15_000,
        (
            "6b-seven",
            "On-policy updates fail from 7 states on, exactly as with the direct parametrization.",
            same_limit,
        ),
        (
            "6b-scales",
            "Partly off-policy updates solve 25 states, exactly as with the direct parametrization.",
            scales,
        ),
        ("6b-half", "o=0.5 converges fast with beta 0.95 and 25 states.", half_at_25),
        (
            "6b-weight",
            "More weight on the uniform density is faster, exactly as with the direct one.",
            weight_is_speed,
        ),
        (
            "6b-tight",
            "o=10/t can take very long, exactly as with the direct parametrization.",
            tight_is_long,
        ),
        (
            "6b-constant",
            "A constant off-policiness is preferable to a decaying one.",
            constant_is_better,
        ),
        ("6b-entropy", "At beta 0.95 entropy makes on-policy updates worse.", _entropy_hurts),
    ),
    "6c": claims(
        15_000,
        (
            "6c-beta",
            "At |S|=15 on-policy updates fail even with the fruit ten times below the optimum.",
            ten_times_smaller,
        ),
        (
            "6c-reliable",
            "Updates that meet the density requirement reliably find the optimum, whatever beta.",
            reliable,
        ),
        (
            "6c-entropy",
            "Entropy helps on-policy updates, but not where beta is too high.",
            _entropy_helps,
        ),
        ("6c-edge", "Undiscounted updates have a small edge over PG.", _undiscounted_edge),
    ),
    "6d": claims(
        15_000,
        (
            "6d-large",
            "From lam of about 0.25 on, the bias keeps every update from the target.",
            _large_lambda,
        ),
        ("6d-small", "Below 0.25, lam hardly matters where C4 holds.", _small_lambda),
        ("6d-sweet", "On-policy updates have a narrow and slow sweet spot in lam.", _sweet_spot),
        (
            "6d-stochastic",
            "What is reached with entropy is not the optimal policy.",
            untestable("runs end at the target; see 6a-entropy, 7c-bias"),
        ),
    ),
}
