"""Exact policy updates (`jekyllhyde.plan`) as runs of a cell."""

from typing import Annotated, Any

import msgspec
import numpy as np

from jekyllhyde import references
from jekyllhyde.lab.cell_settings import LARGEST, Count, check_settings, stored
from jekyllhyde.lab.methods import contract
from jekyllhyde.lab.methods.contract import Method, Progress, Row, Settings
from jekyllhyde.lab.problems import problem_for_run
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan
from jekyllhyde.planning.plan_run import PlanRun, make_job


class PlanSettings(msgspec.Struct, frozen=True):
    """Settings of `plan`, at how many places a curve is kept, and whether to look at what one more
    update would do at the end (`probe`; o must be constant).
    """

    parametrization: str = "softmax"
    density: Any = "pg"
    o: Any = None
    eta: Any = 1.0
    lam: float = 0.0
    updates: Annotated[int, msgspec.Meta(ge=0, le=LARGEST)] = 1000
    target: float | None = None
    convention: str = "published"
    points: Count = contract.POINTS
    probe: bool = False


OWN = ("points", "probe")  # what `plan` does not take


def _complete(mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
    chosen = msgspec.structs.asdict(check_settings(PlanSettings, settings, "plan"))
    make_job(
        mdp,
        **{key: value for key, value in references.resolved(chosen).items() if key not in OWN},
        pi0=None,
        record=(),
        record_at="all",
        engine="auto",
    )
    return stored("plan", references.described(chosen), msgspec.structs.asdict(PlanSettings()))


def _rows(
    problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
) -> list[Row]:
    chosen = references.resolved(
        msgspec.structs.asdict(check_settings(PlanSettings, settings, "plan"))
    )
    points, probe = (chosen.pop(name) for name in OWN)
    rows = []
    for run in runs:
        mdp = problem_for_run(problem, run)
        result = plan(mdp, **chosen, progress=progress)
        seen = _probe(mdp, result, chosen) if probe else {}
        rows.append(_row(result, chosen["target"], points) | seen)
    return rows


def _probe(mdp: FiniteMDP, result: PlanRun, settings: Settings) -> Row:
    # How far one more update moves the policy, in how many states it leaves it greedy (a share of
    # those that act), the optimal return, and how many states the optimal policy visits.
    acts, before = ~mdp.is_terminal, result.pi
    q = mdp.evaluate(before).q[acts]
    after = plan(mdp, **{**settings, "updates": 1, "target": None}, pi0=before).pi
    greedy = np.isclose((after[acts] * (q >= q.max(axis=1, keepdims=True))).sum(axis=1), 1.0)
    return {
        "moved": float(np.abs(after - before)[acts].max()),
        "greedy": float(greedy.mean()),
        "J_star": float(mdp.J_star),
        "visited": float((mdp.density(mdp.optimal().pi)[acts] > 0).mean()),
    }


def _row(result: PlanRun, target: float | None, points: int) -> Row:
    row: Row = {"end": result.updates, "J_norm_end": float(result.J_norm[-1])}
    if target is not None:
        return row | {"time": None if result.censored else result.updates}
    at = contract.thin(len(result.J), points)
    return row | {"at": at, "J_norm": result.J_norm[at]}


PLAN = Method(
    name="plan",
    unit="updates",
    options=PlanSettings,
    columns=dict.fromkeys(("end", "time"), contract.COUNT)
    | dict.fromkeys(("J_norm_end", "moved", "greedy", "J_star", "visited"), contract.NUMBER)
    | {"at": contract.PLACES, "J_norm": contract.CURVE},
    complete=_complete,
    rows=_rows,
    seconds=lambda problem, settings: (
        1e-6 if problem["name"] == "chain" else 5e-9 * int(problem.get("n_states") or 100) ** 2
    ),
    size=lambda problem, settings: 8.0 * int(settings.get("updates", 1000)),
    exact=True,
)
