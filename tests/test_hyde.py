"""Mr Hyde explores: the recommended agent on tasks that nobody tuned, and the parts it is made of.

Checked against computations that share nothing with the package: value iteration on the counts,
hand-made replays, and the optimum.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.tabular.algorithm import advance
from jekyllhyde.tabular.hyde import Stalling
from jekyllhyde.tabular.known_model import known_model
from jekyllhyde.tabular.learned_model import NOTHING
from jekyllhyde.tabular.records import POSITION, Run, edges_of, new_edges
from jekyllhyde.tabular.run_state import RunState, algorithm, initial_state
from jekyllhyde.tabular.settings import JekyllHydeSettings

MODEL_FREE: dict[str, Any] = {
    "hyde": "optimistic",
    "critic": "expected_sarsa",
    "eta_c": "visits",
    "replay": "backward",
}


def lake(**options: Any) -> jh.FiniteMDP:
    return jh.from_gymnasium("FrozenLake-v1", 0.95, **options)


def advanced(mdp: jh.FiniteMDP, steps: int, horizon: int = 60, **settings: Any) -> RunState:
    """The state of a run on a known MDP after so many steps."""
    chosen = jh.TabularJekyllHyde(**settings).settings
    state = initial_state(chosen, mdp.n_states, mdp.n_actions, 5, 0)
    state.make_room(chosen, 10 * steps)
    world = known_model(
        mdp,
        pi=state.table("pi"),
        horizon=horizon,
        counts=False,
        at=np.array([10**9]),
        over=(np.inf, np.inf),
    )
    state.position.row = world.restart(np.uint64(0), state.words)
    run = Run(edges_of(mdp), state.tables, state.model, state.words, state.position)
    advance(world, run, algorithm(chosen, state, mdp.gamma, 1, True), steps)
    return state


def counts_of(state: RunState) -> dict[tuple[int, int], dict[tuple[int, bool], int]]:
    """{(s, a): {(s', ended): count}} of a learned model, read from its lists."""
    model, n_actions = state.model, state.table("n").shape[1]
    seen: dict[tuple[int, int], dict[tuple[int, bool], int]] = {}
    for pair in np.flatnonzero(state.tables.n):
        i = model.of_pair[pair]
        successors: dict[tuple[int, bool], int] = {}
        while i != NOTHING:
            successors[int(model.next[i]), bool(model.ended[i])] = int(model.times[i])
            i = model.more[i]
        seen[int(pair) // n_actions, int(pair) % n_actions] = successors
    return seen


def test_the_learned_model_holds_every_transition_once_and_all_counts() -> None:
    mdp = lake()
    state = advanced(mdp, 3000)
    seen = counts_of(state)
    n = state.table("n")
    assert sum(len(successors) for successors in seen.values()) == state.position.transitions[0]
    for (s, a), successors in seen.items():
        assert sum(successors.values()) == n[s, a]
        for s_next, ended in successors:
            assert mdp.P[[s * 4 + a], :].toarray()[0, s_next] > 0
            assert ended == mdp.is_terminal[s_next]
    # the lists by successor hold the same transitions
    model, by_successor = state.model, 0
    for s in range(mdp.n_states):
        i = model.into[s]
        while i != NOTHING:
            assert model.next[i] == s
            by_successor, i = by_successor + 1, model.more_into[i]
    assert by_successor == state.position.transitions[0]


def test_both_personalities_have_the_values_of_the_learned_model() -> None:
    mdp, gamma = lake(), 0.9
    state = advanced(mdp, 2000, hyde=f"model_based(gamma={gamma}, episodic=True)", batch=2000)
    seen, n = counts_of(state), state.table("n")
    pi, r = state.table("pi"), mdp.r
    tried = n > 0
    v, v_hyde = np.zeros(mdp.n_states), np.full(mdp.n_states, 1 / (1 - gamma))
    q, q_hyde = np.zeros_like(pi), np.full_like(pi, 1 / (1 - gamma))
    for _ in range(3000):  # value iteration, evenly over all pairs
        for (s, a), successors in seen.items():
            shares = {key: count / n[s, a] for key, count in successors.items()}
            rewards = sum(
                share
                * mdp.r_next[mdp.P.indptr[s * 4 + a] :][
                    list(
                        mdp.P.indices[mdp.P.indptr[s * 4 + a] : mdp.P.indptr[s * 4 + a + 1]]
                    ).index(t)
                ]
                for (t, _), share in shares.items()
            )
            q[s, a] = rewards + mdp.gamma * sum(
                share * v[t] for (t, ended), share in shares.items() if not ended
            )
            q_hyde[s, a] = n[s, a] ** -0.5 + gamma * sum(
                share * v_hyde[t] for (t, ended), share in shares.items() if not ended
            )
        moved = max(abs((pi * q).sum(1) - v).max(), abs(q_hyde.max(1) - v_hyde).max())
        v, v_hyde = (pi * q).sum(1), q_hyde.max(1)
        if moved < 1e-12:
            break
    assert r.shape == q.shape
    assert abs(state.table("q") - q)[tried].max() < 0.02
    assert abs(state.table("q_hyde") - q_hyde)[tried].max() < 0.02 / (1 - gamma)


@pytest.mark.parametrize("scale", [0.001, 1000.0])
@pytest.mark.parametrize("settings", [{}, MODEL_FREE])
def test_the_size_of_rewards_changes_nothing(scale: float, settings: dict[str, Any]) -> None:
    for mdp in (lake(), jh.deep_sea(6), jh.from_gymnasium("CliffWalking-v1", 0.99)):
        scaled = jh.FiniteMDP(
            mdp.P,
            mdp.r * scale,
            p0=mdp.p0,
            gamma=mdp.gamma,
            terminal=mdp.terminal,
        )
        plain = jh.FiniteMDP(mdp.P, mdp.r, p0=mdp.p0, gamma=mdp.gamma, terminal=mdp.terminal)
        first, second = (
            jh.learn(problem, jh.TabularJekyllHyde(**settings), trajectories=40, runs=2, seed=3)
            for problem in (plain, scaled)
        )
        assert (first.steps == second.steps).all()
        assert (first.hyde_trajectories == second.hyde_trajectories).all()
        for one, other in zip(first.pi, second.pi, strict=True):
            assert abs(one - other).max() < 1e-9


@pytest.mark.parametrize(
    ("settings", "most"), [({}, lambda n: 20 * n), (MODEL_FREE, lambda n: n * n // 2)]
)
def test_deep_sea_is_solved(settings: dict[str, Any], most: Callable[[int], int]) -> None:
    for n in (10, 16):
        result = jh.learn(
            jh.deep_sea(n),
            jh.TabularJekyllHyde(**settings),
            trajectories=most(n),
            runs=6,
            seed=11,
            target=0.99,
            target_on="jekyll",
        )
        assert result.reached(0.99, "jekyll").any(axis=1).all()


def test_an_environment_without_a_time_limit_is_cut_and_solved() -> None:
    env, mdp = gymnasium.make("CliffWalking-v1"), jh.from_gymnasium("CliffWalking-v1", 0.99)
    agent = jh.TabularJekyllHyde(env, seed=2).learn(6000)
    assert mdp.evaluate(agent.tables.pi).J == pytest.approx(mdp.J_star, rel=1e-6)
    assert agent.episodes.lengths.max() <= 100 + 48


def test_an_agent_goes_on_exactly_where_it_was_saved(tmp_path: Path) -> None:
    def fresh() -> Any:
        return gymnasium.make("FrozenLake-v1")

    for settings in ({}, MODEL_FREE):
        agent = jh.TabularJekyllHyde(fresh(), seed=3, **settings).learn(1500)
        agent.save(tmp_path / "agent.npz")
        again = jh.TabularJekyllHyde.load(tmp_path / "agent.npz", env=fresh())
        left, right = agent.learn(800).arrays(), again.learn(800).arrays()
        assert left.keys() == right.keys()
        assert all(left[name].tobytes() == right[name].tobytes() for name in left)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("model_next", lambda x: x + 10_000),
        ("model_pair", lambda x: x + 10_000),
        ("model_times", lambda x: x * 0),
        ("model_queue", lambda x: x + 10_000),
        ("model_is_queued", lambda x: ~x),
    ],
)
def test_a_learned_model_that_would_lead_astray_is_refused(
    tmp_path: Path, name: str, spoil: Any
) -> None:
    agent = jh.TabularJekyllHyde(gymnasium.make("FrozenLake-v1"), seed=3, batch=1).learn(300)
    agent.save(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as archive:
        arrays = dict(archive)
    arrays[name] = spoil(arrays[name]).astype(arrays[name].dtype)
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(jh.InputError, match="model"):
        jh.TabularJekyllHyde.load(tmp_path / "bad.npz")


def test_hyde_leads_less_as_less_is_new() -> None:
    result = jh.learn(lake(), jh.TabularJekyllHyde(), trajectories=1500, runs=3)
    epsilon = result.epsilon.mean(axis=0)
    assert epsilon[0] > 0.95
    assert epsilon[-1] < 0.75
    assert (np.diff(epsilon[::150]) < 0).all()


def test_what_is_spelled_out_is_not_overwritten() -> None:
    hyde: Any
    hyde = JekyllHydeSettings(hyde="model_based(bonus='ucb')").explorer()
    assert type(hyde.bonus).__name__ == "Ucb"
    hyde = JekyllHydeSettings(hyde="model_based(gamma=0.9)", bonus="ucb").explorer()
    assert (hyde.gamma, type(hyde.bonus).__name__) == (0.9, "Ucb")
    without_counts = jh.TabularJekyllHyde(**MODEL_FREE).settings
    assert without_counts.resolved()["actor"] == "raise_greedy"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"hyde": "q_learning", "eta_c": "visits"}, "hyde_eta must be given"),
        ({"hyde": "model_based(gamma=1)"}, "gamma = 1"),
        ({"critic": "expected_sarsa", "actor": "raise_hopeful"}, "needs critic='model_based'"),
        ({"eta": "visits"}, "eta is 'visits'"),
    ],
)
def test_settings_that_contradict_each_other(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(jh.InputError, match=words):
        jh.TabularJekyllHyde(**settings)


def test_values_that_start_elsewhere_than_at_zero_are_told_to_the_pairs_before() -> None:
    state = advanced(lake(), 400, q0=2.0)
    untried = (state.table("n") == 0).all(axis=1)
    assert untried.any()
    assert (state.model.v[untried] == 2.0).all()


def test_an_adaptive_o_takes_more_of_hydes_data_while_jekyll_stalls() -> None:
    """Against the same means in plain Python, and only where o is adaptive."""
    mdp = lake()
    state = advanced(mdp, 3000, o="adaptive")
    now = state.position[0]
    assert now.value_pace >= abs(now.value_fast - now.value_slow) > 0
    assert 0 < now.value_fast < 2 * mdp.J_star
    untouched = advanced(mdp, 3000, o=0.5).position[0]
    assert untouched.value_fast == untouched.value_pace == 0
    rate = Stalling()
    state = initial_state(JekyllHydeSettings(), 1, 1, 0, 0)
    run = Run(new_edges(0), state.tables, state.model, state.words, state.position)
    assert rate.rate_now(run, 1) == 0.9  # nothing has ever moved
    fast = slow = pace = 0.0
    rates = []
    for value in [0.0] * 5 + [1.0] * 200:
        run.tables.q[0] = value
        rate.watch(run, np.uint64(0))
        fast, slow = fast + 0.1 * (value - fast), slow + 0.01 * (value - slow)
        pace = max(pace, abs(fast - slow))
        rates.append(rate.rate_now(run, 1))
        assert rates[-1] == pytest.approx(0.9 - 0.8 * abs(fast - slow) / (pace or 1.0))
    assert min(rates) == pytest.approx(0.1)
    assert rates[-1] > 0.7


def test_files_of_agents_without_the_newest_fields_are_read(tmp_path: Path) -> None:
    agent = jh.TabularJekyllHyde(gymnasium.make("FrozenLake-v1"), seed=3).learn(300)
    agent.save(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as archive:
        arrays = dict(archive)
    older = [name for name in POSITION.names or () if not name.startswith("value_")]
    arrays["position"] = arrays["position"][older].astype([(n, POSITION[n]) for n in older])
    np.savez(tmp_path / "older.npz", **arrays)
    again = jh.TabularJekyllHyde.load(tmp_path / "older.npz", gymnasium.make("FrozenLake-v1"))
    assert (again.learn(200).tables.pi == agent.learn(200).tables.pi).all()
