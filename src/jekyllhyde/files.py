"""The floor's files: whatever is written is written whole, or what was there stays as it was.

A file is written beside its place under a name of its own, flushed to the disk, and put in place
by one rename. A folder is filled beside its place and swapped in. Failures are one `InputError`
that names the path.
"""

import contextlib
import ctypes
import errno
import glob
import io
import json
import math
import os
import shutil
import stat
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from jekyllhyde.errors import InputError


@contextlib.contextmanager
def refused(what: str) -> Iterator[None]:
    """An operating system's error inside becomes one sentence: `what`, and why."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {error.strerror or error}") from error


def prepare_folder(folder: Path, field: str = "out") -> Path:
    """Make sure, before any work is done, that results can be written to `folder`."""
    with refused(f"{field} is {str(folder)!r}; it cannot be written to"):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
    return folder


def open_file(path: Path) -> io.BufferedReader:
    """A file opened to be read; a pipe or a device, which may never answer, is refused."""
    descriptor = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file")
    return os.fdopen(descriptor, "rb")


def plain_size(path: Path) -> int:
    """The size of a file; -1 of what is there and none: a pipe, a folder, a link to nowhere."""
    try:
        about = path.stat()
    except OSError:
        if path.is_symlink():
            return -1
        raise
    return about.st_size if stat.S_ISREG(about.st_mode) else -1


def read_file(path: Path, most: int) -> bytes:
    """The content of a file, of so many bytes at most."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {size:,} bytes, and may have {most:,}")
        return file.read(most)


@contextlib.contextmanager
def partial_file(path: Path, content: bytes | Callable[[BinaryIO], object]) -> Iterator[Path]:
    """A file with this content, or filled by this function, beside `path` and on the disk, to be
    renamed by the caller; what is not renamed is removed. Its lock says that its writer lives.
    """
    partial = path.with_name(f".{uuid.uuid4().hex}.tmp")
    with contextlib.ExitStack() as stack:
        stack.callback(partial.unlink, missing_ok=True)
        file = stack.enter_context(partial.open("xb"))
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # not every file system has locks
                _try_lock(file)
        file.write(content) if isinstance(content, bytes) else content(file)
        file.flush()
        os.fsync(file.fileno())
        if sys.platform == "win32":  # where an open file cannot be renamed
            file.close()
        yield partial


def remove_abandoned(folder: Path, seconds: float) -> None:
    """Remove the partial files of writers that died, which are that old by the folder's own clock
    and locked by nobody; an `OSError` where the folder cannot be written to.
    """
    probe = folder / f".{uuid.uuid4().hex}.tmp"
    probe.touch()
    now = probe.stat().st_mtime
    probe.unlink()
    for partial in folder.glob(".*"):
        with contextlib.suppress(OSError), open_file(partial) as file:
            age = now - os.fstat(file.fileno()).st_mtime
            if age > seconds and (sys.platform == "win32" or _try_lock(file)):
                partial.unlink()


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file that then takes the place of `path`."""
    with refused(f"cannot write {path}"), partial_file(path, write) as partial:
        partial.replace(path)


def sync_folder(folder: Path) -> None:
    """Put the renaming of a file in this folder on the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def locked(path: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold the lock of this name; others wait until it is given back, or its holder has ended.
    `waiting` is called now and then meanwhile; what it raises ends the wait.
    """
    with path.open("ab") as file:
        while not _try_lock(file):
            waiting()
            time.sleep(0.02)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    # Whether the file's lock, which nobody else then gets until the file is closed, is ours now.
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def write_text(path: Path, text: str) -> None:
    """A text file, in UTF-8."""
    write_file(path, lambda file: file.write(text.encode()))


def write_json(path: Path, value: Any) -> None:
    """A JSON file; numbers that are not finite are refused."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def read_json(path: Path, most: int = 1 << 26) -> Any:
    """The content of a JSON file of at most so many bytes; NaN and infinities are refused."""

    def finite(word: str) -> float:
        number = float(word)
        if not math.isfinite(number):
            raise InputError(f"{path.name} has the number {word}")
        return number

    return json.loads(read_file(path, most), parse_constant=finite, parse_float=finite)


def write_toml(path: Path, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """A TOML file of tables of texts, numbers, and lists of them."""
    lines = []
    for title, table in tables.items():
        lines += [f"[{title}]", *(f"{key} = {_toml(value)}" for key, value in table.items()), ""]
    write_text(path, "\n".join(lines))


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return repr(float(value))  # infinity too, which JSON does not know
    return json.dumps(value).replace("\x7f", "\\u007f")


def write_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Arrays by name, without pickle."""
    write_file(path, lambda file: np.savez(file, allow_pickle=False, **arrays))


def read_npz(path: Path) -> dict[str, Any]:
    """Arrays by name, after checking that they take no more memory than the file has bytes."""
    headers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    with open_file(path) as file:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                with archive.open(entry) as member:
                    major, _ = np.lib.format.read_magic(member)
                    shape, _, kind = headers[major](member)
                    size = member.tell() + math.prod(shape) * kind.itemsize
                if entry.compress_type != zipfile.ZIP_STORED or size != entry.file_size:
                    raise InputError(f"its array {entry.filename!r} has another size than it says")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def write_parquet(path: Path, columns: Any) -> None:
    """A Parquet file from columns by name, or from a PyArrow table."""
    import pyarrow.parquet

    table = columns if isinstance(columns, pyarrow.Table) else pyarrow.table(dict(columns))
    write_file(path, lambda file: pyarrow.parquet.write_table(table, file))


def write_folder(folder: Path, fill: Callable[[Path], object]) -> None:
    """Let `fill` write into a new folder that then takes the place of `folder`.

    The two are exchanged in one operation where the system has one: a kill at any moment leaves the
    old or the new folder. What a killed process has left beside it is removed.
    """
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
    with refused(f"cannot write the folder {folder}"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
        try:
            partial.mkdir()
            fill(partial)
            for file in partial.iterdir():
                with file.open("rb") as content:
                    os.fsync(content.fileno())
            if not folder.exists():
                partial.replace(folder)
            elif not _exchange(partial, folder):
                old = partial.with_suffix(".old")
                folder.replace(old)
                partial.replace(folder)
                partial = old
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    # Whether two folders could be exchanged in one operation: Linux's renameat2.
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and not rename(
        here, os.fsencode(one), here, os.fsencode(other), exchange
    )


def _remove_leftovers(folder: Path) -> None:
    # What processes that have ended have left of this folder.
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}.*.*.tmp"):
        process = leftover.name.split(".")[-3]
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_running(process: int) -> bool:
    if sys.platform == "win32":
        return True  # it cannot be told without ending it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
