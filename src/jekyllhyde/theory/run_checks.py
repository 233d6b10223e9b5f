"""Everything that the theory says about a recorded run, in one list: what holds, on what that
rests, and the numbers.

A statement about a limit holds or fails only where that is certain; otherwise it is open, and what
was seen stands beside it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from jekyllhyde.errors import InputError, require
from jekyllhyde.mdp.finite import Ints
from jekyllhyde.planning.densities import Density
from jekyllhyde.planning.plan_run import PlanRun
from jekyllhyde.theory.conditions import learning_rate, least_start, uniqueness
from jekyllhyde.theory.nonasymptotic import nonasymptotic
from jekyllhyde.theory.optimality import ceiling, limit
from jekyllhyde.theory.reach import ROUNDING, Mask, require_run
from jekyllhyde.theory.softmax_rate import softmax_rate
from jekyllhyde.theory.theorems import hitting_time, monotonicity
from jekyllhyde.theory.weights import Growth, density_range, is_settled, weight_growth

RECORD = ("v", "q", "pi", "d")
Verdict = Literal["holds", "fails", "open", "n/a"]
Basis = Literal["certified", "measured", ""]


@dataclass(frozen=True)
class Check:
    """One statement on one run.

    name : the paper's label.     verdict : holds, fails, open (this run cannot tell) or n/a (not
        about this run).
    basis : certified (from the model and the schedules) or measured (on the records).     numbers :
        what was measured.
    """

    name: str
    verdict: Verdict
    basis: Basis
    sentence: str
    numbers: dict[str, float] = field(default_factory=dict)


def check(run: PlanRun) -> list[Check]:
    """Check a run made with plan(..., record=theory.RECORD); what was not recorded, or does not
    apply, comes back as n/a.
    """
    growth = weight_growth(run)
    linear = ("grow linearly", growth.linear)
    statements: dict[str, Callable[[PlanRun], Check | list[Check]]] = {
        "A2": _start,
        "C3": _learning_rate,
        "C4": lambda _: _weights("C4", growth, growth.decides, "diverge", growth.diverges),
        "C4-s": lambda _: _weights("C4-s", growth, growth.decides, *linear),
        "C5": lambda _: _weights("C5", growth, growth.optimal_support, *linear),
        "C7": _density,
        "A8": _uniqueness,
        "Theorem 1": _monotone,
        "Corollary 1": _ceiling,
        "q_inf = q_star": _limit,
        "Theorem 3": _hitting,
        "Theorem 4": _rate,
        "Theorem 7": _every_t,
        "Exact arithmetic": _frozen,
    }
    checks: list[Check] = []
    for name, statement in statements.items():
        try:
            result = statement(run)
        except InputError as reason:
            result = Check(name, "n/a", "", str(reason))
        checks += result if isinstance(result, list) else [result]
    return checks


def table(checks: Iterable[Check]) -> str:
    """The checks as plain text, one line each."""
    rows = [
        ("statement", "verdict", "basis", "what was found"),
        *((c.name, c.verdict, c.basis, c.sentence) for c in checks),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]
    return "\n".join(
        [lines[0], "  ".join("-" * width for width in (*widths, len(rows[0][3]))), *lines[1:]]
    )


def _states(count: float) -> str:
    return f"{count:.0f} state" + "s" * (count != 1)


def _yes(holds: bool) -> Verdict:
    return "holds" if holds else "fails"


def _start(run: PlanRun) -> Check:
    least = least_start(run.mdp)
    missing = int((run.mdp.p0[~run.mdp.is_terminal] == 0).sum())
    return Check(
        "A2",
        _yes(least > 0),
        "certified",
        f"the least p0 is {least:.3g}"
        if missing == 0
        else f"p0 is 0 in {missing} of {(~run.mdp.is_terminal).sum()} states",
        {"p0_min": least},
    )


def _learning_rate(run: PlanRun) -> Check:
    rate = learning_rate(run.settings["parametrization"], run.mdp.gamma, run.mdp.n_actions)
    return Check(
        "C3",
        _yes(run.eta.constant and bool(np.isclose(run.eta.c, rate))),
        "certified",
        f"eta is {run.eta}; C3 asks for {rate:.3g}",
        {"rate": rate},
    )


def _weights(name: str, growth: Growth, states: Mask, word: str, certain: Ints) -> Check:
    # Certified where every state is decided or one is refuted; the growth seen stands beside it.
    verdicts, least = certain[states], float(growth.exponent[states].min())
    numbers = {"least_average": float(growth.average[states].min()), "least_exponent": least}
    count, dry, unknown = len(verdicts), int((verdicts == -1).sum()), int((verdicts == 0).sum())
    seen = "; the slowest did not grow lately"
    if not np.isinf(least):
        seen = "" if np.isnan(least) else f"; the slowest grew as t^{least:.2f} lately"
    if dry:
        said = f"in {dry} of {count} states the weights cannot {word}"
        return Check(name, "fails", "certified", said, numbers)
    if unknown:
        basis: Basis = "measured" if seen else ""
        return Check(
            name, "open", basis, f"no proof for {unknown} of {count} states{seen}", numbers
        )
    said = f"in all {count} states they {word}{seen}"
    return Check(name, "holds", "certified", said, numbers)


def _density(run: PlanRun) -> Check:
    d = density_range(run)
    verdicts: dict[int, Verdict] = {1: "holds", -1: "fails", 0: "open"}
    seen = f"d_t(s) in [{d.d_bot:.3g}, {d.d_top:.3g}]"
    if not d.outer:
        seen += f"; the least went as t^{d.trend:.2f} lately"
    return Check(
        "C7",
        verdicts[d.certain],
        "certified" if d.certain else "measured",
        seen,
        {"d_bot": d.d_bot, "d_top": d.d_top, "trend": d.trend},
    )


def _uniqueness(run: PlanRun) -> Check:
    optimum = uniqueness(run.mdp)
    ties, gap = float((optimum.counts > 1).sum()), float(run.mdp.optimal().gap.min())
    harmless = "; harmless, every action there is optimal" if optimum.enough else ""
    return Check(
        "A8",
        _yes(optimum.unique),
        "certified",
        f"one optimal action per state, least gap {gap:.3g}"
        if optimum.unique
        else f"ties in {_states(ties)}{harmless}",
        {"ties": ties, "least_gap": gap},
    )


def _monotone(run: PlanRun) -> Check:
    require_run(run, run.settings["parametrization"], "Theorem 1")
    change = monotonicity(run)
    numbers = {"decrease_v": change.decrease_v, "decrease_q": change.decrease_q}
    return Check(
        "Theorem 1",
        _yes(change.holds),
        "measured",
        "no decrease beyond rounding"
        if change.holds
        else f"a decrease of {max(numbers.values()):.2g} after t = {change.t}",
        numbers,
    )


def _ceiling(run: PlanRun) -> Check:
    require_run(run, run.settings["parametrization"], "Corollary 1")
    values = ceiling(run)
    below = values.above <= ROUNDING * float(abs(run.mdp.optimal().q).max())
    return Check(
        "Corollary 1",
        _yes(below),
        "measured",
        f"q_t stays below q_star, and has at most {values.left:.2g} left to gain"
        if below
        else f"q_t exceeds q_star by {values.above:.2g}",
        {"above": values.above, "left": values.left},
    )


def _limit(run: PlanRun) -> Check:
    goes = limit(run)
    gap, short = float(goes.gap.max()), float(goes.short_of.sum())
    verdicts: dict[str, Verdict] = {"optimal": "holds", "short": "fails", "open": "open"}
    sentences = {
        "optimal": f"{'arrived' if is_settled(run) else 'by Theorem 2'}; the gap is now {gap:.2g}",
        "short": f"v_t(s) stays below v_star(s) in {_states(short)}"
        + ("; J tends to J_star all the same" if goes.J_optimal else f"; the gap is now {gap:.2g}"),
        "open": f"C4 is not decided everywhere; the gap is now {gap:.2g}",
    }
    return Check(
        "q_inf = q_star",
        verdicts[goes.kind],
        "" if goes.kind == "open" else "certified",
        sentences[goes.kind],
        {"gap": gap, "short": short},
    )


def _hitting(run: PlanRun) -> Check:
    hit = hitting_time(run)
    times = {"t": hit.t, "t0": hit.t0, "ceiling": hit.ceiling}
    numbers = {name: float(t) for name, t in times.items() if t is not None}
    by = "" if hit.ceiling is None else f"; the proof promises it by t = {hit.ceiling}"
    said = (
        f"q_star is not hit, the gap is {hit.gap[-1]:.3g}"
        if hit.t is None
        else f"q_t = q_star from t = {hit.t} on{by}"
    )
    late = hit.ceiling is not None and (hit.t is None or hit.t > hit.ceiling)
    verdict: Verdict = "fails" if late else "open" if hit.t is None else "holds"
    return Check("Theorem 3", verdict, "measured", said, numbers)


def _rate(run: PlanRun) -> list[Check]:
    rate = softmax_rate(run)
    require(
        len(rate.t), "this run has no record after t_0, where Theorem 4 begins; make more updates"
    )
    proved, linear = rate.excess(rate.bound), rate.excess(rate.linear)
    policy = rate.excess(rate.policy_bound, rate.policy_gap)
    per_state = rate.excess_printed
    printed, outside = float(per_state.max()), float((per_state > 1).sum())
    where = f" in {_states(outside)} outside supp(d_star)" if outside else ""

    def form(name: str, said: str, excess: float, **numbers: float) -> Check:
        return Check(name, _yes(excess <= 1), "measured", said, {"excess": excess, **numbers})

    said = f"from t_0 = {rate.t0} on the gap is at most {proved:.2g} of the bound"
    as_printed = f"from t_0 on the gap is up to {printed:.2g} times the bound{where}"
    checks = [
        form("Theorem 4", said, proved, t0=rate.t0),
        form("Theorem 4, as printed", as_printed, printed, states=outside),
        form("Theorem 4, policy", f"1 - pi(optimal) is at most {policy:.2g} of the bound", policy),
        form("Theorem 4, 1/t", f"the gap is at most {linear:.2g} of the 1/t form", linear),
    ]
    # As printed it holds from some t_0 on, which no run can refute.
    checks[1] = replace(checks[1], verdict="holds" if printed <= 1 else "open")
    return checks


def _every_t(run: PlanRun) -> Check:
    bound = nonasymptotic(run)
    excess = float((bound.gap / bound.derived).max())
    return Check(
        "Theorem 7",
        _yes(excess <= 1),
        "measured",
        f"the gap is at most {excess:.2g} of the bound; the corollary's t_0 is {bound.t0:.2g}",
        {"excess": excess, "t0": bound.t0, "C": bound.C},
    )


def _frozen(run: PlanRun) -> Check:
    # The theorems are about real numbers: a softmax policy can become too sure for its next step to
    # change theta at all.
    require_run(run, "softmax", "freezing")
    evaluation = run.mdp.evaluate(run.pi)
    better = evaluation.adv > ROUNDING * float(abs(evaluation.q).max())
    d_top = max(1.0, float(run.density.off.max())) if isinstance(run.density, Density) else 1.0
    moves = run.theta + run.eta(run.updates + 1) * d_top * run.pi * evaluation.adv != run.theta
    frozen = int((better.any(axis=1) & ~(better & moves).any(axis=1) & ~run.mdp.is_terminal).sum())
    return Check(
        "Exact arithmetic",
        _yes(frozen == 0),
        "measured",
        f"{_states(frozen)} would still improve, but the next step is lost to rounding"
        if frozen
        else "no improvement is lost to rounding",
        {"states": float(frozen)},
    )
