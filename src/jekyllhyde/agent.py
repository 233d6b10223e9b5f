"""The contract of every agent, tabular or with networks.

    agent = Agent(env, seed=0, ...)       env: an environment, its id, or None (settings alone)
    agent.learn(total_timesteps)          goes on where the last call stopped; returns the agent
    agent.predict(observation)            the action; an array of them for a batch of observations
    agent.probabilities(observation)      of Jekyll's actions [A], or [N, A]
    agent.q(observation)                  Jekyll's values of the actions, the same shapes
    agent.hyde                            the same three questions to Hyde, where there is one
    agent.save(path); Agent.load(path, env=None)
    agent.episodes, agent.evaluations     what has been seen so far
    agent.settings                        one frozen object: all that was chosen

`check_agent` holds an agent to it. Agents are found by name in `AGENTS`.
"""

import dataclasses
import math
import pkgutil
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import references
from jekyllhyde.errors import need, require
from jekyllhyde.options import options_of
from jekyllhyde.registry import Registry, class_name

Progress = Callable[[int], None]  # called with the number of steps made since the last call
LAST = 100  # episodes that running means are taken over


class Record(NamedTuple):
    """What a callback is told.

    event : "episode" (one has ended), "evaluation", or "log" (every `log_every` steps).
    step : environment steps so far.
    values : numbers by name; see the page "What each logged number means".
    """

    event: str
    step: int
    values: dict[str, float]


Callback = Callable[[Any, Record], object]  # of (agent, record); False stops the learning


class EpisodeRow(NamedTuple):
    """An episode that has ended: its undiscounted return, its steps, whether Hyde led, and the
    number of all environment steps at its end.
    """

    total: float
    length: int
    hyde: int
    step: int

    @classmethod
    def of(cls, numbers: Any) -> Self:
        """From four numbers."""
        total, length, hyde, step = numbers
        return cls(float(total), int(length), int(hyde), int(step))


@dataclasses.dataclass
class Episodes:
    """The episodes that ended, in order: undiscounted returns, lengths, whether Hyde led, and when
    they ended. Each takes 32 bytes.
    """

    numbers: "array[float]" = dataclasses.field(default_factory=lambda: array("d"), repr=False)

    @classmethod
    def of(cls, table: Any) -> Self:
        """From an array [n, 4], as `table` has it."""
        rows = np.asarray(table, np.float64)
        require(
            rows.shape[1:] == (len(EpisodeRow._fields),)
            and np.isfinite(rows).all()
            and (rows[:, 1:] == np.floor(rows[:, 1:])).all(),
            "its episodes are no rows of four numbers",
        )
        return cls(array("d", rows.ravel()))

    def add(self, total: float, length: int, hyde: int, step: int | None = None) -> None:
        """Note an episode that has ended; by default the steps are those of all episodes."""
        before = int(self.numbers[-1]) if self.numbers else 0
        end = before + length if step is None else step
        self.numbers.extend((total, length, hyde, end))

    def __len__(self) -> int:
        return len(self.numbers) // len(EpisodeRow._fields)

    def __repr__(self) -> str:
        if not len(self):
            return "Episodes(none has ended)"
        rows = self.last(LAST)
        mean = sum(row.total for row in rows) / len(rows)
        return f"Episodes({len(self)}, mean return of the last {len(rows)}: {mean:.4g})"

    def last(self, count: int) -> list[EpisodeRow]:
        """So many of the last ones, or as many as there are."""
        width = len(EpisodeRow._fields)
        numbers = self.numbers[-width * count :]
        return [EpisodeRow.of(numbers[i : i + width]) for i in range(0, len(numbers), width)]

    @property
    def table(self) -> NDArray[np.float64]:
        """Returns, lengths, leaders and ends [n, 4]."""
        return np.array(self.numbers, dtype=np.float64).reshape(-1, len(EpisodeRow._fields))

    @property
    def returns(self) -> NDArray[np.float64]:
        """Undiscounted sums of rewards [n]."""
        return self.table[:, 0]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Numbers of steps [n]."""
        return self.table[:, 1].astype(np.int64)

    @property
    def hyde(self) -> NDArray[np.int64]:
        """1 where Hyde led, else 0 [n]."""
        return self.table[:, 2].astype(np.int64)

    @property
    def steps(self) -> NDArray[np.int64]:
        """Environment steps so far at the end of each episode [n]."""
        return self.table[:, 3].astype(np.int64)

    def recent(self) -> dict[str, float]:
        """Of the last 100 episodes: the mean return of those that each personality led, and the
        share of the steps that Hyde led; a number that there is not is left out.
        """
        rows = self.last(LAST)
        values: dict[str, float] = {}
        for hyde, name in enumerate(("return_jekyll", "return_hyde")):
            totals = [row.total for row in rows if row.hyde == hyde]
            if totals:
                values[name] = sum(totals) / len(totals)
        if rows:
            led = sum(row.length for row in rows if row.hyde)
            values["hyde_share"] = led / sum(row.length for row in rows)
        return values


def evaluation_rows(stored: Any) -> list[dict[str, float]]:
    """The rows of evaluations that a file holds, if they are what `learn` notes."""
    require(
        isinstance(stored, list) and all(map(_is_evaluation, stored)),
        "its evaluations are no rows of numbers",
    )
    return list(stored)


def _is_evaluation(row: Any) -> bool:
    counts, values = ("step", "episodes"), ("mean", "lo", "hi")
    return (
        isinstance(row, dict)
        and row.keys() == {*counts, *values}
        and all(type(row[name]) is int and 0 <= row[name] < 2**63 for name in counts)
        and all(type(row[name]) in (int, float) and math.isfinite(row[name]) for name in values)
    )


class Agent(ABC):
    """What every agent has. Subclasses write their keywords out, and say their `name`."""

    name: ClassVar[str]

    env: Any
    seed: int
    settings: Any
    episodes: Episodes

    @abstractmethod
    def learn(self, total_timesteps: int, *, callback: Callback | None = None) -> Self:
        """Learn from so many steps of the environment, going on where the last call stopped."""

    @abstractmethod
    def predict(self, observation: Any, deterministic: bool | None = None) -> Any:
        """The action for an observation, or the actions [N] for a batch of them: the most probable,
        or one drawn; by default as the agent plays.
        """

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


@dataclasses.dataclass(frozen=True)
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
    fixed: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def cls(self) -> Any:
        """The agent's class."""
        need(self.extra)
        return pkgutil.resolve_name(self.home)


