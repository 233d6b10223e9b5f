"""Tables of the deep experiments, small enough to keep: what `benchmarks/deep_study.py --out DIR`
wrote -> docs/figures/deep-*.csv. `deep.py summarize DIR` calls it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.intervals import summarize as estimate

HERE = Path(__file__).resolve().parent
WITHIN = 0.5
SETTLED = 300  # episodes, after which an evaluation that is not solved is missed
ROOMS = ("paper", "cross_entropy")
MEASURED = ("entropy", "action_gap", "critic_error", "trapped", "coverage_hyde", "batch_share")
Rows = list[dict[str, Any]]
Runs = Sequence[tuple[str, str, str, Callable[[str], Any]]]


def summarize(folder: Path) -> None:
    """Means over seeds, in tables small enough to keep, of the parts that the folder has."""
    parts = {
        "rules": [summary_of_rules, policies_of_rooms],
        "figure3": [summary_of_figure3],
        "conventions": [summary_of_conventions],
        "sweeps": [summary_of_sweeps, seeds_of_sweeps],
    }
    for part, summaries in parts.items():
        if (folder / f"{part}.npz").exists():
            runs = runs_of(np.load(folder / f"{part}.npz"))
            for summary in summaries:
                name, rows = OTHER_NAMES.get(summary, part), summary(runs)
                table(name, with_other_calls(name, rows) if part == "sweeps" else rows)


def summary_of_rules(runs: Runs) -> Rows:
    return [
        {
            "rule": name,
            "level": level,
            "episode": episode,
            "exact_score": get("exact_score")[:, i].mean(),
            "solved": solved(get)[:, i].mean(),
            **{what: get(what)[:, i].mean() for what in MEASURED},
        }
        for name, level, _, get in runs
        for i, episode in enumerate(get("episode"))
    ]


def policies_of_rooms(runs: Runs) -> Rows:
    return [
        {"rule": name, "state": s, **{f"pi_{a}": p for a, p in enumerate(pi)}}
        for name, level, _, get in runs
        if name in ROOMS and level == "2"
        for s, pi in enumerate(get("pi")[0])
    ]


def summary_of_figure3(runs: Runs) -> Rows:
    rows: Rows = []
    for name, level, _, get in runs:
        exact, (agent, config) = get("exact_score").astype(float), name.split()
        middle, lo, hi = estimate(exact, "iqm")
        rows += [
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
                "seeds": len(exact),
            }
            for i, episode in enumerate(get("episode"))
        ]
    return rows


def summary_of_conventions(runs: Runs) -> Rows:
    rows: Rows = []
    for name, level, _, get in runs:
        exact = get("exact_score")[:, -1].astype(float)
        middle, lo, hi = map(float, estimate(exact, "mean"))
        rows.append(
            {
                "convention": name,
                "level": level,
                "seeds": len(exact),
                "episodes": get("episode")[-1],
                "solved": int(solved(get)[:, -1].sum()),
                "exact_score": middle,
                "exact_score_lo": lo,
                "exact_score_hi": hi,
                "diverged": int(get("diverged").sum()),
            }
        )
    return rows


def summary_of_sweeps(runs: Runs) -> Rows:
    rows: Rows = []
    for name, level, setting, get in runs:
        exact = get("exact_score")[:, -1]
        rows.append(
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
                "seeds": len(exact),
            }
        )
    return rows


def seeds_of_sweeps(runs: Runs) -> Rows:
    """Per seed the score at the end, the first solved evaluation (0 where there is none), and the
    share of those after SETTLED that are missed.
    """
    rows: Rows = []
    for name, level, setting, get in runs:
        what, value = setting.split("=")
        episode, is_solved = np.asarray(get("episode")), solved(get)
        first = np.where(is_solved.any(1), episode[is_solved.argmax(1)], 0)
        missed = 1.0 - is_solved[:, episode > SETTLED].mean(1)
        ends = (get("exact_score")[:, -1], first, missed, np.asarray(get("diverged"), int))
        columns = ("exact_score", "first", "missed", "diverged")
        rows += [
            {"call": name, "level": level, "what": what, "value": value, "seed": seed}
            | dict(zip(columns, numbers, strict=True))
            for seed, numbers in enumerate(zip(*ends, strict=True))
        ]
    return rows


OTHER_NAMES = {policies_of_rooms: "rooms", seeds_of_sweeps: "sweep-seeds"}


def runs_of(stored: Any) -> list[tuple[str, str, str, Callable[[str], Any]]]:
    """Call, level, setting, and a function that gets an array of theirs."""
    labels = dict.fromkeys(name.rsplit("/", 1)[0] for name in stored.files)
    return [
        (*label.split("/"), lambda what, label=label: stored[f"{label}/{what}"]) for label in labels
    ]  # type: ignore[misc]


def with_other_calls(name: str, rows: Rows) -> Rows:
    """These rows, and those of calls that were summarized before and are not among them."""
    path, calls = HERE / f"deep-{name}.csv", {row["call"] for row in rows}
    if not path.is_file():
        return rows
    with path.open(newline="") as file:
        before = list(csv.DictReader(file))
    return rows + [row for row in before if row["call"] not in calls]


def solved(get: Callable[[str], Any]) -> Any:
    return get("exact_score") >= get("optimum") - WITHIN


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
