"""Stores that somebody has copied, cut, edited or forged: what is read is right, or refused in one
sentence.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jekyllhyde import files
from jekyllhyde.cli import main
from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine, store_files, store_folder
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.store import Store
from jekyllhyde.tabular import learn
from lab_sweeps import expected, held, rows, small

EXPERIMENT = small(4)
CELLS = EXPERIMENT.cells
DIGESTS = [cell.digest for cell in CELLS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = Store.open(tmp_path_factory.mktemp("made") / "store", create=True)
    engine.run([EXPERIMENT], store, workers=1)
    return store.folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Store:
    return Store.open(shutil.copytree(made, tmp_path / "store"))


def part_of(store: Store) -> Path:
    return store.folder / "parts" / next(iter(store.parts))


def forge(store: Store, name: str | None = None, **about: Any) -> Path:
    """Another part with the rows of the first, and this said about it; named as parts are unless it
    is given a name.
    """
    path = part_of(store)
    known = msgspec.to_builtins(store_files.read_about(path))
    known["held"] = [held[:5] for held in known["held"]]
    table = about.pop("table", None)
    data = store_files.encode(
        store_files.read_table(path) if table is None else table, known | about
    )
    place = path.with_name(name or store_files.part_name(data))
    place.write_bytes(data)
    return place


# A run that is there twice.


def test_a_copied_part_changes_nothing(store: Store) -> None:
    before = rows(store, [EXPERIMENT])
    for path in list((store.folder / "parts").glob("*.parquet")):
        shutil.copy(path, path.with_name(f"{path.stem} (copy).parquet"))
    again = Store.open(store.folder)
    assert rows(again, [EXPERIMENT]) == before
    assert again.table(DIGESTS, ["run"]).num_rows == len(expected([EXPERIMENT]))
    assert all(again.runs(digest) == EXPERIMENT.runs for digest in DIGESTS)
    assert engine.run([EXPERIMENT], again, workers=1).runs == 0
    assert set(again.verify()) == {name for name in again.parts if "copy" in name}


def test_different_accounts_of_a_run_are_refused(store: Store) -> None:
    table = store_files.read_table(part_of(store))
    values = [value + 0.125 for value in table["J_norm_end"].to_pylist()]
    changed = table.set_column(
        table.column_names.index("J_norm_end"), "J_norm_end", pa.array(values)
    )
    forged = forge(store, table=changed)
    again = Store.open(store.folder)
    with pytest.raises(InputError, match=r"run 0 of cell \w+ is there twice, and not the same"):
        again.table(DIGESTS, ["J_norm_end"])
    wrong = again.verify()
    assert len(wrong) == 1
    again.set_aside(wrong)
    assert forged.name in again.parts or forged.name in wrong
    assert again.verify() == {}


def test_an_index_deleted_under_two_writers_makes_nothing_twice(tmp_path: Path) -> None:
    first = Store.open(tmp_path / "store", create=True)
    second = Store.open(tmp_path / "store")
    row = [{"run": 0, "end": 1}]
    first.add([(CELLS[1], row)], 0.0)
    second.add([(CELLS[2], row)], 0.0)
    first.add([(CELLS[0], row)], 0.0)
    (tmp_path / "store" / "index.jsonl").unlink()
    assert second.add([(CELLS[0], row)], 0.0) is None
    first.add([(CELLS[3], row)], 0.0)
    (tmp_path / "store" / "index.jsonl").unlink()
    first.add([(CELLS[4], row)], 0.0)
    assert second.add([(CELLS[3], row)], 0.0) is None
    assert held(first) == sorted((cell.digest, 0) for cell in CELLS[:5])


# What is no result of a run.


def test_a_machine_with_too_little_memory_stores_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "store", create=True)
    with monkeypatch.context() as patch:
        patch.setattr(learn, "machine_memory", lambda: 1000.0)
        with pytest.raises(InputError, match=r"more than the 0\.0 GiB there are"):
            engine.run([EXPERIMENT], store, workers=1)
        assert store.cells == {}
    assert engine.run([EXPERIMENT], store, workers=1).failed == 0
    assert held(store) == sorted(expected([EXPERIMENT]))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EMFILE, "Too many open files"),
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 123 bytes"),
        RuntimeError("can't start new thread"),
    ],
)
def test_what_a_machine_lacks_is_no_result(error: Exception) -> None:
    def fail(*arguments: Any) -> Any:
        raise error

    method = replace(METHODS["plan"], rows=fail)
    with pytest.raises(type(error)):
        method.run_block({}, {}, 0, range(4), lambda count: None)
    divided = replace(METHODS["plan"], rows=lambda *arguments: [{}] * (1 // 0))
    found = divided.run_block({}, {}, 0, range(2), lambda count: None)
    assert [row["failure"] for row in found] == [
        "ZeroDivisionError: integer division or modulo by zero"
    ] * 2


# Merging.


def test_merging_refuses_what_verify_calls_damaged(store: Store, tmp_path: Path) -> None:
    forged = forge(store, name="0123456789abcdef0123.parquet")
    part_of(store).unlink()
    other = Store.open(store.folder)
    assert list(other.verify()) == [forged.name]
    ours = Store.open(tmp_path / "ours", create=True)
    with pytest.raises(InputError, match="its content is not the one it was named after"):
        ours.merge(other)
    assert ours.parts == {}


def test_merging_refuses_other_results_of_the_same_run(store: Store, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other", create=True)
    other.add([(CELLS[0], [{"run": 0, "end": 1, "J_norm_end": 0.5}])], 0.0)
    before = rows(store, [EXPERIMENT])
    with pytest.raises(InputError, match=r"run 0 of cell \w+ is there twice, and not the same"):
        store.merge(other)
    assert rows(Store.open(store.folder), [EXPERIMENT]) == before


# Forged stores.


def lie(store: Store, **changes: Any) -> None:
    """Change what the index says of the first part."""
    index = store.folder / "index.jsonl"
    name, size, stretches = json.loads(index.read_text().splitlines()[0])
    stretches[0] = [changes.get(str(i), value) for i, value in enumerate(stretches[0])]
    index.write_text(json.dumps([name, size, stretches]) + "\n")


@pytest.mark.parametrize(
    "changes", [{"0": "0" * 16}, {"1": "other/id"}, {"3": 9}, {"4": 2}, {"2": 1}]
)
def test_an_index_that_lies_is_found_and_costs_no_part(
    store: Store, changes: dict[str, Any]
) -> None:
    before = rows(store, [EXPERIMENT])
    lie(store, **changes)
    forged = Store.open(store.folder)
    wrong = forged.verify()
    assert list(wrong) == ["index.jsonl"]
    with contextlib.suppress(InputError):
        engine.run([EXPERIMENT], forged, workers=1)
        assert rows(forged, [EXPERIMENT]) == before
    forged.set_aside(wrong)
    assert rows(Store.open(store.folder), [EXPERIMENT]) == before


def shortened(table: pa.Table) -> pa.Table:
    place = table.column_names.index("J_norm")
    curves = [curve[:-1] for curve in table["J_norm"].to_pylist()]
    return table.set_column(place, "J_norm", pa.array(curves, table["J_norm"].type))


def recut(table: pa.Table) -> pa.Table:
    place = table.column_names.index("run")
    runs = [run - 1 for run in table["run"].to_pylist()]
    return table.set_column(place, "run", pa.array(runs, pa.int32()))


@pytest.mark.parametrize("change", [shortened, recut, lambda table: table.slice(1)])
def test_a_forged_part_is_found(store: Store, change: Any) -> None:
    path = part_of(store)
    table = store_files.read_table(path)
    forged = forge(store, table=change(table))
    path.unlink()
    (store.folder / "index.jsonl").unlink()
    assert list(Store.open(store.folder).verify()) == [forged.name]


INDEXES = [
    b'["../../secret.parquet",3,[]]\n',
    b'["a\\u0000b.parquet",3,[]]\n',
    b'["x.parquet",3,[["c","i",0,9999999999999,0]]]\n',
    b'["x.parquet",3,[["c","i",5,1,0]]]\n',
    b'["x.parquet",1e400,[]]\n',
    b"[" * 100_000 + b"\n",
    b'{"a":' * 5000 + b"\n",
    b"\xff\xfe\n",
    b'["\\ud800.parquet",1,[]]\n',
    b"\n" * 1000,
]
MANIFESTS = [
    b"[" * 100_000,
    b'{"format": true}',
    b'{"format": 1.5}',
    b'{"format": 1e400}',
    b'{"format": "1"}',
    b'{"format": [1]}',
    b'{"a":' * 5000,
    b"\xff\xfe{}",
    b'{"format": 123456789012345678901234567890}',
    b'{"format": "\\u001b[2J"}',
]


def commands(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command ends in a sentence or in its work; an exception would be seen here."""
    for arguments in (["ls"], ["ls", "--json"], ["show", "small"], ["verify"]):
        assert main(["store", *arguments, "--store", str(store.folder)]) in (0, 1, 2)
        written = capsys.readouterr()
        assert all(c.isprintable() or c == "\n" for c in written.out + written.err)


