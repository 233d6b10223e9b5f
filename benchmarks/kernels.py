"""What the package's own kernels gain over the libraries' functions, on one core.

Each is called as the package calls it: small systems one after the other, whole tables at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common import interleaved, machine, pin_to_one_core, table, write

import math  # isort: skip
import numba  # isort: skip
import numpy as np  # isort: skip
from scipy import linalg, sparse  # isort: skip
from scipy.sparse.linalg import bicgstab as scipy_bicgstab, splu  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde.jit import kernel  # isort: skip
from jekyllhyde.mdp import elimination, linalg as dense  # isort: skip
from jekyllhyde.mdp.evaluation import System, policy_transitions  # isort: skip
from jekyllhyde.planning.updates import Direct, Tables, update_tables  # isort: skip
from jekyllhyde.simplex import exponentials  # isort: skip

REPETITIONS = 9
TIMES = 200


@kernel
def libm_exponentials(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = math.exp(x[i])


def projected_by_sorting(x: np.ndarray) -> np.ndarray:
    """The usual NumPy projection of all rows."""
    ordered = -np.sort(-x, axis=1)
    tau = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, x.shape[1] + 1)
    count = (ordered > tau).sum(axis=1)
    return np.maximum(x - tau[np.arange(len(x)), count - 1][:, None], 0.0)


def exponential() -> dict[str, Callable[[], object]]:
    x = -np.random.default_rng(0).exponential(5.0, 200)
    out = np.empty_like(x)
    return {
        "own": lambda: exponentials(x, out),
        "libm in a compiled loop": lambda: libm_exponentials(x, out),
        "NumPy": lambda: np.exp(x, out=out),
    }


def projection(n_actions: int) -> dict[str, Callable[[], object]]:
    q = np.random.default_rng(0).random((50, n_actions))
    pi, step = np.full(q.size, 1.0 / n_actions), np.full(50, 0.01)
    tables = Tables(pi, pi, q.ravel(), np.zeros(50), step, np.empty(q.size))
    return {
        "own": lambda: update_tables(Direct(), tables),
        "NumPy, by sorting": lambda: projected_by_sorting(pi.reshape(q.shape) + 0.01 * q),
    }


def small_system(mdp: jh.FiniteMDP) -> dict[str, Callable[[], object]]:
    """Values of a policy: the system filled, factored and solved."""
    model = mdp.elimination
    order, first, last, pointer, rows = model[:5]
    n, pi = len(order), np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions)
    M, inverse, flat = np.empty(n * n), np.empty(n), pi[order].ravel()
    full, full_inverse = np.empty(mdp.n_states**2), np.empty(mdp.n_states)
    r = (pi * mdp.r).sum(axis=1)
    P = policy_transitions(mdp, pi).toarray()

    def own() -> None:
        x = r[order]
        elimination.fill_system(M, first, last, model.p, model.pair, model.cell, flat, mdp.gamma)
        elimination.factor(M, inverse, x, last, pointer, rows)
        elimination.back_substitute(M, inverse, x, last)

    def own_dense() -> None:
        x = r.copy()
        dense.fill_system(full, mdp.P.indptr, mdp.P.indices, mdp.P.data, pi, mdp.gamma)
        dense.factor(full, full_inverse, x)
        dense.back_substitute(full, full_inverse, x)

    def lapack() -> None:
        factors = linalg.lu_factor(np.eye(mdp.n_states) - mdp.gamma * P, check_finite=False)
        linalg.lu_solve(factors, r, check_finite=False)

    return {"own, along the graph": own, "own, dense": own_dense, "LAPACK": lapack}


def large_system(rewards_everywhere: bool) -> dict[str, Callable[[], object]]:
    """SuperLU helps out where SciPy's iteration breaks down."""
    mdp = jh.garnet(2000, 4, 2, goal=5)
    pi = mdp.uniform_policy()
    P, r = policy_transitions(mdp, pi), (pi * mdp.r).sum(axis=1)
    if rewards_everywhere:
        r = np.random.default_rng(0).random(mdp.n_states)
    A = sparse.csr_array(sparse.eye_array(mdp.n_states) - mdp.gamma * P)

    def scipy() -> None:
        x, _ = scipy_bicgstab(A, r, rtol=1e-13, atol=0.0, maxiter=400)
        if abs(r - A @ x).max() > 1e-11 * abs(r).max():
            splu(sparse.csc_array(A)).solve(r)

    return {"own": lambda: System(P, mdp.gamma, "iterative").solve(r), "SciPy": scipy}


def main() -> None:
    where = machine()
    pin_to_one_core()
    cases = {
        "exponential of 200 entries": (exponential(), TIMES),
        "direct update of 50 x 4": (projection(4), TIMES),
        "direct update of 50 x 100": (projection(100), TIMES),
        "v of garnet(50)": (small_system(jh.garnet(50, seed=0)), TIMES),
        "v of chain(10)": (small_system(jh.chain(10)), TIMES),
        "v of garnet(2000)": (large_system(False), 1),
        "v of garnet(2000), rewards everywhere": (large_system(True), 20),
    }
    rows, data = [], {}
    for name, (functions, times) in cases.items():
        for function in functions.values():
            function()

        def repeated(function: Callable[[], object], times: int = times) -> Callable[[], object]:
            return lambda: [function() for _ in range(times)]

        spent = interleaved({k: repeated(f) for k, f in functions.items()}, REPETITIONS)
        data[name] = {k: value / times for k, value in spent.items()}
        least = next(iter(spent.values()))
        rows += [
            [name, k, f"{1e6 * value / times:,.1f}", f"{value / least:.2f}"]
            for k, value in spent.items()
        ]
    text = f"Own kernels beside libraries ({where}, Numba {numba.__version__}).\n\n"
    text += table(["what", "by", "microseconds", "times own"], rows)
    write("kernels", {"machine": where, "seconds": data}, text)


if __name__ == "__main__":
    main()
