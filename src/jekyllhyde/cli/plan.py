"""`jh plan`: exact policy updates on a known model."""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jekyllhyde.cli.problem import Problem
from jekyllhyde.cli.show import Progress, show_table
from jekyllhyde.errors import InputError

if TYPE_CHECKING:
    from jekyllhyde.planning.plan_run import PlanRun
    from jekyllhyde.theory import Check


@dataclass(frozen=True)
class Plan:
    """Run exact policy updates on a known model and show how the return grows."""

    problem: tyro.conf.Positional[str]
    """chain, garnet, four_rooms, deep_sea, a Gymnasium id such as FrozenLake-v1, or a file written
    by FiniteMDP.save.
    """
    options: Annotated[Problem, tyro.conf.arg(name="problem")] = field(default_factory=Problem)
    seed: int | None = None
    """Which random MDP (garnet)."""
    parametrization: str = "softmax"
    """How theta gives pi: direct or softmax."""
    density: tuple[str, ...] = ("pg",)
    """Where pi is updated, d_t: pg, undiscounted, uniform, mixture; several of them make several
    runs, compared.
    """
    o: str | None = None
    """Off-policiness o_t of the mixture: 0.5, 10/t, 10/sqrt(t), 10/t^0.5."""
    eta: str = "1"
    """Step size eta_t of the actor: a number or a schedule."""
    lam: float = 0.0
    """Entropy weight lambda (softmax)."""
    updates: int = 1000
    """Number of updates, at most."""
    target: float | None = None
    """Stop once the normalized return exceeds this."""
    convention: str = "published"
    """published (as the figures were made) or paper (the text, literally)."""
    check: bool = False
    """Check the theory's conditions, theorems and bounds on every run."""
    out: Path | None = None
    """Folder for plan.parquet and plan.png."""
    json: bool = False
    """Print one JSON object instead of the table."""

    def run(self) -> int:
        """`jh plan`: one run per density, a table or JSON, files on request."""
        from jekyllhyde.mdp.problem import make
        from jekyllhyde.planning import output
        from jekyllhyde.planning.plan import plan

        folder = None if self.out is None else output.prepare_folder(self.out)
        mdp = make(self.problem, **asdict(self.options), seed=self.seed, convention=self.convention)
        if self.o is not None and "mixture" not in self.density:
            raise InputError("--o is given, but no density takes it; add --density mixture")
        count = len(self.density)
        start = time.perf_counter()
        with Progress(count * self.updates, mdp.name) as advance:
            runs = plan(
                [mdp] * count,
                parametrization=self.parametrization,
                density=list(self.density),
                o=[self.o if density == "mixture" else None for density in self.density],
                eta=self.eta,
                lam=self.lam,
                updates=self.updates,
                target=self.target,
                convention=self.convention,
                record=("v", "q", "pi", "d") if self.check else (),
                record_at=check_times(self.updates),
                progress=advance,
            )
        seconds = time.perf_counter() - start
        files = []
        if folder is not None:
            output.write_parquet(runs, folder / "plan.parquet")
            output.draw(runs, folder / "plan.png")
            files = [str(folder / "plan.parquet"), str(folder / "plan.png")]
        summary = [summarize(run) for run in runs]
        checks = check_all(runs) if self.check else {}
        if self.json:
            for one in summary:
                one["checks"] = [asdict(statement) for statement in checks.get(one["series"], [])]
            print(
                json.dumps(
                    {
                        "problem": repr(mdp),
                        "J_star": mdp.J_star,
                        "seconds": seconds,
                        "runs": summary,
                        "files": files,
                    }
                )
            )
            return 0
        show_table(
            f"{mdp.name}: {mdp.n_states} states, {mdp.n_actions} actions, gamma {mdp.gamma:g}, optimal return {mdp.J_star:.6g}",
            summary,
        )
        for label, statements in checks.items():
            from jekyllhyde.theory import table

            print(f"{label}\n{table(statements)}\n")
        print(
            f"{sum(run.updates for run in runs)} updates in {seconds:.2f} s"
            + "".join(f"\n{file}" for file in files)
        )
        return 0


def check_all(runs: list[PlanRun]) -> dict[str, list[Check]]:
    """The theory's checks of every run, by its label."""
    from jekyllhyde.planning.output import label
    from jekyllhyde.theory import check

    return {label(run): check(run) for run in runs}


def check_times(updates: int, most: int = 1000) -> list[int]:
    """When to record for the checks: every update of a short run, ever more sparsely along a long
    one.
    """
    if updates <= most:
        return list(range(max(updates, 0) + 1))
    return sorted({0, updates, *(round(updates ** (i / most)) for i in range(most))})


def summarize(run: PlanRun) -> dict[str, Any]:
    """What the table and the JSON say of one run."""
    from jekyllhyde.planning import output

    J_norm = float(output.normalized(run)[-1])
    summary: dict[str, Any] = {
        "series": output.label(run),
        "parametrization": run.settings["parametrization"],
        "eta": run.settings["eta"],
        "updates": run.updates,
        "J": float(run.J[-1]),
        "J_norm": None if math.isnan(J_norm) else J_norm,
        "solver": run.solver,
    }
    if run.target is not None:
        summary |= {
            "target": run.target,
            "time_to_target": run.time_to_target,
            "censored": run.censored,
        }
    return summary
