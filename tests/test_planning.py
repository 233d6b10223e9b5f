"""`plan`: targets, records, batches, densities of one's own, and the published integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.evaluation import Evaluation
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.planning.plan import plan
from mdps import Floats, assert_close, random_mdp, random_policy


@pytest.mark.parametrize(
    ("n_states", "settings", "updates"),
    [
        (6, {"density": "pg"}, 205),
        (6, {"density": "undiscounted"}, 204),
        (7, {"density": "pg"}, None),
        (7, {"density": "undiscounted"}, None),
        (10, {"density": "mixture", "o": 0.5}, 668),
        (10, {"density": "uniform"}, 361),
    ],
)
def test_published_times_on_the_chain(
    n_states: int, settings: dict[str, Any], updates: int | None
) -> None:
    run = plan(
        chain(n_states, beta=0.95),
        parametrization="direct",
        eta=1.0,
        target=0.5,
        updates=15000,
        **settings,
    )
    assert run.censored == (updates is None)
    assert run.time_to_target == (updates or 15000)


def test_target_cap_and_censoring() -> None:
    settings: dict[str, Any] = {"parametrization": "direct", "density": "pg", "eta": 1.0}
    run = plan(chain(6, beta=0.95), **settings, target=0.5, updates=15000)
    assert (run.updates, run.cap, run.censored) == (205, 15000, False)
    assert len(run.J) == 206
    assert run.J_norm[205] > 0.5 >= run.J_norm[204]
    assert (run.J_norm[:205] <= 0.5).all()
    for engine in ("compiled", "reference"):
        at_the_cap = plan(chain(6, beta=0.95), **settings, target=0.5, updates=205, engine=engine)
        assert (at_the_cap.time_to_target, at_the_cap.censored) == (205, False)
        too_short = plan(chain(6, beta=0.95), **settings, target=0.5, updates=204, engine=engine)
        assert (too_short.time_to_target, too_short.censored, too_short.updates) == (204, True, 204)
        at_once = plan(chain(6, beta=0.95), **settings, target=-10.0, updates=50, engine=engine)
        assert (at_once.time_to_target, at_once.updates, len(at_once.J)) == (0, 0, 1)
    free = plan(chain(6, beta=0.95), **settings, updates=300)
    assert free.time_to_target is None
    assert not free.censored
    np.testing.assert_array_equal(free.J[:205], run.J[:205])
    np.testing.assert_allclose(free.J[205], run.J[205], rtol=1e-14)


def test_strictly_above_the_target() -> None:
    """One state, one update to the optimum: J_norm is exactly 1 then, which is not above 1."""
    P = np.zeros((2, 2, 2))
    P[0, :, 1] = 1.0
    mdp = FiniteMDP(P, [[0.0, 1.0], [0.0, 0.0]], gamma=0.5, terminal=[1], J_low=0.0)
    for engine in ("compiled", "reference"):
        settings: dict[str, Any] = {
            "parametrization": "direct",
            "density": "uniform",
            "eta": 5.0,
            "updates": 4,
            "engine": engine,
        }
        run = plan(mdp, **settings, target=1.0)
        np.testing.assert_array_equal(run.J_norm, [0.5, 1.0, 1.0, 1.0, 1.0])
        assert run.censored
        assert plan(mdp, **settings, target=0.99).time_to_target == 1


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_records(engine: str) -> None:
    mdp = garnet(15, seed=3)
    settings: dict[str, Any] = {
        "density": "mixture",
        "o": 0.5,
        "eta": 10.0,
        "updates": 12,
        "engine": engine,
    }
    every = plan(mdp, **settings, record=["v", "q", "d", "pi", "theta"])
    np.testing.assert_array_equal(every.t, np.arange(13))
    some = plan(mdp, **settings, record=["q", "pi"], record_at=[11, 0, 3, 3])
    np.testing.assert_array_equal(some.t, [0, 3, 11])
    for name in ("q", "pi", "weights"):
        np.testing.assert_array_equal(some.record(name), every.record(name)[[0, 3, 11]])
    np.testing.assert_allclose(every.J, plan(mdp, **settings).J, rtol=1e-14)
    for t in range(13):
        evaluation = mdp.evaluate(every.record("pi")[t])
        np.testing.assert_allclose(every.record("v")[t], evaluation.v, atol=1e-12)
        np.testing.assert_allclose(every.record("q")[t], evaluation.q, atol=1e-12)
        assert every.J[t] == pytest.approx(evaluation.J, abs=1e-13)
    np.testing.assert_array_equal(every.record("pi")[12], every.pi)
    np.testing.assert_array_equal(every.record("theta")[12], every.theta)
    np.testing.assert_allclose(
        every.record("weights")[1:], np.cumsum(10.0 * every.record("d")[:-1], axis=0), atol=1e-12
    )
    np.testing.assert_array_equal(every.record("weights")[12], every.weights)
    with pytest.raises(
        InputError, match=r"'v' was not recorded; ask for it with plan\(..., record=\['v'\]\)"
    ):
        some.record("v")
    assert plan(mdp, **settings).records == {}


def test_records_end_where_the_target_is_met() -> None:
    for engine in ("compiled", "reference"):
        run = plan(
            chain(6, beta=0.95),
            parametrization="direct",
            density="pg",
            eta=1.0,
            target=0.5,
            updates=500,
            record=["pi"],
            engine=engine,
        )
        np.testing.assert_array_equal(run.t, np.arange(206))
        np.testing.assert_array_equal(run.record("pi")[205], run.pi)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_equals_its_single_runs_bit_for_bit(threads: int) -> None:
    mdps = [garnet(20, seed=s) for s in range(5)]
    settings: dict[str, Any] = {
        "eta": 10.0,
        "updates": 40,
        "density": "mixture",
        "record": ["d"],
        "record_at": [0, 40],
    }
    o_values: list[Any] = [0.1, 0.3, 0.5, 0.7, "10/sqrt(t)"]
    batch = plan(mdps, **settings, o=o_values, threads=threads)
    for mdp, o, run in zip(mdps, o_values, batch, strict=True):
        single = plan(mdp, **settings, o=o)
        for name in ("J", "pi", "theta", "weights"):
            np.testing.assert_array_equal(getattr(run, name), getattr(single, name))
        np.testing.assert_array_equal(run.record("d"), single.record("d"))
        assert run.settings == single.settings
        assert run.mdp is mdp


def test_batches_over_densities_step_sizes_and_entropy() -> None:
    mdp = chain(6)
    densities: list[Any] = ["pg", "uniform", np.full(6, 0.2)]
    by_density = plan([mdp], density=densities, updates=20)
    np.testing.assert_array_equal(by_density[1].J, plan(mdp, density="uniform", updates=20).J)
    assert [run.settings["density"] for run in by_density] == ["pg", "uniform", "array"]
    etas: list[Any] = [1.0, "5/t"]
    for run, eta, lam in zip(
        plan([mdp], eta=etas, lam=[0.0, 0.1], updates=20), etas, [0.0, 0.1], strict=True
    ):
        np.testing.assert_array_equal(run.J, plan(mdp, eta=eta, lam=lam, updates=20).J)
    with pytest.raises(
        InputError, match="eta is a list of 2; in a batch of 3 runs it must hold 3 values, or one"
    ):
        plan([mdp] * 3, eta=[1.0, 2.0])
    with pytest.raises(InputError, match="mdp is a list of 0"):
        plan([])
    with pytest.raises(InputError, match="threads is 0; it must be an integer of at least 1"):
        plan([mdp], threads=0)


def test_a_density_of_ones_own() -> None:
    mdp = garnet(12, seed=4)
    d = np.random.default_rng(0).random(12)
    array = plan(mdp, density=d, eta=3.0, updates=30, record=["d"])
    np.testing.assert_array_equal(array.record("d")[5][~mdp.is_terminal], d[~mdp.is_terminal])
    assert array.solver == "compiled"
    times = []

    def own(t: int, given: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
        assert given is mdp
        assert pytest.approx(mdp.evaluate(pi).J) == evaluation.J
        pi[:] = 0.0  # a copy: the run must not notice
        times.append(t)
        return d

    called = plan(mdp, density=own, eta=3.0, updates=30, record=["d"])
    assert_close(array, called)
    assert times == list(range(31))
    assert called.settings["density"] == "own"

    def pg(t: int, given: FiniteMDP, pi: Floats, evaluation: Evaluation) -> Floats:
        visits = evaluation.density()
        return visits / visits.sum()

    assert_close(
        plan(mdp, density=pg, eta=3.0, updates=30), plan(mdp, density="pg", eta=3.0, updates=30)
    )


def test_schedules_are_counted_from_1() -> None:
    mdp = random_mdp(1, 5, 2, 0.9)
    d = np.full(5, 0.25)
    run = plan(mdp, density=d, eta="8/t", updates=3)
    np.testing.assert_allclose(run.weights[~mdp.is_terminal], 0.25 * (8 + 4 + 8 / 3))
    called = plan(mdp, density=d, eta=lambda t: 8.0 / t, updates=3)
    np.testing.assert_array_equal(run.J, called.J)


def test_starting_policy_zero_updates_progress_and_settings() -> None:
    mdp = garnet(20, seed=6)
    pi0 = random_policy(3, mdp)
    none = plan(mdp, pi0=pi0, updates=0)
    assert none.J.shape == (1,)
    assert none.J[0] == pytest.approx(mdp.evaluate(pi0).J)
    np.testing.assert_allclose(none.pi, mdp.check_policy(pi0), atol=1e-15)
    assert plan(mdp, updates=0).J[0] == pytest.approx(mdp.J_low)
    for engine in ("compiled", "reference"):
        made: list[int] = []
        run = plan(mdp, updates=70, engine=engine, progress=made.append)
        assert sum(made) == 70 == run.updates
    assert run.settings == {
        "mdp": "garnet(20, 4, 2, seed=6)",
        "parametrization": "softmax",
        "density": "pg",
        "o": None,
        "eta": "1",
        "lam": 0.0,
        "updates": 70,
        "target": None,
        "convention": "published",
    }
    assert run.J_norm[0] == pytest.approx(0.0, abs=1e-12)
