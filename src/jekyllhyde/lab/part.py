"""One part file of a store: its columns, what it holds, who made it, and what may be wrong with it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jekyllhyde import __version__
from jekyllhyde.errors import InputError
from jekyllhyde.lab.values import canonical

TEXT = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("cell", TEXT),
        ("id", TEXT),
        ("experiment", TEXT),
        ("series", TEXT),
        ("x", pa.float64()),
        ("settings", TEXT),
        ("run", pa.int32()),
        ("failure", pa.string()),
        ("end", pa.int64()),
        ("steps", pa.int64()),
        ("time", pa.int64()),
        ("time_both", pa.int64()),
        ("time_global", pa.int64()),
        ("time_jekyll", pa.int64()),
        ("J_norm_end", pa.float64()),
        ("J_norm_jekyll_end", pa.float64()),
        ("at", pa.list_(pa.int32())),
        ("J_norm", pa.list_(pa.float64())),
        ("J_norm_jekyll", pa.list_(pa.float64())),
        ("score", pa.list_(pa.float64())),
        ("exact_score", pa.list_(pa.float64())),
    ]
)
KEY = b"jekyllhyde"
UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError)

Stretch = list[Any]  # [cell, id, first, last, failed], as `Held` without the part


@dataclass(frozen=True, slots=True)
class Held:
    """What one part holds of one cell: runs [first, last), of which some failed."""

    part: str
    cell: str
    id: str
    first: int
    last: int
    failed: int


def is_part(name: str) -> bool:
    """Whether a file of this name is a part."""
    return name.endswith(".parquet") and not name.startswith(".")


def part_name(data: bytes) -> str:
    """A part is named after its content."""
    return hashlib.sha256(data).hexdigest()[:20] + ".parquet"


def encode(table: pa.Table, about: Mapping[str, Any]) -> bytes:
    """The file's bytes: a table, and what is to be known about it."""
    buffer = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata({KEY: json.dumps(about)}),
        buffer,
        compression="zstd",
        write_page_checksum=True,
    )
    return buffer.getvalue()


def read_table(
    path: Path | io.BytesIO, columns: list[str] | None = None, cells: Iterable[str] | None = None
) -> pa.Table:
    """The rows, every page checked against its checksum; only those of `cells` if these are given."""
    only = None if cells is None else [("cell", "in", sorted(cells))]
    wanted = SCHEMA.names if columns is None else columns
    there = set(pq.read_schema(path).names)
    if isinstance(path, io.BytesIO):
        path.seek(0)
    found = pq.read_table(
        path,
        columns=[name for name in wanted if name in there],
        filters=only,
        page_checksum_verification=True,
        partitioning=None,
    )
    for name in wanted:
        if name not in there:  # the column is newer than this part
            found = found.append_column(
                SCHEMA.field(name), pa.nulls(len(found), SCHEMA.field(name).type)
            )
    return found.select(wanted).replace_schema_metadata(None)


def read_about(path: Path | io.BytesIO) -> dict[str, Any]:
    """What is known about a part: `held`, and its provenance."""
    metadata = pq.read_metadata(path).metadata
    if metadata is None or KEY not in metadata:
        raise ValueError("it was not written by this library")
    return dict(json.loads(metadata[KEY]))


def stretches(rows: Iterable[tuple[str, str, int, str | None]]) -> list[Stretch]:
    """The stretches of consecutive runs among rows of (cell, id, run, failure), in order of cell
    and run.
    """
    found: list[Stretch] = []
    for cell, id, run, failure in sorted(rows, key=lambda row: (row[0], row[2])):
        if found and found[-1][0] == cell and found[-1][3] == run:
            found[-1][3] += 1
            found[-1][4] += failure is not None
        else:
            found.append([cell, id, run, run + 1, int(failure is not None)])
    return found


def keys_of(table: pa.Table) -> list[tuple[str, str, int, str | None]]:
    """Per row what `stretches` takes."""
    return list(
        zip(*(table[name].to_pylist() for name in ("cell", "id", "run", "failure")), strict=True)
    )


def problem_of(path: Path) -> str | None:
    """What is wrong with a part, if anything: its name, its pages, what it says it holds, or its
    settings.
    """
    try:
        data = path.read_bytes()
        held = read_about(io.BytesIO(data))["held"]
        if path.name not in (part_name(data), _old_name(held)):
            return "its content is not the one it was named after"
        table = read_table(io.BytesIO(data))
        if stretches(keys_of(table)) != sorted(held, key=lambda one: (one[0], one[2])):
            return "its rows are not those that its metadata lists"
        for cell, settings in set(
            zip(table["cell"].to_pylist(), table["settings"].to_pylist(), strict=True)
        ):
            if hashlib.sha256(settings.encode()).hexdigest()[:16] != cell:
                return f"the settings of cell {cell} are others"
    except UNREADABLE as error:
        return first_line(error)
    return None


def _old_name(held: list[Stretch]) -> str:
    """Parts were named after the runs that they hold, before they were named after their content."""
    return (
        hashlib.sha256(
            canonical([[cell, first, last] for cell, _, first, last, _ in held]).encode()
        ).hexdigest()[:20]
        + ".parquet"
    )


def first_line(error: Exception) -> str:
    """An error in a line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


# Files.


@contextlib.contextmanager
def partial_file(path: Path, data: bytes) -> Iterator[Path]:
    """A file with this content beside `path`, on the disk, to be renamed; what is not is removed."""
    partial = path.with_name(
        f".{path.name}.{platform.node()}.{os.getpid()}.{time.monotonic_ns()}.partial"
    )
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Put the renaming of a file in this folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def written(folder: Path) -> Iterator[None]:
    """A failure to write becomes one sentence."""
    try:
        yield
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise InputError(f"store is {str(folder)!r}; it cannot be written to ({reason})") from None


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Where and with what the work is done."""
    return {
        "version": __version__,
        "commit": _commit(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
    }


def _commit() -> str | None:
    """The commit of this package, where it lies in a repository of its own (and is not just
    installed below another one).
    """
    here = Path(__file__).resolve().parent.parent
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        for command in (["ls-files", "--error-unmatch", "__init__.py"], ["rev-parse", "HEAD"]):
            found = subprocess.run(
                ["git", "-C", str(here), *command],
                capture_output=True,
                text=True,
                timeout=5,
                check=False,
            )
            if found.returncode != 0:
                return None
        return found.stdout.strip() or None
    return None
