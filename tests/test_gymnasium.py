"""Import from Gymnasium, against the environments' own P read naively and against rollouts."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.gym_import import from_gymnasium
from mdps import random_policy

ENVIRONMENTS: list[tuple[str, dict[str, Any], int]] = [
    ("FrozenLake-v1", {}, 16),
    ("FrozenLake-v1", {"map_name": "8x8"}, 64),
    ("FrozenLake-v1", {"is_slippery": False}, 16),
    ("CliffWalking-v1", {}, 48),
    ("CliffWalkingSlippery-v1", {}, 48),
    ("Taxi-v4", {}, 501),
    ("Taxi-v4", {"is_rainy": True}, 501),
]
each_environment = pytest.mark.parametrize(("name", "options", "n_states"), ENVIRONMENTS)


class Toy(gym.Env[int, int]):
    """An environment made of a table P and whatever attributes a test gives it."""

    def __init__(
        self, P: Any, states: Discrete | Box, actions: Discrete, **attributes: Any
    ) -> None:
        self.observation_space = states  # type: ignore[assignment]
        self.action_space = actions  # type: ignore[assignment]
        if P is not None:
            self.P = P
        for name, value in attributes.items():
            setattr(self, name, value)


def toy(P: Any, n_states: int, n_actions: int, **attributes: Any) -> Toy:
    attributes = {"initial_state_distrib": np.eye(n_states)[0]} | attributes
    return Toy(P, Discrete(n_states), Discrete(n_actions), **attributes)


def naive_values(env: Any, pi: Any, gamma: float, sweeps: int) -> Any:
    """v of pi by sweeps over the table as it stands: a flagged transition has no future."""
    P, n, n_actions = env.unwrapped.P, int(env.observation_space.n), int(env.action_space.n)
    entries = [
        (s, pi[s, a] * p, t, r, end)
        for s in range(n)
        for a in range(n_actions)
        for p, t, r, end in P[s][a]
    ]
    state, weight, successor, reward, ends = (
        np.array(column) for column in zip(*entries, strict=True)
    )
    v: Any = np.zeros(n)
    for _ in range(sweeps):
        v = np.bincount(
            state.astype(int),
            weight * (reward + gamma * np.where(ends, 0.0, v[successor.astype(int)])),
            n,
        )
    return v


@each_environment
def test_values_follow_the_table_and_its_flags(
    name: str, options: dict[str, Any], n_states: int
) -> None:
    mdp = from_gymnasium(name, gamma=0.9, **options)
    env: Any = gym.make(name, **options)
    assert (mdp.n_states, mdp.n_actions) == (n_states, env.action_space.n)
    pi = random_policy(1, mdp)
    v = naive_values(env, pi, 0.9, 300)
    decides = np.flatnonzero(~mdp.is_terminal)
    np.testing.assert_allclose(mdp.evaluate(pi).v[decides], v[decides], atol=1e-9)
    start = env.unwrapped.initial_state_distrib
    np.testing.assert_allclose(mdp.p0[: len(start)], start)
    assert pytest.approx(start @ v, abs=1e-9) == mdp.evaluate(pi).J
    assert mdp.name == name
    assert mdp.gamma == 0.9


def rollouts(env: Any, pi: Any, gamma: float, episodes: int, horizon: int) -> Any:
    """Discounted returns of `pi`, without the wrappers' time limit."""
    inner = env.unwrapped
    rng = np.random.default_rng(7)
    choices = pi.cumsum(axis=1)
    returns = np.zeros(episodes)
    state, _ = inner.reset(seed=11)
    for episode in range(episodes):
        for t, u in enumerate(rng.random(horizon)):
            action = min(int(np.searchsorted(choices[state], u)), pi.shape[1] - 1)
            state, reward, terminated, _, _ = inner.step(action)
            returns[episode] += gamma**t * reward
            if terminated:
                break
        state, _ = inner.reset()
    return returns


@pytest.mark.parametrize(
    ("name", "options", "gamma", "episodes", "horizon"),
    [
        ("FrozenLake-v1", {}, 0.99, 6000, 2000),
        ("FrozenLake-v1", {"map_name": "8x8"}, 0.99, 3000, 2000),
        ("CliffWalking-v1", {}, 0.9, 1000, 150),
        ("Taxi-v4", {}, 0.9, 800, 150),
    ],
)
def test_rollouts_agree_with_the_exact_return(
    name: str, options: dict[str, Any], gamma: float, episodes: int, horizon: int
) -> None:
    mdp = from_gymnasium(name, gamma=gamma, **options)
    pi = 0.5 * random_policy(2, mdp) + 0.5 * mdp.optimal().pi
    returns = rollouts(gym.make(name, **options), pi, gamma, episodes, horizon)
    error = returns.std() / np.sqrt(episodes)
    assert 0 < error < 0.2 * max(abs(returns.mean()), 0.05)
    assert abs(returns.mean() - mdp.evaluate(pi).J) < 4 * error


