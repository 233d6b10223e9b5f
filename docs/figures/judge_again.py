"""Judge the claims of docs/results anew, where sentences or readings changed.

python docs/figures/judge_again.py [STORE ...]

What was measured and is in docs/results stands as it is. What is new is made of the means that were
kept (`kept_curves`) or of the seeds of Figure 3's sweeps, else measured on the runs of the first
store that has the panel. A claim for which there is nothing of all this stays as it was, and so do
all curves.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache

from kept_curves import without_runs
from paper import curves_of
from stored_results import RESULTS, Result, read_results

from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.judgement import judge_claim
from jekyllhyde.lab.panel import Claim, Curves, Others
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import JudgedClaim, Undecided


def main() -> None:
    results = read_results()
    ways = [curves_from(stores, results) for stores in ([], [Store.open(p) for p in sys.argv[1:]])]
    for name, result in results.items():
        records = []
        for claim, before in zip(PANELS[name].claims, result.claims, strict=True):
            record = before
            for way in ways:
                judged, is_complete = judge_one(name, claim, way)
                if is_complete:
                    record = judged.record()
                    break
            if record["parts"] != before["parts"] or record["verdict"] != before["verdict"]:
                print(claim.id, before["verdict"], "->", record["verdict"])
            elif not is_complete:
                print(claim.id, "as it was:", judged.reason)
            records.append(record)
        (RESULTS / f"{name}.claims.json").write_text(json.dumps(records, indent=1) + "\n")


def curves_from(stores: Sequence[Store], results: Mapping[str, Result]) -> Others:
    """A way to the curves of every panel: with the runs that the stores have, else as kept."""

    @cache
    def curves(name: str) -> Curves:
        try:
            return without_runs(name, results, curves_of(stores, None, name))
        except Undecided:
            return without_runs(name, results)

    return curves


def judge_one(name: str, claim: Claim, way: Others) -> tuple[JudgedClaim, bool]:
    """A claim about a panel, and whether runs that are not at hand would tell no more of it."""
    lacking = []

    def others(panel: str) -> Curves:
        curves = way(panel)
        if not curves.samples:
            lacking.append(panel)
        return curves

    judged = judge_claim(claim, others(name), others)
    return judged, judged.verdict == "not testable" or not (judged.reason and lacking)


if __name__ == "__main__":
    main()
