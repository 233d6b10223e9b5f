"""What the loop on the host costs an agent with networks beyond its update, and how fast it is
beside Stable-Baselines3: `python benchmarks/host_loop.py`.

One core, CartPole, networks of 64-64, a batch of 256, one update per step. The update alone is
measured in one compiled call of many updates and actions; the host loop is `agent.learn`, in one
environment and in vectors of 8 and 64. Stable-Baselines3 (extra `peers`) has its DQN with the same
network, batch and number of updates. All take turns; seconds are those of the processor.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from common import machine, pin_to_one_core, table, write

if True:  # the core is chosen before JAX starts its threads
    CORES = pin_to_one_core()

import gymnasium as gym
import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep import networks
from jekyllhyde.deep.deep_agent import DeepAgent
from jekyllhyde.envs.vector_lanes import RESET_HERE

STEPS, TURNS, WARMUP = 512, 9, 512
TASK, HIDDEN, BATCH = "CartPole-v1", (64, 64), 256
AGENTS = {"J&H": deep.JekyllHyde, "DDQN": deep.DoubleDQN, "SAC": deep.DiscreteSAC}
LANES = (8, 64)
Turn = Callable[[], object]  # of STEPS steps


def ours(name: str, lanes: int = 1) -> DeepAgent:
    """An agent that is past its warm-up; J&H's batch has two halves."""
    env = gym.make_vec(TASK, lanes, "sync", RESET_HERE) if lanes > 1 else TASK
    batch = BATCH // 2 if name == "J&H" else BATCH
    return AGENTS[name](env, seed=0, hidden=HIDDEN, batch=batch).learn(WARMUP)


def compiled_steps(agent: DeepAgent) -> Turn:
    """Updates and actions of a copy of the agent, on what it has seen, in one call."""
    algorithm, config = deep.ALGORITHMS[agent.name], agent.settings

    @partial(jax.jit, donate_argnums=0)
    def run(state: Any, seen: networks.Transition) -> Any:
        def body(state: Any, step: networks.Transition) -> tuple[Any, jax.Array]:
            state = algorithm.update(state, config, step, step.discount == 0.0)
            action, key = algorithm.act(state, config, step.following)
            return replace(state, key=key), action

        return jax.lax.scan(body, state, seen)[0]

    state = jax.tree.map(jnp.copy, agent.state)
    seen = jax.tree.map(lambda rows: jnp.copy(rows[:STEPS]), state.everyone.data)

    def turn() -> None:
        nonlocal state
        state = jax.block_until_ready(run(state, seen))

    return turn


def theirs(lanes: int = 1) -> Turn:
    """Stable-Baselines3's DQN, with as many updates as steps."""
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    model = DQN(
        "MlpPolicy",
        make_vec_env(TASK, lanes, seed=0),
        seed=0,
        device="cpu",
        batch_size=BATCH,
        buffer_size=40_000,
        learning_starts=BATCH,
        train_freq=1,
        gradient_steps=-1,
        policy_kwargs={"net_arch": list(HIDDEN)},
    )
    model.learn(WARMUP)
    return lambda: model.learn(STEPS, reset_num_timesteps=False)


def main() -> None:
    turns: dict[str, Turn] = {}
    for name in AGENTS:
        agent = ours(name)
        turns |= {name: partial(agent.learn, STEPS), f"{name}, compiled": compiled_steps(agent)}
        for lanes in LANES:
            turns[f"{name}, {lanes} environments"] = partial(ours(name, lanes).learn, STEPS)
    if importlib.util.find_spec("stable_baselines3"):
        turns |= {"SB3 DQN": theirs()} | {
            f"SB3 DQN, {lanes} environments": theirs(lanes) for lanes in LANES
        }
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    for turn in turns.values():
        turn()  # compiled
    for _ in range(TURNS):
        for name, turn in turns.items():
            start = process_time()
            turn()
            seconds[name].append((process_time() - start) / STEPS)
    times = {name: median(values) for name, values in seconds.items()}
    rows = []
    for name in (*AGENTS, "SB3 DQN"):
        if name in times:
            compiled = times.get(f"{name}, compiled")
            beyond = "" if compiled is None else f"{100 * (times[name] / compiled - 1.0):.0f} %"
            vectors = [f"{1 / times[f'{name}, {lanes} environments']:.0f}" for lanes in LANES]
            alone = "" if compiled is None else f"{1 / compiled:.0f}"
            rows.append((name, alone, f"{1 / times[name]:.0f}", beyond, *vectors))
    columns = ("agent", "steps/s, compiled", "steps/s, learn", "cost beyond the update")
    text = table((*columns, *(f"{lanes} environments" for lanes in LANES)), rows)
    write(
        "host_loop", {"machine": machine(), "s": times}, f"# The host loop\n\n{machine()}\n\n{text}"
    )


if __name__ == "__main__":
    main()
