"""The store: nothing twice, nothing half, nothing lost; found out when damaged; readable without
the library.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine, store_files
from jekyllhyde.lab.spec import Cell
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_files import Held, stretches
from jekyllhyde.lab.store_folder import ABANDONED
from lab_sweeps import expected, held, planned, rows, small

EXPERIMENT = small(4)
CELLS = EXPERIMENT.cells


def made_up(cell: Cell, runs: range) -> tuple[Cell, list[dict[str, Any]]]:
    """Rows as a task makes them, without the work."""
    curve = {"at": [1, 2], "J_norm_jekyll": [0.0, 0.5]}
    return (
        cell,
        [
            {"run": run, "end": 10 + run, "J_norm_end": run / 7, "J_norm": [0.1, run / 3], **curve}
            for run in runs
        ],
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def filled(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with several parts."""
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.04)
    engine.run([EXPERIMENT], store, workers=1)
    assert len(store.parts) > 2
    return store


def parts(store: Store) -> list[Path]:
    return sorted((store.folder / "parts").glob("*.parquet"))


# What is stored, and what is missing.


def test_rows_come_back_as_they_were_in_order_of_cell_and_run(store: Store) -> None:
    store.add([made_up(CELLS[1], range(2, 5)), made_up(CELLS[0], range(3))], 1.0)
    store.add([made_up(CELLS[1], range(2))], 1.0)
    found = store.table(
        [CELLS[0].digest, CELLS[1].digest], ["cell", "run", "J_norm", "failure"]
    ).to_pydict()
    order = sorted(
        [(CELLS[0].digest, run) for run in range(3)] + [(CELLS[1].digest, run) for run in range(5)]
    )
    assert list(zip(found["cell"], found["run"], strict=True)) == order
    assert found["J_norm"] == [[0.1, run / 3] for _, run in order]
    assert found["failure"] == [None] * 8
    assert store.table([CELLS[1].digest], ["run"]).to_pydict() == {"run": [0, 1, 2, 3, 4]}
    assert store.table(["0" * 16]).num_rows == 0


def test_what_is_there_already_is_not_stored_again(store: Store) -> None:
    assert store.add([made_up(CELLS[0], range(3))], 1.0)
    assert store.add([made_up(CELLS[0], range(3))], 1.0) is None
    name = store.add([made_up(CELLS[0], range(6)), made_up(CELLS[1], range(1))], 1.0)
    assert name is not None
    assert [(one.cell, one.first, one.last) for one in store.parts[name]] == sorted(
        [(CELLS[0].digest, 3, 6), (CELLS[1].digest, 0, 1)]
    )
    assert len(held(store)) == len(set(held(store))) == 7
    assert store.verify() == {}


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), max_size=6), st.integers(0, 20))
def test_missing_is_what_is_not_there(added: list[tuple[int, int]], runs: int) -> None:
    store = Store(Path())
    here: set[int] = set()
    for first, length in added:
        if not here & set(range(first, first + length)) and length:
            store.cells.setdefault("cell", []).append(
                Held("cell", "id", first, first + length, 0, "part")
            )
            here |= set(range(first, first + length))
    assert store.runs("cell") == len(here)
    missing = store.missing("cell", runs)
    assert [run for stretch in missing for run in stretch] == [
        run for run in range(runs) if run not in here
    ]
    assert all(len(stretch) for stretch in missing)
    assert all(before.stop < after.start for before, after in itertools.pairwise(missing))


@given(
    st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 15)), st.booleans()),
    st.randoms(use_true_random=False),
)
def test_stretches_are_the_runs_in_as_few_pieces_as_possible(
    runs: dict[tuple[str, int], bool], shuffle: random.Random
) -> None:
    given_rows = [
        (cell, f"id {cell}", run, "why" if failed else None) for (cell, run), failed in runs.items()
    ]
    shuffle.shuffle(given_rows)
    found = stretches(given_rows)
    assert [
        (cell, run) for cell, _, first, last, _ in found for run in range(first, last)
    ] == sorted(runs)
    assert sum(one[4] for one in found) == sum(runs.values())
    for before, after in itertools.pairwise(found):
        assert before[0] < after[0] or before[3] < after[2]


