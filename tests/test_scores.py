"""The README's table of scores is what the runs say."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (\S+-v\d), (-?\d+) in ([\d,]+) steps \| (.*) \|$", re.MULTILINE)


def test_the_readme_says_how_many_seeds_solve_a_task() -> None:
    lines = (ROOT / "benchmarks" / "results" / "scores.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    text = (ROOT / "README.md").read_text()
    head = next(line for line in text.splitlines() if line.startswith("| | J&H | SB3"))
    methods = [name.strip().replace("J&H", "jekyll-hyde") for name in head.split("|")[2:-1]]
    found = ROW.findall(text)
    assert len(found) == 3
    for task, level, steps, cells in found:
        for method, cell in zip(methods, cells.split(" | "), strict=True):
            runs = [row for row in rows if (row["task"], row["method"]) == (task, method)]
            assert {row["steps"] for row in runs} == {int(steps.replace(",", ""))}
            assert len({row["seed"] for row in runs}) == len(runs)
            solved = sum(row["best"] >= float(level) for row in runs)
            assert cell == f"{solved} of {len(runs)}", (task, method)
