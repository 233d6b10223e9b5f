"""Compiled programs are forgotten before they fill a process, and come back as they were."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import compiler

has_maps = pytest.mark.skipif(not compiler.MAPS[0].exists(), reason="no list of mappings here")


def mappings() -> int:
    return len(compiler.MAPS[0].read_bytes().splitlines())


def agent() -> deep.DoubleDQN:
    return deep.DoubleDQN("CartPole-v1", seed=3, hidden=(7,), batch=5, capacity=60)


@has_maps
def test_programs_are_forgotten_and_learning_goes_on_to_the_bit() -> None:
    whole, broken = agent().learn(80), agent().learn(40)
    before = mappings()
    assert compiler.leave_room(0.0)
    assert mappings() < before - 100
    broken.learn(40)
    for a, b in zip(whole._known(), broken._known(), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_a_process_with_room_keeps_its_programs() -> None:
    assert not compiler.leave_room(1.0)


def test_where_nothing_lists_the_mappings_nothing_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = tmp_path / "allowed"
    for used, text in [(tmp_path / "no file", "1"), (compiler.MAPS[0], "not a number")]:
        allowed.write_text(text)
        monkeypatch.setattr(compiler, "MAPS", (used, allowed))
        assert not compiler.leave_room(0.0)


MANY = """
from jekyllhyde import deep
from jekyllhyde.deep import compiler
for size in range(1, 76):
    deep.JekyllHyde("CartPole-v1", hidden=(size,), warmup=5, batch=4, capacity=50).learn(20)
    maps = len(compiler.MAPS[0].read_bytes().splitlines())
    print(size, maps, flush=True)
"""


@has_maps
@pytest.mark.long
def test_one_process_makes_seventy_five_kinds_of_agents() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", MANY], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    counts = [int(line.split()[1]) for line in ended.stdout.splitlines()]
    assert len(counts) == 75
    assert max(counts) < 30_000


EARLY = """
from jax._src.xla_bridge import backends_are_initialized
from jekyllhyde import deep
from jekyllhyde.deep import compiler
begun, stay = [], compiler.stay_in_thread
compiler.stay_in_thread = lambda: (begun.append(backends_are_initialized()), stay())
deep.DoubleDQN("CartPole-v1")
print(begun)
"""


def test_where_to_compute_is_said_before_jax_begins() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", EARLY], check=True, capture_output=True, text=True
    )
    assert ended.stdout == "[False]\n"
