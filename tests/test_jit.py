"""Compiled code on disk is used again while the package is unchanged, and never after any of its
files has changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jekyllhyde
from jekyllhyde.jit import ROOMS

PACKAGE = Path(jekyllhyde.__file__).parent.parent
CODE = """
import numpy as np
from jekyllhyde.simplex import exponentials
out = np.empty(1)
exponentials(np.zeros(1), out)
print(out[0], sum(exponentials.stats.cache_hits.values()))
"""


def run(folder: Path, package: Path | None = None) -> tuple[float, int]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(package or folder),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "",
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


def test_compiled_code_is_where_edits_are_noticed() -> None:
    home = PACKAGE / "jekyllhyde"
    rooms = {
        path.parent.relative_to(home).as_posix()
        for path in home.rglob("*.py")
        if "jekyllhyde.jit" in path.read_text()
    }
    assert rooms == {".", *ROOMS}


KERNEL = """
import sys
import numpy as np
from jekyllhyde.jit import by_type, kernel
from jekyllhyde.registry import Choices

change = by_type("change")


@kernel
def change_all(rule, x):
    for i in range(len(x)):
        x[i] = change(rule, x[i])


if __name__ == "__main__":
    import kernel_of_rules as module

    for reference in sys.argv[1:]:
        x = np.ones(1)
        module.change_all(Choices("rule").make(reference), x)
        print(x[0], sum(module.change_all.stats.cache_hits.values()))
"""
RULE = """
from typing import NamedTuple


class Rule(NamedTuple):
    scale: float = 1.0

    def change(self, x):
        return {scale} * self.scale * x
"""


def test_rules_of_other_files_are_cached_and_do_not_hinder_each_other(tmp_path: Path) -> None:
    """A process that has not loaded a rule's file must still read what was compiled without it."""
    (tmp_path / "kernel_of_rules.py").write_text(KERNEL)
    for name, scale in (("first", 2.0), ("second", 3.0)):
        (tmp_path / f"{name}.py").write_text(RULE.format(scale=scale))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def change(*names: str) -> str:
        command = [sys.executable, "kernel_of_rules.py", *(f"{name}.py:Rule" for name in names)]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert change("first") == "2.0 0\n"
    assert change("second") == "3.0 0\n"
    assert change("first") == "2.0 1\n"
    assert change("second", "first") == "3.0 1\n2.0 2\n"
    (tmp_path / "first.py").write_text(RULE.format(scale=5.0))
    assert change("first") == "5.0 0\n"


PLAN = """
import warnings
warnings.simplefilter("always")
import jekyllhyde as jh
print(jh.plan(jh.chain(4), parametrization="direct", updates=3).J.round(12))
"""
NO_FOLDER = "import numba.core.caching as c; c.CacheImpl._locator_classes = []"
NO_NAME = """
import numba.core.caching as c
c.Cache.cache_path = property(lambda cache: cache.renamed)
"""


