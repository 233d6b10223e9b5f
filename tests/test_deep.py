"""The parts of the deep agents: updates against numbers worked out by hand, critics against exact
values.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde.deep import ddqn, jekyll_hyde, sac
from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.deep.bonus import RND
from jekyllhyde.deep.configurations import ALGORITHMS, configure
from jekyllhyde.deep.critics import Critic, learn_critics
from jekyllhyde.deep.learner import Learner
from jekyllhyde.deep.learning import Replay, State, counted, decreasing
from jekyllhyde.deep.networks import Network, Samples, Space, Transition, blend, encode, mean
from jekyllhyde.deep.noise import noisy_greedy
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.rooms import four_rooms

LOGITS, Q = jnp.array([[0.0, jnp.log(3.0)]]), jnp.array([[1.0, 2.0]])  # pi = (1/4, 3/4)
SOFT = 1 / (1 + np.exp(-1.0))  # softmax of (1, 2) puts this on the second action
MIRROR = 3 * np.e / (1 + 3 * np.e)  # and (1/4, 3/4) times its exponential puts this


@pytest.mark.parametrize(
    ("rule", "loss", "gradient"),
    [
        ("paper", -1.75, [0.1875, -0.1875]),  # -pi (q - 7/4)
        (
            "published",
            -0.28125,
            [-0.0234375, 0.0234375],
        ),  # the bracket is (3/4, 1/2): it pushes towards the worse action
        ("cross_entropy", -np.log(0.75), [0.25, -0.25]),  # pi - one_hot(argmax q)
        (
            "soft_cross_entropy",
            -(SOFT * np.log(0.75) + (1 - SOFT) * np.log(0.25)),
            [0.25 - (1 - SOFT), 0.75 - SOFT],
        ),
        (
            "mirror_step",
            -(MIRROR * np.log(0.75) + (1 - MIRROR) * np.log(0.25)),
            [0.25 - (1 - MIRROR), 0.75 - MIRROR],
        ),
        ("raise_greedy", -0.25 * np.log(3.0), [0.0, -0.25]),  # 1 - pi(argmax q) = 1/4
        ("raise_greedy_centred", -0.25 * np.log(3.0), [0.25, -0.25]),
        ("natural_gradient", -0.25 * np.log(3.0), [0.75, -0.25]),  # -(q - 7/4)
        ("normalized_advantage", 0.0, [0.25, -0.25]),  # advantages (-3/4, 1/4) scaled to (-1, 1/3)
    ],
)
def test_actor_rules_by_hand(rule: str, loss: float, gradient: list[float]) -> None:
    def total(logits: jax.Array) -> jax.Array:
        return jnp.sum(ACTOR_RULES[rule](logits, Q, 1.0))

    assert float(total(LOGITS)) == pytest.approx(loss, abs=1e-6)
    assert np.asarray(jax.grad(total)(LOGITS))[0] == pytest.approx(np.array(gradient), abs=1e-6)


def test_every_rule_is_worked_out_by_hand() -> None:
    marks = test_actor_rules_by_hand.pytestmark  # type: ignore[attr-defined]
    assert {row[0] for row in marks[0].args[1]} == set(ACTOR_RULES)


def step(rule: str, logits: jax.Array, q: jax.Array) -> np.ndarray:
    """Where the rule pushes the logits of one state."""
    return -np.asarray(
        jax.grad(lambda x: jnp.sum(ACTOR_RULES[rule](x[None], q[None], 1.0)))(logits)
    )


@pytest.mark.parametrize("rule", ACTOR_RULES)
def test_which_rules_can_unlearn(rule: str) -> None:
    """With pi(best) tiny, the expected update's gradient is tiny with it; not so where the factor
    pi is gone.
    """
    size = abs(step(rule, jnp.array([20.0, 0.0]), jnp.array([1.0, 2.0]))).max()
    if rule in ("paper", "published", "normalized_advantage", "mirror_step"):
        assert size < 1e-7
    else:
        assert size > 0.7


def test_cross_entropy_may_lower_the_value_raising_the_greedy_action_does_not() -> None:
    """In a state with pi = (0.01, 0.98, 0.01), a good second action loses mass to a terrible third
    one.
    """
    pi, q = np.array([0.01, 0.98, 0.01]), np.array([1.0, 0.9, -10.0])
    logits, advantage = jnp.log(jnp.asarray(pi)), q - pi @ q
    plain, raised, centred = (
        step(rule, logits, jnp.asarray(q))
        for rule in ("cross_entropy", "raise_greedy", "raise_greedy_centred")
    )
    assert plain == pytest.approx(np.array([0.99, -0.98, -0.01]), abs=1e-5)
    assert raised == pytest.approx(np.array([0.99, 0.0, 0.0]), abs=1e-5)
    assert centred == pytest.approx(np.array([0.99, -0.495, -0.495]), abs=1e-5)
    assert (pi * advantage) @ plain < -0.1  # the derivative of sum pi q
    assert (pi * advantage) @ raised > 0
    assert (pi * advantage) @ centred > 0


def test_adam_by_hand() -> None:
    """The first step of Adam is rate * g / (|g| + eps); the gradient (3, 4) cut to norm 1 is (0.6,
    0.8).
    """
    learner = Learner.of(jnp.array([1.0, 2.0]))
    moved = learner.descend(jnp.array([3.0, 4.0]), 0.1, 1.0, 0.2)
    expected = [1.0 - 0.1 * 0.6 / 0.8, 2.0 - 0.1 * 0.8 / 1.0]
    assert np.asarray(moved.network) == pytest.approx(np.array(expected), abs=1e-5)


def test_small_helpers_by_hand() -> None:
    assert float(blend(jnp.array(1.0), jnp.array(3.0), 0.25)) == 1.5
    assert float(mean(jnp.array([1.0, 5.0, 100.0]), jnp.array([1.0, 1.0, 0.0]))) == 3.0
    assert float(mean(jnp.array([7.0]), jnp.zeros(1))) == 0.0
    assert np.exp(np.asarray(noisy_greedy(jnp.array([0.0, 2.0, 1.0, 0.0]), 0.4))) == pytest.approx(
        np.array([0.1, 0.7, 0.1, 0.1])
    )
    network = Network(
        None,
        (jnp.array([[1.0, -1.0]]), jnp.array([[2.0], [3.0]])),
        (jnp.array([0.5, 0.5]), jnp.array([1.0])),
    )
    assert float(network(jnp.array([2.0]))[0]) == 6.0  # relu(2.5), relu(-1.5) = 2.5, 0


def transition(number: int) -> Transition:
    return Transition(
        jnp.int32(number),
        jnp.int32(0),
        jnp.float32(number),
        jnp.int32(number + 1),
        jnp.float32(1.0),
    )


def test_replay_forgets_the_oldest_and_keeps_what_it_should() -> None:
    ring = Replay.empty(3, transition(0))
    batch, weight = ring.sample(jnp.array([0.0, 0.9]))
    assert weight.tolist() == [0.0, 0.0]
    for number in range(5):
        ring = ring.add(transition(number), number != 3)
    assert sorted(ring.data.reward.tolist()) == [1.0, 2.0, 4.0]
    assert int(ring.size) == 3
    batch, weight = ring.sample(jnp.linspace(0.0, 0.999, 100))
    assert weight.sum() == 100
    assert sorted(set(batch.reward.tolist())) == [1.0, 2.0, 4.0]
    assert (batch.following == batch.observation + 1).all()


def test_replay_draws_only_what_is_stored() -> None:
    ring = Replay.empty(50, transition(0)).add(transition(7))
    assert set(ring.sample(jnp.linspace(0.0, 0.999, 20))[0].reward.tolist()) == {7.0}
    assert ring.everything()[1].tolist() == [1.0] + [0.0] * 49


def test_counters_stop_instead_of_beginning_anew_below_0() -> None:
    """Past 2^31 steps agents would be in their warm-up again, and learn nothing."""
    most = jnp.int32(2**31 - 1)
    config = configure("ddqn", "paper", hidden=(4,), batch=2, capacity=4)
    state = ddqn.init(jax.random.key(0), config, Space(5, (), 2))
    state = replace(state, t=most, episodes=most)
    for _ in range(3):
        before, state = state, ddqn.update(state, config, transition(1), jnp.asarray(True))
    assert (int(state.t), int(state.episodes)) == (2**31 - 1, 2**31 - 1)
    weights = [each.networks.q.online.network.weights[0] for each in (before, state)]
    assert (weights[0] != weights[1]).any()
    assert counted(jnp.int32(5), jnp.asarray(False)) == 5
    assert counted(jnp.int32(5)) == 6


@pytest.mark.parametrize("per_action", [False, True])
def test_the_bonus_falls_where_one_has_been(per_action: bool) -> None:
    rnd = RND(clip=5.0, adam_eps=1e-8, per_action=per_action)
    x = jax.random.normal(jax.random.key(1), (8, 20))
    action = jnp.array([0, 1, 2, 0, 1, 2, 0, 1])
    weight = jnp.array([1.0] * 4 + [0.0] * 4)
    samples = Samples.of(None, Transition(x, action, weight, x, weight), weight)
    state = rnd.init(jax.random.key(0), Space(None, (20,), 3))
    before, _ = rnd.of(state, samples)
    state = jax.lax.fori_loop(0, 400, lambda _, s: rnd.learn(s, samples), state)
    after, _ = rnd.of(state, samples)
    share = np.asarray(after / before)
    assert share[:4].max() < 0.05
    assert share[4:].min() > 0.2
    if per_action:
        other, _ = rnd.of(state, replace(samples, action=(action + 1) % 3))
        assert float(other[0]) > 10 * float(after[0])


def test_a_normalized_bonus_is_in_units_of_its_running_mean() -> None:
    samples = Samples.of(None, two_vectors(), jnp.ones(2))
    plain, scaled = RND(), RND(normalize=True)
    state = plain.init(jax.random.key(0), Space(None, (4,), 2))
    novelty, same = plain.of(state, samples)
    assert float(same.scale) == 1.0
    divided, moved = scaled.of(state, samples)
    assert float(moved.scale) == pytest.approx(1 + 0.01 * (float(novelty.mean()) - 1))
    assert np.asarray(divided) == pytest.approx(np.asarray(novelty) / float(moved.scale))


def two_vectors() -> Transition:
    x = jnp.arange(8.0).reshape(2, 4)
    return Transition(x, jnp.array([0, 1]), jnp.ones(2), x + 1.0, jnp.ones(2))


def jekyll(space: Space, **settings: Any) -> tuple[jekyll_hyde.Config, State]:
    small = {"trained_embedding": False, "bonus": RND(deep_target=True), "hidden_hyde": (8,)}
    config = configure("jekyll_hyde", "published", **{**small, **settings})
    return config, jekyll_hyde.init(jax.random.key(0), config, space)


def test_a_configuration_shows_every_value() -> None:
    for agent in ("jekyll_hyde", "ddqn", "sac"):
        config = configure(agent)
        text = repr(config)
        for field in fields(config):
            assert f"{field.name}=" in text
        assert "gamma=0.99" in text
        assert "clip=5.0" in text
        assert "Counts(power=1.0" in text or "RND(eta=" in text


def test_epsilon_by_hand() -> None:
    published, paper = configure("jekyll_hyde", "published"), configure("jekyll_hyde", "paper")
    for config, times, expected in (
        (published, (0, 400, 4400), [1.0, 1.0, 0.5]),
        (paper, (0, 4000, 16000), [1.0, 1.0, 0.25]),
    ):
        values = [float(decreasing(config, jnp.int32(t), config.warmup)) for t in times]
        assert values == expected
    assert configure("jekyll_hyde", "paper", level=2).epsilon_1 == 40_000.0
    assert [float(decreasing(configure("ddqn", "paper"), jnp.int32(e))) for e in (0, 100, 400)] == [
        1.0,
        1.0,
        0.25,
    ]
    assert float(decreasing(configure("ddqn", "published", level=2), jnp.int32(100))) == 0.5


def test_the_personality_in_control_acts_and_stores() -> None:
    config, state = jekyll(Space(5, (), 3), warmup=0, batch=4)
    act, update = jax.jit(jekyll_hyde.act), jax.jit(jekyll_hyde.update)
    x = encode(state.networks.features, jnp.int32(2))
    hyde = replace(state, hyde_acts=jnp.asarray(True))
    for key in jax.random.split(jax.random.key(1), 5):
        assert int(act(replace(hyde, key=key), config, jnp.int32(2))[0]) == int(
            jnp.argmax(state.networks.explorer.q.online.network(x))
        )
    drawn = [
        int(act(replace(state, key=key), config, jnp.int32(2))[0])
        for key in jax.random.split(jax.random.key(2), 300)
    ]
    expected = jax.nn.softmax(state.networks.actor.network(x))
    assert np.bincount(drawn, minlength=3) / 300 == pytest.approx(np.asarray(expected), abs=0.1)
    after = update(state, config, transition(1), jnp.asarray(False))
    assert after.hyde is not None
    assert (int(after.everyone.size), int(after.hyde.size)) == (1, 0)
    after = update(hyde, config, transition(1), jnp.asarray(True))
    assert after.hyde is not None
    counts = (after.everyone.size, after.hyde.size, after.episodes, after.t)
    assert [int(count) for count in counts] == [1, 1, 1, 1]


def test_the_warm_up_stores_without_learning() -> None:
    config, state = jekyll(Space(5, (), 3), warmup=2, batch=4)
    update = jax.jit(jekyll_hyde.update)
    for count in (1, 2, 3):
        before, state = state, update(state, config, transition(1), jnp.asarray(False))
        same = all(
            bool((a == b).all())
            for a, b in zip(
                jax.tree.leaves(before.networks), jax.tree.leaves(state.networks), strict=True
            )
        )
        assert same == (count <= 2)
    assert state.hyde is not None
    # until it holds a batch, Hyde's replay takes Jekyll's transitions too
    assert int(state.hyde.size) == 3


def two_targets() -> Transition:
    """The same step twice, once terminal and once not: the value of s' counts in the second."""
    return Transition(
        jnp.array([0, 1]),
        jnp.array([1, 1]),
        jnp.array([2.0, 2.0]),
        jnp.array([2, 2]),
        jnp.array([0.0, 1.0]),
    )


