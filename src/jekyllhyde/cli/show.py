"""What commands print: tables, JSON, and a progress bar for long work."""

import json
import math
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jekyllhyde.errors import need
from jekyllhyde.files import prepare_folder


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as a table, its title above it."""
    from rich import box, console, table

    screen, grid = console.Console(), table.Table(box=box.SIMPLE_HEAD)
    for name, value in rows[0].items():
        grid.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        grid.add_row(*map(_cell, row.values()))
    print(textwrap.fill(title, screen.width))
    screen.print(grid)


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


@contextmanager
def progress_bar(total: int | None, title: str) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, at a terminal only; what it yields is called with what was
    done since the last call.
    """
    from rich import console, progress

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task(title, total=total)
    with bar:
        yield lambda count: bar.advance(task, count)
