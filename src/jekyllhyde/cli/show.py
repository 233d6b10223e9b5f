"""What commands print: tables, JSON, and a progress bar for long work."""

from __future__ import annotations

import json
import math
import sys
import textwrap
import time
from typing import Any


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as a table, its title above it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console, table = Console(), Table(box=box.SIMPLE_HEAD)
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        cells = (
            "yes" if v is True else "no" if v is False else "-" if v is None else v
            for v in row.values()
        )
        table.add_row(*(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells))
    print(textwrap.fill(title, console.width))
    console.print(table)


def show_json(value: Any) -> None:
    """Print one JSON object; a number that is not one becomes null, an infinite one a text."""
    print(json.dumps(_plain(value), allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


class Progress:
    """A progress bar on standard error that appears only at a terminal and only after a second.

    Without a total it counts what is done.
    """

    def __init__(self, total: int | None, title: str) -> None:
        self.total, self.title, self.done = total, title, 0
        self.started = time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Any:
        return self.advance

    def advance(self, count: int) -> None:
        """Count `count` more updates."""
        self.done += count
        if self.bar is None and sys.stderr.isatty() and time.perf_counter() - self.started > 1.0:
            from rich import progress
            from rich.console import Console

            columns = (
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                progress.TimeRemainingColumn(),
            )
            self.bar = progress.Progress(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.total)
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
