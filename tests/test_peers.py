"""The field's tabular explorers: the contract, their updates beside plain computations on the same
transitions, what their papers promise, and the two Hydes that share their code.
"""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.agent import AGENTS, find_agent
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.errors import InputError
from jekyllhyde.tabular.posterior import gamma_variate, normal
from jekyllhyde.tabular.random_stream import stream

PEERS = ("tabular_q_learning", "tabular_ucb_h", "tabular_ucbvi", "tabular_psrl")
HYDES = ("hoeffding", "posterior")


def make(name: str, env: Any = None, seed: int = 0, **settings: Any) -> Any:
    return find_agent(name).cls(env, seed=seed, **settings)


class Diary(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Writes down (s, a, r, s', whether it ended)."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.rows: list[tuple[int, int, float, int, bool]] = []
        self.at = 0

    def reset(self, **given: Any) -> Any:
        self.at, info = super().reset(**given)
        return self.at, info

    def step(self, action: Any) -> Any:
        observation, reward, ended, cut, info = super().step(action)
        self.rows.append((int(self.at), int(action), float(reward), int(observation), ended))
        self.at = observation
        return observation, reward, ended, cut, info


def written(name: str, mdp: jh.FiniteMDP, steps: int, **settings: Any) -> tuple[Any, Any]:
    """An agent after so many steps, and its diary."""
    diary = Diary(TabularEnv(mdp, 12))
    return make(name, diary, 3, gamma=mdp.gamma, **settings).learn(steps), diary.rows


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_keeps_the_contract(name: str) -> None:
    assert AGENTS[name].tabular
    jh.check_agent(lambda env, seed: make(name, env, seed))


@pytest.mark.parametrize("hyde", HYDES)
def test_a_hyde_goes_on_exactly_where_it_was_saved(hyde: str, tmp_path: Path) -> None:
    agent = jh.TabularJekyllHyde(gymnasium.make("FrozenLake-v1"), seed=3, hyde=hyde).learn(700)
    agent.save(tmp_path / "agent.npz")
    again = jh.TabularJekyllHyde.load(tmp_path / "agent.npz", gymnasium.make("FrozenLake-v1"))
    left, right = agent.learn(500).arrays(), again.learn(500).arrays()
    assert all(left[name].tobytes() == right[name].tobytes() for name in left)


@pytest.mark.parametrize("eta_c", [0.3, "visits"])
def test_q_learning_is_its_update(eta_c: Any) -> None:
    mdp = jh.garnet(8, 3, 2, gamma=0.9, seed=1, goal=7)
    agent, rows = written("tabular_q_learning", mdp, 400, eta_c=eta_c, optimism=0.5, epsilon=0.3)
    q, n = np.full((8, 3), 0.5 * 10.0), np.zeros((8, 3))
    for s, a, r, s_next, ended in rows:
        n[s, a] += 1
        step = 11.0 / (10.0 + n[s, a]) if eta_c == "visits" else eta_c
        target = r + (0.0 if ended else 0.9 * q[s_next].max())
        q[s, a] += step * (target - q[s, a])
    assert np.allclose(agent.tables.q, q, rtol=1e-9)
    tied = np.isclose(q, q.max(axis=1, keepdims=True), rtol=1e-12)
    assert np.allclose(agent.tables.pi, tied / tied.sum(axis=1, keepdims=True))


def test_ucb_h_is_its_update() -> None:
    mdp, h, c, r_max = jh.garnet(8, 3, 2, gamma=0.9, seed=1, goal=7), 5.0, 0.2, 2.0
    agent, rows = written("tabular_ucb_h", mdp, 400, c=c, lookahead=h, r_max=r_max)
    q, n = np.full((8, 3), h * r_max), np.zeros((8, 3))
    for s, a, r, s_next, ended in rows:
        n[s, a] += 1
        value = 0.0 if ended else min(q[s_next].max(), h * r_max)
        target = r + 0.9 * value + c * r_max * np.sqrt(h**3 / n[s, a])
        q[s, a] += (h + 1) / (h + n[s, a]) * (target - q[s, a])
    assert np.allclose(agent.tables.q, q, rtol=1e-9)


def test_ucbvi_has_the_optimistic_values_of_what_it_saw() -> None:
    mdp, h, c = jh.garnet(6, 2, 2, gamma=0.9, seed=2, goal=5), 10.0, 0.05
    agent, rows = written("tabular_ucbvi", mdp, 300, c=c, batch=1000)
    n, total = np.zeros((6, 2)), np.zeros((6, 2))
    after = np.zeros((6, 2, 7))  # s' 6 is the end
    for s, a, r, s_next, ended in rows:
        n[s, a] += 1
        total[s, a] += r
        after[s, a, 6 if ended else s_next] += 1
    q, tried = np.full((6, 2), h), n > 0
    for _ in range(500):
        v = np.append(q.max(axis=1), 0.0)
        backup = (total + after @ v * 0.9) / np.maximum(n, 1) + c * h / np.sqrt(np.maximum(n, 1))
        q = np.where(tried, np.minimum(backup, h), h)
    assert tried.sum() > 6
    assert np.allclose(agent.tables.q, q, atol=0.02 * h)


def test_psrl_plans_in_the_posterior_mean_where_it_has_no_doubt() -> None:
    mdp = jh.chain(4, gamma=0.8)
    prior = {"sigma": 0.0, "alpha": 1e-6, "mu": 0.5}
    agent, rows = written("tabular_psrl", mdp, 600, **prior)
    size = mdp.n_states, mdp.n_actions
    n, r, following = np.zeros(size), np.zeros(size), np.full(size, -1)
    for s, a, reward, s_next, ended in rows[: agent.episodes.lengths.sum()]:  # drawn at an end
        n[s, a] += 1
        r[s, a] += reward
        following[s, a] = -1 if ended else s_next
    states = np.flatnonzero((n > 0).all(axis=1))
    assert len(states) >= 3
    mean, q = (0.5 + r) / (1 + n), np.zeros(size)
    for _ in range(200):
        v = q.max(axis=1)
        q = mean + 0.8 * np.where(following >= 0, v[following], 0.0)
    assert np.allclose(agent.tables.q[states], q[states], atol=0.02)


def test_draws_have_their_distributions() -> None:
    words = stream(1, 0)
    numbers = np.array([normal(words) for _ in range(20_000)])
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.std() - 1) < 0.03
    for shape in (0.1, 1.0, 7.0):
        draws = np.array([gamma_variate(words, shape) for _ in range(20_000)])
        assert abs(draws.mean() - shape) < 5 * np.sqrt(shape / 20_000)
        assert abs(draws.var() - shape) < 0.15 * max(shape, 0.5)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("scale", [0.001, 1000.0])
def test_the_size_of_rewards_changes_nothing(name: str, scale: float) -> None:
    lake = jh.from_gymnasium("FrozenLake-v1", 0.95)
    for mdp in (lake, jh.deep_sea(6)):
        first, second = (
            jh.learn(
                jh.FiniteMDP(mdp.P, r, p0=mdp.p0, gamma=mdp.gamma, terminal=mdp.terminal),
                make(name),
                trajectories=40,
                runs=2,
                seed=3,
            )
            for r in (mdp.r, mdp.r * scale)
        )
        assert (first.steps == second.steps).all()
        assert all(abs(x - y).max() < 1e-9 for x, y in zip(first.pi, second.pi, strict=True))


def halves(name: str, mdp: jh.FiniteMDP, trajectories: int, **settings: Any) -> Any:
    """The regret of the first and of the second half of the trajectories, over ten runs."""
    agent = make(name, **settings)
    given: Any = {"trajectories": trajectories, "runs": 10, "seed": 1, "horizon": 60}
    regret = 1 - jh.learn(mdp, agent, **given).J_norm.mean(axis=0)
    half = len(regret) // 2
    return regret[:half].sum(), regret[half:].sum()


def test_regret_grows_more_slowly_than_time() -> None:
    """Azar et al. on a chain, Osband et al. on RiverSwim."""
    for name, mdp, settings in (
        ("tabular_ucbvi", jh.chain(6, beta=0.9), {"c": 0.01}),
        ("tabular_psrl", jh.river_swim(6), {}),
    ):
        first, second = halves(name, mdp, 2000, **settings)
        assert second < 0.5 * first  # of sqrt(T) the second half has 0.41 of the first's


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("tabular_q_learning", {"optimism": 1.0, "epsilon": 0.0, "eta_c": 0.5}),
        ("tabular_ucb_h", {}),
        ("tabular_ucbvi", {}),
        ("tabular_psrl", {}),
    ],
)
def test_a_lock_of_six_is_opened(name: str, settings: Any) -> None:
    given: Any = {"trajectories": 3000, "runs": 5, "seed": 2, "target": 0.99}
    result = jh.learn(jh.locks(6, seed=3), make(name, **settings), horizon=7, **given)
    assert not result.censored(0.99).any()
    plain = jh.learn(jh.locks(12, seed=3), make("tabular_q_learning"), horizon=13, **given)
    assert plain.censored(0.99).all()  # epsilon-greedy alone does not


