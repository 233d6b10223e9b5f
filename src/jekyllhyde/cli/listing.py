"""`jh list`: what there is to choose from, and what each of it takes."""

from __future__ import annotations

import contextlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

import tyro

from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.cli.flags import shown
from jekyllhyde.cli.learners import agent_options
from jekyllhyde.cli.show import show_json, show_table
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import CONVENTIONS, DOMAINS, known_domain
from jekyllhyde.options import Option
from jekyllhyde.registry import shell_name

# Names alone; what needs an extra that is not installed is left out.
REGISTRIES = {
    "densities": "jekyllhyde.planning.densities:DENSITIES",
    "parametrizations": "jekyllhyde.planning.updates:PARAMETRIZATIONS",
    "tabular actor rules": "jekyllhyde.tabular.actors:ACTORS",
    "tabular critics": "jekyllhyde.tabular.critics:CRITICS",
    "tabular explorers": "jekyllhyde.tabular.explorers:EXPLORERS",
    "tabular bonuses": "jekyllhyde.tabular.bonuses:BONUSES",
    "deep actor rules": "jekyllhyde.deep.actor_rules:ACTOR_RULES",
    "deep bonuses": "jekyllhyde.deep.bonus:BONUSES",
    "deep explorers": "jekyllhyde.deep.jekyll_hyde:EXPLORERS",
    "figures": "jekyllhyde.lab.figures:PANELS",
}
SCHEDULES = ("0.5", "100/t", "10/sqrt(t)", "10/t^0.5")


@dataclass(frozen=True)
class List:
    """Show the domains and agents, and the names of all that can be chosen; or one of them, with
    its options.
    """

    name: Annotated[
        tyro.conf.Positional[str | None],
        tyro.conf.arg(metavar="[NAME]", help_behavior_hint="(default: everything)"),
    ] = None
    """A domain or an agent."""
    json: bool = False
    """Print one JSON object instead of the tables."""

    def run(self) -> int:
        """Everything, or what one name takes."""
        if self.name is not None:
            self.show_options(self.name)
            return 0
        domains = {
            name: {
                "about": domain.about,
                "id": domain.id,
                "horizon": domain.horizon,
                "options": {key: option.default for key, option in domain.options.items()},
            }
            for name, domain in DOMAINS.items()
        }
        agents = {name: record.about for name, record in AGENTS.items()}
        names = known_names()
        if self.json:
            show_json({"domains": domains, "agents": agents, **names})
            return 0
        rows = [
            {"domain": name, "id": info["id"], "horizon": info["horizon"], "about": info["about"]}
            for name, info in domains.items()
        ]
        show_table("domains (or a Gymnasium id, a file, or file.py:name)", rows)
        rows = [{"agent": shell_name(name), "about": about} for name, about in agents.items()]
        show_table("agents (or file.py:Name)", rows)
        for title, known in names.items():
            print(f"{title}: {', '.join(known)}")
        print("jh list NAME says what a domain or an agent takes")
        return 0

    def show_options(self, name: str) -> None:
        """What a domain or an agent takes."""
        about, options = described(name)
        if self.json:
            listed = {key: option._asdict() for key, option in options.items()}
            show_json({"name": name, "about": about, "options": listed})
            return
        rows = [
            {"option": key, "default": shown(option.default), "about": option.about}
            for key, option in options.items()
        ]
        show_table(f"{name}: {about}", rows or [{"option": "none"}])


def known_names() -> dict[str, list[str]]:
    """The names in every registry, by its title."""
    names: dict[str, list[str]] = {}
    for title, home in REGISTRIES.items():
        with contextlib.suppress(ImportError, AttributeError):
            registry: Iterable[str] = pkgutil.resolve_name(home)
            names[title] = [shell_name(name) for name in registry]
    return names | {"schedules": list(SCHEDULES), "conventions": list(CONVENTIONS)}


def described(name: str) -> tuple[str, dict[str, Option]]:
    """The line of text and the options of a domain or an agent."""
    domain = known_domain(name)
    if domain is not None:
        return domain.about, domain.options
    if name not in AGENTS and ".py:" not in name:
        known = ", ".join([*DOMAINS, *map(shell_name, AGENTS)])
        raise InputError(f"name is {name!r}; it must be one of {known}")
    record = find_agent(name)
    return record.about, agent_options(record, {})


def markdown_table(options: Mapping[str, Option]) -> str:
    """The documentation's table of options, as Markdown."""
    rows = []
    for name, option in options.items():
        about = option.about.replace("|", "\\|")
        rows.append(f"| `{name}` | `{shown(option.default)}` | {about} |")
    return "\n".join(["| option | default | |", "| --- | --- | --- |", *rows]) + "\n"
