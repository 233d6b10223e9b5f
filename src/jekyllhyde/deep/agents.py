"""The agents by name, each a set of pure functions on one state, and their configurations by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from jekyllhyde.deep import ddqn, jekyll_hyde, sac
from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.errors import InputError, check_choice, check_count


class Agent(NamedTuple):
    """An agent.

    init(key, config, space) -> state; act(state, config, observation) -> (action, state);
    update(state, config, transition, ended) -> state; tables(networks, config, observations) -> pi
    [S, A], q [S, A]. `fixed` are settings that make a variant, `level_2` what a named configuration
    changes on Four Rooms' level 2.
    """

    init: Callable[..., Any]
    act: Callable[..., Any]
    update: Callable[..., Any]
    tables: Callable[..., Any]
    configs: Mapping[str, Any]
    level_2: Mapping[str, Mapping[str, float]]
    fixed: tuple[tuple[str, Any], ...] = ()


def _agent(module: Any, **fixed: Any) -> Agent:
    functions = (module.init, module.act, module.update, module.tables)
    return Agent(*functions, module.CONFIGS, module.LEVEL_2, tuple(fixed.items()))


AGENTS: dict[str, Agent] = {
    "jekyll_hyde": _agent(jekyll_hyde),
    "ddqn": _agent(ddqn),
    "ddqn_rnd": _agent(ddqn, rnd=True),
    "sac": _agent(sac),
    "sac_rnd": _agent(sac, rnd=True, eta=1e-3, eta_c=1e-3),
}
CONFIGS = ("published", "paper", "recommended")
CHOICES: dict[str, tuple[str, ...]] = {
    "actor_rule": tuple(ACTOR_RULES),
    "schedule": ("paper", "published"),
}


def configure(
    agent: str, config: Any = "recommended", *, level: int = 1, **hyperparameters: Any
) -> Any:
    """The configuration of `agent`: a named one, or one given, with `hyperparameters` in place of
    some of its values.
    """
    known = AGENTS[check_choice(agent, "agent", AGENTS)]
    if isinstance(config, str):
        named = known.configs[check_choice(config, "config", CONFIGS)]
        settings = {
            **dict(known.fixed),
            **(known.level_2.get(config, {}) if level == 2 else {}),
            **hyperparameters,
        }
    else:
        named, settings = config, hyperparameters
        if not isinstance(config, type(known.configs["paper"])):
            raise InputError(
                f"config is {config!r}; it must be one of {', '.join(CONFIGS)}, or a Config of {agent}"
            )
    names = {field.name: field for field in fields(named)}
    for name, value in settings.items():
        check_choice(name, f"hyperparameter of {agent}", names)
        _check_value(name, value, getattr(named, name))
    return replace(named, **settings)


def _check_value(name: str, value: Any, default: Any) -> None:
    """Refuse a value of another kind than the setting has: a number where a name belongs, a step
    size below 0.
    """
    if name in CHOICES:
        check_choice(value, name, CHOICES[name])
    elif isinstance(default, bool):
        if not isinstance(value, bool):
            raise InputError(f"{name} is {value!r}; it must be True or False")
    elif isinstance(default, int):
        check_count(value, name, 0 if name == "warmup" else 1)
    elif isinstance(default, tuple):
        for width in value:
            check_count(width, name, 1)
    elif isinstance(value, (int, float)) and not value >= 0:
        raise InputError(f"{name} is {value}; it must be a number of at least 0")
