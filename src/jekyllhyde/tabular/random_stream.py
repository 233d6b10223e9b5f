"""A random stream per run: xoshiro256++ on four words of state, seeded from (seed, run) and nothing
else.

The stream does not know threads, order or time, and its whole state is one array: saving it makes
resuming exact.
"""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.jit import phase

Words = NDArray[np.uint64]
U11, U17, U19, U23, U41, U45 = (np.uint64(k) for k in (11, 17, 19, 23, 41, 45))
UNIT = 2.0**-53


def stream(seed: int, run: int) -> Words:
    """The state [4] from which run number `run` starts."""
    return np.asarray(
        np.random.SeedSequence((seed, run)).generate_state(4, np.uint64), dtype=np.uint64
    )


@phase
def uniform(words: Words) -> float:
    """The next number of the stream, uniform in [0, 1)."""
    x, y, z, w = words[0], words[1], words[2], words[3]
    mixed = x + w
    bits = ((mixed << U23) | (mixed >> U41)) + x
    shifted = y << U17
    z ^= x
    w ^= y
    words[1] = y ^ z
    words[0] = x ^ w
    words[2] = z ^ shifted
    words[3] = (w << U45) | (w >> U19)
    return np.float64(bits >> U11) * UNIT
