"""`learn`: an agent on a known MDP, many independent runs on all cores, with exact evaluation.

Every run has its own random stream, drawn from (seed, run) alone, so results do not depend on
threads or order. A run goes through the compiled loop (`algorithm.advance`) in chunks of about a
tenth of a second, between which it can be interrupted; kernels release the interpreter's lock.
"""

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.mdp.evaluation import DENSE_LIMIT
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.parallel import Stopped, count_threads, machine_memory, run_all
from jekyllhyde.tabular.agents import TabularAgent
from jekyllhyde.tabular.algorithm import DIVERGED, EVALUATE, PAUSED, advance
from jekyllhyde.tabular.known_model import (
    KnownModel,
    Scratch,
    Stop,
    Trace,
    hyde_policy,
    known_model,
    new_trace,
    verdict,
)
from jekyllhyde.tabular.learn_run import CRITERIA, LearnRun
from jekyllhyde.tabular.records import edges_of
from jekyllhyde.tabular.run_state import (
    CHUNK,
    RunState,
    algorithm,
    counts_edges,
    first_chunk,
    initial_state,
)
from jekyllhyde.tabular.settings import TabularSettings

Progress = Callable[[int], None]
EVALUATIONS = 1000
PUBLISHED_HORIZON = 100
SHORT, LONG = 0.05, 0.2  # seconds between which a chunk should last


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
    """Run an agent on a known MDP; its settings are read, the agent itself is left alone.

    Parameters
    ----------
    mdp : the problem, or a list of problems: `runs` runs on each, in order.
    trajectories : per run. The agent is evaluated after 1, 1 + c, 1 + 2c, ... of them,
        c = trajectories/1000, and at the end.
    runs, seed : run i draws from the stream (seed, i); the runs are number `first`, first + 1, ...
    horizon : a trajectory is cut after so many steps (not a termination: bootstrapping goes on).
        100 by default, as published; with convention="paper" there is no cut by default.
    target : stop a run when its normalized return exceeds it: the global return and Jekyll's
        ("both"), or only one (`target_on`).
    threads : all cores by default.
    memory : the most that all runs may take together, in bytes; the machine's by default.
    progress : called with the number of trajectories made since the last call.
    """
    mdps = [mdp] if isinstance(mdp, FiniteMDP) else list(mdp)
    if not mdps:
        raise InputError("mdp is an empty list; give at least one MDP")
    runs = check_count(runs, "runs", 1)
    settings, stop = agent.settings, threading.Event()

    def report(count: int) -> None:
        if stop.is_set():
            raise Stopped
        if progress is not None:
            progress(count)

    job = _Job(
        settings=settings,
        trajectories=check_count(trajectories, "trajectories", 1),
        seed=check_count(seed, "seed", 0),
        horizon=_horizon(horizon, settings, mdps),
        target=target,
        target_on=check_choice(target_on, "target_on", CRITERIA),
        progress=report,
    )
    _check_target(target, settings, mdps)
    workers = count_threads(threads)
    numbers = itertools.count(check_count(first, "first", 0))
    tasks = [(problem, next(numbers)) for problem in mdps for _ in range(runs)]
    _check_memory(job, mdps, min(workers, len(tasks)), len(tasks), memory)
    outcomes = run_all(lambda task: _run(job, *task), tasks, workers, stop)
    return _collect(job, [problem for problem, _ in tasks], outcomes)


@dataclass(frozen=True)
class _Job:
    """What all runs have in common."""

    settings: TabularSettings
    trajectories: int
    seed: int
    horizon: int
    target: float | None
    target_on: str
    progress: Progress


Outcome = tuple[Trace, RunState, str]


