"""The three ways in which `jh train` learns: tables on a known model, networks on a known model
(all runs in one compiled call), and any agent step by step on an environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde import intervals
from jekyllhyde.agent import AgentRecord
from jekyllhyde.cli.learners import make_agent, values_in_force
from jekyllhyde.cli.show import Progress
from jekyllhyde.errors import InputError, check_count
from jekyllhyde.mdp.domains import Domain, known_domain
from jekyllhyde.registry import shell_name
from jekyllhyde.tabular import train_files

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints

TICKS = 1000  # of the progress bar where a share is reported
LAST = 100  # episodes whose mean return is shown
CORE_RATE = 1000.0  # steps per second of J&H on one core, and on an H200 by number of runs
GPU_RATES = {1: 4_100.0, 10: 37_000.0, 100: 192_000.0, 1000: 367_000.0}


@dataclass(frozen=True)
class OnModel:
    """How long tables are learned on a known model."""

    trajectories: int = 10_000
    """Trajectories per run."""
    runs: int = 10
    """Independent runs, on each MDP."""
    target: float | None = None
    """Stop a run once its normalized return exceeds this."""
    mdps: int = 1
    """Random MDPs, seeds mdp-seed, mdp-seed + 1, ..."""
    mdp_seed: int = 0
    """Which random MDP."""


@dataclass(frozen=True)
class InOneCall:
    """How long networks are trained on a known model."""

    episodes: int = 500
    """Training episodes per run."""
    runs: int = 10
    """Independent runs, in one compiled call."""
    device: str | None = None
    """cpu or gpu; JAX's own choice by default."""
    mdp_seed: int = 0
    """Which random MDP."""


@dataclass(frozen=True)
class StepByStep:
    """How long an agent learns in an environment."""

    steps: int = 100_000
    """Environment steps per run."""
    runs: int = 10
    """Independent runs."""
    mdp_seed: int = 0
    """Which random MDP."""


@dataclass(frozen=True)
class Task:
    """What is learned: the problem with its options, the agent with its own, and from which seed.

    announce : called once all is checked, before the work begins.
    """

    problem: str
    options: dict[str, Any]
    record: AgentRecord
    settings: dict[str, Any]
    seed: int
    folder: Path | None
    announce: Callable[[], None]

    @property
    def domain(self) -> Domain | None:
        """The domain that the problem is, if it is one."""
        return known_domain(self.problem)

    def mdp(self, number: int) -> FiniteMDP:
        """The model; of a random domain, the one with this seed."""
        from jekyllhyde.mdp.problem import make

        is_random = self.domain is not None and self.domain.random
        return make(self.problem, **self.options, **({"seed": number} if is_random else {}))


