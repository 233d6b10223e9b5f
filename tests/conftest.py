"""Shared fixtures and the hypothesis profile: deterministic, no deadlines, since the first call of
a kernel compiles it. Assertions count in the modules that tests share too, and under `python -O`.

Most of the time goes into compiling agents that take a few steps, so XLA does not optimize here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
names = {path.stem for path in Path(__file__).parent.glob("*.py")} - {"conftest"}
pytest.register_assert_rewrite(*(name for name in names if not name.startswith("test_")))

settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> Iterator[None]:
    """What one module's tests compiled does not crowd the next one's process."""
    yield
    if (compiler := sys.modules.get("jekyllhyde.deep.compiler")) is not None:
        compiler.leave_room()
