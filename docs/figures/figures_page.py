"""The text of docs/figures.md: claims by verdict, panels by agreement, and a section per figure."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from markdown_tables import escaped, fold, table
from stored_results import RESULTS, Result

from jekyllhyde.lab.agreement import (
    DIFFERS,
    DRAWN_RETURN,
    DRAWN_TIME,
    ENOUGH,
    FEW,
    NOISY_RETURN,
    NOISY_TIME,
    QUANTILE,
    published_runs,
    worst_first,
)
from jekyllhyde.lab.html_page import WORST_FIRST
from jekyllhyde.lab.interval_drawing import decisive, interval_svg, number_of, stated

OPENLY = "contradicted"
HEAD = """# Figures

The paper's figures, made anew: its own curves in grey, ours with 95 % intervals, and a verdict on each claim.
More: {{doc}}`reproducing`, {{doc}}`claims` (every number), {{doc}}`readings` (the rules), {{doc}}`differences`.

## Claims by verdict

Drawings: a band is stated, dots are measured; green holds, red fails, grey is open. §E.2¶1 is Appendix E.2, paragraph 1.

{claims}

## Panels beside the published curves, worst first

Published points are within noise if they differ from ours, or from the line between two of ours that hardly differ, by at most {errors:g} standard errors (both sides' runs counted, as many as ours where unknown: {unknown}) and {drawn:g} (times: {drawn_time:.1%}) for drawing. {few} points or more match if {enough:.0%} are; none does where the median one may differ by {returns:g} (times: {times:.0%}).

{panels}
"""  # noqa: E501
PLAIN_WORDS = {
    2: "Agents that learn from samples. On the chain on-policy updates stay with the low-hanging "
    "fruit, which J&H leaves; on random MDPs both learn, and bonuses without replay lag.",
    3: "Networks on Four Rooms ({doc}`deep`): baselines as published, without the falling step of "
    "the authors' code; J&H recommended is `recommended_0_3`. No numbers were published.",
    5: "Exact updates on the chain, direct: where a policy never goes, on-policy updates hardly "
    "move it.",
    6: "The same with softmax. Nothing converges completely; entropy moves the fixed point.",
    7: "Exact updates on random MDPs: densities matter more for the slowest tenth than on average.",
    8: "The runs of 2a again: the mixture that acts, and Jekyll alone.",
    9: "The runs of 2b again, and ten times longer ones; their settings were found by fitting "
    "({doc}`reproducing`).",
    10: "How much of the learning is off-policy, held constant.",
    11: "The actor's step size. Times are heavy-tailed where steps are large.",
    12: "The critic's step size.",
    13: "Random MDPs with steps chosen for speed.",
    14: "Longer chains and sweeter fruit.",
    15: "Optimism of the first value.",
    16: "How often Hyde leads, held constant: by both returns as published, and by "
    "Jekyll's alone as in the text.",
}


def figures_page(results: Mapping[str, Result]) -> str:
    claims = [(name, claim) for name, result in results.items() for claim in result.claims]
    head = HEAD.format(
        claims=verdict_table(claims),
        panels=agreement_table(results),
        errors=QUANTILE,
        few=FEW,
        enough=ENOUGH,
        returns=NOISY_RETURN,
        times=NOISY_TIME,
        unknown=", ".join(
            name
            for name, result in results.items()
            if result.agreement.points and published_runs(name) is None
        ),
        drawn=DRAWN_RETURN,
        drawn_time=DRAWN_TIME,
    )
    parts = [head]
    for number, group in groupby(results.items(), lambda item: figure_of(item[0])):
        panels = dict(group)
        parts.append(f"## Figure {number}\n\n{PLAIN_WORDS[number]}\n")
        parts += [section(name, result) for name, result in panels.items()]
        parts.append(claims_table([claim for one in panels.values() for claim in one.claims]))
    return "\n".join(parts)


def figure_of(name: str) -> int:
    return int(re.sub(r"\D.*", "", name))


def verdict_table(claims: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """What is not so in a table, each claim with its number and linked to its panel; the others
    folded.
    """
    counts = Counter(claim["verdict"] for _, claim in claims)
    rows, folded = [], []
    for verdict in WORST_FIRST:
        links = {
            f"[{claim['id']}](#panel-{name})": claim
            for name, claim in claims
            if claim["verdict"] == verdict
        }
        if verdict == OPENLY:
            rows += [
                (link if is_judged(claim) else f"*{link}*", *headline(claim))
                for link, claim in links.items()
            ]
        else:
            for how, group in kinds(verdict, links).items():
                folded.append(fold(f"{len(group)} {verdict}{how}", ", ".join(group)))
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict])
    earlier = sum(not is_judged(claim) for _, claim in claims)
    note = f" {earlier} of them, in italics below, by the rules of version 0.4." if earlier else ""
    return "\n\n".join(
        [
            f"{said}, {len(claims)} in all.{note}",
            table((OPENLY, "measured", "stated"), rows),
            *folded,
        ]
    )


def kinds(verdict: str, links: Mapping[str, Any]) -> dict[str, list[str]]:
    """Links by what becomes of a claim's other parts, where only some hold."""
    groups: dict[str, list[str]] = {}
    for link, claim in links.items():
        fails = any(part["holds"] is False for part in claim.get("parts", ()))
        how = (", the rest fails" if fails else ", the rest open") if verdict == "partly" else ""
        groups.setdefault(how, []).append(link)
    return groups


def is_judged(claim: Mapping[str, Any]) -> bool:
    """By the rules of today; records of version 0.4 have no parts."""
    return "parts" in claim


def verdict_of(claim: Mapping[str, Any]) -> str:
    """In italics if it is not by the rules of today."""
    return str(claim["verdict"]) if is_judged(claim) else f"*{claim['verdict']}*"


def headline(claim: Mapping[str, Any]) -> tuple[str, str]:
    """The number that decides a claim with what it is of, and what it was said to be."""
    part = decisive(claim.get("parts", ()))
    if part is None:
        return "", ""
    said = stated(part).replace("above ", "&gt;&nbsp;").replace("below ", "&lt;&nbsp;")
    return f"{escaped(part['what'])}: {number_of(part)}", said


def short_place(place: str) -> str:
    """A place of the paper in few signs: §E.2¶1."""
    section, _, paragraph = re.sub(r"^(Sec|App)\. ", "§", place).partition(", par. ")
    return f"{section}¶{paragraph}" if paragraph else section


def agreement_table(results: Mapping[str, Result]) -> str:
    agreements = worst_first({name: result.agreement for name, result in results.items()})
    rows = [
        (
            f"[{name}](#panel-{name})",
            results[name].curves.runs,
            agreement.points,
            unbroken(agreement.share_text),
            unbroken(agreement.deviation_text),
            agreement.verdict + ("" if results[name].is_current else ", earlier settings"),
            ", ".join(
                escaped(label)
                for label, series in agreement.series.items()
                if series.verdict == DIFFERS
            ),
        )
        for name, agreement in agreements.items()
        if agreement.points
    ]
    others = sum(not agreement.points for agreement in agreements.values())
    head = (
        "panel",
        "runs",
        "points",
        "within noise",
        "mean deviation",
        "verdict",
        "series that differ",
    )
    return f"{table(head, rows)}\n\nOf {others} more panels no curve was published."


def unbroken(text: str) -> str:
    """Percentages that no line breaks."""
    return text.replace(" %", "&nbsp;%")


def section(name: str, result: Result) -> str:
    """A panel: its picture, and how it agrees."""
    panel = result.curves.panel
    runs = "exact" if panel.exact else f"n={runs_of(name)}"
    lines = [
        f"(panel-{name})=\n### {name}: {escaped(panel.title)} ({runs})",
        f"![panel-{name}](_static/figure-{name}.png)",
        (f"{unbroken(result.agreement.text)}. " if result.agreement.points else "")
        + ("" if result.is_current else "Runs of earlier settings."),
    ]
    return "\n\n".join(line.strip() for line in lines if line) + "\n"


def runs_of(name: str) -> str:
    """How many runs the series of a panel have: the fewest, and the most if these are more."""
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        counts = {int(row["runs"]) for row in csv.DictReader(file)}
    return " to ".join(str(count) for count in sorted({min(counts), max(counts)}))


def claims_table(claims: Sequence[Mapping[str, Any]]) -> str:
    """A row per claim: its name, verdict and place, the sentence, and a drawing of what was
    measured.
    """
    rows = [
        (
            f"[{claim['id']}](#claim-{claim['id']})<br>{verdict_of(claim)}"
            f"<br>{short_place(claim['place'])}",
            escaped(claim["claim"]),
            f"{{drawing}}`{claim['id']}`" if interval_svg(claim.get("parts", ())) else "",
        )
        for claim in claims
    ]
    return table(("claim", "what the paper says", "measured"), rows) + "\n"
