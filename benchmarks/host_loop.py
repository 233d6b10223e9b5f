"""What the loop on the host costs an agent with networks beyond its update: `python
benchmarks/host_loop.py`.

One core, CartPole, 64-64, one update per step. The update alone is measured in one compiled call of
many updates and actions; the host loop is `agent.learn`. Seconds are those of the processor.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from common import machine, pin_to_one_core, table, write

if True:  # the core is chosen before JAX starts its threads
    CORES = pin_to_one_core()

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde import deep
from jekyllhyde.deep import networks
from jekyllhyde.deep.deep_agent import DeepAgent

STEPS, TURNS, WARMUP = 500, 9, 500
AGENTS = {"J&H": deep.JekyllHyde, "DDQN": deep.DoubleDQN, "SAC": deep.DiscreteSAC}


def compiled_steps(agent: DeepAgent) -> Any:
    """Updates and actions of a copy of the agent, on one transition, in one call."""
    algorithm, config = deep.ALGORITHMS[agent.name], agent.settings
    seen = agent._observation.observation
    facts = networks.Transition(seen, np.int32(0), np.float32(1), seen, np.float32(1))

    @partial(jax.jit, donate_argnums=0)
    def run(state: Any) -> Any:
        def body(state: Any, _: Any) -> tuple[Any, jax.Array]:
            state = algorithm.update(state, config, facts, np.bool_(False))
            action, key = algorithm.act(state, config, seen)
            return replace(state, key=key), action

        return jax.lax.scan(body, state, None, length=STEPS)[0]

    state = jax.tree.map(jnp.copy, agent.state)

    def turn() -> None:
        nonlocal state
        state = jax.block_until_ready(run(state))

    return turn


def main() -> None:
    rows, data = [], {}
    for name, kind in AGENTS.items():
        agent = kind("CartPole-v1", seed=0, gamma=0.99, hidden=(64, 64))
        agent.learn(WARMUP)
        turns = {"update": compiled_steps(agent), "host": partial(agent.learn, STEPS)}
        seconds: dict[str, list[float]] = {which: [] for which in turns}
        for turn in turns.values():
            turn()  # compiled
        for _ in range(TURNS):
            for which, turn in turns.items():
                start = process_time()
                turn()
                seconds[which].append((process_time() - start) / STEPS)
        update, host = (median(seconds[which]) for which in ("update", "host"))
        beyond = host / update - 1.0
        data[name] = {"update_s": update, "host_s": host, "beyond": beyond}
        rows.append((name, f"{1 / update:.0f}", f"{1 / host:.0f}", f"{100 * beyond:.0f} %"))
    text = table(("agent", "steps/s, compiled", "steps/s, learn", "cost beyond the update"), rows)
    write("host_loop", {"machine": machine(), **data}, f"# The host loop\n\n{machine()}\n\n{text}")


if __name__ == "__main__":
    main()
