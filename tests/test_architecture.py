"""Files and functions stay small enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "jekyllhyde"
FILES = sorted(SOURCE.rglob("*.py"))
COMPILED = {"kernel", "allocating", "phase", "reduction"}  # of `jit`
LINES_OF_A_FILE, LINES_OF_A_FUNCTION = 300, 60


def functions(file: Path) -> Iterator[ast.FunctionDef]:
    """Those of a file that are not compiled; a compiled loop may be as long as it has to be."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            decorators = {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
            if not decorators & COMPILED:
                yield node


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_files_and_functions_are_short(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= LINES_OF_A_FILE
    for function in functions(file):
        assert function.end_lineno is not None
        length = function.end_lineno - function.lineno + 1
        assert length <= LINES_OF_A_FUNCTION, f"{function.name} has {length} lines"


def test_functions_that_are_not_compiled_are_measured() -> None:
    names = {function.name for function in functions(SOURCE / "planning" / "compiled_updates.py")}
    assert "compiled_loop" in names
    assert "advance" not in names
