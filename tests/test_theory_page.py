"""The theory page names what is there, and its numbers are those of its pictures."""

from __future__ import annotations

import json
import re
from pathlib import Path

from jekyllhyde import theory

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_the_coverage_table_names_what_is_there() -> None:
    """Functions, tests and pictures of the last table of docs/theory.md exist, and the page shows
    the pictures.
    """
    page = (DOCS / "theory.md").read_text()
    tests = "".join(file.read_text() for file in Path(__file__).parent.glob("test_theory*.py"))
    lines = page[page.index("## Every numbered statement") :].splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith("| ")][2:]
    assert len(rows) > 25
    for _, _, functions, _, drawn, tested in rows:
        for name in re.findall(r"`([\w-]+)`", functions):
            assert name in theory.__all__
        for name in re.findall(r"`([\w-]+)`", tested):
            assert f"def {name}(" in tests, name
        for name in re.findall(r"`([\w-]+)`", drawn):
            assert f"](_static/theory-{name}.png)" in page, name
            assert (DOCS / "_static" / f"theory-{name}.png").exists()


def test_the_long_run_has_one_number() -> None:
    """The stored number of updates of chain(8), the page's two forms of it, and the picture's
    title, which the script writes into the file, are the same.
    """
    stored = json.loads((DOCS / "figures" / "theory-stall.json").read_text())
    updates, page = stored["exceeds_half_at"], (DOCS / "theory.md").read_text()
    assert f"after {updates:,} updates, about $1.3 \\cdot 10^8$" in page
    assert round(updates / 1e8, 1) == 1.3
    assert set(re.findall(r"([\d.]+) \\cdot 10\^8", page)) == {"1.3"}
    picture = (DOCS / "_static" / "theory-stall.png").read_bytes()
    assert f"pg exceeds 0.5 after {updates:,} updates".encode() in picture
    assert (stored["chain"], stored["eta"]) == (8, 10.0)
