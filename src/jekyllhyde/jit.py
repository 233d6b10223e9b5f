"""Numba's compiler behind a few typed decorators, so that every kernel is compiled the same way.

`contract` lets the compiler fuse a*b + c, as C compilers do; a `reduction` may also split a sum
into partial sums. No other liberty is taken with floating point. Kernels release the interpreter's
lock: runs go in parallel on plain threads.

A choice is a NamedTuple with methods, and `by_type` makes a phase of one of them: the type of its
first argument selects the code, compiled or not.

Compiled code is kept on disk. Numba stamps it with the kernel's own file only, so that an edit of a
function that the kernel calls would go unnoticed; here the stamp is that of all files of the
package. What was compiled for the classes of another file is kept in an index of its own, named by
that file's digest. Where the disk or Numba does not play along, code is compiled anew in every
process.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import overload

from jekyllhyde.references import digest_of

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


def by_type(method: str) -> Callable[..., Any]:
    """A phase that the type of its first argument implements: f(choice, ...) is choice.method(...).

    A choice is a NamedTuple. In compiled code too the method is found by the type alone, so that a
    kernel has in it what its choices need, and nothing else.
    """

    def dispatch(choice: Any, *arguments: Any) -> Any:
        return getattr(choice, method)(*arguments)

    def implementation(choice: Any, *arguments: Any) -> Any:
        return getattr(getattr(choice, "instance_class", None), method, None)

    dispatch.__name__ = method
    options: Any = {"forceinline": True, "error_model": "numpy", "fastmath": {"contract"}}
    overload(dispatch, strict=False, jit_options=options)(implementation)
    return dispatch


def _compile(function: F, fastmath: set[str], **options: Any) -> F:
    settings = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **options}
    try:
        compiled = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # no folder in which compiled code could be kept
        _say_uncached()
        return cast(F, numba.njit(**settings)(function))
    _stamp(compiled)
    return cast(F, compiled)


def _stamp(compiled: Any) -> None:
    """Stamp a kernel's cache with the whole package; without a cache where that is not possible."""
    if not hasattr(compiled, "py_func"):  # Numba is switched off: the function itself
        return
    try:
        compiled._cache._cache_file._source_stamp = _package_stamp()
        compiled._cache._cache_file = _CacheFiles(compiled._cache)
    except AttributeError:
        _say_uncached()
        compiled._cache = numba.core.caching.NullCache()


class _CacheFiles:
    """In the place of a kernel's index: one index for the package's types, one per foreign file.

    Numba's one index names every type that the kernel was compiled for, and a process in which the
    module of one of them is not loaded, as that of "file.py:Mine", fails to read it.
    """

    def __init__(self, kept: Any) -> None:
        self._path, self._base = kept.cache_path, kept._impl.filename_base
        self.flush = kept._cache_file.flush

    def load(self, key: Any) -> Any:
        return self._file(key).load(key)

    def save(self, key: Any, data: Any) -> None:
        self._file(key).save(key, data)

    def _file(self, key: Any) -> Any:
        """The index in which a signature belongs."""
        classes = _foreign(getattr(key[0], "args", key[0]))
        names = sorted({f"{cls.__module__}@{digest_of(cls)}" for cls in classes})
        suffix = hashlib.sha256(" ".join(names).encode()).hexdigest()[:12] if names else "own"
        make: Any = numba.core.caching.IndexDataCacheFile
        return make(self._path, f"{self._base}.{suffix}", _package_stamp())


def _foreign(types: Any) -> Iterator[type]:
    """The NamedTuples among these types, and within them, that are not the package's."""
    for each in types:
        cls = getattr(each, "instance_class", None)
        if cls is not None and cls.__module__.partition(".")[0] != "jekyllhyde":
            yield cls
        if isinstance(each, numba.types.BaseTuple):
            yield from _foreign(each)


@cache
def _say_uncached() -> None:
    warnings.warn(
        "compiled code cannot be kept on disk here; it is compiled anew in every process",
        stacklevel=2,
    )


@cache
def _package_stamp() -> str:
    """Changes whenever a file of the package does."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        status = path.stat()
        digest.update(f"{path.name} {status.st_mtime_ns} {status.st_size}".encode())
    return digest.hexdigest()
