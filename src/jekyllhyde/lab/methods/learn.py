"""Learning from samples as runs of a cell, with tables (`jekyllhyde.learn`) and with networks
(`jekyllhyde.deep.train`).
"""

import hashlib
from dataclasses import fields
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np

from jekyllhyde import references
from jekyllhyde.agent import AGENTS, AgentRecord, find_agent
from jekyllhyde.errors import check_number, need, require
from jekyllhyde.lab.cell_settings import (
    Count,
    check_names,
    check_settings,
    check_type,
    hints_of,
    stored,
)
from jekyllhyde.lab.methods.contract import (
    COUNT,
    CURVE,
    NUMBER,
    PLACES,
    POINTS,
    Method,
    Progress,
    Row,
    Settings,
    split,
    thin,
)
from jekyllhyde.lab.problems import domain_name, problem_for_run
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.tabular.learn import learn

# With tables.

Criterion = Literal["both", "global", "jekyll"]
LEVELS = {"95": 0.95, "99": 0.99}  # Jekyll's return, when it is first exceeded
TARGET = "a normalized return, usually in (0, 1)"


class LearnSettings(msgspec.Struct, frozen=True):
    """Settings of `learn` beside the agent's own, and at how many places a curve is kept."""

    agent: str = "tabular_jekyll_hyde"
    trajectories: Count = 10_000
    target: Annotated[float | None, msgspec.Meta(description=TARGET)] = None
    target_on: Criterion = "both"
    horizon: Count | None = None
    points: Count = POINTS


