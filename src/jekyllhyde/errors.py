"""Bad input: one sentence that names the field, its value and what is allowed."""

import importlib.util
from collections.abc import Iterable

import numpy as np


class InputError(ValueError):
    """Something given by the user cannot be used; the message says what, and what would be."""


class LackOfMemory(InputError, MemoryError):
    """The machine has less memory than is asked for; another one may have enough."""


def require(holds: object, sentence: str) -> None:
    """Refuse input, in that sentence, unless what is asked of it holds."""
    if not holds:
        raise InputError(plain(sentence))


def plain(text: str) -> str:
    """The text in one line, to be shown: whatever is not printable is written as an escape."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text
    )


def check_choice(value: str, field: str, allowed: Iterable[str]) -> str:
    """`value` if it is one of `allowed`."""
    names = list(allowed)
    require(value in names, f"{field} is {value!r}; it must be one of {', '.join(names)}")
    return value


def check_count(value: int, field: str, least: int) -> int:
    """`value` as an int of at least `least`."""
    require(
        isinstance(value, (int, float, np.integer))
        and not isinstance(value, bool)
        and float(value).is_integer()
        and value >= least,
        f"{field} is {value!r}; it must be an integer of at least {least}",
    )
    return int(value)


def check_number(value: float, field: str, allowed: str, least: float = -np.inf) -> float:
    """`value` as a finite float of at least `least`; `allowed` says in words what it may be."""
    require(
        isinstance(value, (int, float, np.number))
        and not isinstance(value, bool)
        and np.isfinite(value)
        and value >= least,
        f"{field} is {value!r}; it must be {allowed}",
    )
    return float(value)


MOST_ENTRIES = 20_000_000


def check_entries(count: float, given: str) -> None:
    """Refuse a model of so many transitions, before it is made, if that is too large; `given` says
    what it is made of.
    """
    require(
        count <= MOST_ENTRIES,
        f"{given}; a model has at most {MOST_ENTRIES:,} transitions, and this takes {count:,.0f}",
    )


EXTRAS = {
    "plot": ("matplotlib", "plotly", "jinja2", "markdown_it"),
    "deep": ("jax", "equinox", "optax", "safetensors"),
    "ray": ("ray",),
    "gpu": ("numba_cuda",),
    "onnx": ("onnx",),
    "minari": ("minari", "h5py"),
}


def missing(extra: str | None) -> list[str]:
    """The modules of an extra that are not installed; none where no extra is needed."""
    return [name for name in EXTRAS.get(extra or "", ()) if importlib.util.find_spec(name) is None]


def need(extra: str | None) -> None:
    """Refuse, in one sentence, what needs an extra that is not installed; call it before work."""
    if absent := missing(extra):
        raise InputError(f"this needs {absent[0]}; install jekyllhyde[{extra}]")
