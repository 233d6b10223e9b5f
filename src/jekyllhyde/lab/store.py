"""The store: a folder of Parquet part files that is only ever added to, readable by any tool that
reads Parquet.

    STORE/manifest.json       {"format": 1}
    STORE/parts/*.parquet     one row per run; columns below; each file's metadata lists its cells, and says who made it and when
    STORE/index.jsonl         a line per part with what it holds, so that nobody need look into each; losing it costs nothing

| column                              | meaning                                                                              |
| ----------------------------------- | ------------------------------------------------------------------------------------ |
| cell, id                            | digest of the cell's settings; its name for people                                   |
| experiment, series, x               | where it belongs, as first computed; x is null where there is no number on that axis |
| settings                            | JSON of the complete settings                                                        |
| run, failure                        | number of the run; why it failed, null if it did not                                 |
| end, steps                          | updates or trajectories made; environment steps                                      |
| time                                | first evaluated count above the target, null where the run never got there           |
| time_both, time_global, time_jekyll | the same for each criterion                                                          |
| J_norm_end, J_norm_jekyll_end       | normalized return when the run ended                                                 |
| at, J_norm, J_norm_jekyll           | lists: the curve, for runs without a target                                          |
| score, exact_score                  | lists: the curve of a deep agent, at the training episodes `at`                      |

A part is named after its content, written beside its place, flushed to the disk and renamed, so it
is there completely or not at all. Writers take turns: under the store's lock each looks up in the
index what others have stored meanwhile, leaves those runs out, adds its own line and only then
renames. So no run is ever there twice; a line without a part is one whose writer died.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jekyllhyde import __version__
from jekyllhyde.errors import InputError
from jekyllhyde.lab import part
from jekyllhyde.lab.methods import Row
from jekyllhyde.lab.part import SCHEMA, UNREADABLE, Held, Stretch, first_line
from jekyllhyde.lab.spec import Cell

FORMAT = 1
ABANDONED = (
    3600.0  # seconds after which a file that is still being written is one whose writer died
)


@dataclass
class Store:
    """A store opened for reading and writing. `parts` maps a part's name to what it holds;
    `damaged` to what is wrong with it.
    """

    folder: Path
    parts: dict[str, list[Held]] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _cells: dict[str, list[Held]] = field(default_factory=dict)
    _index_read: int = 0

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Store:
        """Open the store in `folder`; with `create`, to write to it, and make one there if there is
        none.
        """
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"store is {str(folder)!r}; it is a file, and must be a folder")
        if create:
            with part.written(folder):
                _create(folder)
        _check_manifest(folder)
        if create:
            with part.written(folder):
                _prepare(folder / "parts")
        store = cls(folder)
        store.refresh()
        return store

    # What is here.

    def refresh(self, *, scan: bool = True) -> None:
        """Take in the parts that are new since the last look: all that are there or, without a
        scan, those that the index lists.
        """
        listed = self._listed()
        present = {}
        try:
            if scan:
                with os.scandir(self.folder / "parts") as entries:
                    present = {
                        one.name: one.stat().st_size for one in entries if part.is_part(one.name)
                    }
            else:
                for name in listed:
                    with contextlib.suppress(
                        FileNotFoundError
                    ):  # its writer died before the rename
                        present[name] = self._path(name).stat().st_size
        except OSError as error:
            raise InputError(
                f"store is {str(self.folder)!r}; its parts cannot be listed ({error.strerror})"
            ) from None
        for name in [
            name for name in self._sizes if scan and present.get(name) != self._sizes[name]
        ]:
            self._forget(name)
        for name, size in present.items():
            if name not in self._sizes:
                known = listed.get(name)
                self._take_in(name, size, known[1] if known and known[0] == size else None)

    def _take_in(self, name: str, size: int, held: list[Stretch] | None) -> None:
        try:
            found = [Held(name, *one) for one in held or part.read_about(self._path(name))["held"]]
            self.parts[name] = found
        except FileNotFoundError:  # set aside since
            return
        except UNREADABLE as error:
            if getattr(error, "errno", None) is not None:  # no damage, but no reading either
                raise self._cannot_read(name, error) from None
            self.damaged[name] = first_line(error)
            found = []
        self._sizes[name] = size
        for one in found:
            self._cells.setdefault(one.cell, []).append(one)

    def _forget(self, name: str) -> None:
        del self._sizes[name]
        self.damaged.pop(name, None)
        for one in self.parts.pop(name, []):
            self._cells[one.cell].remove(one)

    def _listed(self) -> dict[str, tuple[int, list[Stretch]]]:
        """The index's lines since the last look: size and content per part. What is not such a line
        is passed over.
        """
        try:
            with (self.folder / "index.jsonl").open("rb") as file:
                if (
                    os.fstat(file.fileno()).st_size < self._index_read
                ):  # it was lost, and begun anew
                    self._index_read = 0
                file.seek(self._index_read)
                data = file.read()
        except OSError:
            return {}
        data = data[: data.rfind(b"\n") + 1]
        self._index_read += len(data)
        found = {}
        for line in data.splitlines():
            with contextlib.suppress(ValueError, TypeError):
                name, size, held = json.loads(line)
                found[str(name)] = (
                    int(size),
                    [[str(cell), str(id), int(i), int(j), int(k)] for cell, id, i, j, k in held],
                )
        return found

    def _path(self, name: str) -> Path:
        return self.folder / "parts" / name

    def _cannot_read(self, name: str, error: Exception) -> InputError:
        return InputError(
            f"store is {str(self.folder)!r}; part {name} cannot be read ({first_line(error)}), verify the store"
        )

    def present(self, digest: str) -> set[int]:
        """The runs of a cell that are here."""
        return {run for one in self._cells.get(digest, ()) for run in range(one.first, one.last)}

    def missing(self, digest: str, runs: int) -> list[range]:
        """Which of the runs 0 .. runs - 1 of a cell are not here, as stretches."""
        found, start = [], 0
        for one in sorted(self._cells.get(digest, ()), key=lambda one: one.first):
            if start < min(one.first, runs):
                found.append(range(start, min(one.first, runs)))
            start = max(start, one.last)
        return [*found, range(start, runs)] if start < runs else found

    def table(self, digests: Iterable[str], columns: list[str] | None = None) -> pa.Table:
        """The rows of these cells, in order of cell and run."""
        wanted = set(digests)
        schema = SCHEMA if columns is None else pa.schema([SCHEMA.field(name) for name in columns])
        read = [*schema.names, *(name for name in ("cell", "run") if name not in schema.names)]
        tables = []
        for name in sorted({one.part for digest in wanted for one in self._cells.get(digest, ())}):
            here = {one.cell for one in self.parts[name]}
            try:
                tables.append(
                    part.read_table(
                        self._path(name), read, None if here <= wanted else here & wanted
                    )
                )
            except UNREADABLE as error:
                raise self._cannot_read(name, error) from None
        if not tables:
            return schema.empty_table()
        found = pa.concat_tables(tables).unify_dictionaries()
        keys = pa.table({"cell": found["cell"].cast(pa.string()), "run": found["run"]})
        order = pc.sort_indices(keys, [("cell", "ascending"), ("run", "ascending")])
        return found.select(schema.names).take(order).cast(schema)

    def provenance(self, name: str) -> dict[str, Any]:
        """Who made a part, when, with what, in how many seconds."""
        try:
            return {
                key: value
                for key, value in part.read_about(self._path(name)).items()
                if key != "held"
            }
        except UNREADABLE as error:
            raise self._cannot_read(name, error) from None

    # Adding.

    def add(self, blocks: Iterable[tuple[Cell, range, list[Row]]], seconds: float) -> str | None:
        """Store the rows of these stretches of runs, those that are not here yet; the part's name,
        or None if all were.
        """
        columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
        for cell, _, rows in blocks:
            common = {
                "cell": cell.digest,
                "id": cell.id,
                "experiment": cell.experiment,
                "series": cell.series,
                "x": cell.x,
                "settings": cell.text,
            }
            for name, column in columns.items():
                column.extend(
                    [common[name]] * len(rows)
                    if name in common
                    else [row.get(name) for row in rows]
                )
        table = pa.table(
            {name: pa.array(column, SCHEMA.field(name).type) for name, column in columns.items()},
            schema=SCHEMA,
        )
        about = {
            "seconds": round(seconds, 3),
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            **part.machine(),
        }
        return self._add(table, about)

    def merge(self, other: Store) -> int:
        """Take over the runs of another store that are not here; how many of its parts had such."""
        taken = 0
        for name in sorted(other.parts):
            about = other.provenance(name)
            try:
                table = part.read_table(other._path(name)).cast(SCHEMA)
            except UNREADABLE as error:
                raise other._cannot_read(name, error) from None
            taken += self._add(table, about) is not None
        return taken

    def _add(self, table: pa.Table, about: Mapping[str, Any]) -> str | None:
        """Write what is new of a table, as of now; if others have stored some of it before the lock
        is ours, again.
        """
        rows = part.keys_of(table)
        with part.written(self.folder):
            while True:
                new = [
                    i
                    for i, (cell, _, run, _) in enumerate(rows)
                    if not self._has(cell, run, run + 1)
                ]
                if not new:
                    return None
                held = part.stretches(rows[i] for i in new)
                data = part.encode(
                    table if len(new) == len(rows) else table.take(new), {"held": held, **about}
                )
                name = part.part_name(data)
                with part.partial_file(self._path(name), data) as partial:
                    with self._locked():
                        self.refresh(scan=False)
                        if any(self._has(cell, first, last) for cell, _, first, last, _ in held):
                            continue
                        self._list(name, len(data), held)
                        partial.rename(self._path(name))
                        self.refresh(scan=False)
                    part.sync_folder(self.folder / "parts")
                return name

    def _has(self, cell: str, first: int, last: int) -> bool:
        """Whether any of the runs first .. last - 1 of a cell is here."""
        return any(one.first < last and first < one.last for one in self._cells.get(cell, ()))

    def _list(self, name: str, size: int, held: list[Stretch]) -> None:
        """Add a line to the index; one that a full disk cut short is ended first."""
        with (self.folder / "index.jsonl").open("ab+") as file:
            file.seek(max(0, file.tell() - 1))
            cut = file.read() not in (b"", b"\n")
            file.write(b"\n" * cut + json.dumps([name, size, held]).encode() + b"\n")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / ".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # Checking.

    def verify(self) -> dict[str, str]:
        """Read every part and compare it with its name, its metadata and the others; what is wrong,
        per part.
        """
        self.refresh()
        found = {name: part.problem_of(self._path(name)) for name in sorted(self.parts)}
        wrong = self.damaged | {name: problem for name, problem in found.items() if problem}
        for cell, stretches in self._cells.items():
            before: Held | None = None
            for one in sorted(stretches, key=lambda one: (one.first, one.part)):
                if before and one.first < before.last:
                    wrong.setdefault(
                        one.part,
                        f"it holds run {one.first} of cell {cell}, which {before.part} holds too",
                    )
                before = one if before is None or one.last > before.last else before
        return wrong

    def set_aside(self, names: Iterable[str]) -> list[Path]:
        """Move damaged parts to STORE/damaged, so that their runs count as missing; nothing is
        deleted.
        """
        moved = []
        with part.written(self.folder), self._locked():
            (self.folder / "damaged").mkdir(exist_ok=True)
            for name in names:
                place = self.folder / "damaged" / f"{name}.{time.time_ns()}"
                with contextlib.suppress(FileNotFoundError):
                    self._path(name).rename(place)
                    moved.append(place)
            self.refresh()
        return moved


def _create(folder: Path) -> None:
    """Make the store's folders and manifest where they are not."""
    if not (folder / "manifest.json").exists():
        ours = ("parts", "manifest.json")  # the latter if another process has made it since
        if folder.exists() and any(
            one.name not in ours and not one.name.startswith(".") for one in folder.iterdir()
        ):
            raise InputError(
                f"store is {str(folder)!r}; that folder has other things in it, give a new or an empty one"
            )
        (folder / "parts").mkdir(parents=True, exist_ok=True)
        content = json.dumps({"format": FORMAT, "made_by": f"jekyllhyde {__version__}"}) + "\n"
        with part.partial_file(folder / "manifest.json", content.encode()) as partial:
            partial.rename(folder / "manifest.json")


def _check_manifest(folder: Path) -> None:
    manifest = folder / "manifest.json"
    try:
        version = json.loads(manifest.read_text())["format"]
    except FileNotFoundError:
        raise InputError(
            f"store is {str(folder)!r}; there is no store (its manifest.json is missing)"
        ) from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(
            f"store is {str(folder)!r}; its manifest.json cannot be read ({first_line(error)})"
        ) from None
    if version != FORMAT:
        raise InputError(
            f"store is {str(folder)!r}; it has format {version}, and this version reads format {FORMAT}"
        )


def _prepare(parts: Path) -> None:
    """See that parts can be written, and clear away what dead writers left."""
    parts.mkdir(exist_ok=True)
    with part.partial_file(parts / "probe", b""):
        pass
    for left in parts.glob(".*.partial"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > ABANDONED:
                left.unlink()
