"""`learn`: an agent on a known MDP, many independent runs on all cores, with exact evaluation
between trajectories.

Every run has its own random stream, drawn from (seed, run) alone, so results do not depend on
threads or order. A run goes through the compiled loop (`loop.advance`) in chunks of environment
steps; kernels release the interpreter's lock.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.mdp.evaluation import DENSE_LIMIT
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.parallel import count_threads, run_all
from jekyllhyde.tabular.agents import TabularAgent, TabularJekyllHyde
from jekyllhyde.tabular.arrays import (
    DIVERGED,
    EVALUATE,
    NEXT,
    PAUSED,
    STATE,
    STEPS,
    TRAJECTORIES,
    Scratch,
    Trace,
    edges_of,
    problem_of,
)
from jekyllhyde.tabular.loop import advance
from jekyllhyde.tabular.result import CRITERIA, LearnRun
from jekyllhyde.tabular.rng import uniform
from jekyllhyde.tabular.run import CHUNK, State, bundles, initial_state, make_room, uses_replay
from jekyllhyde.tabular.simulate import hyde_policy, start_row, verdict

Progress = Callable[[int], None]
EVALUATIONS = 1000
PUBLISHED_HORIZON = 100


def learn(
    mdp: FiniteMDP | Sequence[FiniteMDP],
    agent: TabularAgent,
    *,
    trajectories: int,
    runs: int = 1,
    seed: int = 0,
    first: int = 0,
    horizon: int | None = None,
    target: float | None = None,
    target_on: str = "both",
    threads: int | None = None,
    memory: float | None = None,
    progress: Progress | None = None,
) -> LearnRun:
    """Run `agent` on a known MDP.

    Parameters
    ----------
    mdp : the problem, or a list of problems: `runs` runs on each, in order.
    trajectories : per run. The agent is evaluated after 1, 1 + c, 1 + 2c, ... of them, c =
        trajectories/1000, and at the end.
    runs, seed : run i draws from the stream (seed, i); the runs are number `first`, first + 1, ...
    horizon : a trajectory is cut after so many steps (not a termination: bootstrapping goes on).
        100 by default, as published; with convention="paper" there is no cut by default.
    target : stop a run when its normalized return exceeds it: the global return and Jekyll's
        ("both"), or only one (`target_on`).
    threads : all cores by default.     memory : the most that all runs may take together, in bytes;
        the machine's by default.
    progress : called with the number of trajectories made since the last call.
    """
    mdps = [mdp] if isinstance(mdp, FiniteMDP) else list(mdp)
    if not mdps:
        raise InputError("mdp is an empty list; give at least one MDP")
    runs = check_count(runs, "runs", 1)
    plan = _Plan(
        agent=agent,
        trajectories=check_count(trajectories, "trajectories", 1),
        seed=check_count(seed, "seed", 0),
        horizon=_horizon(horizon, agent, mdps),
        target=target,
        target_on=check_choice(target_on, "target_on", CRITERIA),
        progress=progress or (lambda n: None),
    )
    _check_target(target, agent, mdps)
    workers = count_threads(threads)
    numbers = itertools.count(check_count(first, "first", 0))
    jobs = [(problem, next(numbers)) for problem in mdps for _ in range(runs)]
    _check_memory(plan, mdps, min(workers, len(jobs)), len(jobs), memory)
    outcomes = run_all(lambda job: _run(plan, *job), jobs, workers)
    return _collect(plan, [problem for problem, _ in jobs], outcomes)


@dataclass(frozen=True)
class _Plan:
    """What all runs have in common."""

    agent: TabularAgent
    trajectories: int
    seed: int
    horizon: int
    target: float | None
    target_on: str
    progress: Progress


def _run(plan: _Plan, mdp: FiniteMDP, run: int) -> tuple[Trace, State, str]:
    """One run from start to end; its trace, its final state, and the reason of a failure ("" if
    there was none).
    """
    agent = plan.agent
    state = initial_state(agent, mdp.n_states, mdp.n_actions, plan.seed, run)
    edges, problem = edges_of(mdp), problem_of(mdp, plan.horizon)
    trace, scratch = _trace(plan, mdp), _scratch(mdp, len(edges.r))
    if len(problem.start) > 1:
        state.clock[STATE] = (
            start_row(problem.start, problem.start_cdf, uniform(state.words)) // mdp.n_actions
        )
    else:
        state.clock[STATE] = problem.start[0] // mdp.n_actions
    guesses: dict[str, Floats] = {}
    before, reason = 0, PAUSED
    while reason in (PAUSED, EVALUATE):
        make_room(state, agent, CHUNK)
        jekyll, hyde, buffers, options = bundles(agent, state, mdp.gamma, mdp.n_actions, CHUNK)
        reason = advance(
            problem,
            edges,
            state.tables,
            jekyll,
            hyde,
            buffers,
            options,
            state.words,
            state.clock,
            state.sums,
            trace,
            scratch,
            CHUNK,
        )
        if reason == EVALUATE:
            reason = _evaluate_outside(mdp, trace, state, guesses)
        plan.progress(int(state.clock[TRAJECTORIES]) - before)
        before = int(state.clock[TRAJECTORIES])
    plan.progress(plan.trajectories - before)
    failure = (
        f"the critic left the finite numbers at environment step {state.clock[STEPS]}"
        if reason == DIVERGED
        else ""
    )
    return trace, state, failure


def _evaluate_outside(
    mdp: FiniteMDP, trace: Trace, state: State, guesses: dict[str, Floats]
) -> int:
    """On large MDPs: the sparse solvers, each started from the last evaluation's values."""
    i = int(state.clock[NEXT])
    evaluation = mdp.evaluate(state.tables.pi, guess=guesses.get("jekyll"))
    guesses["jekyll"], trace.J_jekyll[i] = evaluation.v, evaluation.J
    if trace.epsilon[i] > 0.0:
        pi = np.empty_like(state.tables.pi)
        hyde_policy(state.tables.q_hyde, pi, trace.uniform_hyde)
        evaluation = mdp.evaluate(pi, guess=guesses.get("hyde"))
        guesses["hyde"], trace.J_hyde[i] = evaluation.v, evaluation.J
    state.clock[NEXT] += 1
    return verdict(
        trace.J_jekyll[i],
        trace.J_hyde[i],
        trace.epsilon[i],
        trace.stop_global,
        trace.stop_jekyll,
        i + 1 == len(trace.at),
    )


