"""The step-by-step agents on Gymnasium environments: the contract, masks, termination and
truncation, files, real clients.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import jekyllhyde as jh
from jekyllhyde.errors import InputError
from jekyllhyde.tabular.agents import TabularJekyllHyde, TabularOnPolicy
from jekyllhyde.tabular.arrays import SIZE_HYDE, SIZE_JEKYLL, STATE, STEPS
from jekyllhyde.tabular.check import check_agent
from jekyllhyde.tabular.learn import learn

J, P = TabularJekyllHyde, TabularOnPolicy


class Corridor(gym.Env[Any, Any]):
    """States 5..9, actions 3 (left) and 4 (right); 1 on reaching state 9, which ends the episode;
    cut after `limit` steps.
    """

    def __init__(self, limit: int = 50, mask: bool = False, seeded: bool = True) -> None:
        self.observation_space, self.action_space = Discrete(5, start=5), Discrete(2, start=3)
        self.limit, self.mask, self.seeded = limit, mask, seeded
        self.taken: list[tuple[int, int]] = []
        self.state = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        if not self.seeded:
            raise TypeError("reset() got an unexpected keyword argument 'seed'")
        super().reset(seed=seed)
        self.state, self.steps = 5, 0
        return self.state, self._info()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.taken.append((self.state, action))
        self.state = max(5, self.state + (1 if action == 4 else -1))
        self.steps += 1
        return (
            self.state,
            float(self.state == 9),
            self.state == 9,
            self.steps == self.limit,
            self._info(),
        )

    def _info(self) -> dict[str, Any]:
        return (
            {"action_mask": np.array([self.state % 2 == 0, True], dtype=np.int8)}
            if self.mask
            else {}
        )


FACTORIES = {
    "jekyll-hyde": lambda seed: J(seed=seed, epsilon="10/sqrt(t)"),
    "paper": lambda seed: J(seed=seed, convention="paper", epsilon=0.5, batch=2),
    "ring": lambda seed: J(seed=seed, capacity=30, epsilon=0.5),
    "keep": lambda seed: J(
        seed=seed, capacity=30, when_full="keep", epsilon=0.5, parametrization="direct"
    ),
    "pg": lambda seed: P(seed=seed),
    "replay": lambda seed: P(seed=seed, replay=True, batch=3, lam=0.01),
}


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("env", ["FrozenLake-v1", "Taxi-v4"])
def test_agents_keep_the_contract(name: str, env: str) -> None:
    check_agent(FACTORIES[name], lambda: gym.make(env))


@pytest.mark.parametrize("broken", ["same seed", "different seeds", "two calls", "loaded"])
def test_check_agent_notices_broken_promises(broken: str) -> None:
    calls = iter(range(100))

    def factory(seed: int) -> Any:
        if broken == "same seed":
            return J(seed=next(calls))
        if broken == "different seeds":
            return J(seed=0)
        agent = J(seed=seed)
        if broken == "two calls":
            learn_once = agent.learn
            object.__setattr__(agent, "learn", lambda env, steps: learn_once(env, steps + 1))
        else:
            object.__setattr__(agent, "save", lambda path: saved(seed, path))
        return agent

    def saved(seed: int, path: Path) -> None:
        other = J(seed=seed + 1)
        other.learn(gym.make("FrozenLake-v1"), 100)
        other.save(path)

    with pytest.raises(
        AssertionError, match=broken if broken != "loaded" else "a loaded agent differs"
    ):
        check_agent(factory)


def test_spaces_may_start_anywhere_and_the_corridor_is_learned() -> None:
    env, agent = Corridor(), J(epsilon=0.5, normalization="none", eta=10.0)
    episodes = agent.learn(env, 3000)
    assert [agent.predict(s) for s in range(5, 9)] == [4] * 4
    assert episodes.returns[-1] == 1.0
    assert (episodes.lengths > 0).all()
    assert episodes.lengths.sum() <= 3000
    assert {int(x) for x in episodes.hyde} == {0, 1}
    np.testing.assert_allclose(agent.q[:4, 1], 0.99 ** np.arange(3, -1, -1), atol=1e-3)
    assert agent.predict(5, deterministic=False) in (3, 4)


def test_masked_actions_are_never_taken_nor_counted_on() -> None:
    env = Corridor(mask=True)
    for agent in (
        J(epsilon=0.5),
        J(epsilon=0.5, parametrization="direct"),
        P(lam=0.1),
        P(convention="paper"),
    ):
        env.taken.clear()
        agent.learn(env, 500)
        assert all(action == 4 or state % 2 == 0 for state, action in env.taken)
        assert {action for state, action in env.taken if state == 6} == {3, 4}
        assert agent.pi[[0, 2], 0].max() == 0.0
        np.testing.assert_allclose(agent.pi.sum(axis=1), 1.0)
        assert np.isfinite(agent.q).all()
        env = Corridor(mask=True)


def test_termination_ends_the_return_and_truncation_does_not() -> None:
    """One state that pays 1 for ever, cut after each step: worth 1 / (1 - gamma); ended after each
    step: worth 1.
    """

    class Payer(gym.Env[Any, Any]):
        observation_space, action_space = Discrete(1), Discrete(2)

        def __init__(self, terminate: bool) -> None:
            self.terminate = terminate

        def reset(
            self, *, seed: int | None = None, options: Any = None
        ) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            return 0, {}

        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            return 0, 1.0, self.terminate, not self.terminate, {}

    for terminate, value in ((True, 1.0), (False, 10.0)):
        agent = J(gamma=0.9, eta_c=0.5)
        agent.learn(Payer(terminate), 2000)
        np.testing.assert_allclose(agent.q, value, rtol=1e-3)


def test_step_by_step_and_on_the_model_are_the_same_algorithm() -> None:
    """Where the transitions are deterministic, both draw the same random numbers: the tables agree
    to the last bit.
    """
    gamma = 0.99
    mdp = jh.FiniteMDP(*corridor_model(), gamma=gamma, terminal=[4])
    for agent in (
        J(epsilon="10/sqrt(t)", successor="stored", batch=2),
        P(),
        P(replay=True),
        P(lam=0.05),
    ):
        on_model = learn(mdp, agent, trajectories=40, horizon=50)
        steps = int(on_model.steps[0, -1])
        agent.learn(Corridor(), steps)
        np.testing.assert_array_equal(agent.pi[:4], on_model.pi[0][:4])
        np.testing.assert_array_equal(agent.q[:4], on_model.q[0][:4])


def corridor_model() -> tuple[np.ndarray, np.ndarray]:
    P_model, r = np.zeros((5, 2, 5)), np.zeros((5, 2))
    for s in range(4):
        P_model[s, 0, max(0, s - 1)] = P_model[s, 1, s + 1] = 1.0
    r[3, 1] = 1.0
    return P_model, r


def test_bounded_buffers_hold_what_they_should() -> None:
    for when_full in ("ring", "keep"):
        agent = J(capacity=10, when_full=when_full, epsilon=0.5)
        agent.learn(gym.make("FrozenLake-v1"), 400)
        state, edges = agent.learner.state, agent.learner.edges
        assert state.log.shape == (2, 10)
        assert state.clock[SIZE_JEKYLL] + state.clock[SIZE_HYDE] == state.clock[STEPS] == 400
        assert len(edges.r) < 2000
        assert state.log.max() < 20
        if when_full == "ring":
            latest = int(state.clock[SIZE_HYDE] - 1) % 10
            assert edges.next[state.log[0]].max() < 64
            assert state.log[1, latest] == 10 + latest


def test_learning_goes_on_across_files_and_refuses_another_environment(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    agent = J(epsilon="10/sqrt(t)", seed=3)
    agent.learn(gym.make("FrozenLake-v1"), 123)
    agent.save(path)
    loaded = J.load(path)
    assert loaded.settings == agent.settings
    with pytest.raises(
        InputError,
        match=r"has learned FrozenLake-v1 \(16 states, 4 actions\); it cannot go on in Taxi-v4",
    ):
        loaded.learn(gym.make("Taxi-v4"), 10)
    with pytest.raises(InputError, match="did not come back"):
        J.load(path).learn(gym.make("FrozenLake-v1", is_slippery=False), 10)
    with pytest.raises(InputError, match="this class reads 'on-policy'"):
        P.load(path)


def test_bad_files_get_one_clear_sentence(tmp_path: Path) -> None:
    path, good = tmp_path / "bad.npz", tmp_path / "good.npz"
    agent = J(epsilon=0.5)
    agent.learn(gym.make("FrozenLake-v1"), 50)
    agent.save(good)
    content = good.read_bytes()
    arrays = dict(np.load(good))
    header = json.loads(str(arrays.pop("header")))

    def write(changed: dict[str, Any], **changes: Any) -> None:
        np.savez(path, header=np.array(json.dumps(header | changed)), **{**arrays, **changes})

    def without(name: str) -> None:
        np.savez(
            path,
            header=np.array(json.dumps(header)),
            **{k: v for k, v in arrays.items() if k != name},
        )

    clock = arrays["clock"].copy()
    clock[STATE] = 99
    faults: list[Callable[[], Any]] = [
        lambda: path.write_bytes(b"nothing"),
        lambda: path.write_bytes(content[: len(content) // 2]),
        lambda: np.savez(path, x=np.zeros(3)),
        lambda: write({"version": 99}),
        lambda: write({"format": "other"}),
        lambda: write({"settings": {"eta": -1}}),
        lambda: write({"settings": {"magic": 1}}),
        lambda: without("pi"),
        lambda: without("q"),
        lambda: write({}, q=arrays["q"][:3]),
        lambda: write({}, clock=clock),
        lambda: write({}, edge_next=arrays["edge_next"] + np.uint32(64)),
        lambda: write({}, log_jekyll=arrays["log_jekyll"] + np.uint32(10**6)),
        lambda: write({}, log_jekyll=arrays["log_jekyll"][:2]),
    ]
    for fault in faults:
        fault()
        with pytest.raises(InputError) as caught:
            J.load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="cannot read the agent file"):
        J.load(tmp_path / "missing.npz")
    with pytest.raises(InputError, match="cannot write the agent file"):
        agent.save(tmp_path / "no" / "such" / "folder.npz")
    own = J(epsilon=lambda t: 0.5)
    own.learn(gym.make("FrozenLake-v1"), 5)
    with pytest.raises(InputError, match="epsilon is the callable"):
        own.save(path)


def test_bad_environments_and_calls_get_one_clear_sentence() -> None:
    class Continuous(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = Box(0.0, 1.0)

    agent = J()
    cases: list[tuple[Any, str]] = [
        (lambda: agent.learn("FrozenLake-v1", 5), "must be a Gymnasium environment"),
        (lambda: agent.learn(Continuous(), 5), r"observation_space is Box.*takes Discrete"),
        (lambda: J().learn(Corridor(seeded=False), 5), "takes no seed"),
        (lambda: J().learn(Corridor(), -1), "steps is -1"),
        (lambda: J().predict(3), "has not learned yet"),
        (lambda: J().save("x.npz"), "has not learned yet"),
        (lambda: J(critic="mle").learn(Corridor(), 5), "'mle', which needs a known MDP"),
        (
            lambda: P(critic="q_learning", eta_c=100.0).learn(Corridor(), 3000),
            "finite numbers at step",
        ),
    ]
    for call, words in cases:
        with pytest.raises(InputError, match=words):
            call()
    agent.learn(Corridor(), 5)
    for observation in (4, 10, 5.5, [5]):
        with pytest.raises(InputError, match="integer from 5 to 9"):
            agent.predict(observation)  # type: ignore[arg-type]


def test_a_mask_that_changes_is_refused() -> None:
    class Fickle(Corridor):
        def _info(self) -> dict[str, Any]:
            return {"action_mask": np.array([self.steps % 2 == 0, True], dtype=np.int8)}

    with pytest.raises(InputError, match="mask of state 5 changed"):
        P(seed=0).learn(Fickle(), 200)


CLIENTS: list[tuple[str, dict[str, Any], dict[str, Any], int, float]] = [
    (
        "CliffWalking-v1",
        {"max_episode_steps": 200},
        {"epsilon": 0.5, "eta_c": 0.2, "hyde_eta": 0.5, "batch": 4},
        60_000,
        1e-9,
    ),
    (
        "Taxi-v4",
        {},
        {"epsilon": 0.2, "eta_c": 1.0, "hyde_eta": 1.0, "batch": 8, "critic": "q_learning"},
        200_000,
        0.2,
    ),
    (
        "FrozenLake-v1",
        {"map_name": "8x8"},
        {
            "epsilon": 0.5,
            "eta": 1.0,
            "eta_c": 0.5,
            "hyde_eta": 0.2,
            "hyde_q0": 100.0,
            "batch": 16,
            "parametrization": "direct",
        },
        300_000,
        0.004,
    ),
]


@pytest.mark.parametrize(
    ("name", "options", "settings", "steps", "tolerance"),
    CLIENTS,
    ids=[name for name, *_ in CLIENTS],
)
def test_real_environments_are_learned_to_the_optimum_of_their_model(
    name: str, options: dict[str, Any], settings: dict[str, Any], steps: int, tolerance: float
) -> None:
    """Jekyll's greedy policy, evaluated exactly in the model behind the environment."""
    model_options = {key: value for key, value in options.items() if key != "max_episode_steps"}
    mdp = jh.from_gymnasium(name, gamma=0.99, **model_options)
    agent = J(
        **settings, normalization="none", density="undiscounted", bonus="count", hyde_clip=np.inf
    )
    agent.learn(gym.make(name, **options), steps)
    pi = mdp.uniform_policy()
    pi[: len(agent.pi)] = np.eye(mdp.n_actions)[agent.pi.argmax(axis=1)]
    assert mdp.evaluate(pi).J == pytest.approx(mdp.J_star, abs=tolerance)