def samples_of(networks: Any, batch: Transition) -> Samples:
    return Samples.of(networks.features, batch, jnp.ones(len(batch.reward)))


def test_jekylls_critic_learns_expected_sarsa_by_hand() -> None:
    config, state = jekyll(Space(3, (), 2), eta_c=1e-2, critics=1, hidden=(16,), tau=0.0)
    networks, samples = state.networks, samples_of(state.networks, two_targets())
    goal = jekyll_hyde.expected_sarsa(networks, config, samples)

    def learn(_: int, critics: Any) -> Any:
        return learn_critics(critics, samples, goal, config)[0]

    trained = jax.lax.fori_loop(0, 1500, learn, networks.critics)
    pi = jax.nn.softmax(networks.actor.network(samples.x_next[0]))
    v = float(pi @ networks.critics[0].target(samples.x_next[0]))
    q = trained[0].online.network(samples.x)[:, 1]
    assert np.asarray(q) == pytest.approx(np.array([2.0, 2.0 + config.gamma * v]), abs=0.02)
    assert abs(v) > 0.1


@pytest.mark.parametrize("pessimism", [0.0, 0.25, 1.0])
def test_pessimism_is_how_much_the_smallest_critic_counts(pessimism: float) -> None:
    """For the critics' goal, for their errors, and for what the actor learns from."""
    config, state = jekyll(Space(3, (), 2), hidden=(16,), pessimism=pessimism)
    networks, samples = state.networks, samples_of(state.networks, two_targets())

    def value(x: Any) -> np.ndarray:
        q = np.array([critic.online.network(x) for critic in networks.critics])
        assert np.ptp(q, axis=0).min() > 1e-3
        return pessimism * q.min(0) + (1.0 - pessimism) * q.mean(0)

    pi = np.asarray(jax.nn.softmax(networks.actor.network(samples.x_next)))
    v = np.sum(pi * value(samples.x_next), -1)
    goal = np.array([2.0, 2.0 + config.gamma * v[1]])
    assert np.asarray(jekyll_hyde.expected_sarsa(networks, config, samples)) == pytest.approx(goal)
    error = np.asarray(jekyll_hyde.td_error(networks, config, samples))
    assert error == pytest.approx(goal - value(samples.x)[:, 1], abs=1e-5)
    actor = jekyll_hyde.learn(networks, config, samples).actor
    moved = jekyll_hyde.learn_actor(networks.actor, config, samples, jnp.asarray(value(samples.x)))
    difference = jax.tree.map(lambda a, b: jnp.abs(a - b).max(), actor.moments, moved.moments)
    assert max(map(float, jax.tree.leaves(difference))) < 1e-6
    largest = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(moved.moments.mu))
    assert largest > 1e-4


