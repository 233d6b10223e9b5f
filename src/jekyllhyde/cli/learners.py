"""What the command line knows of agents: which one is meant, its options with the values in force,
and how it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from jekyllhyde.agent import AgentRecord, find_agent
from jekyllhyde.cli.old_agents import contract_class
from jekyllhyde.errors import InputError
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import shell_name

RENAMED = {"on-policy": "tabular-on-policy"}
CONFIG = Option("config", str, "recommended", "recommended, published or paper.")
PRESETS = ("convention", "config")  # options that choose the values of others


def choose_agent(name: str | None, problem: str) -> tuple[AgentRecord, str]:
    """The agent of that name; without one, the tabular or the deep J&H by the problem's spaces, and
    a sentence that says so.
    """
    if name in RENAMED:
        raise InputError(f"agent is {name!r}, which is called {RENAMED[name]}")
    if name is not None:
        return find_agent(name), ""
    is_finite = _is_finite(problem)
    chosen, other = "tabular_jekyll_hyde", "jekyll_hyde"
    if not is_finite:
        chosen, other = other, chosen
    reason = (
        f"both spaces are Discrete; --agent {shell_name(other)} takes networks"
        if is_finite
        else "not both spaces are Discrete, so it has networks"
    )
    return find_agent(chosen), f"{shell_name(chosen)} on {problem}: {reason}\n"


def _is_finite(problem: str) -> bool:
    from gymnasium.spaces import Discrete

    from jekyllhyde.mdp.gym_import import make_environment
    from jekyllhyde.mdp.problem import is_environment

    if not is_environment(problem):
        return True
    env = make_environment(problem)
    spaces = env.observation_space, env.action_space
    env.close()
    return all(isinstance(space, Discrete) for space in spaces)


def agent_options(record: AgentRecord, preset: Mapping[str, str]) -> dict[str, Option]:
    """The agent's options by name; defaults are the values in force under the given `preset`."""
    cls = contract_class(record)
    documented = options_of(getattr(cls, "settings_type", cls))
    keywords = options_of(cls) if isinstance(cls, type) else {"config": CONFIG, **documented}
    options = {key: one for key, one in keywords.items() if key not in ("env", "seed")}
    if record.tabular:
        options.pop("config", None)
    chosen = {key: value for key, value in preset.items() if key in options}
    agent = cls(**{**record.fixed, **chosen})
    values = values_in_force(getattr(agent, "settings", None)) | chosen
    return {
        key: option._replace(
            default=values.get(key, option.default),
            about=documented[key].about if key in documented else option.about,
        )
        for key, option in options.items()
    }


def values_in_force(settings: Any) -> dict[str, Any]:
    """Every setting by name, with what a convention chooses written out."""
    if settings is None:
        return {}
    if hasattr(settings, "resolved"):
        return dict(settings.resolved())
    if is_dataclass(settings):
        return {field.name: getattr(settings, field.name) for field in fields(settings)}
    return {name: value for name, value in settings.items() if name != "seed"}  # of version 0.1


def make_agent(record: AgentRecord, env: Any, seed: int, chosen: Mapping[str, Any]) -> Any:
    """The agent with the options that were chosen; the discount of a model is the agent's too."""
    cls, given = contract_class(record), {**record.fixed, **chosen}
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    if mdp is not None and isinstance(cls, type) and "gamma" in options_of(cls):
        given = {"gamma": mdp.gamma, **given}
    return cls(env, seed=seed, **given)
