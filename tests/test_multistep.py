"""Returns of several steps, against sums by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.learning import Replay
from jekyllhyde.deep.multistep import Horizon
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.errors import InputError

GAMMA = 0.9
# observation, reward, where it led, discount; two episodes: one terminates, one is cut
ROWS = [(0, 1.0, 1, 1.0), (1, 2.0, 2, 1.0), (2, 4.0, 3, 0.0), (5, 8.0, 6, 1.0), (6, 16.0, 7, 1.0)]


def ring(capacity: int, rows: list[tuple[int, float, int, float]]) -> Replay:
    replay = Replay.empty(capacity, Space(10, (), 2).transition())
    for before, reward, after, discount in rows:
        numbers = (jnp.float32(x) for x in (reward, discount))
        value, left = numbers
        step = Transition(jnp.int32(before), jnp.int32(0), value, jnp.int32(after), left)
        replay = replay.add(step)
    return replay


def by_hand(
    rows: list[tuple[int, float, int, float]], i: int, n: int, quiet: float = 1.0
) -> tuple[float, int, float]:
    most = quiet * max(abs(reward) for _, reward, _, _ in rows)
    total, factor, place, discount, is_quiet = 0.0, 1.0, rows[i][0], 1.0, True
    for k, (before, reward, after, left) in enumerate(rows[i : i + n]):
        if discount == 0 or before != place or not is_quiet:
            break
        total, place, discount = total + factor * reward, after, GAMMA**k * left
        factor, is_quiet = factor * GAMMA, abs(reward) <= most
    return total, place, discount


@pytest.mark.parametrize("n", [2, 3, 9])
@pytest.mark.parametrize("capacity", [5, 8])
@pytest.mark.parametrize("quiet", [1.0, 0.125, 0.01])
def test_sums_by_hand(n: int, capacity: int, quiet: float) -> None:
    uniform = (jnp.arange(5) + 0.5) / 5
    batch, weight = ring(capacity, ROWS).sample(uniform, Horizon(n, GAMMA, quiet))
    assert weight.tolist() == [1.0] * 5
    for i in range(5):
        total, place, discount = by_hand(ROWS, i, n, quiet)
        assert batch.ahead.reward[i] == pytest.approx(total)
        assert batch.ahead.following[i] == place
        assert batch.ahead.discount[i] == pytest.approx(discount)


def test_the_newest_is_not_followed_by_the_oldest() -> None:
    """A ring that was written over: the place behind the newest holds the oldest, which starts
    where the newest led."""
    rows = [(7, 1.0, 8, 1.0), (8, 2.0, 9, 1.0), (9, 4.0, 7, 1.0)]
    batch, _ = ring(3, [(0, 0.0, 0, 1.0), *rows]).sample(
        (jnp.arange(3) + 0.5) / 3, Horizon(3, GAMMA)
    )
    newest = int(np.argmax(batch.reward))
    assert batch.reward[newest] == batch.ahead.reward[newest] == 4.0


@pytest.mark.parametrize("n", [2, 3, 9])
def test_lanes_that_take_turns_are_told_apart(n: int) -> None:
    """Both stand in the same states at times, so that a step ahead in the ring would fit too."""
    others = [(1, -1.0, 1, 1.0), (1, -2.0, 2, 1.0), (2, -4.0, 5, 1.0), (5, -8.0, 6, 1.0)]
    lanes = [ROWS[:4], others]
    turns = [row for pair in zip(*lanes, strict=True) for row in pair]
    uniform = (jnp.arange(8) + 0.5) / 8
    batch, _ = ring(9, turns).sample(uniform, Horizon(n, GAMMA, lanes=2))
    for i in range(8):
        total, place, discount = by_hand(lanes[i % 2], i // 2, n)
        assert batch.ahead.reward[i] == pytest.approx(total)
        assert batch.ahead.following[i] == place
        assert batch.ahead.discount[i] == pytest.approx(discount)


def test_while_nothing_was_paid_all_steps_are_quiet() -> None:
    rows = [(0, 0.0, 1, 1.0), (1, 0.0, 2, 1.0), (2, 0.0, 3, 1.0)]
    batch, _ = ring(5, rows).sample(jnp.zeros(1), Horizon(3, GAMMA, 0.02))
    assert batch.ahead.following.tolist() == [3]


def goal(share: float, n_steps: int = 3) -> jax.Array:
    config = deep.configure(
        "jekyll_hyde", n_steps=n_steps, far_share=share, quiet=1.0, hidden=(8,), batch=4
    )
    networks = jekyll_hyde.init(jax.random.key(0), config, Space(10, (), 2)).networks
    batch, weight = ring(8, ROWS).sample((jnp.arange(5) + 0.5) / 5, config.horizon)
    samples = Samples.of(networks.features, batch, weight)
    return jekyll_hyde.expected_sarsa(networks, config, samples)


def test_the_goal_is_a_mean_of_one_step_and_of_several() -> None:
    near, far = goal(0.0), goal(1.0)
    assert near.tolist() == goal(1.0, n_steps=1).tolist()
    assert not np.allclose(near, far)
    assert np.allclose(goal(0.25), 0.75 * near + 0.25 * far)


def of_two_steps(brought: float, left: float, logits: list[float], **settings: Any) -> float:
    """The goal in state 1, of a step that brings nothing and of one that brings something, with
    critics that say 1 of every state and an actor with the same logits everywhere.
    """
    config = deep.configure(
        "jekyll_hyde", **{"n_steps": 3, "far_share": 0.5, "quiet": 0.1, **settings}
    )
    networks = jekyll_hyde.init(jax.random.key(0), config, Space(10, (), 2)).networks
    networks = jax.tree.map(jnp.zeros_like, networks)
    networks = eqx.tree_at(
        lambda n: [n.actor.network.biases[-1], *(each.target.biases[-1] for each in n.critics)],
        networks,
        [jnp.array(logits)] + [jnp.ones(2)] * len(networks.critics),
    )
    rows = [(1, 0.0, 2, 1.0), (2, brought, 3, left)]
    batch, weight = ring(4, rows).sample(jnp.array([0.1]), config.horizon)
    samples = Samples.of(networks.features, batch, weight)
    return float(jekyll_hyde.expected_sarsa(networks, config, samples)[0])


def test_what_brings_clearly_less_is_a_mistake_and_does_not_count() -> None:
    """Two steps from state 1: the second ends the trajectory with nothing, or with a reward."""
    near, rest = 0.99, {"tolerance": 0.2, "weigh_ends": False}
    for brought, far in [(0.0, near), (0.7, near), (0.9, 0.9 * near), (5.0, 5.0 * near)]:
        goal = of_two_steps(brought, 0.0, [0.0, 0.0], **rest)
        assert goal == pytest.approx(0.5 * near + 0.5 * far), brought
    # where everything costs, less is farther below
    assert of_two_steps(-5.0, 0.0, [0.0, 0.0], **rest) == pytest.approx(near)


def test_a_bad_end_counts_as_far_as_jekyll_would_step_into_it() -> None:
    near = 0.99
    for logits, chance in [([0.0, 0.0], 0.5), ([3.0, 0.0], 0.9526), ([-3.0, 0.0], 0.0474)]:
        goal = of_two_steps(0.0, 0.0, logits, weigh_ends=True)
        assert goal == pytest.approx((1 - 0.5 * chance) * near, rel=1e-3)
        # an end that is better counts as it is, and so does what is no end
        good = of_two_steps(3.0, 0.0, logits, weigh_ends=True)
        assert good == pytest.approx(0.5 * near + 0.5 * 3.0 * near)
        worse = of_two_steps(-1.0, 1.0, logits, weigh_ends=True)
        assert worse == pytest.approx(0.5 * near + 0.5 * near * (-1.0 + near))
        plain = of_two_steps(0.0, 0.0, logits, weigh_ends=False)
        assert plain == pytest.approx(0.5 * near)


def test_after_a_cut_the_world_stays_where_it_was() -> None:
    """Of two steps the second is cut; its own s' is never learned from, and does not count."""
    replay = Replay.empty(4, replace(Space(10, (), 2).transition(), cut=jnp.asarray(False)))
    for before, after, cut in [(1, 2, False), (2, 3, True), (7, 8, False)]:
        places, rest = (jnp.int32(before), jnp.int32(after)), (jnp.float32(0.5), jnp.ones(()))
        step = Transition(places[0], jnp.int32(0), rest[0], places[1], rest[1])
        replay = replay.add(replace(step, cut=jnp.asarray(cut)))
    batch, weight = replay.sample((jnp.arange(3) + 0.5) / 3, Horizon(3, GAMMA))
    samples = Samples.of(jnp.arange(10.0)[:, None], batch, weight)
    assert samples.x_next.ravel().tolist() == [2.0, 2.0, 8.0]
    assert samples.far.x_next.ravel().tolist() == [2.0, 2.0, 8.0]
    assert samples.far.reward.tolist() == pytest.approx([0.5 + GAMMA * 0.5, 0.5, 0.5])
    assert batch.following.tolist() == [2, 3, 8]  # what was seen is kept


