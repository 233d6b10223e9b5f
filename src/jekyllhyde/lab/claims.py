"""What the paper says about its planning figures, in our words, each with a test on the panel's numbers.

A test returns a verdict (`supported`, `partly`, `contradicted`) and the numbers it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jekyllhyde.lab.panels import CAP, Curves

ON_POLICY = ("PG", "undiscounted")
VERDICTS = ("supported", "partly", "contradicted")
Outcome = tuple[str, str]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper as a test."""

    id: str
    panel: str
    text: str
    test: Callable[[Curves], Outcome]


def _verdict(*parts: bool) -> str:
    return "supported" if all(parts) else "partly" if any(parts) else "contradicted"


def _at_end(curves: Curves, *labels: str) -> dict[str, float]:
    return {label: float(curves.y[label][-1]) for label in labels}


def _at(curves: Curves, label: str, x: float) -> float:
    return float(curves.y[label][np.searchsorted(curves.x, x)])


def _say(values: Mapping[str, float]) -> str:
    return ", ".join(f"{key} {value:.4g}" for key, value in values.items())


def _solved(curves: Curves, label: str) -> np.ndarray:
    return curves.censored[label] == 0


def _low_fruit(curves: Curves) -> Outcome:
    end = _at_end(curves, *ON_POLICY)
    return _verdict(*(abs(value) < 0.01 for value in end.values())), f"normalized return at the end: {_say(end)} (0 is the fruit)"


def _strong_reaches(curves: Curves) -> Outcome:
    end = _at_end(curves, "uniform", "o=0.5", "o=0.1", "o=10/sqrt(t)")
    return _verdict(*(value > 0.95 for value in end.values())), f"normalized return at the end: {_say(end)}"


def _weak_is_stuck(curves: Curves) -> Outcome:
    end = _at_end(curves, "o=10/t")
    return _verdict(end["o=10/t"] < 0.1), f"normalized return at the end: {_say(end)}"


def _exactly_optimal(curves: Curves) -> Outcome:
    end = {label: 1.0 - value for label, value in _at_end(curves, "uniform", "o=0.5").items()}
    return _verdict(*(abs(gap) < 1e-10 for gap in end.values())), f"distance to the optimum at the end: {_say(end)}"


def _never_exact(curves: Curves) -> Outcome:
    end = {label: 1.0 - value for label, value in _at_end(curves, "uniform", "o=0.5").items()}
    return _verdict(*(gap > 1e-6 for gap in end.values())), f"distance to the optimum at the end: {_say(end)}"


def _entropy_below(curves: Curves) -> Outcome:
    early_part = (curves.x >= 500) & (curves.x < 2000)
    lowest = {label: float(curves.y[f"{label} lam=0.1"][early_part].mean()) for label in ON_POLICY}
    late = {label: float(curves.y[f"{label} lam=0.1"][-1]) for label in ON_POLICY}
    below, recovers = (v < -0.01 for v in lowest.values()), (abs(v) < 0.01 for v in late.values())
    measured = f"mean over updates 500 to 2000: {_say(lowest)}; at the end: {_say(late)}"
    return _verdict(*below, *recovers), measured


def _fails_from_seven(curves: Curves) -> Outcome:
    largest = {label: float(curves.x[_solved(curves, label)].max(initial=0)) for label in ON_POLICY}
    return _verdict(*(value == 6 for value in largest.values())), f"largest chain solved within {CAP} updates: {_say(largest)}"


def _off_policy_scales(curves: Curves) -> Outcome:
    at_25 = {label: float(curves.y[label][-1]) for label in ("uniform", "o=0.5", "o=0.1")}
    return _verdict(*(value < CAP for value in at_25.values())), f"updates at |S|=25: {_say(at_25)}"


def _more_uniform_is_faster(curves: Curves) -> Outcome:
    order = [curves.y[label] for label in ("uniform", "o=0.5", "o=0.1")]
    faster = [float((a <= b).mean()) for a, b in pairwise(order)]
    return _verdict(*(share == 1.0 for share in faster)), f"share of x where more weight is at least as fast: {faster}"


def _tight_is_long(curves: Curves) -> Outcome:
    largest = float(curves.x[_solved(curves, "o=10/t")].max(initial=0))
    return _verdict(largest < 25), f"largest chain solved with o=10/t within {CAP} updates: {largest:g}"


def _ten_times_smaller(curves: Curves) -> Outcome:
    largest = {label: float(curves.x[_solved(curves, label)].max(initial=-1)) for label in ON_POLICY}
    return _verdict(*(v < 0.1 for v in largest.values())), f"largest beta solved on-policy: {_say(largest)} (-1: none)"


def _off_policy_all_betas(curves: Curves) -> Outcome:
    shares = {label: float(_solved(curves, label).mean()) for label in ("uniform", "o=0.5", "o=0.1")}
    return _verdict(*(v == 1.0 for v in shares.values())), f"share of betas solved: {_say(shares)}"