def test_a_second_look_sees_what_another_process_has_stored(store: Store) -> None:
    other = Store.open(store.folder)
    store.add([made_up(CELLS[0], range(3))], 1.0)
    assert other.missing(CELLS[0].digest, 3) == [range(3)]
    other.refresh()
    assert other.missing(CELLS[0].digest, 3) == []


def test_every_part_says_who_made_it(filled: Store) -> None:
    about = filled.provenance(next(iter(filled.parts)))
    assert set(about) == {"seconds", "time", "version", "commit", "machine", "python"}
    assert about["time"].startswith("20")
    cell = filled.table([CELLS[0].digest], ["settings"])["settings"][0].as_py()
    assert json.loads(cell) == CELLS[0].complete


# Reading without the library.


def test_any_parquet_reader_reads_a_store(filled: Store) -> None:
    files = str(filled.folder / "parts" / "*.parquet")
    columns = "series, count(*), avg(J_norm_end), max(len(J_norm))"
    query = f"select {columns} from '{files}' group by series order by series"
    found = duckdb.connect().execute(query).fetchall()
    ours = filled.table([cell.digest for cell in CELLS])
    for series, count, mean, points in found:
        mask = [one == series for one in ours["series"].to_pylist()]
        values = [
            value for value, keep in zip(ours["J_norm_end"].to_pylist(), mask, strict=True) if keep
        ]
        assert (count, points) == (len(values), len(ours["at"][mask.index(True)]))
        assert mean == pytest.approx(sum(values) / len(values), rel=1e-12)
    assert [one[0] for one in found] == ["J&H eps=100/t", "PG"]
    assert ds.dataset(filled.folder / "parts").count_rows() == len(expected([EXPERIMENT]))


@pytest.mark.parametrize(
    "name", ["Ergebnisse für Zoë", "结果", "x=7", "with space & 'quotes'", "a%20b"]
)
def test_a_store_may_be_called_anything(tmp_path: Path, name: str) -> None:
    store = Store.open(tmp_path / name / "run=1", create=True)
    store.add([made_up(CELLS[0], range(3)), made_up(CELLS[1], range(3))], 1.0)
    again = Store.open(tmp_path / name / "run=1")
    found = again.table([CELLS[0].digest]).to_pydict()
    assert found["run"] == [0, 1, 2]
    assert found["x"] == [0.5] * 3
    assert again.verify() == {}


# Opening what is no store.


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    for create in (False, True):
        with pytest.raises(InputError, match=r"file'; it is a file, and must be a folder"):
            Store.open(tmp_path / "file", create=create)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_folder_with_other_things_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="other things in it"):
        Store.open(tmp_path, create=True)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


def test_there_must_be_a_store_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no store \(its manifest\.json is missing\)"):
        Store.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("create", [False, True])
def test_a_newer_store_is_left_alone(filled: Store, create: bool) -> None:
    (filled.folder / "manifest.json").write_text('{"format": 2}')
    before = {path: path.stat().st_mtime_ns for path in [filled.folder, *filled.folder.rglob("*")]}
    with pytest.raises(InputError, match="it has format 2, and this version reads format 1"):
        Store.open(filled.folder, create=create)
    assert {
        path: path.stat().st_mtime_ns for path in [filled.folder, *filled.folder.rglob("*")]
    } == before


