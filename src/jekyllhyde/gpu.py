"""Kernels for a GPU: the same source, compiled to PTX by numba-cuda; no card is needed for that.

What compiles: NamedTuples of arrays and scalars, one within the other too, choices by type, `math`
functions. What does not: memory that is allocated, `np.exp` and the like, `_replace`, `reshape`.
"""

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from jekyllhyde.errors import need

COMPUTE_CAPABILITY = (8, 0)


def compile_ptx(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """PTX of a kernel of this package for arguments like these, as a device function.

    Raises what the compiler raises where the source cannot be compiled for a GPU.
    """
    need("gpu")
    from numba import typeof

    cuda = importlib.import_module("numba.cuda")
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    # the compiler asks for the card's kind at every inner call: answer for one that is not there
    ask = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=COMPUTE_CAPABILITY)
    try:
        source, types = getattr(function, "py_func", function), tuple(map(typeof, arguments))
        return str(cuda.compile_ptx(source, types, device=True, cc=COMPUTE_CAPABILITY)[0])
    finally:
        dispatcher.get_current_device = ask
