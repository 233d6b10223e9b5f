"""Numba's compiler behind a few typed decorators, so that every kernel is compiled the same way.

`contract` lets the compiler fuse a*b + c, as C compilers do; a `reduction` may also split a sum
into partial sums. No other liberty is taken with floating point. Kernels release the interpreter's
lock: runs go in parallel on plain threads.

A choice is a NamedTuple with methods, and `by_type` makes a phase of one of them: the type of its
first argument selects the code, compiled or not.

Compiled code is kept on disk. Numba stamps it with the kernel's own file only, so that an edit of a
function that the kernel calls would go unnoticed; here the stamp is that of all files of the
package. Where the disk or Numba does not play along, code is compiled anew in every process.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.extending import intrinsic, overload

from jekyllhyde.references import digest_of

F = TypeVar("F", bound=Callable[..., object])
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use and keep the result on disk.

    A kernel allocates no memory, so that no references need be counted: Numba would count those to
    every array that a record hands out, two locked memory operations each.
    """
    return _compile(function, {"contract"})


def allocating(function: F) -> F:
    """As `kernel`, for a function that makes arrays."""
    return _compile(function, {"contract"}, _nrt=True)


def phase(function: F) -> F:
    """As `kernel`, and inlined into its caller by LLVM: for the phases of a loop."""
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
    options = {**OPTIONS, "forceinline": True, "fastmath": {"contract"}}
    overload(dispatch, strict=False, jit_options=options)(implementation)
    return dispatch


def for_choices(kernel: F, choices: Any) -> F:
    """The kernel for these choices: itself, or a copy of it for classes of the user's own.

    The copy's code is kept apart under the digests of the user's files, so that an edit of one
    makes another kernel, and no other process meets a class that it cannot import.
    """
    own = sorted({digest_of(cls) for cls in _own_classes(choices)})
    return kernel if not own or not hasattr(kernel, "py_func") else _copy(kernel, tuple(own))


def _own_classes(record: Any) -> set[type]:
    """The types of a record and of the records in it that are not of this package."""
    if not isinstance(record, tuple):
        return set()
    own = set().union(*(_own_classes(part) for part in record))
    is_record = type(record) is not tuple and not type(record).__module__.startswith("jekyllhyde.")
    return own | {type(record)} if is_record else own


@lru_cache(maxsize=256)
def _copy(kernel: Any, digests: tuple[str, ...]) -> Any:
    copy = numba.njit(cache=all(digests), **OPTIONS, fastmath={"contract"})(kernel.py_func)
    if all(digests):
        _stamp(copy, "-".join(digests) + "-")
    return copy


def sqrt(x: float) -> float:
    """The square root: one instruction, where math.sqrt would be a call and np.sqrt not on a GPU."""
    return math.sqrt(x)


@intrinsic
def _sqrt(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.sqrt", [arguments[0].type])
        return builder.call(function, arguments)

    return numba.float64(numba.float64), generate


@overload(sqrt, strict=False, jit_options={**OPTIONS, "forceinline": True})
def _compiled_sqrt(x: Any) -> Any:
    return lambda x: _sqrt(float(x))


def _compile(function: F, fastmath: set[str], **options: Any) -> F:
    settings = {**OPTIONS, "fastmath": fastmath, **options}
    try:
        compiled = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # no folder in which compiled code could be kept
        _say_uncached()
        return cast(F, numba.njit(**settings)(function))
    if hasattr(compiled, "py_func"):  # else Numba is switched off, and it is the function itself
        _stamp(compiled)
    return cast(F, compiled)


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of compiled code; what cannot be read counts as absent, and is made again."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # truncated, or written by a version with other classes
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise OSError(f"{name} cannot be read") from error


def _stamp(compiled: Any, own: str = "") -> None:
    """Stamp a kernel's cache with the whole package; `own` keeps it apart from that of others."""
    try:
        file = compiled._cache._cache_file
        base = f"{own}{file._index_name.removesuffix('.nbi')}"
        compiled._cache._cache_file = _CacheFile(file._cache_path, base, _package_stamp())
    except AttributeError:  # Numba has changed inside
        _say_uncached()
        compiled._cache = NullCache()


@cache
def _say_uncached() -> None:
    warnings.warn(
        "compiled code cannot be kept on disk here; it is compiled anew in every process",
        stacklevel=2,
    )


@cache
def _package_stamp() -> str:
    """Changes whenever the content of a file of the package does."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