def _complete(mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
    chosen, record, agent = _chosen(settings)
    if chosen.target is not None:
        check_number(chosen.target, "target", TARGET)
    return (
        stored("learn", msgspec.structs.asdict(chosen), msgspec.structs.asdict(LearnSettings()))
        | {"agent": record.stored}
        | {key: value for key, value in agent.settings.resolved().items() if key != "gamma"}
        | references.described({k: v for k, v in settings.items() if references.is_reference(v)})
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
    own, options = split(settings, LearnSettings)
    chosen = check_settings(LearnSettings, own, "learn")
    record = _tabular(chosen.agent)
    # Discount and seed are the problem's and the cell's.
    owner = record.cls.settings_type
    hints = {f.name: hints_of(owner)[f.name] for f in fields(owner) if f.name != "gamma"}
    check_names(
        options,
        f"{{}} is not a setting of {record.name}",
        dict.fromkeys(LearnSettings.__struct_fields__) | hints,
    )
    for name, value in options.items():
        check_type(value, name, hints[name])
    if "convention" in hints:  # experiments are the paper's, unless they say otherwise
        options = {"convention": "published", **options}
    return chosen, record, record.cls(**references.resolved(options))


def _tabular(name: str) -> AgentRecord:
    # The record of a tabular agent by its name, also by the one that it had in 0.1.
    known = {record.stored: record for record in AGENTS.values() if record.tabular}
    is_named = name in AGENTS or references.is_reference(name)
    found: Any = known.get(name) or (find_agent(name) if is_named else None)
    require(
        found and found.tabular,
        f"agent is {name!r}; it must be one of "
        f"{', '.join(record.name for record in known.values())}, or file.py:Name",
    )
    return found


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
        "regret": float(_regret(result.J_norm[i, known], result.trajectories[known])),
    }
    for name, level in LEVELS.items():
        if chosen.target is not None and level > chosen.target:
            continue  # beyond it nothing is known
        above = np.flatnonzero(result.reached(level, "jekyll")[i])
        if len(above):
            row[f"time_{name}"] = int(result.trajectories[above[0]])
            row[f"steps_{name}"] = int(result.steps[i, above[0]])
    if chosen.target is None:
        at = thin(len(result.trajectories), chosen.points)
        return row | {
            "at": result.trajectories[at],
            "J_norm": result.J_norm[i, at],
            "J_norm_jekyll": result.J_norm_jekyll[i, at],
        }
    reached = {name: result.reached(chosen.target, name)[i] for name in get_args(Criterion)}
    row |= {
        f"time_{name}": int(result.trajectories[flags.argmax()])
        for name, flags in reached.items()
        if flags.any()
    }
    return row | {"time": row.get(f"time_{chosen.target_on}")}


def _regret(J_norm: Floats, trajectories: Ints) -> Any:
    # The sum over trajectories of what the policy that acts lacks of the optimum.
    return ((1.0 - J_norm) * np.diff(trajectories, prepend=0)).sum()


LEARN = Method(
    name="learn",
    unit="trajectories",
    options=LearnSettings,
    columns=dict.fromkeys(("end", "steps", "time"), COUNT)
    | dict.fromkeys(("time_both", "time_global", "time_jekyll"), COUNT)
    | {f"{kind}_{name}": COUNT for name in LEVELS for kind in ("time", "steps")}
    | dict.fromkeys(("J_norm_end", "J_norm_jekyll_end", "regret"), NUMBER)
    | {"at": PLACES, "J_norm": CURVE, "J_norm_jekyll": CURVE},
    complete=_complete,
    rows=_rows,
    seconds=lambda problem, settings: 1e-6 if problem["name"] == "chain" else 9e-6,
)


# With networks.


class DeepSettings(msgspec.Struct, frozen=True):
    """Settings of `deep.train` beside the agent's hyperparameters."""

    agent: str = "jekyll_hyde"
    config: str = "recommended"
    episodes: Count = 500
    every: Count = 10


def _complete_deep(mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
    need("deep")
    from jekyllhyde.deep.configurations import configure, describe

    chosen, options = _chosen_deep(settings)
    stored = {"gamma": 0.9, **options}  # version 0.1 had Four Rooms' discount as a default
    values = [  # what the configuration's name stands for today
        describe(configure(chosen["agent"], chosen["config"], level=level, **stored))
        for level in (1, 2)
    ]
    # what 0.3 recommended is stored under the name that it had then
    name = {"config": chosen["config"].removesuffix("_0_3")}
    return references.described(chosen | name | options) | {
        "values": hashlib.sha256(repr(values).encode()).hexdigest()[:12]
    }


def _deep_rows(
    problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
) -> list[Row]:
    # All runs in one compiled call. Run i depends on (stream, i) alone: with more runs, the first
    # ones are made again.
    from jekyllhyde.deep import train

    chosen, options = _chosen_deep(settings)
    result = train(
        domain_name(problem["name"]),
        **chosen,
        seeds=runs.stop,
        seed=stream % 2**31,
        hyperparameters=options,
        **{key: value for key, value in problem.items() if key != "name"},
    )
    progress(chosen["episodes"] * len(runs))
    return [
        {
            "end": chosen["episodes"],
            "steps": int(result.step[run, -1]),
            "at": result.episode,
            "score": result.score[run],
            "exact_score": result.exact_score[run],
            "exact_score_end": float(result.exact_score[run, -1]),
            "failure": "a network left the finite numbers" if result.diverged[run] else None,
        }
        for run in runs
    ]


def _chosen_deep(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    # The method's settings, and the agent's hyperparameters.
    own, options = split(settings, DeepSettings)
    chosen = msgspec.structs.asdict(check_settings(DeepSettings, own, "deep"))
    if not references.is_reference(chosen["agent"]):
        chosen["agent"] = find_agent(chosen["agent"]).name
    return chosen, options


DEEP = Method(
    name="deep",
    unit="episodes",
    options=DeepSettings,
    complete=_complete_deep,
    rows=_deep_rows,
    seconds=lambda problem, settings: 0.05,
    curve="exact_score",
    end="",
    xlabel="training episodes",
    whole=True,
    extra="deep",
    columns=dict.fromkeys(("end", "steps"), COUNT)
    | {"at": PLACES, "score": CURVE, "exact_score": CURVE, "exact_score_end": NUMBER},
)
