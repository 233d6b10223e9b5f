"""Values of settings: grids of them, their canonical text, and names for people."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError

MOST = 1_000_000  # values of a coordinate, and cells of an experiment
PLAIN = (bool, int, float, str)


def axis(name: str, values: Any) -> list[Any]:
    """The values of a coordinate: a list, {from, to, step}, or {from, to, per_decade} (powers of
    ten).
    """
    field = f"vary.{name}"
    if isinstance(values, (list, tuple, np.ndarray)):
        found = [value.item() if isinstance(value, np.generic) else value for value in values]
    elif isinstance(values, Mapping) and set(values) in (
        {"from", "to", "step"},
        {"from", "to", "per_decade"},
    ):
        found = _range(field, values)
    else:
        raise InputError(
            f"{field} is {values!r}; it must be a list, {{from, to, step}} or {{from, to, "
            "per_decade}"
        )
    if not found:
        raise InputError(f"{field} has no values; it must have at least one")
    for value in found:
        if type(value) not in PLAIN or (isinstance(value, float) and math.isnan(value)):
            raise InputError(
                f"{field} has the value {value!r}; values are numbers, texts, true or false"
            )
    if len({canonical(value) for value in found}) < len(found):
        raise InputError(f"{field} has a value twice; every point must be there once")
    return found


def _range(field: str, values: Mapping[str, Any]) -> list[float]:
    for key, value in values.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise InputError(f"{field}.{key} is {value!r}; it must be a finite number")
    low, high, step = (
        float(values["from"]),
        float(values["to"]),
        float(values.get("step", values.get("per_decade"))),
    )
    decades = "per_decade" in values
    if not (step > 0 and high >= low) or (decades and not low > 0):
        raise InputError(
            f"{field} is {dict(values)}; it must rise from `from` to `to` (above 0 for per_decade)"
        )
    if ((math.log10(high) - math.log10(low)) * step if decades else (high - low) / step) > MOST:
        raise InputError(f"{field} is {dict(values)}; that makes more than {MOST:,} values")
    if decades:
        first, last = (
            math.ceil(math.log10(low) * step - 1e-9),
            math.floor(math.log10(high) * step + 1e-9),
        )
        return [float(f"{10 ** (k / step):.12g}") for k in range(first, last + 1)]
    largest = max(abs(low), abs(high), step)
    digits = max(0, 12 - math.floor(math.log10(largest)))
    count = (
        math.floor((high - low) / step + min(0.5, 1e-9 + 1e-15 * largest / step)) + 1
    )  # rounded ends count as reached
    return [round(low + i * step, digits) for i in range(count)]


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> str:
    """JSON in which equal settings read the same: keys sorted, whole numbers as integers."""
    return _encode(_plain(value))


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in (str, int, bool) or value is None:
        return value
    if kind is float:
        return int(value) if value.is_integer() else value
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    raise InputError(
        f"{value!r} cannot be a setting; settings are numbers, texts, true or false, and "
        "references to functions"
    )


def slug(label: str) -> str:
    """A label as part of an id: `J&H eps=100/t o=0.5` becomes jh-100t-o0.5."""
    text = (
        label.replace("J&H", "jh")
        .replace("eps=", "")
        .replace("sqrt(t)", "sqrtt")
        .replace("/t", "t")
        .replace("/sqrtt", "sqrtt")
    )
    return re.sub(r"[^\w.+-]+", "-", text.replace("=", "")).strip("-").lower()


def short(value: Any) -> str:
    """A coordinate as part of an id."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
