"""Tabular learning: environment steps per second of NumPy scripts, plain C, and `jekyllhyde.learn`,
on one core.

All do the same work per step, exact evaluations included (1000 of them over a run); C draws the
same random numbers as the library, and their returns are compared before anything is timed. Times
are processor seconds of the thread. Also: one and two cores, growth with states and with replay,
the structure behind replay, compilation, Gymnasium's environments.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from common import HERE, machine, table, write

import numpy as np  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde.jit import allocating, kernel  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP, Floats  # isort: skip

from jekyllhyde.tabular.agents import (  # isort: skip
    TabularAgent,
    TabularJekyllHyde,
    TabularOnPolicy,
)
from jekyllhyde.tabular.algorithm import advance  # isort: skip
from jekyllhyde.tabular.known_model import cumulate, known_model  # isort: skip
from jekyllhyde.tabular.learn import _Job, evaluation_times, learn  # isort: skip
from jekyllhyde.tabular.random_stream import Words, stream, uniform  # isort: skip
from jekyllhyde.tabular.records import Run, edges_of  # isort: skip
from jekyllhyde.tabular.run_state import algorithm, initial_state  # isort: skip

REPETITIONS = 5
STYLES = ("script", "vectorized", "lean")
AGREEMENT = 1e-9


def published(**settings: Any) -> TabularJekyllHyde:
    """J&H as the paper's figures were made."""
    return TabularJekyllHyde(convention="published", **settings)


class CMdp(ctypes.Structure):
    """The `Mdp` of tabular.c."""

    _fields_ = [
        *[(name, ctypes.c_int) for name in ("S", "A", "E", "horizon")],
        *[
            (name, ctypes.c_void_p)
            for name in (
                "first",
                "s",
                "a",
                "next",
                "p",
                "cdf",
                "r",
                "discount",
                "r_mean",
                "terminal",
            )
        ],
        ("gamma", ctypes.c_double),
    ]


def build_c(folder: str, source: str = "tabular.c") -> ctypes.CDLL:
    """A C file of this folder, built by the system compiler."""
    library = Path(folder) / "library.so"
    subprocess.run(
        [
            "cc",
            "-O3",
            "-march=native",
            "-std=gnu11",
            "-shared",
            "-fPIC",
            str(HERE / source),
            "-o",
            str(library),
            "-lm",
        ],
        check=True,
    )
    loaded = ctypes.CDLL(str(library))
    loaded.jekyll_hyde.restype = loaded.policy_gradient.restype = ctypes.c_int64
    return loaded