@pytest.mark.parametrize("index", INDEXES)
def test_hostile_indexes(store: Store, index: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(store, [EXPERIMENT])
    (store.folder / "index.jsonl").write_bytes(index)
    commands(store, capsys)
    assert rows(Store.open(store.folder), [EXPERIMENT]) == before


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_hostile_manifests(
    store: Store, manifest: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (store.folder / "manifest.json").write_bytes(manifest)
    with pytest.raises(InputError, match=r"store is .*(manifest\.json cannot be read|format)"):
        Store.open(store.folder)
    commands(store, capsys)


@pytest.mark.parametrize(
    "about",
    [
        {"held": None},
        {"held": [["cell", "id", 0, 2**40, 0]]},
        {"held": [["cell", "id", 0, 2**31 - 1, 0]]},
        {"held": [["cell", "id", -1, 4, 0]]},
        {"held": [[None, "id", 0, 4, 0]]},
        {"held": [["\x1b[2J", "\x1b]0;gone\x07", 0, 4, 0]]},
        {"held": []},
        {"time": 7},
        {"seconds": "long"},
        {"seconds": -1},
        {"commit": ["\x1b[31m"]},
    ],
)
def test_hostile_parts(
    store: Store, about: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(store, [EXPERIMENT])
    forge(store, **about)
    again = Store.open(store.folder)
    assert again.verify()
    commands(store, capsys)
    assert rows(again, [EXPERIMENT]) == before


def test_a_part_with_columns_of_other_types_is_found(store: Store) -> None:
    path = part_of(store)
    table = store_files.read_table(path)
    for column in ("cell", "run", "J_norm", "settings", "failure"):
        strange = table.drop_columns([column])
        strange = strange.append_column(column, pa.array([{"a": [1]}] * len(table)))
        forged = forge(store, table=strange)
        assert forged.name in Store.open(store.folder).verify()
        forged.unlink()


# Sizes, and things that are no files.


def test_sizes_are_read_from_headers_and_bounded_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = part_of(store)
    monkeypatch.setattr(pq, "ParquetFile", lambda *a, **k: pytest.fail("read at once"))
    monkeypatch.setattr(store_files, "MOST_ROWS", 3)
    with pytest.raises(InputError, match=r"it declares [\d,]+ (rows|bytes), too many for a part"):
        store_files.read_table(path)
    monkeypatch.setattr(store_files, "MOST_ROWS", 10**6)
    monkeypatch.setattr(store_files, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"it declares [\d,]+ (rows|bytes), too many for a part"):
        store_files.read_table(path)


def test_a_small_part_that_asks_for_much_memory_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "MOST_BYTES", 2**26)
    one = store_files.read_table(part_of(store)).slice(0, 1).drop_columns(["J_norm"])
    offsets = pa.array(range(0, 10_000_001, 50_000), pa.int32())
    curves = pa.ListArray.from_arrays(offsets, pa.array([0.0] * 10_000_000))
    bomb = pa.concat_tables([one] * 200).append_column("J_norm", curves)
    path = store.folder / "parts" / "bomb.parquet"
    pq.write_table(bomb, path, compression="zstd", write_page_checksum=True)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="too many for a part"):
        store_files.read_table(path)
    assert "bomb.parquet" in Store.open(store.folder).verify()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [pipe, loop, Path.mkdir], ids=["pipe", "loop", "folder"])
