"""Where the runs behind some panels come from: who made them, when, with what, in how many seconds,
and how many failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.part import Held
from jekyllhyde.lab.store import Store

MAKER = ("version", "commit", "machine", "python")


@dataclass
class Tally:
    """Runs, how many of them failed, the seconds that they took, and when their parts were stored."""

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    times: set[str] = field(default_factory=set, repr=False)

    @property
    def days(self) -> str:
        """The first and the last day."""
        first, last = min(self.times, default="")[:10], max(self.times, default="")[:10]
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class Provenance:
    """What a store knows about some panels: by panel, by maker (version, commit, machine, Python),
    and in all.
    """

    panels: dict[str, Tally]
    makers: dict[tuple[str, ...], Tally]
    total: Tally


def provenance(panels: Sequence[Panel], store: Store) -> Provenance:
    """Count the runs of these panels' cells.

    A part's seconds go to its runs in equal shares. Runs that two panels share count for both, and
    once in all.
    """
    held: dict[str, list[Held]] = defaultdict(list)
    sizes: dict[str, int] = {}
    for name, stretches in store.parts.items():
        sizes[name] = sum(one.last - one.first for one in stretches)
        for one in stretches:
            held[one.cell].append(one)
    about: dict[str, dict[str, Any]] = {}
    found = Provenance({}, defaultdict(Tally), Tally())
    counted: set[str] = set()
    for panel in panels:
        mine = found.panels[panel.name] = Tally()
        labels = set(panel.labels)
        for digest in {cell.digest for cell in panel.experiment.cells if cell.label in labels}:
            for one in held[digest]:
                if one.part not in about:
                    about[one.part] = store.provenance(one.part)
                made = about[one.part]
                maker = tuple(str(made.get(key) or "unknown") for key in MAKER)
                runs = one.last - one.first
                for tally in (
                    (mine,) if digest in counted else (mine, found.makers[maker], found.total)
                ):
                    tally.runs += runs
                    tally.failed += one.failed
                    tally.seconds += made["seconds"] * runs / sizes[one.part]
                    tally.times.add(made["time"])
            counted.add(digest)
    return found
