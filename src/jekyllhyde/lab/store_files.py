"""The parts of a store: how they are written and read, and what may be wrong with them. Columns:

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

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jekyllhyde import files
from jekyllhyde.errors import plain, require
from jekyllhyde.lab import parquet_sizes
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
RESULTS = [name for name in SCHEMA.names if name not in ("id", "experiment", "series", "x")]
TEXTS = [field.name for field in SCHEMA if field.type in (TEXT, pa.string())]
LISTS = [field.name for field in SCHEMA if pa.types.is_list(field.type)]
KEY = b"jekyllhyde"  # of what a part's metadata say about it
MOST_ROWS, MOST_BYTES = 10_000_000, 2**30  # of a part in memory; a task makes a tenth or less
MOST_FILE = 2**29

Natural = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Stretch = list[Any]  # [cell, id, first, last, failed], as `Held` without the part


class Held(msgspec.Struct, array_like=True, eq=False, gc=False):
    """What one part holds of one cell: runs [first, last), of which some failed."""

    cell: str
    id: str
    first: Natural
    last: Natural
    failed: Natural
    part: str = ""

    def __post_init__(self) -> None:
        require(
            0 < self.runs <= MOST_ROWS and self.failed <= self.runs,
            f"it lists runs {self.first} to {self.last}, {self.failed} of them failed",
        )

    @property
    def runs(self) -> int:
        return self.last - self.first


class About(msgspec.Struct):
    """What a part says about itself: what it holds, who made it, when, with what, in how many
    seconds.
    """

    held: list[Held]
    seconds: Annotated[float, msgspec.Meta(ge=0.0)] = 0.0
    time: str = ""
    version: str = ""
    commit: str | None = None
    machine: str = ""
    python: str = ""


def accounts(held: Iterable[Held]) -> list[Stretch]:
    """What parts hold, without their names, in order of cell and run."""
    stretches = [[h.cell, h.id, h.first, h.last, h.failed] for h in held]
    return sorted(stretches, key=lambda stretch: (stretch[0], stretch[2]))


def doubled(stretches: Iterable[Held]) -> str | None:
    """A part with runs of a cell that another one has as well, among what parts hold of it."""
    reach = 0
    for held in sorted(stretches, key=lambda held: (held.first, held.part)):
        if held.first < reach:
            return held.part
        reach = max(reach, held.last)
    return None


def part_name(data: bytes) -> str:
    """A part is named after its content."""
    return hashlib.sha256(data).hexdigest()[:20] + ".parquet"


def encode(table: pa.Table, about: Mapping[str, Any]) -> bytes:
    """The file's bytes: a table, and what is to be known about it."""
    stream = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata({KEY: json.dumps(about)}),
        stream,
        compression="zstd",
        write_page_checksum=True,
    )
    return bytes(stream.getvalue())


# Reading a part: what it declares is checked and bounded before PyArrow sees it.


def read_about(path: Path) -> About:
    """What a part says about itself."""
    metadata = parquet_sizes.read_footer(files.read_file(path, MOST_FILE)).metadata
    require(KEY in metadata, "it was not written by this library")
    return msgspec.json.decode(metadata[KEY], type=About)


def read_table(
    path: Path, schema: pa.Schema = SCHEMA, cells: Iterable[str] | None = None
) -> pa.Table:
    """The rows, every page checked against its checksum; only those of `cells` if these are given.
    Columns newer than the part are null.
    """
    _check_sizes(files.read_file(path, MOST_FILE))
    with pq.ParquetFile(
        path, read_dictionary=TEXTS
    ) as file:  # by path: PyArrow aborts with streams
        table = file.read([name for name in schema.names if name in file.schema_arrow.names])
    if cells is not None:
        table = table.filter(pc.is_in(table["cell"].cast(pa.string()), pa.array(sorted(cells))))
    for name in set(schema.names) - set(table.column_names):
        table = table.append_column(name, pa.nulls(len(table), schema.field(name).type))
    return table.select(schema.names).cast(schema)


