"""Hyde with networks: one-hot states, counts, the optimist, and who leads."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import gymnasium as gym
import jax
import jax.numpy as jnp

from jekyllhyde import deep
from jekyllhyde.deep import ddqn, jekyll_hyde
from jekyllhyde.deep.counts import Counts
from jekyllhyde.deep.critics import Critic, Sums
from jekyllhyde.deep.disagreement import Disagreement
from jekyllhyde.deep.encoders import Seen
from jekyllhyde.deep.explorers import Optimist
from jekyllhyde.deep.leaders import Curious, HandingOver, HydeOnly, Scheduled
from jekyllhyde.deep.learning import Replay, State
from jekyllhyde.deep.networks import Samples, Space, Transition
from jekyllhyde.deep.priorities import Priorities
from jekyllhyde.envs.space_parts import Part
from jekyllhyde.errors import InputError

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
INDICES = replace(Space(5, (), 3), one_hot=True)
WIDE = Sums.empty(1).beside(jnp.array([-1e30, 1e30]))  # no bound


def step_of(x: Any, action: int, discount: float = 1.0, after: Any = None) -> Samples:
    transition = Transition(
        x, jnp.int32(action), jnp.zeros(()), x if after is None else after, jnp.float32(discount)
    )
    return Samples.of(None, transition, jnp.ones(()))


def batch_of(*steps: Samples) -> Samples:
    batch: Samples = jax.tree.map(lambda *leaves: jnp.stack(leaves), *steps)
    return batch


def optimist(**settings: Any) -> tuple[Any, State]:
    small = {"hidden": (8,), "hidden_hyde": (8,), "batch": 4, "capacity": 20, "warmup": 0}
    config = deep.configure("jekyll_hyde", **{**small, **settings})
    return config, jekyll_hyde.init(jax.random.key(0), config, Space(5, (), 3))


def test_an_index_is_its_one_hot_vector() -> None:
    network = INDICES.network(jax.random.key(0), (8, 8))
    assert network.weights[0].shape == (5, 8)
    vectors = jnp.eye(5)
    assert np.asarray(network(jnp.arange(5))) == pytest.approx(np.asarray(network(vectors)))


def test_which_configurations_are_one_hot() -> None:
    for agent in deep.ALGORITHMS:
        one_hot = {name: deep.configure(agent, name).one_hot for name in deep.CONFIGS}
        assert [name for name, value in one_hot.items() if value] == ["recommended"]
    config = deep.configure("jekyll_hyde", trained_embedding=True)
    assert Space(5, (), 3).embed(jax.random.key(0), config)[0].n_embedded == 5


def test_counts_by_hand() -> None:
    counts = Counts(power=0.5, decay=2.0)
    state = counts.init(jax.random.key(0), INDICES)
    for action in (1, 1, 1, 1, 2):
        state = counts.observe(state, step_of(jnp.int32(3), action))
    assert counts.count(state, jnp.array([3, 0])).tolist() == [[0, 4, 1], [0, 0, 0]]
    bonus, same = counts.of(state, batch_of(*(step_of(jnp.int32(3), a) for a in (1, 2))))
    assert bonus.tolist() == [0.5, 1.0]
    assert same is state is counts.learn(state, batch_of(step_of(jnp.int32(3), 1)))
    unknown = counts.unknown(state, jnp.int32(3))
    assert np.asarray(unknown) == pytest.approx([1.0, 1 / 25, 1 / 4])


def test_vectors_are_counted_by_cells() -> None:
    counts = Counts()
    state = counts.init(jax.random.key(0), Space(None, (6,), 2))
    here = jax.random.normal(jax.random.key(1), (6,))
    for _ in range(8):
        state = counts.observe(state, step_of(here, 1))
    near, far = here + 1e-4, here + 3.0
    assert float(state.n.sum()) == 8 * counts.tables
    assert counts.count(state, here).tolist() == [0.0, 8.0]
    assert float(counts.count(state, near)[1]) >= 6.0  # a grid line may pass between them
    assert counts.count(state, far).tolist() == [0.0, 0.0]
    between = float(counts.count(state, here + 0.1)[1])
    assert 0.0 < between < 8.0  # neighbours share a part


def test_projections_vary_by_as_much_as_a_number_however_many_there_are() -> None:
    counts = Counts(tables=400)
    for numbers in (2, 6, 50):
        state = counts.init(jax.random.key(0), Space(None, (numbers,), 2))
        x = jax.random.normal(jax.random.key(1), (500, numbers))
        projected = jnp.einsum("ni,tip->ntp", x, state.projections)
        assert float(projected.std()) == pytest.approx(1.0, abs=0.1)
    parts = (Part(("n",), "numbers", (4,)), Part(("b",), "bits", (9,)))
    state = counts.init(jax.random.key(0), Space(None, (13,), 2, parts=parts))
    spread = state.projections.std((0, 2))
    assert np.asarray(spread) == pytest.approx([0.5] * 4 + [1.0] * 9, rel=0.1)


def test_images_are_counted_too() -> None:
    parts = (Part(("n",), "numbers", (2,)), Part(("i",), "image", (20, 20, 1), (0.0, 255.0)))
    counts = Counts()

    def seen(value: int) -> Seen:
        image = jnp.full((20, 20, 1), value, jnp.uint8)
        return Seen(jnp.zeros(2), (image,), jnp.zeros(2, jnp.int32))

    state = counts.init(jax.random.key(0), Space(None, (2,), 2, parts=parts))
    state = counts.observe(state, step_of(seen(10), 0))
    assert counts.count(state, seen(10)).tolist() == [1.0, 0.0]
    assert counts.count(state, seen(200)).tolist() == [0.0, 0.0]


def test_cells_are_spread_over_their_tables() -> None:
    counts = Counts()
    state = counts.init(jax.random.key(0), Space(None, (2,), 2))
    x = 40.0 * jax.random.normal(jax.random.key(1), (2000, 2))
    _, places = counts._place(state, x)
    assert (places >= 0).all()
    assert (places < counts.places).all()
    distinct = [len(np.unique(places[:, i])) for i in range(counts.tables)]
    assert min(distinct) > 1600  # of 2,000 thrown into 8,192 at random, 1,780 are expected


def test_what_was_never_tried_is_worth_the_most() -> None:
    config, state = optimist()
    hyde, explorer = state.networks.explorer, config.explorer
    for action in (0, 2):
        for _ in range(50):
            hyde = explorer.observe(hyde, config, step_of(jnp.int32(3), action), jnp.asarray(False))
    assert int(jnp.argmax(explorer.logits(hyde, config, jnp.int32(3), None))) == 1
    forbidden = jnp.array([True, False, True])
    assert int(jnp.argmax(explorer.logits(hyde, config, jnp.int32(3), forbidden))) != 1
    v = explorer.goal(hyde, config, batch_of(step_of(jnp.int32(0), 1, after=jnp.int32(3))), 0.0)
    assert float(v[0]) == pytest.approx(0.99)


def test_the_optimists_goal_by_hand() -> None:
    config, state = optimist(bonus="counts(decay=1e9)")  # nothing that was tried is unknown
    explorer, hyde = config.explorer, replace(state.networks.explorer, start=jnp.float32(0.4))
    for place in range(5):
        for action in range(3):
            step = step_of(jnp.int32(place), action)
            hyde = explorer.observe(hyde, config, step, jnp.asarray(False))
    start = float(hyde.start)
    q = hyde.q.target(jnp.int32(2))
    steps = [step_of(jnp.int32(1), 0, discount, jnp.int32(2)) for discount in (1.0, 0.0)]
    goal = explorer.goal(hyde, config, batch_of(*steps), jnp.array([0.5, 0.5]))
    expected = [0.005 + 0.99 * float(jnp.max(q)), 0.005 + 0.99 * start]
    assert np.asarray(goal) == pytest.approx(expected, rel=1e-5)


def test_his_value_at_starts_moves_where_a_trajectory_begins() -> None:
    config, state = optimist()
    explorer, hyde = config.explorer, state.networks.explorer
    for action in range(3):
        for _ in range(3):
            hyde = explorer.observe(hyde, config, step_of(jnp.int32(3), action), jnp.asarray(False))
    before = float(hyde.start)
    hyde = explorer.observe(hyde, config, step_of(jnp.int32(3), 0), jnp.asarray(True))
    assert float(hyde.start) == before
    assert bool(hyde.begins)
    hyde = explorer.observe(hyde, config, step_of(jnp.int32(3), 0), jnp.asarray(False))
    assert float(hyde.start) < before
    assert float(explorer.curiosity(hyde)) == float(hyde.start)


def test_who_leads_by_hand() -> None:
    config, state = optimist()
    state = replace(
        state,
        networks=replace(
            state.networks, explorer=replace(state.networks.explorer, start=jnp.float32(0.25))
        ),
    )
    ended, going = jnp.asarray(True), jnp.asarray(False)
    assert float(Curious().epsilon(state, config)) == 0.5
    assert float(Curious(power=1.0).epsilon(state, config)) == 0.25
    assert [
        bool(Curious().hyde_next(state, config, jnp.float32(d), ended)) for d in (0.4, 0.6)
    ] == [
        True,
        False,
    ]
    assert not Curious().hyde_next(state, config, jnp.float32(0.0), going)
    assert HydeOnly().hyde_next(state, config, jnp.float32(0.999), ended)
    late = replace(state, t=jnp.int32(40_000))
    assert float(Scheduled().epsilon(late, config)) == pytest.approx(0.5)
    plain, hyde = optimist(explorer="hyde")
    hyde = replace(hyde, t=jnp.int32(40_000))
    assert float(plain.leader.epsilon(hyde, plain)) == pytest.approx(0.5)
    over, led = HandingOver(chance=0.1), replace(state, hyde_acts=jnp.asarray(True))
    assert over.hyde_next(led, config, jnp.float32(0.9), going)
    assert not over.hyde_next(led, config, jnp.float32(0.9), ended)
    assert over.hyde_next(state, config, jnp.float32(0.05), going)


def test_steps_are_counted_once_each_in_the_warm_up_too() -> None:
    config, state = optimist(warmup=2)
    update = jax.jit(jekyll_hyde.update)
    transition = step_of(jnp.int32(1), 2)
    plain = Transition(*(getattr(transition, name) for name in NAMES))
    for _ in range(5):
        state = update(state, config, plain, jnp.asarray(False))
    assert float(state.networks.explorer.bonus.n[1, 2]) == 5.0
    assert float(state.networks.explorer.bonus.n.sum()) == 5.0


NAMES = ("observation", "action", "reward", "following", "discount")


def test_what_was_surprising_is_drawn_more_often() -> None:
    size, surprising = jnp.int32(90), 7
    priorities = Priorities.empty(100)
    for place in range(90):
        priorities = priorities.added(jnp.int32(place))
    error = jnp.where(jnp.arange(90) == surprising, 10.0, 1.0)
    priorities = priorities.learned(jnp.arange(90), error)
    draw = jax.jit(Priorities.draw)
    counts = np.zeros(100)
    for key in jax.random.split(jax.random.key(0), 100):
        place, weight = draw(priorities, jax.random.uniform(key, (64,)), size)
        counts += np.bincount(np.asarray(place), minlength=100)
    share = np.where(np.arange(90) == surprising, 10.0, 1.0) + 0.1 * 99 / 90
    assert counts[:90] / 6400 == pytest.approx(share / share.sum(), abs=0.004)
    assert counts[90:].sum() == 0
    often = share[np.asarray(place)] * 90 / share.sum()
    assert np.asarray(weight) == pytest.approx(often**-0.5, rel=1e-4)
    assert float(priorities.added(jnp.int32(90)).error[90]) == 10.0


def test_places_are_within_the_replay_whatever_the_errors_are() -> None:
    for error in (0.0, np.nan, np.inf):
        priorities = Priorities(jnp.full(16, error))
        place, _ = priorities.draw(jnp.array([0.0, 0.5, 0.999]), jnp.int32(5))
        assert ((place >= 0) & (place < 5)).all()


def test_the_error_of_a_step_is_its_priority() -> None:
    config, state = optimist(batch=2)
    transition = Transition(jnp.int32(1), jnp.int32(2), jnp.ones(()), jnp.int32(3), jnp.zeros(()))
    after = jekyll_hyde.update(state, config, transition, jnp.asarray(False))
    step = Samples.of(None, jax.tree.map(lambda leaf: leaf[None], transition), jnp.ones(1))
    error = abs(float(jekyll_hyde.td_error(state.networks, config, step)[0]))
    assert float(after.priorities.error[0]) == pytest.approx(error, rel=1e-4)
    assert float(after.priorities.error[1:].sum()) == 0.0
    for others in ({"prioritized": False}, {"fifo": True}):
        config, state = optimist(**others)
        assert state.priorities is None
        after = jekyll_hyde.update(state, config, transition, jnp.asarray(False))
        assert after.priorities is None


def rewarded(*rewards: float) -> Replay:
    empty = Replay.empty(4, INDICES.transition())
    return replace(empty, data=replace(empty.data, reward=jnp.array(rewards)))


def test_what_a_return_can_be_by_hand() -> None:
    both = rewarded(-1.0, -1.0, 0.0, 0.0), rewarded(-3.0, 2.0, 1.0, 1.0)
    assert WIDE.bounds(0.5, *both) == pytest.approx((-6.0, 4.0))
    assert WIDE.bounds(jnp.float32(0.75), both[0]) == pytest.approx((-4.0, 0.0))
    # a trajectory may end
    assert WIDE.bounds(0.5, rewarded(2.0, 2.0, 1.0, 1.0)) == pytest.approx((0.0, 4.0))
    assert WIDE.bounds(1.0, rewarded(0.0, 0.0, 0.0, 0.0)) == pytest.approx((0.0, 0.0))
    least, most = WIDE.bounds(1.0, rewarded(0.0, 0.0, 0.0, 1.0))
    assert least == 0.0
    assert 1e5 < most < jnp.inf
    seen = Sums.empty(1).beside(jnp.array([-1.0, 3.0]))
    assert seen.bounds(0.5, rewarded(-9.0, 9.0, 1.0, 1.0)) == pytest.approx((-2.0, 6.0))


@pytest.mark.parametrize("seed", range(3))
def test_sums_bound_all_returns_of_their_trajectories(seed: int) -> None:
    draws = np.random.default_rng(seed)
    rewards, discounts = draws.normal(size=60), (draws.random(60) < 0.9).astype(float)
    sums = Sums.empty(1)
    for reward, discount in zip(rewards, discounts, strict=True):
        sums = sums.after(jnp.float32(reward), jnp.float32(discount))
    parts = np.split(rewards, np.flatnonzero(discounts == 0) + 1)
    totals = [part[i:j].sum() for part in parts for j in range(len(part) + 1) for i in range(j)]
    assert float(sums.highest) == pytest.approx(max(0.0, *totals), abs=1e-5)
    assert float(sums.lowest) == pytest.approx(min(0.0, *totals), abs=1e-5)
    for gamma in (0.0, 0.5, 0.99):
        returns = [
            (gamma ** np.arange(len(part) - i) * part[i:]).sum()
            for part in parts
            for i in range(len(part))
        ]
        assert float(sums.lowest) - 1e-5 <= min(returns)
        assert max(returns) <= float(sums.highest) + 1e-5


def test_sums_of_lanes_are_apart_and_those_of_others_unknown() -> None:
    one = jnp.ones(())
    sums = Sums.empty(2)
    for lane in (0, 1, 0, 1):
        sums = replace(sums, lane=jnp.int32(lane)).after(one, one)
    assert (float(sums.highest), float(sums.lowest)) == (2.0, 0.0)
    broken = replace(sums, lane=jnp.int32(1)).anew()
    assert broken.high.tolist() == [2.0, 0.0]
    assert float(broken.after(one, one).highest) == 2.0
    others = sums.beside(jnp.array([3.0, -1.0, 2.0]))
    assert (float(others.highest), float(others.lowest)) == (5.0, -1.0)


@pytest.mark.parametrize(("guess", "value"), [(1e3, 0.0), (-1e3, -10.0), (-5.0, -5.0)])
def test_critics_expect_no_more_than_the_rewards_allow(guess: float, value: float) -> None:
    transition = Transition(jnp.int32(1), jnp.int32(2), -jnp.ones(()), jnp.int32(3), jnp.ones(()))

    def guessing(critic: Critic) -> Critic:
        zero = jax.tree.map(jnp.zeros_like, critic.target)
        return replace(critic, target=replace(zero, biases=(*zero.biases[:-1], jnp.full(3, guess))))

    for is_bounded, expected in ((True, value), (False, guess)):
        config, state = optimist(batch=2, gamma=0.9, bounded=is_bounded, pessimism=1.0)
        critics = tuple(map(guessing, state.networks.critics))
        sums = WIDE if is_bounded else None
        state = replace(state, networks=replace(state.networks, critics=critics), sums=sums)
        after = jekyll_hyde.update(state, config, transition, jnp.asarray(False))
        q = min(float(critic.online.network(jnp.int32(1))[2]) for critic in critics)
        error = abs(-1.0 + 0.9 * expected - q)
        assert float(after.priorities.error[0]) == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize(
    ("space", "x"), [(Space(5, (), 3), jnp.int32(1)), (Space(None, (6,), 3), jnp.ones(6))]
)
def test_first_values_of_both_are_scaled(space: Space, x: Any) -> None:
    def values(scale: float) -> list[np.ndarray]:
        config = deep.configure("jekyll_hyde", hidden_hyde=(64,), first_values=scale)
        networks = jekyll_hyde.init(jax.random.key(0), config, space).networks
        both = [*networks.critics, networks.explorer.q]
        return [np.asarray(f(x)) for critic in both for f in (critic, critic.target)]

    for small, plain in zip(values(0.25), values(1.0), strict=True):
        assert plain.any()
        assert small == pytest.approx(0.25 * plain)


def test_units_stay_alive_where_there_are_many_states() -> None:
    """First weights of many states are small, so biases that take back what critics say by chance
    switch units off; states whose units are all off are never learned from again.
    """
    size, n_updates = 5000, 600
    s = jax.random.randint(jax.random.key(1), (2, n_updates), 0, size)

    def active(**settings: Any) -> float:
        config = deep.configure("jekyll_hyde", warmup=0, batch=32, capacity=600, **settings)
        state = jekyll_hyde.init(jax.random.key(0), config, Space(size, (), 2))

        def learn(state: State, states: Any) -> tuple[State, None]:
            step = Transition(states[0], states[1] % 2, jnp.zeros(()), states[1], jnp.ones(()))
            return jekyll_hyde.update(state, config, step, jnp.asarray(False)), None

        critic = jax.jit(lambda: jax.lax.scan(learn, state, s.T)[0])().networks.critics[0]
        first, second, _ = critic.online.network.weights
        biases = critic.online.network.biases
        hidden = jax.nn.relu(first + biases[0])
        return float(jnp.mean(hidden @ second + biases[1] > 0.0))

    assert active() > 0.4
    assert active(first_values=1.0) < 0.35


def test_double_dqn_counts_too() -> None:
    config = deep.configure("ddqn", bonus="counts", hidden=(4,), batch=2, capacity=4)
    state = ddqn.init(jax.random.key(0), config, Space(5, (), 2))
    transition = Transition(jnp.int32(1), jnp.int32(0), jnp.zeros(()), jnp.int32(2), jnp.ones(()))
    for _ in range(3):
        state = ddqn.update(state, config, transition, jnp.asarray(False))
    assert state.networks.bonus.n[1].tolist() == [3.0, 0.0]


def test_the_sea_is_searched_through() -> None:
    """Which a uniform policy would take 2^12 episodes for."""
    result = deep.train("deep_sea", n=12, seeds=2, episodes=200, every=10, seed=3)
    assert isinstance(result.config.explorer, Optimist)
    assert result.solved(0.02)[:, -1].all()
    seen = (result.arrivals[:, -1].sum(1) > 0).sum(1)
    assert (seen >= 12 * 13 / 2 - 1).all()  # all cells but the start, which is never entered


def test_an_agent_saved_before_a_setting_was_there_is_loaded(tmp_path: Path) -> None:
    env = gym.make("jekyllhyde/Chain-v0", n_states=5)
    agent = deep.JekyllHyde(env, config="paper", batch=4, capacity=50).learn(60)
    agent.save(tmp_path / "agent")
    about = tmp_path / "agent" / "agent.json"
    content = json.loads(about.read_text())
    for name in ("bounded", "first_values", "leader", "one_hot", "prioritized"):
        del content["settings"][name]
    about.write_text(json.dumps(content))
    loaded = deep.JekyllHyde.load(tmp_path / "agent", env)
    assert loaded.settings == agent.settings
    assert loaded.learn(10).steps == 70


def test_an_agent_of_0_5_is_loaded_with_its_settings(tmp_path: Path) -> None:
    env = gym.make("jekyllhyde/Chain-v0", n_states=5)
    plain: dict[str, Any] = {"bounded": False, "first_values": 1.0, "pessimism": 1.0}
    tireless = Optimist(weariness=0.0)
    agent = deep.JekyllHyde(env, batch=4, capacity=50, explorer=tireless, **plain).learn(60)
    agent.save(tmp_path / "agent")
    about = tmp_path / "agent" / "agent.json"
    content = json.loads(about.read_text())
    for name in plain:
        del content["settings"][name]
    content["settings"]["explorer"] = "optimist()"
    about.write_text(json.dumps(content))
    assert deep.JekyllHyde.load(tmp_path / "agent", env).settings == agent.settings


@pytest.mark.parametrize("kind", [deep.JekyllHyde, deep.DoubleDQN, deep.DiscreteSAC])
def test_an_agent_of_0_6_is_loaded_with_its_settings(kind: Any, tmp_path: Path) -> None:
    env = gym.make("jekyllhyde/Chain-v0", n_states=5)
    agent = kind(env, batch=4, capacity=50, bonus="rnd(eta=0.01)").learn(30)
    agent.save(tmp_path / "agent")
    about = tmp_path / "agent" / "agent.json"
    content = json.loads(about.read_text())
    settings = content["settings"]
    for name in ("shared_start", "falling_step"):
        settings.pop(name, None)
    settings["bonus"] = settings["bonus"].replace(", xavier=True, apart=False", "")
    assert settings["bonus"].endswith("normalize=False)")
    about.write_text(json.dumps(content))
    assert kind.load(tmp_path / "agent", env).settings == agent.settings
    settings["bonus"] = settings["bonus"].replace("eta=0.01", "eta=0.01, eta=0.02")
    about.write_text(json.dumps(content))
    with pytest.raises(InputError, match="bonus"):
        kind.load(tmp_path / "agent", env)


@pytest.mark.parametrize("name", ["MountainCar-v0", "Acrobot-v1", "CartPole-v1"])
def test_classic_control_in_jax_is_gymnasiums(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import classic_control  # type: ignore[import-not-found]

    task = classic_control.TASKS[name]
    wrapped: Any = gym.make(name)
    env, random = wrapped.unwrapped, np.random.default_rng(0)
    assert wrapped.spec.max_episode_steps == task.limit
    assert (env.observation_space.shape, env.action_space.n) == ((task.width,), task.n_actions)
    env.reset(seed=1)
    state, step = jnp.array(env.state, jnp.float32), jax.jit(task.step)
    for _ in range(60):
        action = int(random.integers(task.n_actions))
        observation, reward, terminated, _, _ = env.step(action)
        state, own_reward, own_terminated = step(state, jnp.int32(action))
        assert np.asarray(task.observe(state)) == pytest.approx(observation, abs=1e-4)
        assert (float(own_reward), bool(own_terminated)) == (reward, terminated)
        if terminated:
            break
    starts = np.array([task.reset(key) for key in jax.random.split(jax.random.key(0), 100)])
    env.reset(seed=2)
    assert starts.shape[1:] == np.shape(env.state)
    sys.modules.pop("classic_control")


@pytest.mark.parametrize(
    ("bonus", "words"),
    [
        ("counts(tables=0)", "tables of counts is 0"),
        ("counts(places=0)", "places of counts is 0"),
        ("disagreement(members=1)", "members of disagreement is 1"),
        ("count", "bonus is 'count'; it must be one of rnd, counts, bits, disagreement"),
    ],
)
def test_settings_that_cannot_be(bonus: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        deep.configure("jekyll_hyde", bonus=bonus)


def test_members_agree_where_they_have_been() -> None:
    bonus = Disagreement(normalize=False)
    state = bonus.init(jax.random.key(0), INDICES)
    known = batch_of(*(step_of(jnp.int32(i), i % 3, after=jnp.int32(4 - i)) for i in range(3)))
    other = replace(known, action=(known.action + 1) % 3)
    before, _ = bonus.of(state, known)
    state = jax.lax.fori_loop(0, 500, lambda _, s: bonus.learn(s, known), state)
    after, same = bonus.of(state, known)
    assert float((after / before).max()) < 0.05
    assert float(bonus.of(state, other)[0].min()) > 5 * float(after.max())
    assert same is state
    scaled, moved = Disagreement().of(state, known)
    assert np.asarray(scaled * moved.scale) == pytest.approx(np.asarray(after))


@pytest.mark.parametrize(("numbers", "cells"), [(1, 4), (2, 2), (3, 1)])
def test_cells_of_few_numbers_are_finer(numbers: int, cells: int) -> None:
    space, x = Space(None, (numbers,), 2), jnp.linspace(-3.0, 3.0, 2_001)[:, None]
    plain, finer = Counts(), Counts(finer=True)
    state = plain.init(jax.random.key(0), space)
    line = jnp.tile(x, (1, numbers))
    changes = [
        int((np.diff(np.asarray(each._place(state, line)[1])[:, 0]) != 0).sum())
        for each in (plain, finer)
    ]
    assert changes[1] == pytest.approx(cells * changes[0], abs=2 * cells)


@pytest.mark.parametrize(("bounded", "most"), [(True, 1.0), (False, 3.0)])
def test_an_optimist_believes_no_more_than_there_can_be(bounded: bool, most: float) -> None:
    config = deep.configure("jekyll_hyde", bounded=bounded)
    keys = jax.random.key(0), jax.random.key(1)
    state: Any = config.explorer.init(keys, config, Space(None, (2,), 3))
    *hidden, last = state.q.target.biases
    target = replace(state.q.target, biases=(*hidden, jnp.full_like(last, 3.0)))
    known = replace(state.bonus, n=jnp.full_like(state.bonus.n, 1e9))
    raised = replace(state, q=replace(state.q, target=target), bonus=known)
    x = jnp.zeros((4, 2))
    step = Transition(x, jnp.zeros(4, jnp.int32), jnp.zeros(4), x, jnp.ones(4))
    samples = Samples.of(None, step, jnp.ones(4))
    goal = config.explorer.goal(raised, config, samples, jnp.zeros(4))
    assert np.asarray(goal) == pytest.approx(0.99 * most, abs=1e-3)
