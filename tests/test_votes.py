"""Jekyll follows each critic: where they disagree he draws, and does not go round in circles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jekyllhyde import deep
from jekyllhyde.deep import jekyll_hyde
from jekyllhyde.deep.networks import Samples, Space, Transition

INDICES = Space(3, (), 3)
SMALL: dict[str, Any] = {"hidden": (16,), "hidden_hyde": (8,), "batch": 8, "capacity": 50}


def actor_after(opinions: list[list[float]], **settings: Any) -> np.ndarray:
    """What the actor does in one state, after many steps towards these opinions of it."""
    config = deep.configure("jekyll_hyde", eta=1e-2, **SMALL, **settings)
    networks = jekyll_hyde.init(jax.random.key(0), config, INDICES).networks
    here, nothing = jnp.zeros(1, jnp.int32), jnp.zeros(1)
    samples = Samples.of(None, Transition(here, here, nothing, here, nothing), jnp.ones(1))
    values = [jnp.array([opinion]) for opinion in opinions]

    @jax.jit
    def step(actor: Any) -> Any:
        return jekyll_hyde.learn_actor(actor, config, samples, *values)

    actor = networks.actor
    for _ in range(600):
        actor = step(actor)
    return np.asarray(jax.nn.softmax(actor.network(samples.x))[0])


def test_where_critics_disagree_actions_are_drawn() -> None:
    both = actor_after([[0.0, 1.0, 0.9], [0.0, 0.9, 1.0]])
    np.testing.assert_allclose(both, [0.0, 0.5, 0.5], atol=0.03)
    most = actor_after([[0.0, 1.0, 0.9], [0.0, 0.9, 1.0], [0.3, 0.2, 1.0]])
    np.testing.assert_allclose(most, [0.0, 1 / 3, 2 / 3], atol=0.03)
    agreed = actor_after([[0.0, 1.0, 0.9], [0.5, 0.7, 0.6]])
    np.testing.assert_allclose(agreed, [0.0, 1.0, 0.0], atol=0.03)


@pytest.mark.parametrize("rule", ["paper", "natural_gradient"])
def test_rules_in_proportion_to_q_follow_the_mean_either_way(rule: str) -> None:
    opinions = [[0.0, 0.4, 0.1], [0.2, 0.0, 0.5]]
    mean = np.mean(opinions, 0).tolist()
    both, one = (actor_after(each, actor_rule=rule) for each in (opinions, [mean]))
    np.testing.assert_allclose(both, one, atol=1e-4)


@pytest.mark.parametrize(
    ("votes", "critics", "expected"), [(True, 2, 2), (True, 3, 3), (False, 2, 1), (True, 1, 1)]
)
def test_an_agent_is_told_by_each_of_its_critics(
    votes: bool, critics: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    plain = jekyll_hyde.learn_actor

    def counting(actor: Any, config: Any, samples: Any, *opinions: Any) -> Any:
        seen.append(len(opinions))
        return plain(actor, config, samples, *opinions)

    monkeypatch.setattr(jekyll_hyde, "learn_actor", counting)
    config = deep.configure("jekyll_hyde", votes=votes, critics=critics, **SMALL)
    state = jekyll_hyde.init(jax.random.key(0), config, INDICES)
    step = INDICES.transition()
    jax.eval_shape(lambda s: jekyll_hyde.update(s, config, step, jnp.asarray(True)), state)
    assert seen == [expected]


def test_only_the_default_votes() -> None:
    votes = {name: deep.configure("jekyll_hyde", name).votes for name in deep.CONFIGS}
    assert [name for name, value in votes.items() if value] == ["recommended"]


def test_agents_that_vote_are_saved_and_go_on(tmp_path: Path) -> None:
    one = deep.JekyllHyde("FrozenLake-v1", seed=1, **SMALL).learn(60)
    one.save(tmp_path / "agent")
    two = deep.JekyllHyde.load(tmp_path / "agent", "FrozenLake-v1")
    assert two.settings.votes
    assert two.settings.weigh_ends
    states = np.arange(16)
    assert np.array_equal(one.learn(30).q(states), two.learn(30).q(states))
