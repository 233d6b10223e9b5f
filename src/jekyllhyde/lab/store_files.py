"""The files of a store: the manifest of its folder, and the parts, with what may be wrong with
them. A part's columns:

| column                              | meaning                                             |
| ----------------------------------- | --------------------------------------------------- |
| cell, id                            | digest of the cell's settings; its name for people  |
| experiment, series, x               | where it belongs, as first computed; x is null      |
|                                     | where there is no number on that axis               |
| settings                            | JSON of the complete settings                       |
| run, failure                        | number of the run; why it failed, null if it did not|
| end, steps                          | updates or trajectories made; environment steps     |
| time                                | first evaluated count above the target, or null     |
| time_both, time_global, time_jekyll | the same for each criterion                         |
| J_norm_end, J_norm_jekyll_end       | normalized return when the run ended                |
| time_95, steps_95, time_99, steps_99| first evaluated counts with Jekyll above 0.95, 0.99 |
| regret                              | sum over trajectories of 1 - J_norm                 |
| at, J_norm, J_norm_jekyll           | lists: the curve, for runs without a target         |
| score, exact_score                  | lists: a deep agent's, at the training episodes `at`|
"""

import contextlib
import hashlib
import io
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jekyllhyde import __version__, files
from jekyllhyde.errors import InputError, require
from jekyllhyde.lab.cell_settings import canonical, text_digest
from jekyllhyde.lab.methods import METHODS

TEXT = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    {
        "cell": TEXT,
        "id": TEXT,
        "experiment": TEXT,
        "series": TEXT,
        "x": pa.float64(),
        "settings": TEXT,
        "run": pa.int32(),
        "failure": pa.string(),
    }
    | {name: kind for method in METHODS.values() for name, kind in method.columns.items()}
)
KEY = b"jekyllhyde"  # of what a part's metadata say about it
FORMAT = 1
ABANDONED = 3600.0  # seconds after which a file still being written is one whose writer died
UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError)

Stretch = Sequence[Any]  # [cell, id, first, last, failed], as `Held` without the part


@dataclass(frozen=True, slots=True)
class Held:
    """What one part holds of one cell: runs [first, last), of which some failed."""

    part: str
    cell: str
    id: str
    first: int
    last: int
    failed: int

    @property
    def runs(self) -> int:
        return self.last - self.first


def sentence(folder: Path, reason: str) -> str:
    """What is wrong with a store."""
    return f"store is {str(folder)!r}; {reason}"


def open_folder(folder: Path, create: bool) -> Path:
    """A store's folder, checked; with `create` made if need be, and sure to take new parts."""
    manifest, parts = folder / "manifest.json", folder / "parts"
    require(
        folder.is_dir() or not folder.exists(),
        sentence(folder, "it is a file, and must be a folder"),
    )
    if create and not manifest.exists():
        # The manifest is there if another process has made it since.
        require(
            {path.name for path in folder.glob("[!.]*")} <= {parts.name, manifest.name},
            sentence(folder, "that folder has other things in it, give a new or an empty one"),
        )
        files.prepare_folder(parts, "store")
        files.write_json(manifest, {"format": FORMAT, "made_by": f"jekyllhyde {__version__}"})
    try:
        version = json.loads(manifest.read_text())["format"]
    except FileNotFoundError:
        raise InputError(
            sentence(folder, "there is no store (its manifest.json is missing)")
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(
            sentence(folder, f"its manifest.json cannot be read ({first_line(error)})")
        ) from None
    require(
        version == FORMAT,
        sentence(folder, f"it has format {version}, and this version reads format {FORMAT}"),
    )
    for partial in files.prepare_folder(parts, "store").glob(".*") if create else ():
        with contextlib.suppress(FileNotFoundError):
            if time.time() - partial.stat().st_mtime > ABANDONED:
                partial.unlink()
    return folder


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
    path: Path | io.BytesIO,
    schema: pa.Schema = SCHEMA,
    cells: Iterable[str] | None = None,
) -> pa.Table:
    """The rows, every page checked against its checksum; only those of `cells` if these are given.
    Columns newer than the part are null.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read([name for name in schema.names if name in file.schema_arrow.names])
    if cells is not None:
        table = table.filter(pc.is_in(table["cell"].cast(pa.string()), pa.array(sorted(cells))))
    for name in set(schema.names) - set(table.column_names):
        table = table.append_column(name, pa.nulls(len(table), schema.field(name).type))
    return table.select(schema.names).cast(schema)


def read_about(path: Path | io.BytesIO) -> dict[str, Any]:
    """What is known about a part: `held`, and its provenance."""
    metadata = pq.read_metadata(path).metadata or {}
    require(KEY in metadata, "it was not written by this library")
    return dict(json.loads(metadata[KEY]))


def stretches(rows: Iterable[tuple[str, str, int, str | None]]) -> list[list[Any]]:
    """The stretches of consecutive runs among rows of (cell, id, run, failure), in order of cell
    and run.
    """
    pieces: list[list[Any]] = []
    for cell, id, run, failure in sorted(rows, key=lambda row: (row[0], row[2])):
        if not (pieces and pieces[-1][0] == cell and pieces[-1][3] == run):
            pieces.append([cell, id, run, run, 0])
        pieces[-1][3] += 1
        pieces[-1][4] += failure is not None
    return pieces


def rows_of(table: pa.Table, names: Iterable[str] = ("cell", "id", "run", "failure")) -> list[Any]:
    """Per row a tuple of these columns, by default what `stretches` takes."""
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def fault_of(path: Path) -> str | None:
    """What is wrong with a part, if anything: its name, its pages, what it says it holds, or its
    settings.
    """
    try:
        data = path.read_bytes()
        held = read_about(io.BytesIO(data))["held"]
        # Parts were named after the runs that they hold, before they were after their content.
        runs = canonical([[cell, first, last] for cell, _, first, last, _ in held])
        require(
            path.name in (part_name(data), part_name(runs.encode())),
            "its content is not the one it was named after",
        )
        table = read_table(io.BytesIO(data))
        require(
            stretches(rows_of(table)) == sorted(held, key=lambda stretch: (stretch[0], stretch[2])),
            "its rows are not those that its metadata lists",
        )
        for cell, settings in set(rows_of(table, ("cell", "settings"))):
            require(text_digest(settings) == cell, f"the settings of cell {cell} are others")
    except UNREADABLE as error:
        return first_line(error)
    return None


def first_line(error: Exception) -> str:
    """An error in a line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


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
    # The commit of this package, where it lies in a repository of its own (and is not just
    # installed below another one).
    try:
        for command in (["ls-files", "--error-unmatch", "__init__.py"], ["rev-parse", "HEAD"]):
            answer = subprocess.check_output(
                ["git", "-C", str(Path(__file__).resolve().parent.parent), *command],
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=5,
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.strip() or None
