"""The contract of every agent, tabular or with networks.

    agent = Agent(env, seed=0, ...)       env: an environment, its id, or None (settings alone)
    agent.learn(total_timesteps)          goes on where the last call stopped; returns the agent
    agent.predict(observation)            the action; an array of them for a batch of observations
    agent.save(path); Agent.load(path, env=None)
    agent.episodes                        returns, lengths and leaders of the episodes that ended
    agent.settings                        one frozen object: all that was chosen

`check_agent` holds an agent to it. Agents are found by name in `AGENTS`.
"""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import references
from jekyllhyde.errors import need, require
from jekyllhyde.registry import Registry, class_name

Progress = Callable[[int], None]  # called with the number of steps made since the last call


@dataclass
class Episodes:
    """The episodes that ended, in order: undiscounted returns, lengths, and whether Hyde led."""

    rows: list[tuple[float, int, int]] = field(default_factory=list, repr=False)

    def add(self, total: float, length: int, hyde: int) -> None:
        """Note an episode that has ended."""
        self.rows.append((total, length, hyde))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def returns(self) -> NDArray[np.float64]:
        """Undiscounted sums of rewards [n]."""
        return np.array([total for total, _, _ in self.rows], dtype=np.float64)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Numbers of steps [n]."""
        return np.array([length for _, length, _ in self.rows], dtype=np.int64)

    @property
    def hyde(self) -> NDArray[np.int64]:
        """1 where Hyde led, else 0 [n]."""
        return np.array([hyde for _, _, hyde in self.rows], dtype=np.int64)


class Agent(ABC):
    """What every agent has. Subclasses write their keywords out, and say their `name`."""

    name: ClassVar[str]

    env: Any
    seed: int
    settings: Any
    episodes: Episodes

    @abstractmethod
    def learn(self, total_timesteps: int, *, progress: Progress | None = None) -> Self:
        """Learn from so many steps of the environment, going on where the last call stopped."""

    @abstractmethod
    def predict(self, observation: Any, deterministic: bool = True) -> Any:
        """The action for an observation, or the actions [N] for a batch of them."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write settings and everything learned; nothing is left half-written."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path, env: Any = None) -> Self:
        """Read what `save` wrote; with an environment, learning goes on."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays that learning changes, by name."""


@dataclass(frozen=True)
class AgentRecord:
    """An agent by name.

    home : "module:class", imported when it is used.  about : one line of text.
    extra : what must be installed beside the core.  tabular : it keeps tables, not networks.
    stored : the name in the digests of stored cells.  fixed : keywords that make a variant.
    """

    name: str
    home: str
    about: str
    tabular: bool = False
    extra: str | None = None
    stored: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cls(self) -> Any:
        """The agent's class."""
        need(self.extra)
        return pkgutil.resolve_name(self.home)


_RECORDS = (
    AgentRecord(
        "tabular_jekyll_hyde",
        "jekyllhyde.tabular.agents:TabularJekyllHyde",
        "Dr Jekyll and Mr Hyde in tables (Algorithm 3)",
        tabular=True,
        stored="jekyll-hyde",
    ),
    AgentRecord(
        "tabular_on_policy",
        "jekyllhyde.tabular.agents:TabularOnPolicy",
        "on-policy actor-critic in tables (Algorithm 2)",
        tabular=True,
        stored="on-policy",
    ),
    AgentRecord(
        "jekyll_hyde",
        "jekyllhyde.deep.agents:JekyllHyde",
        "Dr Jekyll and Mr Hyde with networks (Algorithm 4)",
        extra="deep",
    ),
    AgentRecord("ddqn", "jekyllhyde.deep.agents:DoubleDQN", "Double DQN", extra="deep"),
    AgentRecord(
        "ddqn_rnd",
        "jekyllhyde.deep.agents:DoubleDQN",
        "Double DQN with a bonus added to the reward",
        extra="deep",
        fixed={"bonus": "rnd"},
    ),
    AgentRecord("sac", "jekyllhyde.deep.agents:DiscreteSAC", "soft actor-critic", extra="deep"),
    AgentRecord(
        "sac_rnd",
        "jekyllhyde.deep.agents:DiscreteSAC",
        "soft actor-critic with a critic of the bonus",
        extra="deep",
        fixed={"bonus": "rnd", "eta": 1e-3, "eta_c": 1e-3},
    ),
)
AGENTS = Registry("agent", {record.name: record for record in _RECORDS})


def find_agent(name: str) -> AgentRecord:
    """The record of an agent by name, or of a class of the user's own, "file.py:Name"."""
    if not references.is_reference(name):
        return AGENTS[name]
    cls: Any = references.load("agent", name)
    require(
        isinstance(cls, type) and issubclass(cls, Agent),
        f"agent is {name!r}; it must be a subclass of jekyllhyde.Agent",
    )
    is_tabular = any(base.__module__.startswith("jekyllhyde.tabular") for base in cls.__mro__)
    about = (cls.__doc__ or "").split("\n")[0]
    return AgentRecord(class_name(cls), f"{cls.__module__}:{cls.__name__}", about, is_tabular)
