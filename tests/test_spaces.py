"""The boundary to environments: all kinds of spaces, masks, numbers that are not numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Graph, MultiDiscrete
from gymnasium.spaces import Space as GymSpace

import jekyllhyde as jh
from boundary_envs import ACTIONS, SPACES, Sampled
from jekyllhyde import deep
from jekyllhyde.deep import ddqn, jekyll_hyde, sac
from jekyllhyde.deep.actor_rules import ACTOR_RULES
from jekyllhyde.deep.critics import smallest
from jekyllhyde.deep.deep_agent import DeepAgent
from jekyllhyde.deep.encoders import Normalizer, Seen
from jekyllhyde.deep.networks import Samples, Space, Transition, among, pick
from jekyllhyde.deep.spaces import action_of, allowed_in, read, space_of
from jekyllhyde.envs.space_parts import factors_of, parts_of, take_apart
from jekyllhyde.errors import InputError

SMALL: dict[str, Any] = {"hidden": (8,), "batch": 4, "capacity": 50}
KINDS: dict[str, Any] = {
    "jekyll_hyde": lambda env, **more: deep.JekyllHyde(
        env, **{**SMALL, "hidden_hyde": (8,), "warmup": 6, **more}
    ),
    "ddqn": lambda env, **more: deep.DoubleDQN(env, **{**SMALL, **more}),
    "bootstrapped_dqn": lambda env, **more: deep.BootstrappedDQN(
        env, **{**SMALL, "heads": 3, **more}
    ),
    "sac_rnd": lambda env, **more: deep.DiscreteSAC(
        env, **{**SMALL, "warmup": 6, "bonus": "rnd", **more}
    ),
}


def test_what_observations_become() -> None:
    observation = {
        "image": np.full((16, 16, 3), 7, np.uint8),
        "where": {"x": np.array([1.0, 2.0], np.float32), "room": 2},
        "door": np.array([0, 1], np.int8),
    }
    vector, (image,) = take_apart(parts_of(SPACES["dict"]), observation)
    # numbers come first, then codes in the order of the keys
    assert vector.tolist() == [1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    assert image.dtype == np.uint8
    assert image.shape == (16, 16, 3)
    vector, _ = take_apart(parts_of(SPACES["tuple"]), (1, np.array([0.5, 0.25])))
    assert vector.tolist() == [0.5, 0.25, 0.0, 1.0, 0.0]
    (first, *rest), _ = take_apart(parts_of(SPACES["many"]), np.array([2, 7]))
    assert [first, *rest[:2]] == [0.0, 1.0, 0.0]
    assert len(rest) == 22  # 1000 categories are 20 random numbers, the same ones every time
    again, _ = take_apart(parts_of(SPACES["many"]), np.array([[2, 7], [2, 8]]))
    assert again[0].tolist() == [first, *rest]
    assert (again[0, 3:] != again[1, 3:]).all()


def test_images_are_heights_widths_and_channels_in_8_bits() -> None:
    (part,) = parts_of(SPACES["channels first"])
    frame = np.arange(2 * 40 * 36).reshape(2, 40, 36).astype(np.uint8)
    _, (image,) = take_apart((part,), frame)
    assert image.shape == part.image == (40, 36, 2)
    assert image[3, 5].tolist() == frame[:, 3, 5].tolist()
    _, (batch,) = take_apart((part,), np.stack([frame, frame + 1]))
    assert batch.shape == (2, 40, 36, 2)
    (grey,) = parts_of(SPACES["grey"])
    _, (image,) = take_apart((grey,), np.full((16, 16), 0.5))
    assert grey.image == (16, 16, 1)
    assert set(image.ravel().tolist()) == {128}
    # small grids and numbers without bounds are no images
    assert parts_of(Box(0, 255, (7, 7, 3), np.uint8))[0].kind == "numbers"
    assert parts_of(Box(-np.inf, np.inf, (20, 20)))[0].kind == "numbers"


@pytest.mark.filterwarnings("ignore:the observation.*is text")
@pytest.mark.parametrize("name", SPACES)
def test_every_space_is_learned_in_saved_and_loaded(name: str, tmp_path: Path) -> None:
    env = Sampled(SPACES[name], ACTIONS["shifted"])
    agent = KINDS["ddqn"](env, seed=1).learn(12)
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(agent.predict(observation))
    agent.save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent", Sampled(SPACES[name], ACTIONS["shifted"]))
    assert loaded.space == agent.space
    assert loaded.predict(observation, True) == agent.predict(observation, True)
    whole = KINDS["ddqn"](Sampled(SPACES[name], ACTIONS["shifted"]), seed=1).learn(20)
    assert same(loaded.learn(8), whole)


def same(first: DeepAgent, second: DeepAgent) -> bool:
    a, b = first.arrays(), second.arrays()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", ["jekyll_hyde", "bootstrapped_dqn", "sac_rnd"])
def test_the_other_agents_take_images_and_products(kind: str) -> None:
    env = Sampled(SPACES["dict"], ACTIONS["product"])
    agent = KINDS[kind](env).learn(10)
    assert env.action_space.contains(agent.predict(env.reset(seed=0)[0]))
    (frames,) = agent.state.everyone.frames.images
    assert frames.dtype == np.uint8
    assert agent.space.n_actions == 6


@pytest.mark.parametrize("name", ACTIONS)
def test_actions_are_the_environments(name: str) -> None:
    env = Sampled(SPACES["vector"], ACTIONS[name])
    agent = KINDS["ddqn"](env).learn(30)  # the environment checks each
    batch = np.stack([env.observation_space.sample() for _ in range(5)])
    actions = agent.predict(batch, deterministic=True)
    assert len(actions) == 5
    assert all(env.action_space.contains(each) for each in actions)
    indices = np.arange(agent.space.n_actions)
    every = action_of(agent.space, indices)
    assert len({tuple(np.ravel(each)) for each in every}) == agent.space.n_actions


def test_what_cannot_be_taken_names_the_way_out() -> None:
    with pytest.raises(InputError, match=r"TransformAction\(env, table.__getitem__, Discrete"):
        factors_of(Box(-1.0, 1.0, (2,)))
    with pytest.raises(InputError, match="product has 1000000 actions; agents take at most 10000"):
        factors_of(MultiDiscrete([100, 100, 100]))
    graph = Dict(a=Graph(Box(0, 1, (1,)), None))
    with pytest.raises(InputError, match=r"observation\['a'\] is of the space .*Transform"):
        parts_of(graph)
    # the way out works
    table = [np.array([-2.0], np.float32), np.array([2.0], np.float32)]
    env = gym.wrappers.TransformAction(
        gym.make("Pendulum-v1"),
        table.__getitem__,
        Discrete(2),
    )
    assert KINDS["ddqn"](env).learn(5).space.n_actions == 2


def test_an_environment_without_seeds_is_refused() -> None:
    class Unseeded(Sampled):
        def reset(self) -> Any:  # type: ignore[override]
            return super().reset()

    with pytest.raises(InputError, match="Unseeded takes no seed in reset"):
        space_of(Unseeded(SPACES["vector"], ACTIONS["discrete"]))


def test_text_is_left_out_with_a_word() -> None:
    with pytest.warns(UserWarning, match=r"the observation\['mission'\] is text, .* left out"):
        space = space_of(Sampled(SPACES["with text"], ACTIONS["discrete"]))
    assert space.shape == (1,)

    class Words(GymSpace[str]):  # as MiniGrid has it
        def __init__(self) -> None:
            super().__init__(dtype=str)

    assert parts_of(Dict(mission=Words()))[0].kind == "text"


def test_numbers_are_normalized_by_what_was_seen() -> None:
    numbers = np.random.default_rng(0).normal([5.0, -300.0], [0.1, 70.0], (500, 2))
    moved = jax.lax.fori_loop(
        0,
        500,
        lambda i, n: n.observe(jnp.asarray(numbers, "float32")[i]),
        Normalizer.of(2),
    )
    assert np.asarray(moved.mean) == pytest.approx(numbers.mean(0), rel=1e-3)
    assert np.asarray(moved.variance) == pytest.approx(numbers.var(0), rel=1e-2)
    z = np.asarray(moved(jnp.asarray([5.1, -300.0, 1.0])))
    assert z[:2] == pytest.approx([1.0, 0.0], abs=0.2)
    assert z[2] == 1.0  # a code
    assert np.asarray(moved(jnp.asarray([500.0, 0.0])))[0] == 10.0
    agent = KINDS["ddqn"](Sampled(SPACES["vector"], ACTIONS["discrete"])).learn(20)
    seen = np.asarray(agent.state.everyone.data.observation[:20])
    assert np.asarray(agent.state.networks.features.mean) == pytest.approx(seen.mean(0), abs=1e-5)
    plain = KINDS["ddqn"](
        Sampled(SPACES["vector"], ACTIONS["discrete"]), normalize_observations=False
    )
    assert plain.state.networks.features is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_masked_action_is_never_taken(kind: str) -> None:
    env = Sampled(SPACES["vector"], ACTIONS["shifted"], masked=True)
    agent = KINDS[kind](env).learn(400)
    assert env.forbidden == 0
    observation, info = env.reset(seed=1)
    for _ in range(20):
        for deterministic in (True, False):
            action = agent.predict(observation, deterministic, action_mask=info["action_mask"])
            assert info["action_mask"][action + 1]
        observation, _, _, _, info = env.step(action)
    # they are stored beside the transitions, and the next one's too
    data = agent.state.everyone.data
    stored = np.asarray(data.allowed)[np.arange(50), np.asarray(data.action)]
    assert stored.all()
    batch = np.stack([observation, observation])
    chosen = agent.predict(batch, True, action_mask=np.eye(3)[:2])
    assert chosen.tolist() == [-1, 0]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["tables", *KINDS])
def test_a_masked_action_is_never_taken_in_a_million_steps(kind: str) -> None:
    if kind == "tables":
        taxi = gym.make("Taxi-v4")
        step, forbidden = taxi.unwrapped.step, []

        def watched(action: int) -> Any:
            forbidden.append(not taxi.unwrapped.action_mask(taxi.unwrapped.s)[action])  # type: ignore[attr-defined]
            return step(action)

        taxi.unwrapped.step = watched  # type: ignore[method-assign]
        jh.TabularJekyllHyde(taxi).learn(1_000_000)
        assert len(forbidden) == 1_000_000
        assert not any(forbidden)
    else:
        env = Sampled(SPACES["vector"], ACTIONS["shifted"], masked=True)
        KINDS[kind](env).learn(1_000_000)
        assert env.forbidden == 0


def test_forbidden_actions_do_not_count_in_targets() -> None:
    """Every goal is that of the one action which is allowed in s'."""
    space = Space(None, (3,), 2, masked=True)
    x = jax.random.normal(jax.random.key(1), (5, 3))
    allowed = jnp.arange(5)[:, None] % 2 == jnp.arange(2)
    ones = jnp.ones(5)
    batch = Transition(x, jnp.zeros(5, int), ones, x + 1.0, ones, allowed_next=allowed)
    samples, chosen = Samples.of(None, batch, ones), jnp.argmax(allowed, -1)

    def goal(critics: Any, is_smallest: bool = True) -> np.ndarray:
        values: Any = [pick(critic.target(samples.x_next), chosen) for critic in critics]
        return np.asarray(1.0 + 0.5 * (smallest(values) if is_smallest else sum(values) / 2))

    for module, of in ((jekyll_hyde, jekyll_hyde.expected_sarsa), (sac, sac.soft_goal)):
        config: Any = replace(module.CONFIGS["recommended"], gamma=0.5, hidden=(8,))
        networks = module.init(jax.random.key(2), config, space).networks
        expected = goal(networks.critics, is_smallest=module is sac)
        assert np.asarray(of(networks, config, samples)) == pytest.approx(expected)
    config = replace(ddqn.CONFIGS["recommended"], hidden=(8,))
    critic = ddqn.init(jax.random.key(2), config, space).networks.q
    own = np.asarray(critic.double_dqn(samples, ones, 0.5))
    assert own == pytest.approx(goal([critic]))


