"""The text of docs/claims.md: every claim with its place in the paper and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markdown_tables import escaped, fold, table
from stored_results import Result

from jekyllhyde.lab.draw import note


def claims_page(results: Mapping[str, Result]) -> str:
    parts = [
        "# Every claim and its numbers\n\nWhat stands behind the verdicts of the page "
        "{doc}`figures`: per claim its place in the paper, and every part with its estimate and "
        "95 % interval, and per panel how each series agrees with the published one. Written by "
        "`docs/figures/page.py`.\n"
    ]
    for name, result in results.items():
        panel = result.curves.panel
        lines = [f"## {name}: {escaped(panel.title)} ({note(result.curves)})"]
        if result.agreement.series:
            lines.append(fold("Agreement by series", by_series(result)))
        lines += [detail(claim) for claim in result.claims]
        parts.append("\n\n".join(lines) + "\n")
    return "\n".join(parts)


def by_series(result: Result) -> str:
    return table(
        ("series", "points", "within noise", "mean deviation", "verdict"),
        [
            (
                escaped(label),
                agreement.points,
                agreement.share_text,
                agreement.deviation_text,
                agreement.verdict,
            )
            for label, agreement in result.agreement.series.items()
        ],
    )


def detail(claim: Mapping[str, Any]) -> str:
    return (
        f"(claim-{claim['id']})=\n**{claim['id']}**, {claim['verdict']} ({claim['place']}). "
        f"{escaped(claim['claim'])}\n\n> {escaped(claim['measured'] or 'no number')}"
    )