@pytest.mark.parametrize("content", ["", "[]", "{}", "nonsense", '{"format": null}', "\x00\xff"])
def test_a_broken_manifest_is_one_sentence(filled: Store, content: str) -> None:
    (filled.folder / "manifest.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"manifest\.json cannot be read|it has format None"):
        Store.open(filled.folder)


def test_a_store_without_its_parts_folder_is_one_sentence(filled: Store) -> None:
    shutil.rmtree(filled.folder / "parts")
    with pytest.raises(InputError, match=r"its parts cannot be listed: No such file or directory"):
        Store.open(filled.folder)


@pytest.mark.parametrize(
    "index",
    [
        None,
        b"",
        b"nonsense\n",
        b"[]\n{}\n3\n",
        b'["x.parquet",1,[["a"]]]\n',
        b"\x00\xff\n",
        b'["cut',
    ],
)
def test_losing_or_spoiling_the_index_costs_nothing(filled: Store, index: bytes | None) -> None:
    before = rows(filled, [EXPERIMENT])
    (filled.folder / "index.jsonl").unlink()
    if index is not None:
        (filled.folder / "index.jsonl").write_bytes(index)
    again = Store.open(filled.folder)
    assert rows(again, [EXPERIMENT]) == before
    engine.run([small(5)], again, workers=1)
    assert set(held(again)) == expected([small(5)])
    assert Store.open(filled.folder).verify() == {}


def test_an_index_lost_while_stores_are_open_is_begun_anew(store: Store) -> None:
    other = Store.open(store.folder)
    store.add([made_up(CELLS[0], range(9))], 1.0)
    other.refresh()
    (store.folder / "index.jsonl").unlink()
    store.add([made_up(CELLS[1], range(2))], 1.0)
    other.add([made_up(CELLS[1], range(3))], 1.0)
    assert held(store) == sorted(
        [(CELLS[0].digest, run) for run in range(9)] + [(CELLS[1].digest, run) for run in range(3)]
    )


def test_the_index_spares_looking_into_parts(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_files, "read_about", lambda path: pytest.fail("looked into a part"))
    assert Store.open(filled.folder).missing(CELLS[0].digest, 4) == []


# Damage.


def damage(store: Store, path: Path, edit: Any) -> None:
    data = bytearray(path.read_bytes())
    path.write_bytes(bytes(edit(data)))


def flip(place: float) -> Any:
    def edit(data: bytearray) -> bytearray:
        data[int(place * (len(data) - 1))] ^= 0x10
        return data

    return edit


@pytest.mark.parametrize("keep", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_part_is_found_and_only_it_is_computed_again(
    filled: Store, keep: float
) -> None:
    before, whole = rows(filled, [EXPERIMENT]), set(filled.parts)
    victim = parts(filled)[1]
    lost = {
        (one.cell, run) for one in filled.parts[victim.name] for run in range(one.first, one.last)
    }
    damage(filled, victim, lambda data: data[: int(keep * len(data))])
    again = Store.open(filled.folder)
    assert list(again.verify()) == [victim.name]
    status = engine.run([EXPERIMENT], again, workers=1)
    assert status.runs_done == len(lost)
    assert whole - set(again.parts) <= {
        victim.name
    }  # within the same second the new part may be the same file
    assert rows(again, [EXPERIMENT]) == before
    assert again.verify() == {}
    assert len(list((filled.folder / "damaged").iterdir())) == 1


def test_a_bit_flipped_anywhere_is_found(filled: Store) -> None:
    victim = parts(filled)[0]
    whole = victim.read_bytes()
    for place in [i / 211 for i in range(212)]:
        damage(filled, victim, flip(place))
        assert list(Store.open(filled.folder).verify()) == [victim.name], (
            f"at {place} of {len(whole)} bytes"
        )
        victim.write_bytes(whole)
    assert Store.open(filled.folder).verify() == {}


def test_a_flipped_bit_in_the_data_is_never_read_as_a_number(filled: Store) -> None:
    """Without verifying: reading refuses pages whose checksum is wrong."""
    victim = parts(filled)[0]
    column = pq.ParquetFile(victim).metadata.row_group(0).column(SCHEMA_NAMES.index("J_norm_end"))
    start = column.dictionary_page_offset or column.data_page_offset
    at = start + column.total_compressed_size - 3  # the end of its last page
    damage(filled, victim, lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(InputError, match=rf"part {victim.name} cannot be read .*verify the store"):
        Store.open(filled.folder).table([cell.digest for cell in CELLS])


SCHEMA_NAMES = store_files.SCHEMA.names


def test_set_aside_parts_are_computed_again(filled: Store) -> None:
    before = rows(filled, [EXPERIMENT])
    damage(filled, parts(filled)[0], flip(0.3))
    again = Store.open(filled.folder)
    again.set_aside(again.verify())
    engine.run([EXPERIMENT], again, workers=1)
    assert rows(again, [EXPERIMENT]) == before
    assert again.verify() == {}


def test_a_run_that_is_there_twice_is_found(filled: Store, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other", create=True)
    other.add([made_up(CELLS[0], range(2, 3))], 1.0)
    copied = parts(other)[0]
    shutil.copy(copied, filled.folder / "parts")
    wrong = Store.open(filled.folder).verify()
    assert len(wrong) == 1
    assert f"run 2 of cell {CELLS[0].digest}" in next(iter(wrong.values()))


def test_a_foreign_file_among_the_parts_is_found(filled: Store) -> None:
    pq.write_table(
        ds.dataset(parts(filled)[0]).to_table().replace_schema_metadata(None),
        filled.folder / "parts" / "mine.parquet",
    )
    again = Store.open(filled.folder)
    assert again.verify() == {"mine.parquet": "it was not written by this library"}
    assert set(again.parts) == set(filled.parts)


def test_a_part_that_cannot_be_opened_is_not_taken_for_damaged(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many open files, say: setting good parts aside would throw away work."""

    def refuse(path: Path) -> dict[str, Any]:
        raise OSError(errno.EMFILE, "Too many open files")

    (filled.folder / "index.jsonl").unlink()
    monkeypatch.setattr(store_files, "read_about", refuse)
    with pytest.raises(InputError, match=r"cannot be read .*Too many open files"):
        Store.open(filled.folder, create=True)


# Places that cannot be written to.


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)],
        check=False,
        capture_output=True,
    ).returncode:
        pytest.skip("mounting a file system is not permitted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_loses_nothing_that_was_stored(
    tiny_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.04)
    experiment = small(8)
    whole = Store.open(tmp_path / "whole", create=True)
    engine.run([experiment], whole, workers=1)
    store = Store.open(tiny_disk / "store", create=True)
    ballast = tiny_disk / "ballast"
    free = os.statvfs(tiny_disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_bsize - 40_000))
    with pytest.raises(InputError, match=r"it cannot be written to: No space left on device"):
        engine.run([experiment], store, workers=2)
    after = Store.open(tiny_disk / "store")
    assert 0 < len(held(after)) < len(expected([experiment]))
    assert after.verify() == {}
    assert not list((tiny_disk / "store" / "parts").glob(".*"))
    ballast.unlink()
    store = Store.open(tiny_disk / "store", create=True)
    kept = set(store.parts)
    engine.run([experiment], store, workers=2)
    assert kept <= set(store.parts)
    assert rows(store, [experiment]) == rows(whole, [experiment])
    assert len(held(store)) == len(expected([experiment]))


def test_an_index_line_cut_short_by_a_full_disk_is_passed_over(store: Store) -> None:
    store.add([made_up(CELLS[0], range(2))], 1.0)
    with (store.folder / "index.jsonl").open("ab") as file:
        file.write(b'["0123.parquet", 99, [["ab')
    reader = Store.open(store.folder)
    store.add([made_up(CELLS[0], range(2, 4))], 1.0)
    reader.refresh(scan=False)
    assert reader.missing(CELLS[0].digest, 5) == [range(4, 5)]


def test_a_read_only_store_is_read_and_not_written(tiny_disk: Path) -> None:
    store = Store.open(tiny_disk / "store", create=True)
    store.add([made_up(CELLS[0], range(3))], 1.0)
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    assert Store.open(tiny_disk / "store").table([CELLS[0].digest], ["run"]).to_pydict() == {
        "run": [0, 1, 2]
    }
    assert Store.open(tiny_disk / "store").verify() == {}
    with pytest.raises(InputError, match=r"it cannot be written to: Read-only file system"):
        engine.run([EXPERIMENT], Store.open(tiny_disk / "store", create=True), workers=1)
    with pytest.raises(InputError, match=r"it cannot be written to: Read-only file system"):
        store.add([made_up(CELLS[0], range(3, 4))], 1.0)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_no_permission_to_write_is_one_sentence(filled: Store) -> None:
    (filled.folder / "parts").chmod(0o555)
    try:
        assert engine.run([EXPERIMENT], Store.open(filled.folder, create=True)).runs == 0
        with pytest.raises(InputError, match=r"it cannot be written to: Permission denied"):
            engine.run([small(5)], Store.open(filled.folder, create=True))
    finally:
        (filled.folder / "parts").chmod(0o755)


# Several writers.


def test_writers_in_threads_and_stores_share_one_folder(store: Store) -> None:
    """Each offers every run, in another order and in other pieces; every run is there once."""
    errors: list[Exception] = []

    def write(seed: int) -> None:
        try:
            own, order = Store.open(store.folder), random.Random(seed)
            pieces = [
                (cell, range(i, min(i + seed + 1, 12)))
                for cell in CELLS
                for i in range(0, 12, seed + 1)
            ]
            order.shuffle(pieces)
            for cell, runs in pieces:
                own.add([made_up(cell, runs)], 0.0)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert held(store) == sorted((cell.digest, run) for cell in CELLS for run in range(12))
    assert Store.open(store.folder).verify() == {}


def test_a_writer_waits_for_the_lock(store: Store) -> None:
    other = Store.open(store.folder)
    other.add([made_up(CELLS[1], range(3))], 0.0)
    thread = threading.Thread(target=lambda: other.add([made_up(CELLS[0], range(3))], 0.0))
    with store._locked():
        thread.start()
        thread.join(1.0)
        assert thread.is_alive()
        assert len(parts(store)) == 1
    thread.join()
    assert len(parts(store)) == 2


def test_a_part_that_came_between_is_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process stores half of the runs after ours are written, before the lock is ours."""
    other = Store.open(store.folder)
    locked = Store._locked
    pending = [made_up(CELLS[0], range(1, 3))]

    def late(self: Store, *waiting: Any) -> Any:
        if self is store and pending:
            other.add([pending.pop()], 0.0)
        return locked(self, *waiting)

    monkeypatch.setattr(Store, "_locked", late)
    name = store.add([made_up(CELLS[0], range(5))], 0.0)
    assert name is not None
    assert [(one.first, one.last) for one in store.parts[name]] == [(0, 1), (3, 5)]
    assert held(store) == [(CELLS[0].digest, run) for run in range(5)]
    assert not list((store.folder / "parts").glob(".*"))


def test_a_line_of_a_writer_that_died_does_not_count(store: Store) -> None:
    store._index.append("dead.parquet", 99, [[CELLS[0].digest, "id", 0, 5, 0]])
    assert store.add([made_up(CELLS[0], range(5))], 0.0)
    assert held(Store.open(store.folder)) == [(CELLS[0].digest, run) for run in range(5)]


def test_what_dead_writers_left_is_cleared_away_in_time(store: Store) -> None:
    old, new = (store.folder / "parts" / f".{name}.partial" for name in ("old", "new"))
    old.touch()
    new.touch()
    os.utime(old, (time.time() - 2 * ABANDONED,) * 2)
    Store.open(store.folder, create=True)
    assert old.exists()
    engine.run([EXPERIMENT], store, workers=1)
    assert not old.exists()
    assert new.exists()


def test_two_processes_may_make_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one has made its manifest just after we saw none."""
    exists = Path.exists
    Store.open(tmp_path / "store", create=True)

    def blind(self: Path) -> bool:
        return exists(self) and self.name != "manifest.json"

    monkeypatch.setattr(Path, "exists", blind)
    assert Store.open(tmp_path / "store", create=True).parts == {}


def test_merging_takes_what_is_new_with_its_provenance(filled: Store, tmp_path: Path) -> None:
    more = Store.open(tmp_path / "more", create=True)
    engine.run([small(6), planned()], more, workers=1)
    taken = more.provenance(next(iter(more.parts)))
    assert filled.merge(more) > 0
    assert filled.merge(more) == 0
    assert held(filled) == sorted(expected([small(6), planned()]))
    assert rows(filled, [small(6), planned()]) == rows(more, [small(6), planned()])
    assert taken in [filled.provenance(name) for name in filled.parts]
    assert filled.verify() == {}


def test_a_bad_text_in_a_row_is_stored(store: Store) -> None:
    cell = replace(CELLS[0], series="J&H ε→0 \N{SNOWMAN}")
    store.add([(cell, [{"run": 0, "failure": "line\nbreak, \x00, \N{SNOWMAN}"}])], 0.0)
    found = Store.open(store.folder).table([cell.digest], ["series", "failure"]).to_pylist()
    assert found == [{"series": "J&H ε→0 \N{SNOWMAN}", "failure": "line\nbreak, \x00, \N{SNOWMAN}"}]
    assert store.parts[next(iter(store.parts))][0].failed == 1


def test_experiments_share_cells(store: Store) -> None:
    wide = small(4, name="wide", vary={"eta": [0.5, 1.0, 2.0, 4.0]})
    engine.run([EXPERIMENT], store, workers=1)
    status = engine.run([wide], store, workers=1)
    assert status.runs_done == 2 * 4
    assert held(store) == sorted(expected([wide]))
