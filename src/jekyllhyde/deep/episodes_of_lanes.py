"""What is remembered of an episode under way, once for each lane of a vector environment.

A record with such a memory has a setting `lanes`, and its state is an `OfLanes`. Lanes take turns:
`in_lane` says whose step comes, and `for_lanes` has settings with room for as many as there are.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax

from jekyllhyde.errors import require

RECORDS = ("bonus", "explorer", "leader")


class OfLanes(eqx.Module):
    """A state with an entry for each lane, of which `lane` is the one whose turn it is."""

    lane: jax.Array


def in_lane(state: Any, lane: Any) -> Any:
    """A tree of states, all of them in that lane."""

    def turned(node: Any) -> Any:
        return replace(node, lane=lane) if isinstance(node, OfLanes) else node

    return jax.tree.map(turned, state, is_leaf=lambda node: isinstance(node, OfLanes))


def for_lanes(settings: Any, env: Any) -> Any:
    """The settings, with room for the lanes of an environment."""
    n, changed = getattr(env, "num_envs", 1), {}
    for name in RECORDS:
        record: Any = getattr(settings, name, None)
        if getattr(record, "lanes", n) < n:
            changed[name] = replace(record, lanes=n)
    return replace(settings, **changed)


def check_lanes(settings: Any, env: Any) -> None:
    """Refuse an environment with more lanes than settings have room for."""
    for_more = for_lanes(settings, env)
    require(
        for_more == settings,
        f"env has {getattr(env, 'num_envs', 1)} lanes, more than the saved agent remembers "
        "episodes of",
    )
