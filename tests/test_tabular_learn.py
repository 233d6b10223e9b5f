"""`learn` as its users see it: the paper's claims, targets, failures, memory, bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.errors import InputError
from jekyllhyde.tabular.agents import TabularAgent, TabularOnPolicy
from jekyllhyde.tabular.learn import learn
from reference_tabular import Published

J, P = Published, TabularOnPolicy


@pytest.mark.parametrize(
    ("epsilon", "low", "high"), [("100/t", 8000, 9100), ("10/sqrt(t)", 5700, 6700)]
)
def test_jekyll_and_hyde_crosses_the_chain_when_the_paper_says(
    epsilon: str, low: float, high: float
) -> None:
    mdp = jh.chain(10, beta=0.8)
    out = learn(mdp, J(epsilon=epsilon, o=0.5), trajectories=20_000, runs=40)
    half = out.summary(0.5)
    assert low < half.mean < high
    assert half.low < half.mean < half.high
    assert half.censored == 0.0
    slow = learn(mdp, J(epsilon=epsilon, o="10/sqrt(t)"), trajectories=20_000, runs=10, target=0.5)
    assert slow.summary(0.5).mean > 2 * half.mean


@pytest.mark.parametrize(
    "settings",
    [{}, {"lam": 0.01}, {"density": "undiscounted"}, {"density": "undiscounted", "lam": 0.01}],
)
def test_on_policy_updates_never_leave_the_low_hanging_fruit(settings: dict[str, Any]) -> None:
    out = learn(jh.chain(10, beta=0.8), P(**settings), trajectories=100_000, runs=10)
    assert out.censored(0.1).all()
    assert (out.time_to(0.5) == 100_000).all()
    assert (out.unvisited[:, -1] > 0).any()
    assert abs(out.J_norm[:, -1]).max() < 0.02


def test_a_strong_ucb_bonus_solves_the_chain() -> None:
    out = learn(jh.chain(10, beta=0.8), P(nu=1.0), trajectories=50_000, runs=20)
    assert out.censored(0.5).mean() <= 0.2
    assert out.summary(0.5).median < 10_000


def test_all_solve_random_mdps_and_the_larger_nu_the_slower() -> None:
    mdps = [jh.garnet(30, 4, 2, seed=i) for i in range(10)]
    agents = [
        J(batch=4, hyde_eta=1.0),
        P(),
        P(replay=True, batch=4),
        P(nu=0.01),
        P(nu=0.1),
        P(nu=1.0),
    ]
    final = [learn(mdps, agent, trajectories=10_000).curve("jekyll")[0][-1] for agent in agents]
    assert min(final[:4]) > 0.9
    assert final[3] > final[4] > final[5]


def test_runs_stop_at_the_target() -> None:
    mdp = jh.chain(6, beta=0.8)
    agent = J(epsilon="10/sqrt(t)")
    free = learn(mdp, agent, trajectories=5000, runs=8)
    stopped = learn(mdp, agent, trajectories=5000, runs=8, target=0.5)
    assert np.array_equal(stopped.time_to(0.5), free.time_to(0.5))
    assert not stopped.censored(0.5).any()
    ends = stopped.time_to(0.5)
    for row, end in enumerate(ends):
        after = stopped.trajectories > end
        assert np.isnan(stopped.J_norm[row, after]).all()
        assert np.array_equal(stopped.J_norm[row, ~after], free.J_norm[row, ~after])
    jekyll = learn(mdp, agent, trajectories=5000, runs=8, target=0.5, target_on="jekyll")
    assert (jekyll.time_to(0.5, "jekyll") <= ends).all()
    assert (jekyll.time_to(0.5, "jekyll") < ends).any()
    with pytest.raises(InputError, match="were stopped at 0"):
        stopped.time_to(0.9)


def test_global_return_mixes_jekyll_and_greedy_hyde() -> None:
    mdp = jh.chain(5, beta=0.8)
    out = learn(mdp, J(epsilon=0.25), trajectories=50, runs=3)
    assert (out.epsilon == 0.25).all()
    hyde = (out.J - 0.75 * out.J_jekyll) / 0.25
    returns = [0.8 * 0.99**3 * 0.99**k for k in range(4)] + [0.99**3]
    assert abs(hyde[..., None] - np.array(returns)).min(axis=-1).max() < 1e-9
    np.testing.assert_allclose(out.J_norm, (out.J - mdp.J_low) / (mdp.J_star - mdp.J_low))


def test_a_run_that_diverges_ends_with_a_reason_and_the_others_go_on() -> None:
    """A step of 2.5 overshoots ever further on the chain; in a corridor whose reward is out of
    reach, nothing moves.
    """
    n = 30
    P_model, r = np.zeros((n, 2, n)), np.zeros((n, 2))
    for s in range(n - 1):
        P_model[s, 0, max(0, s - 1)] = P_model[s, 1, s + 1] = 1.0
    r[n - 2, 1] = 1.0
    corridor = jh.FiniteMDP(P_model, r, gamma=0.99, terminal=[n - 1])
    out = learn(
        [corridor, jh.chain(3, beta=0.8)], P(eta_c=2.5), trajectories=8000, runs=2, horizon=3
    )
    assert sorted(out.failures) == [2, 3]
    for row, reason in out.failures.items():
        assert f"finite numbers at environment step {int(reason.split()[-1])}" in reason
        assert np.isfinite(out.J[row, 0])
        assert np.isnan(out.J[row, -1])
        assert np.isnan(out.J_norm[row, -1])
        assert out.time_to(2.0)[row] == 8000
    assert np.isfinite(out.J[:2]).all()
    assert (out.steps[:2, -1] == 24_000).all()


def test_memory_is_said_before_and_refused_when_it_cannot_fit() -> None:
    mdp = jh.chain(5, beta=0.8)
    with pytest.raises(InputError, match=r"may take \d+\.\d GiB \(2 at once"):
        learn(mdp, J(), trajectories=1000, runs=2, threads=2, memory=1000)
    learn(mdp, J(capacity=100), trajectories=1000, memory=2e6)


def test_progress_counts_every_trajectory() -> None:
    seen: list[int] = []
    learn(jh.chain(5, beta=0.8), J(), trajectories=20_000, runs=2, target=0.5, progress=seen.append)
    assert sum(seen) == 40_000


BAD_AGENTS: list[tuple[type[TabularAgent], dict[str, Any], str]] = [
    (J, {"epsilon": 1.5}, "epsilon is 1.5"),
    (J, {"o": -0.1}, "o is -0.1"),
    (J, {"epsilon": "often"}, "epsilon 'often'"),
    (J, {"critic": "oracle"}, "critic is 'oracle'"),
    (J, {"bonus": "rnd"}, "bonus is 'rnd'"),
    (J, {"hyde": "ucb"}, "hyde is 'ucb'"),
    (J, {"batch": 0}, "batch is 0"),
    (J, {"capacity": -3}, "capacity is -3"),
    (J, {"eta": 0.0}, "eta is 0.0"),
    (J, {"eta_c": np.nan}, "eta_c is nan"),
    (J, {"q0": np.inf}, "q0 is inf"),
    (J, {"convention": "mine"}, "convention is 'mine'"),
    (J, {"normalization": "sum"}, "normalization is 'sum'"),
    (J, {"hyde_eta": -1.0}, "hyde_eta is -1.0"),
    (J, {"nu": -1.0}, "nu is -1.0"),
    (J, {"hyde_clip": np.nan}, "hyde_clip is nan"),
    (J, {"capacity": 5, "successor": "model"}, "successor is 'model'"),
    (J, {"parametrization": "linear"}, "parametrization is 'linear'"),
    (J, {"when_full": "panic"}, "when_full is 'panic'"),
    (J, {"mle_every": 0}, "mle_every is 0"),
    (J, {"gamma": 1.2}, "gamma is 1.2"),
    (J, {"seed": -1}, "seed is -1"),
    (P, {"density": "uniform"}, "density is 'uniform'"),
    (P, {"lam": -0.1}, "lam is -0.1"),
    (P, {"batch": 4}, "batch is 4"),
    (P, {"with_current": True}, "with_current is given"),
    (J, {"with_current": True, "replay": "backward"}, "with_current is given"),
    (P, {"update": "all"}, "update is 'all'"),
    (P, {"nu_in": "env"}, "nu_in is 'env'"),
    (P, {"entropy": "none"}, "entropy is 'none'"),
    (P, {"lam": 0.1, "parametrization": "direct"}, "direct parametrization has no entropy"),
]


@pytest.mark.parametrize(
    ("kind", "settings", "words"), BAD_AGENTS, ids=[words for *_, words in BAD_AGENTS]
)
def test_bad_settings_get_one_clear_sentence(
    kind: type[TabularAgent], settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as caught:
        kind(**settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"trajectories": 0}, "trajectories is 0"),
        ({"trajectories": 10, "runs": 0}, "runs is 0"),
        ({"trajectories": 10, "threads": 0}, "threads is 0"),
        ({"trajectories": 10, "horizon": 0}, "horizon is 0"),
        ({"trajectories": 10, "target": np.nan}, "target is nan"),
        ({"trajectories": 10, "target_on": "hyde"}, "target_on is 'hyde'"),
        ({"trajectories": 10, "seed": -1}, "seed is -1"),
        ({"trajectories": 2.5}, "trajectories is 2.5"),
    ],
)
def test_bad_arguments_get_one_clear_sentence(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        learn(jh.chain(5, beta=0.8), J(), **arguments)


def test_problems_that_cannot_be_learned_are_refused() -> None:
    endless = jh.FiniteMDP(np.full((2, 2, 2), 0.5), np.array([[0.0, 1.0], [0.0, 0.5]]), gamma=0.9)
    with pytest.raises(InputError, match="no terminal state"):
        learn(endless, J(convention="paper"), trajectories=10)
    assert learn(endless, J(), trajectories=10, horizon=30).steps[0, -1] == 300
    with pytest.raises(InputError, match="empty list"):
        learn([], J(), trajectories=10)
    with pytest.raises(InputError, match="'mle'"):
        learn(jh.chain(400, beta=0.8), J(critic="mle"), trajectories=10)


SCRIPT = """
import sys, json
import jekyllhyde as jh
from jekyllhyde.tabular.agents import TabularJekyllHyde as J, TabularOnPolicy as P
from jekyllhyde.tabular.learn import learn
agents = {"jekyll-hyde": J(epsilon=0.5), "pg": P(), "replay": P(replay=True, batch=2)}
mdp = jh.garnet(12, 3, 2, seed=1)
names = list(agents) if sys.argv[1] == "forwards" else list(agents)[::-1]
runs = {n: learn(mdp, agents[n], trajectories=60).J[0].tolist() for n in names}
print(json.dumps(runs, sort_keys=True))
"""


def test_kernels_loaded_from_the_cache_in_another_order_are_the_right_ones(tmp_path: Path) -> None:
    """The first process compiles into an empty cache, the second loads all kernels from it, last
    first.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def outcome(order: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, order],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        return done.stdout

    compiled = outcome("forwards")
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert files
    assert outcome("backwards") == compiled
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == files


def test_a_stopped_run_keeps_its_last_value_in_the_curve() -> None:
    free = jh.learn(jh.chain(5, 0.5), jh.TabularJekyllHyde(), trajectories=400, runs=6, seed=0)
    stopped = jh.learn(
        jh.chain(5, 0.5), jh.TabularJekyllHyde(), trajectories=400, runs=6, seed=0, target=0.2
    )
    assert np.isnan(stopped.J_norm[:, -1]).any()
    mean, low, high = stopped.curve()
    last = [row[~np.isnan(row)][-1] for row in stopped.J_norm]
    assert mean[-1] == pytest.approx(np.mean(last))
    assert low[-1] <= mean[-1] <= high[-1]
    np.testing.assert_allclose(free.curve()[0], free.J_norm.mean(axis=0))
