"""Kernels for a GPU: the same source, compiled to PTX by numba-cuda; no card is needed for that.

What compiles: NamedTuples of arrays and scalars, one within the other too, choices by type, `math`
functions. What does not: memory that is allocated, `np.exp` and the like, `_replace`, `reshape`.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

    cuda: Any = importlib.import_module("numba.cuda")
    source = getattr(function, "py_func", function)
    signature = tuple(map(typeof, arguments))
    with _without_card():
        ptx, _ = cuda.compile_ptx(source, signature, device=True, cc=COMPUTE_CAPABILITY)
    return str(ptx)


@contextmanager
def _without_card() -> Iterator[None]:
    # Answer for a card that is not there: the compiler asks for its kind at every inner call.
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    ask = dispatcher.get_current_device
    card = SimpleNamespace(compute_capability=COMPUTE_CAPABILITY)
    dispatcher.get_current_device = lambda: card
    try:
        yield
    finally:
        dispatcher.get_current_device = ask
