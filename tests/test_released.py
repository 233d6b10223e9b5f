"""What the authors' released code does beside the paper, option by option (config="released")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import ddqn, jekyll_hyde, sac
from jekyllhyde.deep.bonus import RND
from jekyllhyde.deep.configurations import ALGORITHMS, configure
from jekyllhyde.deep.networks import Network, Samples, Space, Transition
from jekyllhyde.errors import InputError

ROOMS = Space(153, (), 4)  # cells and actions of Four Rooms


def everywhere(space: Space) -> Samples:
    """Every state once, with each action."""
    n = (space.n_states or 0) * space.n_actions
    state, action = jnp.arange(n) // space.n_actions, jnp.arange(n) % space.n_actions
    ones = jnp.ones(n)
    return Samples.of(None, Transition(state, action, ones, state, ones), ones)


@pytest.mark.parametrize(("config", "bonus"), [("released", 0.54), ("published", 4.93)])
def test_the_first_bonus_is_what_was_measured_in_the_release(config: str, bonus: float) -> None:
    settings = configure("jekyll_hyde", config)
    novelty = []
    for seed in range(12):
        networks = jekyll_hyde.init(jax.random.key(seed), settings, ROOMS).networks
        novelty.append(settings.bonus.of(networks.explorer.bonus, everywhere(ROOMS))[0].mean())
    assert np.mean(novelty) == pytest.approx(bonus, rel=0.25)


def test_first_weights_of_the_bonus_without_xavier() -> None:
    for xavier in (False, True):
        target = RND(deep_target=True, xavier=xavier).init(jax.random.key(0), ROOMS).target
        for weight, bias in zip(target.weights, target.biases, strict=True):
            limit = 1 / np.sqrt(len(weight))
            largest = abs(np.asarray(weight)).max()
            if xavier:
                assert largest > limit
                assert not np.asarray(bias).any()
            else:
                assert 0.9 * limit < largest <= limit
                assert 0.5 * limit < abs(np.asarray(bias)).max() <= limit


def predicted(network: Network, x: jax.Array) -> jax.Array:
    """A network of two hidden layers, written out."""
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        x = jnp.maximum(x @ weight + bias, 0.0)
    return x @ network.weights[-1] + network.biases[-1]


def test_each_predictor_learns_from_its_own_samples_and_is_cut_by_itself() -> None:
    rnd = RND(per_action=True, deep_target=True, xavier=False, apart=True, eta=0.1, clip=1e-3)
    rnd = replace(rnd, adam_eps=1e-3)
    state = rnd.init(jax.random.key(0), Space(None, (20,), 3))
    x = jax.random.normal(jax.random.key(1), (7, 20))
    action, ones = jnp.array([0, 0, 0, 0, 0, 1, 1]), jnp.ones(7)
    samples = Samples.of(None, Transition(x, action, ones, x, ones), ones.at[1].set(0.0))
    after = rnd.learn(state, samples).predictor.network
    for a, rows in enumerate([[0, 2, 3, 4], [5, 6], []]):
        before: Network = jax.tree.map(lambda leaf, a=a: leaf[a], state.predictor.network)
        target: Network = jax.tree.map(lambda leaf, a=a: leaf[a], state.target)
        own = x[jnp.array(rows, int)]
        if rows:

            def loss(network: Network, own: Any = own, target: Any = target) -> jax.Array:
                return jnp.mean((predicted(network, own) - predicted(target, own)) ** 2)

            gradient = jax.grad(loss)(before)
            norm = np.sqrt(sum(float((g**2).sum()) for g in jax.tree.leaves(gradient)))
            assert norm > rnd.clip  # else nothing is cut here
            g = jax.tree.map(lambda leaf, norm=norm: leaf * rnd.clip / norm, gradient)
            # Adam's first step
            expected = jax.tree.map(lambda w, d: w - 0.1 * d / (jnp.abs(d) + 1e-3), before, g)
        else:
            expected = before
        for w, e in zip(jax.tree.leaves(after), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(w[a], e, atol=2e-6)


def test_first_weights_are_shared_as_in_the_release() -> None:
    config = configure("jekyll_hyde", "released")
    networks = jekyll_hyde.init(jax.random.key(3), config, ROOMS).networks
    one, two = (critic.online.network for critic in networks.critics)
    actor, hyde = networks.actor.network, networks.explorer.q.online.network
    bonus = networks.explorer.bonus
    predictors = bonus.predictor.network

    def same(a: Any, b: Any) -> bool:
        return all(map(np.array_equal, *map(jax.tree.leaves, (a, b))))

    assert same((actor.weights, actor.biases), (one.weights, one.biases))
    assert same(actor.embedding, two.embedding)
    assert same(hyde.embedding, one.embedding)
    assert not same(one.weights, two.weights)
    assert not same(one.embedding, two.embedding)
    for critic in networks.critics:  # Xavier's weights; biases that are not
        assert same(critic.target, critic.online.network)
        for weight, bias in zip(
            critic.online.network.weights, critic.online.network.biases, strict=True
        ):
            fan_in, fan_out = weight.shape
            assert abs(weight).max() <= np.sqrt(6 / (fan_in + fan_out))
            assert 0 < abs(bias).max() <= 1 / np.sqrt(fan_in)
    for a in range(1, 4):
        for group in (predictors, bonus.target):
            assert same(*(jax.tree.map(lambda leaf, i=i: leaf[i], group) for i in (0, a)))
        assert same(predictors.embedding[a], one.embedding)
    assert not same(predictors.weights, bonus.target.weights)
    plain = jekyll_hyde.init(jax.random.key(3), replace(config, shared_start=False), ROOMS).networks
    assert not same(plain.actor.network.weights, plain.critics[0].online.network.weights)


@pytest.mark.parametrize(
    "settings", [{"bonus": "counts"}, {"critics": 1}, {"bonus_per_action": False}]
)
def test_a_shared_start_says_what_it_takes(settings: dict[str, Any]) -> None:
    config = configure("jekyll_hyde", "released", **settings)
    with pytest.raises(InputError, match="shared_start"):
        jekyll_hyde.init(jax.random.key(0), config, ROOMS)


def test_the_step_of_double_dqn_is_a_hundredth_while_its_scores_are_above_0() -> None:
    config = configure("ddqn", "released", batch=2, hidden=(4,), capacity=8)
    state = ddqn.init(jax.random.key(0), config, ROOMS)
    step = Transition(jnp.int32(1), jnp.int32(0), jnp.ones(()), jnp.int32(2), jnp.ones(()))
    state = ddqn.update(state, config, step, jnp.asarray(False))

    def moved(scores: list[float]) -> np.ndarray:
        before = replace(state, scores=jnp.array(scores))
        after = ddqn.update(before, config, step, jnp.asarray(False))
        return np.asarray(
            after.networks.q.online.network.biases[-1] - state.networks.q.online.network.biases[-1]
        )

    none, nan = moved([np.nan] * 10), np.nan
    assert abs(none).max() > 0
    np.testing.assert_array_equal(none, moved([nan] * 8 + [-1.0, 0.5]))
    np.testing.assert_allclose(none / 100, moved([nan] * 8 + [-1.0, 1.5]), atol=1e-7)


def test_training_tells_double_dqn_its_scores() -> None:
    rooms: Any = {"level": 1, "size": 7, "seeds": 2, "episodes": 60, "every": 5, "seed": 0}
    plain, falling = (
        deep.train(
            "four_rooms",
            agent="ddqn",
            config="released",
            hyperparameters={"falling_step": fall},
            **rooms,
        )
        for fall in (False, True)
    )
    for run in range(2):
        scores = plain.exact_score[run]
        means = [scores[max(0, i - 9) : i + 1].mean() for i in range(len(scores))]
        first = next(i for i, mean in enumerate(means) if mean > 0)  # from then on they part
        np.testing.assert_array_equal(plain.q[run, : first + 1], falling.q[run, : first + 1])
        assert (plain.q[run, first + 1 :] != falling.q[run, first + 1 :]).any()


def test_the_actor_of_sac_sees_critics_after_their_update() -> None:
    config = configure("sac", "released", hidden=(8,), eta_c=0.1)
    assert config.fresh_critic
    networks = sac.init(jax.random.key(0), config, ROOMS).networks
    samples = everywhere(ROOMS)
    both = sac.learn(networks, config, samples)
    # critics that have learned already, and learn no more
    later = sac.learn(
        replace(networks, critics=both.critics),
        replace(config, eta_c=0.0, fresh_critic=False),
        samples,
    )
    earlier = sac.learn(networks, replace(config, fresh_critic=False), samples)
    actors = [each.actor.network.weights[-1] for each in (both, later, earlier)]
    np.testing.assert_allclose(actors[0], actors[1], atol=1e-6)
    assert abs(actors[0] - actors[2]).max() > 1e-4


def test_every_agent_has_the_released_configuration() -> None:
    for agent in ALGORITHMS:
        assert configure(agent, "released").gamma == 0.99
    assert configure("jekyll_hyde", "released", level=2).epsilon_1 == 40_000.0
    assert configure("ddqn", "released", level=2).epsilon_1 == 100.0
