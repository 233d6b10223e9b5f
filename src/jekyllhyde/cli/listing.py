"""`jh list`: what there is to choose from, and what each of it takes."""

import contextlib
import pkgutil
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from jekyllhyde import references
from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.cli.flags import shown
from jekyllhyde.cli.learners import agent_options
from jekyllhyde.cli.show import show_json, show_table
from jekyllhyde.errors import check_choice
from jekyllhyde.mdp.domains import CONVENTIONS, DOMAINS, Domain, known_domain
from jekyllhyde.registry import python_name, shell_name

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
        if self.markdown:
            print(options_page(), end="")
            return 0
        content = everything() if self.name is None else described(self.name)
        if self.json:
            show_json(content)
        elif self.name is None:
            show_everything(**content)
        else:
            rows = content["options"] or [{"option": "none"}]
            show_table("{name}: {about}".format(**content), rows)
        return 0


def everything() -> dict[str, Any]:
    """Domains and agents by name, and the names in every registry by its title."""
    domains = {
        name: {
            "id": domain.id,
            "horizon": domain.cut(),
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
        rows = [
            {title: name, **{key: record[key] for key in record if key != "options"}}
            for name, record in records.items()
        ]
        show_table(f"{title}s (or one of your own, file.py:name)", rows)
    for title, known in names.items():
        print(f"{title}: {', '.join(known)}")
    print("jh list NAME says what a domain or an agent takes")


def described(name: str) -> dict[str, Any]:
    """The line of text and the options of a domain or an agent."""
    is_class = references.is_reference(name) and isinstance(references.load("name", name), type)
    domain = None if is_class else known_domain(name)
    if domain is None and not is_class:
        check_choice(python_name(name), "name", [*DOMAINS, *AGENTS])
    record = domain or find_agent(name)
    options = record.options if isinstance(record, Domain) else agent_options(record, {})
    rows = [
        {"option": option.name, "default": shown(option.default), "about": option.about}
        for option in options.values()
    ]
    return {"name": name, "about": record.about, "options": rows}


def options_page() -> str:
    """The documentation's page of options, as Markdown."""
    page = "# Options\n\nFlags have dashes: `--n-states`. `jh list --markdown` made this page.\n"
    for name in [*DOMAINS, *AGENTS]:
        content = described(name)
        page += f"\n## {shell_name(name)}\n\n{content['about']}\n\n"
        page += f"| option | default | |\n{'| --- ' * 3}|\n"
        for row in content["options"]:
            text = row["about"].replace("|", "&#124;")
            page += f"| `{row['option']}` | `{row['default']}` | {text} |\n"
    return page
