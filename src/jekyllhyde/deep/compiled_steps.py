"""What an agent with networks does in one step, as one compiled call."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp

from jekyllhyde.deep import compiler, critics, measures, networks, spaces
from jekyllhyde.deep.configurations import ALGORITHMS
from jekyllhyde.deep.episodes_of_lanes import begun, in_lane
from jekyllhyde.deep.packed_state import Arrays, Packing


@cache
def compiled(name: str, packing: Packing, settings: Packing, steps: Packing) -> SimpleNamespace:
    """An algorithm's functions on packed states, settings and steps. `begin`, `lead` and `turn`
    give up the state that they are given, so that replay is changed in place, not copied; `begin`
    and `turn` choose the next action.
    """
    plain = ALGORITHMS[name]

    def choose(state: Any, config: Any, view: spaces.View) -> tuple[Arrays, jax.Array]:
        action, key = plain.act(state, config, *view)
        chosen = jnp.stack([action, state.hyde_acts.astype(jnp.int32)])
        return packing.pack(replace(state, key=key)), chosen

    def begin(arrays: Arrays, config: Arrays, view: spaces.View) -> tuple[Arrays, jax.Array]:
        return choose(begun(packing.unpack(arrays)), settings.unpack(config), view)

    def lead(arrays: Arrays, hyde: Any, lane: Any) -> Arrays:
        return packing.pack(in_lane(replace(packing.unpack(arrays), hyde_acts=hyde), lane))

    def turn(arrays: Arrays, config: Arrays, step: Arrays) -> tuple[Arrays, jax.Array]:
        state, numbers = packing.unpack(arrays), settings.unpack(config)
        taken: spaces.Step = steps.unpack(step)
        _, ended, hyde, lane = taken.counts
        # of several lanes, each has its own leader and its own episode
        state = in_lane(replace(state, hyde_acts=hyde != 0), lane)
        after = plain.update(state, numbers, spaces.transition_of(taken), ended != 0)
        return choose(after, numbers, taken.start)

    def ask_jekyll(arrays: Arrays, config: Arrays, views: spaces.View) -> tuple[jax.Array, Any]:
        tables: tuple[jax.Array, jax.Array] = packing.unpack(arrays).networks.tables(*views)
        return tables

    def ask_hyde(arrays: Arrays, config: Arrays, views: spaces.View) -> tuple[jax.Array, Any]:
        own, numbers = packing.unpack(arrays).networks, settings.unpack(config)
        x = networks.encode(own.features, views.observation)
        logits = jax.vmap(lambda *view: numbers.explorer.logits(own.explorer, numbers, *view))(
            x, views.allowed
        )
        critic = getattr(own.explorer, "q", None)  # an explorer of the user's own may have none
        q = critic.online.network(x) if isinstance(critic, critics.Critic) else None
        return jax.nn.softmax(logits), q

    return SimpleNamespace(
        begin=jax.jit(begin, donate_argnums=0),
        lead=jax.jit(lead, donate_argnums=0),
        turn=jax.jit(turn, donate_argnums=0, compiler_options=compiler.in_place()),
        pack=jax.jit(packing.pack),
        unpack=jax.jit(packing.unpack),
        ask=(jax.jit(ask_jekyll), jax.jit(ask_hyde)),
        measure=jax.jit(
            lambda arrays, config: measures.measure(packing.unpack(arrays), settings.unpack(config))
        ),
    )


@cache
def initial_of(name: str) -> Any:
    """An algorithm's first state."""
    return jax.jit(ALGORITHMS[name].init, static_argnames="space")
