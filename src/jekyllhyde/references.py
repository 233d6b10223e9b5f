"""What the user brings in a file of her own: "file.py:name", a function, a class or a figure.

The file's content is part of a cell's digest and of the name of its module, so an edited file makes
another cell and another class.
"""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from jekyllhyde.errors import InputError

_REFERENCE = re.compile(r"(?P<file>.+\.py):(?P<call>(?P<name>\w+)(?:\(.*\))?)", re.DOTALL)

_CODE = re.compile(r"\.py:|:.*-v\d")


def is_reference(value: Any) -> bool:
    """Whether a setting refers to a function in a file."""
    return isinstance(value, str) and ".py:" in value and _REFERENCE.fullmatch(value) is not None


def locate(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings with references relative to `folder` made into ones that any process finds."""
    return _each(
        settings, lambda key, match: f"{(folder / match['file']).resolve()}:{match['call']}"
    )


def described(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every reference as function@digest of its file."""
    return _each(settings, lambda key, match: f"{match['call']}@{_digest_for(key, match)}")


def resolved(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every reference as the function that it names; one to a class stays a text,
    since a registry of choices makes the record.
    """

    def function(key: str, match: re.Match[str]) -> Any:
        loaded = load(key, match.string)
        return match.string if isinstance(loaded, type) else loaded

    return _each(settings, function)


def code_in(value: Any) -> list[str]:
    """What would be run of others' code if these settings were used: "file.py:name", and modules
    that Gymnasium imports for "module:Id-v0".
    """
    if isinstance(value, Mapping):
        return code_in(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [code for item in value for code in code_in(item)]
    return [value] if isinstance(value, str) and _CODE.search(value) else []


def refuse_code(settings: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse stored settings that name code of the user's own, unless she gives them again."""
    for name, value in settings.items():
        is_own = bool(code_in(value)) or (isinstance(value, str) and "@" in value)
        if is_own and name not in own:
            raise InputError(
                f"its {name} is of your own, {value}; give it too, {name}='file.py:name'"
            )


def file_digest(path: Path) -> str:
    """A hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def digest_of(cls: type) -> str:
    """The digest of the file in which a class is defined; "" where there is none."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file_digest(Path(file)) if file is not None and Path(file).is_file() else ""


def load(field: str, reference: str) -> Callable[..., Any]:
    """The function or class that "file.py:name" names; `field` names it in errors."""
    return cast(Callable[..., Any], load_value(field, reference, callable, "function"))


def load_value(field: str, reference: str, accept: Callable[[Any], bool], kind: str) -> Any:
    """What "file.py:name" names, if `accept` takes it; `field` and `kind` are for errors."""
    match = _match(reference)
    digest = _digest_for(field, match)
    try:
        module = _module(str(Path(match["file"]).resolve()), digest)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{field} is {reference!r}, but that file cannot be loaded "
            f"({type(error).__name__}: {error})"
        ) from None
    loaded = getattr(module, match["name"], None)
    if not accept(loaded):
        names = [key for key, value in vars(module).items() if accept(value) and key[:1] != "_"]
        raise InputError(
            f"{field} is {reference!r}, but that file has no {kind} {match['name']}; it has "
            f"{', '.join(names) or 'none'}"
        )
    return loaded


def _each(
    settings: Mapping[str, Any], change: Callable[[str, re.Match[str]], Any]
) -> dict[str, Any]:
    # The settings with every reference changed.
    return {
        key: change(key, _match(value)) if is_reference(value) else value
        for key, value in settings.items()
    }


def _match(reference: str) -> re.Match[str]:
    return cast(re.Match[str], _REFERENCE.fullmatch(reference))


def _digest_for(key: str, match: re.Match[str]) -> str:
    try:
        return file_digest(Path(match["file"]))
    except OSError as error:
        raise InputError(
            f"{key} is {match.string!r}, but that file cannot be read ({error.strerror})"
        ) from None


@lru_cache(maxsize=64)
def _module(file: str, digest: str) -> Any:
    # From the source itself: compiled modules on disk do not see an edit within the same second.
    module = ModuleType(f"_own_{digest}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # where dataclasses and the like look for it
    exec(compile(Path(file).read_bytes(), file, "exec"), vars(module))
    return module
