"""Agents of version 0.1 under the new contract; goes away with them: then `contract_class(record)`
is `record.cls`.
"""

from __future__ import annotations

from typing import Any

from jekyllhyde.agent import AGENTS, AgentRecord, Episodes
from jekyllhyde.options import Option, options_of

CONFIG = Option("config", str, "recommended", "recommended, published or paper.")


def contract_class(record: AgentRecord) -> Any:
    """The agent's class, or what stands for it."""
    try:
        cls = record.cls
    except AttributeError:
        return OldDeep(record)
    is_old = record.name in AGENTS and not hasattr(cls, "settings_type")
    return OldTabular(cls) if is_old else cls


class OldTabular:
    """A tabular agent."""

    def __init__(self, cls: Any) -> None:
        self.settings_type, self.keywords = cls, options_of(cls)

    def __call__(self, env: Any = None, *, seed: int = 0, **chosen: Any) -> Any:
        """The agent, taught to learn as the contract says."""
        agent = self.settings_type(seed=seed, **chosen)
        old, episodes = agent.learn, Episodes()

        def learn(total: int, *, progress: Any = None) -> None:
            ended = old(env, total, progress)
            for row in zip(ended.returns, ended.lengths, ended.hyde, strict=True):
                episodes.add(float(row[0]), int(row[1]), int(row[2]))

        for name, value in {"learn": learn, "episodes": episodes, "env": env}.items():
            object.__setattr__(agent, name, value)
        return agent


class OldDeep:
    """An agent with networks."""

    def __init__(self, record: AgentRecord) -> None:
        from jekyllhyde.deep.agents import configure

        self.name = record.name
        self.settings_type = type(configure(record.name))
        self.keywords = {"config": CONFIG, **options_of(self.settings_type)}

    def __call__(self, env: Any = None, *, seed: int = 0, **chosen: Any) -> Any:
        """The agent, or its settings alone."""
        from jekyllhyde import deep
        from jekyllhyde.deep.agents import configure

        chosen.pop("bonus", None)
        config = configure(self.name, chosen.pop("config", "recommended"), **chosen)
        if env is None:
            return type("Settings", (), {"settings": config})()
        kinds = {"ddqn": deep.DoubleDQN, "sac": deep.DiscreteSAC}
        agent: Any = kinds.get(self.name.removesuffix("_rnd"), deep.JekyllHyde)(env, seed, config)
        old, episodes, step = agent.learn, Episodes(), env.step
        rewards: list[float] = []

        def counted(action: Any) -> Any:
            outcome = step(action)
            rewards.append(float(outcome[1]))
            if outcome[2] or outcome[3]:
                episodes.add(sum(rewards), len(rewards), 0)
                rewards.clear()
            return outcome

        def learn(total: int, *, progress: Any = None) -> None:
            old(total)
            progress(total)

        env.step = counted
        agent.learn, agent.episodes, agent.settings = learn, episodes, config
        return agent
