"""The random stream of a run: xoshiro256++ on four words of state, seeded from (seed, run) and
nothing else. It does not know threads, order or time, and saving the words makes resuming exact.
"""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import phase

Words = NDArray[np.uint64]
U11, U17, U19, U23, U41, U45 = (np.uint64(k) for k in (11, 17, 19, 23, 41, 45))


def stream(seed: int, run: int) -> Words:
    """The state [4] from which run number `run` starts."""
    return np.asarray(np.random.SeedSequence((seed, run)).generate_state(4, np.uint64), np.uint64)


@phase
def number_of(x: np.uint64, w: np.uint64) -> float:
    """The number in [0, 1) that the first and the last word make."""
    mixed = x + w
    bits = ((mixed << U23) | (mixed >> U41)) + x
    return np.float64(bits >> U11) * 2.0**-53


@phase
def next_numbers(words: Words) -> tuple[float, float]:
    """What the next two calls of `uniform` will give; the stream stays where it is."""
    x, w = words[0], words[3]
    changed = w ^ words[1]
    return number_of(x, w), number_of(x ^ changed, (changed << U45) | (changed >> U19))


@phase
def uniform(words: Words) -> float:
    """The next number of the stream, uniform in [0, 1)."""
    x, y, z, w = words[0], words[1], words[2], words[3]
    number = number_of(x, w)
    shifted = y << U17
    z ^= x
    w ^= y
    words[1] = y ^ z
    words[0] = x ^ w
    words[2] = z ^ shifted
    words[3] = (w << U45) | (w >> U19)
    return number
