"""`jh list`: what there is to choose from, and what each of it takes."""

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
    json: bool = False  # Print one JSON object instead of the tables.
    markdown: bool = False  # Print the documentation's page of options instead.

    def run(self) -> int:
        """Everything, or what one name takes."""
        if self.markdown:
            print(options_page(), end="")
        elif self.name is not None:
            about, options = described(self.name)
            rows = [
                {"option": option.name, "default": shown(option.default), "about": option.about}
                for option in options.values()
            ]
            if self.json:
                show_json({"name": self.name, "about": about, "options": rows})
            else:
                show_table(f"{self.name}: {about}", rows or [{"option": "none"}])
        elif self.json:
            show_json(everything())
        else:
            show_everything(**everything())
        return 0


def everything() -> dict[str, Any]:
    """Domains and agents by name, and the names in every registry by its title."""
    domains = {
        name: {
            "id": domain.id,
            "horizon": domain.horizon,
            "about": domain.about,
            "options": {key: option.default for key, option in domain.options.items()},
        }
        for name, domain in DOMAINS.items()
    }
    names: dict[str, Any] = {"schedules": SCHEDULES, "conventions": CONVENTIONS}
    for title, home in REGISTRIES.items():
        with contextlib.suppress(ImportError):  # what needs an extra that is not installed
            names[title] = list(map(shell_name, pkgutil.resolve_name(home)))
    agents = {shell_name(name): {"about": record.about} for name, record in AGENTS.items()}
    return {"domains": domains, "agents": agents, "names": names}


def show_everything(domains: Any, agents: Any, names: Any) -> None:
    """The same as tables and lists."""
    for title, records in {"domain": domains, "agent": agents}.items():
        rows = [{title: name, **record} for name, record in records.items()]
        for row in rows:
            row.pop("options", None)
        show_table(f"{title}s (or one of your own, file.py:name)", rows)
    for title, known in names.items():
        print(f"{title}: {', '.join(known)}")
    print("jh list NAME says what a domain or an agent takes")


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
