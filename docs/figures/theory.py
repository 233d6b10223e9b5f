"""Draw the pictures of the theory page into docs/_static/theory-*.png: `python
docs/figures/theory.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jekyllhyde import theory
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan

FOLDER = Path(__file__).resolve().parent.parent / "_static"
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.5,
    "figure.constrained_layout.use": True,
}
DENSITIES: list[tuple[str, dict[str, Any], str]] = [
    ("pg", {"density": "pg"}, BLACK),
    ("undiscounted", {"density": "undiscounted"}, ORANGE),
    ("uniform", {"density": "uniform"}, GREEN),
    ("o = 0.5", {"density": "mixture", "o": 0.5}, BLUE),
    ("o = 10/√t", {"density": "mixture", "o": "10/sqrt(t)"}, SKY),
    ("o = 10/t", {"density": "mixture", "o": "10/t"}, PURPLE),
]


def log_times(last: int, count: int = 150) -> list[int]:
    return [int(t) for t in np.unique(np.geomspace(1, last, count).astype(int))]


def model() -> Figure:
    """C3's step sizes, and A8's action gaps on the two chains."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6))
    horizon = np.geomspace(2, 1000, 50)
    left.loglog(
        horizon,
        [theory.learning_rate("softmax", 1 - 1 / h, 2) for h in horizon],
        color=BLUE,
        label="softmax",
    )
    for n_actions, style in ((2, "-"), (10, ":")):
        rates = [theory.learning_rate("direct", 1 - 1 / h, n_actions) for h in horizon]
        left.loglog(horizon, rates, style, color=RED, label=f"direct, {n_actions} actions")
    left.set(xlabel="horizon 1 / (1 − γ)", ylabel="η", title="C3's learning rates")
    left.legend()
    for convention, marker, colour in (("published", "o", BLUE), ("paper", "x", RED)):
        gap = chain(10, convention=convention).optimal().gap[:-1]
        ties = np.isinf(gap)
        right.plot(
            np.flatnonzero(~ties),
            gap[~ties],
            marker,
            color=colour,
            label=convention,
            fillstyle="none",
        )
        for s in np.flatnonzero(ties):
            right.annotate(
                "every action optimal  ",
                (s, 0.01),
                ha="right",
                va="center",
                color=colour,
                fontsize=8,
            )
            right.plot(s, 0.01, "o", color=colour, fillstyle="none")
    right.set(
        xlabel="state of the chain",
        ylabel="action gap δ(s)",
        title="A8 on the chain of 10",
        ylim=(0, 0.15),
    )
    right.legend(title="convention", loc="upper left")
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
        least = int(np.argmin(run.weights[:-1]))
        exponent = growth.exponent[least]
        spent = run.records["weights"][1:, least]
        line = ":" if label == "undiscounted" else "-"  # it lies on top of pg
        left.loglog(run.t[1:], spent, line, color=colour, label=f"{label}: $t^{{{exponent:.2f}}}$")
        right.loglog(run.t, run.records["d"][:, :-1].min(axis=1), line, color=colour)
    left.set(
        xlabel="update t",
        ylabel="$\\sum_{t'<t}\\, \\eta\\, d_{t'}(s)$",
        title="C4, C5: the least weights",
    )
    right.set(xlabel="update t", ylabel="$\\min_s\\, d_t(s)$", title="C7: the least density")
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center")
    return figure


