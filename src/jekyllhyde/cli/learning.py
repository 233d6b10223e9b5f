"""The three ways in which `jh train` learns; their keywords are flags."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete

import jekyllhyde as jh
from jekyllhyde import intervals
from jekyllhyde.agent import AGENTS, AgentRecord
from jekyllhyde.cli.console import settings_of
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError, check_count
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.mdp.gym_import import make_environment
from jekyllhyde.options import options_of
from jekyllhyde.progress_bar import progress_bar
from jekyllhyde.tabular import train_files

LAST = 100  # episodes whose mean return is shown
CORE_RATE = 1000.0  # steps per second of J&H on one core, and on an H200 by number of runs
GPU_RATES = {1: 4_100.0, 10: 37_000.0, 100: 192_000.0, 1000: 367_000.0}


class Task(NamedTuple):
    """What is learned: the problem with its options, and by whom, with hers; in which way, and a
    sentence that is said when all is checked.

    `mdp` is the model; of a random domain, the one with the given seed. `begin` says the sentence
    and gives a bar for the work that follows.
    """

    domain: jh.Domain
    record: AgentRecord
    way: Callable[..., Any]
    sentence: str
    options: dict[str, Any]
    settings: dict[str, Any]
    seed: int

    def mdp(self, seed: int) -> FiniteMDP:
        return self.domain(**self.options, **({"seed": seed} if self.domain.random else {}))

    def begin(self, total: int) -> AbstractContextManager[Callable[[float], None]]:
        print(self.sentence, end="")
        return progress_bar(total, self.domain.name)


class Outcome(NamedTuple):
    """What came of it: rows of the table, what is said below it, and how it is written."""

    runs: int
    measured: list[dict[str, Any]]
    work: str
    settings: dict[str, Any]
    write: Callable[[Path], list[str]]
    failures: dict[int, str]
    note: str = ""


def choose_way(record: AgentRecord, domain: jh.Domain) -> Callable[..., Outcome]:
    """Known models are learned as such, by the agents that can."""
    if domain.foreign or not (record.tabular or record.name in AGENTS):
        return learn_step_by_step
    return learn_on_model if record.tabular else train_in_one_call


def has_finite_spaces(domain: jh.Domain) -> bool:
    """Whether observations and actions are Discrete."""
    if not domain.foreign:
        return True
    with closing(make_environment(domain.name)) as env:
        return isinstance(env.observation_space, Discrete) and isinstance(
            env.action_space, Discrete
        )


def make_agent(record: AgentRecord, env: Any, seed: int, chosen: dict[str, Any]) -> Any:
    """The agent with the options that were chosen; the discount of a model is the agent's too."""
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    discount = {"gamma": mdp.gamma} if mdp and "gamma" in options_of(record.cls) else {}
    return record.cls(env, seed=seed, **{**discount, **record.fixed, **chosen})


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


def learn_step_by_step(
    task: Task, steps: int = 100_000, runs: int = 10, mdp_seed: int = 0
) -> Outcome:
    """One agent per run, step by step on the environment.

    steps : environment steps per run.
    runs : independent runs.
    mdp_seed : which random MDP.
    """
    domain, mdp = task.domain, None if task.domain.foreign else task.mdp(mdp_seed)
    cut = domain.cut(**task.options)

    def learner(run: int) -> Any:
        env = make_environment(domain.name) if mdp is None else TabularEnv(mdp, cut)
        # from (seed, run), so that runs of different seeds do not share it
        sequence = np.random.SeedSequence((check_count(task.seed, "seed", 0), run))
        return make_agent(task.record, env, int(sequence.generate_state(1)[0]), task.settings)

    agent, episodes, J = learner(0), [], []
    settings, model = settings_of(agent.settings), mdp
    if mdp is None:
        with suppress(InputError):  # without a model there is no exact value
            model = domain(gamma=settings.get("gamma", 0.99))
    with task.begin(runs * steps) as bar:
        for run in range(runs):
            agent = learner(run) if run else agent
            agent.learn(steps)
            bar(steps)
            episodes.append(agent.episodes)
            J += [] if model is None else [model.evaluate(_greedy(agent, model.n_states)).J]
    last = [np.mean(ended.returns[-LAST:]) if len(ended) else np.nan for ended in episodes]
    measured = [row(f"undiscounted return, last {LAST} episodes", last)]
    if model is not None:
        measured += [
            row("discounted J of the greedy policy", J),
            row("discounted J of the optimum", model.J_star),
        ]
    return Outcome(
        runs=runs,
        measured=measured,
        work=f"{runs * steps} steps",
        settings=settings,
        write=lambda folder: train_files.write_episodes(episodes, folder),
        failures={},
    )


def _greedy(agent: Any, n_states: int) -> Floats:
    # with a row for the terminal state that the imported model may have added
    states, actions = agent.env.observation_space, agent.env.action_space
    chosen = [int(agent.predict(int(states.start) + s) - actions.start) for s in range(states.n)]
    return np.eye(int(actions.n))[chosen + [0] * (n_states - len(chosen))]


def row(quantity: str, values: Any) -> dict[str, Any]:
    """A line of the table: a number; the share of flags, with its exact interval; or the mean of
    runs with its bootstrap interval, which one run alone has not.
    """
    samples = np.asarray(values)
    is_flags = samples.dtype == bool
    numbers: tuple[Any, ...] = (samples.mean(),) if samples.size else ()
    if samples.size > 1:
        numbers = intervals.share(samples) if is_flags else intervals.summarize(samples, "mean")
    mean, lo, hi = [*map(float, numbers), None, None, None][:3]
    median = float(np.median(samples)) if samples.size and samples.ndim and not is_flags else None
    return {"quantity": quantity, "mean": mean, "lo": lo, "hi": hi, "median": median}


def device_sentence(used: str, runs: int) -> str:
    """Which device ran, and which kind is the faster for so many runs, by what was measured once
    (benchmarks/deep_study.py).
    """
    cores = min(runs, os.cpu_count() or 1)
    gpu = np.interp(np.log(runs), np.log(list(GPU_RATES)), list(GPU_RATES.values()))
    ratio = gpu / (CORE_RATE * cores)
    faster = f"is about {ratio:.0f} times as fast as" if ratio > 1.5 else "is no faster than"
    return f"device: {used}; for {runs} runs an H200 GPU {faster} {cores} CPU cores"