@pytest.mark.parametrize("hyde", HYDES)
def test_a_hyde_finds_the_treasure(hyde: str) -> None:
    given: Any = {"runs": 6, "seed": 5, "target": 0.99, "horizon": 10}
    agent = jh.TabularJekyllHyde(hyde=hyde)
    result = jh.learn(jh.deep_sea(10), agent, trajectories=200, **given)
    assert not result.censored(0.99).any()


def test_epsilon_greedy_heeds_masks_and_takes_every_other_action() -> None:
    taxi = gymnasium.make("Taxi-v4")
    agent = make("tabular_q_learning", taxi, 1, epsilon=1.0).learn(12_000)
    theta = agent.learner.state.table("theta")
    n, allowed = agent.learner.state.table("n"), theta > -np.inf
    assert not n[~allowed].any()
    assert (~allowed).any()
    often = n.sum(axis=1) > 50
    assert (n[often][allowed[often]] > 0).all()
    assert often.any()


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("tabular_q_learning", {"epsilon": 1.5}, "epsilon is 1.5; it must be a number of at least"),
        ("tabular_q_learning", {"eta_c": "often"}, "eta_c is 'often'; it must be a number in"),
        ("tabular_q_learning", {"optimism": -1}, "optimism is -1"),
        ("tabular_ucb_h", {"c": float("nan")}, "c is nan"),
        ("tabular_ucbvi", {"batch": 0}, "batch is 0"),
        ("tabular_ucbvi", {"r_max": 0.0}, "r_max is 0.0; it must be a positive number"),
        ("tabular_psrl", {"alpha": 0.0}, "alpha is 0.0"),
        ("tabular_psrl", {"gamma": 2.0}, "gamma is 2.0"),
    ],
)
def test_bad_settings_are_refused(name: str, settings: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        make(name, **settings)


def test_a_horizon_must_be_given_where_nothing_is_discounted() -> None:
    mdp = jh.deep_sea(4, gamma=1.0)
    with pytest.raises(InputError, match=r"gamma is 1, .* give lookahead"):
        jh.learn(mdp, make("tabular_ucbvi"), trajectories=3, horizon=4)
    result = jh.learn(mdp, make("tabular_ucbvi", lookahead=4), trajectories=60, horizon=4)
    assert result.J_norm[0, -1] == pytest.approx(1.0)