def test_double_dqn_by_hand() -> None:
    """The online network chooses the next action, the target network values it."""
    config = configure("ddqn", "published", trained_embedding=False, hidden=(16,), tau=0.0)
    networks = ddqn.init(jax.random.key(3), config, Space(3, (), 2)).networks
    other = jax.tree.map(jnp.negative, networks.q.target)
    other = replace(
        other,
        weights=(-other.weights[0], other.weights[1]),
        biases=(-other.biases[0], other.biases[1]),
    )
    online = networks.q.online
    networks, samples = (
        replace(networks, q=Critic(online, other)),
        samples_of(networks, two_targets()),
    )
    x, following = samples.x, samples.x_next[0]
    chosen = int(jnp.argmax(online.network(following)))
    # else the test would not tell Double DQN from DQN
    assert chosen != int(jnp.argmax(other(following)))
    trained = ddqn.learn(networks, replace(config, eta_c=1e-5), samples)
    goal = jnp.array([2.0, 2.0 + config.gamma * other(following)[chosen]])
    slope = jax.grad(lambda n: jnp.mean((n(x)[:, 1] - goal) ** 2))(online.network)
    expected = online.descend(slope, 1e-5, config.clip, config.adam_eps).network
    assert np.asarray(trained.q.online.network.weights[0]) == pytest.approx(
        np.asarray(expected.weights[0]), abs=1e-8
    )


