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
from jekyllhyde.agent_promises import check_agent
from jekyllhyde.errors import InputError
from jekyllhyde.tabular.agents import TabularAgent, TabularJekyllHyde, TabularOnPolicy
from jekyllhyde.tabular.learn import learn
from reference_tabular import Published

J, P = Published, TabularOnPolicy


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
    "jekyll-hyde": lambda env, seed: J(env, seed=seed, epsilon="10/sqrt(t)"),
    "paper": lambda env, seed: J(env, seed=seed, convention="paper", epsilon=0.5, batch=2),
    "ring": lambda env, seed: J(env, seed=seed, capacity=30, epsilon=0.5),
    "keep": lambda env, seed: J(
        env, seed=seed, capacity=30, when_full="keep", epsilon=0.5, parametrization="direct"
    ),
    "pg": lambda env, seed: P(env, seed=seed),
    "replay": lambda env, seed: P(env, seed=seed, replay=True, batch=3, lam=0.01),
}


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("env", ["FrozenLake-v1", "Taxi-v4"])
def test_agents_keep_the_contract(name: str, env: str) -> None:
    check_agent(FACTORIES[name], lambda: gym.make(env))


BROKEN = {
    "same seed": "two agents with the same seed differ",
    "different seeds": "two agents with different seeds are the same",
    "two calls": "learning in two calls",
    "loaded": "a loaded agent differs",
    "callbacks": "callbacks are not told",
    "returns": "learn does not return the agent",
    "batch": "predict on a batch",
    "probabilities": "probabilities are not those of one action",
    "asking": "asking an agent changes",
    "failures": "learning on after the environment raised",
}


@pytest.mark.parametrize("broken", BROKEN)
def test_check_agent_notices_broken_promises(broken: str) -> None:
    calls = iter(range(100))

    class Faulty(TabularJekyllHyde):
        def learn(self, total_timesteps: int, *, callback: Any = None, **more: Any) -> Any:
            if broken == "callbacks":
                callback = None
            super().learn(total_timesteps, callback=callback)
            super().learn(int(broken == "two calls"))
            return None if broken == "returns" else self

        def predict(self, observation: Any, *more: Any, **options: Any) -> Any:
            action = super().predict(observation, *more, **options)
            return 3 - action if broken == "batch" and np.ndim(observation) else action

        def probabilities(self, observation: Any) -> Any:
            self.learner.state.tables.q[0] += broken == "asking"
            return super().probabilities(observation) * (1 + (broken == "probabilities"))

        def _enter(self, interrupts: Any) -> None:
            self.is_inside |= broken == "failures" and self._failures > 0
            super()._enter(interrupts)

        def save(self, path: Any) -> None:
            other = self if broken != "loaded" else J("FrozenLake-v1", seed=7).learn(100)
            J.save(other, path)

    def factory(env: Any, seed: int) -> Any:
        seeds = {"same seed": next(calls), "different seeds": 0}
        return Faulty(env, seed=seeds.get(broken, seed))

    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_agent(factory)


def test_spaces_may_start_anywhere_and_the_corridor_is_learned() -> None:
    agent = J(Corridor(), epsilon=0.5, normalization="none", eta=10.0)
    episodes = agent.learn(3000).episodes
    assert [agent.predict(s) for s in range(5, 9)] == [4] * 4
    assert episodes.returns[-1] == 1.0
    assert (episodes.lengths > 0).all()
    assert episodes.lengths.sum() <= 3000
    assert {int(x) for x in episodes.hyde} == {0, 1}
    np.testing.assert_allclose(agent.tables.q[:4, 1], 0.99 ** np.arange(3, -1, -1), atol=1e-3)
    assert agent.predict(5, deterministic=False) in (3, 4)
    assert agent.predict(np.arange(5, 9)).tolist() == [4] * 4
    assert set(agent.predict(np.full(50, 5), deterministic=False).tolist()) <= {3, 4}


def test_masked_actions_are_never_taken_nor_counted_on() -> None:
    makers: list[Callable[[Any], TabularAgent]] = [
        lambda env: J(env, epsilon=0.5),
        lambda env: J(env, epsilon=0.5, parametrization="direct"),
        lambda env: P(env, lam=0.1),
        lambda env: P(env, convention="paper"),
    ]
    for make in makers:
        env = Corridor(mask=True)
        agent = make(env).learn(500)
        assert all(action == 4 or state % 2 == 0 for state, action in env.taken)
        assert {action for state, action in env.taken if state == 6} == {3, 4}
        assert agent.tables.pi[[0, 2], 0].max() == 0.0
        np.testing.assert_allclose(agent.tables.pi.sum(axis=1), 1.0)
        assert np.isfinite(agent.tables.q).all()


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
        agent = J(Payer(terminate), gamma=0.9, eta_c=0.5).learn(2000)
        np.testing.assert_allclose(agent.tables.q, value, rtol=1e-3)


