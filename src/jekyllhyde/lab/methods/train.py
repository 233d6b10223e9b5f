"""Agents in any environment, step by step, as runs of a cell: what `jh train ENV` does."""

import hashlib
from contextlib import closing
from dataclasses import fields
from typing import Annotated, Any

import msgspec
import numpy as np

from jekyllhyde import references
from jekyllhyde.agent import AgentRecord, Record, find_agent, make_agent
from jekyllhyde.errors import check_number, require
from jekyllhyde.lab.cell_settings import Count, check_names, check_settings
from jekyllhyde.lab.environments import ENVIRONMENTS, environment
from jekyllhyde.lab.methods.contract import (
    COUNT,
    CURVE,
    NUMBER,
    PLACES,
    Method,
    Progress,
    Row,
    Settings,
    split,
)
from jekyllhyde.options import options_of

TARGET = "a return"
DEEP_SECONDS, TABULAR_SECONDS = 2e-3, 5e-5  # of a step


class TrainSettings(msgspec.Struct, frozen=True):
    """Settings of a training beside the agent's own; with a `target` a run ends with the first
    evaluation whose mean return is as high.
    """

    agent: str = "jekyll_hyde"
    steps: Count = 50_000
    target: Annotated[float | None, msgspec.Meta(description=TARGET)] = None
    eval_every: Count = 1_000
    eval_episodes: Count = 10
    envs: Count = 1


def _complete(env: Any, settings: Settings) -> dict[str, Any]:
    chosen, record, options = _chosen(settings)
    if chosen.target is not None:
        check_number(chosen.target, "target", TARGET)
    require(
        chosen.eval_every <= chosen.steps,
        f"eval_every is {chosen.eval_every}; it must be at most steps, {chosen.steps}",
    )
    require(
        chosen.envs == 1 or not record.tabular,
        f"envs is {chosen.envs}; {record.name} takes one environment",
    )
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    discount = {} if mdp is None or "gamma" in options else {"gamma": mdp.gamma}
    agent = make_agent(record, None, 0, {**discount, **references.resolved(options)})
    values = repr(_values(agent.settings))
    return references.described({**msgspec.structs.asdict(chosen), **options}) | {
        "values": hashlib.sha256(values.encode()).hexdigest()[:12]
    }


def _values(settings: Any) -> dict[str, Any]:
    # What the names and defaults stand for today.
    if hasattr(settings, "resolved"):
        return dict(settings.resolved())
    from jekyllhyde.deep.configurations import spell

    return {f.name: spell(f.name, getattr(settings, f.name)) for f in fields(settings)}


def _chosen(settings: Settings) -> tuple[TrainSettings, AgentRecord, dict[str, Any]]:
    # The method's settings, the agent, and its own.
    own, options = split(settings, TrainSettings)
    chosen = check_settings(TrainSettings, own, "train")
    record = find_agent(chosen.agent)
    keywords = {name: None for name in options_of(record.cls) if name not in ("env", "seed")}
    names = dict.fromkeys(TrainSettings.__struct_fields__)
    check_names(options, f"{{}} is not a setting of {record.name}", names | keywords)
    return chosen, record, options


def _rows(
    problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
) -> list[Row]:
    return [_row(problem, settings, stream, run, progress) for run in runs]


def _row(problem: Settings, settings: Settings, stream: int, run: int, progress: Progress) -> Row:
    chosen, record, options = _chosen(settings)
    seed = int(np.random.SeedSequence((stream, run)).generate_state(1)[0])
    is_reached, before = False, 0

    def note(agent: Any, told: Record) -> bool:
        nonlocal is_reached, before
        progress(told.step - before)
        before = told.step
        if told.event == "evaluation" and chosen.target is not None:
            is_reached = told.values["mean"] >= chosen.target
        return not is_reached

    with closing(environment(problem, chosen.envs)) as env, closing(environment(problem)) as other:
        agent = make_agent(record, env, seed, references.resolved(options))
        agent.learn(
            chosen.steps,
            callback=note,
            eval_env=other,
            eval_every=chosen.eval_every,
            eval_episodes=chosen.eval_episodes,
        )
    at, means = ([row[name] for row in agent.evaluations] for name in ("step", "mean"))
    row: Row = {"end": agent.steps, "steps": agent.steps, "return_end": means[-1]}
    row["episodes"] = len(agent.episodes)
    if chosen.target is not None:
        return row | {"time": agent.steps if is_reached else None}
    return row | {"at": at, "return": means}


TRAIN = Method(
    name="train",
    unit="steps",
    columns=dict.fromkeys(("end", "steps", "time", "episodes"), COUNT)
    | {"return_end": NUMBER, "at": PLACES, "return": CURVE},
    options=TrainSettings,
    problems=ENVIRONMENTS,
    complete=_complete,
    rows=_rows,
    seconds=lambda problem, settings: (
        TABULAR_SECONDS
        if find_agent(settings.get("agent", TrainSettings.agent)).tabular
        else DEEP_SECONDS
    ),
    curve="return",
    end="return_end",
    xlabel="environment steps",
    measure="return of the greedy policy",
)
