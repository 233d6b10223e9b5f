"""What a Parquet file declares about itself, read without PyArrow, which trusts declared sizes and
ends the process on some damaged footers. Whatever is to be read is measured here first: footer and
page headers (Thrift's compact protocol), the size of every page, and its checksum.
"""

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jekyllhyde.errors import InputError, require

DEEPEST = 32  # structures within structures
TEXT = 6  # Parquet's type of texts
MAGIC = b"PAR1"


@dataclass(frozen=True)
class Footer:
    """Number of rows, what the metadata say by key, and the columns' chunks."""

    rows: int
    metadata: dict[bytes, bytes]
    chunks: list[dict[int, Any]]


class _Bytes:
    """Thrift's compact protocol: a structure is a dictionary by the numbers of its fields."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, count: int) -> bytes:
        end = self.place + count
        require(0 <= count and end <= len(self.data), "it is cut short")
        taken, self.place = self.data[self.place : end], end
        return taken

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            require(shift <= 70, "it has a number that is too long")
            if byte < 0x80:
                return value

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def structure(self, depth: int = 0) -> dict[int, Any]:
        require(depth < DEEPEST, "it is nested too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self.take(1)[0]
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            return self.take(8)
        if kind == 8:
            return self.take(self.number())
        if kind in (9, 10):
            head = self.take(1)[0]
            count = self.number() if head >> 4 == 15 else head >> 4
            require(count <= len(self.data), "it is cut short")
            return [self.value(head & 15, depth + 1) for _ in range(count)]
        require(kind == 12, f"it has a field of the unknown kind {kind}")
        return self.structure(depth + 1)


@contextlib.contextmanager
def _checked() -> Iterator[None]:
    # A field that is not there, or is something else, is one sentence.
    try:
        yield
    except (LookupError, TypeError, AttributeError):
        raise InputError("its footer or the header of a page lacks something") from None


@_checked()
def read_footer(data: bytes) -> Footer:
    """The footer of a file with this content."""
    size = int.from_bytes(data[-8:-4], "little")
    require(
        len(data) >= 12 + size and data[:4] == data[-4:] == MAGIC,
        "it is no Parquet file, or cut short",
    )
    fields = _Bytes(data[-8 - size : -8]).structure()
    chunks = [chunk[3] for group in fields[4] for chunk in group[1]]
    return Footer(
        sum(group[3] for group in fields[4]),
        {pair[1]: pair.get(2, b"") for pair in fields.get(5, [])},
        chunks,
    )


@_checked()
def check_pages(data: bytes, chunk: dict[int, Any]) -> int:
    """How many bytes a column's chunk takes in memory; refused where a page is damaged, has no
    checksum, or is not what the footer declares.
    """
    start, length, values = min(chunk[9], chunk.get(11, chunk[9])), chunk[7], 0
    require(0 < start <= start + length <= len(data), "a column lies outside of the file")
    reader, size = _Bytes(data[: start + length], start), 0
    while reader.place < start + length:
        header = reader.structure()
        page = reader.take(header[3])
        require(zlib.crc32(page) == header[4] % 2**32, "a page is damaged: its checksum is another")
        size += header[2]
        values += (header.get(5) or header.get(8) or {1: 0})[1]
        require(header[2] >= 0, "a page has a size below 0")
    require(values == chunk[5], "a column has not as many values as the footer says")
    return size + 8 * values