def test_step_by_step_and_on_the_model_are_the_same_algorithm() -> None:
    """Where the transitions are deterministic, both draw the same random numbers: the tables agree
    to the last bit.
    """
    gamma = 0.99
    mdp = jh.FiniteMDP(*corridor_model(), gamma=gamma, terminal=[4])
    for agent in (
        J(Corridor(), epsilon="10/sqrt(t)", successor="stored", batch=2),
        P(Corridor()),
        P(Corridor(), replay=True),
        P(Corridor(), lam=0.05),
    ):
        on_model = learn(mdp, agent, trajectories=40, horizon=50)
        steps = int(on_model.steps[0, -1])
        agent.learn(steps)
        np.testing.assert_array_equal(agent.tables.pi[:4], on_model.pi[0][:4])
        np.testing.assert_array_equal(agent.tables.q[:4], on_model.q[0][:4])


def corridor_model() -> tuple[np.ndarray, np.ndarray]:
    P_model, r = np.zeros((5, 2, 5)), np.zeros((5, 2))
    for s in range(4):
        P_model[s, 0, max(0, s - 1)] = P_model[s, 1, s + 1] = 1.0
    r[3, 1] = 1.0
    return P_model, r


def test_bounded_buffers_hold_what_they_should() -> None:
    for when_full in ("ring", "keep"):
        agent = J("FrozenLake-v1", capacity=10, when_full=when_full, epsilon=0.5).learn(400)
        state, edges = agent.learner.state, agent.learner.edges
        assert state.log.shape == (2, 10)
        assert sum(state.sizes) == state.steps == 400
        assert len(edges.r) < 2000
        assert state.log.max() < 20
        if when_full == "ring":
            latest = (state.sizes[1] - 1) % 10
            assert edges.next[state.log[0]].max() < 64
            assert state.log[1, latest] == 10 + latest


def test_learning_goes_on_across_files_and_refuses_another_environment(tmp_path: Path) -> None:
    path = tmp_path / "agent.npz"
    agent = J("FrozenLake-v1", epsilon="10/sqrt(t)", seed=3).learn(123)
    agent.save(path)
    loaded = J.load(path, "FrozenLake-v1")
    assert loaded.settings == agent.settings
    assert loaded.episodes == agent.episodes
    with pytest.raises(
        InputError,
        match=r"has learned FrozenLake-v1 \(16 states, 4 actions\); it cannot go on in Taxi-v4",
    ):
        J.load(path, "Taxi-v4")
    with pytest.warns(UserWarning, match="a new episode begins"):
        moved = J.load(path, gym.make("FrozenLake-v1", is_slippery=False)).learn(10)
    assert moved.steps == 133
    with pytest.raises(InputError, match="has no environment"):
        J.load(path).learn(10)
    with pytest.raises(InputError, match="this class reads 'tabular_on_policy'"):
        P.load(path)


def test_bad_files_get_one_clear_sentence(tmp_path: Path) -> None:
    path, good = tmp_path / "bad.npz", tmp_path / "good.npz"
    agent = J("FrozenLake-v1", epsilon=0.5).learn(50)
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

    elsewhere, nowhere = (arrays["position"].copy() for _ in range(2))
    elsewhere["row"], nowhere["row"] = 99 * 4, 3
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
        lambda: write({}, position=elsewhere),
        lambda: write({}, position=nowhere),
        lambda: write({"shape": [10**9, 4]}),
        lambda: write({}, pi=np.full_like(arrays["pi"], np.nan)),
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
    with pytest.raises(InputError, match="cannot write"):
        agent.save(tmp_path / "no" / "such" / "folder.npz")
    own = J("FrozenLake-v1", epsilon=lambda t: 0.5).learn(5)
    with pytest.raises(InputError, match="epsilon is the callable"):
        own.save(path)


def test_bad_environments_and_calls_get_one_clear_sentence() -> None:
    class Continuous(Corridor):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = Box(0.0, 1.0)

    cases: list[tuple[Any, str]] = [
        (lambda: J("NoSuchLake-v1"), "cannot make the environment"),
        (lambda: J(5), "must be the id of a Gymnasium environment, an environment, or"),
        (lambda: J(Continuous()), r"observation_space is Box.*takes Discrete"),
        (lambda: J(Corridor(seeded=False)).learn(5), "takes no seed"),
        (lambda: J(Corridor()).learn(-1), "total_timesteps is -1"),
        (lambda: J().learn(5), "has no environment"),
        (lambda: J().predict(3), "has not learned yet"),
        (lambda: J().save("x.npz"), "has not learned yet"),
        (lambda: J(Corridor(), critic="mle"), "'mle', which needs a known MDP"),
        (
            lambda: P(Corridor(), critic="q_learning", eta_c=100.0).learn(3000),
            "finite numbers at step",
        ),
    ]
    for call, words in cases:
        with pytest.raises(InputError, match=words):
            call()
    agent = J(Corridor()).learn(5)
    for observation in (4, 10, 5.5, [5, 12], [[5]], np.nan):
        with pytest.raises(InputError, match="integer from 5 to 9"):
            agent.predict(observation)


