"""What the spaces of a Gymnasium environment are made of, and its observations as arrays.

    Box              numbers; an image where it is bounded and two of its sides have 16 or more
    Discrete         a one-hot code; 20 fixed random numbers where there are more than 512
    MultiDiscrete    the same for each of its entries
    MultiBinary      its bits
    Dict, Tuple      their parts, one after the other
    Text             nothing: it is left out

Where the environment says that a Box is a grid of categories (`minigrid_cells`), each cell is a
one-hot code.

An observation becomes a vector, numbers first and codes after them, and images apart from it, each
[height, width, channels] in 8 bits. An action is an index: of a Discrete space, or of the product
of a MultiDiscrete or MultiBinary one.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require

SIDE = 16  # of the smallest image
MOST_BITS = 512  # of a one-hot code
CODE = 20  # numbers that stand for one of many categories
MOST_ACTIONS = 10_000
CODED = ("categories", "cells")
Array = NDArray[Any]


class Part(NamedTuple):
    """A part of an observation.

    path : keys and indices that lead to it.  kind : numbers, image, categories, cells, bits or
    text.  shape : of the array that is found there.  options : of an image its bounds, of
    categories and cells the number of each and the first of each, in turns.
    """

    path: tuple[str | int, ...]
    kind: str
    shape: tuple[int, ...]
    options: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """Where it is, as sentences say it: observation['door'][0]."""
        return "observation" + "".join(f"[{step!r}]" for step in self.path)

    @property
    def width(self) -> int:
        """How many numbers of the vector it becomes."""
        if self.kind in CODED:
            return sum(n if n <= MOST_BITS else CODE for n, _ in self.categories)
        return math.prod(self.shape) if self.kind in ("numbers", "bits") else 0

    @property
    def categories(self) -> list[tuple[int, int]]:
        """How many there are of each, and the first of each."""
        whole = [int(x) for x in self.options]
        return list(zip(whole[::2], whole[1::2], strict=True))

    @property
    def image(self) -> tuple[int, int, int]:
        """Height, width and channels of an image; the channels are the shorter of the first and the
        last of three axes.
        """
        if len(self.shape) == 2:
            return *self.shape, 1
        a, b, c = self.shape
        return (b, c, a) if a < c else (a, b, c)


def parts_of(space: Any, kinds: tuple[int, ...] = ()) -> tuple[Part, ...]:
    """The parts of an observation space; one that cannot be taken is refused. `kinds` are how many
    there are in each channel of grids of categories, where the environment has such.
    """
    return tuple(_parts(space, (), kinds))


def _parts(space: Any, path: tuple[str | int, ...], kinds: tuple[int, ...]) -> Iterator[Part]:
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        inner: Any = space.spaces  # by name, or in order
        for step in inner if isinstance(space, spaces.Dict) else range(len(inner)):
            yield from _parts(inner[step], (*path, step), kinds)
    elif isinstance(space, spaces.Box) and kinds and _is_grid(space, len(kinds)):
        of_a_cell = [number for n in kinds for number in (n, 0)]
        yield Part(path, "cells", space.shape, (*of_a_cell,) * math.prod(space.shape[:2]))
    elif isinstance(space, spaces.Box) and is_picture(space):
        yield Part(path, "image", space.shape, (float(space.low.min()), float(space.high.max())))
    elif isinstance(space, spaces.Box):
        yield Part(path, "numbers", space.shape)
    elif isinstance(space, spaces.Discrete):
        yield Part(path, "categories", (), (int(space.n), int(space.start)))
    elif isinstance(space, spaces.MultiDiscrete):
        pairs = np.stack([space.nvec.ravel(), space.start.ravel()], -1)
        yield Part(path, "categories", space.shape, tuple(pairs.ravel().tolist()))
    elif isinstance(space, spaces.MultiBinary):
        yield Part(path, "bits", space.shape)
    elif getattr(space.dtype, "kind", "") == "U":  # Text, and others' spaces of words
        yield Part(path, "text", ())
    else:
        raise InputError(
            f"{Part(path, '', ()).name} is of the space {space}; agents take Box, Discrete, "
            "MultiDiscrete, MultiBinary, Dict and Tuple, and "
            "gymnasium.wrappers.TransformObservation makes it one of these"
        )


def is_picture(space: spaces.Box) -> bool:
    """Whether a Box holds images: 2 or 3 axes, two of which have 16 or more, and equal bounds."""
    return (
        len(space.shape) in (2, 3)
        and sorted(space.shape)[-2] >= SIDE
        and bool(np.isfinite(space.low).all() and np.isfinite(space.high).all())
        and bool((space.low == space.low.min()).all() and (space.high == space.high.max()).all())
    )


def _is_grid(space: spaces.Box, channels: int) -> bool:
    # as it is before wrappers make a picture of it, or other numbers
    return (
        space.dtype == np.uint8
        and len(space.shape) == 3
        and space.shape[2] == channels
        and not is_picture(space)
        and bool((space.low == 0).all() and (space.high == 255).all())
    )


def is_binary(parts: tuple[Part, ...]) -> bool:
    """Whether the vector of an observation is ones and zeros alone, and long: then it is kept as
    such.
    """
    return any(part.kind == "cells" for part in parts) and all(
        part.kind in ("bits", "image", "text")
        or (part.kind in CODED and max(n for n, _ in part.categories) <= MOST_BITS)
        for part in parts
    )


def factors_of(space: Any) -> tuple[tuple[int, int], ...]:
    """How many actions there are along each axis of an action space, and the first of each."""
    if isinstance(space, spaces.Discrete):
        return ((int(space.n), int(space.start)),)
    if isinstance(space, spaces.MultiBinary):
        return ((2, 0),) * math.prod(space.shape)
    if not isinstance(space, spaces.MultiDiscrete):
        raise InputError(
            f"env has the action space {space}; agents take Discrete, MultiDiscrete and "
            "MultiBinary ones: choose some actions and number them, with "
            "gymnasium.wrappers.TransformAction(env, table.__getitem__, Discrete(len(table)))"
        )
    factors = [
        (int(n), int(first)) for n, first in zip(space.nvec.flat, space.start.flat, strict=True)
    ]
    n_actions = math.prod(n for n, _ in factors)
    require(
        n_actions <= MOST_ACTIONS,
        f"env has the action space {space}, whose product has {n_actions} actions; "
        f"agents take at most {MOST_ACTIONS}",
    )
    return tuple(factors)


def take_apart(parts: tuple[Part, ...], observation: Any) -> tuple[Array, tuple[Array, ...]]:
    """The vector [..., n] and the images of an observation, or of a batch of them."""
    vectors: list[Array] = []
    codes: list[Array] = []
    images: list[Array] = []
    for part in parts:
        if part.kind == "text":
            continue
        array = _array(part, observation)
        if part.kind == "image":
            images.append(_pixels(part, array))
        elif part.kind in CODED:
            codes.append(_codes(part, array))
        else:
            leading = array.shape[: array.ndim - len(part.shape)]
            flat = finite(array, part.name).reshape(*leading, part.width)
            (vectors if part.kind == "numbers" else codes).append(flat)
    if not vectors and not codes:
        leading = images[0].shape[:-3] if images else ()
        return np.zeros((*leading, 0), np.float32), tuple(images)
    vector = np.concatenate([*vectors, *codes], -1)
    return vector.astype(bool) if is_binary(parts) else vector, tuple(images)


def finite(array: Array, name: str) -> NDArray[np.float32]:
    """A copy in 32 bits, for environments that write into what they returned; all of its numbers
    are finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = np.array(array, np.float32)
    if not np.isfinite(narrow).all():
        wrong = np.asarray(array)[~np.isfinite(narrow)].ravel()[0]
        raise InputError(f"the {name} has the number {wrong}; agents take finite ones")
    return narrow


