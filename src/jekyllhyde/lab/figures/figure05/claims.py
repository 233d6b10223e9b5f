"""What the paper says about Figure 5, in our words, as tests on its numbers (Section 4.2, Appendix
D, direct parametrization).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jekyllhyde.lab.panel import Claim, Curves, Outcome
from jekyllhyde.lab.verdicts import (
    FOUND,
    MUCH,
    SOLVED,
    Part,
    Untestable,
    at,
    claims,
    crossing,
    every,
    largest,
    means,
    mostly,
    outcome,
    runs_of,
    say,
    solved,
    untestable,
)
from jekyllhyde.mdp.finite import Floats

ON_POLICY = ("PG", "undiscounted")
CONSTANT = ("uniform", "o=0.5", "o=0.1")
C4 = (*CONSTANT, "o=10/sqrt(t)", "o=10/t")


def ends(curves: Curves, labels: tuple[str, ...]) -> dict[str, float]:
    """The mean return at the end."""
    return {label: one.y for label, one in means(curves, labels).items()}


def times(curves: Curves, label: str) -> Floats:
    """The time at each x."""
    return runs_of(curves, label)[0].mean(axis=0)


def fruit(curves: Curves) -> Outcome:
    """Normalized, the low-hanging fruit's return is 0."""
    end = ends(curves, ON_POLICY)
    return outcome(
        curves,
        [abs(y) < 0.01 for y in end.values()],
        f"normalized return at the end: {say(end)} (0 is the fruit)",
    )


def _fruit_fast(curves: Curves) -> Outcome:
    """Very fast: for good within 0.01 of where it ends before any series has found the optimal
    policy.
    """
    settled = {}
    for label in ON_POLICY:
        y = times(curves, label)
        away = np.flatnonzero(np.abs(y - y[-1]) > 0.01)
        settled[label] = (
            float(curves.x[min(away[-1] + 1, len(y) - 1)]) if len(away) else float(curves.x[0])
        )
    first = min(float(crossing(curves, label, FOUND).mean()) for label in C4)
    measured = f"updates until on-policy returns stay within 0.01 of their end: {say(settled)}; first to find the optimum: {first:g}"
    return outcome(curves, [y < first for y in settled.values()], measured)


def strong_reaches(curves: Curves) -> Outcome:
    """The series with a lasting uniform part."""
    end = ends(curves, (*CONSTANT, "o=10/sqrt(t)"))
    return outcome(
        curves, [y > SOLVED for y in end.values()], f"normalized return at the end: {say(end)}"
    )


def weak_is_stuck(curves: Curves) -> Outcome:
    """o=10/t, whose weights only just diverge."""
    end = ends(curves, ("o=10/t",))
    return outcome(
        curves,
        [abs(y) < 0.01 for y in end.values()],
        f"normalized return at the end: {say(end)} (0 is the fruit)",
    )


def _exactly_optimal(curves: Curves) -> Outcome:
    end = {label: 1.0 - y for label, y in ends(curves, ("uniform", "o=0.5")).items()}
    return outcome(
        curves,
        [abs(gap) < 1e-10 for gap in end.values()],
        f"distance to the optimum at the end: {say(end)}",
    )


def _fast_once_found(curves: Curves) -> Outcome:
    """Fast: from 0.5 to the optimum in less time than from the start to 0.5."""
    parts, spans = [], {}
    for label in C4:
        y = times(curves, label)
        if y[-1] > 1 - 1e-10:
            found, done = (float(curves.x[np.argmax(y > level)]) for level in (FOUND, 1 - 1e-10))
            spans[label] = f"{found:g} then {done - found:g}"
            parts.append(done - found < found)
    if not parts:
        raise Untestable("no series reaches the optimum")
    return outcome(curves, parts, f"updates to 0.5, then to the optimum: {say(spans)}")


def same_limit(curves: Curves) -> Outcome:
    """On-policy: solved below seven states, not solved from seven on."""
    parts: list[Part] = []
    for label in ON_POLICY:
        there = solved(curves, label)
        parts += [bool(there[curves.x <= 6].all()), not there[curves.x >= 7].any()]
    found = {label: largest(curves, label) for label in ON_POLICY}
    return outcome(curves, parts, f"largest chain solved within {curves.cap} updates: {say(found)}")


