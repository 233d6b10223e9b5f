"""One MDP in one `.npz` file: the sparse model as plain arrays, a format name and a version, no
pickle.

Members are stored uncompressed, so that none can be larger than the file itself, and every array's
declared size is held against its bytes before anything is made of it. Then the arrays go through
the same checks as a user's own P and r.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from jekyllhyde.errors import InputError, require
from jekyllhyde.files import write_npz
from jekyllhyde.mdp.finite import FiniteMDP

FORMAT, VERSION = "jekyllhyde.FiniteMDP", 1
KINDS = {
    "indptr": "iu",
    "indices": "iu",
    "data": "f",
    "r_next": "f",
    "p0": "f",
    "gamma": "f",
    "terminal": "iu",
    "J_low": "f",
    "name": "U",
}
SCALARS = ("format", "version", "gamma", "name")


def save(mdp: FiniteMDP, path: str | Path) -> None:
    """Write `mdp` to `path`."""
    write_npz(
        Path(path),
        {
            "format": np.array(FORMAT),
            "version": np.array(VERSION),
            "indptr": mdp.P.indptr,
            "indices": mdp.P.indices,
            "data": mdp.P.data,
            "r_next": mdp.r_next,
            "p0": mdp.p0,
            "gamma": np.array(mdp.gamma),
            "terminal": mdp.terminal,
            "J_low": np.array([] if mdp._J_low is None else [mdp._J_low]),
            "name": np.array(str(mdp.name)),
        },
    )


def load(path: str | Path) -> FiniteMDP:
    """Read an MDP that `save` wrote; a file that is anything else gives one `InputError` that names
    it.
    """
    path = Path(path)
    require(
        path.is_file(),
        f"cannot read the MDP file {path}: there is no such file"
        + " (it is a folder)" * path.is_dir(),
    )
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            return _build(_read(archive))
    except OSError as error:
        raise InputError(f"cannot read the MDP file {path}: {error.strerror or error}") from error
    # what a damaged or hostile archive makes its readers raise is not worth telling apart
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} is not a usable MDP file: {reason}") from error


def _read(archive: zipfile.ZipFile) -> dict[str, Any]:
    # The arrays by name; the format and version are looked at first.
    names = {Path(name).stem for name in archive.namelist()}
    require("format" in names, "it is an archive of something else")
    written = str(_member(archive, "format", "U"))
    require(written == FORMAT, f"its format is {written!r}, not {FORMAT!r}")
    version = int(_member(archive, "version", "iu"))
    require(
        version == VERSION,
        f"it was written in {'a newer' if version > VERSION else 'an unknown'} format, "
        f"version {version}; this library reads version {VERSION}",
    )
    missing = sorted(KINDS.keys() - names)
    require(not missing, f"it lacks {', '.join(missing)}")
    return {name: _member(archive, name, kinds) for name, kinds in KINDS.items()}


def _member(archive: zipfile.ZipFile, name: str, kinds: str) -> Any:
    # One array, of a dtype kind in `kinds`, of one dimension or, for scalars, none.
    info = archive.getinfo(f"{name}.npy")
    require(
        info.compress_type == zipfile.ZIP_STORED, f"{name} is compressed; these files never are"
    )
    stream = io.BytesIO(raw := archive.read(info))
    read_header = (
        npy.read_array_header_1_0 if npy.read_magic(stream) == (1, 0) else npy.read_array_header_2_0
    )
    shape, _, dtype = read_header(stream)
    require(
        dtype.kind in kinds and len(shape) == (name not in SCALARS),
        f"{name} is an array of {dtype} and shape {shape}, which does not belong there",
    )
    count, size = shape[0] if shape else 1, len(raw) - stream.tell()
    require(
        count * dtype.itemsize == size,
        f"{name} declares {count} entries of {dtype}, but holds {size} bytes",
    )
    array = np.frombuffer(raw, dtype, count, stream.tell()) if count else np.zeros(0, dtype)
    return array if shape else array[0]


def _build(arrays: dict[str, Any]) -> FiniteMDP:
    # The MDP, once the CSR arrays are known to be consistent (SciPy does not check them all).
    data, r_next, J_low, n = arrays["data"], arrays["r_next"], arrays["J_low"], len(arrays["p0"])
    indptr, indices = arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int64)
    require(
        n > 0 and len(indptr) > 1 and (len(indptr) - 1) % n == 0 and len(J_low) <= 1,
        f"its arrays disagree: {len(indptr)} row pointers, {n} states, "
        f"{len(J_low)} reference returns",
    )
    require(
        indptr[0] == 0
        and (np.diff(indptr) >= 0).all()
        and indptr[-1] == len(indices) == len(data) == len(r_next),
        "its transitions are inconsistent: the row pointers do not match the entries",
    )
    starts_row = np.isin(np.arange(len(indices) + 1), indptr)
    require(
        ((indices >= 0) & (indices < n)).all()
        and ((np.diff(indices) > 0) | starts_row[1:-1]).all(),
        f"its successors must be states from 0 to {n - 1}, in increasing order for each state and "
        "action",
    )
    P, r = (
        sparse.csr_array((values.astype(np.float64), indices, indptr), shape=(len(indptr) - 1, n))
        for values in (data, r_next)
    )
    return FiniteMDP(
        P,
        r,
        p0=arrays["p0"],
        gamma=float(arrays["gamma"]),
        terminal=arrays["terminal"],
        J_low=float(J_low[0]) if len(J_low) else None,
        name=str(arrays["name"]),
    )
