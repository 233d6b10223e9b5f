"""Exploration with networks, many seeds at once, for a GPU.

    sea        DeepSea of 10, 12, ... 50, random mapping; when bsuite's rule counts it as solved
    windy      the stochastic sea of 10 to 50, by bsuite's rule for it
    capacity   the stochastic sea of 50 with a larger replay
    large      DeepSea of 100
    rooms      Four Rooms, both levels
    control    MountainCar-v0, Acrobot-v1 and CartPole-v1, in JAX
    swing      bsuite's cart-pole swing-up at its middle height, in JAX
    door       MiniGrid's DoorKey of 5, 6 and 8, in JAX
    grids      MiniGrid's MultiRoom of two and of six rooms, and KeyCorridorS3R1, in JAX
    mazes      a point in a maze with bends, and with narrow doors, in JAX
    ablation   one part of `recommended` taken away or put back, on four tasks
    added      what is for numbers and views, put in one after another, on four tasks
    peers      bootstrapped DQN with random priors and Double DQN with random actions that last, 20
               settings each, on seeds of their own
    leader     who leads, and a smaller gamma, on eight tasks
    speed      1,000 seeds of DeepSea-20

    python benchmarks/deep_exploration.py --out DIR [--parts sea rooms ...]

Needs JAX, Equinox, Optax, SciPy and Gymnasium, and runs from a checkout. A call is a task, settings
by label and sizes; the calls of a part are compiled beside each other and run one after another,
and each writes a line per label into DIR/PART.jsonl: at which evaluations runs were first solved
(-1 where they were not), whether they stayed so, and what was seen by then. What is kept of these
is in results/deep_exploration.json, of which `deep_exploration_tables.py` makes the page's tables.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip
from scipy import sparse  # isort: skip

import classic_control  # isort: skip
import maze_task  # isort: skip
from jekyllhyde.deep import Batch, compiler, configure, make_case  # isort: skip
from jekyllhyde.lab import bsuite_score  # isort: skip
from jekyllhyde.mdp.deep_sea import action_mapping, deep_sea  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP  # isort: skip

SEED = 1612
SEEDS = 20
NEAR = {"rooms": 0.5, "sea": 0.02, "windy": 0.02}  # of the best score, where a run counts as solved
CONTROL = {"MountainCar-v0": -110.0, "Acrobot-v1": -90.0, "CartPole-v1": 475.0}
SWING = "jekyllhyde/CartPoleSwingUp-v0"
DOOR = {  # steps
    "MiniGrid-DoorKey-5x5-v0": 100_000,
    "MiniGrid-DoorKey-6x6-v0": 200_000,
    "MiniGrid-DoorKey-8x8-v0": 300_000,
}
GRIDS = {  # steps
    "MiniGrid-MultiRoom-N2-S4-v0": 60_000,
    "MiniGrid-MultiRoom-N4-S5-v0": 200_000,  # of six rooms, in spite of its name
    "MiniGrid-KeyCorridorS3R1-v0": 200_000,
}
REACHED = 0.94  # of greedy episodes, of which 19 in 20 are to succeed
MAZES = dict.fromkeys(maze_task.MAZES, 0.9)
SCORES = {
    **CONTROL,
    SWING: bsuite_score.GOOD,
    **dict.fromkeys([*DOOR, *GRIDS], REACHED),
    **MAZES,
}
STEPS = {"MountainCar-v0": 60_000, "Acrobot-v1": 100_000, "CartPole-v1": 50_000}
ABLATED = {"sea:20": (500, 20), "windy:10": (400, 20), "rooms:1": (200, 10)}  # and how long
ABLATED |= {"MountainCar-v0": (30_000, 2_000)}
TRIED = {
    "MountainCar-v0": (30_000, 2_000),
    "CartPole-v1": (30_000, 2_000),
    "bends": (24_000, 2_000),
    SWING: (90_000, 10_000),
}
LED = {  # how long, and how often it is evaluated
    "MiniGrid-DoorKey-5x5-v0": (60_000, 5_000),
    "MiniGrid-DoorKey-8x8-v0": (60_000, 5_000),
    "bends": (30_000, 2_000),
    "doors": (30_000, 2_000),
    "sea:20": (500, 20),
    "rooms:1": (200, 10),
    "MountainCar-v0": (30_000, 2_000),
    SWING: (100_000, 5_000),
}
WINDY: dict[str, Any] = {"stochastic": True, "mapping_seed": 0}  # as bsuite has it
PROBLEMS = {"rooms": "four_rooms", "windy": "deep_sea"}
SCHEDULED = {"leader": "scheduled", "epsilon_1": 40_000.0}
LEADERS: dict[str, dict[str, Any]] = {
    "practising": {"leader": "practising"},
    "curious": {"leader": "curious"},
    "curious, gamma of 0.95": {"leader": "curious", "gamma": 0.95},
    "bandit": {"leader": "bandit"},
}
CURIOUS: dict[str, Any] = {"leader": "curious"}
ADDED: dict[str, dict[str, Any]] = {
    "nothing": {**CURIOUS, "n_steps": 1, "tau_actor": 1.0},
    "the actor's mean plays": {**CURIOUS, "n_steps": 1},
    "and five steps": {**CURIOUS, "quiet": 1.0},
    "and beyond quiet ones alone": CURIOUS,
    "and practising, the default": {},
    "all but the actor's mean": {"tau_actor": 1.0},
}
ABLATION: dict[str, dict[str, Any]] = {
    "nothing": {},
    "uniform replay": {"prioritized": False},
    "Hyde leads by a schedule": SCHEDULED,
    "Hyde leads always": {"leader": "hyde_only"},
    "Hyde no optimist": {"explorer": "hyde", "hyde_terminates": True, **SCHEDULED},
    "Hyde of 0.3": {
        "explorer": "hyde",
        "hyde_terminates": True,
        "hyde_noise": 0.5,
        "noise": "single",
        "bonus": "rnd(eta=0.0001, normalize=True)",
        **SCHEDULED,
    },
    "nothing unknown": {"bonus": "counts(decay=1e9)"},
    "target networks of 0.01": {"tau": 0.01, "tau_hyde": 0.01},
    "Adam's epsilon of 1e-4": {"adam_eps": 1e-4},
    "one critic": {"critics": 1},
    "random embedding": {"one_hot": False},
    "the paper's actor rule": {"actor_rule": "paper"},
}
PEERS: dict[str, dict[str, dict[str, Any]]] = {
    "bootstrapped_dqn": {
        f"prior {scale}, eta {eta}, tau {tau}": {"prior_scale": scale, "eta_c": eta, "tau": tau}
        for scale in (1.0, 3.0, 10.0, 30.0, 100.0)
        for eta in (3e-4, 1e-3)
        for tau in (0.01, 0.05)
    },
    "ddqn": {
        f"mu {mu}, epsilon_1 {scale}, tau {tau}": {
            "noise": f"persistent(mu={mu})",
            "epsilon_1": scale,
            "tau": tau,
        }
        for mu in (1.25, 1.5, 2.0, 2.5, 3.0)
        for scale in (10.0, 100.0)
        for tau in (0.01, 0.05)
    },
}
PEER_TASKS = {  # how long, and how often it is evaluated
    "sea:10": (1_000, 20),
    "sea:20": (2_000, 20),
    "rooms:1": (300, 10),
    "MountainCar-v0": (60_000, 2_000),
}


@dataclass(frozen=True)
class Call:
    """A task ("sea:50", "windy:20", "rooms:1", "MountainCar-v0"), and how to run it: `budget` is
    in episodes, of control in steps.
    """

    task: str
    settings: dict[str, dict[str, Any]] = field(default_factory=lambda: {"recommended": {}})
    seeds: int = SEEDS
    budget: int = 0
    every: int = 10
    seed: int = SEED
    config: str = "recommended"
    agent: str = "jekyll_hyde"

    def prepare(self) -> Callable[[], tuple[list[dict[str, Any]], float]]:
        """Compile; the function that is returned runs, and has a record per label and the seconds
        that it took.
        """
        kind, _, size = self.task.partition(":")
        return self._control() if kind in SCORES else self._model(kind, int(size))

    def _model(self, kind: str, size: int) -> Callable[[], tuple[list[dict[str, Any]], float]]:
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
        programs = batch.compile()

        def run() -> tuple[list[dict[str, Any]], float]:
            start = perf_counter()
            results = batch.run(programs)
            spent = perf_counter() - start
            return [_record_of(result, kind) for result in results], spent

        return run

    def _control(self) -> Callable[[], tuple[list[dict[str, Any]], float]]:
        space = classic_control.TASKS[self.task].space
        configs = [
            configure(self.agent, self.config, space=space, **each)
            for each in self.settings.values()
        ]
        leaves = jax.tree.map(
            lambda *values: jnp.repeat(jnp.asarray(values, jnp.float32), self.seeds), *configs
        )
        root = jax.random.key(self.seed)
        keys = jnp.stack([jax.random.fold_in(root, i) for i in range(self.seeds)] * len(configs))
        n_evaluations = self.budget // self.every
        compiled = classic_control.train.lower(
            keys, leaves, self.task, self.agent, self.every, n_evaluations
        ).compile(compiler.in_place())

        def run() -> tuple[list[dict[str, Any]], float]:
            start = perf_counter()
            scores, hyde = map(np.asarray, compiled(keys, leaves))
            spent = perf_counter() - start
            steps = self.every * np.arange(1, n_evaluations + 1)
            parts = np.split(np.arange(len(keys)), len(configs))
            return [
                _solved(scores[i, :, 0] >= SCORES[self.task], steps)
                | {
                    "scores": np.round(scores[i, :, 0].astype(float), 2).tolist(),
                    "drawn": np.round(scores[i, :, 1].astype(float), 2).tolist(),
                    "hyde": round(float(hyde[i].mean()), 3),
                    "steps": len(i) * self.budget,
                }
                for i in parts
            ], spent

        return run


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


def _solved(solved: Any, at: Any) -> dict[str, Any]:
    first = np.where(solved.any(1), at[solved.argmax(1)], -1)
    later = [row[row.argmax() :].mean() if row.any() else 0.0 for row in solved]
    return {
        "first": sorted(first.tolist()),
        "end": int(solved[:, -1].sum()),
        "kept": round(float(np.mean(later)), 3),
    }


def _scored(bad: Any, episode: Any, rule: str) -> list[int]:
    solved = bsuite_score.first_below(bad, episode, bsuite_score.RULES[rule])
    return sorted(np.where(np.isfinite(solved), solved, -1).astype(int).tolist())


def _record_of(result: Any, kind: str) -> dict[str, Any]:
    arrivals, episode = result.arrivals, result.episode
    record = _solved(result.solved(NEAR[kind]), episode) | {
        "steps": int(result.step[:, -1].sum()),
        "hyde": round(float(arrivals[:, -1, 1].sum() / arrivals[:, -1].sum()), 3),
        "diverged": int(result.diverged.sum()),
    }
    if kind == "windy":
        bad = bsuite_score.bad_dives(result.taken, action_mapping(int(result.horizon), 0))
        record["bsuite"] = _scored(bad, episode, "stochastic")
    if kind == "sea":
        good = arrivals[..., -1].sum(2)
        seen = (arrivals.sum(2)[..., :-2] > 0).sum(2).mean(0)
        reachable = (int(result.horizon) * (int(result.horizon) + 1)) // 2
        record |= {
            "found": _solved(good > 0, episode)["first"],
            "bsuite": _scored(episode - good, episode, "deterministic"),
            "coverage": np.round(seen[:: max(1, len(seen) // 8)] / reachable, 2).tolist(),
        }
    return record


def calls() -> dict[str, list[Call]]:
    """What each part runs."""
    sizes = range(10, 51, 2)
    return {
        "sea": [Call(f"sea:{n}", budget=24 * n + 300, every=20) for n in sizes],
        "windy": [Call(f"windy:{n}", budget=80 * n, every=20) for n in (10, 20, 30, 40, 50)],
        "capacity": [Call("windy:50", {"replay of 200,000": {"capacity": 200_000}}, 20, 4_000, 20)],
        "large": [Call("sea:100", budget=4_000, every=100)],
        "rooms": [Call(f"rooms:{level}", budget=300) for level in (1, 2)],
        "control": [Call(task, budget=STEPS[task], every=2_000) for task in CONTROL],
        "swing": [Call(SWING, budget=300_000, every=10_000)],
        "door": [Call(task, budget=budget, every=10_000) for task, budget in DOOR.items()],
        "grids": [
            Call(task, seeds=8, budget=budget, every=10_000) for task, budget in GRIDS.items()
        ],
        "mazes": [
            Call("bends", budget=30_000, every=2_000),
            Call("doors", budget=60_000, every=2_000),
        ],
        "added": [
            Call(task, {name: changes}, 12, budget, every, SEED + 5)
            for task, (budget, every) in TRIED.items()
            for name, changes in ADDED.items()
        ],
        "ablation": [
            Call(task, {name: changes}, 32, budget, every)
            for task, (budget, every) in ABLATED.items()
            for name, changes in ABLATION.items()
        ],
        "peers": [
            Call(task, settings, 5, budget, every, SEED + 1, agent=agent)
            for agent, settings in PEERS.items()
            for task, (budget, every) in PEER_TASKS.items()
        ],
        "leader": [
            Call(task, {name: changes}, 8, budget, every)
            for task, (budget, every) in LED.items()
            for name, changes in LEADERS.items()
        ],
        "speed": [Call("sea:20", seeds=1_000, budget=100, every=50)],
    }


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--parts", nargs="*", default=[])
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for part in arguments.parts:
        group = calls()[part]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            prepared = pool.map(Call.prepare, group)
            for call, run in zip(group, prepared, strict=True):
                for line in _lines(call, *run()):
                    with (arguments.out / f"{part}.jsonl").open("a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(part, line["task"], line["label"], line["end"], line["first"], flush=True)


def _lines(call: Call, records: list[dict[str, Any]], spent: float) -> list[dict[str, Any]]:
    about = {
        "task": call.task,
        "agent": call.agent,
        "config": call.config,
        "seeds": call.seeds,
        "budget": call.budget,
    }
    return [
        {"label": label, **about, **record, "seconds": round(spent, 1)}
        for label, record in zip(call.settings, records, strict=True)
    ]


if __name__ == "__main__":
    main()
