"""How a cell is run: exact updates (`plan`), learning from samples (`learn`) or with networks
(`deep`), as rows for the store.

Every row is one run. A run with a target ends there and leaves its time; one without leaves its
curve, at about `points` places.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde import references as own
from jekyllhyde.errors import InputError, check_choice, check_count, check_number
from jekyllhyde.lab.values import PLAIN, canonical
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP, Ints
from jekyllhyde.mdp.problem import make
from jekyllhyde.planning.job import make_job
from jekyllhyde.planning.plan import plan
from jekyllhyde.tabular.agents import TabularAgent, TabularJekyllHyde, TabularOnPolicy
from jekyllhyde.tabular.learn import learn

METHODS = ("plan", "learn", "deep")
AGENTS: dict[str, type[TabularAgent]] = {
    "jekyll-hyde": TabularJekyllHyde,
    "on-policy": TabularOnPolicy,
}
POINTS = 1000
CRITERIA = ("both", "global", "jekyll")
FAILURE_LENGTH = 500  # characters that are kept of a failure's reason
EXAMPLES = 10

Progress = Callable[[int], None]
Row = dict[str, Any]
Items = tuple[tuple[str, type, Any], ...]

PLAN_DEFAULTS: dict[str, Any] = {
    "parametrization": "softmax",
    "density": "pg",
    "o": None,
    "eta": 1.0,
    "lam": 0.0,
    "updates": 1000,
    "target": None,
    "convention": "published",
    "points": POINTS,
}
LEARN_DEFAULTS: dict[str, Any] = {
    "trajectories": 10_000,
    "target": None,
    "target_on": "both",
    "horizon": None,
    "points": POINTS,
}
DEEP_DEFAULTS: dict[str, Any] = {
    "agent": "jekyll_hyde",
    "config": "recommended",
    "episodes": 500,
    "every": 10,
}
WORK = {
    "plan": ("updates", PLAN_DEFAULTS),
    "learn": ("trajectories", LEARN_DEFAULTS),
    "deep": ("episodes", DEEP_DEFAULTS),
}


class Complete(NamedTuple):
    """Settings with every default written out, and their canonical text."""

    values: dict[str, Any]
    text: str


def complete(
    method: str, problem: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[Complete, Complete]:
    """Problem and settings with every default written out, and everything checked; what was
    complete before is remembered.
    """
    if problem["name"] in DOMAINS and _plain(problem):
        described = _remembered_problem(_items(problem))
    else:
        described = _complete_problem(problem)
    if _plain(settings):
        return described, _remembered_settings(method, _items(settings))
    return described, _complete_settings(method, _example(problem), settings)


def _plain(values: Mapping[str, Any]) -> bool:
    """Whether the completion depends on these values alone: not on a file that may change, nor on
    an array's fit to the problem.
    """
    return all(
        value is None or (type(value) in PLAIN and not own.is_reference(value))
        for value in values.values()
    )


def _items(values: Mapping[str, Any]) -> Items:
    """The values as a key: with their types, since 1, 1.0 and true are equal."""
    return tuple((key, type(value), value) for key, value in values.items())


@lru_cache(maxsize=4096)
def _remembered_problem(items: Items) -> Complete:
    return _complete_problem({key: value for key, _, value in items})


@lru_cache(maxsize=4096)
def _remembered_settings(method: str, items: Items) -> Complete:
    return _complete_settings(
        method, _cached_problem("chain", (), None), {key: value for key, _, value in items}
    )


def problem_options(name: str) -> list[str]:
    """The options of a problem, by name."""
    return list(_signature(name)) if name in DOMAINS else ["gamma"]


def locate_problem(problem: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The problem with a file relative to `folder` made into one that any process finds."""
    name = str(problem["name"])
    file = folder / name
    return {
        **problem,
        "name": str(file.resolve()) if name not in DOMAINS and file.is_file() else name,
    }


