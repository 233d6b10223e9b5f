"""The settings of a cell: checked against the types that their owners declare, with errors that
name the field; grids of values; their canonical text, and what of it enters digests; names for
people.
"""

import hashlib
import json
import math
import re
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from jekyllhyde.errors import InputError, plain, require

S = TypeVar("S", bound=msgspec.Struct)
LARGEST = 2**31 - 1  # that the store has a place for
Count = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
_WORDS = {
    int: "an integer",
    float: "a number",
    str: "a text",
    bool: "true or false",
    type(None): "nothing",
}
MOST = 1_000_000  # values of a coordinate, and cells of an experiment
PLAIN = (bool, int, float, str)


def axis(name: str, values: Any) -> list[Any]:
    """The values of a coordinate: a list, {from, to, step}, or {from, to, per_decade} (powers of
    ten).
    """
    field = f"vary.{name}"
    is_range = isinstance(values, Mapping) and set(values) in (
        {"from", "to", "step"},
        {"from", "to", "per_decade"},
    )
    if not (is_range or isinstance(values, (list, tuple, np.ndarray))):
        raise InputError(
            f"{plain(field)} is {values!r}; it must be a list, {{from, to, step}} or {{from, to, "
            "per_decade}"
        )
    points = (
        _range(field, values)
        if is_range
        else [value.item() if isinstance(value, np.generic) else value for value in values]
    )
    for value in points:
        require(
            type(value) in PLAIN and not (isinstance(value, float) and math.isnan(value)),
            f"{field} has the value {value!r}; values are numbers, texts, true or false",
        )
    require(points, f"{field} has no values; it needs at least one")
    require(
        len({canonical(value) for value in points}) == len(points),
        f"{field} has a value twice; every point must be there once",
    )
    return points


def _range(field: str, values: Mapping[str, Any]) -> list[float]:
    for key, value in values.items():
        require(
            type(value) in (int, float) and math.isfinite(value),
            f"{field}.{key} is {value!r}; it must be a finite number",
        )
    decades = "per_decade" in values
    low, high, step = (
        float(values[key]) for key in ("from", "to", "per_decade" if decades else "step")
    )
    require(
        step > 0 and high >= low and (low > 0 or not decades),
        f"{field} is {dict(values)}; it must rise from `from` to `to` (above 0 for per_decade)",
    )
    first, last = (math.log10(low) * step, math.log10(high) * step) if decades else (low, high)
    require(
        (last - first) / (1.0 if decades else step) <= MOST,
        f"{field} is {dict(values)}; that makes more than {MOST:,} values",
    )
    if decades:
        return [
            float(f"{10 ** (k / step):.12g}")
            for k in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)
        ]
    largest = max(abs(low), abs(high), step)
    digits = max(0, 12 - math.floor(math.log10(largest)))
    # Rounded ends count as reached.
    steps = math.floor((high - low) / step + min(0.5, 1e-9 + 1e-15 * largest / step))
    return [round(low + i * step, digits) for i in range(steps + 1)]


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> str:
    """JSON in which equal settings read the same: keys sorted, whole numbers as integers."""
    return _encode(_plain(value))


def text_digest(text: str) -> str:
    """A stable hash of a canonical text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in (str, int, bool) or value is None:
        return value
    if kind is float:
        return int(value) if value.is_integer() else value
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    raise InputError(
        f"{value!r} cannot be a setting; settings are numbers, texts, true or false, and "
        "references to functions"
    )


# What version 0.1 had, so that the runs that it stored are found by later ones: an option that it
# did not have enters a digest only where it differs from what stands for 0.1: its default, unless
# ORIGINS says otherwise. The tabular agents' settings see to it themselves.
OPTIONS: dict[str, tuple[str, ...]] = {
    owner: tuple(names.split())
    for owner, names in {
        "chain": "n_states beta gamma convention",
        "garnet": "n_states n_actions connectivity gamma seed convention goal",
        "four_rooms": "level size gamma slip convention",
        "deep_sea": "n gamma convention",
        "plan": "parametrization density o eta lam updates target convention points",
        "learn": "agent trajectories target target_on horizon points",
        "deep": "agent config episodes every",
    }.items()
}
ORIGINS = {"deep_sea": {"mapping": "easy"}}


def stored(owner: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values without those newer than 0.1 that stand for what it did; an owner that 0.1 did not
    have keeps all.
    """
    known, origins = OPTIONS.get(owner, tuple(values)), {**defaults, **ORIGINS.get(owner, {})}
    return {
        name: value
        for name, value in values.items()
        if name in known or name not in origins or value != origins[name]
    }


def slug(label: str) -> str:
    """A label as part of an id: `J&H eps=100/t o=0.5` becomes jh-100t-o0.5."""
    for old, new in (
        ("J&H", "jh"),
        ("eps=", ""),
        ("sqrt(t)", "sqrtt"),
        ("/t", "t"),
        ("/sqrtt", "sqrtt"),
    ):
        label = label.replace(old, new)
    return re.sub(r"[^\w.+-]+", "-", label.replace("=", "")).strip("-").lower()


def short(value: Any) -> str:
    """A coordinate as part of an id."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


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
        most = "" if meta.le is None else f" and at most {meta.le}"
        return meta.description or in_words(base) + least + most
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
        require(name in allowed, f"{refusal.format(plain(name))}; it takes {', '.join(allowed)}")
