"""Numba's compiler behind three typed decorators, so that every kernel is compiled the same way.

`contract` lets the compiler fuse a*b + c, as C compilers do; a `reduction` may also split a sum
into partial sums. No other liberty is taken with floating point. Kernels release the interpreter's
lock: runs go in parallel on plain threads.

Compiled code is kept on disk. Numba stamps it with the kernel's own file only, so that an edit of a
function that the kernel calls would go unnoticed; here the stamp is that of all files of the
package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use and keep the result on disk."""
    return _compile(function, {"contract"})


def phase(function: F) -> F:
    """As `kernel`, and inlined into its caller by LLVM: for the phases of a loop.

    A call, or inlining by Numba, counts references to every array argument: two locked memory
    operations each.
    """
    return _compile(function, {"contract"}, forceinline=True)


def reduction(function: F) -> F:
    """As `kernel`, and a sum may be taken in several partial sums at once."""
    return _compile(function, {"contract", "reassoc"})


def _compile(function: F, fastmath: set[str], **options: Any) -> F:
    compiled = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath=fastmath, **options
    )(function)
    compiled._cache._cache_file._source_stamp = _stamp()
    return cast(F, compiled)


@cache
def _stamp() -> str:
    """Changes whenever a file of the package does."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        status = path.stat()
        digest.update(f"{path.name} {status.st_mtime_ns} {status.st_size}".encode())
    return digest.hexdigest()
