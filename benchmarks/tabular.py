"""Tabular reinforcement learning: environment steps per second of a plain NumPy script, plain C, and `jekyllhyde.learn`, on one core.

The three do the same work per step, exact evaluations included (1000 of them over a run); C draws the same random numbers as the
library, and their returns are compared before anything is timed. Times are processor seconds of the thread. Also: one and two cores,
growth with states and with replay, the structure behind replay, compilation, and the step-by-step agents on Gymnasium's environments.
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
from jekyllhyde.mdp.finite import FiniteMDP, Floats  # isort: skip
from jekyllhyde.tabular.agents import TabularAgent, TabularJekyllHyde, TabularOnPolicy  # isort: skip
from jekyllhyde.tabular.arrays import SIZE_JEKYLL, STATE, TRAJECTORIES, edges_of, problem_of  # isort: skip
from jekyllhyde.tabular.learn import _Plan, _scratch, _trace, evaluation_times, learn  # isort: skip
from jekyllhyde.tabular.loop import advance  # isort: skip
from jekyllhyde.tabular.rng import stream  # isort: skip
from jekyllhyde.tabular.run import bundles, initial_state, make_room  # isort: skip

REPETITIONS = 5
AGREEMENT = 1e-9


class CMdp(ctypes.Structure):
    """The `Mdp` of tabular.c."""

    _fields_ = [
        *[(name, ctypes.c_int) for name in ("S", "A", "E", "horizon")],
        *[(name, ctypes.c_void_p) for name in ("first", "s", "a", "next", "p", "cdf", "r", "discount", "r_mean", "terminal")],
        ("gamma", ctypes.c_double),
    ]


def build_c(folder: str) -> ctypes.CDLL:
    """tabular.c, built by the system compiler."""
    library = Path(folder) / "tabular.so"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC", str(HERE / "tabular.c"), "-o", str(library), "-lm"],
        check=True,
    )
    loaded = ctypes.CDLL(str(library))
    loaded.jekyll_hyde.restype = loaded.policy_gradient.restype = ctypes.c_int64
    return loaded


def in_c(library: ctypes.CDLL, mdp: FiniteMDP, agent: TabularAgent, trajectories: int) -> tuple[int, Floats]:
    """Steps made, and Jekyll's return at the protocol's times."""
    edges, problem, words, A = edges_of(mdp), problem_of(mdp, 100), stream(0, 0), np.uint32(mdp.n_actions)
    arrays = [
        *(x.astype(np.int32) for x in (edges.first, edges.row // A, edges.pair % A, edges.next // A)),
        mdp.P.data, problem.cdf, edges.r, edges.discount, mdp.r, mdp.is_terminal,
    ]  # fmt: skip
    model = CMdp(mdp.n_states, mdp.n_actions, len(edges.r), 100, *(x.ctypes.data for x in arrays), mdp.gamma)
    J, real, size = np.empty(4 * len(evaluation_times(trajectories))), ctypes.c_double, ctypes.c_int64
    common = (ctypes.byref(model), size(trajectories), size(max(1, trajectories // 1000)))
    ends = (ctypes.c_void_p(words.ctypes.data), ctypes.c_void_p(J.ctypes.data))
    if isinstance(agent, TabularJekyllHyde):
        hyde_eta = agent.option("hyde_eta")
        steps = library.jekyll_hyde(*common, agent.batch, real(1.0), real(0.1), real(hyde_eta), real(100.0), real(0.5), *ends)
        return steps, J[: 2 * len(evaluation_times(trajectories)) : 2]
    return library.policy_gradient(*common, real(1.0), real(0.1), *ends), J[: len(evaluation_times(trajectories))]


def in_numpy(mdp: FiniteMDP, agent: TabularAgent, trajectories: int, seed: int = 0) -> int:
    """The published algorithms as one would script them: dense tables, counts as replay, an (S A) x (S A) inverse per evaluation."""
    rng = np.random.default_rng(seed)
    S, A, gamma, batch = mdp.n_states, mdp.n_actions, mdp.gamma, agent.batch
    P, R = mdp.P.toarray().reshape(S, A, S), mdp.r
    theta, q, q_hyde, steps, done = np.zeros((S, A)), np.zeros((S, A)), np.ones((S, A)), 0, 0
    pi, counts, model = np.full((S, A), 1.0 / A), np.zeros((2, S, A)), np.zeros((S, A, S))
    q_hyde[mdp.is_terminal] = 0.0
    is_hyde, factors, with_hyde = 0, 0.0, isinstance(agent, TabularJekyllHyde)
    times = set(evaluation_times(trajectories).tolist())
    while done < trajectories:
        s = 0
        for k in range(100):
            if is_hyde:
                a = rng.choice(np.flatnonzero(q_hyde[s] == q_hyde[s].max()))
            else:
                a = rng.choice(A, p=pi[s])
            s_next = rng.choice(S, p=P[s, a])
            counts[is_hyde, s, a] += 1
            model[s, a, s_next] += 1
            steps += 1
            factors += gamma**k
            step = agent.eta / batch * gamma**k * done / factors
            for _ in range(batch):
                x, b, y = s, a, s_next
                if with_hyde:
                    buffer = counts[1 if counts[1].any() and rng.random() < 0.5 else 0]
                    x, b = divmod(rng.choice(S * A, p=buffer.ravel() / buffer.sum()), A)
                    y = rng.choice(S, p=model[x, b] / model[x, b].sum())
                bootstrap = 0.0 if mdp.is_terminal[y] else gamma
                q[x, b] += agent.eta_c / batch * (R[x, b] + bootstrap * np.dot(pi[y], q[y]) - q[x, b])
                if with_hyde:
                    bonus = np.sqrt(np.log(done + 1) / (counts[:, x, b].sum() + 0.001))
                    value = q_hyde[x, b] + agent.option("hyde_eta") / batch * (bonus + bootstrap * q_hyde[y].max() - q_hyde[x, b])
                    q_hyde[x, b] = min(value, 1.0)
                theta[x] += step * pi[x] * (q[x] - np.dot(pi[x], q[x]))
                theta[x] -= theta[x].max()
                weights = np.exp(theta[x])
                pi[x] = weights / weights.sum()
            s = s_next
            if mdp.is_terminal[s]:
                break
        done += 1
        epsilon = min(1.0, 100.0 / steps) if with_hyde else 0.0
        is_hyde = int(rng.random() < epsilon)
        if done in times:
            dense_return(P, R, pi, gamma)
            if with_hyde:
                dense_return(P, R, np.eye(A)[q_hyde.argmax(axis=1)], gamma)
    return steps


def dense_return(P: Floats, R: Floats, pi: Floats, gamma: float) -> float:
    """J from q = (I - gamma P Pi)^-1 r with an (S A) x (S A) inverse."""
    S, A = R.shape
    transitions = np.einsum("sax,xb->saxb", P, pi).reshape(S * A, S * A)
    q = np.linalg.inv(np.eye(S * A) - gamma * transitions) @ R.ravel()
    return float(pi[0] @ q.reshape(S, A)[0])


def rate(function: Callable[[], int]) -> float:
    """Steps per processor second."""
    start = thread_time()
    steps = function()
    return steps / (thread_time() - start)


def ours(mdp: FiniteMDP, agent: TabularAgent, trajectories: int) -> int:
    """One run in this thread, as `learn` makes it."""
    from jekyllhyde.tabular.learn import _run

    trace, _, _ = _run(_Plan(agent, trajectories, 0, 100, None, "both", lambda n: None), mdp, 0)
    return int(trace.steps[-1])


CASES: dict[str, tuple[str, TabularAgent, int, int]] = {
    "chain 10, J&H": ("chain", TabularJekyllHyde(), 100_000, 300),
    "chain 10, PG": ("chain", TabularOnPolicy(), 1_000_000, 2000),
    "random 100, J&H, batch 1": ("garnet", TabularJekyllHyde(hyde_eta=1.0), 100_000, 20),
    "random 100, J&H, batch 4": ("garnet", TabularJekyllHyde(hyde_eta=1.0, batch=4), 50_000, 10),
    "random 100, PG": ("garnet", TabularOnPolicy(), 100_000, 50),
}


def compare(library: ctypes.CDLL) -> tuple[list[list[Any]], list[dict[str, Any]]]:
    """Plain NumPy, C and ours, side by side."""
    mdps = {"chain": jh.chain(10, beta=0.8), "garnet": jh.garnet(100, 4, 2, seed=1)}
    rows, data = [], []
    for name, (domain, agent, trajectories, few) in CASES.items():
        mdp = mdps[domain]
        check = learn(mdp, agent, trajectories=2000)
        steps, J = in_c(library, mdp, agent, 2000)
        agreement = float(abs(J - check.J_jekyll[0]).max())
        if steps != check.steps[0, -1] or not agreement < AGREEMENT:
            raise SystemExit(f"{name}: C and the library disagree by {agreement:.1e}")
        rates: dict[str, list[float]] = {"numpy": [], "C": [], "ours": []}
        for _ in range(REPETITIONS):
            rates["numpy"].append(rate(lambda: in_numpy(mdp, agent, few)))  # noqa: B023
            rates["C"].append(rate(lambda: in_c(library, mdp, agent, trajectories)[0]))  # noqa: B023
            rates["ours"].append(rate(lambda: ours(mdp, agent, trajectories)))  # noqa: B023
        middle = {key: median(values) for key, values in rates.items()}
        share = median(a / b for a, b in zip(rates["ours"], rates["C"], strict=True))
        ratio = median(a / b for a, b in zip(rates["ours"], rates["numpy"], strict=True))
        rows.append([name, f"{middle['numpy']:,.0f}", f"{middle['C'] / 1e6:.2f} M", f"{middle['ours'] / 1e6:.2f} M", f"{ratio:,.0f}", f"{share:.2f}"])  # fmt: skip
        data.append({"case": name, "rates": middle, "ratio": ratio, "share_of_C": share})
        print(rows[-1], flush=True)
    return rows, data


def raw_rate(mdp: FiniteMDP, agent: TabularAgent, prefill: int, steps: int) -> float:
    """Steps per processor second without evaluation, after a replay of `prefill` transitions."""
    state, edges, problem = initial_state(agent, mdp.n_states, mdp.n_actions, 0, 0), edges_of(mdp), problem_of(mdp, 100)
    plan = _Plan(agent, 10**12, 0, 100, None, "both", lambda n: None)
    trace = _trace(_Plan(agent, 1, 0, 100, None, "both", lambda n: None), mdp)._replace(at=np.array([10**15]))
    del plan
    state.clock[[SIZE_JEKYLL, TRAJECTORIES, STATE]] = prefill, 1000, 0
    make_room(state, agent, steps + 10**5)
    rng = np.random.default_rng(0)
    state.log[0, :prefill] = rng.integers(len(edges.r), size=prefill, dtype=np.uint32)
    state.tables.n.reshape(-1)[:] = np.bincount(edges.pair[state.log[0, :prefill]], minlength=state.tables.n.size)
    edges.seen[:] = np.bincount(state.log[0, :prefill], minlength=len(edges.r))

    def go(count: int) -> int:
        jekyll, hyde, buffers, options = bundles(agent, state, mdp.gamma, mdp.n_actions, count)
        advance(
            problem, edges, state.tables, jekyll, hyde, buffers, options, state.words, state.clock, state.sums, trace,
            _scratch(mdp, 0), count,
        )  # fmt: skip
        return count

    go(10**5)
    return rate(lambda: go(steps))


def growth() -> tuple[list[list[Any]], list[list[Any]]]:
    """Steps per second over states and over replay, without evaluation."""
    agent = TabularJekyllHyde(hyde_eta=1.0)
    by_states = []
    for n in (10, 100, 10_000, 1_000_000):
        mdp = jh.garnet(n, 4, 2, seed=1, goal=n - 1)
        found = raw_rate(mdp, agent, 10**6, 10**6)
        bytes_per_run = 8 * 5 * mdp.n_states * mdp.n_actions + 36 * mdp.P.nnz
        by_states.append([f"{n:,}", f"{found / 1e6:.2f} M", f"{bytes_per_run / 2**20:,.1f} MiB"])
        print(by_states[-1], flush=True)
    by_replay = []
    for size in (10**5, 10**7, 10**8):
        rates = [raw_rate(mdp, agent, size, 10**6) for mdp in (jh.chain(10, beta=0.8), jh.garnet(100, 4, 2, seed=1))]
        by_replay.append([f"{size:,}", *(f"{x / 1e6:.2f} M" for x in rates), f"{4 * size / 2**20:,.0f} MiB"])
        print(by_replay[-1], flush=True)
    return by_states, by_replay


def two_cores() -> float:
    """Wall time of 100 runs on one thread over that on two."""
    mdp, agent = jh.chain(10, beta=0.8), TabularJekyllHyde()
    ratios = []
    for _ in range(3):
        times = []
        for threads in (1, 2):
            start = perf_counter()
            learn(mdp, agent, trajectories=20_000, runs=100, threads=threads)
            times.append(perf_counter() - start)
        ratios.append(times[0] / times[1])
    return median(ratios)


FIRST_USE = """
import time; start = time.perf_counter()
import jekyllhyde as jh
from jekyllhyde.tabular.agents import TabularJekyllHyde as J, TabularOnPolicy as P
from jekyllhyde.tabular.learn import learn
for agent in (J(), P(), P(lam=0.01)):
    learn(jh.chain(10, beta=0.8), agent, trajectories=10)
