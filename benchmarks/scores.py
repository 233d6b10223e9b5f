"""Scores with defaults on three tasks, beside Stable-Baselines3: `python benchmarks/scores.py`.

Every run has its budget of steps and is evaluated every 5,000 of them, ten greedy episodes; at its
end the last policy and the best one of these are played for 100 episodes of other seeds. A run is
kept as it ends, a line in results/scores.jsonl, so that this can be stopped and go on; `--table`
writes the table of what there is. Stable-Baselines3 needs the extra `peers`; its two algorithms
have their own defaults, and the settings that RL Baselines3 Zoo publishes for each task (whose
budgets are larger for PPO and for MountainCar).
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from common import RESULTS, kept_rows, machine, make_missing, pin_to_one_core, table, write

import gymnasium as gym  # isort: skip
import numpy as np  # isort: skip

from jekyllhyde import intervals  # isort: skip

STORE = RESULTS / "scores.jsonl"
EVERY, EPISODES, FINAL = 5_000, 10, 100
WHILE, AFTER = 10_000, 20_000  # seeds of the episodes of evaluations, while learning and after it
WIDE = {"net_arch": [256, 256]}


class Task(NamedTuple):
    """Steps to learn from, the return that counts as solved, and the zoo's settings."""

    steps: int
    solved: float
    dqn: dict[str, Any]
    ppo: dict[str, Any]


def linear(start: float) -> Callable[[float], float]:
    return lambda left: start * left


