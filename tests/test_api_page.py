"""The API page has every public name, `dir` shows them, and docstrings become prose and tables."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "api.md").read_text()
NAMED = re.findall(r"^\.\. auto(?:class|function|data|exception):: (\S+)$", PAGE, re.MULTILINE)
WHOLE = re.findall(r"^\.\. automodule:: (\S+)$", PAGE, re.MULTILINE)
ROOMS = ("jekyllhyde", "jekyllhyde.deep", "jekyllhyde.envs", "jekyllhyde.lab", "jekyllhyde.theory")


def resolve(name: str) -> Any:
    room, _, last = name.rpartition(".")  # `lab.draw` is a module and a function of it
    return (
        importlib.import_module(name)
        if name in WHOLE
        else getattr(importlib.import_module(room), last)
    )


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_on_the_page(room: str) -> None:
    module = importlib.import_module(room)
    assert dir(module) == sorted(module.__all__)
    shown = [resolve(name) for name in NAMED]
    for name in module.__all__:
        if name == "__version__" or room in WHOLE:
            continue
        value = getattr(module, name)
        is_room = f"{room}.{name}" in ROOMS
        assert is_room or any(value is each for each in shown), f"{room}.{name} is not on api.md"


def test_what_the_page_names_is_there() -> None:
    assert len(NAMED) == len(set(NAMED)) > 40
    for name in [*NAMED, *WHOLE]:
        resolve(name)