def _run(job: _Job, mdp: FiniteMDP, number: int) -> Outcome:
    # One run: its trace, its final state, and the reason of a failure ("" if there was none).
    settings = job.settings
    state = initial_state(settings, mdp.n_states, mdp.n_actions, job.seed, number)
    choices = algorithm(settings, state, mdp.gamma, 1, True)
    run, world = state.on(edges_of(mdp)), _world(job, mdp, state, counts_edges(choices))
    state.position.row = world.restart(np.uint64(0), state.words)
    guesses: dict[str, Floats] = {}
    done, reason, budget = 0, PAUSED, first_chunk(settings, mdp.n_states, mdp.n_actions)
    while reason in (PAUSED, EVALUATE):
        if state.make_room(settings, budget) or settings.has_callables:
            choices = algorithm(settings, state, mdp.gamma, budget, True)
        start = time.perf_counter()
        reason = advance(world, run, choices, budget)
        seconds = time.perf_counter() - start
        budget = min(2 * budget, CHUNK) if seconds < SHORT else budget
        budget = max(budget // 2, 1) if seconds > LONG else budget
        if reason == EVALUATE:
            reason = _evaluate_outside(mdp, world, choices.explorer, state, guesses)
        trajectories = int(state.position.trajectories[0])
        job.progress(trajectories - done)
        done = trajectories
    job.progress(job.trajectories - done)
    failure = f"the critic left the finite numbers at environment step {state.steps}"
    return world.trace, state, failure if reason == DIVERGED else ""


def _evaluate_outside(
    mdp: FiniteMDP, world: KnownModel, explorer: Any, state: RunState, guesses: dict[str, Floats]
) -> int:
    # On large MDPs: the sparse solvers, each started from the last evaluation's values.
    i, trace = int(state.position.next_evaluation[0]), world.trace
    evaluation = mdp.evaluate(world.pi, guess=guesses.get("jekyll"))
    guesses["jekyll"], trace.J_jekyll[i] = evaluation.v, evaluation.J
    if trace.epsilon[i] > 0.0:
        pi = np.empty_like(world.pi)
        hyde_policy(explorer, state.tables, pi)
        evaluation = mdp.evaluate(pi, guess=guesses.get("hyde"))
        guesses["hyde"], trace.J_hyde[i] = evaluation.v, evaluation.J
    state.position.next_evaluation += 1
    is_last = i + 1 == len(trace.at)
    return verdict(world.stop, trace.J_jekyll[i], trace.J_hyde[i], trace.epsilon[i], is_last)


def evaluation_times(trajectories: int) -> Ints:
    """1, 1 + c, 1 + 2c, ... with c = trajectories/1000 (at least 1), and the end."""
    cadence = max(1, trajectories // EVALUATIONS)
    return np.unique(np.append(np.arange(1, trajectories + 1, cadence), trajectories))


def _world(job: _Job, mdp: FiniteMDP, state: RunState, counts: bool) -> KnownModel:
    is_small = mdp.n_states <= DENSE_LIMIT and mdp.gamma < 1.0
    S, A = (mdp.n_states, mdp.n_actions) if is_small else (0, 0)
    scratch = Scratch(
        M=np.empty(S * S),
        inverse=np.empty(S),
        v=np.empty(S),
        pi=np.empty((S, A)),
        P=np.empty(mdp.P.nnz if S else 0),
    )
    stops = dict.fromkeys(CRITERIA[1:], -np.inf if job.target is not None else np.inf)
    if job.target is not None:
        J_stop = mdp.J_low + job.target * (mdp.J_star - mdp.J_low)
        asked = CRITERIA[1:] if job.target_on == "both" else (job.target_on,)
        stops |= dict.fromkeys(asked, J_stop)
    return known_model(
        mdp,
        pi=state.table("pi"),
        horizon=job.horizon,
        counts=counts,
        trace=new_trace(evaluation_times(job.trajectories)),
        scratch=scratch,
        stop=Stop(over_global=stops["global"], over_jekyll=stops["jekyll"]),
    )


def _horizon(horizon: int | None, settings: TabularSettings, mdps: list[FiniteMDP]) -> int:
    # The cut; one that is never reached where there is none.
    if horizon is not None:
        return check_count(horizon, "horizon", 1)
    if settings.convention == "published":
        return PUBLISHED_HORIZON
    for mdp in mdps:
        if not mdp.is_terminal.any():
            raise InputError(
                f"{mdp.name} has no terminal state, so its trajectories never end; give a horizon"
            )
    return 1 << 62


def _check_target(target: float | None, settings: TabularSettings, mdps: list[FiniteMDP]) -> None:
    if target is not None and not np.isfinite(target):
        raise InputError(f"target is {target}; it must be a normalized return, usually in (0, 1)")
    for mdp in mdps:
        if settings.uses_model and (mdp.n_states > DENSE_LIMIT or mdp.gamma == 1.0):
            raise InputError(
                f"critic is 'mle', but {mdp.name} has {mdp.n_states} states and gamma = "
                f"{mdp.gamma:g}; it takes at most {DENSE_LIMIT} states and gamma below 1"
            )
        # once here rather than in every thread; refuses where the normalized return is undefined
        mdp.normalize(0.0)


def memory_per_run(
    mdp: FiniteMDP, settings: TabularSettings, trajectories: int, horizon: int
) -> float:
    """Bytes that one run takes at most: tables, edges, evaluation, and a full replay log."""
    tables = 8.0 * 5 * mdp.n_states * mdp.n_actions
    edges = 36.0 * mdp.P.nnz + 4.0 * mdp.n_states * mdp.n_actions
    is_small = mdp.n_states <= DENSE_LIMIT
    evaluation = 8.0 * mdp.n_states * (mdp.n_states if is_small else 40)
    transitions = 0.0
    if settings.uses_replay:
        transitions = min(float(trajectories) * horizon, 2.0 * (settings.capacity or np.inf))
    return tables + edges + evaluation + 4.0 * max(transitions, CHUNK)


def _check_memory(
    job: _Job, mdps: list[FiniteMDP], workers: int, tasks: int, memory: float | None
) -> None:
    # Refuse what cannot fit: `workers` runs at once, and the results of all.
    horizon = min(job.horizon, 10_000)
    largest = max(memory_per_run(mdp, job.settings, job.trajectories, horizon) for mdp in mdps)
    tables = max(16.0 * mdp.n_states * mdp.n_actions for mdp in mdps)
    curves = 12 * 8.0 * len(evaluation_times(job.trajectories))
    needed = workers * largest + tasks * (tables + curves)
    available = machine_memory() if memory is None else memory
    if needed > available:
        raise InputError(
            f"these runs may take {needed / 2**30:.1f} GiB ({workers} at once, "
            f"{largest / 2**30:.2f} GiB each), more than the {available / 2**30:.1f} GiB there "
            "are; give fewer threads, runs or trajectories, or a replay capacity"
        )


def _collect(job: _Job, mdps: list[FiniteMDP], outcomes: list[Outcome]) -> LearnRun:
    traces = [trace for trace, _, _ in outcomes]
    J_jekyll = np.array([trace.J_jekyll for trace in traces])
    J_hyde = np.array([trace.J_hyde for trace in traces])
    epsilon = np.array([trace.epsilon for trace in traces])
    J = np.where(epsilon > 0.0, (1.0 - epsilon) * J_jekyll + epsilon * J_hyde, J_jekyll)
    J_norm, J_norm_jekyll = (
        np.array([mdp.normalize(row) for mdp, row in zip(mdps, rows, strict=True)])
        for rows in (J, J_jekyll)
    )
    names = {mdp.name for mdp in mdps}
    settings = {
        "agent": job.settings.agent,
        **job.settings.resolved(),
        "mdp": names.pop() if len(names) == 1 else f"{len(names)} MDPs",
        "trajectories": job.trajectories,
        "runs": len(mdps),
        "seed": job.seed,
        "horizon": job.horizon,
        "target": job.target,
    }
    return LearnRun(
        trajectories=traces[0].at,
        J=J,
        J_jekyll=J_jekyll,
        J_norm=J_norm,
        J_norm_jekyll=J_norm_jekyll,
        epsilon=epsilon,
        steps=np.array([trace.steps for trace in traces]),
        hyde_trajectories=np.array([trace.hyde_trajectories for trace in traces]),
        least_count=np.array([trace.least_count for trace in traces]),
        unvisited=np.array([trace.unvisited for trace in traces]),
        q=[state.table("q") for _, state, _ in outcomes],
        pi=[state.table("pi") for _, state, _ in outcomes],
        failures={i: failure for i, (_, _, failure) in enumerate(outcomes) if failure},
        target=job.target,
        settings=settings,
    )