def scales(curves: Curves) -> Outcome:
    """Partly off-policy: o=0.5 and o=0.1; uniform beside them."""
    i = at(curves, 25)
    found = {label: float(times(curves, label)[i]) for label in CONSTANT}
    return outcome(
        curves,
        [every(curves, solved(curves, label)[i]) for label in CONSTANT],
        f"updates at |S|=25: {say(found)}",
    )


def half_at_25(curves: Curves) -> Outcome:
    """The sentence of the main text, about o=0.5 alone."""
    i = at(curves, 25)
    return outcome(
        curves,
        [bool(solved(curves, "o=0.5")[i])],
        f"updates of o=0.5 at |S|=25: {times(curves, 'o=0.5')[i]:g}",
    )


def weight_is_speed(curves: Curves) -> Outcome:
    """More weight on the uniform density is at least as fast at every x."""
    faster = [
        float((a <= b).mean()) for a, b in pairwise(times(curves, label) for label in CONSTANT)
    ]
    return outcome(
        curves,
        [mostly(share) for share in faster],
        f"share of x: uniform no slower than o=0.5 {faster[0]:g}, o=0.5 than o=0.1 {faster[1]:g}",
    )


def tight_is_long(curves: Curves) -> Outcome:
    """o=10/t does not solve every chain within the cap, where o=0.5 does."""
    found = {label: largest(curves, label) for label in ("o=10/t", "o=0.5")}
    return outcome(
        curves,
        [not solved(curves, "o=10/t").all(), bool(solved(curves, "o=0.5").all())],
        f"largest chain solved within {curves.cap} updates: {say(found)}",
    )


