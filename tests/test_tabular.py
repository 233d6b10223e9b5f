"""The compiled engine against the plain reference, transition by transition, and against facts that
share no code with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.tabular import known_model
from jekyllhyde.tabular import learn as module
from jekyllhyde.tabular.agents import TabularAgent, TabularOnPolicy
from jekyllhyde.tabular.learn import evaluation_times, learn
from jekyllhyde.tabular.records import edges_of
from jekyllhyde.tabular.run_state import RunState
from reference_tabular import Published, Reference

HORIZON, TRAJECTORIES, SEED = 20, 50, 3
J, P = Published, TabularOnPolicy

AGENTS: list[TabularAgent] = [
    J(),
    J(batch=3),
    J(epsilon="10/sqrt(t)", o="10/sqrt(t)"),
    J(epsilon=lambda t: 0.5, o="10/t^0.7"),
    J(epsilon=1.0, o=1.0),
    J(epsilon=0.0),
    J(critic="current", epsilon=0.5),
    J(critic="q_learning", epsilon=0.5),
    J(critic="mle", epsilon=0.5),
    J(critic="mle", mle_every=3),
    J(nu=0.1),
    J(nu=0.1, critic="current", batch=2),
    J(bonus="count"),
    J(normalization="paper"),
    J(normalization="none", eta=0.1),
    J(density="undiscounted"),
    J(convention="paper"),
    J(convention="paper", batch=2, critic="q_learning"),
    J(hyde="uniform", epsilon=0.3),
    J(hyde_q0=0.5, hyde_clip=np.inf, hyde_eta=0.7),
    J(parametrization="direct"),
    J(successor="stored"),
    J(q0=0.7),
    J(capacity=20, epsilon=0.5),
    J(capacity=20, when_full="keep", epsilon=0.5),
    P(),
    P(density="undiscounted"),
    P(lam=0.05),
    P(lam=0.05, entropy="centred"),
    P(nu=0.5),
    P(nu=0.5, nu_in="actor"),
    P(convention="paper"),
    P(convention="paper", nu=0.1, lam=0.01, density="undiscounted"),
    P(update="sampled", lam=0.1),
    P(convention="paper", parametrization="direct"),
    P(parametrization="direct", nu=0.1, nu_in="actor"),
    P(normalization="none", eta=0.1),
    P(replay=True),
    P(replay=True, batch=4),
    P(replay=True, batch=2, lam=0.01, update="sampled"),
    P(replay=True, critic="current"),
    P(replay=True, batch=4, with_current=True, eta=4.0),
    J(batch=4, with_current=True, eta=4.0, hyde_eta=2.0, epsilon=0.5),
    P(critic="mle"),
    P(critic="q_learning", replay=True, capacity=10),
]


def problems() -> list[FiniteMDP]:
    """Deterministic with one start; stochastic; deterministic with many starts."""
    return [jh.chain(6, beta=0.8), jh.garnet(12, 3, 2, seed=1), jh.four_rooms(size=7)]


def run_once(
    mdp: FiniteMDP,
    agent: TabularAgent,
    trajectories: int,
    horizon: int,
    seed: int = SEED,
    run: int = 0,
) -> Any:
    job = module._Job(agent.settings, trajectories, seed, horizon, None, "both", lambda n: None)
    return module._run(job, mdp, run)


def label(agent: TabularAgent) -> str:
    own, default = (one.settings.resolved() for one in (agent, type(agent)()))
    changed = [f"{name}={value}" for name, value in own.items() if value != default.get(name)]
    return ",".join([agent.name, *changed]).replace(" ", "")


@pytest.mark.parametrize("agent", AGENTS, ids=label)
def test_engine_agrees_with_the_reference_transition_by_transition(agent: TabularAgent) -> None:
    for mdp in problems():
        trace, state, failure = run_once(mdp, agent, TRAJECTORIES, HORIZON)
        times = evaluation_times(TRAJECTORIES).tolist()
        reference = Reference(mdp, agent, SEED, 0, HORIZON, times).learn(TRAJECTORIES)
        assert not failure
        assert state.steps == len(reference.transitions)
        assert np.array_equal(state.table("n"), reference.n)
        if agent.settings.uses_replay and agent.settings.option("capacity") is None:
            assert_same_transitions(mdp, state, reference)
        acting = ~mdp.is_terminal
        for name in ("theta", "pi", "q", "q_hyde")[: 4 if isinstance(agent, J) else 3]:
            np.testing.assert_allclose(
                state.table(name)[acting],
                np.array(getattr(reference, name))[acting],
                rtol=0,
                atol=1e-9,
                err_msg=name,
            )
        evaluations = np.array([reference.evaluations[t] for t in times])
        for column, values in enumerate((trace.J_jekyll, trace.J_hyde, trace.epsilon)):
            np.testing.assert_allclose(values, evaluations[:, column], rtol=0, atol=1e-9)
        assert trace.hyde_trajectories[-1] == reference.in_control.count("hyde")


def assert_same_transitions(mdp: FiniteMDP, state: RunState, reference: Any) -> None:
    """The engine's two logs, read through its edges, hold the reference's transitions in the same
    order.
    """
    edges = edges_of(mdp)
    sizes = state.sizes
    expected: dict[str, list[tuple[int, int, int, float]]] = {"jekyll": [], "hyde": []}
    i = 0
    for leader in reference.in_control:
        for k in range(HORIZON):
            x = reference.transitions[i]
            expected[leader].append((x.s, x.a, x.s_next, x.r))
            i += 1
            if mdp.is_terminal[x.s_next] or k == HORIZON - 1:
                break
    for row, name in enumerate(("jekyll", "hyde")):
        log = state.log[row, : sizes[row]]
        A = mdp.n_actions
        found = list(
            zip(
                edges.row[log] // A,
                edges.pair[log] % A,
                edges.next[log] // A,
                edges.r[log],
                strict=True,
            )
        )
        assert found == expected[name]


def test_epsilon_0_is_on_policy_learning_from_a_single_buffer() -> None:
    for mdp in problems():
        for batch in (1, 3):
            one = learn(mdp, J(epsilon=0.0, batch=batch), trajectories=80, runs=2, horizon=30)
            other = learn(mdp, P(replay=True, batch=batch), trajectories=80, runs=2, horizon=30)
            assert np.array_equal(one.J, other.J)
            assert np.array_equal(one.q, other.q)
            assert not one.hyde_trajectories.any()


def test_results_do_not_depend_on_threads_and_differ_by_seed_and_run() -> None:
    mdps = [jh.garnet(20, 4, 2, seed=i) for i in range(4)]
    one, two = (
        learn(mdps, J(epsilon="10/sqrt(t)"), trajectories=300, runs=2, seed=5, threads=k)
        for k in (1, 2)
    )
    for name in (
        "J",
        "J_jekyll",
        "steps",
        "least_count",
        "unvisited",
        "hyde_trajectories",
        "epsilon",
    ):
        assert np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True), name
    assert all(np.array_equal(a, b) for a, b in zip(one.q, two.q, strict=True))
    assert one.steps[0, -1] != one.steps[1, -1]
    assert not np.array_equal(
        one.J, learn(mdps, J(epsilon="10/sqrt(t)"), trajectories=300, runs=2, seed=6).J
    )
    assert np.array_equal(
        learn(mdps[0], J(epsilon="10/sqrt(t)"), trajectories=300, runs=1, seed=5).J[0], one.J[0]
    )


@pytest.mark.parametrize(
    ("critic", "tolerance"), [("expected_sarsa", 1e-9), ("current", 1e-9), ("mle", 1e-12)]
)
def test_critic_ends_at_the_exact_values_of_a_frozen_policy(critic: str, tolerance: float) -> None:
    mdp = jh.chain(5, beta=0.8)
    agent = J(critic=critic, epsilon=0.5, eta=1e-15, eta_c=0.5)
    out = learn(mdp, agent, trajectories=3000, seed=1)
    np.testing.assert_allclose(out.pi[0], 0.5, atol=1e-9)
    np.testing.assert_allclose(
        out.q[0][:-1], mdp.evaluate(mdp.uniform_policy()).q[:-1], atol=tolerance
    )


def test_q_learning_critic_ends_at_the_optimal_values() -> None:
    mdp = jh.chain(5, beta=0.8)
    out = learn(mdp, J(critic="q_learning", epsilon=0.5, eta=1e-15, eta_c=0.5), trajectories=3000)
    np.testing.assert_allclose(out.q[0][:-1], mdp.optimal().q[:-1], atol=1e-9)


def test_mle_critic_approaches_the_exact_values_of_a_stochastic_model() -> None:
    mdp = jh.garnet(8, 2, 2, seed=2)
    out = learn(mdp, J(critic="mle", mle_every=50, epsilon=0.5, eta=1e-15), trajectories=20_000)
    exact = mdp.evaluate(mdp.uniform_policy()).q[~mdp.is_terminal]
    assert 0 < abs(out.q[0][~mdp.is_terminal] - exact).max() < 0.02


@pytest.mark.parametrize("o", [0.1, 0.5, 0.9])
def test_replay_draws_from_hydes_buffer_with_probability_o(o: float) -> None:
    """Four actions that end the episode, the first worth more: Jekyll soon takes it always, Hyde
    keeps taking all four.

    With gamma = 0 a critic with a tiny step counts how often each action was replayed: q = r (1 -
    (1 - eta_c)^count).
    """
    P_model = np.zeros((2, 4, 2))
    P_model[:, :, 1] = 1.0
    r = np.array([[2.0, 1.0, 1.0, 1.0], [0.0] * 4])
    mdp = FiniteMDP(P_model, r, gamma=0.0, terminal=[1])
    agent = J(o=o, epsilon=0.5, hyde="uniform", eta=1e4, eta_c=1e-6)
    trajectories = 50_000
    _, state, _ = run_once(mdp, agent, trajectories, 100)
    replays = np.log1p(-state.table("q")[0] / r[0]) / np.log1p(-1e-6)
    assert replays.sum() == pytest.approx(trajectories, rel=1e-6)
    jekyll, hyde = (state.log[row, :size] for row, size in enumerate(state.sizes))
    strays = (jekyll != 0).sum()
    assert strays < 0.05 * len(jekyll)
    assert (hyde != 0).mean() == pytest.approx(0.75, abs=0.01)
    jekylls_share = strays * (1 + np.log(len(jekyll) / strays)) / len(jekyll)
    found = replays[1:].sum() / trajectories
    assert o * 0.75 - 0.012 < found < o * 0.75 + (1 - o) * jekylls_share + 0.012


def test_counts_and_coverage_match_the_transitions() -> None:
    mdp = jh.garnet(30, 3, 2, seed=4)
    trace, state, _ = run_once(mdp, J(epsilon=0.3), 200, 50)
    steps = state.steps
    assert state.tables.n.sum() == steps == sum(state.sizes) == trace.steps[-1]
    edges = edges_of(mdp)
    logged = np.concatenate([state.log[row, :size] for row, size in enumerate(state.sizes)])
    n = np.zeros_like(state.table("n"))
    np.add.at(n.reshape(-1), edges.pair[logged], 1)
    assert np.array_equal(n, state.table("n"))
    acting = n[~mdp.is_terminal]
    assert (trace.least_count[-1], trace.unvisited[-1]) == (
        acting.min(),
        (acting.sum(axis=1) == 0).sum(),
    )
    assert (np.diff(trace.unvisited) <= 0).all()
    assert 0.2 < trace.hyde_trajectories[-1] / 200 < 0.4


def test_simulated_transitions_follow_the_model() -> None:
    mdp = jh.garnet(6, 2, 3, seed=5)
    _, state, _ = run_once(mdp, J(epsilon=1.0, hyde="uniform"), 20_000, 100)
    log = state.log[1, : state.sizes[1]]
    seen = np.bincount(log, minlength=mdp.P.nnz)
    row = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.P.indptr))
    expected = mdp.P.data * np.bincount(row, weights=seen)[row]
    spread = np.sqrt(np.maximum(expected * (1 - mdp.P.data), 1e-9))
    visited = expected > 0
    assert (abs(seen - expected)[visited] < 5 * spread[visited] + 1).all()


def test_evaluation_outside_the_loop_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = jh.garnet(30, 3, 2, seed=4)
    inside = learn(mdp, J(epsilon="10/sqrt(t)"), trajectories=40, runs=2)
    monkeypatch.setattr(known_model, "DENSE_LIMIT", 0)
    outside = learn(mdp, J(epsilon="10/sqrt(t)"), trajectories=40, runs=2)
    np.testing.assert_allclose(outside.J, inside.J, atol=1e-10)
    assert np.array_equal(outside.steps, inside.steps)


def test_evaluations_come_at_the_protocols_cadence() -> None:
    assert evaluation_times(20_000)[[0, 1, 2, -2, -1]].tolist() == [1, 21, 41, 19981, 20000]
    assert evaluation_times(5).tolist() == [1, 2, 3, 4, 5]
    assert evaluation_times(1001)[-1] == 1001