def test_soft_targets_and_temperature_by_hand() -> None:
    config = configure("sac", "published", trained_embedding=False, hidden=(16,), eta=0.0)
    networks = sac.init(jax.random.key(1), config, Space(3, (), 2)).networks
    samples = samples_of(networks, two_targets())
    goal, following = sac.soft_goal(networks, config, samples), samples.x_next[0]

    def learn(_: int, critics: Any) -> Any:
        return learn_critics(critics, samples, goal, config)[0]

    trained = jax.lax.fori_loop(0, 1500, learn, networks.critics)
    log_pi = jax.nn.log_softmax(networks.actor.network(following))
    q = jnp.minimum(*(critic.target(following) for critic in networks.critics))
    soft_v = float(jnp.exp(log_pi) @ (q - log_pi))  # alpha starts at 1
    for critic in trained:
        assert np.asarray(critic.online.network(samples.x)[:, 1]) == pytest.approx(
            np.array([2.0, 2.0 + config.gamma * soft_v]), abs=0.02
        )
    warmer = sac.learn(networks, replace(config, eta=0.1), samples).log_alpha.network
    entropy = -jnp.sum(jnp.exp(log_pi) * log_pi)
    assert (float(warmer) > 0) == (float(entropy) < 0.98 * np.log(2))


