"""One policy evaluation and one full solve of the same random MDPs, beside QuantEcon's DiscreteDP
(sparse formulation).

Both get the same arrays; building each one's object is not timed. The values are compared before
anything is reported. DiscreteDP takes proper rows only, so there the goal loops on itself without
reward.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from common import machine, pin_to_one_core, table, write

import numpy as np  # isort: skip
from quantecon.markov import DiscreteDP  # isort: skip
from scipy import sparse  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP  # isort: skip

SIZES = (100, 1_000, 10_000, 100_000)


def as_discrete_dp(mdp: FiniteMDP) -> DiscreteDP:
    """The same MDP in QuantEcon's state-action form; a terminal state stays where it is."""
    S, A = mdp.n_states, mdp.n_actions
    states, actions = np.repeat(np.arange(S), A), np.tile(np.arange(A), S)
    loops = np.flatnonzero(mdp.is_terminal[states])
    stay = sparse.csr_matrix((np.ones(len(loops)), (loops, states[loops])), shape=mdp.P.shape)
    return DiscreteDP(
        mdp.r.ravel(),
        sparse.csr_matrix(mdp.P) + stay,
        mdp.gamma,
        s_indices=states,
        a_indices=actions,
    )


def compare(size: int) -> dict[str, Any]:
    mdp = jh.garnet(size, 4, 2, goal=size - 1)
    peer = as_discrete_dp(mdp)
    optimum = mdp.optimal("policy_iteration")
    policy = optimum.actions
    pi = optimum.pi
    repetitions = (
        7 if size <= 1_000 else 1
    )  # the peer's sparse LU takes most of a minute at 10,000 states
    row: dict[str, Any] = {"states": size}
    evaluations: dict[str, Callable[[], Any]] = {"evaluate_ours": lambda: mdp.evaluate(pi).v}
    if size <= 10_000:  # the factors of random graphs fill in: out of reach above
        evaluations["evaluate_peer"] = lambda: peer.evaluate_policy(policy)
    solves: dict[str, Callable[[], Any]] = {
        f"ours_{m}": partial(mdp.optimal, m) for m in ("policy_iteration", "modified")
    }
    solves |= {f"peer_{m}": partial(peer.solve, method=m, epsilon=1e-8) for m in peer_methods(size)}
    times: dict[str, list[float]] = {}
    for _ in range(repetitions):
        for name, function in {**evaluations, **solves}.items():
            start = process_time()
            result = function()
            times.setdefault(name, []).append(process_time() - start)
            error = float(abs((result if name in evaluations else result.v) - optimum.v).max())
            assert error < 1e-7, f"{name}: the values differ by {error:.1e}"
            row[f"error_{name}"] = error
    return row | {name: median(values) for name, values in times.items()}


def peer_methods(size: int) -> list[str]:
    """Policy iteration solves exactly, with a sparse LU; the modified form serves where that is out
    of reach.
    """
    return (
        ["policy_iteration", "modified_policy_iteration"]
        if size <= 10_000
        else ["modified_policy_iteration"]
    )


def main() -> None:
    where = machine()
    pin_to_one_core()
    compare(100)  # compile
    rows = [compare(size) for size in SIZES]

    def show(row: dict[str, Any], key: str) -> str:
        return f"{1000 * row[key]:.2f}" if row.get(key) is not None else "-"

    keys = [
        "evaluate_ours",
        "evaluate_peer",
        "ours_policy_iteration",
        "ours_modified",
        "peer_policy_iteration",
        "peer_modified_policy_iteration",
    ]
    columns = [
        "states",
        "evaluate: jekyllhyde",
        "DiscreteDP",
        "solve: jekyllhyde PI",
        "jekyllhyde modified",
        "DiscreteDP PI",
        "DiscreteDP modified",
    ]
    lines = [[f"{row['states']:,}", *(show(row, key) for key in keys)] for row in rows]
    text = f"Processor milliseconds on one core, the same garnets ({where}).\n\n" + table(
        columns, lines
    )
    write("peers", {"machine": where, "rows": rows}, text)


if __name__ == "__main__":
    main()