def _array(part: Part, observation: Any) -> Array:
    # What is found at the part's place, of its shape but for leading axes of a batch.
    found = observation
    try:
        for step in part.path:
            found = found[step]
    except (KeyError, IndexError, TypeError):
        raise InputError(f"the observation is without {part.name}") from None
    array = np.asarray(found)
    is_one = array.shape[array.ndim - len(part.shape) :] == part.shape
    if not (is_one and array.dtype.kind in "iufb"):
        raise InputError(
            f"the {part.name} has the shape {array.shape} of {array.dtype}; "
            f"it must end in {part.shape}, and be of numbers"
        )
    return array


def _pixels(part: Part, array: Array) -> NDArray[np.uint8]:
    low, high = part.options
    if array.dtype != np.uint8 or (low, high) != (0, 255):
        scaled = (finite(array, part.name) - low) / max(high - low, 1e-30)
        array = np.clip(np.rint(255.0 * scaled), 0, 255).astype(np.uint8)
    if len(part.shape) == 2:
        array = array[..., None]
    elif part.image != part.shape:
        array = np.moveaxis(array, -3, -1)
    return np.array(array, order="C")


class _Layout(NamedTuple):
    # Of codes that lie one after another: how many categories each has, its first, where it begins.
    counts: NDArray[np.int64]
    firsts: NDArray[np.int64]
    begins: NDArray[np.int64]


@lru_cache(maxsize=256)
def _layout(part: Part) -> _Layout:
    counts, firsts = np.array(part.categories, np.int64).reshape(-1, 2).T
    widths = np.where(counts <= MOST_BITS, counts, CODE)
    return _Layout(counts, firsts, np.cumsum(widths) - widths)


def _codes(part: Part, array: Array) -> NDArray[np.float32]:
    leading = array.shape[: array.ndim - len(part.shape)]
    counts, firsts, begins = _layout(part)
    index = array.reshape(-1, len(counts)).astype(np.int64) - firsts
    wrong = np.argwhere((index < 0) | (index >= counts))
    if len(wrong):
        row, i = wrong[0]
        raise InputError(
            f"the {part.name} is {index[row, i] + firsts[i]}; it must be an integer from "
            f"{firsts[i]} to {firsts[i] + counts[i] - 1}"
        )
    codes = np.zeros((len(index), part.width), np.float32)
    is_short = counts <= MOST_BITS
    np.put_along_axis(codes, (begins + index)[:, is_short], 1.0, axis=-1)
    for i in np.flatnonzero(~is_short):
        codes[:, begins[i] : begins[i] + CODE] = _random_codes(index[:, i])
    return codes.reshape(*leading, part.width)


def _random_codes(index: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.array([_random_code(int(i)) for i in index], np.float32).reshape(len(index), CODE)


@lru_cache(maxsize=1 << 16)
def _random_code(index: int) -> NDArray[np.float32]:
    return np.random.default_rng(index).standard_normal(CODE, np.float32)
