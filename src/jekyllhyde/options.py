"""What can be chosen: the options of a function or of a class, with kinds, defaults and texts.

A function, or a class with an `__init__` of its own, says what its options mean in its docstring
(`name : text`, or `name, other : text`); a class of fields says it in a string below each field, or
in a comment beside or above it. Flags, `jh list` and the documentation's tables are made from it.
"""

import ast
import contextlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from functools import lru_cache
from itertools import takewhile
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

_TEXT = re.compile(r"^(?P<names>\w+(?:, \w+)*) : (?P<text>.+(?:\n[ \t]+.+)*)", re.MULTILINE)


class Option(NamedTuple):
    """An option: its name, its type, its default, and what it means."""

    name: str
    kind: Any
    default: Any = None
    about: str = ""

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that a value may have, None left out."""
        is_alone = get_origin(self.kind) in (None, tuple)
        members = (self.kind,) if is_alone else get_args(self.kind)
        return tuple(member for member in members if member is not type(None))


def options_of(thing: Callable[..., Any]) -> dict[str, Option]:
    """The options of a function or a class by name, in order."""
    return dict(_options_of(thing))


@lru_cache(maxsize=256)  # sources are read once: Python 3.11 cannot parse in several threads
def _options_of(thing: Callable[..., Any]) -> dict[str, Option]:
    kinds: dict[str, Any] = {}
    texts: dict[str, str] = {}
    # options stand at a function, or at a class, its bases, and their `__init__`
    bases = reversed(thing.__mro__[:-1]) if isinstance(thing, type) else ()
    owners = [owner for base in bases for owner in (base, vars(base).get("__init__")) if owner]
    for owner in owners or [thing]:
        for match in _TEXT.finditer(inspect.getdoc(owner) or ""):
            texts |= dict.fromkeys(match["names"].split(", "), match["text"])
        texts |= _field_texts(owner)
        for name, annotation in inspect.get_annotations(owner).items():
            # a name that only type checkers import, and a class variable, are no option's type
            with contextlib.suppress(NameError, TypeError):
                alone = SimpleNamespace(__annotations__={name: annotation})
                kinds |= get_type_hints(alone, vars(sys.modules[owner.__module__]))
    defaults = {
        name: None if parameter.default is parameter.empty else parameter.default
        for name, parameter in inspect.signature(thing).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    return {
        name: Option(
            name,
            kinds.get(name, str if default is None else type(default)),
            default,
            " ".join(texts.get(name, "").split()),
        )
        for name, default in defaults.items()
    }


def _field_texts(owner: Any) -> dict[str, str]:
    # The strings below the fields of a class, and the comments beside or above them.
    try:
        source = textwrap.dedent(inspect.getsource(owner))
    except (OSError, TypeError):  # it was made without a source
        return {}
    texts, lines = {}, ["", *source.splitlines()]
    body: list[ast.stmt] = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            value = getattr(following, "value", None) if isinstance(following, ast.Expr) else None
            above = takewhile(
                lambda line: line.startswith("# "),
                map(str.strip, reversed(lines[: node.lineno])),
            )
            beside = lines[node.end_lineno or 0].partition("  # ")[2]
            comment = beside or " ".join(line[2:] for line in reversed(list(above)))
            texts[node.target.id] = str(value.value if isinstance(value, ast.Constant) else comment)
    return {name: text for name, text in texts.items() if text}