def test_terminal_states() -> None:
    np.testing.assert_array_equal(from_gymnasium("FrozenLake-v1").terminal, [5, 7, 11, 12, 15])
    np.testing.assert_array_equal(from_gymnasium("CliffWalking-v1").terminal, [47])
    np.testing.assert_array_equal(from_gymnasium("Taxi-v4").terminal, [500])
    # the shortest way along the cliff: 13 steps
    assert from_gymnasium("CliffWalking-v1", gamma=1.0).J_star == pytest.approx(-13.0)
    assert from_gymnasium("FrozenLake-v1", gamma=1.0, is_slippery=False).J_star == pytest.approx(
        1.0
    )


def test_an_environment_may_be_given_with_its_wrappers() -> None:
    env = gym.make("FrozenLake-v1", map_name="8x8")
    given, made = (
        from_gymnasium(env, gamma=0.95),
        from_gymnasium("FrozenLake-v1", gamma=0.95, map_name="8x8"),
    )
    np.testing.assert_array_equal(given.P.toarray(), made.P.toarray())
    np.testing.assert_array_equal(given.r, made.r)
    assert given.name == made.name == "FrozenLake-v1"
    assert env.reset(seed=0)[0] == 0  # still usable
    with pytest.raises(
        InputError, match="map_name given beside an environment; such options go with an id"
    ):
        from_gymnasium(env, map_name="4x4")


def test_repetitions_are_accumulated_with_their_expected_reward() -> None:
    P = {
        0: {
            0: [
                (0.2, 1, 5.0, False),
                (0.3, 1, -1.0, False),
                (0.5, 0, 2.0, False),
                (0.0, 0, 99.0, True),
            ]
        },
        1: {0: [(0.25, 0, 1.0, False), (0.75, 0, 3.0, True)]},
    }
    mdp = from_gymnasium(toy(P, 2, 1), gamma=0.5)
    assert mdp.n_states == 3
    np.testing.assert_array_equal(mdp.terminal, [2])
    np.testing.assert_allclose(
        mdp.P.toarray(), [[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [0.0, 0.0, 0.0]]
    )
    np.testing.assert_allclose(mdp.r_next, [2.0, (0.2 * 5.0 - 0.3) / 0.5, 1.0, 3.0])
    np.testing.assert_allclose(mdp.r[:, 0], [1.0 + 0.7, 0.25 + 2.25, 0.0])


def test_a_start_state_is_never_terminal() -> None:
    P = {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 0, 4.0, True)]}}
    mdp = from_gymnasium(toy(P, 2, 1, initial_state_distrib=[0.5, 0.5]), gamma=0.5)
    np.testing.assert_array_equal(mdp.terminal, [2])
    assert mdp.J_star == pytest.approx(0.5 * 1.0 + 0.5 * 4.0)


def test_a_task_without_an_end_has_no_terminal_state() -> None:
    P = [[[(1.0, 1, 1.0, False)]], [[(1.0, 0, 0.0, False)]]]  # lists serve as well as dicts
    mdp = from_gymnasium(toy(P, 2, 1), gamma=0.5)
    assert len(mdp.terminal) == 0
    assert mdp.J_star == pytest.approx(1.0 / (1.0 - 0.25))


