"""Parts and verdicts: how loose words are read, and how what is so makes a verdict.

A claim is made of parts, each True, False or None. A comparison is True or False where its 95 %
interval lies on one side, and None where it does not: it cannot be told from these runs. All True
is `supported`, all False `contradicted`, anything else `partly`. Where the sentence needs what the
panel does not have, a measure raises `Untestable` with the reason: `not testable`.

How loose words are read, for every figure alike: "about x" is within a factor 1.25 (or one step of
the axis, where x is a place on it), and partly within the square of that; "around 0.99" rounds to
it; "as fast", "comparable", "no worse" allow 10 %; "much" is a factor 2, and partly anything in
that direction; "slightly" is below a factor 1.5; returns are "almost equal" within 0.01. What "all
runs" or "never" say, one run refutes; what is said of an axis or of an algorithm without such a
word holds partly if it does so in half of the cases. A run has found the optimal policy above 0.5
and has solved the problem above 0.95, the paper's marks.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.lab.estimates import ABOUT, FEWEST, Estimate, Untestable, exactly, require
from jekyllhyde.lab.panel import Curves, Outcome

FOUND, SOLVED = 0.5, 0.95
ALIKE, MUCH, SLIGHT, EQUAL = 1.1, 2.0, 1.5, 0.01
Part = bool | None


def decided(holds: object, fails: object) -> Part:
    # True where it holds, False where it fails, None where neither can be told.
    return True if holds else False if fails else None


def verdict(*parts: Part) -> str:
    # All True, all False, or something between.
    require(parts, "there is nothing to compare")
    if all(parts):
        return "supported"
    return "partly" if any(part or part is None for part in parts) else "contradicted"


def outcome(
    horizon: int, measure: Callable[[Curves], tuple[list[Part], str]], curves: Curves
) -> Outcome:
    # The verdict on a sentence about runs of this length, and what was measured.
    try:
        require(
            curves.cap >= horizon,
            f"the sentence is about {horizon} {curves.panel.unit}, these runs have {curves.cap}",
        )
        parts, text = measure(curves)
        unsure = "" if curves.panel.exact else f" or cannot be told ({curves.runs} runs)"
        halfway = f"; {parts.count(None)} of {len(parts)} parts hold halfway{unsure}"
        return verdict(*parts), text + (halfway if None in parts else "")
    except Untestable as reason:
        return "not testable", str(reason)


# Parts of one estimate.


def below(estimate: Estimate, bound: float) -> Part:
    # Is it below the bound?
    return decided(estimate.hi < bound, estimate.lo >= bound)


def above(estimate: Estimate, bound: float) -> Part:
    # Is it above the bound?
    return decided(estimate.lo > bound, estimate.hi <= bound)


def between(estimate: Estimate, low: float, high: float) -> Part:
    # Is it above the one and below the other? One that is not decides.
    return both(above(estimate, low), below(estimate, high))


def much_below(estimate: Estimate) -> Part:
    # Is a ratio below one half? None where it is anywhere below 1, or may be.
    return decided(estimate.hi < 1 / MUCH, estimate.lo >= 1)


def much_above(estimate: Estimate) -> Part:
    # Is a ratio above 2? None where it is anywhere above 1, or may be.
    return decided(estimate.lo > MUCH, estimate.hi <= 1)


def mostly(share: Estimate) -> Part:
    # Is it so in all cases? None in at least half of them.
    return decided(share.y == 1, not share.y >= 0.5)


def near(estimate: Estimate, stated: float, tolerance: float) -> Part:
    # Is a number without uncertainty the one stated, but for less than the tolerance?
    return abs(estimate.y - stated) < tolerance


def within(estimate: Estimate, low: float, high: float) -> Part:
    # Is it between the two?
    return decided(
        low <= estimate.lo and estimate.hi <= high, estimate.hi < low or estimate.lo > high
    )


def about(estimate: Estimate, stated: float, factor: float = ABOUT) -> Part:
    # Is it about the number stated: within the factor, and not too uncertain for that? None up to
    # the square of the factor.
    if not estimate.y * stated > 0:
        return False if np.isfinite(estimate.y) else None
    wide = factor**2
    low, high = sorted((stated / factor, stated * factor))
    if low <= estimate.y <= high:
        return within(estimate, *sorted((stated / wide, stated * wide)))
    far = max(estimate.y / stated, stated / estimate.y) > wide
    return False if far and within(estimate, low, high) is False else None


def rounds_to(estimate: Estimate, stated: float, digits: int) -> Part:
    # Does a return round to the number stated? None where its distance to the optimum is within a
    # factor 2 of that stated.
    half = 0.5 * 10.0**-digits
    if abs(estimate.y - stated) <= half:
        return True if estimate.hi - estimate.lo < 4 * half else None
    close = 1 / MUCH <= (1.0 - estimate.y) / (1.0 - stated) <= MUCH
    return None if close or within(estimate, stated - half, stated + half) is not False else False


# Parts of parts, and of runs.


def both(*parts: Part) -> Part:
    # Are they all so? One that is not decides.
    return decided(all(parts), any(part is not None and not part for part in parts))


def every(curves: Curves, flags: ArrayLike) -> Part:
    # Is it so in every run? One that is not decides; few that are do not.
    so, enough = np.all(flags), curves.panel.exact or curves.runs >= FEWEST
    return decided(so and enough, not so)


def none(curves: Curves, flags: ArrayLike) -> Part:
    # Is it so in no run? One in which it is decides.
    return every(curves, np.logical_not(flags))


def most(curves: Curves, flags: ArrayLike) -> Part:
    # Is it so in every run? None in at least half of them.
    return every(curves, flags) if np.all(flags) else mostly(exactly(np.asarray(flags).mean()))
