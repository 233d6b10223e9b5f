"""Counts beyond 2^32: they work, or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.jit import kernel
from jekyllhyde.tabular.replays import TwoLogs, store_in
from jekyllhyde.tabular.run_state import initial_state
from jekyllhyde.tabular.settings import JekyllHydeSettings

PAST = 2**32 + 5


@kernel
def append(logs: Any, e: np.uint64, control: np.int64, sizes: Any) -> Any:
    return store_in(logs, e, control, sizes)


@pytest.mark.parametrize("ring", [False, True])
def test_a_log_goes_on_past_2_to_the_32(tmp_path: Path, ring: bool) -> None:
    """In a file with holes: 34 GB of addresses, a few pages of disk."""
    log = np.memmap(tmp_path / "log", np.uint32, "w+", shape=(2, PAST + 8)).view(np.ndarray)
    logs = TwoLogs(log, PAST + 8, ring, False)
    for control in (0, 1):
        size = PAST + 10 if ring else PAST
        sizes = (np.int64(size), np.int64(size))
        after = append(logs, np.uint64(7 + control), np.int64(control), sizes)
        assert after == (size + 1 - control, size + control)
        place = size % (PAST + 8)
        assert log[control, place] == 7 + control
        assert log[control, place - 1] == log[control, (place + 1) % (PAST + 8)] == 0
        assert log[control, size - 2**32] == (7 + control if size - 2**32 == place else 0)


def test_a_model_of_2_to_the_32_transitions_is_refused() -> None:
    state = initial_state(JekyllHydeSettings(convention="recommended"), 3, 2, 0, 0)
    assert state.make_model_room(10)
    with pytest.raises(InputError, match=r"4,294,967,295 transitions; it counts fewer than 2\^32"):
        state.make_model_room(2**32 - 1)
