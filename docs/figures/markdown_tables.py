"""Tables and folded text in the Markdown of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table without spaces beside the bars."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(map(str, line))}|" for line in lines)


def escaped(text: str) -> str:
    for sign in ("\\", "|", "*", "~", "_", "$"):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("<", "&lt;")


def fold(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
