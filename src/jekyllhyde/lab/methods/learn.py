"""Learning from samples with tables (`jekyllhyde.learn`) as runs of a cell."""

from dataclasses import fields
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np
from msgspec.structs import asdict

from jekyllhyde import references
from jekyllhyde.agent import AGENTS, AgentRecord, find_agent
from jekyllhyde.errors import InputError, check_number
from jekyllhyde.lab.cell_settings import (
    Count,
    check_names,
    check_settings,
    check_type,
    hints_of,
    stored,
)
from jekyllhyde.lab.methods import contract
from jekyllhyde.lab.methods.contract import Method, Progress, Row, Settings
from jekyllhyde.lab.problems import problem_for_run
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.tabular.learn import learn

Criterion = Literal["both", "global", "jekyll"]
TARGET = "a normalized return, usually in (0, 1)"


class LearnSettings(msgspec.Struct, frozen=True):
    """Settings of `learn` beside the agent's own, and at how many places a curve is kept."""

    agent: str = "tabular_jekyll_hyde"
    trajectories: Count = 10_000
    target: Annotated[float | None, msgspec.Meta(description=TARGET)] = None
    target_on: Criterion = "both"
    horizon: Count | None = None
    points: Count = contract.POINTS


def _complete(mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
    chosen, record, agent = _chosen(settings)
    if chosen.target is not None:
        check_number(chosen.target, "target", TARGET)
    files = {key: value for key, value in settings.items() if references.is_reference(value)}
    return (
        stored("learn", asdict(chosen), asdict(LearnSettings()))
        | {"agent": record.stored}
        | {key: value for key, value in agent.settings.resolved().items() if key != "gamma"}
        | references.described(files)
    )


def _rows(
    problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
) -> list[Row]:
    chosen, _, agent = _chosen(settings)
    mdps = [problem_for_run(problem, run) for run in runs]
    same = all(mdp is mdps[0] for mdp in mdps)
    result = learn(
        mdps[0] if same else mdps,
        agent,
        trajectories=chosen.trajectories,
        target=chosen.target,
        target_on=chosen.target_on,
        horizon=chosen.horizon,
        runs=len(runs) if same else 1,
        seed=stream,
        first=runs.start,
        threads=1,
        progress=progress,
    )
    return [_row(result, i, chosen) for i in range(result.runs)]


def _chosen(settings: Settings) -> tuple[LearnSettings, AgentRecord, Any]:
    # The method's settings, and the agent that the others describe.
    own, options = contract.split(settings, LearnSettings)
    chosen = check_settings(LearnSettings, own, "learn")
    record = _tabular(chosen.agent)
    # Discount and seed are the problem's and the cell's.
    owner = record.cls.settings_type
    hints = {f.name: hints_of(owner)[f.name] for f in fields(owner) if f.name != "gamma"}
    takes = dict.fromkeys(LearnSettings.__struct_fields__) | hints
    check_names(options, f"{{}} is not a setting of {record.name}", takes)
    for name, value in options.items():
        check_type(value, name, hints[name])
    return chosen, record, record.cls(**references.resolved(options))


def _tabular(name: str) -> AgentRecord:
    # The record of a tabular agent by its name, also by the one that it had in 0.1.
    known = {record.stored: record for record in AGENTS.values() if record.tabular}
    is_named = name in AGENTS or references.is_reference(name)
    record = known.get(name) or (find_agent(name) if is_named else None)
    if record is None or not record.tabular:
        names = ", ".join(record.name for record in known.values())
        raise InputError(f"agent is {name!r}; it must be one of {names}, or file.py:Name")
    return record


def _row(result: Any, i: int, chosen: LearnSettings) -> Row:
    # Run i of a `LearnRun`.
    known = np.flatnonzero(~np.isnan(result.J_norm[i]))
    last = int(known[-1]) if len(known) else 0
    row: Row = {
        "end": int(result.trajectories[last]),
        "steps": int(result.steps[i].max()),
        "J_norm_end": float(result.J_norm[i, last]),
        "J_norm_jekyll_end": float(result.J_norm_jekyll[i, last]),
        "failure": result.failures.get(i),
    }
    if chosen.target is None:
        at = contract.thin(len(result.trajectories), chosen.points)
        curves = {"J_norm": result.J_norm[i, at], "J_norm_jekyll": result.J_norm_jekyll[i, at]}
        return row | {"at": result.trajectories[at], **curves}
    reached = {name: result.reached(chosen.target, name)[i] for name in get_args(Criterion)}
    row |= {
        f"time_{name}": int(result.trajectories[flags.argmax()])
        for name, flags in reached.items()
        if flags.any()
    }
    return row | {"time": row.get(f"time_{chosen.target_on}")}


LEARN = Method(
    name="learn",
    unit="trajectories",
    options=LearnSettings,
    columns=dict.fromkeys(("end", "steps", "time"), contract.COUNT)
    | dict.fromkeys(("time_both", "time_global", "time_jekyll"), contract.COUNT)
    | dict.fromkeys(("J_norm_end", "J_norm_jekyll_end"), contract.NUMBER)
    | {"at": contract.PLACES, "J_norm": contract.CURVE, "J_norm_jekyll": contract.CURVE},
    complete=_complete,
    rows=_rows,
    seconds=lambda problem, settings: 1e-6 if problem["name"] == "chain" else 9e-6,
)
