"""Settings checked against the types that their owners declare, with errors that name the field."""

import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from jekyllhyde.errors import InputError

S = TypeVar("S", bound=msgspec.Struct)
Count = Annotated[int, msgspec.Meta(ge=1)]
_WORDS = {
    int: "an integer",
    float: "a number",
    str: "a text",
    bool: "true or false",
    type(None): "nothing",
}


def check_type(value: Any, field: str, hint: Any) -> Any:
    """`value` as the type `hint` says; whole numbers count as integers. A type that msgspec does
    not know is left to its owner.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    try:
        return msgspec.convert(plain, hint)
    except msgspec.ValidationError:
        raise InputError(f"{field} is {value!r}; it must be {in_words(hint)}") from None
    except TypeError:
        return value


def in_words(hint: Any) -> str:
    """What a type allows."""
    if get_origin(hint) is Annotated:
        base, meta = get_args(hint)
        least = "" if meta.ge is None else f" of at least {meta.ge}"
        return meta.description or f"{in_words(base)}{least}"
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(map(in_words, get_args(hint)))
    return _WORDS.get(hint, str(hint))


@lru_cache(maxsize=64)
def hints_of(owner: Any) -> dict[str, Any]:
    """The types of a class's fields or of a function's arguments."""
    return get_type_hints(owner, include_extras=True)


def check_settings(kind: type[S], settings: Mapping[str, Any], owner: str) -> S:
    """The settings as a record of this kind, with its defaults where nothing is given."""
    hints = hints_of(kind)
    check_names(settings, f"{{}} is not a setting of {owner}", hints)
    return kind(**{name: check_type(value, name, hints[name]) for name, value in settings.items()})


def check_names(given: Mapping[str, Any], refusal: str, allowed: Mapping[str, Any]) -> None:
    """Refuse a name that is not among the allowed ones; `refusal` says so of {}."""
    for name in given:
        if name not in allowed:
            raise InputError(f"{refusal.format(name)}; it takes {', '.join(allowed)}")
