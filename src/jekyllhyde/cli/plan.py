"""`jh plan`: exact policy updates on a known model."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jekyllhyde as jh
from jekyllhyde.cli.console import prepare_out, say, show_json, show_table
from jekyllhyde.cli.flags import ProblemCommand, first_argument, given, with_flags
from jekyllhyde.errors import require
from jekyllhyde.mdp.domains import find_problem
from jekyllhyde.options import options_of
from jekyllhyde.progress_bar import progress_bar


@dataclass(frozen=True)
class Plan(ProblemCommand):
    """Run exact policy updates on a known model and show how the return grows.

    `jh plan PROBLEM --help` says what the problem takes.
    """

    @classmethod
    def completed(cls, arguments: Sequence[str]) -> type:
        problem, updates = first_argument("plan", arguments), options_of(plan_all)
        del updates["mdp"]
        options = {} if problem is None else {problem: find_problem(problem).options}
        return with_flags(cls, {"updates": updates, **options})

    def run(self) -> None:
        from jekyllhyde.planning import plan_files

        prepare_out(self.out)
        problem, updates = find_problem(self.problem), given(self, options_of(plan_all))
        mdp = problem(**given(self, problem.options))
        start = time.perf_counter()
        runs = plan_all(mdp, **updates)
        seconds = time.perf_counter() - start
        files = [] if self.out is None else plan_files.write(runs, self.out)
        checks = [jh.theory.check(run) if "check" in updates else [] for run in runs]
        rows = [plan_files.summarize(run) for run in runs]
        if self.json:
            report = {
                "problem": repr(mdp),
                "J_star": mdp.J_star,
                "seconds": seconds,
                "runs": [
                    {**row, "checks": [asdict(statement) for statement in statements]}
                    for row, statements in zip(rows, checks, strict=True)
                ],
                "files": files,
            }
            show_json(report)
        else:
            say(
                f"{mdp.name}: {mdp.n_states} states, {mdp.n_actions} actions, "
                f"gamma {mdp.gamma:g}, optimal return {mdp.J_star:.6g}"
            )
            show_table("{parametrization}, eta {eta}".format(**rows[0]), list(map(_narrow, rows)))
            for row, statements in zip(rows, checks, strict=True):
                if statements:
                    say(str(row["series"]), *jh.theory.table(statements).splitlines())
            updated = sum(run.updates for run in runs)
            say(f"{updated} updates in {seconds:.2f} s ({runs[0].solver})", *map(str, files))


def plan_all(
    mdp: Any,
    parametrization: str = "softmax",
    density: tuple[str, ...] = ("pg",),
    o: str | None = None,
    eta: str = "1",
    lam: float = 0.0,
    updates: int = 1000,
    target: float | None = None,
    convention: str = "published",
    check: bool = False,
) -> list[Any]:
    """One run per density; the keywords are flags.

    parametrization : how theta moves and gives pi: direct, softmax, cross_entropy, raise_greedy,
        natural_gradient (the same as mirror_step), or file.py:Name.
    density : where pi is updated, d_t: pg, undiscounted, uniform, mixture; several make several
        runs, compared.
    o : off-policiness o_t of the mixture: 0.5, 10/t, 10/sqrt(t), 10/t^0.5.
    eta : step size eta_t of the actor: a number or a schedule.
    lam : entropy weight lambda (softmax).
    updates : number of updates, at most.
    target : stop once the normalized return exceeds this.
    convention : published (as the figures were made) or paper (the text, literally).
    check : check the theory's conditions, theorems and bounds on every run.
    """
    require(
        o is None or "mixture" in density,
        "--o is given, but no density takes it; add --density mixture",
    )
    with progress_bar(len(density) * updates, mdp.name) as bar:
        return jh.plan(
            [mdp] * len(density),
            parametrization=parametrization,
            density=list(density),
            o=[o if name == "mixture" else None for name in density],
            eta=eta,
            lam=lam,
            updates=updates,
            target=target,
            convention=convention,
            record=("v", "q", "pi", "d") if check else (),
            record_at=check_times(updates),
            progress=bar,
        )


def check_times(updates: int, most: int = 1000) -> list[int]:
    """When to record for the checks: every update of a short run, ever more sparsely along a long
    one.
    """
    if updates <= most:
        return list(range(max(updates, 0) + 1))
    return sorted({0, updates, *(round(updates ** (i / most)) for i in range(most))})


def _narrow(row: dict[str, Any]) -> dict[str, Any]:
    # a table that fits 80 characters: what all runs share is said beside it
    columns = {key: row[key] for key in ("series", "updates", "J", "J_norm")}
    if "target" in row:
        columns[f"updates to {row['target']:g}"] = (
            None if row["censored"] else row["time_to_target"]
        )
    return columns
