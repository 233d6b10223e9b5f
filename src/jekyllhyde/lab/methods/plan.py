"""Exact policy updates (`jekyllhyde.plan`) as runs of a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pyarrow as pa
from msgspec.structs import asdict

from jekyllhyde import references
from jekyllhyde.lab import digests
from jekyllhyde.lab.methods.contract import (
    INTEGER,
    NUMBER,
    POINTS,
    CURVE,
    Method,
    Progress,
    Row,
    Settings,
    least_seconds,
    thin,
)
from jekyllhyde.lab.problems import problem_for_run
from jekyllhyde.lab.typed import Count, check_settings
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.job import make_job
from jekyllhyde.planning.plan import plan

if TYPE_CHECKING:
    from jekyllhyde.lab.spec import Experiment


class PlanSettings(msgspec.Struct, frozen=True):
    """Settings of `plan`, and at how many places a curve is kept."""

    parametrization: str = "softmax"
    density: Any = "pg"
    o: Any = None
    eta: Any = 1.0
    lam: float = 0.0
    updates: Annotated[int, msgspec.Meta(ge=0)] = 1000
    target: float | None = None
    convention: str = "published"
    points: Count = POINTS


class Plan(Method):
    """Exact updates of a policy on a known MDP."""

    name = "plan"
    unit = "updates"
    options = PlanSettings
    columns = {
        "end": INTEGER,
        "time": INTEGER,
        "J_norm_end": NUMBER,
        "at": pa.list_(pa.int32()),
        "J_norm": CURVE,
    }
    exact = True

    def complete(self, mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
        """See `Method`."""
        chosen = asdict(check_settings(PlanSettings, settings, self.name))
        job = references.resolved(chosen)
        del job["points"]
        make_job(mdp, **job, pi0=None, record=(), record_at="all", engine="auto")
        return digests.stored(self.name, references.described(chosen), asdict(PlanSettings()))

    def rows(
        self, problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
    ) -> list[Row]:
        """See `Method`."""
        chosen = references.resolved(asdict(check_settings(PlanSettings, settings, self.name)))
        points = chosen.pop("points")
        rows: list[Row] = []
        for run in runs:
            result = plan(problem_for_run(problem, run), **chosen, progress=progress)
            row: Row = {"end": result.updates, "J_norm_end": float(result.J_norm[-1])}
            if chosen["target"] is None:
                at = thin(len(result.J), points)
                row |= {"at": at, "J_norm": result.J_norm[at]}
            elif not result.censored:
                row["time"] = result.updates
            rows.append(row)
        return rows

    def seconds(self, problem: Mapping[str, Any], settings: Settings) -> float:
        """See `Method`."""
        states = int(problem.get("n_states") or 100)
        update = 1e-6 if problem["name"] == "chain" else 5e-9 * states**2
        return max(least_seconds(settings), self.work(settings) * update)

    def in_small(self, experiment: Experiment, kind: str) -> Experiment:
        """Times need their whole length, and are quick."""
        length = 1.0 if kind == "time" else 0.005
        return experiment.scaled(runs=min(2, experiment.runs), points=3, length=length)