def evaluation_times(trajectories: int) -> Ints:
    """1, 1 + c, 1 + 2c, ... with c = trajectories/1000 (at least 1), and the end."""
    cadence = max(1, trajectories // EVALUATIONS)
    return np.unique(np.append(np.arange(1, trajectories + 1, cadence), trajectories))


def _trace(plan: _Plan, mdp: FiniteMDP) -> Trace:
    at = evaluation_times(plan.trajectories)
    stops = {
        "global": np.inf if plan.target is None else -np.inf,
        "jekyll": np.inf if plan.target is None else -np.inf,
    }
    if plan.target is not None:
        J_stop = mdp.J_low + plan.target * (mdp.J_star - mdp.J_low)
        for name in ("global", "jekyll"):
            if plan.target_on in (name, "both"):
                stops[name] = J_stop
    floats, integers = np.full((3, len(at)), np.nan), np.zeros((4, len(at)), dtype=np.int64)
    uniform_hyde = isinstance(plan.agent, TabularJekyllHyde) and plan.agent.hyde == "uniform"
    return Trace(
        at,
        floats[0],
        floats[1],
        floats[2],
        integers[0],
        integers[1],
        integers[2],
        integers[3],
        mdp.P.indptr,
        mdp.P.indices,
        mdp.r,
        mdp.p0,
        mdp.P.data,
        mdp.gamma,
        uniform_hyde,
        stops["global"],
        stops["jekyll"],
    )


def _scratch(mdp: FiniteMDP, n_edges: int) -> Scratch:
    S, A = (
        (mdp.n_states, mdp.n_actions) if mdp.n_states <= DENSE_LIMIT and mdp.gamma < 1.0 else (0, 0)
    )
    return Scratch(
        np.empty(S * S), np.empty(S), np.empty(S), np.empty((S, A)), np.empty(n_edges if S else 0)
    )


def _horizon(horizon: int | None, agent: TabularAgent, mdps: list[FiniteMDP]) -> int:
    """The cut; one that is never reached where there is none."""
    if horizon is not None:
        return check_count(horizon, "horizon", 1)
    if agent.convention == "published":
        return PUBLISHED_HORIZON
    for mdp in mdps:
        if not mdp.is_terminal.any():
            raise InputError(
                f"{mdp.name} has no terminal state, so its trajectories never end; give a horizon"
            )
    return 1 << 62


def _check_target(target: float | None, agent: TabularAgent, mdps: list[FiniteMDP]) -> None:
    if target is not None and not np.isfinite(target):
        raise InputError(f"target is {target}; it must be a normalized return, usually in (0, 1)")
    for mdp in mdps:
        if agent.critic == "mle" and (mdp.n_states > DENSE_LIMIT or mdp.gamma == 1.0):
            raise InputError(
                f"critic is 'mle', but {mdp.name} has {mdp.n_states} states and gamma = {mdp.gamma:g}; "
                f"it takes at most {DENSE_LIMIT} states and gamma below 1"
            )
        mdp.normalize(
            0.0
            # once here rather than in every thread; refuses an MDP on which the normalized return is
            # undefined
        )


def memory_per_run(mdp: FiniteMDP, agent: TabularAgent, trajectories: int, horizon: int) -> float:
    """Bytes that one run takes at most: tables, its edges, evaluation, and the replay log if every
    trajectory is cut.
    """
    tables = 8.0 * 5 * mdp.n_states * mdp.n_actions
    edges = 36.0 * mdp.P.nnz + 4.0 * mdp.n_states * mdp.n_actions
    evaluation = 8.0 * mdp.n_states**2 if mdp.n_states <= DENSE_LIMIT else 8.0 * 40 * mdp.n_states
    transitions = (
        min(float(trajectories) * horizon, 2.0 * (agent.capacity or np.inf))
        if uses_replay(agent)
        else 0.0
    )
    return tables + edges + evaluation + 4.0 * max(transitions, CHUNK)


def _check_memory(
    plan: _Plan, mdps: list[FiniteMDP], workers: int, jobs: int, memory: float | None
) -> None:
    """Refuse what cannot fit: `workers` runs at once, and the results of all."""
    horizon = min(plan.horizon, 10_000)
    largest = max(memory_per_run(mdp, plan.agent, plan.trajectories, horizon) for mdp in mdps)
    tables = max(16.0 * mdp.n_states * mdp.n_actions for mdp in mdps)
    needed = workers * largest + jobs * (
        tables + 12 * 8.0 * len(evaluation_times(plan.trajectories))
    )
    available = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if memory is None else memory
    )
    if needed > available:
        raise InputError(
            f"these runs may take {needed / 2**30:.1f} GiB ({workers} at once, {largest / 2**30:.2f} GiB each), "
            f"more than the {available / 2**30:.1f} GiB there are; give fewer threads, runs or trajectories, or a replay capacity"
        )


