"""What MiniGrid shows: a grid in which every cell has an object, a colour and a state.

They are numbered, and a key with the number 5 is not one more than a door with 4: the numbers are
names. The space does not say so, for it is a Box of 8 bits, as of a small image; the environment
does, and with `one_hot` agents take the cells as categories.
"""

from typing import Any

from gymnasium.vector import VectorEnv

OBJECTS, COLOURS, STATES = 11, 6, 4  # as many as MiniGrid numbers; states are also directions
HOME = "minigrid."


def kinds_of(env: Any) -> tuple[int, ...]:
    """How many kinds of objects, colours and states the cells of an environment have; none where it
    is not one of MiniGrid, nor a vector of them.
    """
    lanes = getattr(env, "envs", ()) if isinstance(env, VectorEnv) else ()
    inner = (lanes or [env])[0].unwrapped
    homes = [each.__module__ for each in type(inner).__mro__]
    homes.append(str(getattr(getattr(env, "spec", None), "entry_point", "")))
    return (OBJECTS, COLOURS, STATES) if any(home.startswith(HOME) for home in homes) else ()