@pytest.mark.parametrize("shifted", [True, False])
def test_spaces_that_do_not_start_at_0(shifted: bool) -> None:
    """States 3, 4, 5 and actions 1, 2 become 0, 1, 2 and 0, 1, whether the table counts from the
    start or from 0.
    """
    s0, a0 = (3, 1) if shifted else (0, 0)
    P = {
        s0: {a0: [(1.0, s0 + 1, 0.0, False)], a0 + 1: [(1.0, s0, -1.0, False)]},
        s0 + 1: {a0: [(1.0, s0, 0.0, False)], a0 + 1: [(1.0, s0 + 2, 7.0, True)]},
        s0 + 2: {a0: [(1.0, s0 + 2, 0.0, True)], a0 + 1: [(1.0, s0 + 2, 0.0, True)]},
    }
    env = Toy(P, Discrete(3, start=3), Discrete(2, start=1), start_state_index=s0)
    mdp = from_gymnasium(env, gamma=0.5)
    np.testing.assert_array_equal(mdp.terminal, [2])
    np.testing.assert_array_equal(mdp.p0, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(mdp.optimal().actions[:2], [0, 1])
    assert mdp.J_star == pytest.approx(3.5)


def test_the_initial_distribution_is_found_or_asked_for() -> None:
    P = {0: {0: [(1.0, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    with pytest.raises(
        InputError, match=r"it does not say where episodes start \(initial_state_distrib\); give p0"
    ):
        from_gymnasium(toy(P, 2, 1, initial_state_distrib=None))
    assert from_gymnasium(toy(P, 2, 1, initial_state_distrib=None), p0=[1.0, 0.0]).J_star == 1.0
    assert from_gymnasium(toy(P, 2, 1, initial_state_distrib=None, isd=[1.0, 0.0])).J_star == 1.0
    assert (
        from_gymnasium(toy(P, 2, 1, initial_state_distrib=None, start_state_index=0)).J_star == 1.0
    )
    faults: list[tuple[dict[str, Any], str]] = [
        ({"initial_state_distrib": [0.5, 0.4]}, "Toy: p0 is not a distribution"),
        (
            {"initial_state_distrib": [1.0]},
            r"Toy: p0 has shape \(1,\); the environment has 2 states",
        ),
        (
            {"initial_state_distrib": None, "start_state_index": 9},
            "Toy: start_state_index is 9, which is not a state",
        ),
    ]
    for attributes, sentence in faults:
        with pytest.raises(InputError, match=sentence):
            from_gymnasium(toy(P, 2, 1, **attributes))


GOOD = {0: {0: [(1.0, 1, 0.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}


@pytest.mark.parametrize(
    ("P", "sentence"),
    [
        (None, "Toy has no unwrapped.P, the model that is read (its observations are Discrete(2))"),
        (
            GOOD | {0: {0: [(0.4, 1, 0.0, True), (0.5, 0, 0.0, False)]}},
            "Toy: P does not sum to 1 for state 0, action 0: the row sums to 0.9",
        ),
        (GOOD | {0: {0: []}}, "Toy: P does not sum to 1 for state 0, action 0: the row sums to 0"),
        (
            GOOD | {0: {0: [(1.5, 1, 0.0, True), (-0.5, 1, 0.0, True)]}},
            "Toy: P has the probability -0.5 for state 0, action 0",
        ),
        (
            GOOD | {0: {0: [(np.nan, 1, 0.0, True)]}},
            "Toy: P has the probability nan for state 0, action 0",
        ),
        (
            GOOD | {0: {0: [(1.0, 1, np.nan, False)]}},
            "Toy: r is not a finite number for state 0, action 0",
        ),
        (
            GOOD | {0: {0: [(1.0, 2, 0.0, True)]}},
            "Toy: P leads from state 0, action 0 to 2, which is not a state",
        ),
        (
            GOOD | {0: {0: [(1.0, 0.5, 0.0, True)]}},
            "Toy: P leads from state 0, action 0 to 0.5, which is not a state",
        ),
        (
            GOOD | {0: {0: [(1.0, 1, 0.0)]}},
            "Toy: P has the entry (1.0, 1, 0.0) for state 0, action 0; it must hold 4 fields",
        ),
        (
            {0: GOOD[0]},
            "Toy: P does not have an entry for each state: the space has 2, starting at 0",
        ),
        (
            GOOD | {1: {}},
            "Toy: P does not have an entry for each action of state 1: "
            "the space has 1, starting at 0",
        ),
        (GOOD | {0: {0: [("one", 1, 0.0, True)]}}, "Toy: could not convert string to float: 'one'"),
        (GOOD | {0: {0: 3}}, "Toy: 'int' object is not iterable"),
    ],
)
def test_faults_of_a_table(P: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        from_gymnasium(toy(P, 2, 1))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: from_gymnasium("Blackjack-v1"),
            r"Blackjack-v1 has no unwrapped.P.*its observations are Tuple",
        ),
        (
            lambda: from_gymnasium("CartPole-v1"),
            r"CartPole-v1 has no unwrapped.P.*its observations are Box",
        ),
        (
            lambda: from_gymnasium("Nowhere-v0"),
            r"cannot make the environment 'Nowhere-v0': .*doesn't exist",
        ),
        (lambda: from_gymnasium("Taxi-v99"), r"cannot make the environment 'Taxi-v99'"),
        (
            lambda: from_gymnasium("FrozenLake-v1", map_name="9x9"),
            r"cannot make the environment 'FrozenLake-v1'",
        ),
        (
            lambda: from_gymnasium("FrozenLake-v1", colour="red"),
            r"cannot make the environment 'FrozenLake-v1'.*colour",
        ),
        (
            lambda: from_gymnasium("FrozenLake-v1", gamma=1.5),
            r"FrozenLake-v1: gamma is 1.5; it must lie in \[0, 1\]",
        ),
        (
            lambda: from_gymnasium("Taxi-v4", fickle_passenger=True),
            r"Taxi-v4 with fickle_passenger=True is not what its P says",
        ),
        (
            lambda: from_gymnasium(3),  # type: ignore[arg-type]
            r"env is 3; it must be the id of a Gymnasium environment, an environment, or",
        ),
        (
            lambda: from_gymnasium(Toy(GOOD, Box(0.0, 1.0), Discrete(1))),
            r"Toy .* its observation space is Box",
        ),
        (
            lambda: from_gymnasium(Toy(GOOD, Discrete(2), Box(0.0, 1.0))),  # type: ignore[arg-type]
            r"Toy .* its action space is Box",
        ),
    ],
)
def test_what_cannot_be_imported(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_gymnasium_mdp_goes_through_a_file(tmp_path: Any) -> None:
    mdp = from_gymnasium("CliffWalking-v1", gamma=0.95)
    mdp.save(tmp_path / "cliff.npz")
    back = FiniteMDP.load(tmp_path / "cliff.npz")
    np.testing.assert_array_equal(back.r_next, mdp.r_next)
    assert back.J_star == mdp.J_star
