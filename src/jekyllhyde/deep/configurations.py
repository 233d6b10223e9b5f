"""The algorithms by name, and their configurations. An algorithm is a module with pure functions on
one state and its CONFIGS by name:

    init(key, config, space) -> state
    act(state, config, observation) -> (action, state)
    update(state, config, transition, ended) -> state
    tables(networks, config, observations) -> pi [S, A], q [S, A]

Version 0.1 had RND's settings among the agent's: `rnd`, `eta_rnd`, `clip_rnd`, `bonus_per_action`,
`deep_target` and `normalize_bonus` are still read, and `describe` still writes them.
"""

from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import jax

from jekyllhyde import references
from jekyllhyde.agent import AGENTS
from jekyllhyde.deep import actor_rules, ddqn, jekyll_hyde, learning, sac
from jekyllhyde.deep.bonus import BONUSES, RND, Bonus
from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.registry import Choices, Registry, class_name, python_name

ALGORITHMS: Registry[ModuleType] = Registry("agent")
for _name, _module in {
    "jekyll_hyde": jekyll_hyde,
    "ddqn": ddqn,
    "ddqn_rnd": ddqn,
    "sac": sac,
    "sac_rnd": sac,
}.items():
    ALGORITHMS.add(_name, _module)

CONFIGS = ("published", "paper", "recommended")
# On Four Rooms' second level, where no episode starts in the goal's room, exploration lasts ten
# times as long (Appendix F).
LEVEL_2: dict[tuple[str, str], dict[str, Any]] = {
    ("jekyll_hyde", "published"): {"epsilon_1": 40_000.0},
    ("jekyll_hyde", "paper"): {"epsilon_1": 40_000.0},
    ("ddqn", "published"): {"epsilon_1": 100.0},
    ("ddqn", "recommended"): {"epsilon_1": 100.0},
}
RECORDS: dict[str, tuple[Choices, type]] = {
    "bonus": (BONUSES, Bonus),
    "explorer": (jekyll_hyde.EXPLORERS, jekyll_hyde.Explorer),
}
NAMES = {"actor_rule": tuple(actor_rules.ACTOR_RULES), "schedule": ("paper", "published")}
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
    configs, chosen = ALGORITHMS[agent].CONFIGS, config
    if isinstance(config, str):
        chosen = configs[check_choice(config, "config", CONFIGS)]
        family = python_name(agent).removesuffix("_rnd")
        tuned = LEVEL_2.get((family, config), {}) if level == 2 else {}
        hyperparameters = {**AGENTS[agent].fixed, **tuned, **hyperparameters}
    elif not isinstance(config, type(configs["paper"])):
        raise InputError(
            f"config is {config!r}; it must be one of {', '.join(CONFIGS)}, or a Config of {agent}"
        )
    for name, value in hyperparameters.items():
        chosen = _replaced(agent, chosen, name, value)
    return chosen


def describe(config: learning.Settings) -> dict[str, Any]:
    """The settings as version 0.1 listed them, from which stored cells have their digests; what it
    did not have comes last, and only where it is not at its default.
    """
    values = {f.name: getattr(config, f.name) for f in fields(config)}
    names, bonus = STORED[type(config)].split(), config.bonus
    options = (
        {name: getattr(bonus, RND_OPTIONS[name]) for name in names if name in RND_OPTIONS}
        if isinstance(bonus, RND)
        else {}
    )
    values |= {"rnd": values.get("with_bonus"), **options}
    plain = {
        "bonus": RND(
            **{RND_OPTIONS[name]: value for name, value in options.items()},
            adam_eps=config.adam_eps,
        ),
        "explorer": jekyll_hyde.Hyde(),
    }
    names += [name for name, record in plain.items() if values.get(name, record) != record]
    return {name: spell(name, values[name]) for name in names if name in values}


def spell(name: str, value: Any) -> Any:
    """A setting as text, number or tuple: records and the user's own functions by their names, with
    the digest of the file they are in.
    """
    if name in RECORDS:
        return RECORDS[name][0].spell(value)
    return f"{value.__name__}@{references.digest_of(value)}" if callable(value) else value


def _replaced(agent: str, config: Any, name: str, value: Any) -> Any:
    # The configuration with one setting replaced, and what goes with it.
    bonus = config.bonus
    if name in RND_OPTIONS and isinstance(bonus, RND):
        field = RND_OPTIONS[name]
        read = _read(name, value, getattr(bonus, field))
        return replace(config, bonus=replace(bonus, **{field: read}))
    name = "with_bonus" if name == "rnd" and hasattr(config, "with_bonus") else name
    check_choice(name, f"hyperparameter of {agent}", [f.name for f in fields(config)])
    changes = {name: _read(name, value, getattr(config, name))}
    if name == "bonus" and hasattr(config, "with_bonus"):
        changes["with_bonus"] = True
    if name == "adam_eps" and isinstance(bonus, RND):
        changes["bonus"] = replace(bonus, adam_eps=value)
    return replace(config, **changes)


def _read(name: str, value: Any, current: Any) -> Any:
    # The value that is meant; one of another kind than the setting has is refused: a number where a
    # name belongs, a step size below 0.
    if name in RECORDS:
        return _record(name, value, current)
    if name == "actor_rule" and references.is_reference(value):
        return references.load(name, value)
    if name in NAMES and not (name == "actor_rule" and callable(value)):
        return check_choice(python_name(str(value)), name, NAMES[name])
    if isinstance(current, bool) and not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}; it must be True or False")
    if isinstance(current, (int, tuple)) and not isinstance(current, bool):
        for count in value if isinstance(current, tuple) else [value]:
            check_count(count, name, 0 if name == "warmup" else 1)
    elif isinstance(value, (int, float)) and not value >= 0:
        raise InputError(f"{name} is {value}; it must be a number of at least 0")
    return tuple(value) if isinstance(value, list) else value


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
