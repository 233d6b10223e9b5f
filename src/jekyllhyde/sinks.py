"""Where the records of a training can go; any function of (agent, record) is such a place.

TensorBoard's event files are records of (length, checksum, event, checksum), and an event is a
message of Protocol Buffers. Both formats are small enough to be written here.
"""

import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from jekyllhyde.agent import Callback, Record
from jekyllhyde.files import prepare_folder

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5  # how a field is encoded


@contextmanager
def tensorboard(folder: str | Path) -> Iterator[Callback]:
    """A callback that writes every number as a scalar for TensorBoard into an event file in
    `folder`, by the name of its event: log/epsilon, episode/return, evaluation/mean.
    """
    name = f"events.out.tfevents.{int(time.time())}.jekyllhyde.{os.getpid()}"
    with (prepare_folder(Path(folder), "folder") / name).open("xb") as file:
        file.write(_record(_event(0, _field(3, BYTES, b"brain.Event:2"))))

        def sink(agent: Any, record: Record) -> None:
            scalars = b"".join(
                _field(1, BYTES, _scalar(f"{record.event}/{name}", float(value)))
                for name, value in record.values.items()
            )
            file.write(_record(_event(record.step, _field(5, BYTES, scalars))))
            file.flush()

        yield sink


def _event(step: int, content: bytes) -> bytes:
    return _field(1, DOUBLE, struct.pack("<d", time.time())) + _field(2, VARINT, step) + content


def _scalar(tag: str, value: float) -> bytes:
    return _field(1, BYTES, tag.encode()) + _field(2, FLOAT, struct.pack("<f", value))


def _field(number: int, kind: int, value: Any) -> bytes:
    head = _varint(number << 3 | kind)
    if kind == VARINT:
        return head + _varint(value)
    return head + (_varint(len(value)) if kind == BYTES else b"") + bytes(value)


def _varint(value: int) -> bytes:
    # seven bits a byte, the lowest first; the eighth says that there are more
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + _masked(length) + content + _masked(content)


def _masked(content: bytes) -> bytes:
    # the checksum, turned and shifted as the format wants it
    checksum = crc32c(content)
    turned = (checksum >> 15 | checksum << 17) & 0xFFFFFFFF
    return struct.pack("<I", (turned + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(content: bytes) -> int:
    """The cyclic redundancy check with Castagnoli's polynomial."""
    checksum = 0xFFFFFFFF
    for byte in content:
        checksum = checksum >> 8 ^ _table()[(checksum ^ byte) & 255]
    return checksum ^ 0xFFFFFFFF


@cache
def _table() -> list[int]:
    table = []
    for byte in range(256):
        entry = byte
        for _ in range(8):
            entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
        table.append(entry)
    return table
