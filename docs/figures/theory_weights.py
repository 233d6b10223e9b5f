"""Draw the pictures of the theory page that are about weights: `python
docs/figures/theory_weights.py [NAME ...]`; the one named stall takes two minutes, and writes its
numbers into docs/figures/theory-stall.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from theory_style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, draw_all, log_times

from jekyllhyde import theory
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan

DENSITIES: list[tuple[str, dict[str, Any], str]] = [
    ("pg", {"density": "pg"}, BLACK),
    ("undiscounted", {"density": "undiscounted"}, ORANGE),
    ("uniform", {"density": "uniform"}, GREEN),
    ("o = 0.5", {"density": "mixture", "o": 0.5}, BLUE),
    ("o = 10/√t", {"density": "mixture", "o": "10/sqrt(t)"}, SKY),
    ("o = 10/t", {"density": "mixture", "o": "10/t"}, PURPLE),
]


def enough() -> Figure:
    """Theorem 2 on one state: the gap is a function of the weights spent."""
    figure, axes = plt.subplots(1, 3, figsize=(8.2, 2.7))
    rules = (
        ("η = 1", "1", GREEN, "-"),
        ("η = 1/√t", "1/sqrt(t)", BLUE, "-"),
        ("η = 1/t", "1/t", ORANGE, "-"),
        ("η = $1/t^{1.5}$", "1/t^1.5", RED, "--"),
        ("η = $1/t^2$", "1/t^2", PURPLE, "--"),
    )
    for label, eta, colour, line in rules:
        run = plan(
            theory.one_state(0.0),
            density=np.array([1.0, 0.0]),
            eta=eta,
            updates=10**6,
            record=["v"],
            record_at=log_times(10**6),
        )
        t, W = run.t[1:], run.records["weights"][1:, 0]
        gap = 1.0 - run.records["v"][1:, 0]
        axes[0].loglog(t, W, line, color=colour, label=label)
        axes[1].loglog(t, gap, line, color=colour)
        axes[2].loglog(W, gap, line, color=colour)
        axes[2].plot(W[-1], gap[-1], "o", color=colour, markersize=4)
    axes[0].set(xlabel="update t", title="weights spent, $W_t$")
    axes[1].set(xlabel="update t", title="gap $v_* - v_t$")
    axes[2].set(xlabel="weights spent, $W_t$", title="the same gaps, over $W_t$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return figure


def weights() -> Figure:
    """C4, C5 and C7: the weights of the state that gets least, and the least density."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.9), sharex=True)
    for label, settings, colour in DENSITIES:
        run = plan(
            chain(10),
            eta=10.0,
            updates=20_000,
            record=["d"],
            record_at=log_times(20_000),
            **settings,
        )
        growth = theory.weight_growth(run)
        least = int(np.argmin(growth.exponent[:-1]))
        spent = run.records["weights"][1:, least]
        line = ":" if label == "undiscounted" else "-"  # it lies on top of pg
        said = f"{label}: $t^{{{growth.exponent[least]:.2f}}}$"
        left.loglog(run.t[1:], spent, line, color=colour, label=said)
        right.loglog(run.t, run.records["d"][:, :-1].min(axis=1), line, color=colour)
    left.set(
        xlabel="update t",
        ylabel="$\\sum_{k<t}\\, \\eta\\, d_k(s)$",
        title="C4, C5: the slowest weights",
    )
    right.set(xlabel="update t", ylabel="$\\min_s\\, d_t(s)$", title="C7: the least density")
    figure.legend(
        *left.get_legend_handles_labels(),
        title="growth over the\nlast doublings",
        loc="outside right center",
    )
    return figure


def stall() -> Figure:
    """Policy gradient on the chain of 8: return and weights up to 1.4e8 updates."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.1), sharex=True)
    t, returns, spent, first = long_run(14, 10**7)
    left.semilogx(t, returns, color=BLACK, label="pg, softmax")
    numbers = {"chain": 8, "eta": 10.0, "updates": int(t[-1]), "exceeds_half_at": first}
    Path(__file__).with_name("theory-stall.json").write_text(json.dumps(numbers) + "\n")
    others = (
        ("pg, direct (η = 1)", RED, {"density": "pg", "parametrization": "direct", "eta": 1.0}),
        ("uniform", GREEN, {"density": "uniform"}),
        ("o = 10/√t", SKY, {"density": "mixture", "o": "10/sqrt(t)"}),
    )
    for label, colour, settings in others:
        run = plan(chain(8), updates=10**5, **{"eta": 10.0, **settings})
        times = np.unique(np.geomspace(1, 10**5, 200).astype(int))
        values = run.J_norm[times]
        line = "--" if colour == SKY else "-"  # it lies on top of uniform
        left.semilogx([*times, t[-1]], [*values, values[-1]], line, color=colour, label=label)
    left.set(
        xlabel="update t",
        ylabel="normalized return",
        title=f"return; pg exceeds 0.5 after {first:,} updates",
    )
    left.legend(loc="center", bbox_to_anchor=(0.6, 0.6))
    for s, colour in enumerate(plt.get_cmap("viridis")(np.linspace(0, 0.9, 7))):
        right.loglog(t, spent[:, s], color=colour, label=f"{s}")
    right.set(xlabel="update t", title="pg: weights $W_t(s)$ of each state")
    right.legend(title="state", loc="upper left", ncols=2)
    return figure


def long_run(parts: int, updates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Times, returns and weights of `parts` runs that follow each other, and the number of updates
    after which the normalized return exceeds 0.5.
    """
    mdp, pi, before, first = chain(8), None, np.zeros(8), None
    times, returns, spent = [], [], []
    for part in range(parts):
        every = updates // 20
        inner = range(every, updates + 1, every) if part else log_times(updates)[1:]
        run = plan(
            mdp, density="pg", eta=10.0, updates=updates, pi0=pi, record=["d"], record_at=inner
        )
        if first is None and run.J_norm.max() > 0.5:
            first = part * updates + int((run.J_norm > 0.5).argmax())
        times += [part * updates + int(t) for t in run.t]
        returns += run.J_norm[run.t].tolist()
        spent += (before + run.records["weights"]).tolist()
        pi, before = run.pi, before + run.weights
    if first is None:
        raise SystemExit("the return has not exceeded 0.5; make more updates")
    return np.array(times), np.array(returns), np.array(spent), first


