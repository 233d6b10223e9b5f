"""Compiled code on disk is used again while the package is unchanged, and never after any of its
files has changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jekyllhyde

CODE = """
import numpy as np
from jekyllhyde.planning.updates import direct_update
pi = np.full((1, 3), 1.0 / 3.0)
direct_update(pi, pi, np.array([[3.0, 0.0, 0.0]]), np.zeros(1), np.ones(1), 0.0, False, np.empty(3))
print(pi[0, 0], sum(direct_update.stats.cache_hits.values()))
"""


def run(folder: Path) -> tuple[float, int]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    printed = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    ).stdout
    value, hits = printed.split()
    return float(value), int(hits)


def test_an_edit_of_a_function_that_a_kernel_calls_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "jekyllhyde"
    shutil.copytree(
        Path(jekyllhyde.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert run(tmp_path) == (1.0, 0)
    assert run(tmp_path) == (1.0, 1)
    callee = package / "errors.py"
    callee.write_text(callee.read_text() + "\n")
    assert run(tmp_path) == (1.0, 0)
