"""A task in JAX as `jekyllhyde.envs.Remembering` shows it: beside the bits that are seen, how often
each action was taken in the episode when the same was seen.

Views find their counts in two tables by two hashes, and the smaller count is shown: it is wrong
where a view shares its places with others in both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde.envs.remembering import NAME, TIMES
from jekyllhyde.envs.space_parts import Part

TABLES, PLACES = 2, 4096
MOST = 255  # that is counted


class State(NamedTuple):
    """The task's own state, and how often each action was taken [TABLES, PLACES, A]."""

    inner: Any
    taken: jax.Array


def remembering(task: Any) -> Any:
    """The task, with memory; `task` is a `classic_control.Task` whose observations are bits."""
    hashes = np.random.default_rng(0).integers(2**32, size=(TABLES, task.width), dtype=np.uint32)
    bits = len(TIMES) * task.n_actions

    def places(seen: jax.Array) -> tuple[Any, jax.Array]:
        total = jnp.sum(jnp.where(seen > 0, jnp.asarray(hashes), 0), -1, dtype=jnp.uint32)
        return np.arange(TABLES), (total % PLACES).astype(jnp.int32)

    def reset(key: jax.Array) -> State:
        return State(task.reset(key), jnp.zeros((TABLES, PLACES, task.n_actions), jnp.uint8))

    def step(state: State, action: jax.Array) -> tuple[State, jax.Array, jax.Array]:
        at = (*places(task.observe(state.inner)), action)
        more = (state.taken[at] < MOST).astype(jnp.uint8)
        inner, reward, done = task.step(state.inner, action)
        return State(inner, state.taken.at[at].add(more)), reward, done

    def observe(state: State) -> jax.Array:
        seen = task.observe(state.inner)
        counts = jnp.min(state.taken[places(seen)], 0)
        return jnp.concatenate([seen, *(counts >= least for least in TIMES)])

    return task._replace(
        reset=reset,
        step=step,
        observe=observe,
        width=task.width + bits,
        parts=(*task.parts, Part((NAME,), "bits", (bits,))),
    )