TASKS = {
    "CartPole-v1": Task(
        50_000,
        475.0,
        {"learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "gamma": 0.99}
        | {"learning_starts": 1000, "target_update_interval": 10, "train_freq": 256}
        | {"gradient_steps": 128, "exploration_fraction": 0.16, "exploration_final_eps": 0.04}
        | {"policy_kwargs": WIDE},
        {"n_envs": 8, "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98}
        | {"n_epochs": 20, "learning_rate": linear(1e-3), "clip_range": linear(0.2)},
    ),
    "Acrobot-v1": Task(
        50_000,
        -100.0,
        {"learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "gamma": 0.99}
        | {"learning_starts": 0, "target_update_interval": 250, "train_freq": 4}
        | {"gradient_steps": -1, "exploration_fraction": 0.12, "exploration_final_eps": 0.1}
        | {"policy_kwargs": WIDE},
        {"n_envs": 16, "normalize": True, "n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4},
    ),
    "MountainCar-v0": Task(
        30_000,
        -130.0,
        {"learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "gamma": 0.98}
        | {"learning_starts": 1000, "target_update_interval": 600, "train_freq": 16}
        | {"gradient_steps": 8, "exploration_fraction": 0.2, "exploration_final_eps": 0.07}
        | {"policy_kwargs": WIDE},
        {"n_envs": 16, "normalize": True, "n_steps": 16, "gae_lambda": 0.98, "n_epochs": 4},
    ),
}
Policy = Callable[[np.ndarray], np.ndarray]  # actions of a batch of observations


def returns(task: str, policy: Policy, episodes: int, seed: int) -> np.ndarray:
    """Of so many greedy episodes, played beside each other."""
    env = gym.make_vec(task, episodes, vectorization_mode="sync")
    observations, _ = env.reset(seed=seed)
    totals, is_over = np.zeros(episodes), np.zeros(episodes, bool)
    while not is_over.all():
        observations, rewards, terminated, truncated, _ = env.step(policy(observations))
        totals += np.where(is_over, 0.0, rewards)
        is_over |= terminated | truncated
    env.close()
    return totals


class Curve:
    """The evaluations of a run, and which was the best."""

    def __init__(self, task: str) -> None:
        self.task, self.means, self.is_best = task, [], False

    def add(self, policy: Policy) -> None:
        """Evaluate a policy."""
        mean = float(returns(self.task, policy, EPISODES, WHILE).mean())
        self.is_best = mean >= max(self.means, default=-np.inf)
        self.means.append(mean)


Run = Iterator[tuple[str, Policy]]  # policies at the end, by their name


def ours(name: str) -> Callable[[str, int, Curve, Path], Run]:
    """One of our agents with its defaults."""

    def run(task: str, seed: int, curve: Curve, folder: Path) -> Run:
        from jekyllhyde.agent import find_agent

        record = find_agent(name)
        agent = record.cls(task, seed=seed, **record.fixed)
        for _ in range(TASKS[task].steps // EVERY):
            agent.learn(EVERY)
            curve.add(agent.predict)
            if curve.is_best:
                agent.save(folder / "best")
        yield "last", agent.predict
        yield "best", record.cls.load(folder / "best").predict

    return run


def theirs(name: str, zoo: bool) -> Callable[[str, int, Curve, Path], Run]:
    """One of Stable-Baselines3's, with its own defaults or the zoo's."""

    def run(task: str, seed: int, curve: Curve, folder: Path) -> Run:
        import stable_baselines3 as sb3
        import torch
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import VecNormalize

        torch.set_num_threads(1)
        chosen = dict(getattr(TASKS[task], name.lower())) if zoo else {}
        env = make_vec_env(task, chosen.pop("n_envs", 1), seed=seed)
        if chosen.pop("normalize", False):
            env = VecNormalize(env, gamma=chosen.get("gamma", 0.99))
        model = getattr(sb3, name)("MlpPolicy", env, seed=seed, device="cpu", **chosen)

        def policy_of(model: Any, env: Any) -> Policy:
            scaled = env.normalize_obs if isinstance(env, VecNormalize) else lambda x: x
            return lambda x: model.predict(scaled(x), deterministic=True)[0]

        class Evaluate(sb3.common.callbacks.BaseCallback):
            due = EVERY

            def _on_step(self) -> bool:
                if self.num_timesteps >= self.due:
                    self.due += EVERY
                    curve.add(policy_of(model, env))
                    if curve.is_best:
                        model.save(folder / "best")
                        if isinstance(env, VecNormalize):
                            env.save(str(folder / "scales"))
                return True

        model.learn(TASKS[task].steps, callback=Evaluate())
        yield "last", policy_of(model, env)
        scales = folder / "scales"
        kept = VecNormalize.load(str(scales), make_vec_env(task)) if scales.exists() else None
        yield "best", policy_of(getattr(sb3, name).load(folder / "best", device="cpu"), kept)

    return run


METHODS = {
    "jekyll-hyde": ours("jekyll_hyde"),
    "ddqn": ours("ddqn"),
    "SB3 DQN": theirs("DQN", zoo=False),
    "SB3 PPO": theirs("PPO", zoo=False),
    "SB3 DQN, zoo": theirs("DQN", zoo=True),
    "SB3 PPO, zoo": theirs("PPO", zoo=True),
}


def settings(method: str) -> str:
    """A digest of our agent's defaults: runs with others are not shown."""
    if method.startswith("SB3"):
        return ""
    from jekyllhyde.agent import find_agent

    return hashlib.sha256(repr(find_agent(method).cls().settings).encode()).hexdigest()[:8]


def make(task: str, method: str, seed: int, **others: Any) -> dict[str, Any]:
    curve, start = Curve(task), perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        played = {
            name: float(returns(task, policy, FINAL, AFTER).mean())
            for name, policy in METHODS[method](task, seed, curve, Path(folder))
        }
    took = {"seconds": round(perf_counter() - start, 1)}
    return {"steps": TASKS[task].steps, **played, "evaluations": curve.means, **took}


def show(path: Path) -> None:
    rows, data = [], kept_rows(path)
    for task, (steps, solved, *_) in TASKS.items():
        for method in METHODS:
            key = (task, method, settings(method))
            runs = [row for row in data if (row["task"], row["method"], row["settings"]) == key]
            if runs:
                cells = [f"{task}, {steps:,} steps", method, len(runs)]
                for name in ("last", "best"):
                    values = np.array([row[name] for row in runs])
                    mean, lo, hi = intervals.summarize(values, "mean")
                    count = int((values >= solved).sum())
                    cells += [f"{mean:.1f} [{lo:.1f}, {hi:.1f}]", f"{count} of {len(runs)}"]
                rows.append(cells)
    columns = ("task", "method", "seeds", "last policy", "solved", "best policy", "solved")
    text = table(columns, rows)
    solved = ", ".join(f"{task} {record.solved:g}" for task, record in TASKS.items())
    write(
        "scores",
        {"machine": machine(), "runs": data},
        f"Means of {FINAL} greedy episodes over seeds, with 95 % bootstrap intervals; solved from "
        f"{solved} on.\n\n{text}",
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        show(given.store)
        return
    pin_to_one_core()
    seeds = range(given.first, given.first + given.seeds)
    keys = (
        {"task": task, "method": method, "seed": seed, "settings": settings(method)}
        for seed, task, method in product(seeds, given.tasks, given.methods)
    )
    make_missing(given.store, keys, make)


if __name__ == "__main__":
    main()
