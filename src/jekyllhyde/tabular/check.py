"""`check_agent`: what every agent of this library promises, as a function that anyone can run on
her own agent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def check_agent(
    agent_factory: Callable[[int], Any],
    env_factory: Callable[[], Any] | None = None,
    steps: int = 300,
) -> None:
    """Raise `AssertionError`, naming the broken promise, unless an agent keeps its contract.

    agent_factory : seed -> agent, with `learn(env, steps)`, `predict(observation)`, `save(path)`,
        `load(path)` and `arrays()`, all that it has learned as a dict of arrays.
    env_factory : makes the environment; FrozenLake by default.     steps : how long each agent
        learns.

    The promises: the same seed gives the same agent, another seed another; learning in two calls is
    learning in one; a saved and loaded agent is the same, acts the same and goes on the same, in a
    fresh environment too.
    """
    make = _frozen_lake if env_factory is None else env_factory

    def learned(seed: int, *calls: int) -> Any:
        agent, env = agent_factory(seed), make()
        for count in calls:
            agent.learn(env, count)
        return agent

    whole = learned(0, steps)
    _require(
        _same(whole, learned(0, steps)), "two agents with the same seed differ after the same steps"
    )
    _require(not _same(whole, learned(1, steps)), "two agents with different seeds are the same")
    first = steps // 3
    _require(
        _same(whole, learned(0, first, steps - first)),
        "learning in two calls differs from learning in one",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.npz"
        part = learned(0, first)
        part.save(path)
        loaded = type(part).load(path)
        _require(_same(part, loaded), "a loaded agent differs from the one that was saved")
        env = make()
        actions = [(part.predict(s), loaded.predict(s)) for s in _observations(env)]
        _require(
            all(a == b for a, b in actions),
            "a loaded agent acts differently from the one that was saved",
        )
        loaded.learn(env, steps - first)
        _require(
            _same(whole, loaded),
            "an agent that was saved, loaded and taught on differs from one that was not interrupted",
        )


def _frozen_lake() -> Any:
    import gymnasium

    return gymnasium.make("FrozenLake-v1")


def _observations(env: Any) -> list[Any]:
    observation, _ = env.reset(seed=0)
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
