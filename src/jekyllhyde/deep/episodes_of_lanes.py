"""What is remembered of an episode under way, once for each lane of a vector environment.

A record with such a memory, or an agent, has a setting `lanes`, and its state is an `OfLanes`.
Lanes take turns: `in_lane` says whose step comes, `begun` that its episode begins though the one
before was broken off, and `for_lanes` has settings with room for as many as there are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import equinox as eqx
import jax

from jekyllhyde.errors import require

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


def check_lanes(state: Any, settings: Any, env: Any) -> None:
    """Refuse an environment with more lanes than the state remembers episodes of, if it does."""
    nodes = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, OfLanes))
    remembers = any(isinstance(node, OfLanes) for node in nodes)
    require(
        not remembers or for_lanes(settings, env) == settings,
        f"env has {getattr(env, 'num_envs', 1)} lanes, more than the saved agent remembers "
        "episodes of",
    )
