"""Registries: a domain, an agent, a method or a choice is a record that is found by its name.

Names are written with underscores in Python and in files, with dashes on the command line; both
are read everywhere. A choice is a small frozen class (a NamedTuple, or a module with networks)
whose fields are its settings, and it is written down as

    "count"   "count(scale=2)"   "file.py:Mine"   "file.py:Mine(scale=2)"

where the last two are a class of the user's own. A record itself is taken as it is.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from jekyllhyde import references
from jekyllhyde.errors import InputError

R = TypeVar("R")
C = TypeVar("C", bound=type)


def python_name(name: str) -> str:
    """A name as Python spells it: dashes become underscores."""
    return name.replace("-", "_")


def shell_name(name: str) -> str:
    """A name as the command line spells it: underscores become dashes."""
    return name.replace("_", "-")


class Registry(Mapping[str, R]):
    """Records of one kind by name; an unknown name is refused with a list of those there are."""

    def __init__(self, kind: str, records: Mapping[str, R] | None = None) -> None:
        self.kind, self._records = kind, dict(records or {})

    def add(self, name: str, record: R) -> R:
        """Make `record` known under `name`."""
        self._records[python_name(name)] = record
        return record

    def __getitem__(self, name: str) -> R:
        record = self._records.get(python_name(name)) if isinstance(name, str) else None
        if record is None:
            raise UnknownName(f"{self.kind} is {name!r}; it must be one of {', '.join(self)}")
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


class UnknownName(InputError, KeyError):
    """No record has this name."""

    __str__ = Exception.__str__


class Choices(Registry[type]):
    """The classes that one choice of an algorithm is made from."""

    def register(self, cls: C) -> C:
        """Add a class under its own name, `ExpectedSarsa` as expected_sarsa; a decorator."""
        self.add(class_name(cls), cls)
        return cls

    def make(self, value: Any, field: str | None = None) -> Any:
        """The record that `value` stands for: a record, a class, or a text as above."""
        record = self._read(value, field or self.kind)
        cls = type(record)
        if issubclass(cls, tuple) and not any(cls is known for known in self.values()):
            # Compiled code is chosen by the name and the fields of a NamedTuple alone: a class of
            # the same name from another file, or from the same file after an edit, would run the
            # code of the first. So a class of the user's own gets a name that no other class has.
            cls.__name__ = (
                f"{cls.__qualname__.rpartition('.')[2]}_{references.digest_of(cls) or id(cls)}"
            )
        return record

    def _read(self, value: Any, field: str) -> Any:
        if isinstance(value, type):
            return value()
        if not isinstance(value, (str, int, float, list, dict)):
            return value
        match = _CALL.fullmatch(str(value).strip())
        name = match["name"] if match and isinstance(value, str) else ""
        if match is None or not (name in self or references.is_reference(name)):
            raise InputError(f"{field} is {value!r}; it must be one of {', '.join(self)}")
        arguments = _arguments(str(value), match["arguments"], field)
        cls: Any = self[name] if name in self else references.load(field, name)
        try:
            return cls(**arguments)
        except TypeError as error:
            takes = ", ".join(map(str, _parameters(cls).values()))
            raise InputError(f"{field} is {value!r}; {name} takes ({takes})") from error

    def spell(self, record: Any) -> str:
        """The text that stands for a record, its settings where they are not the defaults; a class
        of the user's own has the digest of its file, which an edit changes.
        """
        cls = type(record)
        known = (name for name, choice in self.items() if choice is cls)
        name = next(known, None) or f"{cls.__qualname__}@{references.digest_of(cls)}"
        given = [
            f"{key}={getattr(record, key)!r}"
            for key, parameter in _parameters(cls).items()
            if getattr(record, key) != parameter.default
        ]
        return f"{name}({', '.join(given)})" if given else name


_CALL = re.compile(r"(?P<name>(?:.+\.py:\w+)|[\w-]+)(?:\((?P<arguments>.*)\))?", re.DOTALL)


def _arguments(value: str, text: str | None, field: str) -> dict[str, Any]:
    # The settings within the parentheses.
    try:
        # infinity has no literal, but `spell` writes it
        readable = re.sub(r"(?<==)inf\b", "1e999", text or "")
        call: Any = ast.parse(f"_({readable})", mode="eval").body
        if call.args:
            raise ValueError
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError):
        raise InputError(f'{field} is {value!r}; settings are written "name(setting=1)"') from None


_parameters: Any = cache(lambda cls: inspect.signature(cls).parameters)


def class_name(cls: type) -> str:
    """`ExpectedSarsa` as expected_sarsa."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()
