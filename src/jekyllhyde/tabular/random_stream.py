"""The random stream of a run: xoshiro256++ on four words of state, seeded from (seed, run) and
nothing else. It does not know threads, order or time, and saving the words makes resuming exact.
"""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import phase

Words = NDArray[np.uint64]
State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]
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
def following(words: State) -> State:
    """The state after the next number."""
    x, y, z, w = words
    shifted = y << U17
    z ^= x
    w ^= y
    return x ^ w, y ^ z, z ^ shifted, (w << U45) | (w >> U19)


@phase
def uniform(words: Words) -> float:
    """The next number of the stream, uniform in [0, 1)."""
    state = words[0], words[1], words[2], words[3]
    words[0], words[1], words[2], words[3] = following(state)
    return number_of(state[0], state[3])
