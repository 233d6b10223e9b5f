"""The contract of every agent, tabular or with networks.

    agent = Agent(env, seed=0, ...)       env: an environment, its id, or None (settings alone)
    agent.learn(total_timesteps)          goes on where the last call stopped; returns the agent
    agent.predict(observation)            the action; an array of them for a batch of observations
    agent.save(path); Agent.load(path, env=None)
    agent.episodes                        returns, lengths and leaders of the episodes that ended
    agent.settings                        one frozen object: all that was chosen

`check_agent` holds an agent to it. Agents are found by name in `AGENTS`.
"""

import dataclasses
import pkgutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import references
from jekyllhyde.errors import need, require
from jekyllhyde.registry import Registry, class_name

Progress = Callable[[int], None]  # called with the number of steps made since the last call


@dataclasses.dataclass
class Episodes:
    """The episodes that ended, in order: undiscounted returns, lengths, and whether Hyde led."""

    rows: list[tuple[float, int, int]] = dataclasses.field(default_factory=list, repr=False)

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
    *(
        AgentRecord(name, f"jekyllhyde.tabular.agents:{cls}", about, tabular=True, stored=name)
        for name, cls, about in (
            ("tabular_q_learning", "TabularQLearning", "Q-learning in tables"),
            ("tabular_ucb_h", "TabularUcbH", "Q-learning with the Hoeffding bonus"),
            ("tabular_ucbvi", "TabularUcbvi", "UCBVI, optimistic values in the learned model"),
            ("tabular_psrl", "TabularPsrl", "PSRL, posterior sampling in tables"),
        )
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
    ended = agent.episodes
    lengths = int(ended.lengths.sum())
    _require(lengths <= steps, f"the episodes have {lengths} steps, more than the {steps} made")
    _require(len(ended.returns) == len(ended), "there is not one return for each episode")
    _require(bool(np.isin(ended.hyde, (0, 1)).all()), "an episode has a leader beside 0 and 1")


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
    _require(
        list(agent.predict(np.array(observations))) == actions,
        "predict on a batch differs from predict one by one",
    )
    drawn = agent.predict(observations[0], deterministic=False)
    _require(env.action_space.contains(np.int64(drawn)), "a drawn action is not the environment's")


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
