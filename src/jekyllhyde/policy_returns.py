"""What a policy is worth in an environment: returns of whole episodes, with an interval."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import intervals
from jekyllhyde.episode import check_reward, has_time_limit, name_of, reset
from jekyllhyde.errors import InputError, check_count, require

EVALUATION = 2**31  # the environment's number in the seeds of resets; where one learns it is small
# keywords with which Gymnasium makes a vector environment, not its lanes
OF_VECTORS = ("num_envs", "vectorization_mode", "vector_kwargs", "max_episode_steps")
LONGEST = 10_000  # steps after which an episode is cut where the environment declares no limit


class PolicyReturns(NamedTuple):
    """Undiscounted returns [n] and lengths [n] of episodes, and the mean return with its 95 %
    bootstrap interval.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    mean: float
    lo: float
    hi: float


def evaluate_policy(
    agent: Any,
    env: Any,
    n: int = 10,
    *,
    deterministic: bool | None = None,
    seed: int = 0,
    max_steps: int | None = None,
) -> PolicyReturns:
    """Returns of `n` episodes of an agent, or of one of its personalities (`agent.hyde`).

    Parameters
    ----------
    agent : whatever has `predict`.
    env : an environment, or its id. The agent's own may be given too: before learning goes on it is
        brought back to where it stood.
    n : episodes; number i is reset with a seed made of (seed, i).
    deterministic : the most probable action, or one drawn; by default as the agent plays.
    max_steps : cut an episode after so many steps; by default after 10,000 where the environment
        declares no limit.
    """
    count = check_count(n, "n", 1)
    if max_steps is not None:
        check_count(max_steps, "max_steps", 1)
    with opened(env) as environment:
        learner = getattr(agent, "agent", agent)  # of a personality
        if getattr(learner, "env", None) is environment:
            learner.is_inside = False
        is_limited = has_time_limit(environment)
        most = max_steps or (10**12 if is_limited else LONGEST)
        with learner.drawing(seed) if hasattr(learner, "drawing") else nullcontext():
            rows = [_play(agent, environment, deterministic, seed, i, most) for i in range(count)]
    returns = np.array([total for total, _ in rows], dtype=np.float64)
    mean, lo, hi = (float(x) for x in intervals.summarize(returns, "mean"))
    return PolicyReturns(returns, np.array([length for _, length in rows]), mean, lo, hi)


def _play(
    agent: Any, env: Any, deterministic: bool | None, seed: int, number: int, most: int
) -> tuple[float, int]:
    # The return and the length of one episode.
    observation, info = reset(env, seed, number, EVALUATION)
    total, length, ended = 0.0, 0, False
    asked = {} if deterministic is None else {"deterministic": deterministic}
    while not ended and length < most:
        mask = {"action_mask": info["action_mask"]} if "action_mask" in info else {}
        action = agent.predict(observation, **asked, **mask)
        observation, reward, terminated, truncated, info = env.step(action)
        length += 1
        total += check_reward(env, reward, length)
        ended = bool(terminated or truncated)
    return total, length


@contextmanager
def opened(env: Any) -> Iterator[Any]:
    """The environment itself, or the one of that id, which is closed afterwards."""
    from jekyllhyde.mdp.gym_import import make_environment

    environment = make_environment(env)
    require(
        not hasattr(environment, "num_envs"),
        f"env is {env!r}; episodes are played in one environment, not in a vector of them",
    )
    try:
        yield environment
    finally:
        if environment is not env:
            environment.close()


def environment_like(env: Any) -> Any:
    """Another environment made as `env` was; of a vector environment, one like its lanes."""
    import gymnasium

    if env.spec is None:
        raise InputError(
            f"{name_of(env)} was not made by gymnasium.make, so that no second one can be made for "
            "evaluations; give eval_env"
        )
    if isinstance(env, gymnasium.vector.VectorEnv):
        own = {name: value for name, value in env.spec.kwargs.items() if name not in OF_VECTORS}
        return gymnasium.make(env.spec.id, **own)
    return gymnasium.make(env.spec)