@pytest.mark.parametrize("lie", [10, 4, -1, 5.5, np.nan, "5", None, [5], 2**40])
@pytest.mark.parametrize("at_reset", [False, True])
def test_an_observation_outside_the_space_never_reaches_the_loop(lie: Any, at_reset: bool) -> None:
    class Liar(Corridor):
        def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
            observation, info = super().reset(**kwargs)
            return (lie if at_reset else observation), info

        def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            observation, *rest = super().step(action)
            return (lie if self.steps == 3 else observation), *rest  # type: ignore[return-value]

    agent = J(Liar())
    with pytest.raises(InputError, match=r"Liar returned the observation .* integers from 5 to 9"):
        agent.learn(10)
    assert np.isfinite(agent.tables.q).all()


@pytest.mark.parametrize("reward", [np.nan, np.inf])
def test_a_reward_that_is_not_finite_is_refused(reward: float) -> None:
    class Liar(Corridor):
        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            observation, _, *rest = super().step(action)
            return observation, reward, *rest  # type: ignore[return-value]

    with pytest.raises(InputError, match="returned the reward"):
        J(Liar()).learn(10)


def test_an_agent_of_version_0_1_is_read(tmp_path: Path) -> None:
    """A file as version 0.1 wrote it: flat settings with the seed, a clock and 2-d tables. What was
    learned is there, and a new episode begins.
    """
    agent = J("FrozenLake-v1", epsilon=0.5, seed=4).learn(60)
    agent.save(tmp_path / "new.npz")
    arrays = dict(np.load(tmp_path / "new.npz"))
    header = json.loads(str(arrays.pop("header")))
    position, _ = arrays.pop("position")[0], arrays.pop("episodes")
    names = ("steps", "trajectories", "k", "row", "control", "size_jekyll", "size_hyde")
    clock = [int(position[name]) for name in (*names, "hyde_trajectories")] + [0, 59, 0]
    clock[3] //= 4
    tables = {name: arrays[name].reshape(16, 4) for name in ("theta", "pi", "q", "q_hyde", "n")}
    sums = np.array([position["factor"], position["factor_sum"]])
    settings = {**header.pop("settings"), "seed": header.pop("seed")}
    del settings["actor"], header["shape"]
    header |= {"version": 1, "agent": "jekyll-hyde", "settings": settings}
    old = {**arrays, **tables, "clock": np.array(clock), "sums": sums}
    np.savez(tmp_path / "old.npz", header=np.array(json.dumps(header)), **old)
    loaded = J.load(tmp_path / "old.npz", "FrozenLake-v1")
    assert loaded.settings == agent.settings
    assert np.array_equal(loaded.tables.q, agent.tables.q)
    assert loaded.learn(140).steps == 200


def test_a_mask_that_changes_is_refused() -> None:
    class Fickle(Corridor):
        def _info(self) -> dict[str, Any]:
            return {"action_mask": np.array([self.steps % 2 == 0, True], dtype=np.int8)}

    with pytest.raises(InputError, match="mask of state 5 changed"):
        P(Fickle(), seed=0).learn(200)


@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [
        ("CliffWalking-v1", {"max_episode_steps": 200}, 10_000),
        ("Taxi-v4", {}, 25_000),
        ("FrozenLake-v1", {"map_name": "4x4"}, 20_000),
    ],
    ids=["CliffWalking", "Taxi", "FrozenLake"],
)
def test_real_environments_are_learned_to_the_optimum_of_their_model(
    name: str, options: dict[str, Any], steps: int
) -> None:
    """With the defaults; Jekyll's greedy policy, evaluated exactly in the environment's model."""
    model_options = {key: value for key, value in options.items() if key != "max_episode_steps"}
    mdp = jh.from_gymnasium(name, gamma=0.99, **model_options)
    agent = jh.TabularJekyllHyde(gym.make(name, **options)).learn(steps)
    pi = mdp.uniform_policy()
    pi[: len(agent.tables.pi)] = np.eye(mdp.n_actions)[agent.tables.pi.argmax(axis=1)]
    assert mdp.evaluate(pi).J == pytest.approx(mdp.J_star, abs=1e-9)