def exploring() -> Figure:
    """Dithering that reaches h steps ahead, and ties that send the policy back (Remark 1)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.7))
    t = np.arange(1, 10**5 + 1)
    for h, colour, line in ((1, GREEN, "-"), (2, BLUE, "-"), (3, ORANGE, "--"), (4, RED, "--")):
        left.loglog(t, np.cumsum(t ** (-0.5 * h)), line, color=colour, label=f"h = {h}")
    left.set(xlabel="update t", title="$ε_t = t^{-1/2}$: visits h steps ahead, $\\sum ε_t^h$")
    left.legend()
    P = np.zeros((4, 3, 4))
    P[0, 0, 1] = P[0, 1, 2] = P[0, 2, 3] = 1.0
    P[1:3, :, 3] = 1.0
    r = np.array([[0.5, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    run = plan(
        FiniteMDP(P, r, gamma=0.5, terminal=[3]),
        density=np.array([1.0, 1e-3, 1.0, 0.0]),
        updates=20_000,
        pi0=[[0.9, 0.098, 0.002], [0.75, 0.15, 0.1], [0.998, 0.001, 0.001], [0.3, 0.3, 0.4]],
        record=["pi"],
        record_at=log_times(20_000),
    )
    pi = run.records["pi"][1:, 0]
    right.loglog(run.t[1:], pi[:, 2], color=RED, label="$a_3$, not optimal")
    right.loglog(run.t[1:], pi[:, 0], color=BLUE, label="$a_1$, optimal, lags")
    right.loglog(run.t[1:], pi[:, 1], color=SKY, label="$a_2$, optimal, ready")
    right.set(xlabel="update t", title="Remark 1: $π_t(a|s_0)$ with two optimal actions")
    right.legend()
    return figure


def support() -> Figure:
    """The support of d_star and the states R(s) ahead of s."""
    figure, axis = plt.subplots(figsize=(6.4, 1.6))
    axis.set_axis_off()
    axis.set_aspect("equal")
    places = [(0, 0), (2, 0), (4, 0), (2, 1.5), (0, 1.5)]
    box = {"boxstyle": "round,pad=0.25", "linewidth": 0, "alpha": 0.25}
    axis.fill([-0.7, 4.7, 4.7, -0.7], [-0.55, -0.55, 0.55, 0.55], color=BLUE, alpha=0.15)
    axis.text(4.8, 0, "supp($d_*$): reached from $p_0$", va="center", color=BLUE)
    axis.text(4.8, 1.5, "off the support; $R(s_4) = \\{s_4, s_3, s_2\\}$", va="center", color=RED)
    for s, (x, y) in enumerate(places):
        axis.text(
            x,
            y,
            f"$s_{s}$",
            ha="center",
            va="center",
            fontsize=11,
            bbox={**box, "facecolor": BLUE if y == 0 else RED},
        )
    for start, end in ((0, 1), (1, 2), (4, 3), (3, 2)):
        axis.annotate(
            "",
            places[end],
            places[start],
            arrowprops={"arrowstyle": "->", "shrinkA": 13, "shrinkB": 13, "linewidth": 1.4},
        )
    axis.annotate("", (-0.35, 0), (-1.4, 0), arrowprops={"arrowstyle": "->", "color": BLUE})
    axis.text(-1.5, 0, "$p_0$", ha="right", va="center", color=BLUE)
    axis.set(xlim=(-2, 9.5), ylim=(-0.6, 1.9))
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "enough": enough,
    "weights": weights,
    "stall": stall,
    "exploring": exploring,
    "support": support,
}


if __name__ == "__main__":
    draw_all(FIGURES, sys.argv[1:])
