"""Cells completed: problem and settings with every default written out, as the digest has them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.problems import complete_problem, domain_name, example
from jekyllhyde.lab.settings_text import PLAIN, canonical
from jekyllhyde.mdp.domains import DOMAINS

Settings = Mapping[str, Any]


def complete(method: str, problem: Settings, settings: Settings) -> tuple[str, str]:
    """Problem and settings, complete and checked, as canonical texts; what depends on plain values
    alone, not on a file nor on an array's fit to the problem, is remembered.
    """
    if domain_name(problem["name"]) in DOMAINS and _is_plain(problem):
        described = _remembered(None, _items(problem))
    else:
        described = canonical(complete_problem(problem))
    if _is_plain(settings):
        return described, _remembered(method, _items(settings))
    return described, canonical(METHODS[method].complete(example(problem), settings))


def _is_plain(values: Settings) -> bool:
    return all(
        value is None or (type(value) in PLAIN and ".py:" not in str(value))
        for value in values.values()
    )


def _items(values: Settings) -> tuple[tuple[str, type, Any], ...]:
    # With their types, since 1, 1.0 and true are equal.
    return tuple((key, type(value), value) for key, value in values.items())


@lru_cache(maxsize=8192)
def _remembered(method: str | None, items: tuple[tuple[str, type, Any], ...]) -> str:
    values = {key: value for key, _, value in items}
    if method is None:
        return canonical(complete_problem(values))
    return canonical(METHODS[method].complete(example({"name": "chain"}), values))
