"""Replay as datasets of Minari; needs the extra `minari`.

A dataset has episodes: a transition whose observation is what the one before it led to goes on with
its episode, any other begins one. It is in the environment's own spaces.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from jekyllhyde.deep import spaces
from jekyllhyde.deep.networks import Space, Transition
from jekyllhyde.errors import InputError, need, require


def write_minari(agent: Any, batch: Transition, name: str) -> None:
    """Write the transitions of an agent as a dataset of that name."""
    need("minari")
    import minari  # type: ignore[import-untyped]
    from minari.data_collector import EpisodeBuffer  # type: ignore[import-untyped]

    space, env = agent.space, agent.env
    require(env is not None, "the agent has no environment, whose spaces a dataset of Minari has")
    require(
        not space.parts,
        "a dataset of Minari has observations as the environment shows them; the agent keeps those "
        "of several parts, and images, as networks take them: give a file.parquet",
    )
    episodes: list[Any] = []
    for begin, end in _episodes(batch):
        part = jax.tree.map(lambda array: array[begin:end], batch)  # noqa: B023 (used at once)
        seen = np.concatenate([part.observation, part.following[-1:]])
        terminations = part.discount == 0
        truncations = np.append(np.zeros(end - begin - 1, bool), not terminations[-1])
        observations = (
            seen + space.first_state
            if space.n_states is not None
            else seen.reshape(-1, *space.shape).astype(_single(env, "observation").dtype)
        )
        episodes.append(
            EpisodeBuffer(
                id=len(episodes),
                observations=list(observations),
                actions=list(spaces.action_of(space, part.action)),
                rewards=part.reward.tolist(),
                terminations=terminations.tolist(),
                truncations=truncations.tolist(),
            )
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what a dataset might say of its authors
        minari.create_dataset_from_buffers(
            name,
            episodes,
            observation_space=_single(env, "observation"),
            action_space=_single(env, "action"),
            algorithm_name=agent.name,
            jpeg_encoding=False,
        )


def _single(env: Any, which: str) -> Any:
    # the space of one environment, also of a vector's
    return getattr(env, f"single_{which}_space", None) or getattr(env, f"{which}_space")


def _episodes(batch: Transition) -> Iterator[tuple[int, int]]:
    n = len(batch.reward)
    before, after = (np.reshape(x, (n, -1)) for x in (batch.observation, batch.following))
    is_last = np.ones(n, bool)
    is_last[:-1] = (batch.discount[:-1] == 0) | (after[:-1] != before[1:]).any(-1)
    begin = 0
    for last in np.flatnonzero(is_last):
        yield begin, int(last) + 1
        begin = int(last) + 1


def read_minari(space: Space, name: str) -> Transition:
    """All transitions of a dataset."""
    need("minari")
    import minari

    try:
        dataset = minari.load_dataset(name)
    except (OSError, ValueError) as error:
        raise InputError(f"source is {name!r}; it cannot be loaded: {error}") from None
    rows = [_of_episode(space, episode) for episode in dataset.iterate_episodes()]
    require(rows, f"source is {name!r}, which has no episodes")
    return jax.tree.map(lambda *parts: np.concatenate(parts), *rows)


def _of_episode(space: Space, episode: Any) -> Transition:
    n = len(episode.rewards)
    each = [jax.tree.map(lambda a, i=i: a[i], episode.observations) for i in range(n + 1)]
    views = [spaces.look(space, observation, {}) for observation in each]
    seen = jax.tree.map(lambda *parts: np.stack(parts), *views)
    before, after = jax.tree.map(lambda a: a[:-1], seen), jax.tree.map(lambda a: a[1:], seen)
    action = spaces.index_of(space, episode.actions)
    rewards = np.asarray(episode.rewards, np.float32)
    discount = 1.0 - np.asarray(episode.terminations, np.float32)
    return spaces.transition(before, action, rewards, after, discount)
