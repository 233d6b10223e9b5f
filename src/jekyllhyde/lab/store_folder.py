"""The folder of a store: its manifest, whether it can be written to, and who writes there."""

import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from jekyllhyde import __version__, files
from jekyllhyde.errors import InputError, require
from jekyllhyde.lab.store_files import first_line

FORMAT = 1
ABANDONED = 3600.0  # seconds after which a file still being written is one whose writer died


class _Manifest(msgspec.Struct):
    format: int


def sentence(folder: Path, reason: str) -> str:
    """What is wrong with a store."""
    return f"store is {str(folder)!r}; {reason}"


def open_folder(folder: Path, create: bool) -> Path:
    """A store's folder, checked; with `create` made if need be."""
    manifest, parts = folder / "manifest.json", folder / "parts"
    require(  # in this order: another process may make it between the two questions
        not folder.exists() or folder.is_dir(),
        sentence(folder, "it is a file, and must be a folder"),
    )
    if create and not manifest.exists():
        # The manifest is there if another process has made it since.
        require(
            {path.name for path in folder.glob("[!.]*")} <= {parts.name, manifest.name},
            sentence(folder, "that folder has other things in it, give a new or an empty one"),
        )
        files.prepare_folder(parts, "store")
        files.write_json(manifest, {"format": FORMAT, "made_by": f"jekyllhyde {__version__}"})
    try:
        data = files.read_file(manifest, 2**20)
        version = msgspec.json.decode(data, type=_Manifest).format
    except FileNotFoundError:
        raise InputError(
            sentence(folder, "there is no store (its manifest.json is missing)")
        ) from None
    except (msgspec.DecodeError, ValueError, OSError, RecursionError) as error:
        raise InputError(
            sentence(folder, f"its manifest.json cannot be read ({first_line(error)})")
        ) from None
    require(
        version == FORMAT,
        sentence(folder, f"it has format {version}, and this version reads format {FORMAT}"),
    )
    return folder


def prepare_writing(folder: Path) -> None:
    """Make sure that a store takes new parts, and clear away what dead writers left."""
    with files.refused(sentence(folder, "it cannot be written to")):
        files.remove_abandoned(folder / "parts", ABANDONED)


@lru_cache(maxsize=1)
def machine() -> dict[str, Any]:
    """Where and with what the work is done."""
    return {
        "version": __version__,
        "commit": _commit(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
    }


def _commit() -> str | None:
    # The commit of this package, where it lies in a repository of its own (and is not just
    # installed below another one).
    try:
        for command in (["ls-files", "--error-unmatch", "__init__.py"], ["rev-parse", "HEAD"]):
            answer = subprocess.check_output(
                ["git", "-C", str(Path(__file__).resolve().parent.parent), *command],
                stderr=subprocess.DEVNULL,
                text=True,
                timeout=5,
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.strip() or None
