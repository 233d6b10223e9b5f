"""`jh`: a thin door to the library. Bad input gets one sentence and exit status 2."""

from __future__ import annotations

import json
import math
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jekyllhyde.errors import InputError

if TYPE_CHECKING:
    from jekyllhyde.planning.run import PlanRun


@dataclass(frozen=True)
class Problem:
    """Options of the problem; each domain takes its own, `jh list` says which."""

    n_states: int | None = None
    """|S|, the number of states (chain, garnet)."""
    beta: float | None = None
    """Value of the low-hanging fruit relative to the optimum (chain)."""
    n_actions: int | None = None
    """|A|, the number of actions (garnet)."""
    connectivity: int | None = None
    """Successors per state and action (garnet)."""
    seed: int | None = None
    """Which random MDP (garnet)."""
    goal: int | None = None
    """The goal state, instead of a search for the hardest one (garnet)."""
    level: int | None = None
    """Where episodes start: 1 anywhere, 2 never in the goal's room (four_rooms)."""
    size: int | None = None
    """Cells per side (four_rooms)."""
    slip: float | None = None
    """Probability that a move is random (four_rooms)."""
    n: int | None = None
    """Rows of the sea (deep_sea)."""
    gamma: float | None = None
    """Discount; the domain's own by default, 0.99 for a Gymnasium environment."""


@dataclass(frozen=True)
class Plan:
    """Run exact policy updates on a known model and show how the return grows."""

    problem: tyro.conf.Positional[str]
    """chain, garnet, four_rooms, deep_sea, a Gymnasium id such as FrozenLake-v1, or a file written by FiniteMDP.save."""
    options: Annotated[Problem, tyro.conf.arg(name="problem")] = field(default_factory=Problem)
    parametrization: str = "softmax"
    """How theta gives pi: direct or softmax."""
    density: tuple[str, ...] = ("pg",)
    """Where pi is updated, d_t: pg, undiscounted, uniform, mixture; several of them make several runs, compared."""
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
    out: Path | None = None
    """Folder for plan.parquet and plan.png."""
    json: bool = False
    """Print one JSON object instead of the table."""


@dataclass(frozen=True)
class List:
    """Show the domains with their options, the densities, the parametrizations and the schedules."""

    json: bool = False
    """Print one JSON object instead of the tables."""


@dataclass(frozen=True)
class Figure:
    """Make planning figures of the paper: picture, numbers with intervals, and a verdict on each claim."""

    panels: tyro.conf.Positional[tuple[str, ...]]
    """Panels such as 5a 6d, whole figures such as 5, or all."""
    runs: int | None = None
    """Random MDPs for Figure 7; the paper's size by default."""
    out: Path = Path("out")
    """Folder for P.png, P.pdf, P.csv and P.claims.json of each panel P."""
    json: bool = False
    """Print one JSON object instead of the tables."""


