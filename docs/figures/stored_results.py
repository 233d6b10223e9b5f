"""What docs/results has of the panels: curves, agreement with the published ones, and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jekyllhyde.lab import stored_numbers
from jekyllhyde.lab.agreement import Agreement, compare_with_published
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves

DOCS = Path(__file__).resolve().parent.parent
RESULTS, PICTURES = DOCS / "results", DOCS / "_static"
# by panel, the digest of the experiment that its numbers come from
MADE = RESULTS / stored_numbers.MADE


@dataclass(frozen=True)
class Result:
    """What docs/results has of a panel: its curves, how they agree, and the claims' records."""

    curves: Curves
    agreement: Agreement
    claims: Sequence[Mapping[str, Any]]
    is_current: bool  # its runs are those that `jh figure` would make


def read_results() -> dict[str, Result]:
    """Every panel that docs/results has, in the paper's order."""
    return {
        name: Result(
            numbers.curves,
            compare_with_published(numbers.curves),
            numbers.claims,
            is_current=numbers.is_current is not False,
        )
        for name, numbers in stored_numbers.read_numbers(PANELS, RESULTS).items()
    }
