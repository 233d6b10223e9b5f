"""A panel: which experiment it shows and how; and its numbers, read from a store.

A `curve` panel shows the normalized return of every series against updates or trajectories, a
`time` panel the count at which a run first exceeds its target against whatever varies, the cap
where it never does, an `end` panel the return at the end against whatever varies. Runs are the unit
of every interval. Series are known by their tags; labels are only shown. A panel may show another
view of its numbers, such as a performance profile.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError, require
from jekyllhyde.intervals import Floats, summarize
from jekyllhyde.lab.cell_settings import short
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.methods.contract import CURVE, Method
from jekyllhyde.lab.spec import Cell, Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.verdicts import Part

YLABELS = {
    "score": "score of ten greedy episodes",
    "exact_score": "exact score of the greedy policy",
    "exact_score_end": "exact score of the greedy policy at the end",
    "J_norm": "normalized return",
    "J_norm_jekyll": "normalized return of Jekyll",
    "J_norm_end": "normalized return at the end",
    "J_norm_jekyll_end": "normalized return of Jekyll at the end",
    "return": "undiscounted return of the greedy policy",
    "return_end": "undiscounted return of the greedy policy at the end",
    "J_star": "optimal return",
    "visited": "share of states that the optimal policy visits",
    "moved": "largest change of the policy by one more update",
    "greedy": "share of states that one more update leaves greedy",
    "time": "{unit} to a {measure} of {target:g}",
    "time_jekyll": "{unit} to a normalized return of Jekyll of {target:g}",
    "time_global": "{unit} to a normalized return (global) of {target:g}",
    "time_99": "{unit} to 0.99 of the optimum",
    "steps_99": "steps to 0.99 of the optimum",
    "regret": "regret until 0.99 of the optimum, or the end",
    "profile": "share of runs",
}


Others = Callable[[str], "Curves"]
Test = Callable[["Curves", Others], list[Part]]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, in our words, and the tests that decide it.

    tests : each takes the panel's curves and a way to those of other panels, and gives parts.
    horizon : how many updates or trajectories the sentence is about.
    place : where the paper says it (`sentences`); empty where it is no sentence of the paper.
    """

    id: str
    text: str
    tests: tuple[Test, ...]
    horizon: int = 0
    place: str = ""


@dataclass(frozen=True)
class Panel:
    """How an experiment is shown.

    quantity : the column that is plotted: "J_norm", "J_norm_jekyll", "score", "exact_score", a time
        ("time", "time_jekyll", "time_global", "time_99", "steps_99"), or a number per run
        ("J_norm_end", "J_norm_jekyll_end", "regret", and "moved", "greedy",
        "visited", "J_star" of `probe`).
    statistic : over the runs, "mean", "median", "decile" or "iqm".
    series : the tags of those to show, all by default.
    xlim, ylim : for curves.  groups : by name the tags of the series that a picture shows side by
        side, for panels of many lines.
    exact : there is nothing random in it.
    published : the name of the paper's own curves (`agreement`), if it is a panel of the paper's.
    most : the cap, where it is not the length of the runs.
    view : what is made of the numbers that were read, those of another panel.

    `kind` is curve, time or end; `cells` are those of the series shown, by tag and in order, and
    `digests` what a store knows them by;
    `labels` what the series are called; `cap` what a time panel plots for a run that never got
    there, in units of `unit`.
    """

    name: str
    title: str
    experiment: Experiment | Suite
    xlabel: str
    quantity: str = "J_norm"
    statistic: str = "mean"
    series: tuple[str, ...] = ()
    logx: bool = False
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exact: bool = False
    claims: tuple[Claim, ...] = ()
    published: str = ""
    most: int | None = None
    view: "Callable[[Curves], Curves] | None" = None

    @property
    def kind(self) -> str:
        if self.method.columns.get(self.quantity, CURVE) == CURVE:
            return "curve"
        return "time" if self.quantity.startswith(("time", "steps_")) else "end"

    @property
    def method(self) -> Method:
        return METHODS[self.experiment.method]

    @cached_property
    def cells(self) -> dict[str, list[Cell]]:
        groups: dict[str, list[Cell]] = {tag: [] for tag in self.series}
        for cell in self.experiment.cells:
            if cell.tag in groups or not self.series:
                groups.setdefault(cell.tag, []).append(cell)
        return {tag: cells for tag, cells in groups.items() if cells}

    @property
    def digests(self) -> list[str]:
        return [cell.digest for cells in self.cells.values() for cell in cells]

    @cached_property
    def labels(self) -> dict[str, str]:
        return {tag: cells[0].label for tag, cells in self.cells.items()}

    @property
    def cap(self) -> int:
        return self.most or self.method.work(self.experiment.settings)

    @property
    def unit(self) -> str:
        return self.method.unit

    @property
    def words(self) -> list[str] | None:
        """The names of the places along an axis that is not one of numbers."""
        cells = next(iter(self.cells.values()))
        if self.kind == "curve" or all(cell.x is not None for cell in cells):
            return None
        return [short(next(iter(cell.values.values()), "")) for cell in cells]

    @property
    def ylabel(self) -> str:
        return YLABELS[self.quantity].format(
            unit=self.unit,
            measure=self.method.measure,
            target=self.experiment.settings.get("target"),
        )


