"""Environment steps per second on Four Rooms with one update of batch 128 + 128 per step, side by
side in one run.

Ours: J&H, DDQN, SAC, one seed on one core, and ten seeds on all cores; `deep_study.py --parts
speed` measures a GPU. Beside them, where installed: the same J&H update in eager PyTorch, and the
DQNs of Stable-Baselines3 and SBX at the same width and batch. On one core the contestants take
turns, and the processor's own seconds count: what else runs on the machine meets all alike. The
floating-point operations of an update, over the time it takes, are set against this core's own
float32 matrix products.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from time import perf_counter, process_time
from typing import Any

from common import machine, pin_to_one_core, table, write

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip

from jekyllhyde.deep import Batch, configure, make_case, train  # isort: skip
from jekyllhyde.envs.tabular import FourRooms  # isort: skip

EPISODES = 12  # of ours per turn, of 90 steps at most
WARM = 8  # before: past the warm-up, so that every step learns
STEPS = 700  # of the others per turn
TURNS = 3
HIDDEN, EMBEDDED, ACTIONS, BATCH = (64, 64), 20, 4, 256
BATCHES, WIDTHS = (16, 64, 128, 512), (32, 64, 128, 256)  # K, and units per hidden layer

Contestant = Callable[[], int]  # takes a turn, and returns its steps


def one_run(agent: str, **settings: Any) -> Batch:
    """One seed on Four Rooms' second level."""
    case = make_case("four_rooms", agent, "recommended", settings, level=2)
    return Batch(agent, [case], seeds=1, episodes=10, device="cpu")


def ours(agent: str, **settings: Any) -> Contestant:
    """One run in the compiled loop."""
    batch = one_run(agent, **settings)
    programs = batch.compile()
    carry, until = programs.start(*batch.inputs), 0

    def advance(episodes: int) -> int:
        nonlocal carry, until
        before, until = int(carry.agent.t.sum()), until + episodes
        carry = programs.run(batch.inputs.models, carry, batch.inputs.configs, jnp.int32(until))
        return int(carry.agent.t.sum()) - before

    advance(WARM)
    return lambda: advance(EPISODES)


def ours_on_all_cores(agent: str, seeds: int) -> dict[str, float]:
    """Steps per second of `train`, which spreads the seeds over threads; compilation is timed
    apart.
    """

    def timed() -> tuple[float, int]:
        start = perf_counter()
        result = train(agent=agent, seeds=seeds, episodes=30, every=30, level=2, device="cpu")
        return perf_counter() - start, int(result.step.sum())

    first, _ = timed()
    again, steps = timed()
    return {"compile_s": first - again, "steps_per_s": steps / again}


def gemm_rate() -> float:
    """Float32 operations per second of the update's largest product, [256, 64] x [64, 64], one
    after another on one core.
    """
    x, w = jnp.ones((BATCH, 64)), jnp.full((64, 64), 1.0 / 64)
    repeat = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, y: y @ w, x))
    repeat(x).block_until_ready()
    times = []
    for _ in range(TURNS):
        start = process_time()
        repeat(x).block_until_ready()
        times.append(process_time() - start)
    return 2000 * 2 * BATCH * 64 * 64 / median(times)


def flops_of_update(batch: int = BATCH, hidden: tuple[int, ...] = HIDDEN) -> float:
    """Multiplications and additions in the matrix products of one J&H update on `batch`
    transitions.

    A forward pass is 1, a training pass 3 (forward, gradients of weights and of activations). Two
    critics are trained and their targets evaluated, the actor is trained and evaluated; Hyde is
    trained and evaluated twice; RND's predictor is trained and evaluated, and its target evaluated
    twice.
    """

    def forward(sizes: tuple[int, ...]) -> float:
        return 2.0 * batch * sum(a * b for a, b in pairwise(sizes))

    jekyll = forward((EMBEDDED, *hidden, ACTIONS))
    hyde = forward((EMBEDDED, *configure("jekyll_hyde").hidden_hyde, ACTIONS))
    predictor, target = forward((20, 20, 20, 20)), forward((20, 20, 20))
    return (
        2 * (3 + 1) * jekyll + (3 + 1) * jekyll + (3 + 2) * hyde + (3 + 1) * predictor + 2 * target
    )


def torch_jekyll_hyde() -> Contestant:  # noqa: PLR0915 (one script, as it would be written)
    """The same update in plain eager PyTorch."""
    import torch  # type: ignore[import-not-found, unused-ignore]
    from torch import nn  # type: ignore[import-not-found, unused-ignore]

    torch.set_num_threads(1)
    torch.manual_seed(0)

    def mlp(*sizes: int) -> Any:
        layers: list[Any] = []
        for fan_in, fan_out in pairwise(sizes):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        return nn.Sequential(*layers[:-1])

    wide = (EMBEDDED, *HIDDEN, ACTIONS)
    narrow = (EMBEDDED, *configure("jekyll_hyde").hidden_hyde, ACTIONS)
    actor, critics, slow = mlp(*wide), [mlp(*wide), mlp(*wide)], [mlp(*wide), mlp(*wide)]
    hyde, hyde_slow, target, predictor = (
        mlp(*narrow),
        mlp(*narrow),
        mlp(20, 20, 20),
        mlp(20, 20, 20, 20),
    )
    optimisers = {
        n: torch.optim.Adam(n.parameters(), lr=1e-3) for n in (actor, *critics, hyde, predictor)
    }
    env = FourRooms(level=2)
    features = torch.randn(env.mdp.n_states, EMBEDDED)
    ring = torch.zeros(40_000, 5)
    observation, _ = env.reset(seed=0)

    def descend(network: Any, loss: Any) -> None:
        optimisers[network].zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimisers[network].step()

    def follow(pairs: list[tuple[Any, Any]]) -> None:
        with torch.no_grad():
            for old, new in pairs:
                for a, b in zip(old.parameters(), new.parameters(), strict=True):
                    a.lerp_(b, 0.01)

    def learn(size: int) -> None:
        batch = ring[torch.cat([torch.randint(size, (128,)), torch.randint(size, (128,))])]
        s, a, r, following, discount = batch.unbind(1)
        x, x_next, a = features[s.long()], features[following.long()], a.long()[:, None]
        with torch.no_grad():
            novelty = ((predictor(x_next) - target(x_next)) ** 2).sum(1)
            hyde_goal = (
                novelty
                + 0.9 * hyde_slow(x_next).gather(1, hyde(x_next).argmax(1, keepdim=True))[:, 0]
            )
            q_next = torch.minimum(slow[0](x_next), slow[1](x_next))
            goal = r + 0.9 * discount * (actor(x_next).softmax(1) * q_next).sum(1)
        descend(hyde, ((hyde(x).gather(1, a)[:, 0] - hyde_goal) ** 2).mean())
        values = [critic(x) for critic in critics]
        best = torch.minimum(*values).argmax(1)
        for critic, q in zip(critics, values, strict=True):
            descend(critic, ((q.gather(1, a)[:, 0] - goal) ** 2).mean())
        follow([(slow[0], critics[0]), (slow[1], critics[1]), (hyde_slow, hyde)])
        descend(actor, nn.functional.cross_entropy(actor(x), best))
        descend(predictor, ((predictor(x_next) - target(x_next)) ** 2).sum(1).mean())

    t = 0

    def step() -> None:
        nonlocal t, observation
        with torch.no_grad():
            action = int(
                torch.distributions.Categorical(logits=actor(features[observation])).sample()
            )
        following, reward, terminated, truncated, _ = env.step(np.int64(action))
        ring[t] = torch.tensor([observation, action, reward, following, float(not terminated)])
        observation = env.reset()[0] if terminated or truncated else following
        t += 1
        if t >= 400:
            learn(t)

    def turn(steps: int = STEPS) -> int:
        for _ in range(steps):
            step()
        return steps

    turn(450)
    return turn


def peer_dqn(module: str) -> Contestant:
    """Another library's DQN with 64-64 and batch 256, one update per step, on one-hot states."""
    import gymnasium as gym

    library = importlib.import_module(module)
    env = gym.wrappers.FlattenObservation(FourRooms(level=2))
    options = {
        "policy_kwargs": {"net_arch": list(HIDDEN)},
        "buffer_size": 40_000,
        "batch_size": BATCH,
        "train_freq": 1,
    }
    model = library.DQN("MlpPolicy", env, learning_starts=400, gradient_steps=1, seed=0, **options)
    model.learn(700)  # past the first updates, and past compilation where there is one

    def turn() -> int:
        before = model.num_timesteps
        model.learn(STEPS, reset_num_timesteps=False)
        return int(model.num_timesteps - before)

    return turn


def rates(contestants: dict[str, Contestant]) -> dict[str, float]:
    """Steps per second of the processor, the median of several turns of each."""
    measured: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(TURNS):
        for name, turn in contestants.items():
            start = process_time()
            steps = turn()
            measured[name].append(steps / (process_time() - start))
    return {name: median(values) for name, values in measured.items()}


def buffer_bytes() -> int:
    """Memory of both replay buffers of one run."""
    batch = one_run("jekyll_hyde")
    state = batch.compile().start(*batch.inputs).agent
    return sum(leaf.nbytes for leaf in jax.tree.leaves((state.everyone, state.hyde)))


def main() -> None:
    cores = pin_to_one_core()
    agents = {"jekyll_hyde": "J&H", "ddqn": "DDQN", "sac": "SAC"}
    contestants = {f"{name}, ours": ours(agent) for agent, name in agents.items()}
    others: dict[str, tuple[str, Callable[[], Contestant]]] = {
        "J&H, eager PyTorch": ("torch", torch_jekyll_hyde),
        "DQN, Stable-Baselines3": ("stable_baselines3", lambda: peer_dqn("stable_baselines3")),
        "DQN, SBX": ("sbx", lambda: peer_dqn("sbx")),
    }
    for name, (needs, prepare) in others.items():
        if importlib.util.find_spec(needs) is None:
            print(f"{name}: {needs} is not installed")
        else:
            contestants[name] = prepare()
    one_core = rates(contestants)
    by_batch = rates({f"{k}": ours("jekyll_hyde", batch=k) for k in BATCHES})
    by_width = rates({f"{width}": ours("jekyll_hyde", hidden=(width, width)) for width in WIDTHS})
    peak, flops = gemm_rate(), flops_of_update()
    os.sched_setaffinity(0, cores)
    # in a process of its own: the threads of this one stay on its core
    report = subprocess.run(
        [sys.executable, __file__, "all-cores", *agents],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    many: dict[str, dict[str, float]] = json.loads(report)
    share = one_core["J&H, ours"] * flops / peak
    sizes = [("K", k, by_batch[f"{k}"], flops_of_update(2 * k)) for k in BATCHES]
    sizes += [
        ("width", width, by_width[f"{width}"], flops_of_update(hidden=(width, width)))
        for width in WIDTHS
    ]
    growth = [
        (what, n, f"{rate:.0f}", f"{work / 1e6:.1f}", f"{100 * rate * work / peak:.0f} %")
        for what, n, rate, work in sizes
    ]
    text = "\n\n".join(
        [
            f"# Deep agents, steps per second\n\n{machine()}",
            table(
                ("one core, one seed", "steps/s", "J&H, ours is"),
                [
                    (name, f"{rate:.0f}", f"{one_core['J&H, ours'] / rate:.2f} times")
                    for name, rate in one_core.items()
                ],
            ),
            table(
                (f"{len(cores)} cores, ten seeds", "steps/s in total", "compile, s"),
                [
                    (agents[agent], f"{row['steps_per_s']:.0f}", f"{row['compile_s']:.1f}")
                    for agent, row in many.items()
                ],
            ),
            table(
                ("J&H", "", "steps/s", "MFLOP per update", "share of the product's rate"), growth
            ),
            f"One J&H update: {flops / 1e6:.1f} MFLOP in matrix products. This core multiplies "
            f"[256, 64] by [64, 64] at {peak / 1e9:.1f} GFLOP/s; J&H with all around it runs "
            f"at {100 * share:.0f} % of that. Both buffers of a run take "
            f"{buffer_bytes() / 1e6:.1f} MB.",
        ]
    )
    data = {
        "machine": machine(),
        "one_core": one_core,
        "all_cores": many,
        "batch": by_batch,
        "width": by_width,
    }
    write("deep", {**data, "flops": flops, "gemm_flops_per_s": peak, "share": share}, text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["all-cores"]:
        print(json.dumps({agent: ours_on_all_cores(agent, 10) for agent in sys.argv[2:]}))
    else:
        main()
