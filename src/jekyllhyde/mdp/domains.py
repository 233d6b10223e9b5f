"""The domains by name: the paper's chain, random MDPs and Four Rooms (Appendices C and F), and
DeepSea.

A domain is one record here and one function in a file, whose signature and docstring are its
options: flags, Gymnasium ids, `jh list` and the checks of files follow from them. Nothing heavy is
imported before a domain is used. `convention` is "published" (what the paper's figures were made
with) or "paper" (its text, literally).
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jekyllhyde import references
from jekyllhyde.errors import InputError
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import Registry, first_line

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import FiniteMDP

CONVENTIONS = ("published", "paper")
NAMESPACE = "jekyllhyde/"


@dataclass(frozen=True)
class Domain:
    """A domain.

    name : with underscores.     home : the function that makes it, or "module:function".
    horizon : steps after which an environment cuts an episode.
    environment : "module:class" of its Gymnasium face, where it has its own: a class that takes
        the domain's options, `horizon` and `render_mode`.
    random : whether its option `seed` chooses among random MDPs.
    layout : "module:function" of the map that pictures are drawn on; it takes some of the options.
    foreign : whether it is an environment of others, learned step by step.
    """

    name: str
    home: str | Callable[..., FiniteMDP]
    horizon: int = 100
    environment: str | None = None
    random: bool = False
    layout: str | None = None
    foreign: bool = False

    @property
    def make(self) -> Callable[..., FiniteMDP]:
        """The function that makes the MDP."""
        return pkgutil.resolve_name(self.home) if isinstance(self.home, str) else self.home

    @property
    def options(self) -> dict[str, Option]:
        """What the domain takes, by name."""
        return options_of(self.make)

    @property
    def about(self) -> str:
        """One line of text."""
        return first_line(self.make)

    @property
    def id(self) -> str:
        """Its name for Gymnasium: jekyllhyde/FourRooms-v0."""
        return f"{NAMESPACE}{self.name.title().replace('_', '')}-v0"

    def __call__(self, **options: Any) -> FiniteMDP:
        """The MDP with these options; others than the domain takes are refused."""
        refuse_others(self.name, options, self.options)
        return self.make(**options)

    def draw_map(self, **options: Any) -> Any:
        """The map of the MDP with these options; None where the domain has none."""
        if self.layout is None:
            return None
        layout = pkgutil.resolve_name(self.layout)
        taken = inspect.signature(layout).parameters
        return layout(**{name: value for name, value in options.items() if name in taken})


DOMAINS: Registry[Domain] = Registry("problem")
for _record in (
    Domain("chain", "jekyllhyde.mdp.chain:chain"),
    Domain("garnet", "jekyllhyde.mdp.garnet:garnet", random=True),
    Domain(
        "four_rooms",
        "jekyllhyde.mdp.rooms:four_rooms",
        horizon=90,
        environment="jekyllhyde.envs.tabular:FourRooms",
        layout="jekyllhyde.mdp.rooms:layout",
    ),
    Domain("deep_sea", "jekyllhyde.mdp.deep_sea:deep_sea"),
):
    DOMAINS.add(_record.name, _record)


def known_domain(name: str) -> Domain | None:
    """The domain of that name, None where there is none; see `find_domain`."""
    if references.is_reference(name):
        return _own_domain(name)
    ids = {domain.id.removeprefix(NAMESPACE): domain for domain in DOMAINS.values()}
    return ids.get(name.removeprefix(NAMESPACE)) or DOMAINS.get(name)


def find_domain(name: str) -> Domain:
    """The domain by its name, its Gymnasium id (the namespace may be left out), or "file.py:Name":
    a function that returns a finite MDP, or a `Domain`, of the user's own.
    """
    return known_domain(name) or DOMAINS[name]


def _own_domain(reference: str) -> Domain:
    thing = references.load("problem", reference)
    if isinstance(thing, Domain):
        return thing
    if not inspect.isfunction(thing):
        raise InputError(
            f"problem is {reference!r}; it must be a function that returns a FiniteMDP, or a Domain"
        )
    return Domain(thing.__name__, thing, random="seed" in inspect.signature(thing).parameters)


def refuse_others(name: str, given: dict[str, Any], allowed: dict[str, Any]) -> None:
    """Refuse an option that `name` does not take."""
    for key in given:
        if key not in allowed:
            takes = ", ".join(allowed) or "no options"
            raise InputError(f"{name} does not take {key}; it takes {takes}")
