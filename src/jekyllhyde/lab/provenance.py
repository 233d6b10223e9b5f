"""Where the runs behind some panels come from: who made them, when, with what, in how many seconds,
and how many failed.
"""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_files import Held

MAKER = ("version", "commit", "machine", "python")


@dataclass
class Tally:
    """Runs, how many of them failed, the seconds that they took, and when they were stored; `days`
    are the first and the last.
    """

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    times: set[str] = field(default_factory=set, repr=False)

    def add(self, stretch: Held, seconds: float, time: str) -> None:
        # Runs of so many seconds each.
        runs = stretch.last - stretch.first
        self.runs += runs
        self.failed += stretch.failed
        self.seconds += seconds * runs
        self.times.add(time)

    @property
    def days(self) -> str:
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
    sizes: dict[str, int] = defaultdict(int)
    for stretch in itertools.chain.from_iterable(store.parts.values()):
        sizes[stretch.part] += stretch.last - stretch.first
        held[stretch.cell].append(stretch)
    about = cache(store.provenance)
    counts = Provenance({}, defaultdict(Tally), Tally())
    counted: set[str] = set()
    for panel in panels:
        tally = counts.panels[panel.name] = Tally()
        for digest in {cell.digest for cells in panel.cells.values() for cell in cells}:
            for stretch in held[digest]:
                made = about(stretch.part)
                share = made["seconds"] / sizes[stretch.part]
                tally.add(stretch, share, made["time"])
                if digest not in counted:
                    maker = tuple(str(made.get(key) or "unknown") for key in MAKER)
                    counts.makers[maker].add(stretch, share, made["time"])
                    counts.total.add(stretch, share, made["time"])
            counted.add(digest)
    return counts
