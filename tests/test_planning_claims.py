"""What the paper says of planning on the chain and on random MDPs (Section 4.2), at small size."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.planning.plan import plan
from mdps import Floats

TIMES = [10, 300, 1000, 5000]


@pytest.mark.parametrize("density", ["pg", "undiscounted"])
@pytest.mark.parametrize(
    ("parametrization", "eta", "solved"), [("direct", 1.0, 6), ("softmax", 10.0, 7)]
)
def test_on_policy_updates_fail_on_chains_a_little_longer(
    density: str, parametrization: str, eta: float, solved: int
) -> None:
    short, long = (
        plan(
            chain(n, beta=0.95),
            parametrization=parametrization,
            density=density,
            eta=eta,
            target=0.5,
            updates=15000,
        )
        for n in (solved, solved + 1)
    )
    assert not short.censored
    assert long.censored
    assert long.pi[0, 0] > 0.99  # it has learned to leave at once


@pytest.mark.parametrize(("parametrization", "eta"), [("direct", 1.0), ("softmax", 10.0)])
def test_an_off_policy_part_solves_chains_of_25_states(parametrization: str, eta: float) -> None:
    for settings in ({"density": "mixture", "o": 0.5}, {"density": "uniform"}):
        run = plan(
            chain(25, beta=0.95),
            parametrization=parametrization,
            eta=eta,
            target=0.5,
            updates=15000,
            **settings,
        )
        assert not run.censored
    half, tenth = (
        plan(
            chain(12, beta=0.95),
            density="mixture",
            o=o,
            parametrization=parametrization,
            eta=eta,
            target=0.5,
            updates=15000,
        )
        for o in (0.5, 0.1)
    )
    assert not tenth.censored
    assert half.updates < tenth.updates


def test_the_direct_parametrization_reaches_the_optimum_in_finite_time() -> None:
    run = plan(
        chain(10, beta=0.95),
        parametrization="direct",
        density="mixture",
        o=0.5,
        eta=1.0,
        updates=2000,
    )
    assert run.J_norm[-1] == pytest.approx(1.0, abs=1e-12)
    first = int(np.argmax(run.J_norm > 1 - 1e-12))
    assert 0 < first < 2000
    softmax = plan(chain(10, beta=0.95), density="mixture", o=0.5, eta=10.0, updates=10000)
    assert 0.95 < softmax.J_norm[-1] < 1 - 1e-4


def test_entropy_regularization_is_biased_on_the_chain() -> None:
    free, biased = (
        plan(chain(10, beta=0.95), density="uniform", eta=10.0, lam=lam, updates=10000)
        for lam in (0.0, 0.1)
    )
    assert free.J_norm[-1] > 0.98
    assert biased.J_norm[-1] < 0.05
    assert abs(np.diff(biased.J[-100:])).max() < 1e-12  # it has converged there


@cache
def mean_curve(parametrization: str, density: str, lam: float = 0.0) -> Floats:
    """J_norm at TIMES, averaged over random MDPs of 50 states."""
    settings: dict[str, Any] = {"density": density} | ({"o": 0.5} if density == "mixture" else {})
    eta = 1.0 if parametrization == "direct" else 10.0
    runs = plan(
        [garnet(50, seed=s) for s in range(10)],
        parametrization=parametrization,
        eta=eta,
        lam=lam,
        updates=5000,
        threads=1,
        **settings,
    )
    curves: Floats = np.mean([run.J_norm[TIMES] for run in runs], axis=0)
    return curves


def test_every_density_learns_random_mdps_and_an_off_policy_part_ends_closer_to_the_optimum() -> (
    None
):
    final = {
        density: mean_curve("direct", density)[-1]
        for density in ("pg", "undiscounted", "uniform", "mixture")
    }
    assert min(final.values()) > 0.98
    assert final["pg"] < 0.9985
    assert final["mixture"] > final["pg"] + 3e-4
    assert final["mixture"] > final["undiscounted"] + 3e-4


@pytest.mark.parametrize("parametrization", ["direct", "softmax"])
def test_uniform_updates_are_slow_on_random_mdps(parametrization: str) -> None:
    """Not in the very first updates, where they lead; from there on they lag behind."""
    pg, uniform = mean_curve(parametrization, "pg"), mean_curve(parametrization, "uniform")
    assert uniform[0] > pg[0]
    assert (uniform[1:3] < pg[1:3] - 0.005).all()


def test_entropy_regularization_is_biased_on_random_mdps() -> None:
    free, biased = mean_curve("softmax", "pg"), mean_curve("softmax", "pg", 0.1)
    assert free[-1] > 0.98
    assert biased[-1] < biased[-2]
    assert biased[-1] < free[-1] - 0.03
