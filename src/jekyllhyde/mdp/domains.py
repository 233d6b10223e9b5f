"""The domains by name: the paper's chain, random MDPs and Four Rooms (Appendices C and F), and
yardsticks of exploration: DeepSea, RiverSwim, locks and mazes; and other problems: Gymnasium
environments with a known model, and files.

A domain is one record here and one function in a file, whose signature and docstring are its
options: flags, Gymnasium ids, `jh list` and the checks of files follow from them. Nothing heavy is
imported before a domain is used. `convention` is "published" (what the paper's figures were made
with) or "paper" (its text, literally).
"""

from __future__ import annotations

import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jekyllhyde import references
from jekyllhyde.errors import require
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import Registry

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import FiniteMDP

CONVENTIONS = ("published", "paper")
NAMESPACE = "jekyllhyde/"


@dataclass(frozen=True)
class Domain:
    """A domain; called with options, it makes the MDP.

    name : with underscores.     home : the function that makes it, or "module:function".
    horizon : steps after which an environment cuts an episode; with `per`, that many for each unit
        of the options named there, multiplied.
    environment : "module:class" of its Gymnasium face, where it has its own: a class that takes
        the domain's options, `horizon` and `render_mode`.
    random : whether its option `seed` chooses among random MDPs.
    layout : "module:function" of the map that pictures are drawn on; it takes some of the options.
    foreign : whether it is an environment of others, learned step by step.

    From them follow `make`, the function that makes the MDP, its `options` by name, the line
    `about` it, and its `id` for Gymnasium: jekyllhyde/FourRooms-v0.
    """

    name: str
    home: str | Callable[..., FiniteMDP]
    horizon: int = 100
    environment: str | None = None
    random: bool = False
    layout: str | None = None
    foreign: bool = False
    per: tuple[str, ...] = ()

    @property
    def make(self) -> Callable[..., FiniteMDP]:
        return pkgutil.resolve_name(self.home) if isinstance(self.home, str) else self.home

    @property
    def options(self) -> dict[str, Option]:
        return options_of(self.make)

    @property
    def about(self) -> str:
        return (inspect.getdoc(self.make) or "").split("\n")[0]

    @property
    def id(self) -> str:
        return f"{NAMESPACE}{self.name.title().replace('_', '')}-v0"

    def __call__(self, **options: Any) -> FiniteMDP:
        """The MDP with these options; others than the domain takes are refused."""
        refuse_others(self.name, options, self.options)
        return self.make(**options)

    def cut(self, **options: Any) -> int:
        """Steps after which an environment with these options cuts an episode."""
        known = self.options if self.per else {}
        return self.horizon * math.prod(
            int(options.get(name, known[name].default)) for name in self.per
        )

    def draw_map(self, **options: Any) -> Any:
        """The map of the MDP with these options; None where the domain has none."""
        if self.layout is None:
            return None
        layout = pkgutil.resolve_name(self.layout)
        taken = options.keys() & inspect.signature(layout).parameters
        return layout(**{name: options[name] for name in taken})


_RECORDS = (
    Domain("chain", "jekyllhyde.mdp.chain:chain"),
    Domain("garnet", "jekyllhyde.mdp.garnet:garnet", random=True),
    Domain(
        "four_rooms",
        "jekyllhyde.mdp.rooms:four_rooms",
        horizon=90,
        environment="jekyllhyde.envs.tabular:FourRooms",
        layout="jekyllhyde.mdp.rooms:layout",
    ),
    Domain("deep_sea", "jekyllhyde.mdp.deep_sea:deep_sea", horizon=1, per=("n",)),
    Domain("river_swim", "jekyllhyde.mdp.river_swim:river_swim", horizon=20, per=("n",)),
    Domain("locks", "jekyllhyde.mdp.locks:locks", horizon=1, per=("length",), random=True),
    Domain(
        "maze",
        "jekyllhyde.mdp.maze:maze",
        horizon=10,
        per=("rooms", "size"),
        random=True,
        layout="jekyllhyde.mdp.maze:layout",
    ),
)
DOMAINS = Registry("problem", {domain.name: domain for domain in _RECORDS})


def known_domain(name: str) -> Domain | None:
    """The domain of that name, None where there is none; see `find_domain`."""
    if not references.is_reference(name):
        ids = {domain.id.removeprefix(NAMESPACE): domain for domain in DOMAINS.values()}
        return ids.get(name.removeprefix(NAMESPACE)) or DOMAINS.get(name)
    thing = references.load("problem", name)
    if isinstance(thing, Domain):
        return thing
    require(
        inspect.isfunction(thing),
        f"problem is {name!r}; it must be a function that returns a FiniteMDP, or a Domain",
    )
    return Domain(thing.__name__, thing, random="seed" in inspect.signature(thing).parameters)


def find_domain(name: str) -> Domain:
    """The domain by its name, its Gymnasium id (the namespace may be left out), or "file.py:Name":
    a function that returns a finite MDP, or a `Domain`, of the user's own.
    """
    return known_domain(name) or DOMAINS[name]


def find_problem(name: str) -> Domain:
    """The domain of that name, or a record like a domain's of a file or of an environment."""

    def load() -> FiniteMDP:
        from jekyllhyde.mdp.finite import FiniteMDP

        return FiniteMDP.load(name)

    def read(gamma: float = 0.99) -> FiniteMDP:
        """The model of an environment of Gymnasium.

        gamma : discount.
        """
        from jekyllhyde.mdp.gym_import import from_gymnasium

        return from_gymnasium(name, gamma)

    domain = known_domain(name)
    if domain is not None:
        return domain
    if Path(name).exists() or name.endswith(".npz"):
        return Domain(name, load)
    require(
        "-v" in name,
        f"problem is {name!r}; it must be one of {', '.join(DOMAINS)}, file.py:name, "
        "a Gymnasium id or an existing file",
    )
    return Domain(name, read, foreign=True)


def refuse_others(name: str, given: dict[str, Any], allowed: dict[str, Any]) -> None:
    """Refuse an option that `name` does not take."""
    other = next((key for key in given if key not in allowed), None)
    require(
        other is None,
        f"{name} does not take {other}; it takes {', '.join(allowed) or 'no options'}",
    )
