"""The numbers of a training while it goes on: a table at a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jekyllhyde.errors import plain

# what each row says; the page "What each logged number means" says more
WORDS = {
    "return_jekyll": "return, Jekyll's last 100",
    "return_hyde": "return, Hyde's last 100",
    "evaluation": "return, last evaluation",
    "epsilon": "epsilon",
    "hyde_share": "share of steps that Hyde led",
    "coverage": "share of states visited",
    "bonus": "bonus",
    "critic_loss": "critic's loss",
    "hyde_loss": "Hyde's loss",
    "entropy": "entropy of Jekyll's policy",
    "alpha": "temperature alpha",
    "steps_per_second": "steps per second",
}


def rows(values: dict[str, float], step: int, total: int | None) -> list[tuple[str, str]]:
    """The lines of the table."""
    steps = f"{step}" if total is None else f"{step} of {total}"
    counted = [("steps", steps), ("episodes", f"{int(values.get('episodes', 0))}")]
    return counted + [
        (text, f"{values[name]:.4g}") for name, text in WORDS.items() if name in values
    ]


@contextmanager
def live_table(
    title: str, total: int | None, is_shown: bool = True
) -> Iterator[Callable[[dict[str, float], int], None]]:
    """What it yields is called with new values and the number of steps."""
    if not (is_shown and sys.stderr.isatty()):
        yield lambda values, step: None
        return
    from rich import box, console, live, table, text

    known: dict[str, float] = {}

    def drawn(step: int) -> Any:
        grid = table.Table(title=text.Text(plain(title)), box=box.SIMPLE, show_header=False)
        grid.add_column()
        grid.add_column(justify="right")
        for row in rows(known, step, total):
            grid.add_row(*row)
        return grid

    with live.Live(
        drawn(0), console=console.Console(stderr=True), transient=True, auto_refresh=False
    ) as screen:

        def show(values: dict[str, float], step: int) -> None:
            known.update(values)
            screen.update(drawn(step), refresh=True)

        yield show