@lru_cache(maxsize=16)
def _signature(name: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(DOMAINS[name].make).parameters


def _complete_problem(problem: Mapping[str, Any]) -> Complete:
    name = problem["name"]
    given = {key: value for key, value in problem.items() if key != "name"}
    if name in DOMAINS:
        signature = _signature(name)
        options = {key: one.default for key, one in signature.items()}
        if name == "garnet":
            options["seed"] = "run"
        for key, value in given.items():
            if key not in options:
                raise InputError(
                    f"problem {name} does not take {key}; it takes {', '.join(options)}"
                )
            if (key, value) != ("seed", "run"):
                _check_kind(key, value, signature[key].annotation)
        described: dict[str, Any] = {"name": name, **options, **given}
    elif Path(name).is_file():
        described = {"name": Path(name).name, **given, "content": own.file_digest(Path(name))}
    else:
        described = {"name": name, **given, "content": None}
    _example(problem)
    return Complete(described, canonical(described))


def _example(problem: Mapping[str, Any]) -> FiniteMDP:
    """An MDP as the runs have: of the first run or, since some random MDPs cannot be made, of one
    of the next.
    """
    for run in range(EXAMPLES - 1):
        with contextlib.suppress(InputError):
            return problem_of(problem, run)
    return problem_of(problem, EXAMPLES - 1)


def _check_kind(field: str, value: Any, annotation: str) -> None:
    """Refuse a value of another kind than the function that takes it says."""
    kinds: dict[str, tuple[tuple[type, ...], str]] = {
        "int": ((int, float, np.number), "an integer"),
        "float": ((int, float, np.number), "a number"),
        "str": ((str,), "a text"),
        "bool": ((bool,), "true or false"),
        "None": ((type(None),), "nothing"),
    }
    names = annotation.split(" | ")
    if any(name not in kinds for name in names):  # a schedule, or something else that checks itself
        return
    if not any(
        isinstance(value, kinds[name][0]) and (name == "bool" or not isinstance(value, bool))
        for name in names
    ):
        raise InputError(
            f"{field} is {value!r}; it must be {' or '.join(kinds[name][1] for name in names)}"
        )


def _complete_settings(method: str, mdp: FiniteMDP, settings: Mapping[str, Any]) -> Complete:
    values = {"plan": _complete_plan, "learn": _complete_learn, "deep": _complete_deep}[method](
        mdp, settings
    )
    return Complete(values, canonical(values))


def _complete_plan(mdp: FiniteMDP, settings: Mapping[str, Any]) -> dict[str, Any]:
    for key in settings:
        if key not in PLAN_DEFAULTS:
            raise InputError(f"{key} is not a setting of plan; it takes {', '.join(PLAN_DEFAULTS)}")
    chosen = PLAN_DEFAULTS | dict(settings)
    check_count(chosen["points"], "points", 1)
    job = {key: value for key, value in chosen.items() if key != "points"} | {
        "pi0": None,
        "record": (),
        "record_at": "all",
    }
    make_job(mdp, **own.resolved(job), engine="auto")
    return own.described(chosen)


def _complete_learn(mdp: FiniteMDP, settings: Mapping[str, Any]) -> dict[str, Any]:
    chosen = LEARN_DEFAULTS | {
        key: value for key, value in settings.items() if key in LEARN_DEFAULTS
    }
    check_count(chosen["trajectories"], "trajectories", 1)
    check_count(chosen["points"], "points", 1)
    check_choice(chosen["target_on"], "target_on", CRITERIA)
    if chosen["target"] is not None:
        check_number(chosen["target"], "target", "a normalized return, usually in (0, 1)")
    if chosen["horizon"] is not None:
        check_count(chosen["horizon"], "horizon", 1)
    agent = make_agent(settings)
    options = {key: value for key, value in agent.settings.items() if key not in ("gamma", "seed")}
    references = {key: value for key, value in settings.items() if own.is_reference(value)}
    return chosen | {"agent": agent.name} | options | own.described(references)


def _complete_deep(mdp: FiniteMDP, settings: Mapping[str, Any]) -> dict[str, Any]:
    try:
        from jekyllhyde.deep import configure
    except ImportError:
        raise InputError("method is 'deep', which needs JAX; install jekyllhyde[deep]") from None
    chosen = DEEP_DEFAULTS | dict(settings)
    for name in ("episodes", "every"):
        check_count(chosen[name], name, 1)
    options = {key: value for key, value in chosen.items() if key not in DEEP_DEFAULTS}
    values = [
        asdict(configure(chosen["agent"], chosen["config"], level=level, **options))
        for level in (1, 2)
    ]
    return chosen | {
        "values": hashlib.sha256(repr(values).encode()).hexdigest()[:12]
    }  # what the configuration stands for today


def make_agent(settings: Mapping[str, Any]) -> TabularAgent:
    """The agent that the settings describe."""
    name = settings.get("agent", "jekyll-hyde")
    kind = AGENTS[check_choice(name, "agent", AGENTS)]
    allowed = _agent_options(name)
    given = {
        key: value
        for key, value in settings.items()
        if key not in LEARN_DEFAULTS and key != "agent"
    }
    for key, value in given.items():
        if key not in allowed:
            raise InputError(
                f"{key} is not a setting of {name}; it takes {', '.join([*LEARN_DEFAULTS, *allowed])}"
            )
        _check_kind(key, value, allowed[key])
    return kind(**own.resolved(given))


@lru_cache(maxsize=16)
def _agent_options(name: str) -> dict[str, str]:
    """What an agent takes, with the kind of each."""
    return {
        f.name: str(f.type)
        for f in fields(AGENTS[name])
        if f.init and f.name not in ("gamma", "seed")
    }


@lru_cache(maxsize=2048)
def _cached_problem(name: str, options: tuple[tuple[str, Any], ...], seed: int | None) -> FiniteMDP:
    mdp = make(name, **dict(options), **({} if seed is None else {"seed": seed}))
    mdp.normalize(0.0)  # the optimum and the low return, once, before threads share the MDP
    return mdp


def problem_of(problem: Mapping[str, Any], run: int) -> FiniteMDP:
    """The MDP of run number `run`: a garnet without a seed of its own is a new one for every run."""
    name = str(problem["name"])
    options = tuple(
        sorted((key, value) for key, value in problem.items() if key not in ("name", "seed"))
    )
    for key, value in options:
        if not (value is None or isinstance(value, (*PLAIN, np.generic))):
            raise InputError(
                f"{key} is {value!r}; an option of a problem is a number, a text, true or false"
            )
    if name == "garnet":
        seed = problem.get("seed", "run")
        return _cached_problem("garnet", options, run if seed == "run" else seed)
    if "seed" in problem:
        raise InputError(f"problem {name} does not take seed; it is not random")
    return _cached_problem(name, options, None)


# Running.


def run_block(
    method: str,
    problem: Mapping[str, Any],
    settings: Mapping[str, Any],
    stream: int,
    runs: range,
    progress: Progress,
) -> list[Row]:
    """Runs number runs.start to runs.stop - 1 of a cell, on one thread; one row each, with the
    reason where a run failed.
    """
    try:
        if method == "deep":
            rows = _deep_rows(problem, settings, stream, runs, progress)
        else:
            mdps = [problem_of(problem, run) for run in runs]
            rows = (_plan_rows if method == "plan" else _learn_rows)(
                mdps, settings, stream, runs, progress
            )
    except MemoryError:  # says nothing about the run
        raise
    except Exception as error:
        if len(runs) == 1:
            return [{"run": runs.start, "failure": _reason(error)}]
        middle = (runs.start + runs.stop) // 2  # the others are as they would be without it
        halves = (range(runs.start, middle), range(middle, runs.stop))
        return [
            row
            for half in halves
            for row in run_block(method, problem, settings, stream, half, progress)
        ]
    return [{"run": run, **row} for run, row in zip(runs, rows, strict=True)]


def _reason(error: Exception) -> str:
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text[:FAILURE_LENGTH].encode("utf-8", "replace").decode()


def work_of(method: str, settings: Mapping[str, Any]) -> int:
    """Updates, trajectories or episodes of one run, at most."""
    name, defaults = WORK[method]
    return int(settings.get(name, defaults[name]))


def thin(count: int, points: int) -> Ints:
    """About `points` of 0 .. count - 1, evenly spaced, the first and the last among them."""
    return np.unique(np.append(np.arange(0, count, max(1, (count - 1) // points)), count - 1))


def _plan_rows(
    mdps: list[FiniteMDP], settings: Mapping[str, Any], stream: int, runs: range, progress: Progress
) -> list[Row]:
    chosen = own.resolved(PLAN_DEFAULTS | dict(settings))
    points = chosen.pop("points")
    rows: list[Row] = []
    for mdp in mdps:
        run = plan(mdp, **chosen, progress=progress)
        row: Row = {"end": run.updates, "J_norm_end": float(run.J_norm[-1])}
        if chosen["target"] is None:
            at = thin(len(run.J), points)
            row |= {"at": at, "J_norm": run.J_norm[at]}
        elif not run.censored:
            row["time"] = run.updates
        rows.append(row)
    return rows


def _learn_rows(
    mdps: list[FiniteMDP], settings: Mapping[str, Any], stream: int, runs: range, progress: Progress
) -> list[Row]:
    chosen = LEARN_DEFAULTS | {
        key: value for key, value in settings.items() if key in LEARN_DEFAULTS
    }
    points = chosen.pop("points")
    same = all(mdp is mdps[0] for mdp in mdps)
    result = learn(
        mdps[0] if same else mdps,
        make_agent(settings),
        **chosen,
        runs=len(runs) if same else 1,
        seed=stream,
        first=runs.start,
        threads=1,
        progress=progress,
    )
    at = thin(len(result.trajectories), points)
    rows = []
    for i in range(result.runs):
        last = (
            int(np.flatnonzero(~np.isnan(result.J_norm[i]))[-1])
            if not np.isnan(result.J_norm[i]).all()
            else 0
        )
        row: Row = {
            "end": int(result.trajectories[last]),
            "steps": int(result.steps[i].max()),
            "J_norm_end": float(result.J_norm[i, last]),
            "J_norm_jekyll_end": float(result.J_norm_jekyll[i, last]),
        }
        if i in result.failures:
            row["failure"] = result.failures[i]
        if chosen["target"] is None:
            row |= {
                "at": result.trajectories[at],
                "J_norm": result.J_norm[i, at],
                "J_norm_jekyll": result.J_norm_jekyll[i, at],
            }
        else:
            for which in CRITERIA:
                reached = result.reached(chosen["target"], which)[i]
                if reached.any():
                    row[f"time_{which}"] = int(result.trajectories[reached.argmax()])
            row["time"] = row.get(f"time_{chosen['target_on']}")
        rows.append(row)
    return rows


def _deep_rows(
    problem: Mapping[str, Any],
    settings: Mapping[str, Any],
    stream: int,
    runs: range,
    progress: Progress,
) -> list[Row]:
    """All runs in one compiled call. Run i depends on (stream, i) alone: with more runs, the first
    ones are made again.
    """
    from jekyllhyde.deep import train

    chosen = DEEP_DEFAULTS | dict(settings)
    options = {key: value for key, value in chosen.items() if key not in DEEP_DEFAULTS}
    domain = {key: value for key, value in problem.items() if key != "name"}
    result = train(
        problem["name"],
        chosen["agent"],
        config=chosen["config"],
        episodes=chosen["episodes"],
        every=chosen["every"],
        seeds=runs.stop,
        seed=stream % 2**31,
        hyperparameters=options,
        **domain,
    )
    progress(chosen["episodes"] * len(runs))
    return [
        {
            "end": chosen["episodes"],
            "steps": int(result.step[run, -1]),
            "at": result.episode,
            "score": result.score[run],
            "exact_score": result.exact_score[run],
            "failure": "a network left the finite numbers" if result.diverged[run] else None,
        }
        for run in runs
    ]
