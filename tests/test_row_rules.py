"""Actor rules, one definition each: planning, tables and networks make the same step, and what each
rule promises about the value holds with exact q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jekyllhyde as jh
from jekyllhyde.planning.updates import Tables as PlanTables
from jekyllhyde.planning.updates import make_rule, theta_of, update_tables
from jekyllhyde.row_rules import ROW_RULES
from jekyllhyde.tabular.algorithm import improve
from jekyllhyde.tabular.jekyll import ACTORS
from jekyllhyde.tabular.learned_model import new_counts
from jekyllhyde.tabular.random_stream import stream
from jekyllhyde.tabular.records import POSITION, Run, Transition
from jekyllhyde.tabular.records import Tables as LearnTables
from jekyllhyde.tabular.row_actors import as_actor
from mdps import Floats, random_mdp, random_policy

NAMES = ("softmax", *ROW_RULES)
seeds = st.integers(0, 2**32 - 1)
steps = st.floats(-3.0, 6.0).map(lambda exponent: 10.0**exponent)


def changed(name: str, pi: Floats, q: Floats) -> Floats:
    """The change of log pi(a), up to a shift of the row, that the formula prescribes."""
    best, v = q.argmax(), pi @ q
    hit = np.arange(len(q)) == best
    return {
        "softmax": pi * (q - v),
        "cross_entropy": hit - pi,
        "raise_greedy": hit * (1.0 - pi[best]),
        "natural_gradient": q - v,
        "mirror_step": q,
    }[name]


def softmax(theta: Floats) -> Floats:
    weights = np.exp(theta - theta.max())
    return np.asarray(weights / weights.sum())


def planned(name: Any, pi: Floats, q: Floats, step: float) -> Floats:
    """The policy after one update of planning."""
    rule, _ = make_rule(name, 0.0, "published")
    rows = pi[None].copy()
    theta, v = theta_of(rule, rows), np.array([pi @ q])
    update_tables(
        rule,
        PlanTables(theta.ravel(), rows.ravel(), q, v, np.array([step]), np.empty(q.size)),
    )
    return np.asarray(rows[0])


def run_of(pi: Floats, q: Floats, n: Any) -> Run:
    """A run of the tabular loop that stands in the only state there is."""
    width = len(q)
    tables = LearnTables(
        theta=np.log(pi),
        pi=pi.copy(),
        q=q.copy(),
        q_hyde=np.zeros(width),
        n=np.asarray(n, dtype=np.int64),
        work=np.empty(width),
        width=np.uint64(width),
    )
    position = np.zeros(1, dtype=POSITION).view(np.recarray)
    edges: Any = None
    return Run(edges, tables, new_counts(1, width, 0.0, 0.0), stream(0, 0), position)


def learned(name: Any, run: Run, step: float, taken: int = 0) -> Floats:
    """The policy after one update of the tabular loop."""
    zero = np.uint64(0)
    sample = Transition(row=zero, pair=np.uint64(taken), next=zero, r=0.0, discount=0.0)
    improve(as_actor(ACTORS.make(name)), run, sample, step, 1)
    return run.tables.pi


@given(seed=seeds, width=st.integers(2, 6), step=st.floats(0.01, 5.0))
@pytest.mark.parametrize("name", NAMES)
def test_planning_and_tables_make_the_step_of_the_formula(
    name: str, seed: int, width: int, step: float
) -> None:
    rng = np.random.default_rng(seed)
    pi, q = rng.dirichlet(np.ones(width)) + 1e-9, rng.normal(size=width)
    pi /= pi.sum()
    expected = softmax(np.log(pi) + step * changed(name, pi, q))
    np.testing.assert_allclose(planned(name, pi, q, step), expected, atol=1e-12)
    run = run_of(pi, q, np.ones(width))
    np.testing.assert_allclose(learned(name, run, step), expected, atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES[:-1], "raise_greedy_centred"])
def test_the_gradient_of_the_networks_loss_is_the_step(name: str) -> None:
    jax = pytest.importorskip("jax")
    from jekyllhyde.deep.actor_rules import ACTOR_RULES

    rule = ACTOR_RULES["paper" if name == "softmax" else name]
    rng = np.random.default_rng(4)
    for width in (2, 3, 5):
        pi, q = rng.dirichlet(np.ones(width), size=20), rng.normal(size=(20, width))
        with jax.enable_x64(True):
            loss = jax.grad(lambda logits, q=q: rule(logits, q, 1.0).sum())
            change = -np.asarray(loss(np.log(pi)))
        for row, values, moved in zip(pi, q, change, strict=True):
            if name == "raise_greedy_centred":  # the same, longer and shifted to a sum of 0
                raised = changed("raise_greedy", row, values) * width / (width - 1)
                expected = raised - raised.mean()
            else:
                expected = changed(name, row, values)
            np.testing.assert_allclose(moved, expected, atol=1e-12)
            plain = name.removesuffix("_centred")
            factor = width / (width - 1) if name != plain else 1.0
            after = softmax(np.log(row) + 0.7 * moved)
            np.testing.assert_allclose(planned(plain, row, values, 0.7 * factor), after, atol=1e-12)


def test_the_networks_mirror_step_leads_to_that_of_a_table() -> None:
    jax = pytest.importorskip("jax")
    from jekyllhyde.deep.actor_rules import mirror_step

    rng, temperature = np.random.default_rng(5), 0.4
    pi, q = rng.dirichlet(np.ones(4)), rng.normal(size=4)
    after = planned("mirror_step", pi, q, 1.0 / temperature)
    with jax.enable_x64(True):
        values = jax.numpy.asarray(q[None])
        loss = jax.grad(lambda logits: mirror_step(logits[None], values, temperature)[0])
        change = -np.asarray(loss(np.log(pi)))
    np.testing.assert_allclose(change, after - pi, atol=1e-12)


def test_shared_weights_tell_a_shift_of_the_logits_apart() -> None:
    """One weight that moves all logits of both states: only the uncentred rule moves it."""
    jax = pytest.importorskip("jax")
    from jekyllhyde.deep.actor_rules import ACTOR_RULES

    q = jax.numpy.asarray([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

    def slope(name: str) -> float:
        return float(jax.grad(lambda w: ACTOR_RULES[name](w + np.zeros((2, 3)), q, 1.0).sum())(0.0))

    assert slope("raise_greedy") == pytest.approx(-4 / 3)
    for name in ("raise_greedy_centred", "cross_entropy"):
        assert slope(name) == pytest.approx(0.0, abs=1e-6)


def test_the_old_name_of_a_rule_is_read_and_stored() -> None:
    pytest.importorskip("jax")
    from jekyllhyde.deep import configure, describe

    configs = [
        configure("jekyll_hyde", actor_rule=name)
        for name in ("modified_cross_entropy", "modified-cross-entropy", "raise_greedy_centred")
    ]
    assert {config.actor_rule for config in configs} == {"raise_greedy_centred"}
    assert {describe(config)["actor_rule"] for config in configs} == {"modified_cross_entropy"}
    experiment = jh.Experiment(
        name="own",
        method="deep",
        problem={"name": "four_rooms"},
        series=[{"label": "x", "actor_rule": "modified_cross_entropy", "config": "paper"}],
        settings={"episodes": 10},
    )
    assert [cell.digest for cell in experiment.cells] == [
        "bc94dbe8384b6fc6"
    ]  # as before the rename


@given(seed=seeds, eta=steps, concentration=st.floats(0.05, 2.0))
@pytest.mark.parametrize("name", ["raise_greedy", "natural_gradient"])
def test_with_exact_q_no_step_lowers_the_value_of_any_state(
    name: str, seed: int, eta: float, concentration: float
) -> None:
    mdp = random_mdp(seed % 50, n_states=6)
    pi = np.maximum(random_policy(seed, mdp, concentration), 1e-12)
    run = jh.plan(
        mdp,
        parametrization=name,
        density=np.random.default_rng(seed).dirichlet(np.ones(6)),
        eta=eta,
        updates=4,
        pi0=pi / pi.sum(axis=1, keepdims=True),
        record="v",
    )
    v = run.record("v")
    assert (np.diff(v, axis=0) >= -1e-10 * (1.0 + abs(v).max())).all()
    assert run.J[-1] >= run.J[0] - 1e-10


def test_cross_entropy_may_lower_the_value() -> None:
    """A good second action loses mass to a terrible third one, which hardly moves."""
    P = np.zeros((2, 3, 2))
    P[..., 1] = 1.0
    bandit = jh.FiniteMDP(P, [[1.0, 0.9, -10.0], [0.0] * 3], gamma=0.9, terminal=[1])
    pi = np.array([[0.01, 0.98, 0.01], [1.0, 0.0, 0.0]])

    def returns(name: str, eta: float) -> Floats:
        weights = np.array([1.0, 0.0])
        return jh.plan(bandit, parametrization=name, density=weights, eta=eta, updates=1, pi0=pi).J

    for eta in (0.01, 0.1, 1.0):
        before, after = returns("cross_entropy", eta)
        assert after < before - 0.05 * eta
        for name in ("raise_greedy", "natural_gradient", "softmax"):
            assert np.diff(returns(name, eta)) > 0


def test_the_greedy_action_of_several_is_the_one_that_leads() -> None:
    pi, q = np.array([0.2, 0.5, 0.3]), np.array([1.0, 1.0, 0.0])
    for policy in (
        planned("raise_greedy", pi, q, 1.0),
        learned("raise_greedy", run_of(pi, q, [1, 1, 1]), 1.0),
    ):
        assert policy[0] < 0.2


def test_what_was_not_tried_is_not_greedy() -> None:
    pi, q = np.array([0.2, 0.3, 0.5]), np.array([0.0, -1.0, -2.0])  # 0 is the first q
    for name in ("cross_entropy", "raise_greedy"):
        policy = learned(name, run_of(pi, q, [0, 1, 1]), 1.0, taken=1)
        assert policy.argmax() == 1
        assert policy[0] < 0.2


def test_the_benefit_of_the_doubt() -> None:
    """q plus the weight times its standard error decides, among the actions that were tried."""
    rng = np.random.default_rng(6)
    for _ in range(50):
        pi, q, n = rng.dirichlet(np.ones(4)), rng.normal(size=4), rng.integers(0, 3, size=4)
        taken = int(rng.integers(4))
        n[taken] += 1
        run, weight = run_of(pi, q, n), rng.uniform(0.0, 3.0)
        run.model.doubt[:] = rng.exponential(size=4)
        hope = np.where(n > 0, q + weight * run.model.doubt, -np.inf)
        after = learned(f"raise_hopeful(weight={weight})", run, 2.0, taken)
        raised = softmax(np.log(pi) + 2.0 * (1 - pi) * (np.arange(4) == hope.argmax()))
        np.testing.assert_allclose(after, raised, atol=1e-12)


@pytest.mark.parametrize("name", ["cross_entropy", "natural_gradient"])
def test_agents_learn_with_them(name: str) -> None:
    agent = jh.TabularJekyllHyde(actor=name)
    run = jh.learn(jh.chain(5, beta=0.5), agent, trajectories=300, runs=3, seed=0)
    assert (run.J_norm_jekyll[:, -1] > 0.95).all()


def test_both_loops_of_planning_and_the_names() -> None:
    mdp = random_mdp(3)
    for name in ROW_RULES:
        first, second = (
            jh.plan(
                mdp, parametrization=name, density="uniform", eta=2.0, updates=30, engine=engine
            )
            for engine in ("compiled", "reference")
        )
        np.testing.assert_allclose(first.pi, second.pi, atol=1e-9)
    assert first.settings["parametrization"] == "natural_gradient"  # also called mirror_step
    with pytest.raises(jh.InputError, match="no entropy term"):
        jh.plan(mdp, parametrization="cross_entropy", lam=0.1, updates=1)
    with pytest.raises(jh.InputError, match="must be one of direct, softmax"):
        jh.theory.learning_rate("cross_entropy", 0.9, 2)


class Jump(NamedTuple):
    """A rule of a user's own: all weight on one action."""

    def approach(
        self, theta: Floats, pi: Floats, row: Any, width: Any, best: Any, step: float
    ) -> None:
        for i in range(row, row + width):
            theta[i] = pi[i] = 0.0
        pi[best] = 1.0


def test_a_rule_towards_one_action_of_a_users_own() -> None:
    pi, q = np.array([0.2, 0.3, 0.5]), np.array([2.0, 1.0, 0.0])
    assert learned(Jump(), run_of(pi, q, [0, 1, 1]), 1.0, taken=1).tolist() == [0.0, 1.0, 0.0]
    assert planned(Jump(), pi, q, 1.0).tolist() == [1.0, 0.0, 0.0]
    mdp = random_mdp(2)
    assert jh.plan(mdp, parametrization=Jump(), density="uniform", updates=20).J[-1] == (
        pytest.approx(mdp.J_star)
    )
    with pytest.raises(jh.InputError, match="a rule of your own has a method improve_row"):
        as_actor(jh.Schedule(1.0, 0.0))
