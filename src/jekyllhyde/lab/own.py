"""A user's own functions in settings: "file.py:function", such as a density or a schedule.

The file's content is part of a cell's digest, so an edited function makes another cell.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jekyllhyde.errors import InputError

_REFERENCE = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)", re.DOTALL)


def is_reference(value: Any) -> bool:
    """Whether a setting refers to a function in a file."""
    return isinstance(value, str) and ".py:" in value and _REFERENCE.fullmatch(value) is not None


def locate(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings with references relative to `folder` made into ones that any process finds."""
    return {
        key: _located(value, folder) if is_reference(value) else value
        for key, value in settings.items()
    }


def described(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every reference as function@digest of its file."""
    return {
        key: _described(key, value) if is_reference(value) else value
        for key, value in settings.items()
    }


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every reference as the function that it names."""
    return {
        key: _function(key, value) if is_reference(value) else value
        for key, value in settings.items()
    }


def file_digest(path: Path) -> str:
    """A hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _located(reference: str, folder: Path) -> str:
    file, name = reference.rsplit(":", 1)
    return f"{(folder / file).resolve()}:{name}"


def _described(key: str, reference: str) -> str:
    return f"{reference.rsplit(':', 1)[1]}@{_digest_for(key, reference)}"


def _digest_for(key: str, reference: str) -> str:
    try:
        return file_digest(Path(reference.rsplit(":", 1)[0]))
    except OSError as error:
        raise InputError(
            f"{key} is {reference!r}, but that file cannot be read ({error.strerror})"
        ) from None


def _function(key: str, reference: str) -> Callable[..., Any]:
    file, name = reference.rsplit(":", 1)
    digest = _digest_for(key, reference)
    try:
        module = _module(file, digest)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{key} is {reference!r}, but that file cannot be loaded ({type(error).__name__}: {error})"
        ) from None
    function = getattr(module, name, None)
    if not callable(function):
        names = [
            one
            for one, value in vars(module).items()
            if callable(value) and not one.startswith("_")
        ]
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise InputError(f"{key} is {reference!r}, but that file has no function {name}; {has}")
    return function


@lru_cache(maxsize=64)
def _module(file: str, digest: str) -> Any:
    name = f"_own_{digest}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and the like look for it
    spec.loader.exec_module(module)
    return module
