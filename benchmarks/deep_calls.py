"""A task for an agent, with several settings of it and many seeds of each, trained as one batch and
scored along the way; `deep_exploration.py` says which.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip
from scipy import sparse  # isort: skip

import classic_control  # isort: skip
import maze_task  # isort: skip
import mini_grid  # isort: skip
from jekyllhyde.deep import Batch, compiler, configure, make_case  # isort: skip
from jekyllhyde.lab import bsuite_score  # isort: skip
from jekyllhyde.mdp.deep_sea import action_mapping, deep_sea  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP  # isort: skip

SEED = 9041  # which served for nothing else
SEEDS = 20
NEAR = {"rooms": 0.5, "sea": 0.02, "windy": 0.02}  # of the best score, where a run counts as solved
CONTROL = {"MountainCar-v0": -110.0, "Acrobot-v1": -90.0, "CartPole-v1": 475.0}
SWING = "jekyllhyde/CartPoleSwingUp-v0"
AFTER = 400
REACHED = 0.945  # of a hundred episodes, 95 succeed
SCORES = {
    **CONTROL,
    SWING: bsuite_score.GOOD,
    **dict.fromkeys(mini_grid.LIMITS, REACHED),
    **dict.fromkeys(maze_task.MAZES, 0.9),
}
WINDY: dict[str, Any] = {"stochastic": True, "mapping_seed": 0}  # as bsuite has it
PROBLEMS = {"rooms": "four_rooms", "windy": "deep_sea"}
RULES = {"sea": "deterministic", "windy": "stochastic"}
Record = dict[str, Any]
Run = Callable[[float], list[Record]]


@dataclass(frozen=True)
class Call:
    """A task ("sea:50", "windy:20", "rooms:1", "MountainCar-v0"), and how to run it: `budget` is
    in episodes, of `SCORES` in steps; `first` is the number of the first run.
    """

    task: str
    settings: dict[str, dict[str, Any]] = field(default_factory=lambda: {"recommended": {}})
    seeds: int = SEEDS
    budget: int = 0
    every: int = 10
    seed: int = SEED
    first: int = 0
    config: str = "recommended"
    agent: str = "jekyll_hyde"

    def prepare(self) -> Run:
        """Compile; the function that is returned runs, no longer than until a time of
        `perf_counter`, and has a record per label. A stochastic sea is left once all runs have
        counted for `AFTER` dives.
        """
        kind, _, size = self.task.partition(":")
        return self._control() if kind in SCORES else self._model(kind, int(size))

    def _model(self, kind: str, size: int) -> Run:
        problem: Any = sea(size) if kind == "sea" else PROBLEMS[kind]
        options: dict[str, Any] = {
            "rooms": {"level": size},
            "sea": {"horizon": size},
            "windy": {"n": size, **WINDY},
        }[kind]
        cases = [
            make_case(problem, self.agent, self.config, each, **options)
            for each in self.settings.values()
        ]
        batch = Batch(
            self.agent,
            cases,
            seeds=self.seeds,
            episodes=self.budget,
            every=self.every,
            seed=self.seed,
        )
        programs, inputs = batch.compile(), batch.inputs
        on_cpu = jax.default_backend() == "cpu"
        groups = [slice(i, i + 1) for i in range(len(inputs.keys))] if on_cpu else [slice(None)]

        def train(until: float, runs: slice) -> tuple[int, Any]:
            models, _, configs = own = jax.tree.map(lambda leaf: leaf[runs], inputs)
            carry = programs.start(*own)
            for n in range(1, batch.n_evaluations + 1):
                carry = programs.run(models, carry, configs, jnp.int32(n * self.every))
                if perf_counter() > until or self._is_over(kind, size, carry.records, n):
                    break
            # what was left sooner than others stays as it was
            last = jax.tree.map(lambda leaf: leaf.at[:, n:].set(leaf[:, n - 1 : n]), carry.records)
            return n, last

        def run(until: float) -> list[Record]:
            start = perf_counter()
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                n_done, parts = zip(*pool.map(partial(train, until), groups), strict=True)
            n = max(n_done)
            records = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
            exact = np.asarray(programs.score(inputs.models, records.pi, inputs.keys)[0])
            spent, at = perf_counter() - start, self.every * np.arange(1, n + 1)
            described = []
            for i, optimum in enumerate(batch.optimum):
                of = slice(i * self.seeds, (i + 1) * self.seeds)
                own = jax.tree.map(lambda leaf, of=of: leaf[of, :n], records)
                described.append(
                    {"budget": int(at[-1])}
                    | _solved(exact[of, :n] >= optimum - NEAR[kind], at)
                    | self._seen(kind, size, own, n)
                )
            return self._described(described, spent)

        return run

    def _is_over(self, kind: str, size: int, records: Any, n: int) -> bool:
        at = self._counted(kind, size, records, n) if kind == "windy" else [-1]
        return at[0] >= 0 and at[-1] + AFTER <= n * self.every

    def _counted(self, kind: str, size: int, records: Any, n: int) -> list[int]:
        # the episodes by which bsuite's rule counts runs, in order, -1 where it does not yet
        episode = self.every * np.arange(1, n + 1)
        if kind == "sea":
            bad = episode - np.asarray(records.arrivals)[:, :n, :, -1].sum(2)
        else:
            bad = bsuite_score.bad_dives(np.asarray(records.taken)[:, :n], action_mapping(size, 0))
        at = bsuite_score.first_below(bad, episode, bsuite_score.RULES[RULES[kind]])
        return sorted(np.where(np.isfinite(at), at, -1).astype(int).tolist())

    def _seen(self, kind: str, size: int, records: Any, n: int) -> Record:
        arrivals = records.arrivals
        values = records.pi, records.q
        diverged = ~np.all([np.isfinite(each).all((1, 2, 3)) for each in values], 0)
        record: Record = {
            "steps": int(records.step.max(1).sum()),
            "hyde": round(float(arrivals[:, -1, 1].sum() / max(1, arrivals[:, -1].sum())), 3),
            "diverged": int(diverged.sum()),
        }
        if kind in RULES:
            record["bsuite"] = self._counted(kind, size, records, n)
        if kind == "sea":
            seen = (arrivals.sum(2)[..., :-2] > 0).sum(2).mean(0)
            found = arrivals[..., -1].sum(2) > 0
            record |= {
                "found": _solved(found, self.every * np.arange(1, n + 1))["first"],
                "coverage": np.round(
                    seen[:: max(1, len(seen) // 8)] / (size * (size + 1) // 2), 2
                ).tolist(),
            }
        return record

    def _control(self) -> Run:
        space = classic_control.TASKS[self.task].space
        configs = [
            configure(self.agent, self.config, space=space, **each)
            for each in self.settings.values()
        ]
        leaves = jax.tree.map(
            lambda *values: jnp.repeat(jnp.asarray(values, jnp.float32), self.seeds), *configs
        )
        root = jax.random.key(self.seed)
        runs = range(self.first, self.first + self.seeds)
        keys = jnp.stack([jax.random.fold_in(root, i) for i in runs] * len(configs))
        begin = partial(classic_control.begin, name=self.task, algorithm=self.agent)
        shapes = jax.eval_shape(begin, keys, leaves)
        go_on = classic_control.go_on.lower(
            shapes, leaves, self.task, self.agent, self.every
        ).compile(compiler.in_place())

        def run(until: float) -> list[Record]:
            start, carry = perf_counter(), begin(keys, leaves)
            scores, hyde, ends = [], [], []
            for _ in range(self.budget // self.every):
                carry, *seen = go_on(carry, leaves)
                scores.append(np.asarray(seen[0]))
                hyde.append(np.asarray(seen[1]))
                ends.append(np.asarray(seen[2]))
                if perf_counter() > until:
                    break
            spent = perf_counter() - start
            runs = np.split(np.arange(len(keys)), len(configs))
            evaluations = [np.stack(each, 1) for each in (scores, hyde, ends)]
            records = [self._scored(*(each[of] for each in evaluations)) for of in runs]
            return self._described(records, spent)

        return run

    def _scored(self, scores: Any, hyde: Any, ends: Any) -> Record:
        at = self.every * np.arange(1, scores.shape[1] + 1)
        played = int(
            self.task in mini_grid.LIMITS
        )  # agents draw their actions where codes are seen
        return _solved(scores[..., played] >= SCORES[self.task], at) | {
            "scores": np.round(scores[..., 0].astype(float), 2).tolist(),
            "drawn": np.round(scores[..., 1].astype(float), 2).tolist(),
            "hyde": round(float(hyde.mean()), 3),
            "met": _solved(np.cumsum(ends, 1) > 0, at)["first"],  # ends before time, by Hyde
            "steps": len(scores) * int(at[-1]),
            "budget": int(at[-1]),
        }

    def _described(self, records: list[Record], spent: float) -> list[Record]:
        about = {
            "task": self.task,
            "agent": self.agent,
            "config": self.config,
            "seeds": self.seeds,
            "budget": self.budget,
            "seed": self.seed,
            "first_run": self.first,
        }
        return [
            {"label": label, **about, **record, "seconds": round(spent, 1)}
            for label, record in zip(self.settings, records, strict=True)
        ]


def sea(n: int) -> FiniteMDP:
    """DeepSea with an end of its own for the treasure, whose arrivals tell the good episodes."""
    plain = deep_sea(n)
    size, r = plain.n_states, plain.r_next
    P = plain.P.tocoo()
    successor = np.where(r > 0.5, size, P.col)
    shape = (2 * (size + 1), size + 1)
    tables = [sparse.csr_array((data, (P.row, successor)), shape=shape) for data in (P.data, r)]
    terminal = [*np.flatnonzero(plain.is_terminal), size]
    return FiniteMDP(*tables, gamma=plain.gamma, terminal=terminal, J_low=0.0, name=plain.name)


def _solved(solved: Any, at: Any) -> Record:
    first = np.where(solved.any(1), at[solved.argmax(1)], -1)
    later = [row[row.argmax() :].mean() if row.any() else 0.0 for row in solved]
    return {
        "first": sorted(first.tolist()),
        "end": int(solved[:, -1].sum()),
        "kept": round(float(np.mean(later)), 3),
    }