def _check_sizes(data: bytes) -> None:
    footer, size = parquet_sizes.read_footer(data), 0
    require(0 <= footer.rows <= MOST_ROWS, f"it declares {footer.rows:,} rows, too many for a part")
    for chunk in footer.chunks:
        name = chunk[3][0].decode()
        require(
            chunk[1] != parquet_sizes.TEXT or name in TEXTS, f"its column {name} is one of texts"
        )
        size += parquet_sizes.check_pages(data, chunk)
        require(size <= MOST_BYTES, f"it declares {size:,} bytes, too many for a part")


def check_part(path: Path) -> tuple[About, pa.Table]:
    """A part's own account and its rows; refused where its name, its pages, what it says it holds,
    its curves or its settings do not fit together.
    """
    about, data = read_about(path), files.read_file(path, MOST_FILE)
    # Parts were named after the runs that they hold, before they were after their content.
    runs = canonical([[h.cell, h.first, h.last] for h in about.held])
    require(
        path.name in (part_name(data), part_name(runs.encode())),
        "its content is not the one it was named after",
    )
    table = read_table(path)
    require(
        stretches(rows_of(table)) == accounts(about.held),
        "its rows are not those that its metadata lists",
    )
    require((pc.min(table["run"]).as_py() or 0) >= 0, "it has runs below 0")
    lengths = [pc.list_value_length(table[name]) for name in LISTS]
    places = lengths[LISTS.index("at")]
    require(
        all(pc.all(pc.equal(length, places)).as_py() is not False for length in lengths),
        "a curve has not as many values as places",
    )
    for cell, settings in set(rows_of(table, ("cell", "settings"))):
        require(text_digest(settings) == cell, f"the settings of cell {cell} are others")
    return about, table


def stretches(rows: Iterable[tuple[str, str, int, str | None]]) -> list[Stretch]:
    """The stretches of consecutive runs among rows of (cell, id, run, failure), in order of cell
    and run.
    """
    pieces: list[Stretch] = []
    for cell, id, run, failure in sorted(rows, key=lambda row: (row[0], row[2])):
        if not (pieces and pieces[-1][0] == cell and pieces[-1][3] == run):
            pieces.append([cell, id, run, run, 0])
        pieces[-1][3] += 1
        pieces[-1][4] += failure is not None
    return pieces


def rows_of(table: pa.Table, names: Iterable[str] = ("cell", "id", "run", "failure")) -> list[Any]:
    """Per row a tuple of these columns, by default what `stretches` takes."""
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def in_order(rows: pa.Table) -> pa.Table:
    """The rows in order of cell and run, each run once; two accounts of a run that differ in what
    they say of it are refused.
    """
    keys = pa.table({"cell": rows["cell"].cast(pa.string()), "run": rows["run"]})
    order = pc.sort_indices(keys, [("cell", "ascending"), ("run", "ascending")])
    rows, keys = rows.take(order), keys.take(order)
    before, after = keys.slice(0, max(0, len(rows) - 1)), keys.slice(1)
    same = pc.and_(*(pc.equal(before[name], after[name]) for name in ("cell", "run")))
    again = np.flatnonzero(same.to_numpy())
    if not len(again):
        return rows
    names = [name for name in RESULTS if name in rows.column_names]
    first, second = (rows.take(again + i).select(names).to_pylist() for i in (0, 1))
    for a, b in zip(first, second, strict=True):
        require(
            repr(a) == repr(b),  # nan is nan
            f"run {a['run']} of cell {a['cell']} is there twice, and not the same",
        )
    return rows.take(np.setdiff1d(np.arange(len(rows)), again + 1))


def first_line(error: Exception) -> str:
    """An error in a line that can be shown."""
    text = getattr(error, "strerror", None) or str(error)
    return plain((text.splitlines() or [type(error).__name__])[0][:300])
