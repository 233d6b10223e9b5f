"""What commands print, and where they write."""

import json
import math
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jekyllhyde.errors import need, plain
from jekyllhyde.files import prepare_folder


def say(*lines: str, error: bool = False) -> None:
    """Print lines of text; what comes from files and may be more than text is shown, not obeyed."""
    if lines:
        print(*map(plain, lines), sep="\n", file=sys.stderr if error else sys.stdout, flush=True)


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as a table, its title above it; all of it is text, no markup."""
    from rich import box, console, table, text

    screen, grid = console.Console(), table.Table(box=box.SIMPLE_HEAD)
    for name, value in rows[0].items():
        grid.add_column(
            text.Text(plain(name)), justify="left" if isinstance(value, str) else "right"
        )
    for row in rows:
        grid.add_row(*(text.Text(plain(_cell(value))) for value in row.values()))
    say(*textwrap.wrap(title, screen.width))
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