def test_what_is_no_file_blocks_nothing(
    store: Store, make: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(store, [EXPERIMENT])
    make(store.folder / "parts" / "odd.parquet")
    commands(store, capsys)
    again = Store.open(store.folder)
    assert again.verify() == {"odd.parquet": "it is not a plain file"}
    assert rows(again, [EXPERIMENT]) == before
    engine.run([small(5)], again, workers=1)
    assert again.verify() == {}


@pytest.mark.parametrize("name", ["index.jsonl", "manifest.json"])
@pytest.mark.parametrize("make", [pipe, loop, Path.mkdir], ids=["pipe", "loop", "folder"])
def test_what_is_no_file_in_the_place_of_one(
    store: Store, make: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (store.folder / name).unlink()
    make(store.folder / name)
    commands(store, capsys)


# Who may write.


def test_a_complete_store_is_read_where_nothing_can_be_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path, field: str = "out") -> Path:
        raise InputError(f"{field} cannot be written to")

    monkeypatch.setattr(files, "prepare_folder", refuse)
    again = Store.open(store.folder, create=True)
    assert engine.run([EXPERIMENT], again, workers=1).runs == 0
    with pytest.raises(InputError, match="store cannot be written to"):
        engine.run([small(5)], again, workers=1)


def test_a_live_writer_keeps_its_file_whatever_the_clock_says(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = store.folder / "parts"
    with files.partial_file(parts / "x.parquet", b"content") as partial:
        os.utime(partial, (0, 0))
        store_folder.prepare_writing(store.folder)
        assert partial.read_bytes() == b"content"
    abandoned = parts / ".new.tmp"
    abandoned.touch()
    monkeypatch.setattr(time, "time", lambda: 1e12)
    store_folder.prepare_writing(store.folder)
    assert abandoned.exists()