@dataclass(frozen=True)
class Curves:
    """A panel's numbers. Per series, by tag: `samples` [runs, X], their statistic y [X] with a 95 %
    interval [lo, hi], and the label to show.

    censored : share of runs that never reached the target [X].
    failures : runs that diverged; in a time they count as the cap, elsewhere with their last
        return, or 0 where they have none.
    runs : of the series with the fewest; 0 where nobody says.
    """

    panel: Panel
    x: Floats
    samples: dict[str, Floats] = field(repr=False)
    y: dict[str, Floats] = field(repr=False)
    lo: dict[str, Floats] = field(repr=False)
    hi: dict[str, Floats] = field(repr=False)
    censored: dict[str, Floats] = field(repr=False)
    failures: dict[str, int]
    runs: int

    @property
    def labels(self) -> dict[str, str]:
        return self.panel.labels

    @property
    def cap(self) -> int:
        return self.panel.cap


def panel_of(experiment: Experiment) -> Panel:
    """The obvious panel of an experiment: times if it has a target, else returns at the end if
    something varies, else curves.
    """
    method = METHODS[experiment.method]
    xlabel = next(iter(experiment.axes), method.xlabel or method.unit)
    numbers = [
        value
        for value in experiment.axes.get(xlabel, [])
        if isinstance(value, (int, float)) and value > 0
    ]
    steps = np.diff(np.log(numbers))
    return Panel(
        experiment.name,
        experiment.title,
        experiment,
        xlabel,
        (experiment.vary and method.end) or method.curve
        if experiment.settings.get("target") is None
        else "time",
        logx=len(numbers) > 3 and np.allclose(steps, steps[0], rtol=1e-3),
        exact=method.exact and experiment.runs == 1,
    )


def has_runs(panel: Panel, store: Store) -> bool:
    """Whether the store has at least one run of each of the panel's cells."""
    return all(map(store.complete_runs, panel.digests))


def read(panel: Panel, store: Store) -> Curves:
    """The panel's numbers from the runs that the store has: as many as all of its cells have."""
    runs = min(panel.experiment.runs, min(map(store.complete_runs, panel.digests), default=0))
    require(
        runs,
        f"panel {panel.name} has cells without any run in the store; make it first with "
        f"jh figure {panel.name}",
    )
    columns = ["cell", "run", "failure", panel.quantity, *["at"] * (panel.kind == "curve")]
    by_cell = groupby(store.table(panel.digests, columns).to_pylist(), lambda row: row["cell"])
    rows = {digest: list(in_order)[:runs] for digest, in_order in by_cell}
    places = next((row["at"] for cell in rows.values() for row in cell if row.get("at")), None)
    x: Floats = np.zeros(0)
    samples, censored, failures, y, lo, hi = {}, {}, {}, {}, {}, {}
    for tag, cells in panel.cells.items():
        runs_of_cells = [rows[cell.digest] for cell in cells]
        failures[tag] = sum(row["failure"] is not None for cell in runs_of_cells for row in cell)
        x, samples[tag], censored[tag] = (
            _curve(panel, runs_of_cells[0], places)
            if panel.kind == "curve"
            else _points(panel, cells, runs_of_cells)
        )
        y[tag], lo[tag], hi[tag] = summarize(samples[tag], panel.statistic)
    curves = Curves(panel, x, samples, y, lo, hi, censored, failures, runs)
    return panel.view(curves) if panel.view else curves


def _points(
    panel: Panel, cells: Sequence[Cell], rows: list[list[dict[str, Any]]]
) -> tuple[Floats, Floats, Floats]:
    # The axis x [X], a value per run and x, and the share of runs without one; those count as the
    # cap, a return as 0.
    require(
        panel.kind == "time"
        or all(row["failure"] or row[panel.quantity] is not None for cell in rows for row in cell),
        f"panel {panel.name}: its runs were made without {panel.quantity}; make them anew, in a "
        "store of their own",
    )
    values = np.array([[row[panel.quantity] for row in cell] for cell in rows], dtype=np.float64).T
    words = any(cell.x is None for cell in cells)
    x = np.array([i if words else cell.x for i, cell in enumerate(cells)], dtype=np.float64)
    unknown = np.isnan(values)
    if panel.kind == "time" and panel.most is not None:
        unknown |= values > panel.most
    values[unknown] = panel.cap if panel.kind == "time" else _lowest(panel, values)
    return x, values, unknown.mean(axis=0)


def _curve(
    panel: Panel, rows: list[dict[str, Any]], at: list[int] | None
) -> tuple[Floats, Floats, Floats]:
    # The axis x [X], which is `at`, and the curve of each run; one that stopped early keeps its
    # last value.
    if at is None:
        raise InputError(f"panel {panel.name}: all runs failed ({rows[0]['failure']})")
    made = [row[panel.quantity] for row in rows if row["at"] is not None]
    lowest = np.full(len(at), _lowest(panel, np.concatenate([np.zeros(0), *made])))
    curves = [lowest if row["at"] is None else row[panel.quantity] for row in rows]
    require(
        all(row["at"] in (at, None) for row in rows)
        and {len(curve) for curve in curves} == {len(at)},
        f"panel {panel.name}: its series have values at different places; give all of them the "
        f"same {panel.unit} and points",
    )
    values = np.array(curves, dtype=np.float64)
    known = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(at))), axis=1)
    places = np.array(at, dtype=np.float64)
    return places, np.take_along_axis(values, known, axis=1), np.zeros(len(at))


def _lowest(panel: Panel, values: Floats) -> float:
    # What a run that failed counts as: 0, or the lowest of the others where that may be more.
    is_known = np.isfinite(values)
    if not panel.quantity.startswith("return") or not is_known.any():
        return 0.0
    return float(values[is_known].min())
