"""Figure 3: J&H, DDQN, SAC, DDQN+RND and SAC+RND on Four Rooms, score against training episodes.

One call trains an agent on one level with all seeds; `batch` has both levels in it, which a GPU
takes as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jekyllhyde.deep.agents import configure
from jekyllhyde.deep.training import Batch, Case, TrainResult
from jekyllhyde.mdp.rooms import four_rooms

LEVELS = (1, 2)
HORIZON = 90  # steps after which an episode is cut
SEEDS, EPISODES = 10, 500
LABELS = {
    "jekyll_hyde": "J&H",
    "ddqn": "DDQN",
    "sac": "SAC",
    "ddqn_rnd": "DDQN+RND",
    "sac_rnd": "SAC+RND",
}


def run(
    level: int,
    agent: str,
    seeds: int = SEEDS,
    episodes: int = EPISODES,
    seed: int = 0,
    *,
    config: str = "published",
    device: str | None = None,
) -> TrainResult:
    """One curve of the figure: `agent` on `level`, evaluated after every 10 training episodes."""
    return batch(
        agent, config, seeds=seeds, episodes=episodes, seed=seed, levels=(level,), device=device
    ).run()[0]


def batch(
    agent: str,
    config: str = "published",
    settings: Sequence[Mapping[str, Any]] = ({},),
    *,
    seeds: int = SEEDS,
    episodes: int = EPISODES,
    seed: int = 0,
    levels: Sequence[int] = LEVELS,
    device: str | None = None,
) -> Batch:
    """All of `settings` (numbers in place of the configuration's) on all `levels`, levels
    outermost.
    """
    cases = [_case(agent, config, level, setting) for level in levels for setting in settings]
    return Batch(agent, cases, seeds=seeds, episodes=episodes, seed=seed, device=device)


def _case(agent: str, config: str, level: int, setting: Mapping[str, Any]) -> Case:
    mdp = four_rooms(level)
    return Case(
        mdp, HORIZON, configure(agent, config, level=level, **{"gamma": mdp.gamma, **setting})
    )
