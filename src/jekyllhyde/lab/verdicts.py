"""What a claim's parts are, how they make a verdict, and how loose words are read.

A part is an estimate with its 95 % interval and the range that the sentence says it lies in. It
holds where the whole interval lies in the range, fails where all of it lies outside, and is open
otherwise: these runs cannot tell. All parts hold: `supported`. Some do: `partly`. None does, and at
least one fails: `contradicted`. None holds and none fails: `undecided`. `not testable` is left for
sentences that no run can decide.

The readings of loose words, for every figure alike. Nothing else decides: a claim has no threshold
of its own, only numbers that the paper states.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

VERDICTS = ("supported", "partly", "contradicted", "undecided", "not testable")


class Undecided(Exception):
    """Why the runs at hand cannot decide a claim, or a part of it."""


class Untestable(Exception):
    """Why no run can decide a claim."""


@dataclass(frozen=True)
class Range:
    """The numbers between `low` and `high`, both excluded."""

    low: float = -math.inf
    high: float = math.inf

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"below {self.high:.4g}"
        if math.isinf(self.high):
            return f"above {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"


def above(bound: float) -> Range:
    """Larger than the bound."""
    return Range(low=bound)


def below(bound: float) -> Range:
    """Smaller than the bound."""
    return Range(high=bound)


def about(stated: float, factor: float = 1.25) -> Range:
    """Within a factor 1.25 of it, or within one step of the axis: "about x"."""
    return Range(*sorted((stated / factor, stated * factor)))


def rounds_to(stated: float, digits: int) -> Range:
    """What rounds to it: "around 0.99"."""
    half = 0.5 * 10.0**-digits
    return Range(stated - half, stated + half)


# Of a difference of returns, and of a return as it is normalized: 0 is the uniform policy (the
# low-hanging fruit on the chain), 1 the optimum. The paper's marks: above 0.5 a run has found the
# optimal policy, above 0.95 it has solved the problem.
HIGHER, LOWER = above(0.0), below(0.0)
EQUAL, SLIGHTLY_LOWER = Range(-0.01, 0.01), Range(-0.01, 0.0)  # "almost equal", "a bit lower"
ROUNDING = 1e-10  # "exactly"
FOUND, SOLVED = 0.5, 0.95
FINDS, SOLVES = above(FOUND), above(SOLVED)
# Of a ratio, of times or of distances to the optimum.
LONGER, SHORTER = above(1.0), below(1.0)
MUCH_LONGER, MUCH_SHORTER = above(2.0), below(0.5)  # "much", beside the direction
NO_LONGER, NO_SHORTER = below(1.1), above(1 / 1.1)  # "as fast", "comparable", "no worse"
ALIKE, PERCEPTIBLY_SHORTER = Range(1 / 1.1, 1.1), below(1 / 1.1)  # "no perceptible difference"
SLIGHTLY_LONGER, SLIGHTLY_SHORTER = Range(1.0, 1.5), Range(1 / 1.5, 1.0)
THINNER, MUCH_THINNER = Range(0.0, 1.0), Range(0.0, 0.5)  # of gaps of the same sign
# Of the share of runs, MDPs or places in which something is so.
MOST, NEARLY_ALL, OFTEN, RARELY = above(0.5), above(0.9), above(0.1), below(0.1)
A_LITTLE_MORE = Range(0.0, 0.1)  # of a difference of shares
USUALLY = (MOST, NEARLY_ALL)  # what is said without "all" or "never"
NO_EXCEPTION = below(1.0)  # "all", "never", "cannot": of the number of runs in which it is not so


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; without limits where there are too few runs for one."""

    y: float
    lo: float
    hi: float

    def __str__(self) -> str:
        if math.isinf(self.hi) and math.isfinite(self.lo):
            return f"{self.lo:.4g} or more"
        if math.isinf(self.lo) and math.isfinite(self.hi):
            return f"{self.hi:.4g} or less"
        limits = f" [{self.lo:.4g}, {self.hi:.4g}]"
        return f"{self.y:.4g}" + (limits if 0 < self.hi - self.lo < math.inf else "")


@dataclass(frozen=True)
class Part:
    """One comparison of a claim.

    what : the quantity, such as "ratio of mean times to 0.5".
    name : the series or the pair that it is of.
    stated : where the sentence says it lies; None where it is only shown, and decides nothing.
    """

    what: str
    name: str
    estimate: Estimate
    stated: Range | None

    @property
    def holds(self) -> bool | None:
        """True or False where the interval decides it, None where it does not."""
        if self.stated is None:
            return None
        low, high, lo, hi = self.stated.low, self.stated.high, self.estimate.lo, self.estimate.hi
        if (low < lo or low == -math.inf) and (hi < high or high == math.inf):
            return True
        return False if hi <= low or lo >= high else None

    def record(self) -> dict[str, Any]:
        """As it is written to files; a limit that is infinite is null."""
        limits = (self.stated.low, self.stated.high) if self.stated else (math.nan, math.nan)
        numbers = (self.estimate.y, self.estimate.lo, self.estimate.hi, *limits)
        y, lo, hi, low, high = (float(value) if math.isfinite(value) else None for value in numbers)
        return {
            "what": self.what,
            "name": self.name,
            "y": y,
            "lo": lo,
            "hi": hi,
            "low": low,
            "high": high,
            "decides": self.stated is not None,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict, the parts that it rests on, why it has none where it has none, and
    its place in the paper.
    """

    id: str
    claim: str
    verdict: str
    parts: tuple[Part, ...] = ()
    reason: str = ""
    place: str = ""

    @property
    def measured(self) -> str:
        """What was measured, in words; what is only shown stands apart."""
        texts = [self.reason] if self.reason else []
        for (what, _), group in groupby(self.parts, lambda part: (part.what, bool(part.stated))):
            parts = list(group)
            values = dict.fromkeys(f"{part.name} {part.estimate}".strip() for part in parts)
            stated = dict.fromkeys(str(part.stated) for part in parts if part.stated)
            claimed = f" (stated: {' and '.join(stated)})" if stated else ""
            texts.append(f"{what}: {', '.join(values)}{claimed}")
        return "; ".join(texts)

    def record(self) -> dict[str, Any]:
        """As it is written to files."""
        return {
            "id": self.id,
            "claim": self.claim,
            "place": self.place,
            "verdict": self.verdict,
            "reason": self.reason,
            "measured": self.measured,
            "parts": [part.record() for part in self.parts],
        }


def verdict(parts: Sequence[Part]) -> str:
    """What the parts that decide make together."""
    outcomes = [part.holds for part in parts if part.stated is not None]
    if outcomes and all(outcomes):
        return "supported"
    if any(outcomes):
        return "partly"
    return "contradicted" if False in outcomes else "undecided"