def c_model(mdp: FiniteMDP) -> tuple[CMdp, list[Any]]:
    """The `Mdp` of tabular.c, and the arrays that it points to."""
    edges, A = edges_of(mdp), np.uint32(mdp.n_actions)
    cdf = mdp.P.data.copy()
    cumulate(mdp.P.indptr, cdf)
    arrays = [
        *(
            x.astype(np.int32)
            for x in (edges.first, edges.row // A, edges.pair % A, edges.next // A)
        ),
        mdp.P.data,
        cdf,
        edges.r,
        edges.discount,
        mdp.r,
        mdp.is_terminal,
    ]
    model = CMdp(
        mdp.n_states, mdp.n_actions, len(edges.r), 100, *(x.ctypes.data for x in arrays), mdp.gamma
    )
    return model, arrays


def in_c(
    library: ctypes.CDLL, mdp: FiniteMDP, agent: TabularAgent, trajectories: int
) -> tuple[int, Floats]:
    """Steps made, and Jekyll's return at the protocol's times."""
    words, settings = stream(0, 0), agent.settings
    model, _arrays = c_model(mdp)  # the arrays must live as long as the model
    J, real, size = (
        np.empty(4 * len(evaluation_times(trajectories))),
        ctypes.c_double,
        ctypes.c_int64,
    )
    common = (ctypes.byref(model), size(trajectories), size(max(1, trajectories // 1000)))
    ends = (ctypes.c_void_p(words.ctypes.data), ctypes.c_void_p(J.ctypes.data))
    if isinstance(agent, TabularJekyllHyde):
        hyde_eta = settings.option("hyde_eta")
        steps = library.jekyll_hyde(
            *common,
            settings.batch,
            real(1.0),
            real(0.1),
            real(hyde_eta),
            real(100.0),
            real(0.5),
            *ends,
        )
        return steps, J[: 2 * len(evaluation_times(trajectories)) : 2]
    return library.policy_gradient(*common, real(1.0), real(0.1), *ends), J[
        : len(evaluation_times(trajectories))
    ]


def softmax(theta: Floats) -> Floats:
    """The last axis as distributions."""
    weights = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def in_numpy(
    mdp: FiniteMDP, agent: TabularAgent, trajectories: int, cadence: int, style: str
) -> int:
    """The published algorithms as one would script them: dense tables, lists for the buffers,
    NumPy's `choice` for every draw.

    The styles differ in how they make the policy after an actor's update and in how they evaluate
    it. "script": a distribution for each state in turn, and an (S A) x (S A) inverse. "vectorized":
    softmax of the whole table, and the same inverse. "lean": softmax of the row that changed, and
    an S x S solve.
    """
    rng = np.random.default_rng(0)
    settings = agent.settings
    S, A, gamma, batch = mdp.n_states, mdp.n_actions, mdp.gamma, settings.batch
    P, R = mdp.P.toarray().reshape(S, A, S), mdp.r
    theta, q, q_hyde, steps, done = np.zeros((S, A)), np.zeros((S, A)), np.ones((S, A)), 0, 0
    pi, counts, n = softmax(theta), np.zeros((S, A, S)), np.zeros((S, A))
    buffers: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    evaluate = lean_return if style == "lean" else dense_return
    q_hyde[mdp.is_terminal] = 0.0
    is_hyde, factors, with_hyde = 0, 0.0, isinstance(agent, TabularJekyllHyde)
    while done < trajectories:
        s = 0
        for k in range(100):
            a = (
                rng.choice(np.flatnonzero(q_hyde[s] == q_hyde[s].max()))
                if is_hyde
                else rng.choice(A, p=pi[s])
            )
            s_next = rng.choice(S, p=P[s, a])
            buffers[is_hyde].append((s, a))
            counts[s, a, s_next] += 1
            n[s, a] += 1
            steps += 1
            factors += gamma**k
            step = settings.eta / batch * gamma**k * done / factors
            for _ in range(batch):
                x, b, y = s, a, s_next
                if with_hyde:
                    buffer = buffers[1] if buffers[1] and rng.random() < 0.5 else buffers[0]
                    x, b = buffer[rng.integers(len(buffer))]
                    y = rng.choice(S, p=counts[x, b] / n[x, b])
                bootstrap = 0.0 if mdp.is_terminal[y] else gamma
                q[x, b] += (
                    settings.eta_c / batch * (R[x, b] + bootstrap * np.dot(pi[y], q[y]) - q[x, b])
                )
                if with_hyde:
                    bonus = np.sqrt(np.log(done + 1) / (n[x, b] + 0.001))
                    value = q_hyde[x, b] + settings.option("hyde_eta") / batch * (
                        bonus + bootstrap * q_hyde[y].max() - q_hyde[x, b]
                    )
                    q_hyde[x, b] = min(value, 1.0)
                theta[x] += step * pi[x] * (q[x] - np.dot(pi[x], q[x]))
                if style == "script":
                    pi = np.array([softmax(row) for row in theta])
                elif style == "vectorized":
                    pi = softmax(theta)
                else:
                    pi[x] = softmax(theta[x])
            s = s_next
            if mdp.is_terminal[s]:
                break
        done += 1
        epsilon = min(1.0, 100.0 / steps) if with_hyde else 0.0
        is_hyde = int(rng.random() < epsilon)
        if done % cadence == 1:
            evaluate(P, R, pi, gamma)
            if with_hyde:
                evaluate(P, R, np.eye(A)[q_hyde.argmax(axis=1)], gamma)
    return steps


def dense_return(P: Floats, R: Floats, pi: Floats, gamma: float) -> float:
    """J from q = (I - gamma P Pi)^-1 r with an (S A) x (S A) inverse."""
    S, A = R.shape
    transitions = np.einsum("sax,xb->saxb", P, pi).reshape(S * A, S * A)
    q = np.linalg.inv(np.eye(S * A) - gamma * transitions) @ R.ravel()
    return float(pi[0] @ q.reshape(S, A)[0])


def lean_return(P: Floats, R: Floats, pi: Floats, gamma: float) -> float:
    """J from v = (I - gamma P_pi)^-1 r_pi by an S x S solve."""
    P_pi = np.einsum("sa,sax->sx", pi, P)
    return float(np.linalg.solve(np.eye(len(R)) - gamma * P_pi, np.sum(pi * R, axis=1))[0])


def rate(function: Callable[[], int]) -> float:
    """Steps per processor second."""
    start = thread_time()
    steps = function()
    return steps / (thread_time() - start)


def ours(mdp: FiniteMDP, agent: TabularAgent, trajectories: int) -> int:
    """One run in this thread, as `learn` makes it."""
    from jekyllhyde.tabular.learn import _run

    job = _Job(agent.settings, trajectories, 0, 100, None, "both", lambda n: None)
    trace, _, _ = _run(job, mdp, 0)
    return int(trace.steps[-1])


CASES: dict[str, tuple[str, TabularAgent, int, int]] = {
    "chain 10, J&H": ("chain", published(), 100_000, 500),
    "chain 10, PG": ("chain", TabularOnPolicy(), 1_000_000, 2000),
    "random 100, J&H, batch 1": ("garnet", published(hyde_eta=1.0), 100_000, 100),
    "random 100, J&H, batch 4": ("garnet", published(hyde_eta=1.0, batch=4), 100_000, 100),
    "random 100, PG": ("garnet", TabularOnPolicy(), 100_000, 100),
}


def compare(library: ctypes.CDLL) -> tuple[list[list[Any]], list[dict[str, Any]]]:
    """NumPy in three styles, C and ours, side by side."""
    mdps = {"chain": jh.chain(10, beta=0.8), "garnet": jh.garnet(100, 4, 2, seed=1)}
    rows, data = [], []
    for name, (domain, agent, trajectories, few) in CASES.items():
        mdp = mdps[domain]
        check = learn(mdp, agent, trajectories=2000)
        steps, J = in_c(library, mdp, agent, 2000)
        agreement = float(abs(J - check.J_jekyll[0]).max())
        if steps != check.steps[0, -1] or not agreement < AGREEMENT:
            raise SystemExit(f"{name}: C and the library disagree by {agreement:.1e}")
        trials: dict[str, Callable[[], int]] = {
            style: lambda style=style: in_numpy(mdp, agent, few, trajectories // 1000, style)  # type: ignore[misc]  # noqa: B023
            for style in STYLES
        } | {
            "C": lambda: in_c(library, mdp, agent, trajectories)[0],  # noqa: B023
            "ours": lambda: ours(mdp, agent, trajectories),  # noqa: B023
        }
        found = [{key: rate(trial) for key, trial in trials.items()} for _ in range(REPETITIONS)]
        middle = {key: median(one[key] for one in found) for key in trials}
        times = {key: median(one["ours"] / one[key] for one in found) for key in (*STYLES, "C")}
        rows.append(
            [
                name,
                *(f"{middle[style]:,.0f}" for style in STYLES),
                f"{middle['C'] / 1e6:.2f} M",
                f"{middle['ours'] / 1e6:.2f} M",
                *(f"{times[style]:,.0f}" for style in STYLES),
                f"{times['C']:.2f}",
            ]
        )
        data.append({"case": name, "rates": middle, "ours_over": times})
        print(rows[-1], flush=True)
    return rows, data


def raw_rate(mdp: FiniteMDP, agent: TabularAgent, prefill: int, steps: int) -> float:
    """Steps per processor second without evaluation, after a replay of `prefill` transitions."""
    settings, edges = agent.settings, edges_of(mdp)
    state = initial_state(settings, mdp.n_states, mdp.n_actions, 0, 0)
    never = (np.inf, np.inf)
    world = known_model(mdp, state.table("pi"), 100, True, np.array([10**15]), never)
    state.make_room(settings, prefill + steps + 10**5)
    state.position.size_jekyll, state.position.trajectories = prefill, 1000
    rng = np.random.default_rng(0)
    log = state.log[0, :prefill]
    log[:] = rng.integers(len(edges.r), size=prefill, dtype=np.uint32)
    state.tables.n[:] = np.bincount(edges.pair[log], minlength=state.tables.n.size)
    edges.seen[:] = np.bincount(log, minlength=len(edges.r))

    run = Run(edges, state.tables, state.words, state.position)

    def go(count: int) -> int:
        choices = algorithm(settings, state, mdp.gamma, count, True)
        advance(world, run, choices, count)
        return count

    go(10**5)
    return rate(lambda: go(steps))


@kernel
def follow(successor: Any, steps: int) -> int:
    """Dependent loads: each says where the next one goes."""
    place = 0
    for _ in range(steps):
        place = successor[place]
    return place


def latency(size: float, steps: int = 2 * 10**6) -> float:
    """Nanoseconds of one dependent load at a random place of a table of `size` bytes, one per cache
    line of 64.
    """
    lines = max(int(size / 64), 2)
    order, successor = (
        np.random.default_rng(0).permutation(lines) * 8,
        np.zeros(lines * 8, dtype=np.int64),
    )
    successor[order] = np.roll(order, 1)
    follow(successor, lines)
    start = thread_time()
    follow(successor, steps)
    return 1e9 * (thread_time() - start) / steps


def growth() -> tuple[list[list[Any]], list[list[Any]]]:
    """Steps per second over states and over replay, without evaluation, beside the latency of
    memory of that size.
    """
    agent = published(hyde_eta=1.0)
    by_states = []
    for n in (10, 100, 10_000, 1_000_000):
        mdp = jh.garnet(n, 4, 2, seed=1, goal=n - 1)
        found = raw_rate(mdp, agent, 10**6, 10**6)
        state = initial_state(agent.settings, mdp.n_states, mdp.n_actions, 0, 0)
        arrays = (*state.tables, *edges_of(mdp), mdp.P.data, mdp.P.indices)
        size = sum(array.nbytes for array in arrays)
        by_states.append(
            [
                f"{n:,}",
                f"{found / 1e6:.2f} M",
                f"{1e9 / found:,.0f}",
                in_words(size),
                f"{latency(size):.1f}",
            ]
        )
        print(by_states[-1], flush=True)
    by_replay = []
    for size in (10**5, 10**6, 10**7, 10**8):
        rates = [
            raw_rate(mdp, agent, size, 10**6)
            for mdp in (jh.chain(10, beta=0.8), jh.garnet(100, 4, 2, seed=1))
        ]
        cells = [f"{x / 1e6:.2f} M" for x in rates] + [f"{1e9 / x:,.0f}" for x in rates]
        by_replay.append([f"{size:,}", *cells, in_words(4 * size), f"{latency(4 * size):.1f}"])
        print(by_replay[-1], flush=True)
    return by_states, by_replay


def in_words(size: float) -> str:
    return f"{size / 2**10:,.0f} KiB" if size < 2**20 else f"{size / 2**20:,.1f} MiB"


@kernel
def draw_from_log(pairs: Any, log: Any, size: int, steps: int, words: Words) -> int:
    """Store one pair and draw one, `steps` times: a log."""
    total = 0
    for i in range(steps):
        log[size + i] = pairs[i & 1023]
        total += log[np.int64(uniform(words) * (size + i + 1))]
    return total


@kernel
def draw_from_tree(pairs: Any, tree: Any, size: int, steps: int, words: Words) -> int:
    """The same with counts in a Fenwick tree [a power of two, plus 1]."""
    total, top = 0, len(tree) - 1
    for i in range(steps):
        place = pairs[i & 1023] + 1
        while place <= top:
            tree[place] += 1
            place += place & -place
        rank, found, width = np.int64(uniform(words) * (size + i + 1)), 0, top >> 1
        while width > 0:
            if tree[found + width] <= rank:
                found += width
                rank -= tree[found]
            width >>= 1
        total += found
    return total


@allocating
def draw_from_alias(
    pairs: Any, counts: Any, threshold: Any, alias: Any, tail: Any, steps: int, words: Words
) -> int:
    """The same with an alias table of counts and a tail of the latest pairs; full, the tail goes
    into the table.
    """
    total, n, in_tail, in_table = 0, len(counts), 0, int(counts.sum())
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(steps):
        if in_tail == len(tail) or i == 0:
            for j in range(in_tail):
                counts[tail[j]] += 1
            in_table, in_tail = int(in_table + in_tail), 0
            build_alias(counts, in_table, threshold, alias, small, large)
        tail[in_tail] = pairs[i & 1023]
        in_tail += 1
        rank = np.int64(uniform(words) * (in_table + in_tail))
        if rank >= in_table:
            total += tail[rank - in_table]
        else:
            u = uniform(words) * n
            column = np.int64(u)
            total += int(column) if u - column < threshold[column] else alias[column]
    return total


@kernel
def build_alias(counts: Any, size: int, threshold: Any, alias: Any, small: Any, large: Any) -> None:
    """Vose's construction."""
    n, n_small, n_large = len(counts), 0, 0
    for i in range(n):
        threshold[i], alias[i] = counts[i] * n / size, i
        if threshold[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        alias[low] = high
        threshold[high] -= 1.0 - threshold[low]
        if threshold[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1


def structures(steps: int = 10**6) -> list[list[Any]]:
    """Nanoseconds to store one pair and draw one, over the numbers of pairs and transitions."""
    rows, rng = [], np.random.default_rng(0)
    for n in (20, 400, 40_000):
        pairs = rng.integers(n, size=1024)
        for size in (10**5, 10**7, 10**8):
            log = np.empty(size + steps, dtype=np.uint32)
            log[:size] = rng.integers(n, size=size, dtype=np.uint32)
            counts = np.bincount(log[:size], minlength=n)
            top = 1 << int(np.ceil(np.log2(n + 1)))
            tree = np.zeros(top + 1, dtype=np.int64)
            for i in range(n):
                tree[i + 1] += counts[i]
            for i in range(1, top + 1):
                if (parent := i + (i & -i)) <= top:
                    tree[parent] += tree[i]
            tail, words = np.empty(8 * n, dtype=np.uint32), stream(0, 0)
            alias = np.empty(n), np.empty(n, np.int64)
            trials: list[Callable[[], int]] = [
                lambda: draw_from_log(pairs, log, size, steps, words),  # noqa: B023
                lambda: draw_from_tree(pairs, tree, size, steps, words),  # noqa: B023
                lambda: draw_from_alias(pairs, counts, *alias, tail, steps, words),  # noqa: B023
            ]
            cells = []
            for trial in trials:
                trial()
                start = thread_time()
                trial()
                cells.append(f"{1e9 * (thread_time() - start) / steps:.1f}")
            rows.append([f"{n:,}", f"{size:,}", *cells])
            print(rows[-1], flush=True)
    return rows


def two_cores() -> float:
    """Wall time of 100 runs on one thread over that on two."""
    mdp, agent = jh.chain(10, beta=0.8), published()
    ratios = []
    for _ in range(3):
        times = []
        for threads in (1, 2):
            start = perf_counter()
            learn(mdp, agent, trajectories=20_000, runs=100, threads=threads)
            times.append(perf_counter() - start)
        ratios.append(times[0] / times[1])
    return median(ratios)


CLIENTS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, float], int]] = [
    (
        "FrozenLake-v1",
        {"map_name": "8x8"},
        {
            "epsilon": 0.5,
            "eta": 1.0,
            "eta_c": 0.5,
            "hyde_eta": 0.2,
            "hyde_q0": 100.0,
            "batch": 16,
            "parametrization": "direct",
        },
        {"step": 0.1, "explore": 0.1},
        300_000,
    ),
    (
        "Taxi-v4",
        {},
        {"epsilon": 0.2, "eta_c": 1.0, "hyde_eta": 1.0, "batch": 8, "critic": "q_learning"},
        {"step": 0.5, "explore": 0.1},
        200_000,
    ),
    (
        "CliffWalking-v1",
        {"max_episode_steps": 200},
        {"epsilon": 0.5, "eta_c": 0.2, "hyde_eta": 0.5, "batch": 4},
        {"step": 0.5, "explore": 0.1},
        60_000,
    ),
]


def q_learning(env: Any, steps: int, step: float, explore: float, seed: int) -> Floats:
    """Tabular Q-learning with epsilon-greedy actions, as a user would write it."""
    rng = np.random.default_rng(seed)
    q = np.zeros((env.observation_space.n, env.action_space.n))
    s, _ = env.reset(seed=seed)
    for _ in range(steps):
        a = (
            rng.integers(q.shape[1])
            if rng.random() < explore
            else rng.choice(np.flatnonzero(q[s] == q[s].max()))
        )
        s_next, r, terminated, truncated, _ = env.step(int(a))
        q[s, a] += step * (r + (0.0 if terminated else 0.99) * q[s_next].max() - q[s, a])
        s = s_next
        if terminated or truncated:
            s, _ = env.reset()
    return q


def clients(seeds: int = 5) -> list[list[Any]]:
    """Exact return of the greedy policy after as many steps: the optimum, J&H and Q-learning, mean
    and range over seeds.
    """
    import gymnasium

    rows = []
    for name, options, settings, plain, steps in CLIENTS:
        model = {key: value for key, value in options.items() if key != "max_episode_steps"}
        mdp = jh.from_gymnasium(name, gamma=0.99, **model)

        def score(table: Floats, mdp: FiniteMDP = mdp) -> float:
            pi = mdp.uniform_policy()
            pi[: len(table)] = np.eye(mdp.n_actions)[table.argmax(axis=1)]
            return mdp.evaluate(pi).J

        found: dict[str, list[float]] = {"jekyll-hyde": [], "q-learning": []}
        for seed in range(seeds):
            agent = TabularJekyllHyde(
                gymnasium.make(name, **options),
                convention="published",
                **settings,
                normalization="none",
                density="undiscounted",
                bonus="count",
                hyde_clip=np.inf,
                seed=seed,
            ).learn(steps)
            found["jekyll-hyde"].append(score(agent.tables.pi))
            found["q-learning"].append(
                score(q_learning(gymnasium.make(name, **options), steps, **plain, seed=seed))
            )
        cells = [f"{np.mean(x):.3f} ({min(x):.3f} to {max(x):.3f})" for x in found.values()]
        rows.append([name, f"{steps:,}", f"{mdp.J_star:.3f}", *cells])
        print(rows[-1], flush=True)
    return rows


FIRST_USE = """
import time
import jekyllhyde as jh
from jekyllhyde.tabular.agents import TabularJekyllHyde as J, TabularOnPolicy as P
from jekyllhyde.tabular.learn import learn
for agent in (J(), P(), P(lam=0.01)):
    learn(jh.chain(10, beta=0.8), agent, trajectories=10)
print(time.process_time())
"""


def first_use() -> tuple[float, float]:
    """Processor seconds of a first short training with J&H, PG and PG with entropy: compiling, and
    from the cache.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", FIRST_USE],
                    env=environment,
                    capture_output=True,
                    check=True,
                    text=True,
                ).stdout
            )
            for _ in range(2)
        ]
    return times[0], times[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows, data = compare(build_c(folder))
    by_states, by_replay = growth()
    by_structure = structures()
    speedup = two_cores() if len(os.sched_getaffinity(0)) > 1 else float("nan")
    cold, warm = first_use()
    by_client = clients()
    text = "\n\n".join(
        [
            f"# Tabular learning\n\n{machine()}; steps per processor second, one core, "
            "exact evaluations included.",
            table(
                [
                    "case",
                    *STYLES,
                    "C",
                    "jekyllhyde",
                    *(f"times {style}" for style in STYLES),
                    "share of C",
                ],
                rows,
            ),
            f"100 runs on two threads: {speedup:.2f} times one. First use of three agents: "
            f"{cold:.1f} s"
            f" of processor time; from the cache: {warm:.2f} s.",
            "Growth with states (random MDP, 4 actions, connectivity 2; J&H, batch 1, a million "
            "transitions of replay, no evaluation):",
            table(
                [
                    "states",
                    "steps per second",
                    "ns per step",
                    "tables of a run",
                    "ns of a load in that size",
                ],
                by_states,
            ),
            "Growth with replay:",
            table(
                [
                    "transitions",
                    "chain 10",
                    "random 100",
                    "ns per step",
                    "ns per step",
                    "log of a run",
                    "ns of a load in that size",
                ],
                by_replay,
            ),
            "Replay as a log, counts in a Fenwick tree, or counts in an alias table with a tail: "
            "ns to store one and draw one:",
            table(["pairs", "transitions", "log", "Fenwick", "alias"], by_structure),
            "Gymnasium's environments: exact return of the greedy policy, mean over 5 seeds "
            "(lowest to highest):",
            table(
                ["environment", "steps", "optimum", "J&H", "Q-learning, epsilon-greedy"], by_client
            ),
        ]
    )
    write(
        "tabular",
        {
            "cases": data,
            "two_threads": speedup,
            "first_use": [cold, warm],
            "states": by_states,
            "replay": by_replay,
            "clients": by_client,
        },
        text,
    )


if __name__ == "__main__":
    main()
