"""Replay, by type: the two buffers (lines 6 and 9 of Algorithm 3), and what is drawn from them.

A buffer is a log of edge numbers, O(1) in time and four bytes per transition. `from_model`
(published): (s, a) comes from the chosen buffer, and s' from the empirical model of both; otherwise
the stored transition itself is replayed.
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, fetch_ahead, phase
from jekyllhyde.mdp.finite import Ints
from jekyllhyde.tabular.learned_model import NOTHING, Counts
from jekyllhyde.tabular.random_stream import following, number_of, uniform
from jekyllhyde.tabular.records import ONE, Index, Place, Run, Transition, transition

Sizes = tuple[np.int64, np.int64]
UNBOUNDED = 1 << 62  # transitions
AHEAD = 4  # samples of a batch whose entries are fetched together


class UnderWay(NamedTuple):
    """No replay: the sample is the transition under way (Algorithm 2)."""

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return sizes

    def draws(self, run: Run, batch: int, k: int, over: bool) -> int:
        return 1

    def draw(
        self, run: Run, e: Place, i: int, control: np.int64, o: float, sizes: Sizes
    ) -> Transition:
        return transition(run.edges, e)


class TwoLogs(NamedTuple):
    """The buffers of Jekyll and Hyde, log [2, room].

    capacity : bounds each.  ring : the oldest makes room, else the newest is dropped.
    from_model : s' is drawn again from the empirical model of both buffers.
    """

    log: Index
    capacity: int
    ring: bool
    from_model: bool

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        """Append edge e to the buffer of the personality in control.

        `sizes` count all that was ever offered to each.
        """
        size = sizes[1] if control else sizes[0]
        if size < self.capacity:
            self.log[control, size] = e
        elif self.ring:
            self.log[control, size % self.capacity] = e
        return sizes[0] + 1 - control, sizes[1] + control

    def draws(self, run: Run, batch: int, k: int, over: bool) -> int:
        return batch

    def draw(
        self, run: Run, e: Place, i: int, control: np.int64, o: float, sizes: Sizes
    ) -> Transition:
        edges, tables, words = run.edges, run.tables, run.words
        from_hyde = 1 if sizes[1] > 0 and uniform(words) < o else 0
        size = sizes[1] if from_hyde else sizes[0]
        stored: Any = min(size, self.capacity)
        place = np.uint64(np.int64(uniform(words) * stored))
        drawn = np.uint64(self.log[from_hyde, place])
        if self.from_model:
            pair = np.uint64(edges.pair[drawn])
            if edges.first[pair + ONE] > edges.first[pair] + ONE:
                visit = np.int64(uniform(words) * tables.n[pair])
                drawn = edge_of_visit(edges.first, edges.seen, pair, visit)
        return transition(edges, drawn)


class WithCurrent(NamedTuple):
    """The transition under way first, then `batch` drawn from the two logs."""

    logs: TwoLogs

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return store_in(self.logs, e, control, sizes)

    def draws(self, run: Run, batch: int, k: int, over: bool) -> int:
        return batch + 1

    def draw(
        self, run: Run, e: Place, i: int, control: np.int64, o: float, sizes: Sizes
    ) -> Transition:
        if i == 0:
            look_ahead(self.logs, run, o, sizes, AHEAD)
            return transition(run.edges, e)
        return draw_from(self.logs, run, e, i, control, o, sizes)


class Sweeping(NamedTuple):
    """First the transition under way, then the pairs that the learned model has queued, and where
    there are none the two logs.
    """

    logs: TwoLogs
    gamma: float

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return store_in(self.logs, e, control, sizes)

    def draws(self, run: Run, batch: int, k: int, over: bool) -> int:
        return batch

    def draw(
        self, run: Run, e: Place, i: int, control: np.int64, o: float, sizes: Sizes
    ) -> Transition:
        model, now = run.model, run.position[0]
        if i == 0:
            look_ahead(self.logs, run, o, sizes, 1)
            return transition(run.edges, e)
        if now.queue_size == 0:
            drawn = draw_from(self.logs, run, e, i, control, o, sizes)
            look_ahead(self.logs, run, o, sizes, 1)
            return drawn
        pair = np.uint64(model.queue[now.queue_first])
        following = now.queue_first + 1
        now.queue_first = 0 if following == len(model.queue) else following
        now.queue_size -= 1
        model.is_queued[pair] = False
        return seen_transition(model, run, pair, self.gamma)


class Backward(NamedTuple):
    """At the end of a trajectory: `batch` stretches of its length, each from its end to its start.

    First the trajectory itself; then by turns a stretch of one log from a random place, and one of
    the most recent. News reach the start in one pass, without a model.
    """

    logs: TwoLogs

    def store(self, e: Place, control: np.int64, sizes: Sizes) -> Sizes:
        return store_in(self.logs, e, control, sizes)

    def draws(self, run: Run, batch: int, k: int, over: bool) -> int:
        run.position[0].stretch = k
        return batch * k if over else 0

    def draw(
        self, run: Run, e: Place, i: int, control: np.int64, o: float, sizes: Sizes
    ) -> Transition:
        now = run.position[0]
        number, back = i // now.stretch, i % now.stretch
        if back == 0:
            from_hyde = control if number == 0 else draw_log(run, o, sizes)
            size = sizes[1] if from_hyde else sizes[0]
            is_random = number % 2 == 1
            last = np.int64(uniform(run.words) * size) if is_random else size - 1
            now.stretch_log = from_hyde
            now.stretch_last = last if is_random else last - (number // 2) * now.stretch
        size = sizes[1] if now.stretch_log else sizes[0]
        stored = min(size, self.logs.capacity)
        return transition(
            run.edges, np.uint64(self.logs.log[now.stretch_log, (now.stretch_last - back) % stored])
        )


store_in, draw_from = map(by_type, ("store", "draw"))


@phase
def look_ahead(logs: TwoLogs, run: Run, o: float, sizes: Sizes, samples: int) -> None:
    """Fetch the entries that the next samples will need, if they come from the logs. These are too
    large for the processor's caches, and waiting for them is up to half of the time. Each sample is
    taken to need a number for its successor; where it does not, another entry is fetched in vain.
    """
    words = run.words[0], run.words[1], run.words[2], run.words[3]
    for _ in range(samples):
        from_hyde = 0
        if sizes[1] > 0:
            from_hyde = 1 if number_of(words[0], words[3]) < o else 0
            words = following(words)
        size = sizes[1] if from_hyde else sizes[0]
        stored: Any = min(size, logs.capacity)
        place = np.uint64(np.int64(number_of(words[0], words[3]) * stored))
        fetch_ahead(logs.log[from_hyde], place)
        words = following(words)
        if logs.from_model:
            words = following(words)


@phase
def draw_log(run: Run, o: float, sizes: Sizes) -> np.int64:
    """Whose log is drawn from: Hyde's (1) with probability o; one that is empty never."""
    if sizes[1] == 0 or sizes[0] == 0:
        return np.int64(sizes[0] == 0)
    return np.int64(uniform(run.words) < o)


