"""The tables of docs/deep.md: Figure 3, what is said of it, the sweeps of learning rates, and
agents at their best; and that of the conventions in docs/differences.md. From docs/results and
from docs/figures/deep-*.csv, which `deep.py summarize` writes.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from markdown_tables import escaped, table
from stored_results import Result

from jekyllhyde.intervals import share

HERE = Path(__file__).resolve().parent
NAMES = {
    "jekyll_hyde": "J&H",
    "ddqn": "DDQN",
    "sac": "SAC",
    "ddqn_rnd": "DDQN+RND",
    "sac_rnd": "SAC+RND",
}
ORDER = ("recommended", "published", "released", "paper")
# what the appendix names as the best of what it swept
STATED = {"jekyll_hyde": 0.001, "ddqn": 0.01, "ddqn_rnd": 0.01, "sac": 0.01, "sac_rnd": 0.001}
# whose convention a row of the study is, and what it changes
CONVENTIONS = {
    "published": ("", "nothing"),
    "fixed random table of states": (
        "text",
        "states are rows of a fixed random table, not of one that each network trains",
    ),
    "last K transitions": (
        "text",
        "Jekyll's half of a batch is his last 128 transitions, not a draw from all",
    ),
    "one critic without a target": (
        "text",
        "one critic that is its own target, not the smaller of two with slow targets",
    ),
    "actor rule of the text": ("text", "the actor follows the policy gradient (`paper`)"),
    "q after the critic's update": ("text", "the actor sees q after the critic's update"),
    "epsilon of the text": (
        "text",
        "$\\epsilon_t = \\epsilon_1 / t$, not $1 / (1 + (t - 400) / \\epsilon_1)$",
    ),
    "no warm-up": ("text", "learns from the first step on, not after 400 uniform actions"),
    "Hyde's target ends": ("text", "Hyde's target is cut where episodes end"),
    "bonus of s'": ("text", "one pair of RND networks on s', not one on s for each action"),
    "smaller target of RND": ("text", "RND's target has one hidden layer, not two"),
    "no clipping": ("text", "gradients are not clipped, and Adam's epsilon is 1e-8, not 1e-4"),
    "released: RND's first weights": (
        "release",
        "RND's first weights and biases are within 1/sqrt(fan in), not Xavier's",
    ),
    "released: shared first weights, biases": (
        "release",
        "networks have first weights of each other, and biases that are not 0",
    ),
    "released: RND's loss": (
        "release",
        "each predictor has the mean loss of its own samples, and its own clipping",
    ),
    "released": ("release", "the three above together"),
}
Rows = Sequence[Mapping[str, str]]


def read(name: str) -> list[dict[str, str]]:
    with (HERE / f"deep-{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def sweep_seeds() -> list[dict[str, str]]:
    """The sweeps by seed; none where they have not been run with what this needs."""
    return read("sweep-seeds") if (HERE / "deep-sweep-seeds.csv").is_file() else []


def figure3_table(rows: Rows) -> str:
    """The greedy policies' exact scores at the end of training, by agent and configuration."""
    last = max(int(row["episode"]) for row in rows)
    ends = {
        (row["agent"], row["config"], row["level"]): row
        for row in rows
        if int(row["episode"]) == last
    }
    lines = []
    for agent, name in NAMES.items():
        for config in ORDER:
            if (agent, config, "1") in ends:
                both = [end_of(ends[agent, config, level]) for level in "12"]
                lines.append((f"{name}, `{config}`", *both[0], *both[1]))
    head = [f"level {level}{what}" for level in "12" for what in ("", ", IQM", ", solved")]
    return table(("", *head), lines) + "\n"


def end_of(row: Mapping[str, str]) -> tuple[str, str, str]:
    mean, deviation, iqm, lo, hi = (
        f"{float(row[name]):.1f}"
        for name in ("exact_score", "deviation", "iqm", "iqm_lo", "iqm_hi")
    )
    seeds, diverged = int(row["seeds"]), int(row["diverged"])
    solved = f"{round(float(row['solved']) * seeds)} of {seeds}"
    return (
        f"{mean} ± {deviation}",
        f"{iqm} [{lo}, {hi}]",
        solved + f" ({diverged})" * bool(diverged),
    )


