"""Pictures of exploration with networks, of what is kept of `benchmarks/deep_exploration.py`.

python docs/figures/deep_exploration.py
    benchmarks/results/deep_exploration.json -> docs/_static/deep-exploration-*.png
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import deep_exploration_numbers as numbers
import matplotlib
import numpy as np
from deep_exploration_numbers import FAMILIES, SWING, THRESHOLDS, Kept, Record
from matplotlib.ticker import FuncFormatter, MaxNLocator

from jekyllhyde.intervals import Interval
from jekyllhyde.plotting import BLUE, COLOURS, DASHES, GREEN, RED, new_figure, save_figure

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "deep_exploration.json"
STYLE: dict[Any, Any] = {"font.size": 9, "axes.titlesize": 9, "legend.fontsize": 8}
STYLE |= {"legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False}
WIDTH, GREY = 6.6, "#777777"
LOOKS = [{"color": c, "linestyle": dash} for c, dash in zip(COLOURS, DASHES, strict=True)]
NAMES = {SWING: "Swing-up", "doors": "narrow doors"}
LONG = {"sea": "DeepSea {}", "windy": "Stochastic {}", "rooms": "Four Rooms {}"}
LONG |= {"bends": "Maze, {}", "doors": "Maze, {}"}
COMMAS, PERCENT = FuncFormatter(lambda x, _: f"{x:,.0f}"), FuncFormatter(lambda x, _: f"{x:.0%}")
BEYOND = 1.2  # where the median is drawn if most runs are never solved, in budgets


def short(task: str) -> str:
    """A task's name beside others of its family."""
    kind, _, size = task.partition(":")
    return size or NAMES.get(kind, re.sub(r"^MiniGrid-|-v\d+$", "", kind))


def full(task: str) -> str:
    """A task's name on its own."""
    return LONG.get(task.partition(":")[0], "{}").format(short(task))


def draw_profile(kept: Kept) -> Any:
    """Runs that were solved against dives, episodes and steps, by family."""
    figure, panels = new_figure(2, (WIDTH, 7.8), 3)
    for axes, (family, (pattern, unit)) in zip(panels, FAMILIES.items(), strict=True):
        records = numbers.defaults(kept, pattern)
        for record, look in zip(records, LOOKS, strict=False):
            x, (y, low, high) = numbers.profile(record)
            axes.step(x, y, where="post", label=short(record["task"]), **look)
            begun = (y > 0) | (y.max() == 0)
            band = {"step": "post", "color": look["color"], "alpha": 0.12, "linewidth": 0}
            axes.fill_between(x, low, high, where=begun, **band)
        last = np.max([numbers.latest(record["first"]) for record in records])
        end = np.nanmin([max(record["budget"] for record in records), 1.6 * last])
        axes.set(title=family, xlabel=unit, xlim=(0, end), ylim=(-0.03, 1.03))
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        if family == "Control":
            axes.set(xscale="log", xlim=(1_000, end))
        axes.xaxis.set_major_formatter(COMMAS)
        axes.yaxis.set_major_formatter(PERCENT)
        columns = 3 if unit == "dives" else 2
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.45, -0.24), ncols=columns, handlelength=2.5
        )
    figure.supylabel("runs that were solved", fontsize="medium")
    return figure


