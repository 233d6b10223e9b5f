"""What the command line knows of agents: which one is meant, its options with the values in force,
and how it is made.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from jekyllhyde.agent import AgentRecord, find_agent
from jekyllhyde.errors import InputError
from jekyllhyde.options import Option, options_of

RENAMED = {"on-policy": "tabular-on-policy"}
PRESETS = ("convention", "config")  # options that choose the values of others
# by whether both spaces are Discrete
DEFAULTS = {
    True: ("tabular-jekyll-hyde", "both spaces are Discrete; --agent jekyll-hyde takes networks"),
    False: ("jekyll-hyde", "not both spaces are Discrete, so it has networks"),
}


def choose_agent(name: str | None, problem: str, is_finite: bool) -> tuple[AgentRecord, str]:
    """The agent of that name; without one, the tabular or the deep J&H by the problem's spaces, and
    a sentence that says so.
    """
    if name in RENAMED:
        raise InputError(f"agent is {name!r}, which is called {RENAMED[name]}")
    if name is not None:
        return find_agent(name), ""
    name, reason = DEFAULTS[is_finite]
    return find_agent(name), f"{name} on {problem}: {reason}\n"


def agent_options(record: AgentRecord, preset: Mapping[str, str]) -> dict[str, Option]:
    """The agent's options by name; defaults are the values in force under the given `preset`."""
    cls = record.cls
    documented, keywords = options_of(getattr(cls, "settings_type", cls)), options_of(cls)
    chosen = {name: value for name, value in preset.items() if name in keywords}
    values = settings_of(cls(**{**record.fixed, **chosen}).settings) | chosen
    return {
        name: documented.get(name, option)._replace(default=values.get(name, option.default))
        for name, option in keywords.items()
        if name not in ("env", "seed")
    }


def settings_of(settings: Any) -> dict[str, Any]:
    """An agent's settings by name, with what a convention chooses written out."""
    if hasattr(settings, "resolved"):
        return dict(settings.resolved())
    if isinstance(settings, Mapping):
        return dict(settings)
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def make_agent(record: AgentRecord, env: Any, seed: int, chosen: Mapping[str, Any]) -> Any:
    """The agent with the options that were chosen; the discount of a model is the agent's too."""
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    discount = {"gamma": mdp.gamma} if mdp and "gamma" in options_of(record.cls) else {}
    return record.cls(env, seed=seed, **{**discount, **record.fixed, **chosen})
