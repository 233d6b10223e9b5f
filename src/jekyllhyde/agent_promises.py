"""`check_agent`: whether an agent keeps the contract of `jekyllhyde.agent`."""

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.agent import Record
from jekyllhyde.policy_returns import evaluate_policy


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
    is learning in one, also where a callback stopped the first; an environment that raises costs
    nothing that was learned; records and episodes count the steps; settings are frozen; actions are
    the environment's, one by one and in batches; both personalities can be asked, and asking
    changes nothing; a saved and loaded agent is the same, acts the same and learns on, in a fresh
    environment too.
    """
    import gymnasium

    def make() -> Any:
        return gymnasium.make("FrozenLake-v1") if env_factory is None else env_factory()

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
    stopped = agent_factory(make(), 0)
    stopped.learn(steps, callback=lambda agent, record: False)
    stopped.learn(steps - stopped.steps)
    _require(_same(whole, stopped), "learning on after a callback stopped it differs")
    _check_failures(agent_factory, make, whole, steps)
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
    records: list[Record] = []
    agent.learn(steps, callback=lambda agent, record: records.append(record))
    ended = agent.episodes
    told = [record.step for record in records if record.event == "episode"]
    _require(told == ended.steps.tolist(), "callbacks are not told of every episode that ends")
    lengths = int(ended.lengths.sum())
    _require(lengths <= steps, f"the episodes have {lengths} steps, more than the {steps} made")
    _require(len(ended.returns) == len(ended), "there is not one return for each episode")
    _require(bool(np.isin(ended.hyde, (0, 1)).all()), "an episode has a leader beside 0 and 1")


def _check_failures(
    agent_factory: Callable[[Any, int], Any], make: Callable[[], Any], whole: Any, steps: int
) -> None:
    env = make()
    agent, step, count = agent_factory(env, 0), env.step, steps // 2

    def fail(action: Any) -> Any:
        nonlocal count
        count -= 1
        outcome = step(action)
        if count == 0:
            raise ConnectionError("the environment is gone")
        return outcome

    env.step = fail
    try:
        agent.learn(steps)
    except ConnectionError:
        _require(agent.steps == steps // 2 - 1, "an environment that raised cost what was learned")
        agent.learn(steps - agent.steps)
        _require(_same(whole, agent), "learning on after the environment raised differs")
    else:
        raise AssertionError("an exception of the environment was hidden")


def _check_settings(agent: Any) -> None:
    name = dataclasses.fields(agent.settings)[0].name
    try:
        setattr(agent.settings, name, getattr(agent.settings, name))
    except AttributeError:
        return
    raise AssertionError("the settings can be changed after the agent was made")


def _check_actions(agent: Any, env: Any) -> None:
    observations = _observations(env)
    actions = [agent.predict(observation, deterministic=True) for observation in observations]
    _require(
        all(env.action_space.contains(np.int64(action)) for action in actions),
        "predict gives an action that the environment does not have",
    )
    _require(
        list(agent.predict(np.array(observations), deterministic=True)) == actions,
        "predict on a batch differs from predict one by one",
    )
    before = agent.arrays()
    for who in [agent, *([agent.hyde] if agent.has_hyde else [])]:
        _check_beliefs(who, observations, env)
    _require(_equal(before, agent.arrays()), "asking an agent changes what it has learned")
    drawn = agent.predict(observations[0], deterministic=False)
    _require(env.action_space.contains(np.int64(drawn)), "a drawn action is not the environment's")


def _check_beliefs(who: Any, observations: list[Any], env: Any) -> None:
    batch = np.array(observations)
    pi = who.probabilities(batch)
    _require(
        pi.shape[0] == len(batch) and bool(np.allclose(pi.sum(-1), 1.0, atol=1e-4)),
        "probabilities are not those of one action for each observation",
    )
    _require(
        bool(np.allclose(pi[0], who.probabilities(observations[0]), atol=1e-5)),
        "probabilities of a batch differ from those of one observation",
    )
    _require(who.q(observations[0]).shape == pi[0].shape, "q has not one value for each action")
    _require(len(evaluate_policy(who, env, 1, max_steps=20).returns) == 1, "it cannot be evaluated")


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
    return _equal(one.arrays(), other.arrays())


def _equal(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a
    )


def _require(holds: bool, broken: str) -> None:
    if not holds:
        raise AssertionError(broken)
