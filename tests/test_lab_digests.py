"""Digests: runs stored by version 0.1 are found by this one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jekyllhyde.lab.cell_settings import stored
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.figures.shared_experiments import JEKYLL_HYDE, ON_POLICY, ON_POLICY_1, UCB
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.spec import Experiment

STORED = json.loads((Path(__file__).parent / "digests-0.1.json").read_text())
EXPERIMENTS = {
    panel.experiment.name: panel.experiment
    for panel in PANELS.values()
    if isinstance(panel.experiment, Experiment)
}


def with_replay(table: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A series of version 0.1 on random MDPs."""
    return {**table, "batch": 4, **settings}


def earlier(experiment: Experiment) -> Experiment:
    """The experiment as version 0.1 had it: random MDPs from seed 0 on, and the settings and the
    axis that have changed since.
    """
    problem = {key: value for key, value in experiment.problem.items() if key != "seed"}
    jekyll = tuple(with_replay(table, hyde_eta=1.0) for table in JEKYLL_HYDE)
    replayed = tuple(with_replay(table, replay=True) for table in ON_POLICY)
    bonus = tuple(
        with_replay(table, replay=True, label=f"{table['label']} batch=4") for table in UCB
    )
    larger = tuple(
        with_replay(table, replay=True, eta=4.0, label=f"{table['label']} batch=4 eta=4")
        for table in ON_POLICY[:2]
    )
    fewer_points = {**experiment.settings, "points": 500}
    changes: dict[str, dict[str, Any]] = {
        "fig2b": {
            "series": jekyll + replayed + UCB + ON_POLICY_1 + bonus + larger,
            "settings": fewer_points,
        },
        "fig9c": {"series": jekyll + replayed + ON_POLICY_1[:2], "settings": fewer_points},
        "fig16b": {"vary": {"epsilon": {"from": 0.0, "to": 1.0, "step": 0.05}}},
        "fig16b-jekyll": {"vary": {"epsilon": {"from": 0.0, "to": 1.0, "step": 0.02}}},
    }
    return replace(experiment, problem=problem, **changes.get(experiment.name, {}))


@pytest.mark.parametrize("name", STORED)
def test_digests_are_those_of_version_0_1(name: str) -> None:
    experiment = earlier(EXPERIMENTS[name])
    if METHODS[experiment.method].extra is not None:
        pytest.importorskip("jax")
    cells = {cell.id: cell.digest for cell in experiment.cells}
    assert {id: cells[id] for id in STORED[name]["cells"]} == STORED[name]["cells"]
    assert experiment.digest == STORED[name]["digest"]


SEA = {"name": "deep_sea", "n": 5}


def test_the_easy_sea_is_the_one_that_version_0_1_stored() -> None:
    def digest(**options: Any) -> str:
        series, settings = [{"label": "PG"}], {"updates": 20}
        return Experiment("sea", "plan", SEA | options, series, settings).cells[0].digest

    assert digest(mapping="easy") == "0518e8a9eac80cca"
    assert digest() == digest(mapping="random", mapping_seed=42) != digest(mapping="easy")
    others: list[dict[str, Any]] = [
        {"mapping": "easy", "stochastic": True},
        {"stochastic": True},
        {"mapping_seed": 1},
    ]
    assert len({digest(), digest(mapping="easy"), *(digest(**each) for each in others)}) == 5


def test_a_new_option_counts_only_where_it_is_not_at_its_default() -> None:
    defaults = {"n_states": 10, "beta": 0.95, "wind": 0.0}
    assert stored("chain", defaults, defaults) == {"n_states": 10, "beta": 0.95}
    assert stored("chain", defaults | {"wind": 0.5}, defaults)["wind"] == 0.5
    assert stored("mine", defaults, defaults) == defaults
