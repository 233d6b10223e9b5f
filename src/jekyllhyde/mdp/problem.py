"""A problem by name: a domain, a Gymnasium environment with a known model, or a file."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP


def make(name: str, **options: Any) -> FiniteMDP:
    """The MDP called `name`, built with those options that are not None."""
    given = {key: value for key, value in options.items() if value is not None}
    if name in DOMAINS:
        allowed = inspect.signature(DOMAINS[name]).parameters
        _refuse_others(name, given, list(allowed))
        return DOMAINS[name](**given)
    given.pop("convention", None)
    if Path(name).exists() or name.endswith(".npz"):
        _refuse_others(name, given, [])
        return FiniteMDP.load(name)
    if "-v" in name:
        from jekyllhyde.mdp.gymnasium import from_gymnasium

        _refuse_others(name, given, ["gamma"])
        return from_gymnasium(name, **given)
    raise InputError(
        f"problem is {name!r}; it must be one of {', '.join(DOMAINS)}, a Gymnasium id or an existing file"
    )


def _refuse_others(name: str, given: dict[str, Any], allowed: list[str]) -> None:
    for key in given:
        if key not in allowed:
            takes = ", ".join(a for a in allowed if a != "convention") or "no options"
            raise InputError(f"{name} does not take {key}; it takes {takes}")
