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


def choose_agent(name: str | None, problem: str, is_finite: bool) -> tuple[AgentRecord, str]:
    """The agent of that name; without one, the tabular or the deep J&H by the problem's spaces, and
    a sentence that says so.
    """
    if name in RENAMED:
        raise InputError(f"agent is {name!r}, which is called {RENAMED[name]}")
    if name is not None:
        return find_agent(name), ""
    if is_finite:
        reason = "both spaces are Discrete; --agent jekyll-hyde takes networks"
        return find_agent("tabular_jekyll_hyde"), f"tabular-jekyll-hyde on {problem}: {reason}\n"
    reason = "not both spaces are Discrete, so it has networks"
    return find_agent("jekyll_hyde"), f"jekyll-hyde on {problem}: {reason}\n"


def agent_options(record: AgentRecord, preset: Mapping[str, str]) -> dict[str, Option]:
    """The agent's options by name; defaults are the values in force under the given `preset`."""
    cls = record.cls
    documented, keywords = options_of(getattr(cls, "settings_type", cls)), options_of(cls)
    chosen = {name: value for name, value in preset.items() if name in keywords}
    values = settings_of(cls(**{**record.fixed, **chosen})) | chosen
    return {
        name: documented.get(name, option)._replace(default=values.get(name, option.default))
        for name, option in keywords.items()
        if name not in ("env", "seed")
    }


def settings_of(agent: Any) -> dict[str, Any]:
    """Every setting by name, with what a convention chooses written out."""
    settings = agent.settings
    if hasattr(settings, "resolved"):
        return dict(settings.resolved())
    if isinstance(settings, Mapping):
        return dict(settings)
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def make_agent(record: AgentRecord, env: Any, seed: int, chosen: Mapping[str, Any]) -> Any:
    """The agent with the options that were chosen; the discount of a model is the agent's too."""
    given = {**record.fixed, **chosen}
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    if mdp is not None and "gamma" in options_of(record.cls):
        given = {"gamma": mdp.gamma, **given}
    return record.cls(env, seed=seed, **given)
