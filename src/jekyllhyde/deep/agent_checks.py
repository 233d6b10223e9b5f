"""What is asked of a stored agent before anything is made of it.

The header of `state.safetensors` is read first: its arrays must be those of an agent with the
settings of `agent.json`, and fit into memory. After that, numbers that contradict each other are
refused; weights may be anything.
"""

import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

from jekyllhyde.deep import learning, networks
from jekyllhyde.deep.configurations import ALGORITHMS
from jekyllhyde.envs.space_parts import CODED
from jekyllhyde.errors import LackOfMemory, require
from jekyllhyde.files import open_file
from jekyllhyde.parallel import machine_memory

if TYPE_CHECKING:
    from jekyllhyde.deep.deep_agent import DeepAgent

MOST_HEADER = 1 << 22  # bytes of the header, which has some 100 for each array
KINDS = {"BOOL": np.dtype(bool)} | {  # types of arrays by their names in the header
    f"{letter}{8 * size}": np.dtype(f"{letter.lower()}{size}")
    for letter, sizes in {"U": (1, 2, 4, 8), "I": (1, 2, 4, 8), "F": (2, 4, 8)}.items()
    for size in sizes
}
# arrays of bits which 0.11 and before stored a byte each
LOOSE = re.compile(r"\.(everyone|hyde)\.data\.(observation|following)")
PART_KINDS = ("numbers", "image", "bits", *CODED)
Arrays = dict[str, np.ndarray]
Declared = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]  # shapes and types


