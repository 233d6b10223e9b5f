"""`learn`: an agent on a known MDP, many independent runs on all cores, with exact evaluation.

Every run has its own random stream, drawn from (seed, run) alone, so results do not depend on
threads or order. A run goes through the compiled loop (`algorithm.advance`) in chunks of about a
tenth of a second, between which it can be interrupted; kernels release the interpreter's lock.
"""

import itertools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jekyllhyde.agent import Progress
from jekyllhyde.errors import LackOfMemory, check_choice, check_count, require
from jekyllhyde.mdp.evaluation import DENSE_LIMIT
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints
from jekyllhyde.parallel import Stopped, count_threads, machine_memory, run_all
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.agents import TabularAgent
from jekyllhyde.tabular.algorithm import DIVERGED, EVALUATE, PAUSED, advance
from jekyllhyde.tabular.hyde import hyde_policy
from jekyllhyde.tabular.known_model import KnownModel, Trace, known_model, verdict
from jekyllhyde.tabular.learn_run import CRITERIA, LearnRun
from jekyllhyde.tabular.records import Run, edges_of
from jekyllhyde.tabular.run_state import CHUNK, RunState, algorithm, initial_state

EVALUATIONS = 1000
NEVER = 1 << 62
SHORT, LONG = 0.05, 0.2  # seconds between which a chunk should last
WORK = 10**8  # operations of the first chunk, about; after it chunks are cut by the clock


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
    target_on: str | None = None,
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
    horizon : a trajectory is cut after so many steps (not a termination: bootstrapping goes on);
        100 + S by default, 100 with convention="published", never with "paper".
    target, target_on : stop a run when its normalized return exceeds the target: Jekyll's
        ("jekyll"), the "global" one, or "both", the default with the paper's conventions.
    threads : all cores by default.
    memory : the most that all runs may take together, in bytes; the machine's by default.
    progress : called with the number of trajectories made since the last call.
    """
    mdps = [mdp] if isinstance(mdp, FiniteMDP) else list(mdp)
    require(mdps, "mdp is an empty list; give at least one MDP")
    runs = check_count(runs, "runs", 1)
    settings, stop = agent.settings, threading.Event()

    def report(count: int) -> None:
        if stop.is_set():
            raise Stopped
        if progress is not None:
            progress(count)

    own_criterion = "jekyll" if settings.is_practical else "both"
    default_horizon = settings.cut(max(mdp.n_states for mdp in mdps)) or NEVER
    job = _Job(
        settings=settings,
        trajectories=check_count(trajectories, "trajectories", 1),
        seed=check_count(seed, "seed", 0),
        horizon=check_count(default_horizon if horizon is None else horizon, "horizon", 1),
        target=target,
        target_on=check_choice(target_on or own_criterion, "target_on", CRITERIA),
        progress=report,
    )
    _check_problems(job, mdps)
    workers = count_threads(threads)
    numbers = itertools.count(check_count(first, "first", 0))
    tasks = [(problem, next(numbers)) for problem in mdps for _ in range(runs)]
    _check_memory(job, mdps, min(workers, len(tasks)), len(tasks), memory)
    outcomes = run_all(lambda task: _run(job, *task), tasks, workers, stop)
    return _collect(job, [problem for problem, _ in tasks], outcomes)


@dataclass(frozen=True)
class _Job:
    """What all runs have in common."""

    settings: AgentSettings
    trajectories: int
    seed: int
    horizon: int
    target: float | None
    target_on: str
    progress: Progress


def _run(job: _Job, mdp: FiniteMDP, number: int) -> tuple[Trace, RunState, str]:
    # One run: its trace, its final state, and the reason of a failure ("" if there was none).
    settings = job.settings
    state = initial_state(settings, mdp.n_states, mdp.n_actions, job.seed, number)
    settings.begin(state, mdp.gamma, float(abs(mdp.r_next).max(initial=0.0)))
    choices = algorithm(settings, state, mdp.gamma, 1, True)
    run = Run(edges_of(mdp), state.tables, state.model, state.words, state.position)
    world = known_model(
        mdp,
        pi=state.table("pi"),
        horizon=job.horizon,
        counts=settings.uses_model
        or (settings.uses_replay and settings.option("successor") == "model"),
        at=evaluation_times(job.trajectories),
        over=_bounds(job, mdp),
    )
    state.position.row = world.restart(np.uint64(0), state.words)
    guesses: dict[str, Floats] = {}
    solution = mdp.n_states**3 // settings.option("mle_every") if settings.uses_model else 0
    batch = settings.option("batch") or 1
    budget = max(1, min(CHUNK, WORK // (batch * mdp.n_actions * 10 + solution)))
    done, reason = 0, PAUSED
    while reason in (PAUSED, EVALUATE):
        if state.make_room(settings, budget) or settings.has_callables:
            choices = algorithm(settings, state, mdp.gamma, budget, True)
            run = run._replace(model=state.model)
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


def _bounds(job: _Job, mdp: FiniteMDP) -> tuple[float, float]:
    # What the global return and Jekyll's must exceed to end a run; one that nobody asks for does.
    if job.target is None:
        return np.inf, np.inf
    bound = mdp.J_low + job.target * (mdp.J_star - mdp.J_low)
    return (
        bound if job.target_on != "jekyll" else -np.inf,
        bound if job.target_on != "global" else -np.inf,
    )


def _evaluate_outside(
    mdp: FiniteMDP, world: KnownModel, explorer: Any, state: RunState, guesses: dict[str, Floats]
) -> int:
    # On large MDPs: the sparse solvers, each started from the last evaluation's values.
    i, trace, policies = int(state.position.next_evaluation[0]), world.trace, {"jekyll": world.pi}
    if trace.epsilon[i] > 0.0:
        policies["hyde"] = np.empty_like(world.pi)
        hyde_policy(explorer, state.tables, policies["hyde"])
    for name, pi in policies.items():
        evaluation = mdp.evaluate(pi, guess=guesses.get(name))
        guesses[name], getattr(trace, f"J_{name}")[i] = evaluation.v, evaluation.J
    state.position.next_evaluation += 1
    return verdict(trace, i, world.over)


def evaluation_times(trajectories: int) -> Ints:
    """1, 1 + c, 1 + 2c, ... with c = trajectories/1000 (at least 1), and the end."""
    times = np.arange(1, trajectories + 1, max(1, trajectories // EVALUATIONS))
    return np.unique(np.append(times, trajectories))


def _check_problems(job: _Job, mdps: list[FiniteMDP]) -> None:
    require(
        job.target is None or np.isfinite(job.target),
        f"target is {job.target}; it must be a normalized return, usually in (0, 1)",
    )
    for mdp in mdps:
        require(
            job.horizon < NEVER or mdp.is_terminal.any(),
            f"{mdp.name} has no terminal state, so its trajectories never end; give a horizon",
        )
        require(
            not job.settings.uses_model or (mdp.n_states <= DENSE_LIMIT and mdp.gamma < 1.0),
            f"critic is 'mle', but {mdp.name} has {mdp.n_states} states and gamma = "
            f"{mdp.gamma:g}; it takes at most {DENSE_LIMIT} states and gamma below 1",
        )
        # once here rather than in every thread; refuses where the normalized return is undefined
        mdp.normalize(0.0)


def _memory_per_run(job: _Job, mdp: FiniteMDP) -> float:
    # Bytes that one run takes at most: tables, edges, evaluation, learned model, a full replay log.
    S, tables, edges = mdp.n_states, 40.0 * mdp.r.size, 36.0 * mdp.P.nnz + 4.0 * mdp.r.size
    evaluation = 8.0 * S * (S if S <= DENSE_LIMIT else 40)
    steps = float(job.trajectories) * min(job.horizon, 10_000)
    capacity = job.settings.option("capacity") or np.inf
    kept = min(steps, 2.0 * capacity) if job.settings.uses_replay else 0.0
    learned = 33.0 * mdp.r.size + 36.0 * S + 25.0 * (2 * mdp.P.nnz + CHUNK)  # `Counts`
    model = learned if job.settings.learns_model else 0.0
    return tables + edges + evaluation + model + 4.0 * max(kept, CHUNK)


def _check_memory(
    job: _Job, mdps: list[FiniteMDP], workers: int, tasks: int, memory: float | None
) -> None:
    # Refuse what cannot fit: `workers` runs at once, and the results of all.
    largest = max(_memory_per_run(job, mdp) for mdp in mdps)
    tables = max(16.0 * mdp.r.size for mdp in mdps)
    curves = 12 * 8.0 * len(evaluation_times(job.trajectories))
    needed = workers * largest + tasks * (tables + curves)
    available = machine_memory() if memory is None else memory
    if needed > available:
        raise LackOfMemory(
            f"these runs may take {needed / 2**30:.1f} GiB ({workers} at once, "
            f"{largest / 2**30:.2f} GiB each), more than the {available / 2**30:.1f} GiB there "
            "are; give fewer threads, runs or trajectories, or a replay capacity"
        )


def _collect(
    job: _Job, mdps: list[FiniteMDP], outcomes: list[tuple[Trace, RunState, str]]
) -> LearnRun:
    # Every entry of `runs` is a matrix, a row per run.
    runs = Trace(*map(np.array, zip(*(trace for trace, _, _ in outcomes), strict=True)))
    mixture = (1.0 - runs.epsilon) * runs.J_jekyll + runs.epsilon * runs.J_hyde
    J = np.where(runs.epsilon > 0.0, mixture, runs.J_jekyll)
    J_norm, J_norm_jekyll = (
        np.array([mdp.normalize(row) for mdp, row in zip(mdps, rows, strict=True)])
        for rows in (J, runs.J_jekyll)
    )
    names = {mdp.name for mdp in mdps}
    return LearnRun(
        trajectories=runs.at[0],
        J=J,
        J_jekyll=runs.J_jekyll,
        J_norm=J_norm,
        J_norm_jekyll=J_norm_jekyll,
        epsilon=runs.epsilon,
        steps=runs.steps,
        hyde_trajectories=runs.hyde_trajectories,
        least_count=runs.least_count,
        unvisited=runs.unvisited,
        q=[state.table("q") for _, state, _ in outcomes],
        pi=[state.table("pi") for _, state, _ in outcomes],
        failures={i: failure for i, (_, _, failure) in enumerate(outcomes) if failure},
        target=job.target,
        target_on=job.target_on,
        settings={
            "agent": job.settings.agent,
            **job.settings.resolved(),
            "mdp": names.pop() if len(names) == 1 else f"{len(names)} MDPs",
            "trajectories": job.trajectories,
            "runs": len(mdps),
            "seed": job.seed,
            "horizon": job.horizon,
            "target": job.target,
        },
    )
