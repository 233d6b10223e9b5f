"""Exact policy updates on sparse MDPs of 10^3 to 10^6 states: seconds and memory per update, the
solver chosen, its residual.

Every row is a process of its own, so that its peak memory is its own. Random MDPs have 4 actions
and connectivity 2; grids are Four Rooms, gamma 0.99. Times are processor seconds on one core. The
first update solves from nothing, the others start from the solution before.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from common import machine, seconds, table, write

SIZES = (1_000, 10_000, 100_000, 1_000_000)
DENSITIES = ("uniform", "pg", "undiscounted")
LIMIT = 600  # seconds per row


def one(kind: str, size: int, density: str) -> dict[str, Any]:
    """Measure one row in this process."""
    import jekyllhyde as jh
    from jekyllhyde.mdp.evaluation import System

    jh.plan(jh.garnet(300, 4, 2, goal=1), density=density, updates=2)  # compile
    start = process_time()
    mdp = (
        jh.garnet(size, 4, 2, goal=size - 1)
        if kind == "garnet"
        else jh.four_rooms(size=int(size**0.5) // 2 * 2 + 3, gamma=0.99)
    )
    created = process_time() - start
    constructed = seconds(
        lambda: jh.FiniteMDP(mdp.P, mdp.r, p0=mdp.p0, gamma=mdp.gamma, terminal=mdp.terminal),
        process_time,
    )
    creation_peak = _peak()
    _forget_peak()
    stamps = [process_time()]
    updates = 4 if size >= SIZES[-1] else 8
    run = jh.plan(
        mdp,
        density=density,
        eta=10.0,
        updates=updates,
        progress=lambda made: stamps.append(process_time()),
    )
    peak = _peak()
    times = [after - before for before, after in pairwise(stamps)]
    evaluation = mdp.evaluate(run.pi)
    system = evaluation.system if density != "undiscounted" else System(evaluation.system.P, 1.0)
    if density == "uniform":
        d_solver, d_error = "-", 0.0
    else:
        d, _ = system.solve(mdp.p0, transposed=True)
        d_solver = system.method
        d_error = float(abs(mdp.p0 - (d - system.gamma * (system.P.T @ d))).max() / abs(d).max())
    return {
        "kind": kind,
        "states": mdp.n_states,
        "transitions": int(mdp.P.nnz),
        "density": density,
        "create": created,
        "construct": constructed,
        "first": times[0],
        "later": median(times[1:]),
        "creation_peak_GiB": creation_peak,
        "peak_GiB": peak,
        "v_solver": evaluation.solver,
        "v_residual": evaluation.residual,
        "d_solver": d_solver,
        "d_backward_error": d_error,
    }


def _peak() -> float:
    """VmHWM, the most memory that was in use since `_forget_peak`, in GiB."""
    status = Path("/proc/self/status").read_text()
    return (
        float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        / 2**20
    )


def _forget_peak() -> None:
    """Start VmHWM anew from the memory now in use, so that the peak of creating the MDP does not
    hide that of planning.
    """
    Path("/proc/self/clear_refs").write_text("5")


def in_its_own_process(kind: str, size: int, density: str) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [sys.executable, __file__, kind, str(size), density],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"kind": kind, "states": size, "density": density, "failed": f"over {LIMIT} s"}
    except subprocess.CalledProcessError as error:
        return {
            "kind": kind,
            "states": size,
            "density": density,
            "failed": error.stderr.strip().splitlines()[-1],
        }
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def line(row: dict[str, Any]) -> list[str]:
    head = [row["kind"], f"{row['states']:,}", row["density"]]
    if "failed" in row:
        return [*head, row["failed"], *[""] * 8]
    return [
        *head,
        f"{row['create']:.2f}",
        f"{row['construct']:.2f}",
        f"{row['first']:.3f}",
        f"{row['later']:.3f}",
        f"{row['creation_peak_GiB']:.2f}",
        f"{row['peak_GiB']:.2f}",
        f"{row['v_solver']}, {row['v_residual']:.0e}",
        row["d_solver"] + (f", {row['d_backward_error']:.0e}" if row["d_solver"] != "-" else ""),
        f"{1e9 * row['later'] / row['states']:.0f}",
    ]


def main() -> None:
    rows = []
    for size in SIZES:
        for kind in ("garnet", "grid"):
            for density in DENSITIES:
                rows.append(in_its_own_process(kind, size, density))
                print("|".join(line(rows[-1])), flush=True)
    columns = [
        "MDP",
        "states",
        "density",
        "create s",
        "FiniteMDP s",
        "first update s",
        "later updates s",
        "creation peak GiB",
        "planning peak GiB",
        "v: solver, residual",
        "d: solver, backward error",
        "ns per state",
    ]
    where = machine()
    text = f"Planning on sparse MDPs, softmax, eta 10 ({where}).\n\n" + table(
        columns, [line(row) for row in rows]
    )
    write("growth", {"machine": where, "rows": rows}, text)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(one(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
    else:
        main()
