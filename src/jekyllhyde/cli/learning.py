"""The ways in which `jh train` learns on a known model; their keywords are flags."""

import os
from collections.abc import Callable
from contextlib import closing

import numpy as np
from gymnasium.spaces import Discrete

import jekyllhyde as jh
from jekyllhyde.agent import AGENTS, AgentRecord, make_agent
from jekyllhyde.cli.environment_training import learn_step_by_step
from jekyllhyde.cli.flags import keywords_of, settings_of
from jekyllhyde.cli.training_task import Outcome, Task, row
from jekyllhyde.mdp.gym_import import make_environment
from jekyllhyde.tabular import train_files

CORE_RATE = 1000.0  # steps per second of J&H on one core, and on an H200 by number of runs
GPU_RATES = {1: 4_100.0, 10: 37_000.0, 100: 192_000.0, 1000: 367_000.0}


def choose_way(record: AgentRecord, domain: jh.Domain) -> Callable[..., Outcome]:
    """Known models are learned as such, by the agents that can."""
    if domain.foreign or not (record.tabular or record.name in AGENTS):
        return learn_step_by_step
    return learn_on_model if record.tabular else train_in_one_call


def has_finite_spaces(domain: jh.Domain, env_kwargs: tuple[str, ...] = ()) -> bool:
    """Whether observations and actions are Discrete."""
    if not domain.foreign:
        return True
    with closing(make_environment(domain.name, keywords_of(env_kwargs))) as env:
        return isinstance(env.observation_space, Discrete) and isinstance(
            env.action_space, Discrete
        )


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
    agent = make_agent(task.record, None, task.seed, task.settings)
    problems = [task.mdp(mdp_seed + i) for i in range(mdps)]
    with task.begin(mdps * runs * trajectories) as bar:
        result = jh.learn(
            problems,
            agent,
            trajectories=trajectories,
            runs=runs,
            seed=task.seed,
            horizon=task.domain.cut(**task.options) if task.domain.per else None,
            target=target,
            progress=bar,
        )
    measured = [row(f"J_norm {name}", result.known(name)[:, -1]) for name in ("global", "jekyll")]
    if target is not None:
        measured += [
            row(f"trajectories to {target:g}", result.time_to(target)),
            row("share censored", result.censored(target)),
        ]
    return Outcome(
        runs=result.runs,
        measured=measured,
        work=f"{int(result.steps.max(axis=1).sum())} steps",
        settings=settings_of(agent.settings),
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
    from jekyllhyde.deep import training_files

    mdp = task.mdp(mdp_seed)
    settings = {"config": "recommended", "level": task.options.get("level", 1), **task.settings}
    with task.begin(runs * episodes) as bar:
        result = jh.deep.train(
            mdp,
            task.record.name,
            seeds=runs,
            episodes=episodes,
            config=jh.deep.configure(task.record.name, **settings),
            seed=task.seed,
            device=device,
            horizon=task.domain.cut(**task.options),
            progress=bar,
        )
    solved = result.solved()
    reached = result.episode[solved.argmax(1)][solved.any(1)]
    return Outcome(
        runs=runs,
        measured=[
            row("undiscounted score, ten episodes", result.score[:, -1]),
            row("undiscounted score, exact", result.exact_score[:, -1]),
            row("undiscounted score of the optimum", result.optimum),
            row("share of runs within 0.5 of it", solved[:, -1]),
            row("first there, episodes", reached),
            row("runs that diverged", result.diverged.sum()),
        ],
        work=f"{int(result.step[:, -1].sum())} steps, compilation included,",
        settings=settings_of(result.config),
        write=lambda folder: training_files.write(
            result, folder, task.domain.draw_map(**task.options)
        ),
        failures={},
        note=device_sentence(result.device, runs),
    )


def device_sentence(used: str, runs: int) -> str:
    """Which device ran, and which kind is the faster for so many runs, by what was measured once
    (benchmarks/deep_study.py).
    """
    cores = min(runs, os.cpu_count() or 1)
    gpu = np.interp(np.log(runs), np.log(list(GPU_RATES)), list(GPU_RATES.values()))
    ratio = gpu / (CORE_RATE * cores)
    faster = f"is about {ratio:.0f} times as fast as" if ratio > 1.5 else "is no faster than"
    return f"device: {used}; for {runs} runs an H200 GPU {faster} {cores} CPU cores"
