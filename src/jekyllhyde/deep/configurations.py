"""The algorithms by name, each a set of pure functions on one state, and their configurations.

Version 0.1 had RND's settings among the agent's: `rnd`, `eta_rnd`, `clip_rnd`, `bonus_per_action`,
`deep_target` and `normalize_bonus` are still read, and `describe` still writes them.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import jax

from jekyllhyde import references
from jekyllhyde.agent import AGENTS
from jekyllhyde.deep import ddqn, jekyll_hyde, sac
from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.deep.bonus import BONUSES, Bonus
from jekyllhyde.deep.four_rooms import level_settings
from jekyllhyde.deep.learning import Settings
from jekyllhyde.deep.rnd import RND
from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.registry import Choices, Registry, class_name, python_name


class Algorithm(NamedTuple):
    """An agent's functions and its configurations by name.

    init(key, config, space) -> state; act(state, config, observation) -> (action, state);
    update(state, config, transition, ended) -> state; tables(networks, config, observations) -> pi
    [S, A], q [S, A]. `fixed` are settings that make a variant.
    """

    init: Callable[..., Any]
    act: Callable[..., Any]
    update: Callable[..., Any]
    tables: Callable[..., Any]
    configs: Mapping[str, Any]
    fixed: Mapping[str, Any]


ALGORITHMS: Registry[Algorithm] = Registry("agent")
for _name, _module in {
    "jekyll_hyde": jekyll_hyde,
    "ddqn": ddqn,
    "ddqn_rnd": ddqn,
    "sac": sac,
    "sac_rnd": sac,
}.items():
    _functions = (_module.init, _module.act, _module.update, _module.tables)
    ALGORITHMS.add(_name, Algorithm(*_functions, _module.CONFIGS, AGENTS[_name].fixed))

CONFIGS = ("published", "paper", "recommended")
SCHEDULES = ("paper", "published")
RECORDS: dict[str, tuple[Choices, type]] = {
    "bonus": (BONUSES, Bonus),
    "explorer": (jekyll_hyde.EXPLORERS, jekyll_hyde.Explorer),
}
# 0.1's options of RND, and its order of all options, by which stored cells are found
RND_OPTIONS = {
    "eta_rnd": "eta",
    "clip_rnd": "clip",
    "bonus_per_action": "per_action",
    "deep_target": "deep_target",
    "normalize_bonus": "normalize",
}
STORED: dict[type, str] = {
    jekyll_hyde.Config: "gamma eta eta_c eta_hyde eta_rnd epsilon_1 tau tau_hyde gamma_hyde"
    " hyde_noise temperature clip clip_rnd adam_eps actor_rule schedule fifo critics fresh_critic"
    " trained_embedding bonus_per_action deep_target normalize_bonus hyde_terminates hyde_xavier"
    " warmup batch capacity hidden hidden_hyde",
    ddqn.Config: "gamma eta_c eta_rnd epsilon_1 bonus_weight tau clip clip_rnd adam_eps rnd"
    " schedule timeout_terminates trained_embedding bonus_per_action deep_target batch capacity"
    " hidden",
    sac.Config: "gamma eta eta_c eta_rnd bonus_weight tau clip clip_rnd adam_eps rnd"
    " trained_embedding bonus_per_action deep_target bonus_terminates warmup batch capacity hidden",
}


def configure(
    agent: str, config: Any = "recommended", *, level: int = 1, **hyperparameters: Any
) -> Any:
    """The configuration of `agent`: a named one, or one given, with `hyperparameters` in place of
    some of its values; `level` is that of Four Rooms.
    """
    algorithm = ALGORITHMS[agent]
    if isinstance(config, str):
        chosen = algorithm.configs[check_choice(config, "config", CONFIGS)]
        tuned = level_settings(python_name(agent), config, level)
        hyperparameters = {**algorithm.fixed, **tuned, **hyperparameters}
    elif isinstance(config, type(algorithm.configs["paper"])):
        chosen = config
    else:
        raise InputError(
            f"config is {config!r}; it must be one of {', '.join(CONFIGS)}, or a Config of {agent}"
        )
    for name, value in hyperparameters.items():
        chosen = _replaced(agent, chosen, name, value)
    return chosen


def describe(config: Settings) -> dict[str, Any]:
    """The settings as version 0.1 listed them, from which stored cells have their digests; what it
    did not have comes last, and only where it is not at its default.
    """
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    names, bonus = STORED[type(config)].split(), values.pop("bonus")
    values["rnd"] = values.pop("with_bonus", True)
    if isinstance(bonus, RND):
        values |= {old: getattr(bonus, new) for old, new in RND_OPTIONS.items()}
    described = {name: spell(name, values[name]) for name in names if name in values}
    known = {
        RND_OPTIONS[name]: values[name] for name in names if name in RND_OPTIONS & values.keys()
    }
    if bonus != RND(**known, adam_eps=config.adam_eps):
        described["bonus"] = spell("bonus", bonus)
    if values.get("explorer", jekyll_hyde.Hyde()) != jekyll_hyde.Hyde():
        described["explorer"] = spell("explorer", values["explorer"])
    return described


def spell(name: str, value: Any) -> Any:
    """A setting as text, number or tuple: records and the user's own functions by their names, with
    the digest of the file they are in.
    """
    if name in RECORDS:
        return RECORDS[name][0].spell(value)
    return f"{value.__name__}@{references.digest_of(value)}" if callable(value) else value


def _replaced(agent: str, config: Any, name: str, value: Any) -> Any:
    # The configuration with one setting replaced, after a look at its kind.
    if name in RND_OPTIONS and isinstance(config.bonus, RND):
        field = RND_OPTIONS[name]
        _check_value(name, value, getattr(config.bonus, field))
        return replace(config, bonus=replace(config.bonus, **{field: value}))
    names = [f.name for f in fields(config)]
    name = "with_bonus" if name == "rnd" and "with_bonus" in names else name
    check_choice(name, f"hyperparameter of {agent}", names)
    if name in RECORDS:
        value = _record(name, value, getattr(config, name))
        switch = {"with_bonus": True} if hasattr(config, "with_bonus") else {}
        return replace(config, **{name: value}, **switch)
    if name == "actor_rule" and references.is_reference(value):
        return replace(config, actor_rule=references.load(name, value))
    if name == "actor_rule" and isinstance(value, str):
        value = python_name(value)
    _check_value(name, value, getattr(config, name))
    if name == "adam_eps" and isinstance(config.bonus, RND):
        config = replace(config, bonus=replace(config.bonus, adam_eps=value))
    return replace(config, **{name: tuple(value) if isinstance(value, list) else value})


def _record(name: str, value: Any, current: Any) -> Any:
    # The record that `value` stands for; a bare name leaves one of its kind as it is set up.
    if isinstance(value, str) and python_name(value) == class_name(type(current)):
        return current
    choices, kind = RECORDS[name]
    record = choices.make(value, name)
    if not isinstance(record, kind):
        raise InputError(f"{name} is {value!r}; it must be a {kind.__module__}.{kind.__name__}")
    if not all(isinstance(leaf, (int, float)) for leaf in jax.tree.leaves(record)):
        raise InputError(
            f"{name} is {value!r}; settings that are not numbers must be eqx.field(static=True)"
        )
    return record


def _check_value(name: str, value: Any, default: Any) -> None:
    # Refuse a value of another kind than the setting has: a number where a name belongs, a step
    # size below 0.
    if name == "actor_rule":
        if not callable(value):
            check_choice(value, name, ACTOR_RULES)
    elif name == "schedule":
        check_choice(value, name, SCHEDULES)
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
