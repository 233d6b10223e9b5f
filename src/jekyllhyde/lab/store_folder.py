"""The folder of a store: its manifest, made and checked before anything is read or written."""

import contextlib
import json
import time
from pathlib import Path

from jekyllhyde import __version__, files
from jekyllhyde.errors import InputError
from jekyllhyde.lab.store_part import first_line

FORMAT = 1
ABANDONED = 3600.0  # seconds after which a file still being written is one whose writer died


def store_error(folder: Path, reason: str) -> InputError:
    """What is wrong with a store, in one sentence."""
    return InputError(f"store is {str(folder)!r}; {reason}")


def open_folder(folder: Path, create: bool) -> Path:
    """A store's folder, checked; with `create` made if need be, and sure to take new parts."""
    if folder.exists() and not folder.is_dir():
        raise store_error(folder, "it is a file, and must be a folder")
    if create and not (folder / "manifest.json").exists():
        _create(folder)
    _check_manifest(folder)
    if create:
        for partial in files.prepare_folder(folder / "parts", "store").glob(".*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - partial.stat().st_mtime > ABANDONED:
                    partial.unlink()
    return folder


def _create(folder: Path) -> None:
    expected = ("parts", "manifest.json")  # the latter if another process has made it since
    entries = [path.name for path in folder.iterdir()] if folder.exists() else []
    if any(name not in expected and not name.startswith(".") for name in entries):
        reason = "that folder has other things in it, give a new or an empty one"
        raise store_error(folder, reason)
    files.prepare_folder(folder / "parts", "store")
    about = {"format": FORMAT, "made_by": f"jekyllhyde {__version__}"}
    files.write_json(folder / "manifest.json", about)


def _check_manifest(folder: Path) -> None:
    try:
        version = json.loads((folder / "manifest.json").read_text())["format"]
    except FileNotFoundError:
        raise store_error(folder, "there is no store (its manifest.json is missing)") from None
    except (ValueError, KeyError, TypeError, OSError) as error:
        reason = f"its manifest.json cannot be read ({first_line(error)})"
        raise store_error(folder, reason) from None
    if version != FORMAT:
        reason = f"it has format {version}, and this version reads format {FORMAT}"
        raise store_error(folder, reason)