print(time.perf_counter() - start)
"""


def first_use() -> tuple[float, float]:
    """Seconds to the end of a first short training with J&H, PG and PG with entropy: compiling, and from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", FIRST_USE], env=environment, capture_output=True, check=True, text=True
                ).stdout
            )
            for _ in range(2)
        ]
    return times[0], times[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows, data = compare(build_c(folder))
    by_states, by_replay = growth()
    speedup = two_cores() if len(os.sched_getaffinity(0)) > 1 else float("nan")
    cold, warm = first_use()
    text = "\n\n".join([
        f"# Tabular learning\n\n{machine()}; steps per processor second, one core, exact evaluations included.",
        table(["case", "plain NumPy", "C", "jekyllhyde", "times NumPy", "share of C"], rows),
        f"100 runs on two threads: {speedup:.2f} times one. First use of three agents: {cold:.1f} s; from the cache: {warm:.2f} s.",
        "Growth with states (random MDP, 4 actions, connectivity 2; J&H, batch 1, a million transitions of replay, no evaluation):",
        table(["states", "steps per second", "memory per run, without replay"], by_states),
        "Growth with replay:",
        table(["transitions", "chain 10", "random 100", "memory"], by_replay),
    ])  # fmt: skip
    write(
        "tabular",
        {"cases": data, "two_threads": speedup, "first_use": [cold, warm], "states": by_states, "replay": by_replay},
        text,
    )


if __name__ == "__main__":
    main()
