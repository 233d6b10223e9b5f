"""An archive of the runs behind the paper's figures: one file to keep, from which they are drawn
again without computing.

It is a tar file with the store's own parts, a list of SHA-256 checksums that `sha256sum -c` reads,
and a page of instructions. A name that ends in .xz has it compressed: what the parts repeat of each
other is most of the runs to a target. The same runs make the same file.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Literal

from jekyllhyde.errors import require
from jekyllhyde.files import write_file
from jekyllhyde.lab.panel import Panel, has_runs
from jekyllhyde.lab.store import Store

README = """Runs behind the figures: {panels}.

    sha256sum -c SHA256SUMS
    jh store verify --store store
    jh figure {panels} --store store --out figures
    jh report {panels} --store store

draw them again; nothing is computed that is here. The number of runs per point is that of the
store; `jh figure` without `--runs` adds what the paper's size asks for and is not here.
"""


def write_archive(store: Store, panels: Iterable[Panel], path: Path) -> list[str]:
    """Write the parts that hold runs of these panels; returns the names of the panels that the
    store can draw.
    """
    able = [panel for panel in panels if has_runs(panel, store)]
    require(able, f"store is {str(store.folder)!r}; it has no panel's runs to archive")
    names = [panel.name for panel in able]
    digests = {digest for panel in able for digest in panel.digests}
    parts = sorted({held.part for digest in digests for held in store.cells.get(digest, [])})
    files = {"store/manifest.json": (store.folder / "manifest.json").read_bytes()}
    files |= {f"store/parts/{part}": (store.folder / "parts" / part).read_bytes() for part in parts}
    files["README"] = README.format(panels=" ".join(names)).encode()
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    files["SHA256SUMS"] = sums.encode()

    def write(file: BinaryIO) -> None:
        mode: Literal["w:xz", "w"] = "w:xz" if path.suffix == ".xz" else "w"
        with tarfile.open(fileobj=file, mode=mode) as archive:
            for name, data in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o644
                archive.addfile(entry, io.BytesIO(data))

    write_file(path, write)
    return names