def monotonicity() -> Figure:
    """Theorem 1: values on the chain without and with entropy."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True)
    for axis, lam in zip(axes, (0.0, 0.5), strict=True):
        start = np.tile([0.2, 0.8], (8, 1))
        run = plan(
            chain(8),
            density="uniform",
            eta=10.0,
            lam=lam,
            updates=200,
            pi0=start,
            record=["v", "q"],
        )
        found = theory.monotonicity(run)
        for s, colour in enumerate(plt.get_cmap("viridis")(np.linspace(0, 0.9, 7))):
            axis.plot(
                run.t,
                run.records["v"][:, s],
                color=colour,
                label=f"{s}" if s in (0, 3, 6) else None,
            )
        axis.set(
            xlabel="update t",
            title=f"λ = {lam:g}: largest decrease {max(found.decrease_v, found.decrease_q):.2g}",
        )
    axes[0].set_ylabel("$v_t(s)$")
    figure.legend(*axes[0].get_legend_handles_labels(), title="state", loc="outside right center")
    return figure


def hitting() -> Figure:
    """Theorem 3: the gap of a direct run, and the times of the proof."""
    figure, axis = plt.subplots(figsize=(5.5, 2.7))
    for (label, settings, colour), height in zip(
        (DENSITIES[2], DENSITIES[3]), (1.0, 0.3), strict=True
    ):
        run = plan(
            chain(10),
            parametrization="direct",
            eta=1.0,
            updates=1200,
            record=theory.RECORD,
            **settings,
        )
        found = theory.hitting_time(run)
        assert found.t is not None
        assert found.t0 is not None
        assert found.ceiling is not None
        axis.semilogy(found.times[: found.t], found.gap[: found.t], color=colour, label=label)
        axis.plot([found.t] * 2, [found.gap[found.t - 1], 1e-4], color=colour)
        axis.plot(found.t0, found.gap[found.t0], "o", color=colour)
        axis.plot([found.ceiling] * 2, [1e-4, height], "--", color=colour)
        axis.annotate(
            f" by t = {found.ceiling}", (found.ceiling, height), va="top", color=colour, fontsize=8
        )
    axis.set(xlabel="update t", ylabel="$\\max |q_\\star - q_t|$", ylim=(1e-4, 2), xlim=(0, 1350))
    axis.plot([], [], "o", color="grey", label="$t_0$")
    axis.plot([], [], "--", color="grey", label="proof's promise")
    axis.legend(loc="center left", bbox_to_anchor=(0, 0.35))
    return figure


def softmax() -> Figure:
    """Theorem 4 on the chain: value and policy."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.9))
    run = plan(
        chain(10),
        density="mixture",
        o="10/sqrt(t)",
        eta=10.0,
        updates=100_000,
        record=theory.RECORD,
        record_at=log_times(100_000),
    )
    rate = theory.softmax_rate(run)
    for s, colour in ((0, BLUE), (6, RED)):
        axes[0].loglog(rate.t, rate.gap[:, s], color=colour, label=f"state {s}")
        axes[0].loglog(rate.t, rate.bound[:, s], "--", color=colour)
        axes[1].loglog(rate.t, rate.policy_gap[:, s], color=colour)
        axes[1].loglog(rate.t, rate.policy_bound[:, s], "--", color=colour)
    axes[0].loglog(rate.t, rate.linear[:, 0], ":", color=BLACK, label="1/t form,\nstate 0")
    axes[0].plot([], [], "--", color="grey", label="bound")
    axes[0].set(
        xlabel="update t",
        ylabel="$v_\\star(s) - v_t(s)$",
        title=f"values, from $t_0$ = {rate.t0} on",
    )
    axes[1].set(xlabel="update t", ylabel="$1 - \\pi_t(a_\\star|s)$", title="policy")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return figure


def printed() -> Figure:
    """Theorem 4 as printed, on a state outside the support of the optimal density."""
    P = np.zeros((3, 2, 3))
    P[:2, :, 2] = 1.0
    mdp = FiniteMDP(P, np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), gamma=0.5, terminal=[2])
    run = plan(
        mdp,
        density="mixture",
        o="1/t",
        eta=1.0,
        updates=10**6,
        record=theory.RECORD,
        record_at=log_times(10**6),
    )
    rate = theory.softmax_rate(run)
    figure, axis = plt.subplots(figsize=(5, 3))
    axis.loglog(rate.t, rate.printed, "--", color=BLACK, label="bound as printed, for both")
    for s, colour, name in (
        (0, BLUE, "state 0, where episodes start"),
        (1, RED, "state 1, never visited"),
    ):
        axis.loglog(rate.t, rate.gap[:, s], color=colour, label=name)
    axis.loglog(rate.t, rate.bound[:, 1], "--", color=RED, label="bound as proved, state 1")
    axis.set(xlabel="update t", ylabel="$v_\\star(s) - v_t(s)$")
    axis.legend()
    return figure


