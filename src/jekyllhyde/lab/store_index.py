"""A store's index: a line of JSON per part with its name, size and content, so that nobody need
look into each. It is only ever appended to; losing it, or any line of it, costs nothing but
time. A line without a part is one whose writer died before it renamed the part into its place.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from jekyllhyde import files
from jekyllhyde.lab.store_files import Held, Stretch

MOST_BYTES = 2**31
Listed = dict[str, tuple[int, list[Held]]]  # by part
_LINE = msgspec.json.Decoder(
    tuple[Annotated[str, msgspec.Meta(pattern=r"^[^./\\\x00][^/\\\x00]*\Z")], int, list[Held]]
)


class Index:
    """The index of a store, read from where the last look ended."""

    def __init__(self, path: Path) -> None:
        self.path, self._read, self._end = path, 0, b""

    def news(self) -> tuple[Listed, bool]:
        """The lines since the last look, by part, and whether the index is surely the one that was
        looked at then; what is no such line is passed over.
        """
        data, same = b"", False
        try:
            with files.open_file(self.path) as file:
                file.seek(self._read - len(self._end))
                same = bool(self._end) and file.read(len(self._end)) == self._end
                self._read = file.seek(self._read if same else 0)
                data = file.read(MOST_BYTES)
        except OSError:
            self._read = 0
        lines = data[: data.rfind(b"\n") + 1]
        self._read += len(lines)
        self._end = lines[-200:] or self._end if same else lines[-200:]
        listed: Listed = {}
        for line in lines.splitlines():
            with contextlib.suppress(ValueError, RecursionError):  # msgspec's are ValueErrors
                name, size, held = _LINE.decode(line)
                listed[name] = (size, held)
        return listed, same

    def append(self, name: str, size: int, held: Sequence[Stretch]) -> None:
        """Add a line; one that a full disk cut short is ended first."""
        with self.path.open("ab+") as file:
            file.seek(max(0, file.tell() - 1))
            cut = file.read() not in (b"", b"\n")
            file.write(b"\n" * cut + msgspec.json.encode([name, size, held]) + b"\n")