class Clock(gym.Env[Any, Any]):
    """Nothing is ever paid; how late it is, is all that is seen."""

    observation_space = gym.spaces.Box(0.0, 1.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.late = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> Any:
        self.late += 1
        seen = np.full(1, self.late / 10, np.float32)
        return seen, 0.0, False, self.late == 10, {}


def test_cuts_are_stored_where_they_count() -> None:
    stays = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 100}
    agent = deep.JekyllHyde(Clock(), **stays).learn(40)  # type: ignore[arg-type]
    assert np.flatnonzero(agent.state.everyone.data.cut).tolist() == [9, 19, 29, 39]
    other = deep.JekyllHyde(Clock(), cut_stays=False, **stays).learn(20)  # type: ignore[arg-type]
    assert other.state.everyone.data.cut is None
    lake = deep.JekyllHyde("FrozenLake-v1", config="published", **stays)  # type: ignore[arg-type]
    assert lake.state.everyone.data.cut is None


def test_transitions_of_others_are_not_cut(tmp_path: Path) -> None:
    stays = {"hidden": (8,), "hidden_hyde": (8,), "batch": 8, "capacity": 100}
    agent = deep.JekyllHyde(Clock(), **stays).learn(40)  # type: ignore[arg-type]
    agent.export_replay(tmp_path / "steps.parquet")
    again = deep.JekyllHyde(Clock(), **stays)  # type: ignore[arg-type]
    again.import_replay(tmp_path / "steps.parquet")
    assert not np.asarray(again.state.everyone.data.cut).any()
    assert int(again.state.everyone.size) == 40


