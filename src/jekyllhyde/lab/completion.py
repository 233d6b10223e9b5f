"""Cells completed: problem and settings with every default written out, as their digest has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.problems import complete_problem, domain_name, example
from jekyllhyde.lab.settings_text import PLAIN, canonical
from jekyllhyde.mdp.domains import DOMAINS

Items = tuple[tuple[str, type, Any], ...]


class Complete(NamedTuple):
    """Settings with every default written out, and their canonical text."""

    values: dict[str, Any]
    text: str


def complete(
    method: str, problem: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[Complete, Complete]:
    """Problem and settings complete and checked; what was complete before is remembered."""
    if domain_name(problem["name"]) in DOMAINS and _plain(problem):
        described = _remembered_problem(_items(problem))
    else:
        described = _complete(complete_problem(problem))
    if _plain(settings):
        return described, _remembered_settings(method, _items(settings))
    return described, _complete(METHODS[method].complete(example(problem), settings))


def _complete(values: dict[str, Any]) -> Complete:
    return Complete(values, canonical(values))


def _plain(values: Mapping[str, Any]) -> bool:
    """Whether the completion depends on these values alone: not on a file that may change, nor on
    an array's fit to the problem.
    """
    return all(
        value is None or (type(value) in PLAIN and ".py:" not in str(value))
        for value in values.values()
    )


def _items(values: Mapping[str, Any]) -> Items:
    """The values as a key: with their types, since 1, 1.0 and true are equal."""
    return tuple((key, type(value), value) for key, value in values.items())


@lru_cache(maxsize=4096)
def _remembered_problem(items: Items) -> Complete:
    return _complete(complete_problem({key: value for key, _, value in items}))


@lru_cache(maxsize=4096)
def _remembered_settings(method: str, items: Items) -> Complete:
    settings = {key: value for key, _, value in items}
    return _complete(METHODS[method].complete(example({"name": "chain"}), settings))
