"""What is remembered of an episode under way, once for each lane of a vector environment.

A record with such a memory, or an agent, has a setting `lanes`, and its state is an `OfLanes`.
Lanes take turns: `in_lane` says whose step comes, `begun` that its episode begins though the one
before was broken off, and `for_lanes` has settings with room for as many as there are; `widened`
has a state with room for more.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax

RECORDS = ("bonus", "explorer", "leader", "noise")


class OfLanes(eqx.Module):
    """A state with an entry for each lane, of which `lane` is the one whose turn it is; `anew` has
    it where an episode begins there, the same by default.
    """

    lane: jax.Array

    def anew(self) -> Self:
        return self


def in_lane(state: Any, lane: Any) -> Any:
    """A tree of states, all of them in that lane."""
    return _changed(state, lambda node: replace(node, lane=lane))


def begun(state: Any) -> Any:
    """A tree of states, all of them at the beginning of an episode of their lane."""
    return _changed(state, lambda node: node.anew())


def _changed(state: Any, change: Callable[[Any], Any]) -> Any:
    return jax.tree.map(
        lambda node: change(node) if isinstance(node, OfLanes) else node,
        state,
        is_leaf=lambda node: isinstance(node, OfLanes),
    )


def for_lanes(settings: Any, env: Any) -> Any:
    """The settings, with room for the lanes of an environment."""
    n = getattr(env, "num_envs", 1)
    changed: dict[str, Any] = {"lanes": n} if getattr(settings, "lanes", n) < n else {}
    for name in RECORDS:
        record: Any = getattr(settings, name, None)
        if getattr(record, "lanes", n) < n:
            changed[name] = replace(record, lanes=n)
    return replace(settings, **changed)


def widened(state: Any, fresh: Any) -> Any:
    """The state, with room for as many lanes as a `fresh` one has; new ones are as there."""

    def of(node: Any, new: Any) -> Any:
        if not isinstance(node, OfLanes):
            return node
        return jax.tree.map(
            lambda one, more: one if one.shape == more.shape else more.at[: len(one)].set(one),
            node,
            new,
        )

    return jax.tree.map(of, state, fresh, is_leaf=lambda node: isinstance(node, OfLanes))
