"""Parts of the tabular agents against computations that share nothing with them: the standard error
behind `raise_hopeful`, the order in which `Backward` replays, and the numbers that the next draw
will take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.jit import fetch_ahead, kernel
from jekyllhyde.tabular import replays
from jekyllhyde.tabular.algorithm import draw, draws
from jekyllhyde.tabular.learned_model import doubt_of, next_mean
from jekyllhyde.tabular.random_stream import following, number_of, stream, uniform
from jekyllhyde.tabular.records import POSITION, Run, new_edges
from jekyllhyde.tabular.replays import Backward, TwoLogs
from test_hyde import advanced, lake


def test_doubt_is_the_standard_error_of_what_was_seen() -> None:
    """From the log of all transitions, pair by pair, with the numbers at hand."""
    noisy = jh.garnet(12, n_actions=3, connectivity=4, seed=2)
    for mdp, gamma in ((lake(), 0.95), (noisy, noisy.gamma)):
        state = advanced(mdp, 1500)
        sources = np.repeat(np.arange(mdp.r.size), np.diff(mdp.P.indptr))
        seen = np.concatenate(
            [log[:size] for log, size in zip(state.log, state.sizes, strict=True)]
        )
        v = state.model.v
        checked = 0
        for pair in np.flatnonzero(state.tables.n):
            edges = seen[sources[seen] == pair]
            followers = mdp.P.indices[edges]
            rewards = mdp.r_next[edges]
            values = gamma * np.where(mdp.is_terminal[followers], 0.0, v[followers])
            assert len(edges) == state.tables.n[pair]
            variance = rewards.var() + values.var()  # as if they did not depend on each other
            place = np.uint64(pair)
            mean = next_mean(state.model, state.tables, place, v, 0.0)
            doubt = doubt_of(state.model, state.tables, place, gamma, mean)
            assert doubt == pytest.approx(np.sqrt(variance / len(edges)), abs=1e-12)
            checked += doubt > 0
        assert checked > 5


class Logs:
    """A backward replay of edges numbered as they came; the number of an edge is its reward."""

    def __init__(self, jekyll: list[int], hyde: list[int], capacity: int = 1 << 62) -> None:
        self.sizes = np.int64(len(jekyll)), np.int64(len(hyde))
        log = np.zeros((2, min(capacity, max(map(len, (jekyll, hyde))))), dtype=np.uint32)
        self.replay = Backward(TwoLogs(log, capacity, ring=True, from_model=False))
        for row, numbers in enumerate((jekyll, hyde)):
            for i, number in enumerate(numbers):
                log[row, i % capacity] = number
        edges = new_edges(100)
        edges.r[:] = np.arange(100)
        position: Any = np.zeros(1, dtype=POSITION).view(np.recarray)
        nothing: Any = None
        self.run = Run(edges, nothing, nothing, stream(3, 0), position)

    def order(self, length: int, batch: int, control: int, o: float) -> list[int]:
        """What is drawn when a trajectory of so many steps is over."""
        count = draws(self.replay, self.run, batch, length, True)
        edge, who = np.uint64(0), np.int64(control)
        return [
            int(draw(self.replay, self.run, edge, i, who, o, self.sizes).r) for i in range(count)
        ]


def test_nothing_is_replayed_before_the_trajectory_is_over() -> None:
    logs = Logs([0, 1, 2], [])
    assert draws(logs.replay, logs.run, 4, 2, False) == 0
    assert draws(logs.replay, logs.run, 4, 3, True) == 12


def test_backward_replays_from_the_end_by_turns_with_a_random_stretch() -> None:
    logs = Logs(list(range(10, 20)), [])
    words = logs.run.words.copy()
    first, second = (int(uniform(words) * 10) for _ in range(2))
    random = [[10 + (last - back) % 10 for back in range(3)] for last in (first, second)]
    assert logs.order(length=3, batch=5, control=0, o=0.5) == [
        *(19, 18, 17),  # the trajectory itself
        *random[0],
        *(16, 15, 14),  # the one before
        *random[1],
        *(13, 12, 11),
    ]


def test_backward_starts_with_the_one_who_led_and_goes_on_in_a_log_that_is_drawn() -> None:
    logs = Logs(list(range(10, 16)), list(range(40, 46)))
    assert logs.order(length=2, batch=1, control=1, o=0.0) == [45, 44]
    assert logs.order(length=2, batch=3, control=1, o=0.0)[4:] == [13, 12]
    assert logs.order(length=2, batch=3, control=0, o=1.0)[4:] == [43, 42]


def test_backward_in_a_ring() -> None:
    logs = Logs(list(range(10, 17)), [], capacity=4)  # holds 14, 15, 16, 13
    assert logs.order(length=3, batch=1, control=0, o=0.5) == [16, 15, 14]
    assert logs.order(length=3, batch=3, control=0, o=0.5)[6:] == [13, 16, 15]


def after(words: Any) -> Any:
    """The state after a number; outside of compiled code its words come back as plain integers."""
    return tuple(map(np.uint64, following(words)))


def test_numbers_are_known_ahead_and_the_stream_stays() -> None:
    words = stream(3, 4)
    for _ in range(100):
        ahead = words[0], words[1], words[2], words[3]
        for _ in range(12):
            told, ahead = number_of(ahead[0], ahead[3]), after(ahead)
            assert told == uniform(words)
        assert tuple(words) == ahead


def test_what_is_fetched_ahead_is_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[int] = []
    monkeypatch.setattr(replays, "fetch_ahead", lambda log, place: fetched.append(int(log[place])))
    monkeypatch.setattr(replays, "following", after)
    look_ahead: Any = getattr(replays.look_ahead, "py_func", replays.look_ahead)
    for hyde in ([], list(range(50, 100))):
        logs = Logs(list(range(50)), hyde)
        two, run = logs.replay.logs, logs.run
        look_ahead(two, run, 0.5, logs.sizes, 4)
        edge, who = np.uint64(0), np.int64(0)
        drawn = [int(draw(two, run, edge, i, who, 0.5, logs.sizes).r) for i in range(4)]
        assert fetched[-4:] == drawn


@kernel
def _sum_of_all(numbers: Any) -> float:
    total = 0.0
    for i in range(len(numbers)):
        fetch_ahead(numbers, np.uint64(i + 10**9))  # far beyond the end
        total += numbers[i]
    return total


def test_a_fetch_ahead_changes_nothing() -> None:
    assert _sum_of_all(np.arange(5.0)) == 10.0
