"""Files: exact round trips, and one clear sentence for everything that is not an MDP file."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.mdp_file import load, save
from jekyllhyde.mdp.rooms import four_rooms
from mdps import random_mdp


def assert_same(first: FiniteMDP, second: FiniteMDP) -> None:
    for name in ("data", "indices", "indptr"):
        one, other = getattr(first.P, name), getattr(second.P, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    for name in ("r", "r_next", "p0", "terminal", "is_terminal"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for name in ("gamma", "name", "_J_low", "n_states", "n_actions"):
        assert getattr(first, name) == getattr(second, name)


@given(seed=st.integers(0, 2**32 - 1), n_states=st.integers(2, 10), n_actions=st.integers(1, 4))
def test_round_trip_is_exact(
    tmp_path_factory: Any, seed: int, n_states: int, n_actions: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.npz"
    mdp = random_mdp(seed, n_states, n_actions)
    save(mdp, path)
    assert_same(load(path), mdp)


@pytest.mark.parametrize(
    "make", [chain, four_rooms, lambda: garnet(60, seed=2), lambda: chain(6, gamma=1.0)]
)
def test_domains_come_back(make: Any, tmp_path: Path) -> None:
    mdp = make()
    mdp.save(tmp_path / "mdp.npz")
    back = FiniteMDP.load(str(tmp_path / "mdp.npz"))
    assert_same(mdp, back)
    assert back.J_low == mdp.J_low
    assert back.J_star == mdp.J_star


def test_names_are_any_text(tmp_path: Path) -> None:
    mdp = FiniteMDP(np.ones((1, 1, 1)), [[1.0]], name="Gänge / 迷路 ∞")
    save(mdp, tmp_path / "mdp.npz")
    assert load(tmp_path / "mdp.npz").name == "Gänge / 迷路 ∞"


def test_same_mdp_same_bytes_and_exactly_this_path(tmp_path: Path) -> None:
    save(chain(5), tmp_path / "one.mdp")
    save(chain(5), tmp_path / "two.mdp")
    assert (tmp_path / "one.mdp").read_bytes() == (tmp_path / "two.mdp").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.mdp", "two.mdp"]


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(5), path)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(InputError, match=r"cannot write .*mdp.npz: No space left on device"):
        save(chain(9), path)
    monkeypatch.setattr(np, "savez", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save(chain(9), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["mdp.npz"]


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputError, match=r"cannot write .*nowhere/mdp.npz: No such file or directory"
    ):
        save(chain(5), tmp_path / "nowhere" / "mdp.npz")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*folder: Is a directory"):
        save(chain(5), tmp_path / "folder")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"cannot write .*mdp.npz: Permission denied"):
        save(chain(5), tmp_path / "mdp.npz")
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_places_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputError, match=r"cannot read the MDP file .*missing.npz: there is no such file$"
    ):
        load(tmp_path / "missing.npz")
    with pytest.raises(
        InputError, match=r"cannot read the MDP file .*: there is no such file \(it is a folder\)$"
    ):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"cannot read the MDP file .*pipe"):
        load(tmp_path / "pipe")
    save(chain(5), tmp_path / "mdp.npz")

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"cannot read the MDP file .*mdp.npz: Permission denied"):
        load(tmp_path / "mdp.npz")


def members(mdp: FiniteMDP, path: Path) -> dict[str, Any]:
    save(mdp, path)
    with np.load(path) as archive:
        return dict(archive)


def refused(path: Path, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} is not a usable MDP file: ")
    assert reason in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"not a zip", b"\x93NUMPY\x01\x00", pickle.dumps({"a": 1}), b"\0" * 4096],
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "foreign.npz").write_bytes(content)
    refused(tmp_path / "foreign.npz", "not a zip file")


def test_archives_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, weights=np.zeros(3))
    refused(path, "it is an archive of something else")
    np.savez(path, format=np.array("pictures"), version=np.array(1))
    refused(path, "its format is 'pictures', not 'jekyllhyde.FiniteMDP'")


def test_other_versions(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    fields = members(chain(5), path)
    np.savez(path, **(fields | {"version": np.array(2)}))
    refused(path, "it was written in a newer format, version 2; this library reads version 1")
    np.savez(path, **(fields | {"version": np.array(-1)}))
    refused(path, "it was written in an unknown format, version -1")
    np.savez(path, **{name: value for name, value in fields.items() if name not in ("p0", "gamma")})
    refused(path, "it lacks gamma, p0")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(4), path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        refused(path, "")


@given(data=st.data())
def test_damage_is_noticed_or_harmless(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Random bytes changed: the file is refused with our sentence, or the bytes did not matter
    (zip's own timestamps).
    """
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    mdp = random_mdp(1, 4, 2)
    save(mdp, path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(raw))
    try:
        back = load(path)
    except InputError as error:
        sentence = str(error)
    else:
        assert_same(back, mdp)
        return
    assert str(path) in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"indices": np.array([3, 1, 3, 2, 3, 9], dtype=np.int32)},
            "its successors must be states from 0 to 3",
        ),
        (
            {"indices": np.array([3, 1, 3, 2, 4, 3], dtype=np.int32)},
            "its successors must be states from 0 to 3",
        ),
        (
            {"indices": np.array([3, 1, 3, 2, -1, 3], dtype=np.int32)},
            "its successors must be states from 0 to 3",
        ),
        ({"indptr": np.array([0, 1, 2, 3, 4, 5, 6, 6, 7])}, "its transitions are inconsistent"),
        ({"indptr": np.array([1, 1, 2, 3, 4, 5, 6, 6, 6])}, "its transitions are inconsistent"),
        ({"indptr": np.array([0, 4, 2, 3, 4, 5, 6, 6, 6])}, "its transitions are inconsistent"),
        ({"indptr": np.array([0, 1, 2, 3])}, "its arrays disagree: 4 row pointers, 4 states"),
        ({"indptr": np.array([0])}, "its arrays disagree: 1 row pointers, 4 states"),
        (
            {"indptr": np.array([0, 2**62, 2**62, 6, 6, 6, 6, 6, 6])},
            "its transitions are inconsistent",
        ),
        (
            {"indptr": np.array([0, 2, 2, 3, 4, 5, 6, 6, 6])},
            "in increasing order for each state and action",
        ),
        ({"r_next": np.zeros(5)}, "its transitions are inconsistent"),
        ({"r_next": np.full(6, np.nan)}, "r is not a finite number for state 0, action 0"),
        ({"data": np.full(6, 0.5)}, "P does not sum to 1 for state 0, action 0"),
        ({"data": np.full(6, np.nan)}, "P has the entry nan"),
        (
            {"data": np.ones(6, dtype=complex)},
            "data is an array of complex128 and shape (6,), which does not belong there",
        ),
        (
            {"data": np.ones((6, 1))},
            "data is an array of float64 and shape (6, 1), which does not belong there",
        ),
        ({"p0": np.zeros(4)}, "p0 is not a distribution"),
        ({"p0": np.zeros(0)}, "its arrays disagree: 9 row pointers, 0 states"),
        ({"gamma": np.array(np.nan)}, "gamma is nan; it must lie in [0, 1]"),
        (
            {"gamma": np.array([0.9, 0.9])},
            "gamma is an array of float64 and shape (2,), which does not belong there",
        ),
        ({"terminal": np.array([12])}, "terminal contains 12; states are the integers 0 to 3"),
        ({"J_low": np.array([np.inf])}, "J_low is inf; it must be a finite number"),
        (
            {"J_low": np.array([0.0, 1.0])},
            "its arrays disagree: 9 row pointers, 4 states, 2 reference returns",
        ),
        (
            {"name": np.array(3)},
            "name is an array of int64 and shape (), which does not belong there",
        ),
        (
            {"version": np.array("one")},
            "version is an array of <U3 and shape (), which does not belong there",
        ),
    ],
)
def test_inconsistent_arrays(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    np.savez(path, **(members(chain(4), path) | changes))
    refused(path, reason)


class Bomb:
    """Unpickling this would leave a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


@pytest.mark.parametrize("name", ["format", "data", "name"])
def test_pickled_objects_are_never_opened(name: str, tmp_path: Path) -> None:
    path, mark = tmp_path / "mdp.npz", tmp_path / "mark"
    value = np.array(Bomb(mark)) if name != "data" else np.array([Bomb(mark)] * 6)
    np.savez(path, allow_pickle=True, **(members(chain(4), path) | {name: value}))
    refused(path, f"{name} is an array of object")
    assert not mark.exists()


def rewrite(path: Path, name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> None:
    """Replace one member of the archive by raw bytes."""
    with zipfile.ZipFile(path) as archive:
        kept = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for filename, raw in kept.items():
            if filename == f"{name}.npy":
                archive.writestr(filename, content, compression)
            else:
                archive.writestr(filename, raw)


def header(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "shape",
    ["(1000000000000000,)", "(-6,)", "(10000000000000000000000000000,)", "(7,)", "(0,)", "(True,)"],
)
def test_absurd_declared_sizes_allocate_nothing(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(4), path)
    rewrite(path, "data", header(shape) + np.ones(6).tobytes())
    refused(path, "")


def test_a_zip_bomb_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(4), path)
    rewrite(path, "data", header("(10000000,)") + bytes(80_000_000), zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    refused(path, "data is compressed; these files never are")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00",
        header("(6,)", "'|V80'"),
        header("(6,)", "__import__('os')"),
        header("(6"),
    ],
)
def test_malformed_arrays(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(4), path)
    rewrite(path, "data", content)
    refused(path, "")


def test_a_changed_byte_fails_the_checksum(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    save(chain(4, beta=0.123456789), path)
    raw = path.read_bytes()
    stored = np.array(chain(4, beta=0.123456789).r_next).tobytes()
    assert raw.count(stored) == 1
    path.write_bytes(raw.replace(stored, stored[:-1] + bytes([stored[-1] ^ 1])))
    refused(path, "Bad CRC-32")


def test_big_endian_arrays_are_read_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mdp.npz"
    mdp = random_mdp(3, 5, 2)
    fields = members(mdp, path)
    for name in ("data", "r_next", "p0", "indices"):
        fields[name] = fields[name].astype(fields[name].dtype.newbyteorder(">"))
    buffer = io.BytesIO()
    np.savez(buffer, **fields)
    path.write_bytes(buffer.getvalue())
    assert_same(load(path), mdp)
