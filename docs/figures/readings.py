"""Write docs/results/readings.md: every reading that was changed after numbers had been seen.

python docs/figures/readings.py

The rows are facts of this project's history; the verdicts of today are those in docs/results.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

RESULTS = Path(__file__).resolve().parent.parent / "results"


def main() -> None:
    judged = {
        claim["id"]: claim["verdict"]
        for path in sorted(RESULTS.glob("*.claims.json"))
        for claim in json.loads(path.read_text())
    }
    with (RESULTS / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {
        (when, way): sum(row["when"] == when and row["way"] == way for row in rows)
        for when in ("first", "second")
        for way in ("softer", "harder")
    }
    lines = [
        f"Of the first change {counts['first', 'softer']} claims were read softer and "
        f"{counts['first', 'harder']} harder; of the second {counts['second', 'softer']} softer "
        f"and {counts['second', 'harder']} harder.",
        "",
        "| claim | change | way | before | after | verdict then | today |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row['claim']} | {row['when']} | {row['way']} | {row['before']} | {row['after']} "
            f"| {row['moved']} | {judged.get(row['claim'], '-')} |"
            for row in rows
        ),
    ]
    (RESULTS / "readings.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