def _collect(
    plan: _Plan, mdps: list[FiniteMDP], outcomes: list[tuple[Trace, State, str]]
) -> LearnRun:
    traces = [trace for trace, _, _ in outcomes]
    table: dict[str, Any] = {
        name: np.array([getattr(trace, name) for trace in traces]) for name in Trace._fields[1:8]
    }
    J_jekyll, epsilon = table["J_jekyll"], table["epsilon"]
    J = np.where(epsilon > 0.0, (1.0 - epsilon) * J_jekyll + epsilon * table["J_hyde"], J_jekyll)
    normalized = [
        np.array([mdp.normalize(row) for mdp, row in zip(mdps, rows, strict=True)])
        for rows in (J, J_jekyll)
    ]
    names = {mdp.name for mdp in mdps}
    settings = {
        "agent": plan.agent.name,
        **plan.agent.settings,
        "mdp": names.pop() if len(names) == 1 else f"{len(names)} MDPs",
        "trajectories": plan.trajectories,
        "runs": len(mdps),
        "seed": plan.seed,
        "horizon": plan.horizon,
        "target": plan.target,
    }
    return LearnRun(
        trajectories=traces[0].at,
        J=J,
        J_jekyll=J_jekyll,
        J_norm=normalized[0],
        J_norm_jekyll=normalized[1],
        epsilon=epsilon,
        steps=table["steps"],
        hyde_trajectories=table["hyde_trajectories"],
        least_count=table["least_count"],
        unvisited=table["unvisited"],
        q=[state.tables.q for _, state, _ in outcomes],
        pi=[state.tables.pi for _, state, _ in outcomes],
        failures={run: failure for run, (_, _, failure) in enumerate(outcomes) if failure},
        target=plan.target,
        settings=settings,
    )
