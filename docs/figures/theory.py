"""Draw the pictures of the theory page that are about bounds: `python docs/figures/theory.py
[NAME ...]`; `theory_weights.py` draws the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from theory_style import BLACK, BLUE, GREEN, ORANGE, RED, draw_all, log_times

from jekyllhyde import theory
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP, Floats
from jekyllhyde.planning.plan import plan


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
                "", (s, 0.17), (s, 0.15), arrowprops={"arrowstyle": "->", "color": colour}
            )
            right.text(
                s - 0.3, 0.16, "∞: every action optimal", ha="right", color=colour, fontsize=8
            )
    right.set(
        xlabel="state of the chain",
        ylabel="action gap δ(s)",
        title="A8 on the chain of 10",
        ylim=(0, 0.17),
    )
    right.legend(title="convention", loc="lower right")
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
    for label, o, colour, height in (("uniform", 1.0, GREEN, 1.0), ("o = 0.5", 0.5, BLUE, 0.3)):
        run = plan(
            chain(10),
            parametrization="direct",
            density="mixture",
            o=o,
            eta=1.0,
            updates=1200,
            record=theory.RECORD,
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
    axis.set(xlabel="update t", ylabel="$\\max |q_* - q_t|$", ylim=(1e-4, 2), xlim=(0, 1350))
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
        ylabel="$v_*(s) - v_t(s)$",
        title=f"values, from $t_0$ = {rate.t0} on",
    )
    axes[1].set(xlabel="update t", ylabel="$1 - \\pi_t(a_*|s)$", title="policy")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return figure


def printed() -> Figure:
    """Theorem 4 as printed, on a state outside the support of the optimal density."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 2] = P[0, 1, 1] = 1.0
    P[1, :, 2] = 1.0
    mdp = FiniteMDP(P, [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], gamma=0.5, terminal=[2])
    run = plan(
        mdp,
        density="pg",
        convention="paper",
        updates=10**6,
        record=theory.RECORD,
        record_at=log_times(10**6),
    )
    rate = theory.softmax_rate(run)
    figure, axis = plt.subplots(figsize=(6.4, 2.9))
    axis.loglog(rate.t, rate.gap[:, 0], color=BLUE, label="$s_0$, where episodes start")
    axis.loglog(rate.t, rate.gap[:, 1], color=RED, label="$s_1$, reached by leaving")
    axis.loglog(rate.t, rate.printed, "--", color=BLACK, label="bound as printed")
    axis.loglog(rate.t, rate.bound[:, 1], "--", color=RED, label="bound as proved, $s_1$")
    axis.set(
        xlabel="update t",
        ylabel="$v_*(s) - v_t(s)$",
        title=f"at t = $10^6$ the gap of $s_1$ is {rate.gap[-1, 1] / rate.printed[-1]:,.0f} times "
        "the printed bound",
    )
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right center")
    return figure


def gradient_density(t: int, mdp: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
    return evaluation.density(mdp.gamma)


def every_t() -> Figure:
    """Theorems 7, 6 and 4 on the same MDP, with the step sizes that they ask for."""
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 2.9), sharey=True)
    rng = np.random.default_rng(1)
    P, r = rng.dirichlet(np.ones(4), size=(4, 2)), rng.random((4, 2))
    mdp = FiniteMDP(P, r, p0=np.full(4, 0.25), gamma=0.5)
    step = theory.nonasymptotic_step(mdp, 0.25)
    run = plan(mdp, density="uniform", eta=step, updates=10**5, record=theory.RECORD)
    seven, four = theory.nonasymptotic(run), theory.softmax_rate(run)
    shown = np.array(log_times(10**5)[1:]) - 1
    left, right = axes
    left.loglog(seven.t[shown], seven.gap[shown], color=BLUE, label="measured")
    left.loglog(seven.t[shown], seven.printed[shown], ":", color=BLACK, label="Theorem 7, printed")
    left.loglog(seven.t[shown], seven.derived[shown], "--", color=RED, label="Theorem 7, derived")
    left.loglog(four.t, four.bound.max(axis=1), "-.", color=GREEN, label="Theorem 4, proved")
    left.set(xlabel="update t", title=f"uniform density, η = {step:.3g}")
    rate = theory.learning_rate("softmax", 0.5, 2)
    run = plan(mdp, density=gradient_density, eta=rate, updates=10_000, record=theory.RECORD)
    six, four = theory.gradient_bound(run), theory.softmax_rate(run)
    right.loglog(six.t, six.gap, color=BLUE)
    right.loglog(six.t, six.bound, "--", color=ORANGE, label="Theorem 6")
    right.loglog(four.t, four.bound.max(axis=1), "-.", color=GREEN)
    right.set(xlabel="update t", title=f"policy gradient, C3's η = {rate:.3g}")
    left.set_ylabel("$\\max_s\\, v_*(s) - v_t(s)$")
    handles, labels = (
        a + b for a, b in zip(*(x.get_legend_handles_labels() for x in axes), strict=True)
    )
    figure.legend(handles, labels, loc="outside right center")
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
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 2.7))
    examples = (
        ("direct", None, "0.5/t^2", "direct, adversarial $r_2$"),
        ("softmax", 0.5, "0.5/t^2", "softmax, $r_2$ = 0.5"),
        ("softmax", 0.5, "6/t^2", "softmax, $r_2$ = 0.5"),
    )
    for axis, (parametrization, r2, eta, name) in zip(axes, examples, strict=True):
        found = theory.counterexample(parametrization, eta=eta, r2=r2)
        t = np.arange(1, len(found.gap) + 1)
        axis.semilogx(t, found.gap, color=BLUE, label="measured")
        axis.axhline(found.proved, linestyle="--", color=RED, label="lower bound, proved")
        if parametrization == "softmax":
            axis.axhline(found.printed, linestyle=":", color=BLACK, label="as printed")
        axis.set(xlabel="t + 1", title=f"{name}, m = {found.m:.2f}", ylim=(0, None))
    axes[0].set(ylabel="$v_* - v_t$")
    axes[1].legend(loc="lower left")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "model": model,
    "monotonicity": monotonicity,
    "hitting": hitting,
    "softmax": softmax,
    "printed": printed,
    "every-t": every_t,
    "projection": projection,
    "counterexample": counterexample,
}


if __name__ == "__main__":
    draw_all(FIGURES, sys.argv[1:])