Command = (
    Annotated[Plan, tyro.conf.subcommand("plan")]
    | Annotated[Figure, tyro.conf.subcommand("figure")]
    | Annotated[List, tyro.conf.subcommand("list")]
)


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `jh`."""
    command = tyro.cli(
        Command,
        prog="jh",
        description="Policy updates where the policy does not go.",
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
    )
    try:
        if isinstance(command, Plan):
            return run_plan(command)
        if isinstance(command, Figure):
            return run_figure(command)
        return run_list(command)
    except InputError as error:
        print(f"jh: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("jh: stopped", file=sys.stderr)
        return 130


def run_plan(command: Plan) -> int:
    """`jh plan`: one run per density, a table or JSON, files on request."""
    from jekyllhyde.mdp.problem import make
    from jekyllhyde.planning import output
    from jekyllhyde.planning.plan import plan

    folder = None if command.out is None else output.prepare_folder(command.out)
    mdp = make(command.problem, **asdict(command.options), convention=command.convention)
    if command.o is not None and "mixture" not in command.density:
        raise InputError("--o is given, but no density takes it; add --density mixture")
    count = len(command.density)
    start = time.perf_counter()
    with Progress(count * command.updates, mdp.name) as advance:
        runs = plan(
            [mdp] * count,
            parametrization=command.parametrization,
            density=list(command.density),
            o=[command.o if density == "mixture" else None for density in command.density],
            eta=command.eta,
            lam=command.lam,
            updates=command.updates,
            target=command.target,
            convention=command.convention,
            progress=advance,
        )
    seconds = time.perf_counter() - start
    files = []
    if folder is not None:
        output.write_parquet(runs, folder / "plan.parquet")
        output.draw(runs, folder / "plan.png")
        files = [str(folder / "plan.parquet"), str(folder / "plan.png")]
    summary = [summarize(run) for run in runs]
    if command.json:
        print(json.dumps({"problem": repr(mdp), "J_star": mdp.J_star, "seconds": seconds, "runs": summary, "files": files}))
        return 0
    show_table(
        f"{mdp.name}: {mdp.n_states} states, {mdp.n_actions} actions, gamma {mdp.gamma:g}, optimal return {mdp.J_star:.6g}",
        summary,
    )
    print(f"{sum(run.updates for run in runs)} updates in {seconds:.2f} s" + "".join(f"\n{file}" for file in files))
    return 0


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
        summary |= {"target": run.target, "time_to_target": run.time_to_target, "censored": run.censored}
    return summary


def run_figure(command: Figure) -> int:
    """`jh figure`."""
    from jekyllhyde.lab import output
    from jekyllhyde.lab.claims import judge
    from jekyllhyde.lab.panels import PANELS, run_panel
    from jekyllhyde.planning.output import prepare_folder

    names = [panel for wanted in command.panels for panel in PANELS if wanted in ("all", panel, panel[:-1])]
    for wanted in command.panels:
        if not any(wanted in ("all", panel, panel[:-1]) for panel in PANELS):
            raise InputError(f"figure is {wanted!r}; it must be all, or one of {', '.join(PANELS)}")
    folder = prepare_folder(command.out)
    report = {}
    for name in dict.fromkeys(names):
        panel = PANELS[name]
        start = time.perf_counter()
        with Progress(None, f"panel {name}") as advance:
            curves = run_panel(name, command.runs, advance)
        files = [str(path) for path in output.write(curves, folder)]
        claims = judge(curves)
        report[name] = {"seconds": time.perf_counter() - start, "runs": curves.runs, "files": files, "claims": claims}
        if not command.json:
            show_table(f"panel {name}: {panel.title} ({report[name]['seconds']:.1f} s)", claims)
            print("\n".join(files))
    if command.json:
        print(json.dumps(report))
    return 0


def run_list(command: List) -> int:
    """`jh list`."""
    import inspect

    from jekyllhyde.lab.panels import PANELS
    from jekyllhyde.mdp.domains import DOMAINS
    from jekyllhyde.planning.densities import DENSITIES
    from jekyllhyde.planning.updates import PARAMETRIZATIONS

    described = {
        "domains": {
            name: {
                "about": (inspect.getdoc(domain) or "").split("\n")[0],
                "options": {p.name: p.default for p in inspect.signature(domain).parameters.values()},
            }
            for name, domain in DOMAINS.items()
        },
        "densities": list(DENSITIES),
        "parametrizations": list(PARAMETRIZATIONS),
        "figures": list(PANELS),
        "schedules": ["0.5", "100/t", "10/sqrt(t)", "10/t^0.5"],
    }
    if command.json:
        print(json.dumps(described))
        return 0
    rows = [
        {
            "domain": name,
            "about": info["about"],
            "options": ", ".join(f"{k}={v}" for k, v in info["options"].items() if k != "convention"),
        }
        for name, info in described["domains"].items()  # type: ignore[attr-defined]
    ]
    show_table("domains (or a Gymnasium id with a known model, or a file)", rows)
    print(f"densities: {', '.join(DENSITIES)}\nparametrizations: {', '.join(PARAMETRIZATIONS)}")
    print(f"schedules: {', '.join(described['schedules'])}\nconventions: published, paper\nfigures: {', '.join(PANELS)}")
    return 0


def show_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with equal keys as a table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        cells = ("yes" if v is True else "no" if v is False else "-" if v is None else v for v in row.values())
        table.add_row(*(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells))
    Console().print(table)


class Progress:
    """A progress bar on standard error that appears only at a terminal and only after a second.

    Without a total it counts what is done.
    """

    def __init__(self, total: int | None, title: str) -> None:
        self.total, self.title, self.done = total, title, 0
        self.started = time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> Any:
        return self.advance

    def advance(self, count: int) -> None:
        """Count `count` more updates."""
        self.done += count
        if self.bar is None and sys.stderr.isatty() and time.perf_counter() - self.started > 1.0:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.total)
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


if __name__ == "__main__":
    sys.exit(main())
