"""The store: a folder of Parquet part files that is only ever added to, readable by any tool that
reads Parquet.

    STORE/manifest.json       {"format": 1}
    STORE/parts/*.parquet     one row per run (`store_files` lists the columns); each file's
                              metadata lists its cells, and says who made it and when
    STORE/index.jsonl         a line per part with what it holds, so that nobody need look into
                              each; losing it costs nothing

A part is named after its content, written beside its place, flushed to the disk and renamed, so it
is there completely or not at all. Writers take turns: under the store's lock each looks up in the
index what others have stored meanwhile, leaves those runs out, adds its own line and only then
renames. So no run is ever there twice; a line without a part is one whose writer died.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from jekyllhyde import files
from jekyllhyde.errors import InputError
from jekyllhyde.lab import store_files
from jekyllhyde.lab.spec import Cell
from jekyllhyde.lab.store_files import SCHEMA, UNREADABLE, Held, Stretch, first_line, sentence


@dataclass
class Store:
    """A store opened for reading and writing. `parts` maps a part's name to what it holds, `cells`
    a cell's digest to what the parts hold of it, `damaged` a part's name to what is wrong with it.
    """

    folder: Path
    parts: dict[str, list[Held]] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    cells: dict[str, list[Held]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _index_read: int = 0
    # listed, but not yet renamed into their place when we looked
    _awaited: dict[str, tuple[int, Sequence[Stretch]]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Self:
        """Open the store in `folder`; with `create`, to write to it, made there if need be."""
        store = cls(store_files.open_folder(Path(folder), create))
        store.refresh()
        return store

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        return files.refused(sentence(self.folder, "it cannot be written to"))

    def _read(self, read: Callable[..., Any], name: str, *args: Any) -> Any:
        try:
            return read(self._path(name), *args)
        except UNREADABLE as error:
            raise self._cannot_read(name, error) from None

    # What is here.

    def refresh(self, *, scan: bool = True) -> None:
        """Take in the parts that are new since the last look: all that are there or, without a
        scan, those that the index lists.
        """
        listed = self._awaited | self._listed()
        present = {}
        try:
            for name in os.listdir(self.folder / "parts") if scan else listed:
                if name.endswith(".parquet") and not name.startswith("."):
                    with contextlib.suppress(FileNotFoundError):  # its writer died before renaming
                        present[name] = self._path(name).stat().st_size
        except OSError as error:
            raise InputError(
                sentence(self.folder, f"its parts cannot be listed ({error.strerror})")
            ) from None
        self._awaited = {name: listed[name] for name in listed.keys() - present.keys()}
        gone = {name for name, size in self._sizes.items() if scan and present.get(name) != size}
        for name in gone:
            del self._sizes[name]
            self.damaged.pop(name, None)
            for stretch in self.parts.pop(name, []):
                self.cells[stretch.cell].remove(stretch)
        for name in present.keys() - self._sizes.keys():
            size, held = listed.get(name, (None, None))
            self._take_in(name, present[name], held if size == present[name] else None)

    def _take_in(self, name: str, size: int, held: Sequence[Stretch] | None) -> None:
        try:
            self.parts[name] = [
                Held(name, *stretch)
                for stretch in held or store_files.read_about(self._path(name))["held"]
            ]
        except FileNotFoundError:  # set aside since
            return
        except UNREADABLE as error:
            if getattr(error, "errno", None) is not None:  # no damage, but no reading either
                raise self._cannot_read(name, error) from None
            self.damaged[name] = first_line(error)
        self._sizes[name] = size
        for stretch in self.parts.get(name, []):
            self.cells.setdefault(stretch.cell, []).append(stretch)

    def _listed(self) -> dict[str, tuple[int, Sequence[Stretch]]]:
        # The index's lines since the last look: size and content per part. What is not such a line
        # is passed over.
        try:
            with (self.folder / "index.jsonl").open("rb") as file:
                lost = os.fstat(file.fileno()).st_size < self._index_read  # and begun anew
                self._index_read = file.seek(0 if lost else self._index_read)
                data = file.read()
        except OSError:
            return {}
        lines = data[: data.rfind(b"\n") + 1]
        self._index_read += len(lines)
        listed: dict[str, tuple[int, Sequence[Stretch]]] = {}
        for line in lines.splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                name, size, held = _LINE.decode(line)
                listed[name] = (size, held)
        return listed

    def _path(self, name: str) -> Path:
        return self.folder / "parts" / name

    def _cannot_read(self, name: str, error: Exception) -> InputError:
        return InputError(
            sentence(
                self.folder, f"part {name} cannot be read ({first_line(error)}), verify the store"
            )
        )

    def present(self, digest: str) -> set[int]:
        """The runs of a cell that are here."""
        return {run for held in self.cells.get(digest, ()) for run in range(held.first, held.last)}

    def missing(self, digest: str, runs: int) -> list[range]:
        """Which of the runs 0 .. runs - 1 of a cell are not here, as stretches."""
        gaps, start = [], 0
        for stretch in sorted(self.cells.get(digest, ()), key=lambda stretch: stretch.first):
            gaps.append(range(start, min(stretch.first, runs)))
            start = max(start, stretch.last)
        return [gap for gap in [*gaps, range(start, runs)] if gap]

    def complete_runs(self, digest: str) -> int:
        """How many runs of a cell are here from the first on, without a gap."""
        return self.missing(digest, 2**31)[0].start  # more than there can be

    def table(self, digests: Iterable[str], columns: list[str] | None = None) -> pa.Table:
        """The rows of these cells, in order of cell and run."""
        wanted = set(digests)
        names = SCHEMA.names if columns is None else columns
        schema = pa.schema([SCHEMA.field(name) for name in {*names, "cell", "run"}])
        parts = {stretch.part for digest in wanted for stretch in self.cells.get(digest, ())}
        tables = [
            self._read(
                store_files.read_table, name, schema, None if here <= wanted else wanted & here
            )
            for name in sorted(parts)
            for here in [{stretch.cell for stretch in self.parts[name]}]
        ]
        rows = pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries()
        order = pc.sort_indices(
            pa.table({"cell": rows["cell"].cast(pa.string()), "run": rows["run"]}),
            [("cell", "ascending"), ("run", "ascending")],
        )
        return rows.select(names).take(order)

    def provenance(self, name: str) -> dict[str, Any]:
        """Who made a part, when, with what, in how many seconds."""
        return {
            key: value
            for key, value in self._read(store_files.read_about, name).items()
            if key != "held"
        }

    # Adding.

    def add(
        self, blocks: Iterable[tuple[Cell, list[dict[str, Any]]]], seconds: float
    ) -> str | None:
        """Store the rows of these cells, those that are not here yet; the part's name, or None if
        all were.
        """
        rows = [
            {
                "cell": cell.digest,
                "id": cell.id,
                "experiment": cell.experiment,
                "series": cell.series,
                "x": cell.x,
                "settings": cell.text,
            }
            | row
            for cell, cell_rows in blocks
            for row in cell_rows
        ]
        return self._add(
            pa.Table.from_pylist(rows, SCHEMA),
            {
                "seconds": round(seconds, 3),
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                **store_files.machine(),
            },
        )

    def merge(self, other: Self) -> int:
        """Take over the runs of another store that are not here; how many of its parts had such."""
        return sum(
            self._add(other._read(store_files.read_table, name), other.provenance(name)) is not None
            for name in sorted(other.parts)
        )

    def _add(self, table: pa.Table, about: Mapping[str, Any]) -> str | None:
        # Write what is new of a table, as of now; if others have stored some of it before the lock
        # is ours, again.
        keys = store_files.rows_of(table)
        with self._writing():
            while new := [
                i for i, (cell, _, run, _) in enumerate(keys) if not self._has(cell, run, run + 1)
            ]:
                held = store_files.stretches(keys[i] for i in new)
                data = store_files.encode(table.take(new), {"held": held, **about})
                path = self._path(store_files.part_name(data))
                with files.partial_file(path, data) as partial:
                    if self._put(partial, path, held):
                        return path.name
        return None

    def _put(self, partial: Path, path: Path, held: Sequence[Stretch]) -> bool:
        # Rename a part that is written into its place, unless others have stored some of it.
        with self._locked():
            self.refresh(scan=False)
            if any(self._has(cell, first, last) for cell, _, first, last, _ in held):
                return False
            self._list(path.name, partial.stat().st_size, held)
            partial.replace(path)
            self.refresh(scan=False)
        files.sync_folder(path.parent)
        return True

    def _has(self, cell: str, first: int, last: int) -> bool:
        # Whether any of the runs first .. last - 1 of a cell is here.
        return any(held.first < last and first < held.last for held in self.cells.get(cell, ()))

    def _list(self, name: str, size: int, held: Sequence[Stretch]) -> None:
        # Add a line to the index; one that a full disk cut short is ended first.
        with (self.folder / "index.jsonl").open("ab+") as file:
            file.seek(max(0, file.tell() - 1))
            cut = file.read() not in (b"", b"\n")
            file.write(b"\n" * cut + msgspec.json.encode([name, size, held]) + b"\n")

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return files.locked(self.folder / ".lock")

    # Checking.

    def verify(self) -> dict[str, str]:
        """Read every part and compare it with its name, its metadata and the others; what is wrong,
        per part.
        """
        self.refresh()
        faults = {name: store_files.fault_of(self._path(name)) for name in sorted(self.parts)}
        wrong = self.damaged | {name: fault for name, fault in faults.items() if fault}
        for cell, stretches in self.cells.items():
            last, before = 0, ""
            for held in sorted(stretches, key=lambda held: (held.first, held.part)):
                if held.first < last:
                    wrong.setdefault(
                        held.part,
                        f"it holds run {held.first} of cell {cell}, which {before} holds too",
                    )
                if held.last > last:
                    last, before = held.last, held.part
        return wrong

    def set_aside(self, names: Iterable[str]) -> list[Path]:
        """Move damaged parts to STORE/damaged, so that their runs count as missing; nothing is
        deleted.
        """
        moved = []
        with self._writing(), self._locked():
            (self.folder / "damaged").mkdir(exist_ok=True)
            for name in names:
                place = self.folder / "damaged" / f"{name}.{time.time_ns()}"
                with contextlib.suppress(FileNotFoundError):
                    self._path(name).rename(place)
                    moved.append(place)
            self.refresh()
        return moved


_LINE = msgspec.json.Decoder(tuple[str, int, list[tuple[str, str, int, int, int]]])