def every_t() -> Figure:
    """The bound under A2."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.7))
    rng = np.random.default_rng(1)
    P, r = rng.dirichlet(np.ones(4), size=(4, 2)), rng.random((4, 2))
    for axis, gamma in zip(axes, (0.0, 0.5), strict=True):
        mdp = FiniteMDP(P, r, p0=np.full(4, 0.25), gamma=gamma)
        step = theory.nonasymptotic_step(mdp, 0.25)
        run = plan(
            mdp,
            density="uniform",
            eta=step,
            updates=10**5,
            record=theory.RECORD,
            record_at=log_times(10**5),
        )
        found = theory.nonasymptotic(run)
        axis.loglog(found.t, found.gap, color=BLUE, label="measured")
        axis.loglog(found.t, found.derived, "--", color=RED, label="bound, as derived")
        if gamma > 0:
            axis.loglog(found.t, found.printed, ":", color=BLACK, label="bound, as printed")
        axis.set(
            xlabel="update t",
            title=f"γ = {gamma:g}, η = {step:.3g}: corollary's $t_0$ = {found.t0:.2g}",
        )
    axes[0].set_ylabel("$\\max_s\\, v_\\star(s) - v_t(s)$")
    axes[1].legend(loc="upper right")
    return figure


def projection() -> Figure:
    """The lemma's two sides on random points."""
    figure, axis = plt.subplots(figsize=(3.4, 3.2))
    rng = np.random.default_rng(0)
    for n, colour, marker in ((2, BLACK, "x"), (4, ORANGE, "o"), (10, BLUE, ".")):
        points: list[tuple[float, float]] = []
        while len(points) < 300:
            k, x, y = (
                int(rng.integers(1, n)),
                rng.dirichlet(np.ones(n)),
                np.sort(rng.exponential(0.3, n))[::-1],
            )
            found = theory.projection_lemma(x, y, k)
            points.append((found.bound - found.before, found.after - found.before))
        axis.plot(
            *np.transpose(points),
            marker,
            color=colour,
            markersize=4,
            fillstyle="none",
            label=f"n = {n}",
        )
    axis.plot([0, 1], [0, 1], "--", color="grey", label="lemma's bound")
    axis.set(
        xlabel="gain promised, min(1 − mass, (α − β)/2)",
        ylabel="gain measured",
        xlim=(0, 0.7),
        ylim=(0, 1),
    )
    axis.legend()
    return figure


def counterexample() -> Figure:
    """C4 is necessary: a gap that stays."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.7))
    direct, soft = theory.counterexample("direct"), theory.counterexample("softmax", eta="0.5/t^2")
    t = np.arange(1, len(direct.gap) + 1)
    for axis, found, name in zip(
        axes, (direct, soft), ("direct, adversarial $r_2$", "softmax, $r_2$ = 0.5"), strict=True
    ):
        axis.semilogx(t, found.gap, color=BLUE, label="measured")
        axis.axhline(found.proved, linestyle="--", color=RED, label="lower bound, proved")
        axis.set(xlabel="t + 1", title=f"{name}, m = {found.m:.2f}")
    axes[1].axhline(soft.printed, linestyle=":", color=BLACK, label="lower bound, as printed")
    axes[0].set(ylabel="$v_\\star - v_t$", ylim=(0, 0.2))
    axes[1].set_ylim(0, 0.4)
    axes[1].legend(loc="lower left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "model": model,
    "weights": weights,
    "monotonicity": monotonicity,
    "hitting": hitting,
    "softmax": softmax,
    "printed": printed,
    "every-t": every_t,
    "projection": projection,
    "counterexample": counterexample,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with plt.rc_context(STYLE):
        for name, draw in FIGURES.items():
            figure = draw()
            for axis in figure.axes:
                _grid(axis)
            figure.savefig(FOLDER / f"theory-{name}.png", dpi=160)
            plt.close(figure)


def _grid(axis: Axes) -> None:
    axis.grid(True, which="major", linewidth=0.4, alpha=0.5)


if __name__ == "__main__":
    main()