def draw_curves(kept: Kept) -> Any:
    """Mean scores against steps, of how the default acts and of the other way."""
    figure, panels = new_figure(2, (WIDTH, 8.6), 4)
    for axes, (task, threshold) in zip(panels, THRESHOLDS.items(), strict=True):
        record = numbers.default_of(kept, task)
        if record is None:
            continue
        axes.axhline(threshold, color=GREY, linewidth=0.8, label="counts as solved")
        way = numbers.played(task)
        steps, (mean, low, high) = numbers.learning_curve(record, way)
        axes.fill_between(steps, low, high, color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(steps, mean, color=BLUE, label="as it acts (greedy; MiniGrid: drawn)")
        steps, (mean, *_) = numbers.learning_curve(record, "drawn" if way == "scores" else "scores")
        axes.plot(steps, mean, "--", color=RED, linewidth=0.9, label="the other way")
        solved = f"{numbers.n_solved(record)} of {record['seeds']} runs solved"
        axes.set(title=f"{full(task)}: {solved}", xlim=(0, record["budget"]))
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter(COMMAS)
        if 0 < threshold < 1:
            axes.set_ylim(-0.03, 1.03)
    for axes in panels[-2:]:
        axes.set_xlabel("steps")
    figure.supylabel("mean score", fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_sea(kept: Kept) -> Any:
    """How the default grows with the size of DeepSea, what it has seen, and who leads."""
    figure, (growth, seen, *shares) = new_figure(2, (WIDTH, 6.4), 2)
    seas = [record for record in kept["sea"] if record["label"] == "recommended"]
    sizes = [numbers.size_of(record["task"]) for record in seas]
    for label, y, look, mark in (
        ("all, by bsuite's rule", [numbers.latest(r["bsuite"]) for r in seas], LOOKS[2], "s"),
        ("all runs", [numbers.latest(r["first"]) for r in seas], LOOKS[1], "^"),
        ("half of the runs", [np.median(numbers.times(r)) for r in seas], LOOKS[0], "o"),
    ):
        growth.plot(sizes, y, marker=mark, markersize=3, label=label, **look)
    states = [n * (n + 1) / 2 for n in sizes]
    growth.plot(sizes, states, color=GREY, linewidth=0.8, label="states in reach")
    growth.set(title="Dives until it is solved", xlabel="size", xscale="log", yscale="log")
    growth.set(xticks=[10, 20, 30, 50], yticks=[100, 200, 500, 1_000])
    growth.minorticks_off()
    growth.legend()
    pattern, unit = FAMILIES["DeepSea, by size"]
    for record, look in zip(numbers.defaults(kept, pattern), LOOKS, strict=False):
        label = short(record["task"])
        seen.plot(*numbers.coverage(record), marker="o", markersize=2.5, label=label, **look)
    seen.set(title="States in reach that were seen", xlabel=unit, ylim=(0, 1.03), xscale="log")
    seen.yaxis.set_major_formatter(PERCENT)
    seen.legend(title="size")
    for axis in (growth.xaxis, growth.yaxis, seen.xaxis):
        axis.set_major_formatter(COMMAS)
    patterns = [pattern for pattern, _ in FAMILIES.values()]
    for axes, chosen in zip(shares, (patterns[:3], patterns[3:]), strict=True):
        draw_shares(axes, [r for pattern in chosen for r in numbers.defaults(kept, pattern)])
    return figure


def draw_shares(axes: Any, records: list[Record]) -> None:
    """Hyde's part of the steps, a bar for each task."""
    tasks = [full(record["task"]) for record in records]
    axes.barh(tasks, [record["hyde"] for record in records], color=BLUE, height=0.6)
    axes.set(title="Steps that Hyde took", xlim=(0, 1), xticks=[0, 0.5, 1])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(PERCENT)
    axes.tick_params(axis="y", length=0)


def draw_parts(kept: Kept) -> Any:
    """How many runs are solved with each part exchanged, and when, on four tasks."""
    rows = numbers.changes(kept)
    tasks, n_parts = list(rows["nothing"]), len(rows) - len(numbers.PEERS)
    places = np.arange(len(rows)) + 0.7 * (np.arange(len(rows)) >= n_parts)
    looks = [(RED, "D"), *[(BLUE, "o")] * (n_parts - 1), *[(GREEN, "s")] * len(numbers.PEERS)]
    figure, panels = new_figure(len(tasks), (WIDTH, 6.8), 2)
    for task, top, bottom in zip(tasks, panels, panels[len(tasks) :], strict=False):
        budget = rows["nothing"][task]["budget"]
        end = BEYOND * budget
        for records, place, (colour, mark) in zip(rows.values(), places, looks, strict=True):
            if task in records:
                median = numbers.median_time(records[task], end)
                solved = numbers.percent_solved(records[task])
                draw_dot(top, place, solved, colour, mark)
                draw_dot(bottom, place, median, colour, mark if median[0] < end else ">")
        unit = next(unit for name, unit in FAMILIES.values() if re.fullmatch(name, task))
        top.set(title=full(task), xlabel="solved, %", xlim=(-3, 103), xticks=[0, 50, 100])
        bottom.set(xlabel=f"median, {unit}", xlim=(0, end), xticks=[0, budget])
        bottom.xaxis.set_major_formatter(COMMAS)
    names = ["nothing (0.10's default)", *list(rows)[1:]]
    for axes in panels:
        axes.set(ylim=(places[-1] + 0.6, -0.6), yticks=places)
        axes.set_yticklabels(names if axes in (panels[0], panels[len(tasks)]) else [])
        axes.grid(axis="y", color="#dddddd", linewidth=0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_axisbelow(True)
    return figure


def draw_dot(axes: Any, place: float, interval: Interval, colour: str, mark: str) -> None:
    y, low, high = map(float, interval)
    axes.plot([low, high], [place, place], color=colour, linewidth=1.2)
    axes.plot(y, place, mark, color=colour, markersize=4, clip_on=False)


PICTURES = {
    "profile": draw_profile,
    "curves": draw_curves,
    "sea": draw_sea,
    "parts": draw_parts,
}


def main(results: Path = RESULTS, folder: Path = ROOT / "docs" / "_static") -> None:
    kept = json.loads(results.read_text())
    with matplotlib.rc_context(STYLE):
        for name, draw in PICTURES.items():
            save_figure(draw(kept), folder / f"deep-exploration-{name}.png")


if __name__ == "__main__":
    main()
