"""Where the lanes of a vector environment stand, as arrays of an agent's file.

lanes.table [n, 5]        number of the episode, episodes begun, next action, hyde, return so far
lanes.lengths [n]         how many actions were taken since the reset
lanes.actions             all of them, one lane after another
lanes.taken               how many lanes were learned from since they acted together
lanes.view...             what is seen, first axis lanes
"""

from typing import Any

import jax
import numpy as np

from jekyllhyde.deep.agent_checks import is_in, named_leaves
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.spaces import View
from jekyllhyde.deep.vector_steps import Lane, Lanes
from jekyllhyde.episode import Episode
from jekyllhyde.errors import require

PREFIX = "lanes."
Arrays = dict[str, Any]


def lane_arrays(lanes: Lanes | None) -> Arrays:
    """The arrays of lanes; none where there are none."""
    if lanes is None or None in lanes.places:
        return {}
    episodes = [lane.episode for lane in lanes.places]
    rows = [
        (episode.number, count, episode.next_action, episode.hyde, episode.total)
        for episode, count in zip(episodes, lanes.counts, strict=True)
    ]
    views = [lane.view for lane in lanes.places]
    return {
        f"{PREFIX}table": np.array(rows, np.float64),
        f"{PREFIX}lengths": np.array([len(episode.actions) for episode in episodes], np.int64),
        f"{PREFIX}actions": np.array(
            [a for episode in episodes for a in episode.actions], np.int32
        ),
        f"{PREFIX}taken": np.array(lanes.taken, np.int64),
        **{f"{PREFIX}view{path}": part for path, part in named_leaves(_stacked(views)).items()},
    }


def restored_lanes(arrays: Arrays, space: Space, example: View) -> Lanes | None:
    """The lanes that arrays hold, which are taken from them; refused where they contradict
    themselves.
    """
    own = {name.removeprefix(PREFIX): arrays.pop(name) for name in list(arrays) if _is_own(name)}
    if not own:
        return None
    table, lengths, actions, taken = (
        own.pop(name) for name in ("table", "lengths", "actions", "taken")
    )
    n = len(lengths)
    expected = {f"view{path}": part for path, part in named_leaves(_stacked([example])).items()}
    fits = (
        n > 0
        and table.shape == (n, 5)
        and lengths.shape == (n,)
        and actions.ndim == 1
        and taken.shape == ()
        and all(array.dtype.kind == "i" for array in (lengths, actions, taken))
        and np.isfinite(table).all()
        and (table[:, :4] == np.floor(table[:, :4])).all()
        and (table[:, :4] >= 0).all()
        and (table[:, 1] > table[:, 0]).all()
        and (table[:, 2] < space.n_actions).all()
        and (table[:, 3] <= 1).all()
        and (lengths >= 0).all()
        and lengths.sum() == len(actions)
        and ((actions >= 0) & (actions < space.n_actions)).all()
        and 0 <= taken < n
        and {name: (part.shape[1:], part.dtype, len(part)) for name, part in own.items()}
        == {name: (part.shape[1:], part.dtype, n) for name, part in expected.items()}
    )
    require(fits, "its lanes cannot be those of such an agent")
    stacked = jax.tree.unflatten(jax.tree.structure(example), [own[name] for name in expected])
    require(is_in(space, stacked.observation), "its lanes cannot be those of such an agent")
    played = np.split(actions, np.cumsum(lengths)[:-1])
    places = []
    for i, (number, _, action, hyde, total) in enumerate(table.tolist()):
        episode = Episode(int(number), int(action), int(hyde), played[i].tolist(), total)
        places.append(Lane(jax.tree.map(lambda part, i=i: part[i], stacked), episode))
    return Lanes(places, [int(count) for count in table[:, 1]], int(taken))


def _is_own(name: str) -> bool:
    return name.startswith(PREFIX)


def _stacked(views: list[View]) -> View:
    stacked: View = jax.tree.map(lambda *parts: np.stack(parts), *views)
    return stacked
