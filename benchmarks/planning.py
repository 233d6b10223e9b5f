"""Exact policy updates per second: a straightforward NumPy script, plain C, and `jekyllhyde.plan`,
on one core.

The three get the same MDP, make the same updates, and their returns are compared before anything is
timed. Also: a batch on one and on two threads, the creation of a random MDP, and the cold start of
the package and of the command line.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from common import HERE, interleaved, machine, pin_to_one_core, seconds, table, write

import baseline  # isort: skip
import numpy as np  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP, Floats  # isort: skip

DENSITIES = {"pg": {}, "undiscounted": {}, "uniform": {}, "mixture": {"o": 0.5}}
RULES = {
    "direct": {"parametrization": "direct", "eta": 1.0, "lam": 0.0},
    "softmax": {"parametrization": "softmax", "eta": 10.0, "lam": 0.0},
    "softmax, lam .1": {"parametrization": "softmax", "eta": 10.0, "lam": 0.1},
}
REPETITIONS = 3
AGREEMENT = 1e-9
LONGER = 20  # C and the library make as many updates as the paper's runs, the scripts a twentieth
BATCH_UPDATES = 500


def build_c(folder: str) -> Callable[..., int]:
    """The `run` of planning.c, built by the system compiler."""
    library = Path(folder) / "planning.so"
    command = [
        "cc",
        "-O3",
        "-march=native",
        "-std=gnu11",
        "-shared",
        "-fPIC",
        str(HERE / "planning.c"),
        "-o",
        str(library),
        "-lm",
    ]
    subprocess.run(command, check=True)
    run = ctypes.CDLL(str(library)).run
    run.restype = ctypes.c_int
    return run


def in_c(
    run: Callable[..., int], mdp: FiniteMDP, settings: dict[str, Any], density: str, updates: int
) -> Floats:
    """J before each update, from C."""
    real, J = ctypes.c_double, np.empty(updates)
    off = ~mdp.is_terminal / np.sum(~mdp.is_terminal)
    o = {"uniform": 1.0, "mixture": 0.5}.get(density, 0.0)

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    made = run(
        mdp.n_states,
        mdp.n_actions,
        pointer(mdp.P.indptr),
        pointer(mdp.P.indices),
        pointer(mdp.P.data),
        pointer(mdp.r),
        pointer(mdp.p0),
        real(mdp.gamma),
        pointer(off),
        real(o),
        real(1.0 if density == "undiscounted" else mdp.gamma),
        int(settings["parametrization"] == "softmax"),
        real(settings["eta"]),
        real(settings["lam"]),
        updates,
        pointer(J),
    )
    assert made == updates, f"C stopped after {made} of {updates} updates"
    return J


def compare(run: Callable[..., int], mdp: FiniteMDP, updates: int) -> list[dict[str, Any]]:
    """One row per rule and density: updates per second of the three, after checking that they
    agree.
    """
    dense = mdp.P.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    rows = []
    for rule, settings in RULES.items():
        for density, options in DENSITIES.items():

            def script(
                lean: bool = False, settings: dict[str, Any] = settings, density: str = density
            ) -> Floats:
                return baseline.run(
                    dense,
                    mdp.r,
                    mdp.p0,
                    mdp.gamma,
                    mdp.is_terminal,
                    density=density,
                    o=0.5,
                    updates=updates,
                    lean=lean,
                    **settings,
                )

            def lean_script() -> Floats:
                return script(lean=True)

            def plain_c(
                times: int = 1, settings: dict[str, Any] = settings, density: str = density
            ) -> Floats:
                return in_c(run, mdp, settings, density, times * updates)

            def ours(
                times: int = 1,
                settings: dict[str, Any] = settings | options,  # noqa: B006
                density: str = density,
            ) -> Floats:
                return jh.plan(mdp, density=density, updates=times * updates, **settings).J[
                    : times * updates
                ]

            expected = ours()
            for other in (script, lean_script, plain_c):
                error = float(abs(other() - expected).max())
                assert error <= AGREEMENT, (
                    f"{other.__name__}: {mdp.name}, {rule}, {density}: J differs by {error:.1e}"
                )
            scripts = interleaved({"script": script, "lean": lean_script}, REPETITIONS)
            fast = interleaved(
                {"C": partial(plain_c, LONGER), "ours": partial(ours, LONGER)}, REPETITIONS
            )
            rates = {name: updates / value for name, value in scripts.items()}
            rates |= {name: LONGER * updates / value for name, value in fast.items()}
            comparison = {
                "times_script": rates["ours"] / rates["script"],
                "times_lean": rates["ours"] / rates["lean"],
                "share_of_C": rates["ours"] / rates["C"],
            }
            rows.append(
                {
                    "mdp": mdp.name,
                    "rule": rule,
                    "density": density,
                    "updates": updates,
                    **rates,
                    **comparison,
                }
            )
    return rows


def batch(cores: set[int]) -> dict[str, float]:
    """Updates per second of 1000 garnets of 50 states on one thread and on two, and their ratio."""
    os.sched_setaffinity(0, cores)
    mdps: list[FiniteMDP] = []
    seed = 0
    while len(mdps) < 1000:
        with suppress(jh.InputError):  # no goal above gamma^50: take the next seed
            mdps.append(jh.garnet(50, 4, 2, seed=seed))
        seed += 1
    settings: dict[str, Any] = {
        "parametrization": "softmax",
        "density": "pg",
        "eta": 10.0,
        "updates": BATCH_UPDATES,
    }
    jh.plan(mdps[:2], threads=2, **settings)
    best: dict[str, float] = {}
    for _ in range(3):
        for threads in (1, 2):
            before = process_time()
            wall = seconds(partial(jh.plan, mdps, threads=threads, **settings))
            if wall < best.get(f"wall {threads}", np.inf):  # the least disturbed of three
                best |= {
                    f"wall {threads}": wall,
                    f"cores {threads}": (process_time() - before) / wall,
                }
    total = 1000 * BATCH_UPDATES
    rates = {f"{n} threads": total / best[f"wall {n}"] for n in (1, 2)}
    return {
        **rates,
        "ratio": best["wall 1"] / best["wall 2"],
        "cores got by 1": best["cores 1"],
        "cores got by 2": best["cores 2"],
    }


def creation() -> float:
    """Median seconds to make a random MDP of 100 states with its goal search, once compiled."""
    jh.garnet(100, 4, 2, seed=0)
    return median(seconds(lambda s=s: jh.garnet(100, 4, 2, seed=s)) for s in range(1, 21))  # type: ignore[misc]


def fresh(command: list[str], cache: str) -> tuple[float, float]:
    """Wall and processor seconds of a command in a fresh process whose compiled kernels are kept in
    `cache`.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    before = os.times()
    wall = seconds(
        lambda: subprocess.run(command, check=True, env=environment, capture_output=True)
    )
    after = os.times()
    return (
        wall,
        after.children_user + after.children_system - before.children_user - before.children_system,
    )