def printed(code: str, **variables: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("trouble", [NO_FOLDER, NO_NAME], ids=["no folder", "no such attribute"])
def test_where_nothing_can_be_kept_it_is_said_once_and_everything_works(
    trouble: str, tmp_path: Path
) -> None:
    expected, warned = printed(PLAN)
    assert "compiled anew" not in warned
    output, warned = printed(f"{trouble}\n{PLAN}", NUMBA_CACHE_DIR=str(tmp_path))
    assert output == expected
    assert warned.count("compiled anew in every process") == 1


RENAMED = """
import numba.core.cpu as c
home = next(cls for cls in c.CPUTargetOptions.__mro__ if "_nrt" in vars(cls))
home._counted = home._nrt
del home._nrt
"""


def test_a_numba_without_the_private_option_is_said_once_and_everything_works(
    tmp_path: Path,
) -> None:
    output, warned = printed(f"{RENAMED}\n{PLAN}", NUMBA_CACHE_DIR=str(tmp_path))
    assert output == printed(PLAN)[0]
    assert warned.count("cannot be told to count no references") == 1


def test_compiled_code_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    expected, _ = printed(PLAN, NUMBA_CACHE_DIR=str(tmp_path))
    files = [path for path in tmp_path.rglob("*.nb?") if "advance" in path.name]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    assert printed(PLAN, NUMBA_CACHE_DIR=str(tmp_path))[0] == expected


@pytest.mark.parametrize("keep", [0.3, 0.97])
def test_truncated_and_spoilt_compiled_code_is_made_again(tmp_path: Path, keep: float) -> None:
    first = run(tmp_path, PACKAGE)
    for path in (tmp_path / "cache").rglob("*.nb?"):
        data = path.read_bytes()
        path.write_bytes(data[: int(keep * len(data))])
    assert run(tmp_path, PACKAGE) == first
    assert run(tmp_path, PACKAGE)[1] == 1
    for path in (tmp_path / "cache").rglob("*.nbc"):
        spoilt = bytearray(path.read_bytes())
        spoilt[int(keep * (len(spoilt) - 1))] ^= 0x55
        path.write_bytes(spoilt)
    assert run(tmp_path, PACKAGE) == first


def edit(path: Path, old: str, new: str) -> None:
    """Edit a file so that its size and its time stay the same."""
    about, text = path.stat(), path.read_text()
    assert old in text
    assert len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def test_an_edit_that_python_does_not_notice_is_never_run_stale(tmp_path: Path) -> None:
    package = tmp_path / "jekyllhyde"
    shutil.copytree(PACKAGE / "jekyllhyde", package, ignore=shutil.ignore_patterns("__pycache__"))
    assert run(tmp_path) == (1.0, 0)
    last = "* r + 0.5) * r + 1.0) * r + "
    edit(package / "simplex.py", f"{last}1.0", f"{last}7.0")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path)
    assert "was edited, and Python has not noticed it; start again" in caught.value.stderr
    assert run(tmp_path) == (7.0, 0)
    assert run(tmp_path) == (7.0, 1)


def test_an_edit_of_a_kernel_outside_of_the_package_is_noticed(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for factor in ("2.0", "3.0"):
        (tmp_path / "kernel_of_rules.py").write_text(
            KERNEL.replace("x[i] = ", f"x[i] = {factor} * ")
        )
        (tmp_path / "rule.py").write_text(RULE.format(scale=1.0))
        os.utime(tmp_path / "kernel_of_rules.py", (1e9, 1e9))
        done = subprocess.run(
            [sys.executable, "-B", "kernel_of_rules.py", "rule.py:Rule"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split()[0] == factor


INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
from llvmlite.binding.executionengine import ExecutionEngine

set_object_cache = ExecutionEngine.set_object_cache
sent = []

def interrupted(engine, notify, *more):
    def interrupt(module, data):
        if not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))
        notify(module, data)

    set_object_cache(engine, interrupt, *more)

ExecutionEngine.set_object_cache = interrupted
import numpy as np
from jekyllhyde.simplex import exponentials
try:
    exponentials(np.zeros(1), np.empty(1))
except KeyboardInterrupt:
    print("stopped")
"""


def test_an_interrupt_within_the_compiler_is_not_lost(tmp_path: Path) -> None:
    """LLVM calls Python, and an exception raised there would be dropped."""
    assert printed(INTERRUPTED, NUMBA_CACHE_DIR=str(tmp_path)) == ("stopped\n", "")


UNCOMPILED = """
import jekyllhyde as jh
mdp = jh.garnet(6, 2, 2, seed=1, goal=3)
agents = [jh.TabularJekyllHyde(convention="published", epsilon=0.5), jh.TabularOnPolicy(lam=0.1)]
agents.append(jh.TabularJekyllHyde())
agents.append(jh.TabularJekyllHyde(convention="paper", parametrization="direct", epsilon=0.5))
runs = [jh.learn(mdp, agent, trajectories=5, threads=1, horizon=20) for agent in agents]
print([round(float(run.J[0, -1]), 12) for run in runs], jh.plan(mdp, updates=3).J.round(12))
"""


def test_the_source_runs_uncompiled_and_gives_the_same() -> None:
    """Random numbers wrap around without a warning: warnings are errors here."""
    outputs = [
        printed(UNCOMPILED, NUMBA_DISABLE_JIT=off, PYTHONWARNINGS="error::RuntimeWarning")
        for off in ("0", "1")
    ]
    assert outputs[0][0] == outputs[1][0] != ""
