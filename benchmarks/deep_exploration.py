"""Exploration with networks, many seeds at once, for a GPU.

    sea        DeepSea of 10, 12, ... 50, random mapping; when bsuite's rule counts it as solved
    windy      the stochastic sea of the same sizes, by bsuite's rule for it
    large      DeepSea of 100
    rooms      Four Rooms, both levels
    control    MountainCar-v0, Acrobot-v1 and CartPole-v1, in JAX
    swing      bsuite's cart-pole swing-up at its middle height, in JAX
    door       MiniGrid's DoorKey of 5, 6 and 8, in JAX
    grids      MiniGrid's MultiRoom of two and of six rooms, and KeyCorridorS3R1, in JAX
    mazes      a point in a maze with bends, and with narrow doors, in JAX
    ablation   one part of `recommended` taken away or put back, on six tasks
    peers      bootstrapped DQN with random priors and Double DQN with random actions that last, 20
               settings each, on seeds of their own
    speed      1,000 seeds of DeepSea-20

    python benchmarks/deep_exploration.py --out DIR [--parts sea rooms ...] [--seconds 600]

Needs JAX, Equinox, Optax, SciPy, Gymnasium and msgspec, and runs from a checkout. A call
(`deep_calls.py`) is a task, settings by label and sizes; the calls of a part are compiled beside
each other and run one after another, and each writes a line per label into DIR/PART.jsonl: at
which evaluations runs were first solved (-1 where they were not), whether they stayed so, and what
was seen by then. What is kept of these is in results/deep_exploration.json, of which
`deep_exploration_tables.py` makes the page's tables.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# kernels that do not wait for each other run beside each other: 1.6 times the steps on an H200
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_command_buffer_scheduling_mode=CONCURRENT")

from deep_calls import CONTROL, SWING, Call

DOOR = {  # steps
    "MiniGrid-DoorKey-8x8-v0": 300_000,
    "MiniGrid-DoorKey-5x5-v0": 60_000,
    "MiniGrid-DoorKey-6x6-v0": 60_000,
}
GRIDS = {  # steps, and runs
    "MiniGrid-MultiRoom-N2-S4-v0": (60_000, 20),
    "MiniGrid-KeyCorridorS3R1-v0": (100_000, 8),
    "MiniGrid-MultiRoom-N4-S5-v0": (200_000, 8),  # of six rooms, in spite of its name
}
STEPS = {"MountainCar-v0": 60_000, "Acrobot-v1": 100_000, "CartPole-v1": 50_000}
ABLATED = {"sea:20": (500, 20), "windy:10": (400, 20), "rooms:1": (200, 10)}  # and how long
ABLATED |= {"MountainCar-v0": (20_000, 2_000), "bends": (20_000, 2_000)}
SCHEDULED = {"leader": "scheduled", "epsilon_1": 40_000.0}
ABLATION: list[dict[str, dict[str, Any]]] = [  # those that differ in numbers are one call
    {
        "nothing": {},
        "bonus of 1 over the root of n": {"bonus": "counts(power=0.5)"},
        "nothing unknown": {"bonus": "counts(decay=1e9)"},
        "several steps beyond rewards": {"quiet": 1.0},
        "the smallest critic": {"pessimism": 1.0},
        "first values of any size": {"first_values": 1.0},
        "target networks of 0.01": {"tau": 0.01, "tau_hyde": 0.01},
        "Adam's epsilon of 1e-4": {"adam_eps": 1e-4},
    },
    {"uniform replay": {"prioritized": False}},
    {"Hyde leads while he is curious": {"leader": "curious"}},
    {"Hyde leads by a schedule": SCHEDULED},
    {"Hyde leads always": {"leader": "hyde_only"}},
    {"Hyde no optimist": {"explorer": "hyde", "hyde_terminates": True, **SCHEDULED}},
    {
        "Hyde of 0.3": {
            "explorer": "hyde",
            "hyde_terminates": True,
            "hyde_noise": 0.5,
            "noise": "single",
            "bonus": "rnd(eta=0.0001, normalize=True)",
            **SCHEDULED,
        }
    },
    {"single steps": {"n_steps": 1}},
    {"five steps": {"n_steps": 5}},
    {"all ends alike": {"weigh_ends": False}},
    {"the actor itself plays": {"tau_actor": 1.0}},
    {"the actor not normalized": {"normalized_actor": False}},
    {"drawn actions alone": {"greedy_stretch": 0}},
    {"the critics' mean": {"votes": False}},
    {"one critic": {"critics": 1}},
    {"no bounds": {"bounded": False}},
    {"random embedding": {"one_hot": False}},
    {"the paper's actor rule": {"actor_rule": "paper"}},
]
ABLATED_CELLS = "MiniGrid-DoorKey-6x6-v0", 20_000, 2_000  # and how long
ABLATION_CELLS: list[dict[str, dict[str, Any]]] = [  # of what is for cells of a grid
    {"nothing": {}, "weariness of 0.05": {"explorer": "optimist(weariness=0.05)"}},
    {"greedy actions in every other stretch": {"greedy_stretch": 100}},
    {"0.12's bonus, the rarest in a view": {"bonus": "counts(power=0.5, rarest=True)"}},
    {"E3B": {"bonus": "episodic"}},
]
PEER_SEED = 1613  # on which their settings were chosen, too
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


def calls() -> dict[str, list[Call]]:
    """What each part runs."""
    sizes = range(10, 51, 2)
    return {
        "sea": [Call(f"sea:{n}", budget=24 * n + 300, every=20) for n in sizes],
        "windy": [Call(f"windy:{n}", budget=100 * n, every=20) for n in sizes],
        "large": [Call("sea:100", budget=3_000, every=100)],
        "rooms": [Call(f"rooms:{level}", budget=300) for level in (1, 2)],
        "control": [Call(task, budget=STEPS[task], every=2_000) for task in CONTROL],
        "swing": [Call(SWING, budget=300_000, every=10_000)],
        "door": [
            Call(task, budget=budget, every=max(2_000, budget // 30))
            for task, budget in DOOR.items()
        ],
        "grids": [
            Call(task, seeds=n, budget=budget, every=10_000) for task, (budget, n) in GRIDS.items()
        ],
        "mazes": [
            Call("bends", budget=24_000, every=2_000),
            Call("doors", budget=60_000, every=2_000),
        ],
        "ablation": [
            Call(task, settings, 32, budget, every)
            for task, (budget, every) in ABLATED.items()
            for settings in ABLATION
        ]
        + [Call(ABLATED_CELLS[0], settings, 32, *ABLATED_CELLS[1:]) for settings in ABLATION_CELLS],
        "peers": [
            Call(task, settings, 5, budget, every, PEER_SEED, agent=agent)
            for agent, settings in PEERS.items()
            for task, (budget, every) in PEER_TASKS.items()
        ],
        "speed": [Call("sea:20", seeds=1_000, budget=100, every=50)],
    }


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--parts", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no longer than this")
    given = parser.parse_args()
    until = perf_counter() + given.seconds
    given.out.mkdir(parents=True, exist_ok=True)
    for part in given.parts:
        group = calls()[part]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for run in pool.map(Call.prepare, group):
                for line in run(until):
                    with (given.out / f"{part}.jsonl").open("a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(part, line["task"], line["label"], line["end"], line["first"], flush=True)


if __name__ == "__main__":
    main()