def cold_start() -> dict[str, tuple[float, float]]:
    """The import, and the first and later `plan` on the chain, each in fresh processes; the least
    disturbed run of each.
    """
    python = [sys.executable, "-c"]
    numbers = {
        "python alone": min(fresh([*python, "pass"], tempfile.gettempdir()) for _ in range(5)),
        "import jekyllhyde, python included": min(
            fresh([*python, "import jekyllhyde"], tempfile.gettempdir()) for _ in range(7)
        ),
        **first_and_later(
            [*python, "import jekyllhyde as jh; jh.plan(jh.chain(10), updates=1000)"],
            "plan(chain) in Python",
        ),
    }
    command = Path(sys.executable).with_name("jh")
    works = (
        command.exists()
        and subprocess.run([command, "plan", "chain"], capture_output=True, check=False).returncode
        == 0
    )
    return (
        {**numbers, **first_and_later([str(command), "plan", "chain"], "jh plan chain")}
        if works
        else numbers
    )


def first_and_later(command: list[str], label: str) -> dict[str, tuple[float, float]]:
    """With an empty cache of compiled kernels (two runs), and with a filled one (six)."""
    empty, later = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as cache:
            empty.append(fresh(command, cache))
            later += [fresh(command, cache) for _ in range(3)]
    return {f"{label}, first": min(empty), f"{label}, later": min(later)}


def main() -> None:
    where = machine()
    cores = pin_to_one_core()
    with tempfile.TemporaryDirectory() as folder:
        run = build_c(folder)
        rows = compare(run, jh.garnet(50, 4, 2, seed=0), 250) + compare(
            run, jh.chain(10, beta=0.95), 750
        )
    created = creation()
    threads = batch(cores)
    start = cold_start()
    lines = [
        [
            r["mdp"],
            r["rule"],
            r["density"],
            *(f"{r[name]:,.0f}" for name in ("script", "lean", "C", "ours")),
            f"{r['times_script']:.0f}",
            f"{r['times_lean']:.0f}",
            f"{r['share_of_C']:.2f}",
        ]
        for r in rows
    ]
    columns = [
        "MDP",
        "update",
        "density",
        "script",
        "lean script",
        "C",
        "jekyllhyde",
        "x script",
        "x lean",
        "share of C",
    ]
    cold = [[name, f"{wall:.2f}", f"{cpu:.2f}"] for name, (wall, cpu) in start.items()]
    text = "\n".join(
        [
            f"Updates per second on one core, evaluation included ({where}).",
            "",
            table(columns, lines),
            "",
            f"Batch of 1000 garnets of 50 states, {BATCH_UPDATES} updates each: "
            f"{threads['1 threads']:,.0f} updates/s on one thread, "
            f"{threads['2 threads']:,.0f} on two ({threads['ratio']:.2f} times); "
            f"the machine gave them {threads['cores got by 1']:.2f} and "
            f"{threads['cores got by 2']:.2f} cores.",
            f"Creating garnet(100, 4, 2) with its goal search: {1000 * created:.1f} ms.",
            "",
            table(["cold start", "seconds", "of the processor"], cold),
        ]
    )
    data = {
        "machine": where,
        "updates_per_second": rows,
        "batch": threads,
        "garnet_100_seconds": created,
        "cold_start": start,
    }
    write("planning", data, text)


if __name__ == "__main__":
    main()