def declared_arrays(path: Path) -> Declared:
    """What the header of a safetensors file says of each array, as `read_arrays` has it; the arrays
    are not read.
    """
    with open_file(path) as file:  # a pipe would be waited for
        header = int.from_bytes(file.read(8), "little")
        size = os.fstat(file.fileno()).st_size
    require(header <= MOST_HEADER, f"{path.name} has a header of {header} bytes")
    if size > machine_memory():
        raise LackOfMemory(f"{path.name} takes {size / 2**30:.1f} GiB of memory, more than here is")
    with safe_open(path, "np") as content:
        slices = {name: content.get_slice(name) for name in content.keys()}  # noqa: SIM118
        declared = {
            name: (tuple(part.get_shape()), KINDS[part.get_dtype()])
            for name, part in slices.items()
        }
    return {
        name: ((*shape[:-1], -(-shape[-1] // 8)), np.dtype(np.uint8))
        if _is_loose(name, shape, kind)
        else (shape, kind)
        for name, (shape, kind) in declared.items()
    }


def _is_loose(name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> bool:
    return kind == np.bool_ and len(shape) == 2 and LOOSE.fullmatch(name) is not None


def read_arrays(path: Path) -> Arrays:
    """The arrays, once they are known to be what they should be."""
    arrays = load_file(path)
    for name, array in arrays.items():
        is_flags = array.dtype == np.bool_
        require(
            not is_flags or array.view(np.uint8).max(initial=0) <= 1,
            f"its array {name} has flags that are neither true nor false",
        )
        if _is_loose(name, array.shape, array.dtype):
            arrays[name] = np.packbits(array, axis=-1)
    return arrays


def check_shapes(name: str, settings: Any, space: networks.Space, declared: Declared) -> None:
    """Refuse arrays that are not those of such an agent's state."""
    sentence = "it holds arrays that do not fit its agent.json"
    widths = [value for value in vars(settings).values() if isinstance(value, tuple)]
    counts = [getattr(settings, "critics", 1), *map(len, widths)]
    require(max(counts) <= len(declared), sentence)
    plain = ALGORITHMS[name].init
    expected = jax.eval_shape(lambda key: plain(key, settings, space), jax.random.key(0))
    bits = jax.eval_shape(jax.random.key_data, expected.key)
    leaves = named_leaves(replace(expected, key=bits))
    require(declared == {key: (leaf.shape, leaf.dtype) for key, leaf in leaves.items()}, sentence)


def named_leaves(tree: Any) -> dict[str, Any]:
    """The leaves of a tree by their paths, as the arrays of a file are called."""
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): leaf for path, leaf in paths}


def restored_space(stored: dict[str, Any]) -> networks.Space:
    """The space that was written as JSON, if it is one."""
    space = networks.Space.restored(stored)
    for name in ("n_states", "n_actions", "first_state", "first_action", "shape", "factors"):
        value = getattr(space, name)
        require(
            value is None or all(map(_is_whole, jax.tree.leaves(value))),
            f"its space has {name} {value!r}; it must be made of integers",
        )
    width = sum(part.width for part in space.parts)
    require(
        space.n_actions >= 1
        and min(space.shape, default=0) >= 0
        and (space.n_states is None or space.n_states >= 1)
        and (not space.factors or math.prod(n for n, _ in space.factors) == space.n_actions)
        and all(map(_is_part, space.parts))
        and (not space.parts or space.shape == (width,))
        and isinstance(space.masked, bool),
        "its space cannot be that of such an agent",
    )
    return space


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_part(part: Any) -> bool:
    return (
        part.kind in PART_KINDS
        and all(isinstance(step, (str, int)) for step in part.path)
        and all(_is_whole(side) and side >= 0 for side in part.shape)
        and all(isinstance(number, (int, float)) for number in part.options)
        and (part.kind not in CODED or all(n >= 1 for n, _ in part.categories))
    )


def check_consistency(agent: "DeepAgent") -> None:
    """Refuse numbers that contradict each other."""
    state, space, steps = agent.state, agent.space, agent.steps
    episode, table, rows = agent._episode, agent.episodes.table, len(agent.episodes)
    fits = {
        "steps": int(state.t) == min(steps, learning.MOST),
        "episodes": np.isfinite(table).all()
        and int(state.episodes) == rows
        and np.isin(table[:, 2], (0, 1)).all()
        and (table[:, 1] >= 1).all()
        and (np.diff(table[:, 3], prepend=0) >= 0).all()  # lanes take their steps in turns
        and (table[:, 3] >= table[:, 1]).all()
        and (rows == 0 or table[-1, 3] <= steps),
        "observation": is_in(space, agent._observation.observation),
        "episode": episode is None
        or (
            _is_whole(episode.number)
            and episode.number >= rows
            and episode.hyde == int(state.hyde_acts)
            and np.isfinite(episode.total)
            and len(episode.actions) <= steps
            and _are_actions(space, [episode.next_action, *episode.actions])
        ),
    }
    if state.sums is not None:
        fits["sums"] = bool(state.sums.lowest <= 0.0 <= state.sums.highest)
    for name, replay in (("replay", state.everyone), ("replay of Hyde", state.hyde)):
        if replay is not None:
            fits[name] = _is_replay(space, replay, steps + agent.imported)
    for name, fit in fits.items():
        require(fit, f"its {name} cannot be that of such an agent")


def _is_replay(space: networks.Space, replay: learning.Replay, steps: int) -> bool:
    data = jax.tree.map(np.asarray, replay.data)
    size, position, capacity = int(replay.size), int(replay.position), len(data.reward)
    return bool(
        0 <= position < capacity
        and 0 <= size <= min(capacity, steps)
        and size in (capacity, position)
        and _are_actions(space, data.action)
        and is_in(space, data.observation)
        and is_in(space, data.following)
        and np.isfinite(data.reward).all()
        and np.isin(data.discount, (0.0, 1.0)).all()
    )


def _are_actions(space: networks.Space, actions: Any) -> bool:
    numbers = np.asarray(actions)
    return numbers.dtype.kind == "i" and bool(((numbers >= 0) & (numbers < space.n_actions)).all())


def is_in(space: networks.Space, observations: Any) -> bool:
    """Whether observations, as networks are given them, can be of the space."""
    if space.n_states is None:
        return all(np.isfinite(part).all() for part in jax.tree.leaves(observations))
    return bool(((observations >= 0) & (observations < space.n_states)).all())
