"""Every Python block of the README and of the documentation runs as it stands, in the page's order,
and prints what it says.

A block that starts with `# file: NAME` is written to that file instead.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^```(?:python|toml)\n(.*?)^```(?:\s*^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"# file: (\S+)\n")
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
