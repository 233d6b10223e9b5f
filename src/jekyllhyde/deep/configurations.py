"""The algorithms by name, and their configurations. An algorithm is a module with pure functions on
one state and its CONFIGS by name:

    init(key, config, space) -> state
    act(state, config, observation) -> (action, the next key)
    update(state, config, transition, ended) -> state

The networks of a state tell what has been learned: networks.tables(observations) -> pi [S, A],
q [S, A].

Version 0.1 had RND's settings among the agent's: `rnd`, `eta_rnd`, `clip_rnd`, `bonus_per_action`,
`deep_target` and `normalize_bonus` are still read, and `describe` still writes them. So is the name
of an actor rule that was renamed.
"""

import math
from dataclasses import fields, replace
from functools import partial
from types import ModuleType
from typing import Any

import jax

from jekyllhyde import references
from jekyllhyde.agent import AGENTS
from jekyllhyde.deep import (
    actor_rules,
    bits,
    bootstrapped,
    ddqn,
    disagreement,
    episodic,
    explorers,
    jekyll_hyde,
    leaders,
    learning,
    new_views,
    noise,
    sac,
)
from jekyllhyde.deep.bonus import BONUSES, RND, Bonus
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.views import shows_cells
from jekyllhyde.errors import InputError, check_choice, check_count, require
from jekyllhyde.registry import Choices, Registry, class_name, python_name

ALGORITHMS: Registry[ModuleType] = Registry(
    "agent",
    {
        "jekyll_hyde": jekyll_hyde,
        "ddqn": ddqn,
        "ddqn_rnd": ddqn,
        "bootstrapped_dqn": bootstrapped,
        "sac": sac,
        "sac_rnd": sac,
    },
)
CONFIGS = ("published", "released", "paper", "recommended_0_3", "recommended")
# On Four Rooms' second level, where no episode starts in the goal's room, exploration lasts ten
# times as long (Appendix F).
LEVEL_2: dict[tuple[str, str], dict[str, Any]] = {
    **{("jekyll_hyde", c): {"epsilon_1": 40_000.0} for c in ("published", "released", "paper")},
    **{("ddqn", c): {"epsilon_1": 100.0} for c in CONFIGS if c != "paper"},
}
MAY_BE_0 = ("warmup", "greedy_stretch")
FEWER_IMAGES = 4  # times fewer samples in a batch of the default
CAPACITY_OF_CELLS = 100_000  # of the default's replay, where views of a grid are seen
BONUSES.add("bits", bits.Bits)
BONUSES.add("disagreement", disagreement.Disagreement)
BONUSES.add("episodic", episodic.Episodic)
BONUSES.add("new_views", new_views.NewViews)
RECORDS: dict[str, tuple[Choices, type]] = {
    "bonus": (BONUSES, Bonus),
    "explorer": (explorers.EXPLORERS, explorers.Explorer),
    "leader": (leaders.LEADERS, leaders.Leader),
    "noise": (noise.NOISES, noise.Noise),
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
    bootstrapped.Config: "gamma eta_c eta_rnd prior_scale share bonus_weight tau clip clip_rnd"
    " adam_eps rnd trained_embedding bonus_per_action deep_target heads batch capacity hidden",
    sac.Config: "gamma eta eta_c eta_rnd bonus_weight tau clip clip_rnd adam_eps rnd"
    " trained_embedding bonus_per_action deep_target bonus_terminates warmup batch capacity hidden",
}


def configure(
    agent: str,
    config: Any = "recommended",
    *,
    level: int = 1,
    space: Space | None = None,
    **hyperparameters: Any,
) -> Any:
    """The configuration of `agent`: a named one, or one given, with `hyperparameters` in place of
    some of its values; `level` is that of Four Rooms. `recommended` depends on what is seen: on the
    `space`, and without one states are known by an index.
    """
    configs = ALGORITHMS[agent].CONFIGS
    if isinstance(config, str):
        tuned = LEVEL_2.get((python_name(agent).removesuffix("_rnd"), config), {})
        hyperparameters = {
            **AGENTS[agent].fixed,
            **(tuned if level == 2 else {}),
            **(_for_space(agent, space) if config == "recommended" and space else {}),
            **hyperparameters,
        }
        config = configs[check_choice(config, "config", CONFIGS)]
    elif not isinstance(config, type(configs["paper"])):
        raise InputError(
            f"config is {config!r}; it must be one of {', '.join(CONFIGS)}, or a Config of {agent}"
        )
    for name, value in hyperparameters.items():
        config = _replaced(agent, config, name, value)
    return config


