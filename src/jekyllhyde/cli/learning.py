"""The three ways in which `jh train` learns; their keywords are flags."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete

from jekyllhyde import intervals
from jekyllhyde.agent import AGENTS, AgentRecord
from jekyllhyde.cli.learners import make_agent, settings_of
from jekyllhyde.cli.show import Progress
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError, check_count
from jekyllhyde.mdp.domains import Domain, known_domain
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.mdp.gym_import import from_gymnasium, make_environment
from jekyllhyde.mdp.problem import is_environment, make
from jekyllhyde.tabular import train_files

LAST = 100  # episodes whose mean return is shown
CORE_RATE = 1000.0  # steps per second of J&H on one core, and on an H200 by number of runs
GPU_RATES = {1: 4_100.0, 10: 37_000.0, 100: 192_000.0, 1000: 367_000.0}


class Task(NamedTuple):
    """What is learned: the problem with its options, and by whom, with hers; `announce` is called
    when all is checked, before the work begins.
    """

    problem: str
    options: dict[str, Any]
    record: AgentRecord
    settings: dict[str, Any]
    seed: int
    announce: Callable[[], None]

    def mdp(self, seed: int) -> FiniteMDP:
        """The model; of a random domain, the one with this seed."""
        domain = known_domain(self.problem)
        drawn = {"seed": seed} if domain is not None and domain.random else {}
        return make(self.problem, **self.options, **drawn)


class Outcome(NamedTuple):
    """What came of it: rows of the table, what is said below it, and how it is written."""

    runs: int
    measured: list[dict[str, Any]]
    work: str
    settings: dict[str, Any]
    write: Callable[[Path], list[str]]
    failures: Mapping[int, str] = MappingProxyType({})
    note: str = ""


def choose_way(record: AgentRecord, problem: str) -> Callable[..., Outcome]:
    """Known models are learned as such, by the agents that can."""
    if is_environment(problem) or not (record.tabular or record.name in AGENTS):
        return learn_step_by_step
    return learn_on_model if record.tabular else train_in_one_call


def has_finite_spaces(problem: str) -> bool:
    """Whether observations and actions are Discrete."""
    if not is_environment(problem):
        return True
    env = make_environment(problem)
    env.close()
    return all(isinstance(one, Discrete) for one in (env.observation_space, env.action_space))


def learn_on_model(
    task: Task,
    trajectories: int = 10_000,
    runs: int = 10,
    target: float | None = None,
    mdps: int = 1,
    mdp_seed: int = 0,
) -> Outcome:
    """Tables on a known model, all runs at once, evaluated exactly.

    trajectories : trajectories per run.
    runs : independent runs, on each MDP.
    target : stop a run once its normalized return exceeds this.
    mdps : random MDPs, with the seeds mdp-seed, mdp-seed + 1, ...
    mdp_seed : which random MDP.
    """
    from jekyllhyde.tabular.learn import learn

    check_count(trajectories, "trajectories", 1)
    agent = make_agent(task.record, None, task.seed, task.settings)
    first = check_count(mdp_seed, "mdp_seed", 0)
    problems = [task.mdp(first + i) for i in range(check_count(mdps, "mdps", 1))]
    check_count(runs, "runs", 1)
    task.announce()
    with Progress(mdps * runs * trajectories, task.problem) as bar:
        result = learn(
            problems,
            agent,
            trajectories=trajectories,
            runs=runs,
            seed=task.seed,
            target=target,
            progress=bar,
        )
    measured = [
        row("J_norm global", train_files.last_known(result.J_norm)[:, -1]),
        row("J_norm jekyll", train_files.last_known(result.J_norm_jekyll)[:, -1]),
    ]
    if target is not None:
        measured.append(row(f"trajectories to {target:g}", result.time_to(target)))
        measured.append(row("share censored", result.censored(target)))
    return Outcome(
        runs=result.runs,
        measured=measured,
        work=f"{int(result.steps.max(axis=1).sum())} steps",
        settings=settings_of(agent),
        write=lambda folder: train_files.write(result, folder),
        failures=result.failures,
    )


def train_in_one_call(
    task: Task, episodes: int = 500, runs: int = 10, device: str | None = None, mdp_seed: int = 0
) -> Outcome:
    """Networks on a known model, all runs in one compiled call, scored exactly.

    episodes : training episodes per run.
    runs : independent runs.
    device : cpu or gpu; JAX's own choice by default.
    mdp_seed : which random MDP.
    """
    from jekyllhyde import deep
    from jekyllhyde.deep import output

    domain, mdp = known_domain(task.problem), task.mdp(mdp_seed)
    settings = {"config": "recommended", "level": task.options.get("level", 1), **task.settings}
    check_count(runs, "runs", 1)
    check_count(episodes, "episodes", 10)
    task.announce()
    with Progress(runs * episodes, task.problem) as bar:
        result = deep.train(
            mdp,
            task.record.name,
            seeds=runs,
            episodes=episodes,
            config=deep.configure(task.record.name, **settings),
            seed=task.seed,
            device=device,
            horizon=Domain.horizon if domain is None else domain.horizon,
            progress=bar,
        )
    solved = result.solved()
    reached = result.episode[solved.argmax(1)][solved.any(1)]
    measured = [
        row("undiscounted score, ten episodes", result.score[:, -1]),
        row("undiscounted score, exact", result.exact_score[:, -1]),
        row("undiscounted score of the optimum", result.optimum),
        row("share of runs within 0.5 of it", solved[:, -1]),
        row("first there, episodes", reached),
        row("runs that diverged", result.diverged.sum()),
    ]
    layout = None if domain is None else domain.draw_map(**task.options)
    return Outcome(
        runs=runs,
        measured=measured,
        work=f"{int(result.step[:, -1].sum())} steps, compilation included,",
        settings=settings_of(SimpleNamespace(settings=result.config)),
        write=lambda folder: output.write(result, folder, layout),
        note=device_sentence(result.device, runs),
    )


def learn_step_by_step(
    task: Task, steps: int = 100_000, runs: int = 10, mdp_seed: int = 0
) -> Outcome:
    """One agent per run, step by step on the environment.

    steps : environment steps per run.
    runs : independent runs.
    mdp_seed : which random MDP.
    """

    def learner(run: int) -> Any:
        return make_agent(task.record, make_env(), run_seed(task.seed, run), task.settings)

    make_env, mdp = _environment(task, mdp_seed)
    agent, episodes, J = learner(0), [], []
    settings = settings_of(agent)
    mdp = mdp or _model(task.problem, settings.get("gamma", 0.99))
    check_count(steps, "steps", 1)
    check_count(runs, "runs", 1)
    task.announce()
    with Progress(runs * steps, task.problem) as bar:
        for run in range(runs):
            agent = learner(run) if run else agent
            agent.learn(steps, progress=bar)
            episodes.append(agent.episodes)
            J += [] if mdp is None else [mdp.evaluate(greedy(agent, mdp.n_states)).J]
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
        write=lambda folder: train_files.write_episodes(episodes, folder),
    )


def run_seed(seed: int, run: int) -> int:
    """The seed of a run, from (seed, run): runs of different seeds do not share it."""
    return int(np.random.SeedSequence((check_count(seed, "seed", 0), run)).generate_state(1)[0])


def _environment(task: Task, mdp_seed: int) -> tuple[Callable[[], Any], FiniteMDP | None]:
    """How the environment is made, and the model that it is made from."""
    if is_environment(task.problem):
        return lambda: make_environment(task.problem), None
    domain, mdp = known_domain(task.problem), task.mdp(mdp_seed)
    return lambda: TabularEnv(mdp, None if domain is None else domain.horizon), mdp


def _model(problem: str, gamma: float) -> FiniteMDP | None:
    try:
        return from_gymnasium(problem, gamma)
    except InputError:  # without a model there is no exact value
        return None


def greedy(agent: Any, n_states: int) -> Floats:
    """The greedy policy of an agent, with a row for the terminal state that the imported model may
    have added.
    """
    states, actions = agent.env.observation_space, agent.env.action_space
    chosen = [int(agent.predict(int(states.start) + s) - actions.start) for s in range(states.n)]
    return np.eye(int(actions.n))[chosen + [0] * (n_states - len(chosen))]


def row(quantity: str, values: Any) -> dict[str, Any]:
    """A line of the table: a number; the share of flags, with its exact interval; or the mean of
    runs with its bootstrap interval, which one run alone has not.
    """
    samples = np.asarray(values)
    is_flags = samples.dtype == bool
    numbers: dict[str, Any] = dict.fromkeys(("mean", "lo", "hi", "median"))
    if samples.size > 1:
        ends = intervals.share(samples) if is_flags else intervals.summarize(samples, "mean")
        numbers |= dict(zip(numbers, map(float, ends), strict=False))
    elif samples.size == 1:
        numbers["mean"] = float(samples.mean())
    if samples.size and samples.ndim and not is_flags:
        numbers["median"] = float(np.median(samples))
    return {"quantity": quantity, **numbers}


def device_sentence(used: str, runs: int) -> str:
    """Which device ran, and which kind is the faster for so many runs, by what was measured once
    (benchmarks/deep_study.py).
    """
    cores = min(runs, os.cpu_count() or 1)
    gpu = np.interp(np.log(runs), np.log(list(GPU_RATES)), list(GPU_RATES.values()))
    ratio = gpu / (CORE_RATE * cores)
    faster = f"is about {ratio:.0f} times as fast as" if ratio > 1.5 else "is no faster than"
    return f"device: {used}; for {runs} runs an H200 GPU {faster} {cores} CPU cores"
