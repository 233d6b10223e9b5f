"""`jh list`: what there is to choose from, and what each of it takes."""

from __future__ import annotations

import contextlib
import pkgutil
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.cli.flags import shown
from jekyllhyde.cli.learners import agent_options
from jekyllhyde.cli.show import show_json, show_table
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
    markdown: bool = False
    """Print the documentation's page of options instead."""

    def run(self) -> int:
        """Everything, or what one name takes."""
        if self.name is not None:
            self.show_options(self.name)
        elif self.markdown:
            print(options_page(), end="")
        elif self.json:
            agents = {name: record.about for name, record in AGENTS.items()}
            domains = {
                name: {
                    "about": domain.about,
                    "id": domain.id,
                    "horizon": domain.horizon,
                    "options": {key: option.default for key, option in domain.options.items()},
                }
                for name, domain in DOMAINS.items()
            }
            show_json({"domains": domains, "agents": agents, **known_names()})
        else:
            show_everything()
        return 0

    def show_options(self, name: str) -> None:
        """What a domain or an agent takes."""
        about, options = described(name)
        rows = [
            {"option": option.name, "default": shown(option.default), "about": option.about}
            for option in options.values()
        ]
        if self.json:
            listed = {key: option._asdict() for key, option in options.items()}
            show_json({"name": name, "about": about, "options": listed})
        else:
            show_table(f"{name}: {about}", rows or [{"option": "none"}])


def show_everything() -> None:
    """The tables of domains and agents, and the names of all else."""
    rows: list[dict[str, Any]] = [
        {"domain": one.name, "id": one.id, "horizon": one.horizon, "about": one.about}
        for one in DOMAINS.values()
    ]
    show_table("domains (or a Gymnasium id, a file, or file.py:name)", rows)
    rows = [{"agent": shell_name(one.name), "about": one.about} for one in AGENTS.values()]
    show_table("agents (or file.py:Name)", rows)
    for title, names in known_names().items():
        print(f"{title}: {', '.join(names)}")
    print("jh list NAME says what a domain or an agent takes")


def known_names() -> dict[str, list[str]]:
    """The names in every registry, by its title."""
    names: dict[str, list[str]] = {}
    for title, home in REGISTRIES.items():
        with contextlib.suppress(ImportError, AttributeError):
            names[title] = list(map(shell_name, pkgutil.resolve_name(home)))
    return names | {"schedules": list(SCHEDULES), "conventions": list(CONVENTIONS)}


def described(name: str) -> tuple[str, dict[str, Option]]:
    """The line of text and the options of a domain or an agent."""
    domain = known_domain(name)
    if domain is not None:
        return domain.about, domain.options
    record = find_agent(name)
    return record.about, agent_options(record, {})


def options_page() -> str:
    """The documentation's page of options, as Markdown."""
    page = "# Options\n\nFlags have dashes: `--n-states`. `jh list --markdown` made this page.\n"
    for name in [*DOMAINS, *AGENTS]:
        about, options = described(name)
        page += f"\n## {shell_name(name)}\n\n{about}\n\n| option | default | |\n{'| --- ' * 3}|\n"
        for option in options.values():
            text = option.about.replace("|", "&#124;")
            page += f"| `{option.name}` | `{shown(option.default)}` | {text} |\n"
    return page
