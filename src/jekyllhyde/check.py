"""`check_agent`: what every agent of this library promises, as a function to run on one's own."""

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def check_agent(
    agent_factory: Callable[[Any, int], Any],
    env_factory: Callable[[], Any] | None = None,
    steps: int = 300,
    *,
    exact_resume: bool = True,
) -> None:
    """Raise `AssertionError`, naming the broken promise, unless an agent keeps its contract.

    agent_factory : (env, seed) -> agent, as `jekyllhyde.Agent` describes it.
    env_factory : makes the environment; FrozenLake by default.
    steps : how long each agent learns.
    exact_resume : a loaded agent goes on in the middle of an episode as if it had never stopped.

    The promises: the same seed gives the same agent, another seed another; learning in two calls
    is learning in one; progress and episodes count the steps; settings are frozen; actions are the
    environment's, one by one and in batches; a saved and loaded agent is the same, acts the same
    and learns on, in a fresh environment too.
    """
    make = _frozen_lake if env_factory is None else env_factory

    def learned(seed: int, *calls: int) -> Any:
        agent = agent_factory(make(), seed)
        for count in calls:
            _require(agent.learn(count) is agent, "learn does not return the agent")
        return agent

    whole, first = learned(0, steps), steps // 3
    _require(_same(whole, learned(0, steps)), "two agents with the same seed differ")
    _require(not _same(whole, learned(1, steps)), "two agents with different seeds are the same")
    part = learned(0, first)
    _check_counts(agent_factory(make(), 0), steps)
    _check_settings(part)
    _check_actions(part, make())
    _require(
        _same(whole, learned(0, first, steps - first)),
        "learning in two calls differs from learning in one",
    )
    part = learned(0, first)
    with tempfile.TemporaryDirectory() as folder:
        part.save(Path(folder) / "agent")
        loaded = type(part).load(Path(folder) / "agent", make())
    _require(_same(part, loaded), "a loaded agent differs from the one that was saved")
    _require(
        all(part.predict(seen) == loaded.predict(seen) for seen in _observations(make())),
        "a loaded agent acts differently from the one that was saved",
    )
    loaded.learn(steps - first)
    if exact_resume:
        _require(_same(whole, loaded), "saving, loading and learning on is not learning in one go")


def _check_counts(agent: Any, steps: int) -> None:
    counts: list[int] = []
    agent.learn(steps, progress=counts.append)
    _require(sum(counts) == steps, f"progress counted {sum(counts)} steps of {steps}")
    episodes = agent.episodes
    lengths = int(episodes.lengths.sum())
    _require(lengths <= steps, f"the episodes have {lengths} steps, more than the {steps} made")
    _require(len(episodes.returns) == len(episodes), "there is not one return for each episode")
    _require(bool(np.isin(episodes.hyde, (0, 1)).all()), "an episode has a leader beside 0 and 1")


def _check_settings(agent: Any) -> None:
    name = dataclasses.fields(agent.settings)[0].name
    try:
        setattr(agent.settings, name, getattr(agent.settings, name))
    except AttributeError:
        return
    raise AssertionError("the settings can be changed after the agent was made")


def _check_actions(agent: Any, env: Any) -> None:
    observations = _observations(env)
    actions = [agent.predict(observation) for observation in observations]
    _require(
        all(env.action_space.contains(np.int64(action)) for action in actions),
        "predict gives an action that the environment does not have",
    )
    batch = agent.predict(np.array(observations))
    _require(list(batch) == actions, "predict on a batch differs from predict one by one")
    drawn = agent.predict(observations[0], deterministic=False)
    _require(env.action_space.contains(np.int64(drawn)), "a drawn action is not the environment's")


def _frozen_lake() -> Any:
    import gymnasium

    return gymnasium.make("FrozenLake-v1")


def _observations(env: Any) -> list[Any]:
    observation, _ = env.reset(seed=0)
    env.action_space.seed(0)
    seen = [observation]
    for _ in range(20):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            break
        seen.append(observation)
    return seen


def _same(one: Any, other: Any) -> bool:
    a, b = one.arrays(), other.arrays()
    return a.keys() == b.keys() and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a
    )


def _require(holds: bool, broken: str) -> None:
    if not holds:
        raise AssertionError(broken)
