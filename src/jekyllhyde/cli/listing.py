"""`jh list`: what there is to choose from, and what each of it takes."""

import contextlib
import pkgutil
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from jekyllhyde import references
from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.cli.console import show_json, show_table
from jekyllhyde.cli.flags import agent_options, shown
from jekyllhyde.errors import check_choice
from jekyllhyde.mdp.domains import DOMAINS, Domain, known_domain
from jekyllhyde.registry import python_name, shell_name

REGISTRIES = {
    "conventions": "jekyllhyde.tabular.conventions:JEKYLL_HYDE",
    "environments": "jekyllhyde.envs:ENVIRONMENTS",
    "densities": "jekyllhyde.planning.densities:DENSITIES",
    "parametrizations": "jekyllhyde.planning.updates:PARAMETRIZATIONS",
    "tabular actor rules": "jekyllhyde.tabular.jekyll:ACTORS",
    "tabular critics": "jekyllhyde.tabular.jekyll:CRITICS",
    "tabular explorers": "jekyllhyde.tabular.settings:EXPLORERS",
    "tabular bonuses": "jekyllhyde.tabular.hyde:BONUSES",
    "deep actor rules": "jekyllhyde.deep.actor_rules:ACTOR_RULES",
    "deep bonuses": "jekyllhyde.deep.bonus:BONUSES",
    "deep explorers": "jekyllhyde.deep.explorers:EXPLORERS",
    "who leads": "jekyllhyde.deep.leaders:LEADERS",
    "random actions": "jekyllhyde.deep.noise:NOISES",
    "figures": "jekyllhyde.lab.figures:PANELS",
}
SCHEDULES = ("0.5", "100/t", "10/sqrt(t)", "10/t^0.5")


@dataclass(frozen=True)
class List:
    """Show the domains and agents, and the names of all that can be chosen; or one of them, with
    its options.
    """

    # A domain or an agent.
    name: Annotated[
        tyro.conf.Positional[str | None],
        tyro.conf.arg(metavar="[NAME]", help_behavior_hint="(default: everything)"),
    ] = None
    # Print one JSON object instead of the tables.
    json: bool = False
    # Print the documentation's page of options instead.
    markdown: bool = False

    def run(self) -> None:
        if self.markdown:
            print(options_page(), end="")
        elif self.json:
            show_json(everything() if self.name is None else described(self.name))
        elif self.name is None:
            show_everything(**everything())
        else:
            content = described(self.name)
            show_table(
                "{name}: {about}".format(**content), content["options"] or [{"option": "none"}]
            )


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
    names: dict[str, Any] = {"schedules": SCHEDULES}
    for title, home in REGISTRIES.items():
        with contextlib.suppress(ImportError):  # what needs an extra that is not installed
            names[title] = list(map(shell_name, pkgutil.resolve_name(home)))
    return {
        "domains": domains,
        "agents": {shell_name(name): {"about": record.about} for name, record in AGENTS.items()},
        "names": names,
    }


def show_everything(domains: Any, agents: Any, names: Any) -> None:
    """The same as tables and lists."""
    for title, records in {"domain": domains, "agent": agents}.items():
        show_table(
            f"{title}s (or one of your own, file.py:name)",
            [
                {title: name, **{key: record[key] for key in record if key != "options"}}
                for name, record in records.items()
            ],
        )
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
    return {
        "name": name,
        "about": record.about,
        "options": [
            {"option": option.name, "default": shown(option.default), "about": option.about}
            for option in options.values()
        ],
    }


def options_page() -> str:
    """The documentation's page of options, as Markdown."""
    page = "# Options\n\nFlags have dashes: `--n-states`. `jh list --markdown` made this page.\n"
    for name in [*DOMAINS, *AGENTS]:
        content = described(name)
        rows = [
            f"| `{row['option']}` | `{row['default']}` | {row['about'].replace('|', '&#124;')} |\n"
            for row in content["options"]
        ]
        page += f"\n## {shell_name(name)}\n\n{content['about']}\n\n"
        page += "".join(["| option | default | |\n| --- | --- | --- |\n", *rows])
    return page
