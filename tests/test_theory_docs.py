"""The theory page says what its code prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "theory.md"
BLOCK = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of this installation")
def test_code_blocks_print_what_the_page_shows() -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == PAGE.read_text(encoding="utf-8").count("```python")
    names: dict[str, Any] = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown
