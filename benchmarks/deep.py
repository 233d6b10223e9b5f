"""Environment steps per second on Four Rooms with one update of batch 128 + 128 per step, side by side in one run.

Ours: J&H, DDQN, SAC, one seed on one core, ten seeds on all cores, and on a GPU where there is one (1, 10, 100, 1000 seeds). Beside
them, where installed: the same J&H update in eager PyTorch, and the DQNs of Stable-Baselines3 and SBX at the same widths and batch.
The floating-point operations of an update, over the time it takes, are set against this machine's own float32 matrix products.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any

from common import machine, table, write

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip

from jekyllhyde.deep import configure  # isort: skip
from jekyllhyde.deep.loop import _run, _start  # isort: skip
from jekyllhyde.envs.functional import make_model  # isort: skip
from jekyllhyde.envs.rooms import FourRooms  # isort: skip
from jekyllhyde.mdp.rooms import four_rooms  # isort: skip

EPISODES = 30  # timed, of 90 steps at most
WARM = 8  # before: past the warm-up, so that every step learns
STEPS = 1500  # of the others' loops
HIDDEN, HIDDEN_HYDE, EMBEDDED, ACTIONS, BATCH = (64, 64), (30, 10), 20, 4, 256


def ours(agent: str, seeds: int, device: Any) -> dict[str, float]:
    """Seconds to compile, and steps per second of `seeds` runs in one batch."""
    with jax.default_device(device):
        model = make_model(four_rooms(2), 90)
        config = configure(agent, "recommended", level=2)
        keys = jnp.stack([jax.random.fold_in(jax.random.key(0), i) for i in range(seeds)])
        configs = jax.tree.map(lambda leaf: jnp.full(seeds, leaf, jnp.float32), config)
        start = perf_counter()
        carry = _start(model, keys, configs, agent, 1)
        run = _run.lower(model, carry, configs, jnp.asarray(0), agent, 10).compile()
        compiled = perf_counter() - start
        carry = run(model, carry, configs, jnp.asarray(WARM))
        before = int(carry.agent.t.sum())
        start = perf_counter()
        carry = run(model, carry, configs, jnp.asarray(WARM + EPISODES))
        steps = int(carry.agent.t.sum()) - before
        return {"compile_s": compiled, "steps_per_s": steps / (perf_counter() - start)}


def ours_on_all_cores(agent: str, seeds: int) -> dict[str, float]:
    """Steps per second of `train`, which spreads the seeds over threads; compilation is timed apart."""
    from jekyllhyde import deep

    def timed(episodes: int) -> tuple[float, int]:
        start = perf_counter()
        result = deep.train(agent=agent, seeds=seeds, episodes=episodes, every=episodes, level=2, device="cpu")
        return perf_counter() - start, int(result.step.sum())

    first, _ = timed(EPISODES)
    again, steps = timed(EPISODES)
    return {"compile_s": first - again, "steps_per_s": steps / again}


def gemm_rate() -> float:
    """Float32 operations per second of the update's largest product, [256, 64] x [64, 64], one after another on one core."""
    x, w = jnp.ones((BATCH, 64)), jnp.full((64, 64), 1.0 / 64)
    repeat = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, y: y @ w, x))
    repeat(x).block_until_ready()
    start = perf_counter()
    repeat(x).block_until_ready()
    return 2000 * 2 * BATCH * 64 * 64 / (perf_counter() - start)


def flops_of_update() -> float:
    """Multiplications and additions in the matrix products of one J&H update on 256 transitions.

    A forward pass is 1, a training pass 3 (forward, gradients of weights and of activations). Two critics are trained and their
    targets evaluated, the actor is trained and evaluated; Hyde is trained and evaluated twice; RND's predictor is trained and
    evaluated, and its target evaluated twice.
    """

    def forward(sizes: tuple[int, ...]) -> float:
        return 2.0 * BATCH * sum(a * b for a, b in pairwise(sizes))

    jekyll = forward((EMBEDDED, *HIDDEN, ACTIONS))
    hyde = forward((EMBEDDED, *configure("jekyll_hyde").hidden_hyde, ACTIONS))
    predictor, target = forward((20, 20, 20, 20)), forward((20, 20, 20))
    return 2 * (3 + 1) * jekyll + (3 + 1) * jekyll + (3 + 2) * hyde + (3 + 1) * predictor + 2 * target


def torch_jekyll_hyde() -> float:  # noqa: PLR0915 (one script, as it would be written)
    """Steps per second of the same update in plain eager PyTorch, on one core."""
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
    hyde, hyde_slow, target, predictor = mlp(*narrow), mlp(*narrow), mlp(20, 20, 20), mlp(20, 20, 20, 20)
    optimisers = {n: torch.optim.Adam(n.parameters(), lr=1e-3) for n in (actor, *critics, hyde, predictor)}
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
            hyde_goal = novelty + 0.9 * hyde_slow(x_next).gather(1, hyde(x_next).argmax(1, keepdim=True))[:, 0]
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

    began, warm = 0.0, 400
    for t in range(warm + STEPS):
        if t == warm:
            began = perf_counter()
        with torch.no_grad():
            action = int(torch.distributions.Categorical(logits=actor(features[observation])).sample())
        following, reward, terminated, truncated, _ = env.step(np.int64(action))
        ring[t] = torch.tensor([observation, action, reward, following, float(not terminated)])
        observation = env.reset()[0] if terminated or truncated else following
        if t >= warm:
            learn(t + 1)
    return STEPS / (perf_counter() - began)


def peer_dqn(module: str) -> float:
    """Steps per second of another library's DQN with 64-64 and batch 256, one update per step, on one-hot states."""
    import gymnasium as gym

    library = importlib.import_module(module)
    env = gym.wrappers.FlattenObservation(FourRooms(level=2))
    options = {"policy_kwargs": {"net_arch": list(HIDDEN)}, "buffer_size": 40_000, "batch_size": BATCH, "train_freq": 1}
    model = library.DQN("MlpPolicy", env, learning_starts=400, gradient_steps=1, seed=0, **options)
    model.learn(700)  # past the first updates, and past compilation where there is one
    start = perf_counter()
    model.learn(STEPS, reset_num_timesteps=False)
    return STEPS / (perf_counter() - start)


def main() -> None:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    cpu, rows = jax.devices("cpu")[0], list[dict[str, Any]]()
    peak, flops = gemm_rate(), flops_of_update()
    agents = ("jekyll_hyde", "ddqn", "sac")
    rows += [{"what": agent, "where": "one core", "seeds": 1, **ours(agent, 1, cpu)} for agent in agents]
    share = rows[0]["steps_per_s"] * flops / peak
    others: dict[str, tuple[str, Callable[[], float]]] = {
        "J&H, eager PyTorch": ("torch", torch_jekyll_hyde),
        "DQN, Stable-Baselines3": ("stable_baselines3", lambda: peer_dqn("stable_baselines3")),
        "DQN, SBX": ("sbx", lambda: peer_dqn("sbx")),
    }
    for name, (needs, measure) in others.items():
        if importlib.util.find_spec(needs) is None:
            print(f"{name}: {needs} is not installed")
            continue
        rows.append({"what": name, "where": "one core", "seeds": 1, "steps_per_s": measure()})
    os.sched_setaffinity(0, cores)
    rows += [{"what": agent, "where": f"{len(cores)} cores", "seeds": 10, **ours_on_all_cores(agent, 10)} for agent in agents]
    if jax.default_backend() == "gpu":
        gpu = jax.devices("gpu")[0]
        sizes = (1, 10, 100, 1000)
        rows += [{"what": "jekyll_hyde", "where": "gpu", "seeds": n, **ours("jekyll_hyde", n, gpu)} for n in sizes]
    lines = [(r["what"], r["where"], r["seeds"], f"{r['steps_per_s']:.0f}", f"{r.get('compile_s', 0.0):.1f}") for r in rows]
    text = "\n\n".join(
        [
            f"# Deep agents, steps per second\n\n{machine()}",
            table(("agent", "where", "seeds", "steps/s in total", "compile, s"), lines),
            f"One J&H update: {flops / 1e6:.1f} MFLOP in matrix products. This core multiplies [256, 64] by [64, 64] at "
            f"{peak / 1e9:.1f} GFLOP/s; J&H with everything around it runs at {100 * share:.0f} % of that.",
        ]
    )
    write("deep", {"machine": machine(), "rows": rows, "flops": flops, "gemm_flops_per_s": peak, "share": share}, text)


if __name__ == "__main__":
    main()