@phase
def edge_of_visit(first: Index, seen: Ints, pair: Place, visit: np.int64) -> Place:
    """The edge that visit number `visit` of a pair took, when visits are ordered by edge."""
    chosen, before = np.uint64(first[pair]), np.int64(0)
    for e in range(chosen, np.uint64(first[pair + ONE]) - ONE):
        before += seen[e]
        if visit >= before:
            chosen = Place(e) + ONE
    return chosen


@phase
def seen_transition(counts: Counts, run: Run, pair: Place, gamma: float) -> Transition:
    """A transition of a pair, drawn from its counts, with the pair's mean reward."""
    tables, i = run.tables, counts.of_pair[pair]
    if counts.more[i] != NOTHING:
        rest = uniform(run.words) * tables.n[pair]
        for _ in range(tables.n[pair]):  # bounded: compilers leave it out where nobody reads s'
            if rest < counts.times[i] or counts.more[i] == NOTHING:
                break
            rest -= counts.times[i]
            i = counts.more[i]
    return Transition(
        row=pair - np.uint64(np.uint32(pair) % np.uint32(tables.width)),
        pair=pair,
        next=np.uint64(counts.next[i]) * tables.width,
        r=counts.r[pair],
        discount=0.0 if counts.ended[i] else gamma,
    )
