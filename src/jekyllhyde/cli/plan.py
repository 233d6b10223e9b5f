"""`jh plan`: exact policy updates on a known model."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jekyllhyde.cli.flags import first_argument, given, with_flags
from jekyllhyde.cli.show import Progress, show_json, show_table
from jekyllhyde.errors import InputError, need

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import FiniteMDP
    from jekyllhyde.planning.run import PlanRun
    from jekyllhyde.theory import Check

NONE = tyro.conf.arg(help_behavior_hint="(default: none)")


@dataclass(frozen=True)
class Plan:
    """Run exact policy updates on a known model and show how the return grows.

    `jh plan PROBLEM --help` says what the problem takes.
    """

    problem: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PROBLEM")]
    """A domain (jh list), one of your own, file.py:name, a Gymnasium id with a known model such as
    FrozenLake-v1, or a file written by FiniteMDP.save.
    """
    parametrization: str = "softmax"
    """How theta gives pi: direct or softmax."""
    density: tuple[str, ...] = ("pg",)
    """Where pi is updated, d_t: pg, undiscounted, uniform, mixture; several of them make several
    runs, compared.
    """
    o: Annotated[str | None, NONE] = None
    """Off-policiness o_t of the mixture: 0.5, 10/t, 10/sqrt(t), 10/t^0.5."""
    eta: str = "1"
    """Step size eta_t of the actor: a number or a schedule."""
    lam: float = 0.0
    """Entropy weight lambda (softmax)."""
    updates: int = 1000
    """Number of updates, at most."""
    target: Annotated[float | None, NONE] = None
    """Stop once the normalized return exceeds this."""
    convention: str = "published"
    """published (as the figures were made) or paper (the text, literally)."""
    check: bool = False
    """Check the theory's conditions, theorems and bounds on every run."""
    out: Annotated[Path | None, NONE] = None
    """Folder for plan.parquet and plan.png."""
    json: bool = False
    """Print one JSON object instead of the table."""

    @classmethod
    def completed(cls, arguments: Sequence[str]) -> type:
        """The command with the options of the problem that the arguments name."""
        from jekyllhyde.mdp.problem import problem_options

        problem = first_argument("plan", arguments)
        return cls if problem is None else with_flags(cls, {problem: problem_options(problem)})

    def run(self) -> int:
        """One run per density, a table or JSON, files on request."""
        from jekyllhyde.files import prepare_folder
        from jekyllhyde.mdp.problem import make, problem_options
        from jekyllhyde.planning import plan_files

        if self.out is not None:
            need("plot")
            prepare_folder(self.out)
        options = given(self)
        if "convention" in problem_options(self.problem):
            options["convention"] = self.convention
        mdp = make(self.problem, **options)
        start = time.perf_counter()
        runs = self.plan(mdp)
        seconds = time.perf_counter() - start
        files = [] if self.out is None else plan_files.write(runs, self.out)
        checks = check_all(runs) if self.check else {}
        rows = [summarize(run) for run in runs]
        if self.json:
            for row in rows:
                row["checks"] = [asdict(statement) for statement in checks.get(row["series"], [])]
            about = {"problem": repr(mdp), "J_star": mdp.J_star, "seconds": seconds}
            show_json({**about, "runs": rows, "files": files})
            return 0
        print(
            f"{mdp.name}: {mdp.n_states} states, {mdp.n_actions} actions, gamma {mdp.gamma:g}, "
            f"optimal return {mdp.J_star:.6g}"
        )
        show_table(f"{self.parametrization}, eta {rows[0]['eta']}", [narrow(row) for row in rows])
        for label, statements in checks.items():
            from jekyllhyde.theory import table

            print(f"{label}\n{table(statements)}\n")
        updates = sum(run.updates for run in runs)
        print(f"{updates} updates in {seconds:.2f} s ({runs[0].solver})", *files, sep="\n")
        return 0

    def plan(self, mdp: FiniteMDP) -> list[PlanRun]:
        """One run per density."""
        from jekyllhyde.planning.plan import plan

        if self.o is not None and "mixture" not in self.density:
            raise InputError("--o is given, but no density takes it; add --density mixture")
        count = len(self.density)
        with Progress(count * self.updates, mdp.name) as advance:
            return plan(
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


def check_all(runs: list[PlanRun]) -> dict[str, list[Check]]:
    """The theory's checks of every run, by its label."""
    from jekyllhyde.planning.plan_files import label
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
    from jekyllhyde.planning import plan_files

    J_norm = float(plan_files.normalized(run)[-1])
    summary: dict[str, Any] = {
        "series": plan_files.label(run),
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


def narrow(row: dict[str, Any]) -> dict[str, Any]:
    """The columns of the table, which fits 80 characters: what all runs share is said beside it."""
    columns = {key: row[key] for key in ("series", "updates", "J", "J_norm")}
    if "target" in row:
        reached = None if row["censored"] else row["time_to_target"]
        columns[f"updates to {row['target']:g}"] = reached
    return columns
