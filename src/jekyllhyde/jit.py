"""Numba's compiler behind a few typed decorators, so that every kernel is compiled the same way.

`contract` lets the compiler fuse a*b + c, as C compilers do; a `reduction` may also split a sum
into partial sums. No other liberty is taken with floating point. Kernels release the interpreter's
lock: runs go in parallel on plain threads.

A choice is a NamedTuple with methods, and `by_type` makes a phase of one of them: the type of its
first argument selects the code, compiled or not.

Compiled code is kept on disk. Numba stamps it with the kernel's own file only, so that an edit of a
function that the kernel calls would go unnoticed; here the stamp is that of all files of the floor
and of the rooms that have compiled code. What was compiled for the classes of another file is kept
in an index of its own, named by that file's digest. Every entry has a checksum, since LLVM does not
survive a truncated one. Where the disk or Numba does not play along, code is compiled anew in every
process.
"""

import hashlib
import importlib
import math
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core.serialize import dumps
from numba.extending import intrinsic, overload

from jekyllhyde.errors import InputError, need
from jekyllhyde.parallel import interruptible
from jekyllhyde.references import digest_of, file_digest

F = TypeVar("F", bound=Callable[..., object])
READ_AND_KEEP = (0, 3, 1)  # for reading, into the nearest cache, of data
ROOMS = ("mdp", "planning", "tabular")  # that have compiled code, beside the floor
COMPUTE_CAPABILITY = (8, 0)  # of the GPU that `compile_ptx` compiles for


@cache
def _say(sentence: str) -> None:
    warnings.warn(sentence, stacklevel=3)  # not the line of the sentence, but who asked


def _counting(references: bool) -> dict[str, bool]:
    # Numba's private option to count references to arrays, or not to.
    if hasattr(getattr(numba.core.cpu, "CPUTargetOptions", None), "_nrt"):
        return {"_nrt": references}
    _say("this Numba cannot be told to count no references; kernels are slower")
    return {}


OPTIONS: Any = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    **_counting(references=False),
}
INLINED: Any = {**OPTIONS, "forceinline": True}


def kernel(function: F, **options: Any) -> F:
    """Compile `function` to machine code on first use and keep the result on disk.

    A kernel allocates no memory, so that no references need be counted: Numba would count those to
    every array that a record hands out, two locked memory operations each.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)  # integers wrap around as in C
    compiler = partial(numba.njit, **{**OPTIONS, **options})
    try:
        compiled: Any = compiler(cache=True)(function)
        compiled._cache._cache_file = _CacheFiles(compiled._cache)
    except (RuntimeError, AttributeError):  # no folder for it, or Numba has changed inside
        _say("compiled code cannot be kept on disk here; it is compiled anew in every process")
        compiled = compiler()(function)
    if compile := getattr(compiled, "_compile_for_args", None):
        # in a thread of its own: an interrupt within LLVM's calls to Python would be lost
        compiled._compile_for_args = lambda *arguments, **named: interruptible(
            partial(compile, *arguments, **named)
        )
    return cast(F, compiled)


def allocating(function: F) -> F:
    """As `kernel`, for a function that makes arrays."""
    return kernel(function, **_counting(references=True))


def phase(function: F) -> F:
    """As `kernel`, and inlined into its caller by LLVM: for the phases of a loop."""
    return kernel(function, forceinline=True)


def reduction(function: F) -> F:
    """As `kernel`, and a sum may be taken in several partial sums at once."""
    return kernel(function, fastmath={"contract", "reassoc"})


def by_type(method: str, default: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A phase that the type of its first argument implements: f(choice, ...) is choice.method(...).

    A choice is a NamedTuple. In compiled code too the method is found by the type alone, so that a
    kernel has in it what its choices need, and nothing else. `default` serves types without it.
    """

    def dispatch(choice: Any, *arguments: Any) -> Any:
        return (getattr(type(choice), method, default) or getattr(choice, method))(
            choice, *arguments
        )

    def implementation(choice: Any, *arguments: Any) -> Any:
        return getattr(getattr(choice, "instance_class", None), method, default)

    dispatch.__name__ = method
    overload(dispatch, strict=False, jit_options=INLINED)(implementation)
    return dispatch


def sqrt(x: float) -> float:
    """The square root in one instruction: math.sqrt is a call, and a GPU does not have np.sqrt."""
    return math.sqrt(x)


