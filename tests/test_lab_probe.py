"""What one more update would do at the end of exact updates, as rows of a store have it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.errors import InputError
from jekyllhyde.lab import Experiment, Panel, Store, engine, read

CHAIN = {"name": "chain", "n_states": 10, "beta": 0.95}
DIRECT = {"parametrization": "direct", "eta": 1.0, "updates": 1000, "probe": True}
SERIES = ({"label": "PG"}, {"label": "uniform", "density": "uniform"})


def rows(folder: Path, experiment: Experiment) -> list[dict[str, Any]]:
    store = Store.open(folder, create=True)
    engine.run([experiment], store, workers=1)
    return list(store.table([cell.digest for cell in experiment.cells]).to_pylist())


def test_on_policy_updates_rest_and_uniform_ones_improve(tmp_path: Path) -> None:
    """On the fruit PG does not move, though later states are not greedy; one uniform update with a
    large step is a step of policy iteration.
    """
    stuck, solved = sorted(
        rows(tmp_path, Experiment("probe", "plan", CHAIN, SERIES, DIRECT)),
        key=lambda row: str(row["series"]),
    )
    assert (stuck["series"], stuck["J_norm_end"], stuck["moved"]) == ("PG", 0.0, 0.0)
    assert stuck["greedy"] < 1
    assert (solved["J_norm_end"], solved["greedy"]) == (1.0, 1.0)
    early = Experiment("early", "plan", CHAIN, SERIES[1:], DIRECT | {"updates": 1, "eta": 1e9})
    (row,) = rows(tmp_path, early)
    assert row["greedy"] == 1
    assert row["moved"] == pytest.approx(1.0)


def test_the_optimum_is_described(tmp_path: Path) -> None:
    mdp = jh.garnet(20, seed=0)
    problem = {"name": "garnet", "n_states": 20}
    (row,) = rows(tmp_path, Experiment("garnet", "plan", problem, SERIES[:1], DIRECT))
    visits = mdp.density(mdp.optimal().pi)[~mdp.is_terminal] > 0
    assert row["J_star"] == mdp.J_star
    assert row["visited"] == np.mean(visits)
    assert 0 < row["visited"] <= 1


def test_a_cell_without_a_probe_is_what_it_was(tmp_path: Path) -> None:
    plain = {key: value for key, value in DIRECT.items() if key != "probe"}
    experiment = Experiment("plain", "plan", CHAIN, SERIES, plain)
    spelled = replace(experiment, settings={**plain, "probe": False})
    probed = replace(experiment, settings=DIRECT)
    digests = [[cell.digest for cell in each.cells] for each in (experiment, spelled, probed)]
    assert digests[0] == digests[1] != digests[2]
    assert all(row["moved"] is None for row in rows(tmp_path, experiment))
    panel = Panel("plain", "", replace(experiment, vary={"eta": [1.0]}), "eta", "moved")
    engine.run([panel.experiment], Store.open(tmp_path), workers=1)
    with pytest.raises(InputError, match="panel plain: its runs were made without moved"):
        read(panel, Store.open(tmp_path))
