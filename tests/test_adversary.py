"""The standing adversary: see `adversary` for files, `misbehaving` for environments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adversary
from jekyllhyde.errors import InputError
from jekyllhyde.lab.spec import Experiment

CASES = {
    "MDP": 450,
    "tabular agent": 200,
    "experiment": 400,
    "part": 300,
    "index": 300,
    "manifest": 200,
    "training with networks": 150,
}


@pytest.mark.parametrize("name", CASES)
def test_mutated_files_are_read_or_refused_in_one_sentence(name: str) -> None:
    tally, failures = adversary.attack(name, CASES[name])
    assert failures == []
    assert tally["taken"] + tally["refused"] == CASES[name]
    assert tally["refused"] > 0 or name == "index"  # a line of it that is no such line is no loss


def test_the_adversary_sees_what_goes_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(folder: Path) -> list[Path]:
        (folder / "file").write_bytes(bytes(100))
        return [folder / "file"]

    def read(path: Path) -> None:
        number = sum(path.read_bytes()) % 4
        if number == 0:
            raise KeyError("not a sentence")
        if number == 1:
            raise InputError("two\nlines")
        if number == 2:
            os.abort()

    monkeypatch.setitem(adversary.READERS, "file", adversary.Reader(make, read))
    _, failures = adversary.attack("file", 60)
    for symptom in ("KeyError", "2 lines", "ended by SIGABRT"):
        assert any(symptom in failure for failure in failures)


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["chain", "PG", "10/sqrt(t)", "uniform", "plan", "learn", "eta"]),
)
ANY = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = ("eta", "o", "updates", "target", "density", "lam", "points", "convention", "epsilon")
TABLE = st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), ANY, max_size=3)
GOOD = {
    "name": "x",
    "method": "plan",
    "problem": {"name": "chain", "n_states": 4},
    "series": [{"label": "PG"}],
}


@settings(max_examples=300)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "name": ANY,
            "method": st.sampled_from(["plan", "learn", "deep", "", 3]),
            "problem": TABLE.map(lambda table: {"name": "chain", **table}),
            "series": st.lists(TABLE.map(lambda table: {"label": "a", **table}), max_size=2),
            "settings": TABLE,
            "vary": TABLE,
            "runs": PLAIN,
            "seed": PLAIN,
            "title": ANY,
        },
    )
)
def test_experiments_of_anything_are_taken_or_refused(changes: dict[str, Any]) -> None:
    refusal = "taken"
    try:
        experiment = Experiment(**{**GOOD, **changes})
        assert all(len(cell.digest) == 16 for cell in experiment.cells[:3])
    except InputError as error:
        refusal = str(error)
    assert len(refusal.splitlines()) == 1


@pytest.mark.long
def test_environments_that_misbehave(tmp_path: Path) -> None:
    """Under bounds checking, with everything compiled anew."""
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    script = Path(__file__).with_name("misbehaving.py")
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "25 ways, 0 failed" in done.stdout
