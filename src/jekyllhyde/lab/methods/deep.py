"""Learning with networks (`jekyllhyde.deep.train`) as runs of a cell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
from msgspec.structs import asdict

from jekyllhyde import references
from jekyllhyde.agent import find_agent
from jekyllhyde.errors import need
from jekyllhyde.lab import digests
from jekyllhyde.lab.methods.contract import CURVE, INTEGER, Method, Progress, Row, Settings
from jekyllhyde.lab.problems import domain_name
from jekyllhyde.lab.typed import Count, check_settings
from jekyllhyde.mdp.finite import FiniteMDP

if TYPE_CHECKING:
    from jekyllhyde.lab.spec import Experiment


class DeepSettings(msgspec.Struct, frozen=True):
    """Settings of `deep.train` beside the agent's hyperparameters."""

    agent: str = "jekyll_hyde"
    config: str = "recommended"
    episodes: Count = 500
    every: Count = 10


class Deep(Method):
    """A deep agent, scored by greedy episodes and by the exact value of its greedy policy."""

    name = "deep"
    unit = "episodes"
    xlabel = "training episodes"
    options = DeepSettings
    columns = {
        "end": INTEGER,
        "steps": INTEGER,
        "at": pa.list_(pa.int32()),
        "score": CURVE,
        "exact_score": CURVE,
    }
    curve = "exact_score"
    end = ""
    whole = True
    extra = "deep"

    def complete(self, mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
        """See `Method`. `values` is what the configuration stands for today."""
        need("deep")
        from jekyllhyde.deep import configure

        chosen, options = self._chosen(settings)
        agent, config = chosen["agent"], chosen["config"]
        configs = [configure(agent, config, level=level, **options) for level in (1, 2)]
        values = repr([digests.stored_config(agent, config) for config in configs])
        described = references.described(chosen | options)
        return described | {"values": hashlib.sha256(values.encode()).hexdigest()[:12]}

    def rows(
        self, problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
    ) -> list[Row]:
        """All runs in one compiled call. Run i depends on (stream, i) alone: with more runs, the
        first ones are made again.
        """
        from jekyllhyde.deep import train

        chosen, options = self._chosen(settings)
        result = train(
            domain_name(problem["name"]),
            **chosen,
            seeds=runs.stop,
            seed=stream % 2**31,
            hyperparameters=options,
            **{key: value for key, value in problem.items() if key != "name"},
        )
        progress(chosen["episodes"] * len(runs))
        return [
            {
                "end": chosen["episodes"],
                "steps": int(result.step[run, -1]),
                "at": result.episode,
                "score": result.score[run],
                "exact_score": result.exact_score[run],
                "failure": "a network left the finite numbers" if result.diverged[run] else None,
            }
            for run in runs
        ]

    def seconds(self, problem: Mapping[str, Any], settings: Settings) -> float:
        """See `Method`."""
        return self.work(settings) * 0.05

    def in_small(self, experiment: Experiment, kind: str) -> Experiment:
        """Networks take long to compile, so there is only one of the agents."""
        return replace(experiment.scaled(runs=2, length=0.04), series=experiment.series[1:2])

    def _chosen(self, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
        """The method's settings, and the agent's hyperparameters."""
        ours, options = self.split(settings)
        chosen = check_settings(DeepSettings, ours, self.name)
        if not references.is_reference(chosen.agent):
            chosen = msgspec.structs.replace(chosen, agent=find_agent(chosen.agent).name)
        return asdict(chosen), options