def test_the_actor_learns_among_what_is_allowed() -> None:
    """Forbidden actions have no gradient, and do not change that of the others."""
    allowed = jnp.array([True, False, True])
    for name, rule in ACTOR_RULES.items():

        def slope(logits: jax.Array, q: jax.Array, rule: Any = rule) -> np.ndarray:
            def loss(logits: jax.Array) -> jax.Array:
                return rule(among(allowed, logits)[None], among(allowed, q)[None], 1.0).sum()

            return np.asarray(jax.grad(loss)(logits))

        q = jnp.array([1.0, 50.0, 2.0])
        gradient = slope(jnp.array([0.3, 9.0, 0.1]), q)
        assert gradient[1] == 0.0, name
        assert np.isfinite(gradient).all(), name
        if name != "raise_greedy_centred":  # it knows no more than the number of actions
            alone = jax.grad(lambda x, r=rule: r(x[None], jnp.array([[1.0, 2.0]]), 1.0).sum())
            expected = np.asarray(alone(jnp.array([0.3, 0.1])))
            scale = 2 / 3 if name == "published" else 1.0  # a mean over three actions
            assert gradient[[0, 2]] == pytest.approx(scale * expected, abs=1e-6), name


def test_masks_that_cannot_be() -> None:
    space = Space(None, (1,), 6, factors=((2, 0), (3, 0)), masked=True)
    allowed = allowed_in(space, {"action_mask": (np.array([0, 1]), np.array([1, 0, 1]))})
    assert allowed is not None
    assert allowed.tolist() == [False, False, False, True, False, True]
    assert allowed_in(Space(None, (1,), 2), {}) is None
    for mask in (np.zeros(6), np.ones(5)):
        with pytest.raises(InputError, match="action_mask allows"):
            allowed_in(space, {"action_mask": mask})
    with pytest.raises(InputError, match="not after reset"):
        allowed_in(Space(None, (1,), 2), {"action_mask": np.ones(2)})


