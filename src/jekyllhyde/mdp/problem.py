"""A problem by name: a domain, a Gymnasium environment with a known model, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import DOMAINS, known_domain, refuse_others
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.gym_import import from_gymnasium
from jekyllhyde.options import Option, options_of


def is_environment(name: str) -> bool:
    """Whether a Gymnasium id of others is meant; refuses what is no problem at all."""
    if known_domain(name) is not None or Path(name).exists() or name.endswith(".npz"):
        return False
    if "-v" not in name:
        raise InputError(
            f"problem is {name!r}; it must be one of {', '.join(DOMAINS)}, file.py:name, "
            f"a Gymnasium id or an existing file"
        )
    return True


def problem_options(name: str) -> dict[str, Option]:
    """What the problem takes, by name."""
    domain = known_domain(name)
    if domain is not None:
        return domain.options
    return {"gamma": options_of(from_gymnasium)["gamma"]} if is_environment(name) else {}


def make(name: str, **options: Any) -> FiniteMDP:
    """The MDP called `name`, built with those options that are not None."""
    given = {key: value for key, value in options.items() if value is not None}
    domain = known_domain(name)
    if domain is not None:
        return domain(**given)
    given.pop("convention", None)
    refuse_others(name, given, problem_options(name))
    return from_gymnasium(name, **given) if is_environment(name) else FiniteMDP.load(name)