@dataclass(frozen=True)
class Outcome:
    """What came of it: rows of the table, and what is said below it."""

    runs: int
    measured: list[dict[str, Any]]
    work: str
    settings: dict[str, Any]
    files: list[str]
    failures: dict[int, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def learn_on_model(task: Task, work: OnModel) -> Outcome:
    """Tables on a known model, all runs at once, evaluated exactly."""
    from jekyllhyde.tabular.learn import learn

    runs, count = check_count(work.runs, "runs", 1), check_count(work.mdps, "mdps", 1)
    trajectories = check_count(work.trajectories, "trajectories", 1)
    agent = make_agent(task.record, None, task.seed, task.settings)
    first = check_count(work.mdp_seed, "mdp_seed", 0)
    mdps = [task.mdp(first + i) for i in range(count)]
    task.announce()
    with Progress(count * runs * trajectories, task.problem) as advance:
        result = learn(
            mdps,
            agent,
            trajectories=trajectories,
            runs=runs,
            seed=task.seed,
            target=work.target,
            progress=advance,
        )
    curves = {"global": result.J_norm, "jekyll": result.J_norm_jekyll}
    measured = [
        row(f"J_norm {name}", train_files.last_known(values)[:, -1])
        for name, values in curves.items()
    ]
    if work.target is not None:
        measured.append(row(f"trajectories to {work.target:g}", result.time_to(work.target)))
        censored, lo, hi = intervals.share(result.censored(work.target))
        measured.append(row("share censored", censored) | {"lo": float(lo), "hi": float(hi)})
    return Outcome(
        runs=result.runs,
        measured=measured,
        work=f"{int(result.steps.max(axis=1).sum())} steps",
        settings=values_in_force(agent.settings),
        files=[] if task.folder is None else train_files.write(result, task.folder),
        failures=result.failures,
    )


def train_in_one_call(task: Task, work: InOneCall) -> Outcome:
    """Networks on a known model, all runs in one compiled call, scored exactly."""
    from jekyllhyde import deep
    from jekyllhyde.deep import output

    hyperparameters = dict(task.settings)
    config = deep.configure(
        task.record.name,
        hyperparameters.pop("config", "recommended"),
        level=task.options.get("level", 1),
        **hyperparameters,
    )
    mdp, runs = task.mdp(work.mdp_seed), check_count(work.runs, "runs", 1)
    horizon = Domain.horizon if task.domain is None else task.domain.horizon
    check_count(work.episodes, "episodes", 10)
    task.announce()
    with Progress(TICKS, f"{shell_name(task.record.name)} on {mdp.name}") as advance:
        result = deep.train(
            mdp,
            task.record.name,
            seeds=runs,
            episodes=work.episodes,
            config=config,
            seed=task.seed,
            device=work.device,
            horizon=horizon,
            progress=_ticks(advance),
        )
    solved = result.solved()
    measured = [
        row("undiscounted score, ten episodes", result.score[:, -1]),
        row("undiscounted score, exact", result.exact_score[:, -1]),
        row("undiscounted score of the optimum", result.optimum),
        row("share of runs within 0.5 of it", solved[:, -1].mean()),
    ]
    if solved.any():
        reached = result.episode[solved.argmax(1)][solved.any(1)]
        measured.append(row("first there, episodes", reached))
    rooms = None if task.domain is None else task.domain.draw_map(**task.options)
    return Outcome(
        runs=runs,
        measured=[*measured, row("runs that diverged", result.diverged.sum())],
        work=f"{int(result.step[:, -1].sum())} steps, compilation included,",
        settings=values_in_force(result.config),
        files=[] if task.folder is None else output.write(result, task.folder, rooms),
        notes={"device": device_sentence(result.device, runs)},
    )


def learn_step_by_step(task: Task, work: StepByStep) -> Outcome:
    """One agent per run, step by step on the environment."""
    runs, steps = check_count(work.runs, "runs", 1), check_count(work.steps, "steps", 1)

    def learner(run: int) -> Any:
        env = _environment(task, work)
        return make_agent(task.record, env, run_seed(task.seed, run), task.settings)

    agent = learner(0)
    settings = values_in_force(getattr(agent, "settings", None))
    mdp = _model(task, work, settings.get("gamma", 0.99))
    episodes, J = [], []
    task.announce()
    with Progress(runs * steps, task.problem) as advance:
        for run in range(runs):
            agent = learner(run) if run else agent
            agent.learn(steps, progress=advance)
            episodes.append(agent.episodes)
            if mdp is not None:
                J.append(mdp.evaluate(greedy(agent, mdp.n_states)).J)
    last = [np.mean(one.returns[-LAST:]) if len(one) else np.nan for one in episodes]
    measured = [row(f"undiscounted return, last {LAST} episodes", last)]
    if mdp is not None:
        measured.append(row("discounted J of the greedy policy", J))
        measured.append(row("discounted J of the optimum", mdp.J_star))
    return Outcome(
        runs=runs,
        measured=measured,
        work=f"{runs * steps} steps",
        settings=settings,
        files=[] if task.folder is None else train_files.write_episodes(episodes, task.folder),
    )


def run_seed(seed: int, run: int) -> int:
    """The seed of a run, from (seed, run): no two runs of different seeds share it."""
    sequence = np.random.SeedSequence((check_count(seed, "seed", 0), run))
    return int(sequence.generate_state(1)[0])


def _environment(task: Task, work: StepByStep) -> Any:
    from jekyllhyde.envs.tabular import TabularEnv
    from jekyllhyde.mdp.gym_import import make_environment
    from jekyllhyde.mdp.problem import is_environment

    if is_environment(task.problem):
        return make_environment(task.problem)
    return TabularEnv(task.mdp(work.mdp_seed), task.domain.horizon if task.domain else None)


def _model(task: Task, work: StepByStep, gamma: float) -> FiniteMDP | None:
    """The model of the environment, None where it has none and so no exact value."""
    from jekyllhyde.mdp.gym_import import from_gymnasium
    from jekyllhyde.mdp.problem import is_environment

    try:
        is_foreign = is_environment(task.problem)
        return from_gymnasium(task.problem, gamma) if is_foreign else task.mdp(work.mdp_seed)
    except InputError:
        return None


def greedy(agent: Any, n_states: int) -> Floats:
    """The greedy policy of an agent, with a row for the terminal state that the imported model may
    have added.
    """
    states, actions = agent.env.observation_space, agent.env.action_space
    chosen = [int(agent.predict(int(states.start) + s)) for s in range(int(states.n))]
    padded = np.append(chosen, np.full(n_states - len(chosen), int(actions.start)))
    return np.eye(int(actions.n))[padded.astype(int) - int(actions.start)]


def row(quantity: str, values: ArrayLike | Floats | Ints) -> dict[str, Any]:
    """A line of the table: a number, or the mean of runs with its bootstrap interval, which one run
    alone has not.
    """
    samples = np.asarray(values, dtype=np.float64)
    line: dict[str, Any] = {"quantity": quantity, "mean": float(samples.mean())}
    if samples.size == 1:
        return line | {"lo": None, "hi": None, "median": line["mean"] if samples.ndim else None}
    _, lo, hi = intervals.summarize(samples, "mean")
    return line | {"lo": float(lo), "hi": float(hi), "median": float(np.median(samples))}


def _ticks(advance: Callable[[int], None]) -> Callable[[float], None]:
    """A callback for shares that moves a bar of TICKS."""
    done = 0

    def progress(share: float) -> None:
        nonlocal done
        now = int(share * TICKS)
        advance(max(0, now - done))
        done = max(now, done)

    return progress


def device_sentence(used: str, runs: int) -> str:
    """Which device ran, and which kind is the faster for so many runs, by what was measured once
    (benchmarks/deep_study.py).
    """
    cores = min(runs, os.cpu_count() or 1)
    gpu = np.interp(np.log(runs), np.log(list(GPU_RATES)), list(GPU_RATES.values()))
    cpu = CORE_RATE * cores
    faster = (
        f"an H200 GPU is about {gpu / cpu:.0f} times as fast as"
        if gpu > 1.5 * cpu
        else "an H200 GPU is no faster than"
    )
    return f"device: {used}; for {runs} runs {faster} {cores} CPU cores"
