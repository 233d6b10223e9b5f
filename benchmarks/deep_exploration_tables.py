"""The tables of docs/deep-exploration.md, of what is kept of `deep_exploration.py`.

    python benchmarks/deep_exploration_tables.py

results/deep_exploration.json -> results/deep_exploration.md
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import mean, median
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def tables() -> str:
    """The page's tables, of what is kept in results."""
    kept = json.loads((RESULTS / "deep_exploration.json").read_text())
    kept["peers"] = _best(kept["peers"])
    return "\n".join(_table(title, kept[part]) for title, part in TITLES.items() if part in kept)


def _best(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # of each peer on each task: the setting that solves the most runs, and of those the soonest
    def rank(record: dict[str, Any]) -> tuple[int, float]:
        first = [at for at in record["first"] if at >= 0]
        return -len(first), median(first) if first else math.inf

    pairs = dict.fromkeys((record["agent"], record["task"]) for record in records)
    groups = [[r for r in records if (r["agent"], r["task"]) == pair] for pair in pairs]
    return [
        (best := min(group, key=rank))
        | {"label": f"{best['agent']}, {best['task']}, {len(group)} settings: {best['label']}"}
        for group in groups
    ]


TITLES = {
    "DeepSea": "sea",
    "Stochastic DeepSea": "windy",
    "Four Rooms": "rooms",
    "Control, in steps": "control",
    "Swing-up, in steps": "swing",
    "Mazes, in steps": "mazes",
    "DoorKey, in steps": "door",
    "MiniGrid's rooms, in steps": "grids",
    "The same with an earlier default": "before",
    "The same with an earlier default, in steps": "scored_before",
    "What was tried for 0.13, in steps": "chosen_cells",
    "What was tried for 0.13, large seas": "chosen_large",
    "What was tried for 0.12, in steps": "chosen",
    "What was tried for 0.12, stochastic DeepSea": "chosen_windy",
    "Parts and numbers exchanged, in steps": "exchanged",
    "What was added in 0.11, one after another": "added",
    "Parts of 0.10 exchanged": "ablation",
    "Peers, the best of their settings": "peers",
}


def _named(record: dict[str, Any]) -> str:
    task, label = record["task"], record["label"]
    return label if task in label else f"{task}, {label}"


def _table(title: str, records: list[dict[str, Any]]) -> str:
    is_scored = all("scores" in record for record in records)
    last = "mean score at the end" if is_scored else "bsuite"
    rows = [f"| {title} | runs | at most | solved | first solved | latest | kept | {last} |"]
    rows.append("| --- " * 8 + "|")
    for record in records:
        first = [at for at in record["first"] if at >= 0]
        cells = (
            record["task"] if record["label"] == "recommended" else _named(record),
            record["seeds"],
            f"{record['budget']:,}",
            len(first),
            f"{median(first):,.0f}" if first else "-",
            f"{first[-1]:,}" if first else "-",
            f"{record['kept']:.0%}",
            _end_of(record) if is_scored else _counted(record.get("bsuite", [])),
        )
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows) + "\n"


def _end_of(record: dict[str, Any]) -> str:
    means = [
        f"{mean(run[-1] for run in record[name]):.3g} {how}"
        for name, how in (("scores", "greedy"), ("drawn", "drawn"))
        if name in record
    ]
    return ", ".join(means)


def _counted(scored: list[int]) -> str:
    return (
        f"{sum(at >= 0 for at in scored)} by {max(scored):,}" if max(scored, default=0) > 0 else "-"
    )


if __name__ == "__main__":
    (RESULTS / "deep_exploration.md").write_text(tables())
