"""Verdicts on the claims about a panel, alone or beside other panels."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from jekyllhyde.lab.panel import Claim, Curves, Others, Panel, has_runs, read
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.verdicts import (
    Estimate,
    JudgedClaim,
    Part,
    Range,
    Undecided,
    Untestable,
    verdict,
)

UNKNOWN = Part("", "", Estimate(np.nan, -np.inf, np.inf), Range(0.0, 0.0))


def judge(curves: Curves, others: Others | None = None) -> list[JudgedClaim]:
    """Every claim about the panel, with its verdict and the numbers that it rests on.

    others : gives the curves of another panel by name, for claims that set panels beside each
        other; `from_store` and `among` make one.
    """
    return [judge_claim(claim, curves, others or among([])) for claim in curves.panel.claims]


def judge_claim(claim: Claim, curves: Curves, others: Others) -> JudgedClaim:
    """The verdict on a claim. What the runs at hand lack is a part that nobody can tell."""
    judged = partial(JudgedClaim, claim.id, claim.text, place=claim.place)
    if curves.cap < claim.horizon:
        length = f"the sentence is about {claim.horizon} {curves.panel.unit}"
        reason = f"{length}, these runs have {curves.cap}"
        return judged("undecided", (), reason)
    parts: list[Part] = []
    reasons: list[str] = []
    for test in claim.tests:
        try:
            parts += test(curves, others)
        except Untestable as reason:
            return judged("not testable", (), str(reason))
        except Undecided as reason:
            reasons.append(str(reason))
    return judged(
        verdict([*parts, *[UNKNOWN] * len(reasons)]),
        tuple(parts),
        "; ".join(dict.fromkeys(reasons)),
    )


def from_store(panels: Mapping[str, Panel], store: Store) -> Others:
    """A way to the curves of these panels, as far as the store has runs of them."""

    def others(name: str) -> Curves:
        if name not in panels or not has_runs(panels[name], store):
            raise Undecided(f"it needs runs of panel {name} with the present settings")
        return read(panels[name], store)

    return others


def among(curves: Sequence[Curves]) -> Others:
    """A way to those of these curves that a claim needs."""
    by_name = {each.panel.name: each for each in curves}

    def others(name: str) -> Curves:
        if name not in by_name:
            raise Undecided(f"it needs panel {name} beside this one")
        return by_name[name]

    return others
