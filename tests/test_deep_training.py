"""The compiled training loop: what agents learn on probe problems, seeds, sweeps, diagnostics."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from gymnasium.spaces import Box

from jekyllhyde import deep
from jekyllhyde.deep import diagnostics
from jekyllhyde.deep.training import TrainResult
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP

SMALL: dict[str, Any] = {"hidden": (16,), "batch": 16, "capacity": 500}
JEKYLL: dict[str, Any] = {**SMALL, "hidden_hyde": (8,), "warmup": 20, "eta": 1e-2, "eta_c": 1e-2}
SETTINGS: dict[str, dict[str, Any]] = {
    "jekyll_hyde": JEKYLL,
    "ddqn": SMALL,
    "bootstrapped_dqn": {**SMALL, "heads": 6, "share": 1.0, "eta_c": 1e-2},
    "sac": {**SMALL, "warmup": 20},
}
GAMMA = 0.8


def probe(successor: list[int], r: list[list[float]], p0: list[float]) -> FiniteMDP:
    """Two decision states and a terminal one; both actions of state s lead to successor[s]."""
    P = np.zeros((3, 2, 3))
    P[:, :, 2] = 1.0
    for s, following in enumerate(successor):
        P[s] = np.eye(3)[following]
    return FiniteMDP(P, np.array([*r, [0.0, 0.0]]), p0=p0, gamma=GAMMA, terminal=[2])


PROBES = {
    "constant reward": probe([2, 2], [[1.0, 1.0], [1.0, 1.0]], [0.5, 0.5, 0.0]),
    "reward by observation": probe([2, 2], [[-1.0, -1.0], [1.0, 1.0]], [0.5, 0.5, 0.0]),
    "two steps": probe([1, 2], [[0.0, 0.0], [1.0, 1.0]], [1.0, 0.0, 0.0]),
    "reward by action": probe([2, 2], [[1.0, -1.0], [1.0, -1.0]], [0.5, 0.5, 0.0]),
    "both": probe([2, 2], [[1.0, -1.0], [-1.0, 1.0]], [0.5, 0.5, 0.0]),
}


@pytest.mark.parametrize("agent", SETTINGS)
def test_probe_problems(agent: str) -> None:
    """The five probes have one shape, so each agent is compiled once; all values and choices come
    out right.
    """
    for name, mdp in PROBES.items():
        result = deep.train(
            mdp,
            agent,
            seeds=2,
            episodes=400,
            every=400,
            config="published",
            hyperparameters=SETTINGS[agent],
        )
        pi = np.asarray(result.pi[:, -1], dtype=np.float64)
        for run in range(2):
            exact = mdp.evaluate(pi[run] / pi[run].sum(1, keepdims=True)).q[:2]
            if (
                agent == "sac"
            ):  # its values count the entropy of what follows, which only two steps have
                exact = exact if name != "two steps" else exact[1:]
            values = result.q[run, -1, :2][-len(exact) :]
            assert values == pytest.approx(exact, abs=0.15), (name, run)
        if name in ("reward by action", "both"):
            assert result.exact_score[:, -1] == pytest.approx([1.0, 1.0]), name


def short_runs(seed: int, progress: Any = None, seeds: int = 2) -> list[TrainResult]:
    """Two runs with each of two settings, the second with an actor that takes no steps."""
    settings = [
        {**JEKYLL, "warmup": 5, "eta": eta, "bonus": "rnd(deep_target=True)"} for eta in (1e-2, 0.0)
    ]
    return deep.sweep(
        "chain",
        "jekyll_hyde",
        settings,
        seeds=seeds,
        episodes=8,
        every=4,
        config="published",
        seed=seed,
        n_states=6,
        progress=progress,
    )


@pytest.fixture(scope="module")
def results() -> dict[str, list[TrainResult]]:
    return {"first": short_runs(0), "again": short_runs(0), "other": short_runs(1)}


def test_same_seed_same_numbers_other_seed_others(results: dict[str, list[TrainResult]]) -> None:
    first, again, other = (results[name][0] for name in ("first", "again", "other"))
    for name in ("score", "exact_score", "step", "pi", "q", "arrivals"):
        assert (getattr(first, name) == getattr(again, name)).all(), name
    assert abs(first.q - other.q).min() > 0
    assert abs(first.q[0] - first.q[1])[..., :-1, :].max() > 1e-3


@pytest.mark.skipif(
    jax.default_backend() == "gpu", reason="a GPU rounds differently in batches of another size"
)
def test_a_run_does_not_depend_on_the_others(results: dict[str, list[TrainResult]]) -> None:
    alone = short_runs(0, seeds=1)
    for one, both in zip(alone, results["first"], strict=True):
        assert (one.q[0] == both.q[0]).all()


def test_settings_of_a_sweep_differ_as_told(results: dict[str, list[TrainResult]]) -> None:
    moving, frozen = results["first"]
    assert (frozen.pi[:, 0] == frozen.pi[:, 1]).all()
    assert (moving.pi[:, 0] != moving.pi[:, 1]).any()
    assert (frozen.q[:, 0] != frozen.q[:, 1]).any()


def test_the_record_adds_up(results: dict[str, list[TrainResult]]) -> None:
    first = results["first"][0]
    assert first.episode.tolist() == [4, 8]
    assert first.score.shape == first.exact_score.shape == first.step.shape == (2, 2)
    assert (first.arrivals.sum((2, 3)) == first.step).all()
    assert (
        first.arrivals[:, :, :, 5].sum(2) == first.episode
    ).all()  # every episode of the chain ends in its last state
    assert (first.step[:, 1] > first.step[:, 0]).all()
    assert np.asarray(first.pi.sum(-1)) == pytest.approx(1.0, abs=1e-5)
    assert first.exact_score == pytest.approx(
        first.score, abs=1e-5
    )  # one start, no chance: ten episodes are one
    assert first.optimum == pytest.approx(1.0)


def test_progress_and_segments_change_nothing(results: dict[str, list[TrainResult]]) -> None:
    episodes: list[int] = []
    assert (short_runs(0, episodes.append)[0].q == results["first"][0].q).all()
    assert episodes == [4] * 8  # four runs, two evaluations each, four episodes before each


def test_final_networks_are_those_of_the_last_record(
    results: dict[str, list[TrainResult]], tmp_path: Path
) -> None:
    result = results["first"][0]
    agent = deep.from_result(result, 1)
    actions = result.pi[1, -1, :5].argmax(-1).tolist()
    assert [agent.predict(s) for s in range(5)] == actions
    agent.save(tmp_path / "agent")
    assert deep.JekyllHyde.load(tmp_path / "agent").predict(np.arange(5)).tolist() == actions


def test_diagnostics_by_hand(results: dict[str, list[TrainResult]]) -> None:
    """On the chain of 6 with a policy that walks on everywhere, and a critic that is right, too
    high by 1, or wrong in order.
    """
    first = results["first"][0]
    walk = np.zeros((6, 2))
    walk[:, 1] = 1.0
    exact = first.mdp.evaluate(walk).q
    pi = np.stack([walk, np.full((6, 2), 0.5), walk[:, ::-1]])[None].astype(np.float32)
    q = np.stack([exact, exact + 1.0, exact])[None].astype(np.float32)
    arrivals = np.zeros((1, 3, 2, 6), dtype=np.int32)
    arrivals[0, :, 0, 1], arrivals[0, 1:, 1, 5] = 3, 1
    made = replace(first, pi=pi, q=q, arrivals=arrivals, step=np.array([[3, 4, 4]]))
    uniform_error = abs(exact + 1.0 - first.mdp.evaluate(np.full((6, 2), 0.5)).q)[:5].mean()
    leave_error = abs(exact - first.mdp.evaluate(walk[:, ::-1]).q)[:5].mean()
    assert diagnostics.entropy(made)[0] == pytest.approx([0.0, np.log(2), 0.0], abs=1e-6)
    assert diagnostics.critic_error(made)[0] == pytest.approx(
        [0.0, uniform_error, leave_error], abs=1e-5
    )
    assert diagnostics.action_gap(made)[0] == pytest.approx(
        np.full(3, abs(exact[:5, 1] - exact[:5, 0]).mean()), abs=1e-6
    )
    assert diagnostics.trapped(made)[0] == pytest.approx(
        [0.0, 0.0, 0.8]
    )  # both actions are optimal in the last decision state
    assert diagnostics.coverage(made)[0] == pytest.approx([0.2, 0.2, 0.2])
    assert diagnostics.coverage(made, 1)[0] == pytest.approx([0.0, 0.0, 0.0])
    assert diagnostics.terminal_share(made)[0] == pytest.approx([0.0, 0.25, 0.25])
    assert diagnostics.batch_share(made)[0] == pytest.approx(
        [0.0, 0.625, 0.625]
    )  # a quarter of all, all of Hyde's
    recent = replace(made, config=replace(made.config, fifo=True), step=np.array([[3, 4, 8]]))
    assert diagnostics.batch_share(recent)[0] == pytest.approx(
        [0.0, 1.0, 0.5]
    )  # then none of the last four


def test_divergence_and_solved_runs_are_told(results: dict[str, list[TrainResult]]) -> None:
    first = results["first"][0]
    assert not first.diverged.any()
    q = first.q.copy()
    q[1, 0, 0, 0] = np.inf
    assert replace(first, q=q).diverged.tolist() == [False, True]
    made = replace(first, exact_score=np.array([[first.optimum - 0.6, first.optimum - 0.4]]))
    assert made.solved().tolist() == [[False, True]]
    assert made.solved(0.1).tolist() == [[False, False]]


def test_problems_of_a_batch_share_a_call_not_their_numbers() -> None:
    """Two chains in one batch, one of which pays nothing at its end: each result is that of its own
    chain.
    """
    rich = chain(4)
    poor = FiniteMDP(rich.P, np.zeros((4, 2)), p0=rich.p0, gamma=rich.gamma, terminal=rich.terminal)
    config = deep.configure("jekyll_hyde", "published", **JEKYLL)
    results = deep.Batch(
        "jekyll_hyde",
        [deep.Case(mdp, 100, config) for mdp in (rich, poor)],
        seeds=1,
        episodes=4,
        every=2,
    ).run()
    assert [result.optimum for result in results] == pytest.approx([1.0, 0.0])
    assert (results[1].exact_score == 0.0).all()
    assert (results[0].exact_score != 0.0).any()
    with pytest.raises(InputError, match="differ in their numbers of states"):
        deep.Batch(
            "jekyll_hyde",
            [deep.Case(chain(n), 100, config) for n in (4, 5)],
            seeds=1,
            episodes=4,
            every=2,
        )


def test_the_host_loop_agrees_with_the_compiled_one(results: dict[str, list[TrainResult]]) -> None:
    """The chain has one start and no chance in it: with the same random key both loops live the
    same life.
    """
    result = results["first"][0]
    agent_key, *_ = jax.random.split(jax.random.fold_in(jax.random.key(0), 0), 3)
    agent = deep.JekyllHyde(TabularEnv(chain(6)), config=result.config)
    agent.state = deep.ALGORITHMS["jekyll_hyde"].init(agent_key, agent.settings, agent.space)
    agent.learn(int(result.step[0, 1]))
    assert int(agent.state.episodes) == len(agent.episodes) == 8
    states = np.arange(6)
    assert agent.probabilities(states) == pytest.approx(result.pi[0, 1], abs=1e-4)
    assert agent.q(states) == pytest.approx(result.q[0, 1], abs=1e-4)


class Continuous(gym.Env[Any, Any]):
    observation_space = Box(-1.0, 1.0, (2,))
    action_space = Box(-1.0, 1.0, (1,))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: deep.train(level=3), "level is 3"),
        (lambda: deep.train(seeds=0), "seeds is 0"),
        (lambda: deep.train(episodes=5), "episodes is 5"),
        (lambda: deep.train("labyrinth"), "problem is 'labyrinth'"),
        (lambda: deep.train(agent="ppo"), "agent is 'ppo'"),
        (lambda: deep.train(config="best"), "config is 'best'"),
        (lambda: deep.train(device="tpu"), "device is 'tpu'"),
        (lambda: deep.train(PROBES["both"], level=2), "level given beside a finite MDP"),
        (
            lambda: deep.sweep("chain", "sac", [{"batch": 4}, {"batch": 8}]),
            "differ in a name or a size",
        ),
        (lambda: deep.JekyllHyde(Continuous()), "Discrete"),
    ],
)
def test_bad_input(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="there is a GPU here")
def test_no_gpu_where_one_is_asked_for() -> None:
    with pytest.raises(InputError, match="device is 'gpu'; JAX finds no such device"):
        deep.train(device="gpu")


def test_a_configuration_can_be_changed_and_passed() -> None:
    config = replace(deep.configure("jekyll_hyde", "recommended"), eta=0.5)
    assert deep.configure("jekyll_hyde", config, gamma=0.7).eta == 0.5


def test_a_curve_of_figure_3() -> None:
    result = deep.train(agent="ddqn", level=2, config="published", seeds=1, episodes=10, seed=3)
    assert result.config == deep.configure("ddqn", "published", level=2, gamma=0.9)
    assert (result.score.shape, result.horizon) == ((1, 1), 90)
    assert result.optimum == pytest.approx(88.83, abs=0.005)


def test_the_study_asks_for_settings_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    study = importlib.import_module("deep_study")
    parts = study.calls()
    for call in [call for part in parts.values() for call in part]:
        configs = [
            deep.configure(call.agent, call.config, **{**call.fixed, **numbers})
            for numbers in call.settings.values()
        ]
        assert len({jax.tree.structure(config) for config in configs}) == 1, (
            call.name
        )  # one compiled call
    rules = [deep.configure(call.agent, call.config, **call.fixed) for call in parts["rules"]]
    assert {replace(config, actor_rule="paper") for config in rules} == {
        deep.configure("jekyll_hyde", "paper")
    }  # nothing else differs
    rates = {
        name.split("=")[1]
        for call in parts["sweeps"]
        if call.name == "ddqn"
        for name in call.settings
    }
    assert rates == {"0.06", "0.03", "0.01", "0.006", "0.003", "0.001"}