@intrinsic
def _sqrt(typing_context: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.sqrt", [arguments[0].type])
        return builder.call(function, arguments)

    return numba.float64(numba.float64), generate


@overload(sqrt, strict=False, jit_options=INLINED)
def _compiled_sqrt(x: Any) -> Any:
    return lambda x: _sqrt(float(x))  # type: ignore[call-arg]


def fetch_ahead(array: Any, place: Any) -> None:
    """Let the processor fetch array[place] while it goes on; a place out of bounds does no harm."""


@intrinsic
def _fetch_ahead(typing_context: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if builder.module.triple.startswith("nvptx"):  # a GPU has other threads while one waits
            return context.get_dummy_value()
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        builder.call(function, [pointer, *(ir.Constant(number, value) for value in READ_AND_KEEP)])
        return context.get_dummy_value()

    return numba.void(array, place), generate


@overload(fetch_ahead, strict=False, jit_options=INLINED)
def _compiled_fetch_ahead(array: Any, place: Any) -> Any:
    def implementation(array: Any, place: Any) -> None:
        _fetch_ahead(array, place)  # type: ignore[call-arg]

    return implementation


def compile_ptx(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """PTX of a kernel for arguments like these, as a device function; no card is needed for it.

    What compiles: NamedTuples of arrays and scalars, one within the other too, choices by type,
    `math` functions. What does not, with the error that the compiler raises: memory that is
    allocated, `np.exp` and the like, `_replace`, `reshape`.
    """
    need("gpu")
    cuda = importlib.import_module("numba.cuda")
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    # the compiler asks for the card's kind at every inner call: answer for one that is not there
    ask = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=COMPUTE_CAPABILITY)
    try:
        source, types = getattr(function, "py_func", function), tuple(map(numba.typeof, arguments))
        return str(cuda.compile_ptx(source, types, device=True, cc=COMPUTE_CAPABILITY)[0])
    finally:
        dispatcher.get_current_device = ask


class _CacheFiles:
    """In the place of a kernel's index: one index for the package's types, one per foreign file.

    Numba's one index names every type that the kernel was compiled for, and a process in which the
    module of one of them is not loaded, as that of "file.py:Mine", fails to read it. What cannot be
    read (a truncated file, or one of a version with other classes) counts as absent.
    """

    def __init__(self, cache: Any) -> None:
        self._path, self._base = cache.cache_path, cache._impl.filename_base
        self._make, self.flush = type(cache._cache_file), cache._cache_file.flush
        self._file_of_kernel = cache._py_func.__code__.co_filename

    def load(self, key: Any) -> Any:
        try:
            checksum, data = self._file(key).load(key)
            return pickle.loads(data) if hashlib.sha256(data).digest() == checksum else None
        except Exception:
            return None

    def save(self, key: Any, compiled: Any) -> None:
        refuse_stale_modules()
        file, data = self._file(key), dumps(compiled)  # type: ignore[no-untyped-call]
        entry = hashlib.sha256(data).digest(), data
        try:
            file.save(key, entry)
        except Exception:
            file.flush()
            file.save(key, entry)

    def _file(self, key: Any) -> Any:
        types = getattr(key[0], "args", key[0])
        names = sorted({f"{cls.__module__}@{digest_of(cls)}" for cls in _foreign(types)})
        suffix = hashlib.sha256(" ".join(names).encode()).hexdigest()[:12] if names else "own"
        return self._make(self._path, f"{self._base}.{suffix}", self._stamp())

    def _stamp(self) -> str:
        # Of the package and, where it is not the package's, of the kernel's own file.
        home = Path(self._file_of_kernel)
        is_own = Path(__file__).parent not in home.parents and home.is_file()
        return _package_stamp() + (file_digest(home) if is_own else "")


def _foreign(types: Any) -> Iterator[type]:
    # The NamedTuples among these types, and within them, that are not the package's.
    for each in types:
        cls = getattr(each, "instance_class", None)
        if cls is not None and cls.__module__.partition(".")[0] != "jekyllhyde":
            yield cls
        if isinstance(each, numba.types.BaseTuple):
            yield from _foreign(each)


@cache
def refuse_stale_modules() -> None:
    """Refuse to go on with modules of the package that are not their files: Python keeps the old
    bytecode of a file that was edited to the same size within the same second.
    """
    for name, module in list(sys.modules.items()):
        loader, file = getattr(module, "__loader__", None), getattr(module, "__file__", None)
        if name.partition(".")[0] == "jekyllhyde" and isinstance(loader, SourceFileLoader) and file:
            code = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
            if code != loader.get_code(name):
                Path(cache_from_source(file)).unlink(missing_ok=True)
                raise InputError(f"{file} was edited, and Python has not noticed it; start again")


@cache
def _package_stamp() -> str:
    # Changes whenever the content of a file does that compiled code may come from.
    floor = Path(__file__).parent
    files = sorted(path for folder in ("", *ROOMS) for path in (floor / folder).glob("*.py"))
    contents = b"".join(path.read_bytes() for path in files)
    return hashlib.sha256(numba.__version__.encode() + contents).hexdigest()