def test_what_is_not_of_the_space_is_refused() -> None:
    space = space_of(Sampled(SPACES["vector"], ACTIONS["discrete"]))
    with pytest.raises(InputError, match="the observation has the number nan"):
        read(space, np.array([0.0, np.nan, 1.0]))
    with pytest.raises(InputError, match=r"the shape \(2,\).*must end in \(3,\)"):
        read(space, np.zeros(2))
    space = space_of(Sampled(SPACES["dict"], ACTIONS["discrete"]))
    with pytest.raises(InputError, match=r"without observation\['image'\]"):
        read(space, {})
    space = space_of(Sampled(SPACES["many"], ACTIONS["discrete"]))
    with pytest.raises(InputError, match=r"the observation is 9; .* from 1 to 3"):
        read(space, np.array([9, 5]))


def test_what_an_environment_writes_into_later_is_not_changed() -> None:
    space = space_of(Sampled(SPACES["vector"], ACTIONS["discrete"]))
    array = np.zeros(3, np.float32)
    seen = read(space, array)
    array[:] = 1.0
    assert seen.tolist() == [0.0, 0.0, 0.0]
    space = space_of(Sampled(SPACES["pixels"], ACTIONS["discrete"]))
    frame = np.zeros((20, 24, 3), np.uint8)
    image = read(space, frame)
    frame[:] = 1
    assert isinstance(image, Seen)
    assert not image.images[0].any()
