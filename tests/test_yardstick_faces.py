"""The yardsticks in both faces, as long as they should be, and as problems of experiments."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from jekyllhyde.cli import main
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.yardsticks import YARDSTICKS
from jekyllhyde.mdp.deep_sea import action_mapping, deep_sea
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.locks import locks
from jekyllhyde.mdp.maze import maze
from jekyllhyde.mdp.river_swim import river_swim
from mdps import best_value, outcomes

CASES = {
    "windy dive": (deep_sea(4, stochastic=True), 0, int(action_mapping(4)[0, 0])),
    "noisy corner": (deep_sea(4, stochastic=True), 15, 0),
    "swim": (river_swim(6), 3, 1),
    "lock": (locks(4), 0, 1),
    "slip": (maze(2, 3, slip=0.5), 0, 1),
}


@pytest.mark.parametrize("face", ["gymnasium", "jax"])
@pytest.mark.parametrize("case", CASES)
def test_both_faces_have_the_models_frequencies_and_rewards(case: str, face: str) -> None:
    (mdp, s, a), n = CASES[case], 4000
    if face == "gymnasium":
        env = TabularEnv(mdp)
        env.reset(seed=1)
        steps = []
        for _ in range(n):
            env.reset(options={"state": s})
            steps.append(env.step(np.int64(a))[:2])
        arrived, rewards = np.array([t for t, _ in steps]), np.array([r for _, r in steps])
    else:
        jax, jnp = pytest.importorskip("jax"), pytest.importorskip("jax.numpy")
        from jekyllhyde.envs import functional

        model, state = (
            functional.make_model(mdp, 100),
            functional.EnvState(jnp.int32(s), jnp.int32(0)),
        )
        keys = jax.random.split(jax.random.key(1), n)
        after, reward, *_ = jax.vmap(lambda key: functional.step(model, state, jnp.int32(a), key))(
            keys
        )
        arrived, rewards = np.asarray(after.s), np.asarray(reward)
    expected = outcomes(mdp, s, a)
    assert set(arrived.tolist()) == set(expected)
    for t, (p, r) in expected.items():
        assert abs(np.mean(arrived == t) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9
        assert rewards[arrived == t] == pytest.approx(r, abs=1e-6)
    if case == "noisy corner":
        assert np.var(rewards) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    "mdp",
    [deep_sea(6, gamma=1.0, stochastic=True), river_swim(6), locks(5, 3), maze(2, 3, slip=0.1)],
    ids=lambda mdp: mdp.name,
)
def test_optimal_scores_in_jax(mdp: FiniteMDP) -> None:
    pytest.importorskip("jax")
    from jekyllhyde.envs import functional

    score = functional.optimal_score(functional.make_model(mdp, 25))
    assert float(score) == pytest.approx(best_value(mdp, 25), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [
        ("RiverSwim", {"n": 12}, 240),
        ("RiverSwim", {}, 120),
        ("DeepSea", {"n": 120, "stochastic": True}, 120),
        ("Locks", {"length": 25, "seed": 3}, 25),
        ("Maze", {"rooms": 3, "size": 4, "slip": 0.2}, 120),
        ("RiverSwim", {"horizon": 30}, 30),
    ],
)
def test_episodes_are_as_long_as_the_options_ask(
    name: str, options: dict[str, Any], steps: int
) -> None:
    env = gym.make(f"jekyllhyde/{name}-v0", **options)
    env.reset(seed=0)
    taken, terminated, truncated = 0, False, False
    while not (terminated or truncated):
        _, _, terminated, truncated, _ = env.step(np.int64(0))
        taken += 1
    assert taken == steps
    assert terminated == (name in ("DeepSea", "Locks"))


def test_learning_gives_the_swimmer_time(capsys: pytest.CaptureFixture[str]) -> None:
    work = "train river_swim --n 8 --trajectories 20 --runs 1 --json"
    assert main(work.split()) == 0
    assert json.loads(capsys.readouterr().out)["work"] == f"{20 * 160} steps"
    assert main(["list", "--json"]) == 0
    domains = json.loads(capsys.readouterr().out)["domains"]
    assert [domains[name]["horizon"] for name in ("river_swim", "maze", "chain")] == [120, 200, 100]


@pytest.mark.parametrize("name", YARDSTICKS)
def test_every_yardstick_is_a_problem_of_experiments(name: str) -> None:
    yardstick = YARDSTICKS[name]
    series = [{"label": "J&H"}]
    settings = {"trajectories": 10, "horizon": yardstick.horizon}
    experiment = Experiment("all", "learn", yardstick.problem, series, settings)
    assert len(experiment.cells) == 1
    mdp = yardstick.make()
    assert mdp.J_star > mdp.J_low
    assert yardstick.make(0) is mdp
    assert (yardstick.make(1) is mdp) == (yardstick.name not in ("garnet", "locks", "maze"))


def test_the_table_of_yardsticks() -> None:
    assert len(YARDSTICKS) == 22
    horizons = {name: yardstick.horizon for name, yardstick in YARDSTICKS.items()}
    expected = {"taxi": 200, "cliff_walking": 200, "frozen_lake_4x4": 100, "frozen_lake_8x8": 200}
    expected |= {"deep_sea_100": 100, "river_swim_24": 480, "locks_50": 50, "maze": 200}
    assert horizons | expected == horizons
    assert YARDSTICKS["frozen_lake_8x8"].make().n_states == 64
    assert "stochastic" in YARDSTICKS["deep_sea_stochastic_20"].make().name
