"""What commands print: tables, JSON, and a progress bar for long work."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jekyllhyde.errors import need
from jekyllhyde.files import prepare_folder


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as a table, its title above it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console, table = Console(), Table(box=box.SIMPLE_HEAD)
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    print(textwrap.fill(title, console.width))
    console.print(table)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def prepare_out(folder: Path | None) -> None:
    """Make sure, before any work is done, that results can be written and drawn."""
    if folder is not None:
        need("plot")
        prepare_folder(folder)


def show_json(value: Any) -> None:
    """Print one JSON object; a number that is not one becomes null, an infinite one a text."""
    print(json.dumps(_plain(value), allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if isinstance(value, (str, int, float)) or value is None else str(value)


class Progress:
    """A progress bar on standard error, at a terminal only; it is called with what was done."""

    def __init__(self, total: int | None, title: str) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.task = self.bar.add_task(title, total=total)

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __call__(self, count: float) -> None:
        """Count what was done since the last call."""
        self.bar.advance(self.task, count)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
