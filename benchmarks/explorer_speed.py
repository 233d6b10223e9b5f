"""What a step of the tabular explorers costs: beside plain C, and beside the paper's Hyde.

C (explorers.c) has the loop with a model-based Hyde, `recommended`, and UCBVI, by the same
definitions and with the same random numbers; steps and returns are compared before anything is
timed. Processor seconds of the thread, exact evaluations (1000 of a run) included; repetitions in
turns, and the best of each, since other work on the machine only ever slows one down. The paper's
Hyde, `published`, is that of version 0.1, number for number (compare.py).
"""

from __future__ import annotations

import ctypes
import tempfile
from typing import Any

from common import machine, table, write
from tabular import AGREEMENT, build_c, c_model, ours, published, rate

import numpy as np  # isort: skip

import jekyllhyde as jh  # isort: skip
from jekyllhyde.mdp.finite import FiniteMDP, Floats  # isort: skip
from jekyllhyde.tabular.learn import evaluation_times  # isort: skip
from jekyllhyde.tabular.random_stream import stream  # isort: skip

REPETITIONS, TURNS = 5, 2
C_BONUS = 0.01
PROBLEMS = {
    "chain 10": (jh.chain(10, beta=0.8), 50_000),
    "random 100": (jh.garnet(100, 4, 2, seed=1), 3_000),
    "DeepSea 10": (jh.deep_sea(10), 10_000),
}
AGENTS: dict[str, Any] = {
    "recommended": jh.TabularJekyllHyde(),
    "ucbvi": jh.TabularUcbvi(c=C_BONUS),
}
VARIANTS: dict[str, Any] = {
    "published": published(),
    "recommended: model_based": jh.TabularJekyllHyde(),
    "recommended, batch 1": jh.TabularJekyllHyde(batch=1),
    **{
        f"hyde={name}": jh.TabularJekyllHyde(hyde=name)
        for name in ("optimistic", "hoeffding", "posterior", "uniform")
    },
    "model-free: optimistic, backward": jh.TabularJekyllHyde(
        hyde="optimistic", critic="expected_sarsa", eta_c="visits", replay="backward"
    ),
    "Q-learning": jh.TabularQLearning(),
    "UCB-H": jh.TabularUcbH(),
    "UCBVI": jh.TabularUcbvi(c=C_BONUS),
    "PSRL": jh.TabularPsrl(),
}


def in_c(library: ctypes.CDLL, name: str, mdp: FiniteMDP, trajectories: int) -> tuple[int, Floats]:
    """Steps made, and the returns of pi at the protocol's times."""
    model, _arrays = c_model(mdp)  # the arrays must live as long as the model
    words, times = stream(0, 0), len(evaluation_times(trajectories))
    J, real, size = np.empty(4 * times), ctypes.c_double, ctypes.c_int64
    common = (ctypes.byref(model), size(trajectories), size(max(1, trajectories // 1000)), 16)
    ends = (ctypes.c_void_p(words.ctypes.data), ctypes.c_void_p(J.ctypes.data))
    if name == "recommended":
        steps = library.recommended(*common, real(1000.0), real(0.5), *ends)
        return steps, J[: 2 * times : 2]
    h, r_max = 1.0 / (1.0 - mdp.gamma), float(abs(mdp.r_next).max())
    return library.ucbvi(*common, real(C_BONUS), real(h), real(r_max), *ends), J[:times]


def beside_c(library: ctypes.CDLL) -> list[list[Any]]:
    """A row per problem and agent: steps per second, and our share of C's."""
    rows = []
    for problem, (mdp, trajectories) in PROBLEMS.items():
        for name, agent in AGENTS.items():
            check = jh.learn(mdp, agent, trajectories=1000, horizon=100)
            steps, J = in_c(library, name, mdp, 1000)
            agreement = float(abs(J - check.J_jekyll[0]).max())
            if steps != check.steps[0, -1] or not agreement < AGREEMENT:
                raise SystemExit(f"{problem}, {name}: C disagrees by {agreement:.1e}")
            rates = [
                (
                    rate(lambda: in_c(library, name, mdp, trajectories)[0]),  # noqa: B023
                    rate(lambda: ours(mdp, agent, trajectories)),  # noqa: B023
                )
                for _ in range(REPETITIONS)
            ]
            c, mine = (max(column) for column in zip(*rates, strict=True))
            speeds = (f"{c / 1e6:.2f} M", f"{mine / 1e6:.2f} M", f"{mine / c:.2f}")
            rows.append([problem, name, *speeds])
            print(rows[-1], flush=True)
    return rows


def beside_published() -> list[list[Any]]:
    """Nanoseconds of a step of each variant, and times that of the published agent."""
    problems = {name: PROBLEMS[name] for name in ("chain 10", "random 100")}
    best = {(variant, name): np.inf for variant in VARIANTS for name in problems}
    for name, (mdp, trajectories) in problems.items():
        for _ in range(1 + TURNS):  # the first one compiles
            for variant, agent in VARIANTS.items():
                cost = 1e9 / rate(lambda: ours(mdp, agent, trajectories))  # noqa: B023
                best[variant, name] = min(best[variant, name], cost)
    base = {name: best["published", name] for name in problems}
    return [
        [
            variant,
            *(
                f"{best[variant, name]:,.0f} ({best[variant, name] / base[name]:.1f})"
                for name in base
            ),
        ]
        for variant in VARIANTS
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = build_c(folder, "explorers.c")
        library.recommended.restype = library.ucbvi.restype = ctypes.c_int64
        rows = beside_c(library)
    costs = beside_published()
    text = "\n\n".join(
        [
            f"{machine()}; steps per processor second, one core, exact evaluations included.",
            table(["problem", "agent", "C", "jekyllhyde", "share of C"], rows),
            "Nanoseconds of a step, and in brackets how many times that of the published agent, "
            "whose Hyde is that of version 0.1. `recommended` and its variants have 16 samples a "
            "step, the published agent one.",
            table(["agent", "chain 10", "random 100"], costs),
        ]
    )
    write("explorer_speed", {"c": rows, "costs": costs}, text)


if __name__ == "__main__":
    main()