def _entropy_helps_below(curves: Curves) -> Outcome:
    plain = {label: float(curves.x[_solved(curves, label)].max(initial=-1)) for label in ON_POLICY}
    helped = {f"{label} lam=0.1": float(curves.x[_solved(curves, f"{label} lam=0.1")].max(initial=-1)) for label in ON_POLICY}
    parts = [helped[f"{label} lam=0.1"] > plain[label] for label in ON_POLICY]
    parts += [value < 0.99 for value in helped.values()]
    return _verdict(*parts), f"largest beta solved: {_say(plain)}; {_say(helped)}"


def _undiscounted_edge(curves: Curves) -> Outcome:
    both = (curves.censored["PG lam=0.1"] == 0) & (curves.censored["undiscounted lam=0.1"] == 0)
    ratio = float((curves.y["undiscounted lam=0.1"][both] / curves.y["PG lam=0.1"][both]).mean()) if both.any() else np.nan
    return _verdict(ratio < 1.0), f"mean ratio of updates, undiscounted to PG, with lam=0.1 where both solve: {ratio:.3f}"


def _entropy_hurts(curves: Curves) -> Outcome:
    plain = {label: int(_solved(curves, label).sum()) for label in ON_POLICY}
    helped = {f"{label} lam=0.1": int(_solved(curves, f"{label} lam=0.1").sum()) for label in ON_POLICY}
    return (
        _verdict(*(helped[f"{label} lam=0.1"] < plain[label] for label in ON_POLICY)),
        f"chain sizes solved: {_say(plain)}; {_say(helped)}",
    )


def _eta_no_impact(curves: Curves) -> Outcome:
    parts, shares = [], {}
    for label in ON_POLICY:
        solved = _solved(curves, label)
        reach = curves.x >= curves.x[solved].min(initial=np.inf)
        shares[label] = float(solved[reach].mean()) if reach.any() else 0.0
        parts.append(shares[label] in (0.0, 1.0))
    return _verdict(*parts), f"share solved among step sizes above the smallest that solves: {_say(shares)}"


def _eta_faster(curves: Curves) -> Outcome:
    worst = {label: float(np.diff(curves.y[label]).max()) for label in ("uniform", "o=0.5", "o=0.1")}
    return _verdict(*(v <= 0 for v in worst.values())), f"largest increase of the time along eta: {_say(worst)}"


def _large_lambda_breaks(curves: Curves) -> Outcome:
    largest = {label: float(curves.x[_solved(curves, label)].max(initial=0)) for label in ("uniform", "o=0.5", *ON_POLICY)}
    return _verdict(*(0.15 < v < 0.4 for v in largest.values())), f"largest lam that reaches the target: {_say(largest)}"


def _small_lambda_neutral(curves: Curves) -> Outcome:
    small = curves.x < 0.1
    spread = {
        label: float(curves.y[label][small].max() / curves.y[label][small].min() - 1) for label in ("uniform", "o=0.5", "o=0.1")
    }
    return _verdict(*(v < 0.25 for v in spread.values())), f"relative spread of the time over lam < 0.1: {_say(spread)}"


def _sweet_spot(curves: Curves) -> Outcome:
    spans = {}
    for label in ON_POLICY:
        solved = curves.x[_solved(curves, label)]
        spans[label] = float(solved.max() / solved.min()) if len(solved) else 0.0
    best = {label: float(curves.y[label].min() / curves.y["o=0.5"].min()) for label in ON_POLICY}
    parts = [0 < v < 30 for v in spans.values()] + [v > 2 for v in best.values()]
    return _verdict(
        *parts
    ), f"width of the range of lam that solves (factor): {_say(spans)}; best time relative to o=0.5: {_say(best)}"


def _late_order(curves: Curves) -> Outcome:
    strong, weak = curves.y["o=0.5"][-1], {label: float(curves.y[label][-1]) for label in (*ON_POLICY, "o=10/t")}
    return _verdict(*(strong > v for v in weak.values())), f"at the end: o=0.5 {strong:.5f}; {_say(weak)}"


def _uniform_slow_start(curves: Curves) -> Outcome:
    early = {label: _at(curves, label, 500) for label in ("uniform", "PG")}
    late = _at_end(curves, "uniform", "PG")
    above = curves.x[curves.y["uniform"] <= curves.y["PG"]].max(initial=0)
    parts = (early["uniform"] < early["PG"], late["uniform"] > late["PG"])
    return _verdict(*parts), f"update 500: {_say(early)}; at the end: {_say(late)}; above for good after update {above:g}"


def _uniform_stays_behind(curves: Curves) -> Outcome:
    end = _at_end(curves, "uniform", "PG", "o=0.5")
    return _verdict(end["uniform"] < end["PG"], end["uniform"] < end["o=0.5"]), f"at the end: {_say(end)}"


def _stagnates_at_99(curves: Curves) -> Outcome:
    end = _at_end(curves, *ON_POLICY)
    return _verdict(*(0.98 < v < 0.998 for v in end.values())), f"decile at the end: {_say(end)}"


