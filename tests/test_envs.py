"""The environments in both faces, against the finite MDPs they are made from."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from jekyllhyde import envs
from jekyllhyde.envs import functional
from jekyllhyde.envs.tabular import FourRooms, TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.deep_sea import deep_sea
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.mdp.rooms import four_rooms, layout

NORTH, EAST, SOUTH, WEST = range(4)
OPTIMUM = {1: 89.14, 2: 88.83}


def started(env: FourRooms, row: int, column: int) -> FourRooms:
    env.reset(seed=0, options={"state": int(env.layout.state[row, column])})
    return env


@pytest.mark.parametrize("name", [domain.id for domain in DOMAINS.values()])
@pytest.mark.parametrize("render_mode", ["ansi", "rgb_array"])
def test_gymnasium_accepts_every_environment(name: str, render_mode: str) -> None:
    envs.register()
    env = gym.make(name, render_mode=render_mode)
    check_env(env.unwrapped)
    env.reset(seed=0)
    picture = env.render()
    assert isinstance(picture, str if render_mode == "ansi" else np.ndarray)


def test_registering_twice_changes_nothing() -> None:
    envs.register()
    before = dict(gym.registry)
    envs.register()
    assert dict(gym.registry) == before


def test_steps_walls_goal_and_cut() -> None:
    env = started(FourRooms(level=1), 1, 1)
    corner = int(env.layout.state[1, 1])
    observation, reward, terminated, truncated, _ = env.step(np.int64(NORTH))
    assert (int(observation), reward, terminated, truncated) == (corner, -0.1, False, False)
    assert env.step(np.int64(EAST))[0] == env.layout.state[1, 2]
    env = started(env, 3, 2)
    observation, reward, terminated, truncated, _ = env.step(np.int64(EAST))
    assert (int(observation), reward, terminated, truncated) == (env.layout.goal, 90.0, True, False)
    env = started(env, 1, 1)
    cuts = [env.step(np.int64(NORTH))[2:4] for _ in range(90)]
    assert cuts[:-1] == [(False, False)] * 89
    assert cuts[-1] == (False, True)


def test_doors_join_the_rooms() -> None:
    env = started(FourRooms(level=2), 3, 6)
    assert env.step(np.int64(EAST))[0] == env.layout.state[3, 7]
    assert env.step(np.int64(EAST))[0] == env.layout.state[3, 8]
    env = started(env, 4, 6)
    assert env.step(np.int64(EAST))[0] == env.layout.state[4, 6]  # a wall


@pytest.mark.parametrize("level", [1, 2])
def test_starts_follow_the_level(level: int) -> None:
    env = FourRooms(level=level)
    env.reset(seed=3)
    starts = np.array([env.reset()[0] for _ in range(4000)])
    frequency = np.bincount(starts, minlength=env.mdp.n_states) / len(starts)
    assert abs(frequency - env.mdp.p0).max() < 0.01
    rows, columns = env.layout.cell[starts].T
    assert ((rows < 7) & (columns < 7)).any() == (level == 1)


def test_the_picture_shows_agent_goal_and_walls() -> None:
    env = started(FourRooms(render_mode="ansi"), 5, 5)
    lines = env.render().splitlines()
    assert lines[5][5] == "@"
    assert lines[3][3] == "G"
    assert lines[0] == "#" * 15
    env.render_mode = "rgb_array"
    picture = env.render()
    assert picture.shape == (120, 120, 3)
    assert tuple(picture[44, 44]) == (40, 70, 160)


@pytest.mark.parametrize("level", [1, 2])
def test_the_optimum_in_both_faces(level: int) -> None:
    """Breadth-first distances, backward induction and episodes in Gymnasium give the same optimal
    score.
    """
    mdp = four_rooms(level)
    actions = np.argmax(mdp.optimal().q, axis=1)
    model = functional.make_model(mdp, 90)
    exact = float(functional.exact_score(model, jnp.asarray(actions)))
    assert exact == pytest.approx(OPTIMUM[level], abs=0.005)
    assert float(functional.optimal_score(model)) == pytest.approx(exact, abs=1e-4)
    env = FourRooms(level=level)
    scores = np.zeros(mdp.n_states)
    for start in np.flatnonzero(mdp.p0):
        state, ended = env.reset(seed=0, options={"state": int(start)})[0], False
        while not ended:
            state, reward, terminated, truncated, _ = env.step(np.int64(actions[state]))
            scores[start] += reward
            ended = terminated or truncated
    assert mdp.p0 @ scores == pytest.approx(exact, abs=1e-3)


def test_exact_score_against_the_exact_values() -> None:
    """Without discount and with certain termination, the score is the return of the finite MDP
    (slip makes it so).
    """
    mdp = four_rooms(1, size=7, gamma=1.0, slip=0.3)
    rng = np.random.default_rng(0)
    best = np.argmax(mdp.optimal().q, axis=1)
    policies = np.where(
        rng.random((5, mdp.n_states)) < 0.8, best, rng.integers(0, 4, (5, mdp.n_states))
    )
    scores = functional.exact_score(functional.make_model(mdp, 20_000), jnp.asarray(policies))
    expected = [mdp.evaluate(np.eye(4)[policy]).J for policy in policies]
    assert np.asarray(scores) == pytest.approx(np.array(expected), rel=1e-3)


def test_a_policy_that_never_arrives_scores_minus_nine() -> None:
    model = functional.make_model(four_rooms(2), 90)
    stuck = jnp.full(len(model.p0), NORTH)
    assert float(functional.exact_score(model, stuck)) == pytest.approx(-9.0, abs=1e-4)
    assert float(functional.rollout(model, stuck, jax.random.key(0))) == pytest.approx(
        -9.0, abs=1e-4
    )


def test_sampled_episodes_average_to_the_exact_score() -> None:
    mdp = four_rooms(1, slip=0.2)
    model = functional.make_model(mdp, 90)
    actions = jnp.asarray(np.argmax(mdp.optimal().q, axis=1))
    keys = jax.random.split(jax.random.key(1), 4000)
    sampled = np.asarray(jax.vmap(lambda key: functional.rollout(model, actions, key))(keys))
    error = 4 * sampled.std() / np.sqrt(len(sampled))
    assert abs(sampled.mean() - float(functional.exact_score(model, actions))) < error


@pytest.mark.parametrize(
    "mdp", [chain(6), deep_sea(4), four_rooms(2, size=7)], ids=lambda mdp: mdp.name
)
def test_both_faces_take_the_same_steps(mdp: FiniteMDP) -> None:
    model, env = functional.make_model(mdp, 15), TabularEnv(mdp, 15)
    start = int(np.flatnonzero(mdp.p0)[0])
    rng, key = np.random.default_rng(0), jax.random.key(0)
    state, ended = functional.EnvState(jnp.int32(start), jnp.int32(0)), False
    env.reset(seed=0, options={"state": start})
    while not ended:
        action = int(rng.integers(mdp.n_actions))
        observation, reward, terminated, truncated, _ = env.step(np.int64(action))
        state, paid, *ends = functional.step(model, state, jnp.int32(action), key)
        assert int(state.s) == observation
        assert float(paid) == pytest.approx(reward, abs=1e-6)
        assert [bool(end) for end in ends] == [terminated, truncated]
        ended = terminated or truncated


@pytest.mark.parametrize("face", ["gymnasium", "jax"])
def test_transitions_have_the_models_frequencies(face: str) -> None:
    mdp = garnet(12, 3, 4, seed=2)
    s, a, n = 0, 1, 6000
    if face == "gymnasium":
        env = TabularEnv(mdp)
        env.reset(seed=5)
        arrived = np.empty(n, dtype=int)
        for i in range(n):
            env.reset(options={"state": s})
            arrived[i] = env.step(np.int64(a))[0]
    else:
        model = functional.make_model(mdp, 100)
        state = functional.EnvState(jnp.int32(s), jnp.int32(0))
        keys = jax.random.split(jax.random.key(5), n)
        arrived = np.asarray(
            jax.vmap(lambda key: functional.step(model, state, jnp.int32(a), key)[0].s)(keys)
        )
    expected = mdp.P.toarray()[s * mdp.n_actions + a]
    assert (expected > 0).sum() == 4
    assert abs(np.bincount(arrived, minlength=mdp.n_states) / n - expected).max() < 0.03


def test_jax_starts_have_the_models_frequencies() -> None:
    mdp = four_rooms(2, size=7)
    model = functional.make_model(mdp, 90)
    starts = jax.vmap(lambda key: functional.reset(model, key).s)(
        jax.random.split(jax.random.key(0), 8000)
    )
    frequency = np.bincount(np.asarray(starts), minlength=mdp.n_states) / 8000
    assert abs(frequency - mdp.p0).max() < 0.015
    assert layout(2, 7).goal not in np.asarray(starts)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FourRooms(level=3), "level is 3"),
        (lambda: FourRooms(render_mode="human"), "render_mode is 'human'"),
        (lambda: FourRooms(horizon=0), "horizon is 0"),
        (lambda: FourRooms().step(np.int64(0)), "before reset"),
        (lambda: started(FourRooms(), 1, 1).step(np.int64(4)), "action is"),
        (lambda: FourRooms().reset(options={"state": layout().goal}), "not terminal"),
    ],
)
def test_bad_input(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_no_step_after_the_end() -> None:
    env = started(FourRooms(), 3, 2)
    env.step(np.int64(EAST))
    with pytest.raises(InputError, match="has ended"):
        env.step(np.int64(EAST))


@pytest.mark.parametrize(
    "mdp",
    [
        four_rooms(2, size=7, slip=0.2),
        chain(6),
        garnet(12, seed=3),
        four_rooms(1, size=7, gamma=0.0),
        chain(6, gamma=1.0),
    ],
    ids=["rooms", "chain", "garnet", "myopic", "undiscounted"],
)
def test_discounted_values_of_many_policies(mdp: FiniteMDP) -> None:
    model = functional.make_model(mdp, 100)
    pi = np.random.default_rng(0).dirichlet(np.ones(mdp.n_actions), (2, 3, mdp.n_states))
    exact = np.array([[mdp.evaluate(policy).q for policy in row] for row in pi])
    scale = abs(exact).max()
    assert np.asarray(
        functional.policy_q(model, jnp.asarray(pi, jnp.float32), mdp.gamma)
    ) == pytest.approx(exact, abs=1e-5 * scale)
    best = mdp.optimal().q
    assert np.asarray(functional.optimal_q(model, mdp.gamma)) == pytest.approx(
        best, abs=1e-5 * abs(best).max()
    )