def _for_space(agent: str, space: Space) -> dict[str, Any]:
    # What the default changes there.
    algorithm = ALGORITHMS[agent]
    changes: dict[str, Any] = {}
    for elsewhere in getattr(algorithm, "ELSEWHERE", ()):
        changes |= elsewhere.changes if elsewhere.holds(space) else {}
    if space.images:
        # convolutions take nearly all of the time, and in proportion to the batch
        changes["batch"] = max(1, algorithm.CONFIGS["recommended"].batch // FEWER_IMAGES)
    if shows_cells(space):
        # worlds that are drawn anew with every episode have more in them
        changes["capacity"] = CAPACITY_OF_CELLS
    return changes


def describe(config: learning.Settings) -> dict[str, Any]:
    """The settings as version 0.1 listed them, from which stored cells have their digests; what it
    did not have comes last, and only where it is not at its default.
    """
    names, bonus = STORED[type(config)].split(), config.bonus
    options = {
        name: getattr(bonus, RND_OPTIONS[name])
        for name in names
        if name in RND_OPTIONS and isinstance(bonus, RND)
    }
    values = {**vars(config), "rnd": getattr(config, "with_bonus", None), **options}
    plain = {
        "bonus": RND(
            **{RND_OPTIONS[name]: value for name, value in options.items()},
            adam_eps=config.adam_eps,
        ),
        "explorer": explorers.Hyde(),
        "leader": leaders.Scheduled(),
        "noise": noise.Single(),
        "one_hot": False,
        "dueling": False,
        "votes": False,
        "prioritized": False,
        "bounded": False,
        "n_steps": 1,
        "far_share": 1.0,
        "quiet": 1.0,
        "tolerance": math.inf,
        "weigh_ends": False,
        "tau_actor": 1.0,
        "normalized_actor": False,
        "greedy_stretch": 0,
        "cut_stays": False,
        "first_values": 1.0,
        "pessimism": 1.0,
        "shared_start": False,
        "falling_step": False,
        "fresh_critic": False,
    }
    names += [
        name
        for name, record in plain.items()
        if name not in names and values.get(name, record) != record
    ]
    return {name: spell(name, values[name]) for name in names if name in values}


def spell(name: str, value: Any) -> Any:
    """A setting as text, number or tuple: records and the user's own functions by their names, with
    the digest of the file they are in.
    """
    if name in RECORDS:
        return RECORDS[name][0].spell(value)
    if callable(value):
        return f"{value.__name__}@{references.digest_of(value)}"
    old_names = {new: old for old, new in actor_rules.RENAMED.items()}
    return old_names.get(value, value) if name == "actor_rule" else value


def _replaced(agent: str, config: Any, name: str, value: Any) -> Any:
    # The configuration with one setting replaced, and what goes with it.
    bonus = config.bonus
    if name in RND_OPTIONS and isinstance(bonus, RND):
        field = RND_OPTIONS[name]
        changed = {field: _read(name, value, getattr(bonus, field))}
        return replace(config, bonus=replace(bonus, **changed))
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
        value = python_name(str(value))
        return check_choice(actor_rules.RENAMED.get(value, value), name, NAMES[name])
    if isinstance(current, bool):
        require(isinstance(value, bool), f"{name} is {value!r}; it must be True or False")
    elif isinstance(current, (int, tuple)):
        several, is_list = isinstance(current, tuple), isinstance(value, (list, tuple))
        require(is_list or not several, f"{name} is {value!r}; it must be a list")
        for count in value if several else [value]:
            check_count(count, name, 0 if name in MAY_BE_0 else 1)
    elif isinstance(value, (int, float)):
        require(value >= 0, f"{name} is {value}; it must be a number of at least 0")
    return tuple(value) if isinstance(value, list) else value


def _record(name: str, value: Any, current: Any) -> Any:
    # The record that `value` stands for; a name leaves one of its kind as it is set up, but for the
    # settings that are written with it.
    choices, kind = RECORDS[name]
    as_set_up: Any = partial(current.__class__, **vars(current))
    record = Choices(name, {**choices, class_name(type(current)): as_set_up}).make(value)
    require(
        isinstance(record, kind),
        f"{name} is {value!r}; it must be a {kind.__module__}.{kind.__name__}",
    )
    require(
        all(isinstance(leaf, (int, float)) for leaf in jax.tree.leaves(record)),
        f"{name} is {value!r}; settings that are not numbers must be eqx.field(static=True)",
    )
    return record