def _in_tables(name: str, home: str, about: str, stored: str = "") -> AgentRecord:
    home = f"jekyllhyde.tabular.{home}"
    return AgentRecord(name, home, about, tabular=True, stored=stored or name)


def _with_networks(name: str, cls: str, about: str, **fixed: Any) -> AgentRecord:
    home = f"jekyllhyde.deep.agents:{cls}"
    return AgentRecord(name, home, about, extra="deep", fixed=fixed)


_RECORDS = (
    _in_tables(
        "tabular_jekyll_hyde",
        "agents:TabularJekyllHyde",
        "Dr Jekyll and Mr Hyde in tables (Algorithm 3)",
        stored="jekyll-hyde",
    ),
    _in_tables(
        "tabular_on_policy",
        "agents:TabularOnPolicy",
        "on-policy actor-critic in tables (Algorithm 2)",
        stored="on-policy",
    ),
    _in_tables("tabular_q_learning", "peer_agents:TabularQLearning", "Q-learning in tables"),
    _in_tables("tabular_ucb_h", "peer_agents:TabularUcbH", "Q-learning with the Hoeffding bonus"),
    _in_tables(
        "tabular_ucbvi",
        "peer_agents:TabularUcbvi",
        "UCBVI, optimistic values in the learned model",
    ),
    _in_tables("tabular_psrl", "peer_agents:TabularPsrl", "PSRL, posterior sampling in tables"),
    _with_networks(
        "jekyll_hyde", "JekyllHyde", "Dr Jekyll and Mr Hyde with networks (Algorithm 4)"
    ),
    _with_networks("ddqn", "DoubleDQN", "Double DQN"),
    _with_networks(
        "ddqn_rnd", "DoubleDQN", "Double DQN with a bonus added to the reward", bonus="rnd"
    ),
    _with_networks("bootstrapped_dqn", "BootstrappedDQN", "bootstrapped DQN with random priors"),
    _with_networks("sac", "DiscreteSAC", "soft actor-critic"),
    _with_networks(
        "sac_rnd",
        "DiscreteSAC",
        "soft actor-critic with a critic of the bonus",
        bonus="rnd",
        eta=1e-3,
        eta_c=1e-3,
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


def make_agent(record: AgentRecord, env: Any, seed: int, chosen: dict[str, Any]) -> Any:
    """The agent with the options that were chosen; the discount of a model is the agent's too."""
    mdp = getattr(getattr(env, "unwrapped", None), "mdp", None)
    discount = {"gamma": mdp.gamma} if mdp and "gamma" in options_of(record.cls) else {}
    return record.cls(env, seed=seed, **{**discount, **record.fixed, **chosen})
