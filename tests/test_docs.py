"""Every Python block of the README and of the documentation runs as it stands, in the page's order,
and prints what it says; the files, functions and rooms that pages name are there.

A block that starts with `# file: NAME` is written to that file instead.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^```(?:python|toml)\n(.*?)^```(?:\s*^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"# file: (\S+)\n")
NAMED = re.compile(r"`((?:[a-z_]+/)*[a-z_0-9]+\.py)(?::(\w+))?`")
HOW_TO_ADD = re.compile(r"^```python\n# file: .*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SOURCE = ROOT / "src" / "jekyllhyde"
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for match in BLOCK.finditer(page.read_text()):
        file = FILE.match(match[1])
        if file:
            Path(file[1]).write_text(match[1])
            continue
        captured = io.StringIO()
        with contextlib.redirect_stdout(captured):
            exec(compile(match[1], page.name, "exec"), names)
        if match[2] is not None:
            assert captured.getvalue().strip() == match[2].strip()


def test_the_readme_has_an_example() -> None:
    assert PAGES[0] in WITH_CODE


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_named_files_are_there(page: Path) -> None:
    for path, name in NAMED.findall(page.read_text()):
        if path == "file.py":  # the reader's own
            continue
        file = next((base / path for base in (SOURCE, ROOT) if (base / path).exists()), None)
        assert file is not None, f"{page.name} names {path}"
        defined = rf"^(?:def|class) {name}\b|^{name}\b.* = "
        assert not name or re.search(defined, file.read_text(), re.MULTILINE), f"{path}:{name}"


def test_an_addition_takes_ten_lines() -> None:
    blocks = HOW_TO_ADD.findall((ROOT / "docs" / "architecture.md").read_text())
    assert len(blocks) >= 7
    for block in blocks:
        assert len([line for line in block.splitlines() if line.strip()]) <= 10, block


def test_rooms_import_each_other_as_drawn() -> None:
    allowed = runpy.run_path(str(ROOT / "docs" / "figures" / "architecture.py"))["IMPORTS"]
    rooms = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    assert rooms == set(allowed)
    for room in rooms:
        for file in (SOURCE / room).rglob("*.py"):
            extra = imported_rooms(file) & rooms - {room, *allowed[room]}
            assert not extra, f"{file.relative_to(SOURCE)} imports {extra}"


def imported_rooms(file: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jekyllhyde"):
            names = [alias.name for alias in node.names]
            rooms |= {*(node.module or "").split(".")[1:2]} or set(names)
    return rooms
