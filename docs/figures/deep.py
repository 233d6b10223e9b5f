"""Pictures of the deep experiments.

python docs/figures/deep.py summarize DIR    what `benchmarks/deep_study.py --out DIR` wrote -> docs/figures/deep-*.csv
python docs/figures/deep.py                  those tables -> docs/_static/deep-*.png
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from jekyllhyde.mdp.rooms import layout

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "_static"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#888888")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 3)))
WITHIN = 0.5
ROOMS = ("paper", "cross_entropy")
TRAPPED = 1e-3
MEASURED = ("entropy", "action_gap", "critic_error", "trapped", "coverage_hyde", "batch_share")
Rows = list[dict[str, Any]]


def summarize(folder: Path) -> None:
    """Means over seeds, in tables small enough to keep."""
    rules, rooms = np.load(folder / "rules.npz"), []
    rows: Rows = []
    for name, level, _, get in runs_of(rules):
        rows += [
            {
                "rule": name,
                "level": level,
                "episode": episode,
                "exact_score": get("exact_score")[:, i].mean(),
                "solved": solved(get)[:, i].mean(),
                **{what: get(what)[:, i].mean() for what in MEASURED},
            }
            for i, episode in enumerate(get("episode"))
        ]
        if name in ROOMS and level == "2":
            policy = enumerate(get("pi")[0])
            rooms += [
                {"rule": name, "state": s, **{f"pi_{a}": p for a, p in enumerate(pi)}}
                for s, pi in policy
            ]
    table("rules", rows)
    table("rooms", rooms)
    figure3: Rows = []
    for name, level, _, get in runs_of(np.load(folder / "figure3.npz")):
        exact, (agent, config) = get("exact_score").astype(float), name.split()
        middle, (lo, hi) = iqm(exact), interval(exact)
        figure3 += [
            {
                "agent": agent,
                "config": config,
                "level": level,
                "episode": episode,
                "score": get("score")[:, i].mean(),
                "exact_score": exact[:, i].mean(),
                "deviation": exact[:, i].std(),
                "iqm": middle[i],
                "iqm_lo": lo[i],
                "iqm_hi": hi[i],
                "solved": solved(get)[:, i].mean(),
                "diverged": int(get("diverged").sum()),
            }
            for i, episode in enumerate(get("episode"))
        ]
    table("figure3", figure3)
    sweeps: Rows = []
    for name, level, setting, get in runs_of(np.load(folder / "sweeps.npz")):
        exact = get("exact_score")[:, -1]
        sweeps.append(
            {
                "call": name,
                "level": level,
                "what": setting.split("=")[0],
                "value": setting.split("=")[1],
                "exact_score": exact.mean(),
                "deviation": exact.std(),
                "late": get("exact_score")[:, -10:].mean(),
                "solved": solved(get)[:, -1].mean(),
                "diverged": int(get("diverged").sum()),
            }
        )
    table("sweeps", sweeps)


def runs_of(stored: Any) -> list[tuple[str, str, str, Callable[[str], Any]]]:
    """Call, level, setting, and a function that gets an array of theirs."""
    labels = dict.fromkeys(name.rsplit("/", 1)[0] for name in stored.files)
    return [
        (*label.split("/"), lambda what, label=label: stored[f"{label}/{what}"]) for label in labels
    ]  # type: ignore[misc]


def solved(get: Callable[[str], Any]) -> Any:
    return get("exact_score") >= get("optimum") - WITHIN


def iqm(values: Any) -> Any:
    """The mean of the middle half of the seeds, at each evaluation."""
    ordered = np.sort(values, axis=-2)
    quarter = values.shape[-2] // 4
    return ordered[..., quarter : values.shape[-2] - quarter, :].mean(-2)


def interval(values: Any) -> Any:
    """Its 95 % bootstrap interval over seeds."""
    draws = np.random.default_rng(0).integers(len(values), size=(2000, len(values)))
    return np.percentile(iqm(values[draws]), [2.5, 97.5], axis=0)


def table(name: str, rows: Rows) -> None:
    with (HERE / f"deep-{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            [
                {
                    key: f"{v:.5g}" if isinstance(v, (float, np.floating)) else v
                    for key, v in row.items()
                }
                for row in rows
            ]
        )


def read(name: str) -> Rows:
    with (HERE / f"deep-{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def curve(rows: Rows, what: str, **where: str) -> tuple[list[float], list[float]]:
    chosen = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return [float(row["episode"]) for row in chosen], [float(row[what]) for row in chosen]


def figure(columns: int, rows: int = 1, width: float = 4.4, height: float = 3.5) -> tuple[Any, Any]:
    made = Figure(figsize=(width * columns, height * rows), dpi=150, layout="constrained")
    axes = made.subplots(rows, columns, squeeze=False)
    for one in axes.ravel():
        one.spines[["top", "right"]].set_visible(False)
    return made, axes.ravel()


def legend(made: Any, axes: Any) -> None:
    made.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize="small",
    )


def draw_rules(rows: Rows) -> None:
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    made, axes = figure(2)
    for level, one in zip("12", axes, strict=True):
        for i, rule in enumerate(rules):
            one.plot(
                *curve(rows, "exact_score", rule=rule, level=level),
                color=COLOURS[i],
                linestyle=DASHES[i],
                label=rule,
            )
        one.set(
            title=f"level {level}",
            xlabel="training episodes",
            ylabel="exact score of the greedy policy",
            ylim=(-12, 93),
        )
    legend(made, axes[0])
    made.savefig(STATIC / "deep-rules.png")
    titles = {
        "entropy": "policy entropy, nats",
        "trapped": "states with the optimal actions ruled out",
        "critic_error": "critic's error, mean |q - exact q|",
        "action_gap": "gap between the critic's two best actions",
        "coverage_hyde": "states that Hyde has seen",
        "batch_share": "goal transitions in a batch",
    }
    made, axes = figure(3, 2, 3.6, 2.7)
    for (what, title), one in zip(titles.items(), axes, strict=True):
        for i, rule in enumerate(rules):
            one.plot(
                *curve(rows, what, rule=rule, level="2"),
                color=COLOURS[i],
                linestyle=DASHES[i],
                label=rule,
            )
        one.set_title(title, fontsize="small")
        one.set_ylim(bottom=0)
    axes[2].set_ylim(0, 30)  # normalized_advantage once leaves it
    axes[3].set_ylim(0, 7)
    axes[4].set_xlabel("training episodes, level 2")
    legend(made, axes[0])
    made.savefig(STATIC / "deep-collapse.png")


def draw_rooms(rows: Rows) -> None:
    """The policies of one seed after training; red where no optimal action has a probability above
    0.001.
    """
    rooms, made = layout(2), figure(2, 1, 4.0, 4.0)
    for rule, one in zip(ROOMS, made[1], strict=True):
        pi = np.array(
            [[float(row[f"pi_{a}"]) for a in range(4)] for row in rows if row["rule"] == rule]
        )
        ruled_out = (pi * optimal_actions()).sum(1) < TRAPPED
        grid = np.full((*rooms.free.shape, 3), 0.24)
        grid[tuple(rooms.cell.T)] = np.where(
            ruled_out[:, None], (0.95, 0.62, 0.52), (0.93, 0.93, 0.93)
        )
        grid[tuple(rooms.cell[rooms.goal])] = (0.9, 0.62, 0.0)
        one.imshow(grid)
        u, v = (pi @ np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])).T
        u[rooms.goal] = v[rooms.goal] = 0.0
        one.quiver(
            rooms.cell[:, 1],
            rooms.cell[:, 0],
            u,
            v,
            angles="xy",
            scale=1.4,
            scale_units="xy",
            width=0.006,
            pivot="middle",
        )
        one.set(xticks=[], yticks=[], title=rule)
    made[0].savefig(STATIC / "deep-rooms.png")


def optimal_actions() -> Any:
    """Which actions [S, A] are optimal; none in the goal, which is never ruled out then."""
    from jekyllhyde.mdp.rooms import four_rooms

    mdp = four_rooms(2)
    q = mdp.optimal().q
    best = q >= q.max(1, keepdims=True) - 1e-9
    return best | mdp.is_terminal[:, None]


def draw_figure3(rows: Rows) -> None:
    series = [
        ("jekyll_hyde", "recommended"),
        ("jekyll_hyde", "published"),
        ("jekyll_hyde", "paper"),
    ]
    series += [(agent, "published") for agent in ("ddqn", "sac", "ddqn_rnd", "sac_rnd")]
    names = {
        "jekyll_hyde": "J&H",
        "ddqn": "DDQN",
        "sac": "SAC",
        "ddqn_rnd": "DDQN+RND",
        "sac_rnd": "SAC+RND",
    }
    made, axes = figure(2)
    for level, one in zip("12", axes, strict=True):
        for i, (agent, config) in enumerate(series):
            where = {"agent": agent, "config": config, "level": level}
            x, mean = curve(rows, "exact_score", **where)
            deviation = np.array(curve(rows, "deviation", **where)[1])
            one.plot(
                x, mean, color=COLOURS[i], linestyle=DASHES[i], label=f"{names[agent]}, {config}"
            )
            one.fill_between(
                x, mean - deviation, mean + deviation, color=COLOURS[i], alpha=0.1, linewidth=0
            )
        one.set(
            title=f"level {level}",
            xlabel="training episodes",
            ylabel="exact score of the greedy policy",
            ylim=(-25, 100),
        )
    legend(made, axes[0])
    made.savefig(STATIC / "deep-figure3.png")


def draw_sweeps(rows: Rows) -> None:
    """Final scores against learning rates."""
    series = [
        ("jekyll_hyde", "eta"),
        ("ddqn", "eta_c"),
        ("ddqn 64-64", "eta_c"),
        ("ddqn_rnd", "eta_c"),
    ]
    series += [("ddqn_rnd 64-64", "eta_c"), ("sac", "eta"), ("sac_rnd", "eta")]
    made, axes = figure(2)
    for level, one in zip("12", axes, strict=True):
        for i, (call, what) in enumerate(series):
            chosen = [
                row
                for row in rows
                if (row["call"], row["what"], row["level"]) == (call, what, level)
            ]
            values = [float(row["value"]) for row in chosen]
            one.plot(
                values,
                [float(row["exact_score"]) for row in chosen],
                color=COLOURS[i],
                linestyle=DASHES[i],
                marker=".",
                label=call,
            )
        one.set(
            title=f"level {level}",
            xlabel="learning rate",
            ylabel="exact score after 500 episodes",
            xscale="log",
        )
    legend(made, axes[0])
    made.savefig(STATIC / "deep-sweeps.png")


def main() -> None:
    if sys.argv[1:2] == ["summarize"]:
        summarize(Path(sys.argv[2]))
    draw_rules(read("rules"))
    draw_rooms(read("rooms"))
    draw_figure3(read("figure3"))
    draw_sweeps(read("sweeps"))


if __name__ == "__main__":
    main()