def _softmax_mean_99(curves: Curves) -> Outcome:
    end = _at_end(curves, "PG", "undiscounted", "o=0.5", "o=0.1")
    return _verdict(*(0.98 < v < 0.996 for v in end.values())), f"mean at the end: {_say(end)}"


def _direct_mean_997(curves: Curves) -> Outcome:
    end = _at_end(curves, "PG", "undiscounted", "o=0.5", "o=0.1")
    return _verdict(*(v > 0.995 for v in end.values())), f"mean at the end: {_say(end)}"


def _entropy_fast_then_worse(curves: Curves) -> Outcome:
    early = {label: _at(curves, label, 300) for label in ("PG", "PG lam=0.1")}
    late = _at_end(curves, "PG", "PG lam=0.1")
    parts = (early["PG lam=0.1"] > early["PG"], late["PG lam=0.1"] < late["PG"])
    return _verdict(*parts), f"update 300: {_say(early)}; at the end: {_say(late)}"


CLAIMS: tuple[Claim, ...] = (
    Claim("5a-fruit", "5a", "On-policy updates converge to the low-hanging fruit.", _low_fruit),
    Claim("5a-strong", "5a", "With enough off-policiness the optimal policy is found.", _strong_reaches),
    Claim("5a-tight", "5a", "o=10/t satisfies C4 and still stays on the low-hanging fruit for long.", _weak_is_stuck),
    Claim("5a-exact", "5a", "Once found, the optimum is met exactly (Theorem 3).", _exactly_optimal),
    Claim("5b-seven", "5b", "On-policy updates fail on chains of 7 states or more.", _fails_from_seven),
    Claim("5b-scales", "5b", "Partly off-policy updates solve chains of 25 states with beta 0.95.", _off_policy_scales),
    Claim("5b-weight", "5b", "Convergence is faster as the uniform density weighs more.", _more_uniform_is_faster),
    Claim("5b-tight", "5b", "When C4 holds only tightly (o=10/t) it can take very long.", _tight_is_long),
    Claim("5c-beta", "5c", "At |S|=15 on-policy updates fail even with the fruit ten times below the optimum.", _ten_times_smaller),
    Claim("5c-reliable", "5c", "Off-policy updates find the optimum for every beta.", _off_policy_all_betas),
    Claim("5d-ability", "5d", "The step size does not change whether on-policy updates find the optimum.", _eta_no_impact),
    Claim("5d-faster", "5d", "A larger step size is faster.", _eta_faster),
    Claim("6a-fruit", "6a", "On-policy updates converge to the low-hanging fruit under softmax too.", _low_fruit),
    Claim("6a-never", "6a", "Softmax never converges completely.", _never_exact),
    Claim("6a-entropy", "6a", "With entropy, on-policy updates are first below the fruit and later settle on it.", _entropy_below),
    Claim("6b-seven", "6b", "The results on chain size are those of the direct parametrization.", _fails_from_seven),
    Claim("6b-entropy", "6b", "At beta 0.95 entropy makes on-policy updates worse.", _entropy_hurts),
    Claim("6c-beta", "6c", "At |S|=15 on-policy updates fail even with the fruit ten times below the optimum.", _ten_times_smaller),
    Claim("6c-entropy", "6c", "Entropy helps on-policy updates, but not where beta is too high.", _entropy_helps_below),
    Claim("6c-edge", "6c", "Undiscounted updates have a small edge over PG.", _undiscounted_edge),
    Claim("6d-large", "6d", "From lam of about 0.25 on, the bias keeps every update from the target.", _large_lambda_breaks),
    Claim("6d-small", "6d", "Below, lam hardly matters where C4 holds.", _small_lambda_neutral),
    Claim("6d-sweet", "6d", "On-policy updates have a narrow and slow sweet spot in lam.", _sweet_spot),
    Claim("7a-order", "7a", "High off-policiness ends above low off-policiness and on-policy updates.", _late_order),
    Claim("7a-uniform", "7a", "Uniform updates start late and overtake on-policy ones around update 4,000.", _uniform_slow_start),
    Claim("7a-level", "7a", "The mean performance comes to about 0.997.", _direct_mean_997),
    Claim("7b-decile", "7b", "The decile of on-policy updates stagnates around 0.99.", _stagnates_at_99),
    Claim("7c-level", "7c", "With softmax the mean stays around 0.99.", _softmax_mean_99),
    Claim("7c-uniform", "7c", "With softmax uniform updates stay behind.", _uniform_stays_behind),
    Claim("7c-entropy", "7c", "Entropy is fastest early and ends lower.", _entropy_fast_then_worse),
    Claim("7d-order", "7d", "The decile shows the same order.", _late_order),
)  # fmt: skip


def judge(curves: Curves) -> list[dict[str, str]]:
    """Every claim about this panel with its verdict and the numbers it rests on."""
    found = []
    for claim in CLAIMS:
        if claim.panel == curves.panel.name:
            verdict, measured = claim.test(curves)
            found.append({"id": claim.id, "claim": claim.text, "verdict": verdict, "measured": measured})
    return found