def test_critics_reach_the_exact_q_of_a_frozen_policy() -> None:
    """All transitions of a small Four Rooms in every batch, the actor left alone: q tends to the
    exact q of pi.
    """
    mdp = four_rooms(1, size=7)
    config, state = jekyll(Space(mdp.n_states, (), 4), gamma=mdp.gamma, eta_c=3e-3, tau=0.05)
    s, a = (
        grid.ravel() for grid in np.meshgrid(np.arange(mdp.n_states), np.arange(4), indexing="ij")
    )
    live = ~mdp.is_terminal[s]
    s, a = s[live], a[live]
    successor = mdp.P.indices  # deterministic: one entry per row, in order
    discount = 1.0 - mdp.is_terminal[successor]
    batch = Transition(
        *(
            jnp.asarray(x)
            for x in (s, a, mdp.r[s, a].astype(np.float32), successor, discount.astype(np.float32))
        )
    )
    samples = samples_of(state.networks, batch)

    def learn(_: int, networks: Any) -> Any:
        goal = jekyll_hyde.expected_sarsa(networks, config, samples)
        return replace(networks, critics=learn_critics(networks.critics, samples, goal, config)[0])

    networks = jax.jit(lambda n: jax.lax.fori_loop(0, 4000, learn, n))(state.networks)
    pi, q = networks.tables(jnp.arange(mdp.n_states))
    policy = np.asarray(pi, dtype=np.float64)
    exact = mdp.evaluate(policy / policy.sum(1, keepdims=True)).q
    error = abs(np.asarray(q) - exact)[~mdp.is_terminal]
    assert error.mean() < 0.02 * abs(exact).max()