def claims_of_figure3(results: Mapping[str, Result]) -> str:
    """What the page of figures says of Figure 3, in the same words."""
    lines = [
        (
            f"{{ref}}`{claim['id']} <claim-{claim['id']}>`",
            escaped(claim["claim"]),
            f"**{claim['verdict']}**",
        )
        for name, result in results.items()
        if name.startswith("3")
        for claim in result.claims
    ]
    return table(("claim", "what the paper says", "verdict"), lines) + "\n"


def sweeps_table(rows: Rows) -> str:
    """The best learning rate of each agent, and the one that the paper found."""
    lines = []
    for call in dict.fromkeys(row["call"] for row in rows if row["what"] in ("eta", "eta_c")):
        for level in "12":
            swept = [
                row
                for row in rows
                if row["call"] == call and row["level"] == level and row["what"] in ("eta", "eta_c")
            ]
            best = max(swept, key=lambda row: float(row["exact_score"]))
            agent, _, width = call.partition(" ")
            stated = next(row for row in swept if float(row["value"]) == STATED[agent])
            name = f"{NAMES[agent]}{', ' * bool(width)}{width}"
            lines.append((name, level, *rate_of(best), *rate_of(stated)))
    head = ("best rate", "score", "solved", "the paper's rate", "score", "solved")
    return table(("", "level", *head), lines) + "\n"


def best_table(rows: Rows) -> str:
    """Each agent at its best learning rate: median episode of the first solved evaluation, and the
    share of evaluations that are missed later on. Rows are of single seeds.
    """
    lines = []
    for call in dict.fromkeys(row["call"] for row in rows if row["what"] in ("eta", "eta_c")):
        agent, _, width = call.partition(" ")
        name = f"{NAMES[agent]}{', ' * bool(width)}{width}"
        lines.append((name, *(text for level in "12" for text in at_best(rows, call, level))))
    head = [f"level {level}: {what}" for level in "12" for what in ("rate", "first", "missed")]
    return table(("", *head), lines) + "\n"


def at_best(rows: Rows, call: str, level: str) -> tuple[str, str, str]:
    seeds: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        if row["call"] == call and row["level"] == level and row["what"] in ("eta", "eta_c"):
            seeds.setdefault(row["value"], []).append(row)
    best = max(
        seeds, key=lambda value: np.mean([float(row["exact_score"]) for row in seeds[value]])
    )
    times = [float(row["first"]) or np.inf for row in seeds[best]]
    missed = np.mean([float(row["missed"]) for row in seeds[best]])
    middle, ever = np.median(times), np.isfinite(times).sum()
    first = f"{middle:.0f}" if np.isfinite(middle) else "never"
    some = f" ({ever} of {len(times)} seeds)" if ever < len(times) else ""
    return best, first + some, f"{100 * missed:.1f} %"


def rate_of(row: Mapping[str, str]) -> tuple[str, str, str]:
    seeds = int(row["seeds"])
    solved = f"{round(float(row['solved']) * seeds)} of {seeds}"
    return row["value"], f"{float(row['exact_score']):.1f}", solved


def conventions_table(rows: Rows) -> str:
    """J&H as published with one thing at a time as the paper's text, or the release, has it."""
    lines = []
    for row in rows:
        whose, change = CONVENTIONS[row["convention"]]
        seeds, solved = int(row["seeds"]), int(row["solved"])
        _, low, high = share(np.arange(seeds) < solved)
        score, lo, hi = (
            f"{float(row[name]):.1f}"
            for name in ("exact_score", "exact_score_lo", "exact_score_hi")
        )
        lines.append(
            (
                row["convention"].removeprefix("released: "),
                whose,
                change,
                f"{solved} of {seeds}" + f" ({row['diverged']})" * (row["diverged"] != "0"),
                f"{100 * solved / seeds:.0f} % [{100 * low:.0f}, {100 * high:.0f}]",
                f"{score} [{lo}, {hi}]",
            )
        )
    head = ("row", "as in the", "what it changes", "solved", "share", "mean exact score")
    return table(head, lines) + "\n"