@pytest.mark.parametrize("capacity", [5, 8])
def test_the_whole_replay_looks_ahead_too(capacity: int) -> None:
    batch, weight = ring(capacity, ROWS).everything(Horizon(3, GAMMA))
    assert weight.tolist() == [1.0] * 5 + [0.0] * (capacity - 5)
    sums = [by_hand(ROWS, i, 3)[0] for i in range(5)]
    assert batch.ahead.reward[:5].tolist() == pytest.approx(sums)


def test_far_samples_keep_what_was_taken() -> None:
    batch, weight = ring(8, ROWS).sample(jnp.array([0.1]), Horizon(3, GAMMA))
    near = Samples.of(jnp.arange(10.0)[:, None], batch, weight)
    far = near.far
    assert (near.x_next.item(), far.x_next.item()) == (1.0, 3.0)
    assert (near.reward.item(), far.reward.item()) == (1.0, pytest.approx(1 + 1.8 + 3.24))
    assert far.x is near.x
    assert near.far.far is not None
    single, _ = ring(8, ROWS).sample(jnp.array([0.1]))
    alone = Samples.of(None, single, weight)
    assert alone.far is alone


SMALL: dict[str, Any] = {"hidden": (16,), "batch": 16, "capacity": 500}


HYDE: dict[str, Any] = {"hidden_hyde": (8,), "warmup": 5}


@pytest.mark.parametrize(("kind", "more"), [(deep.DoubleDQN, {}), (deep.JekyllHyde, HYDE)])
def test_agents_learn_from_several_steps(kind: Any, more: dict[str, Any]) -> None:
    agents = [kind("CliffWalking-v1", n_steps=n, **SMALL, **more).learn(60) for n in (1, 3)]
    states = np.arange(48)
    assert not np.array_equal(agents[0].q(states), agents[1].q(states))
    assert "n_steps=3" in repr(agents[1].settings)
    leaves = [str(jax.tree.structure(agent.state)) for agent in agents]
    assert leaves[0] == leaves[1]  # they are stored alike


@pytest.mark.parametrize("kind", [deep.DoubleDQN, deep.JekyllHyde])
def test_lanes_learn_from_several_steps(kind: Any) -> None:
    env = gym.make_vec("CliffWalking-v1", 3, "sync")
    agent = kind(env, n_steps=3, hidden=(8,), batch=16, capacity=200).learn(90)
    assert agent.settings.horizon.lanes == 3
    ring = agent.state.everyone
    batch, _ = ring.at(jnp.arange(60), jnp.ones(60), agent.settings.horizon)
    goes_on = batch.ahead.reward != batch.reward
    assert float(jnp.mean(goes_on)) > 0.5


def test_no_steps_are_refused() -> None:
    with pytest.raises(InputError, match="n_steps is 0"):
        deep.DoubleDQN(n_steps=0)


def played_by(agent: Any) -> Any:
    return agent.state.networks.policy


def test_the_actor_that_plays_follows_the_one_that_learns(tmp_path: Path) -> None:
    agent = deep.JekyllHyde("CliffWalking-v1", tau_actor=0.25, **SMALL, **HYDE).learn(20)
    before = played_by(agent)
    agent.learn(1)
    state, after = agent.state, played_by(agent)
    learned = state.networks.actor.network
    for slow, then, fast in zip(*map(jax.tree.leaves, (before, after, learned)), strict=True):
        assert np.allclose(then, slow + 0.25 * (fast - slow), atol=1e-6)
    x = jnp.arange(48)
    assert np.allclose(agent.probabilities(np.arange(48)), jax.nn.softmax(after(x)), atol=1e-6)
    assert not np.allclose(after(x), learned(x), atol=1e-6)
    agent.save(tmp_path / "agent")
    again = deep.JekyllHyde.load(tmp_path / "agent", "CliffWalking-v1")
    assert jax.tree.all(jax.tree.map(np.array_equal, played_by(again), after))


def test_the_same_actor_is_stored_once() -> None:
    agent = deep.JekyllHyde("CliffWalking-v1", tau_actor=1.0, **SMALL, **HYDE).learn(20)
    assert agent.state.networks.played is None
    assert played_by(agent) is agent.state.networks.actor.network or np.array_equal(
        played_by(agent).weights[0], agent.state.networks.actor.network.weights[0]
    )