@pytest.mark.parametrize("agent", ALGORITHMS)
@pytest.mark.parametrize("name", ["published", "paper", "recommended"])
def test_no_random_key_is_used_twice(agent: str, name: str) -> None:
    config = configure(agent, name, batch=2, hidden=(3,), capacity=4)
    functions = ALGORITHMS[agent]

    def turn(key: jax.Array) -> jax.Array:
        state = functions.init(key, config, Space(4, (), 2))
        action, key = functions.act(state, config, jnp.int32(0))
        taken = replace(transition(1), action=action)
        state = functions.update(replace(state, key=key), config, taken, jnp.asarray(True))
        return functions.act(state, config, jnp.int32(1))[0]

    with jax.debug_key_reuse(True):
        jax.eval_shape(turn, jax.random.key(0))
        with pytest.raises(
            jax.errors.KeyReuseError
        ):  # the checker does look at what is only traced
            jax.eval_shape(lambda key: turn(key) + turn(key), jax.random.key(0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: configure("dqn"), "agent is 'dqn'"),
        (lambda: configure("jekyll_hyde", "best"), "config is 'best'"),
        (lambda: configure("ddqn", configure("jekyll_hyde")), "a Config of ddqn"),
        (lambda: configure("jekyll_hyde", actor_rule="reinforce"), "actor_rule is 'reinforce'"),
        (lambda: configure("jekyll_hyde", eta=-1.0), "eta is -1.0"),
        (lambda: configure("jekyll_hyde", batch=0), "batch is 0"),
        (lambda: configure("jekyll_hyde", fifo=1), "fifo is 1"),
        (lambda: configure("sac", epsilon_1=3.0), "hyperparameter of sac is 'epsilon_1'"),
    ],
)
def test_bad_configurations(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_the_package_does_not_import_jax() -> None:
    modules = "jekyllhyde, jekyllhyde.mdp.domains, jekyllhyde.envs"
    code = f"import sys, {modules}; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_extra_one_sentence_says_what_to_install() -> None:
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'optax' else real(name, *rest)\n"
        "from jekyllhyde.errors import InputError\n"
        "try:\n    from jekyllhyde import deep\n"
        "except InputError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "this needs optax; install jekyllhyde[deep]\n"