def _exponential(curves: Curves) -> Outcome:
    """Is log time much closer to a line in |S| than in log |S|: with less than half the residual?"""
    there = solved(curves, "o=10/t")
    if there.sum() < 4:
        raise Untestable(
            f"o=10/t solves {there.sum()} of these chains; four are needed to tell exponential growth from a power"
        )
    y, sizes = np.log(np.maximum(times(curves, "o=10/t")[there], 1.0)), curves.x[there]
    left = {
        name: float(np.sqrt(np.mean((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2)))
        for name, x in (("exponential", sizes), ("power", np.log(sizes)))
    }
    exponential, power = left.values()
    part = True if MUCH * exponential < power else False if exponential > MUCH * power else None
    return outcome(curves, [part], f"residual of the log time over {len(sizes)} sizes: {say(left)}")


def constant_is_better(curves: Curves) -> Outcome:
    """Constant o against the decaying ones, at every x."""
    parts, shares = [], {}
    for decaying in ("o=10/sqrt(t)", "o=10/t"):
        for constant in ("o=0.5", "o=0.1"):
            shares[f"{constant} against {decaying}"] = float(
                (times(curves, constant) <= times(curves, decaying)).mean()
            )
    parts = [mostly(share) for share in shares.values()]
    return outcome(curves, parts, f"share of x where constant o is no slower: {say(shares)}")


def sensitive(curves: Curves) -> Outcome:
    """Whether on-policy updates succeed depends on x: solved at the low end, not at the high end."""
    parts: list[Part] = []
    for label in ON_POLICY:
        there = solved(curves, label)
        parts += [bool(there[0]), not there[-1]]
    found = {label: largest(curves, label) for label in ON_POLICY}
    return outcome(
        curves,
        parts,
        f"largest {curves.panel.xlabel} solved on-policy: {say(found)}, of {curves.x[0]:g} to {curves.x[-1]:g}",
    )


def ten_times_smaller(curves: Curves) -> Outcome:
    """At beta 0.1."""
    i = at(curves, 0.1)
    found = {label: largest(curves, label) for label in ON_POLICY}
    parts = [not solved(curves, label)[i] for label in ON_POLICY]
    return outcome(
        curves,
        parts,
        f"solved at beta={curves.x[i]:g}: {[not part for part in parts]}; largest beta solved: {say(found)}",
    )


def reliable(curves: Curves) -> Outcome:
    """Every density that meets C4, at every beta."""
    shares = {label: float(solved(curves, label).mean()) for label in C4}
    return outcome(
        curves,
        [mostly(share) for share in shares.values()],
        f"share of betas solved within {curves.cap} updates: {say(shares)}",
    )


def _eta_no_impact(curves: Curves) -> Outcome:
    """Above the smallest eta that solves within the cap, all do, or none does at all."""
    shares = {}
    for label in ON_POLICY:
        there = solved(curves, label)
        reach = curves.x >= curves.x[there].min(initial=np.inf)
        shares[label] = float(there[reach].mean()) if reach.any() else 0.0
    measured = f"share solved among step sizes from the smallest that solves: {say(shares)}"
    return outcome(curves, [share in (0.0, 1.0) for share in shares.values()], measured)


def _eta_faster(curves: Curves) -> Outcome:
    worst = {label: float(np.diff(times(curves, label)).max()) for label in CONSTANT}
    return outcome(
        curves,
        [rise <= 0 for rise in worst.values()],
        f"largest increase of the time along eta: {say(worst)}",
    )


def _eta_infinite(curves: Curves) -> Outcome:
    """Policy iteration needs at most one improvement per state."""
    states = int(curves.panel.experiment.problem["n_states"])
    found = {label: float(times(curves, label)[-1]) for label in C4}
    measured = (
        f"updates at eta={curves.x[-1]:g}: {say(found)}; policy iteration needs at most {states}"
    )
    return outcome(curves, [y <= states or None for y in found.values()], measured)


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "5a": claims(
        999,
        ("5a-fruit", "On-policy updates converge to the low-hanging fruit.", fruit),
        ("5a-fast", "They do so very fast.", _fruit_fast),
        ("5a-strong", "With enough off-policiness the optimal policy is found.", strong_reaches),
        (
            "5a-tight",
            "o=10/t satisfies C4 and still stays on the low-hanging fruit for long.",
            weak_is_stuck,
        ),
        ("5a-exact", "Once found, the optimum is met exactly (Theorem 3).", _exactly_optimal),
        (
            "5a-once-found",
            "Once the optimal policy is identified, convergence is fast.",
            _fast_once_found,
        ),
    ),
    "5b": claims(
        15_000,
        ("5b-seven", "On-policy updates fail on chains of 7 states or more.", same_limit),
        (
            "5b-never",
            "They will never leave the suboptimal policy.",
            untestable("a run ends; 5b-seven says what 15000 updates show"),
        ),
        (
            "5b-scales",
            "Partly off-policy updates solve chains of 25 states with beta 0.95.",
            scales,
        ),
        ("5b-half", "o=0.5 converges fast with beta 0.95 and 25 states.", half_at_25),
        ("5b-weight", "Convergence is faster as the uniform density weighs more.", weight_is_speed),
        ("5b-tight", "When C4 holds only tightly (o=10/t) it can take very long.", tight_is_long),
        (
            "5b-exponential",
            "With o=10/t the time is possibly exponential in the chain's length.",
            _exponential,
        ),
        (
            "5b-constant",
            "A constant off-policiness is preferable to a decaying one.",
            constant_is_better,
        ),
        ("5b-sensitive", "On-policy updates are sensitive to the size of the chain.", sensitive),
    ),
    "5c": claims(
        15_000,
        (
            "5c-beta",
            "At |S|=15 on-policy updates fail even with the fruit ten times below the optimum.",
            ten_times_smaller,
        ),
        ("5c-sensitive", "On-policy updates are sensitive to beta.", sensitive),
        (
            "5c-reliable",
            "Updates that meet the density requirement reliably find the optimum, whatever beta.",
            reliable,
        ),
    ),
    "5d": claims(
        15_000,
        (
            "5d-ability",
            "The step size does not change whether on-policy updates find the optimum.",
            _eta_no_impact,
        ),
        ("5d-faster", "A larger step size is faster.", _eta_faster),
        (
            "5d-infinite",
            "An infinite step size makes the update a step of policy iteration.",
            _eta_infinite,
        ),
        (
            "5d-footnote",
            "With beta 0.7 on-policy updates find the optimum for no step size.",
            untestable("the panel's beta is 0.5"),
        ),
    ),
}
