"""The store: a folder of Parquet part files that is only ever added to, readable by any tool that
reads Parquet.

    STORE/manifest.json       {"format": 1}
    STORE/parts/*.parquet     one row per run (`store_files` lists the columns); each file's
                              metadata lists its cells, and says who made it and when
    STORE/index.jsonl         a line per part with what it holds (`store_index`); losing it costs
                              nothing

A part is named after its content, written beside its place, flushed to the disk and renamed, so it
is there completely or not at all. Writers take turns: under the store's lock each looks up in the
index what others have stored meanwhile, leaves those runs out, adds its own line and only then
renames. So no run is stored twice; one that is, since a part was copied by hand, counts once if its
rows agree, and is refused if they do not.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from jekyllhyde import files
from jekyllhyde.errors import InputError, require
from jekyllhyde.lab import store_files, store_folder
from jekyllhyde.lab.spec import Cell
from jekyllhyde.lab.store_files import SCHEMA, Held, Stretch, accounts, doubled, first_line
from jekyllhyde.lab.store_folder import sentence
from jekyllhyde.lab.store_index import Index

INDEX = "index.jsonl"
Waiting = Callable[[], object]


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
    # listed, but not yet renamed into their place when we looked
    _awaited: dict[str, tuple[int, list[Held]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = Index(self.folder / INDEX)

    @classmethod
    def open(cls, folder: str | Path, *, create: bool = False) -> Self:
        """Open the store in `folder`; with `create` it is made there if need be."""
        store = cls(store_folder.open_folder(Path(folder), create))
        store.refresh()
        return store

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        return files.refused(sentence(self.folder, "it cannot be written to"))

    def _read(self, read: Callable[..., Any], name: str, *args: Any) -> Any:
        try:
            return read(self._path(name), *args)
        except Exception as error:
            raise self._cannot_read(name, error) from None

    # What is here.

    def refresh(self, *, scan: bool = True) -> None:
        """Take in the parts that are new since the last look: all that are there or, without a
        scan, those that the index lists, if it is the index of the last look.
        """
        news, same = self._index.news()
        listed, scan = self._awaited | news, scan or not same
        with files.refused(sentence(self.folder, "its parts cannot be listed")):
            names = os.listdir(self.folder / "parts") if scan else list(listed)
        present = {}
        for name in names:
            if name.endswith(".parquet") and not name.startswith("."):
                with contextlib.suppress(FileNotFoundError):  # its writer died before renaming
                    present[name] = files.plain_size(self._path(name))
        self._awaited = {name: listed[name] for name in listed.keys() - present.keys()}
        for name in {
            name for name, size in self._sizes.items() if scan and present.get(name) != size
        }:
            del self._sizes[name]
            self.damaged.pop(name, None)
            for stretch in self.parts.pop(name, []):
                self.cells[stretch.cell].remove(stretch)
        for name in present.keys() - self._sizes.keys():
            size, held = listed.get(name, (None, None))
            self._take_in(name, present[name], held if size == present[name] else None)

    def _take_in(self, name: str, size: int, held: list[Held] | None) -> None:
        try:
            require(size >= 0, "it is not a plain file")
            self.parts[name] = held or store_files.read_about(self._path(name)).held
        except FileNotFoundError:  # set aside since
            return
        except Exception as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
                # no damage, but no reading either
                raise self._cannot_read(name, error) from None
            self.damaged[name] = first_line(error)
        self._sizes[name] = size
        for stretch in self.parts.get(name, []):
            stretch.part = name
            self.cells.setdefault(stretch.cell, []).append(stretch)

    def _path(self, name: str) -> Path:
        return self.folder / name if name == INDEX else self.folder / "parts" / name

    def _cannot_read(self, name: str, error: Exception) -> Exception:
        # Whatever a reader of damaged files may raise, as one sentence.
        if isinstance(error, MemoryError):
            return error
        return InputError(
            sentence(
                self.folder, f"part {name} cannot be read ({first_line(error)}), verify the store"
            )
        )

    def runs(self, digest: str) -> int:
        """How many runs of a cell are here."""
        gaps = self.missing(digest, 2**31)  # more than there can be
        return 2**31 - sum(map(len, gaps))

    def missing(self, digest: str, runs: int) -> list[range]:
        """Which of the runs 0 .. runs - 1 of a cell are not here, as stretches."""
        gaps, start = [], 0
        for stretch in sorted(self.cells.get(digest, ()), key=lambda stretch: stretch.first):
            gaps.append(range(start, min(stretch.first, runs)))
            start = max(start, stretch.last)
        return [gap for gap in [*gaps, range(start, runs)] if gap]

    def complete_runs(self, digest: str) -> int:
        """How many runs of a cell are here from the first on, without a gap."""
        return self.missing(digest, 2**31)[0].start

    def table(self, digests: Iterable[str], columns: list[str] | None = None) -> pa.Table:
        """The rows of these cells, in order of cell and run; refused where a part does not hold
        what the index says, or where two parts have different rows of a run.
        """
        wanted = set(digests)
        names = SCHEMA.names if columns is None else columns
        schema = pa.schema([SCHEMA.field(name) for name in {*names, "cell", "run"}])
        parts = {stretch.part for digest in wanted for stretch in self.cells.get(digest, ())}
        tables = [self._rows(name, schema, wanted) for name in sorted(parts)]
        rows = pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries()
        try:
            return store_files.in_order(rows).select(names)
        except InputError as error:
            raise InputError(sentence(self.folder, f"{error}, verify it")) from None

    def _rows(self, name: str, schema: pa.Schema, wanted: set[str]) -> pa.Table:
        # The rows that a part has of these cells.
        here = [held for held in self.parts[name] if held.cell in wanted]
        chosen = None if len(here) == len(self.parts[name]) else {held.cell for held in here}
        table = self._read(store_files.read_table, name, schema, chosen)
        runs = sum(held.runs for held in here)
        if len(table) != runs:
            error = InputError(f"it has {len(table)} of these rows, and should have {runs}")
            raise self._cannot_read(name, error)
        return table

    def provenance(self, name: str) -> dict[str, Any]:
        """Who made a part, when, with what, in how many seconds."""
        about = self._read(store_files.read_about, name)
        return {key: getattr(about, key) for key in about.__struct_fields__ if key != "held"}

    # Adding.

    def add(
        self,
        blocks: Iterable[tuple[Cell, list[dict[str, Any]]]],
        seconds: float,
        waiting: Waiting = lambda: None,
    ) -> str | None:
        """Store the rows of these cells, those that are not here yet; the part's name, or None if
        all were. `waiting` is called while others write; what it raises ends the wait.
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
                **store_folder.machine(),
            },
            waiting,
        )

    def merge(self, other: Self) -> int:
        """Take over the runs of another store that are not here; how many of its parts had such.
        Damaged parts, and runs that are here with other results, are refused.
        """
        taken = 0
        for name in sorted(other.parts):
            about, rows = other._read(store_files.check_part, name)
            known = self.cells.keys() & {held.cell for held in about.held}
            if known:
                both = pa.concat_tables([rows, self.table(known)]).unify_dictionaries()
                other._read(lambda path, both=both: store_files.in_order(both), name)
            taken += self._add(rows, other.provenance(name)) is not None
        return taken

    def _add(
        self, table: pa.Table, about: Mapping[str, Any], waiting: Waiting = lambda: None
    ) -> str | None:
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
                    if self._put(partial, path, held, waiting):
                        return path.name
        return None

    def _put(self, partial: Path, path: Path, held: Sequence[Stretch], waiting: Waiting) -> bool:
        # Rename a part that is written into its place, unless others have stored some of it.
        with self._locked(waiting):
            self.refresh(scan=False)
            if any(self._has(cell, first, last) for cell, _, first, last, _ in held):
                return False
            self._index.append(path.name, partial.stat().st_size, held)
            partial.replace(path)
            self.refresh(scan=False)
        files.sync_folder(path.parent)
        return True

    def _has(self, cell: str, first: int, last: int) -> bool:
        # Whether any of the runs first .. last - 1 of a cell is here.
        return any(held.first < last and first < held.last for held in self.cells.get(cell, ()))

    def _locked(self, waiting: Waiting = lambda: None) -> contextlib.AbstractContextManager[None]:
        return files.locked(self.folder / ".lock", waiting)

    # Checking.

    def verify(self) -> dict[str, str]:
        """Read every part and compare it with its name, its metadata, the index and the others;
        what is wrong, per part.
        """
        self.refresh()
        wrong = dict(self.damaged)
        for name, held in sorted(self.parts.items()):
            try:
                about, _ = store_files.check_part(self._path(name))
            except Exception as error:
                wrong[name] = first_line(error)
                continue
            if accounts(held) != accounts(about.held):
                wrong[INDEX] = f"it does not say what part {name} holds; it can be deleted"
        for cell, stretches in self.cells.items():
            if part := doubled(stretches):
                try:
                    self.table([cell])
                except InputError as error:
                    wrong.setdefault(part, first_line(error))
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
