"""A panel: which experiment it shows and how; and its numbers, read from a store.

A `curve` panel shows the normalized return of every series against updates or trajectories, a
`time` panel the count at which a run first exceeds its target against whatever varies, the cap
where it never does, an `end` panel the return at the end against whatever varies. Runs are the unit
of every interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.intervals import summarize
from jekyllhyde.lab.methods import work_of
from jekyllhyde.lab.spec import Cell, Experiment
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.values import slug
from jekyllhyde.mdp.finite import Floats

Outcome = tuple[str, str]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, in our words, as a test on a panel's numbers: (verdict, what was
    measured).
    """

    id: str
    text: str
    test: Callable[[Curves], Outcome]


@dataclass(frozen=True)
class Panel:
    """How an experiment is shown.

    quantity : the column that is plotted: "J_norm", "J_norm_jekyll", "score", "exact_score", a time
        ("time", "time_jekyll", "time_global"), or a return at the end ("J_norm_end",
        "J_norm_jekyll_end").
    statistic : over the runs, "mean", "median", "decile" or "iqm".     series : the tags to show,
        all by default.
    ylim : for curves.     exact : there is nothing random in it.
    """

    name: str
    title: str
    experiment: Experiment
    xlabel: str
    quantity: str = "J_norm"
    statistic: str = "mean"
    series: tuple[str, ...] = ()
    logx: bool = False
    ylim: tuple[float, float] | None = None
    exact: bool = False
    claims: tuple[Claim, ...] = ()

    @property
    def kind(self) -> str:
        """Curve, time or end."""
        return (
            "time"
            if self.quantity.startswith("time")
            else "end"
            if self.quantity.endswith("_end")
            else "curve"
        )

    @property
    def labels(self) -> dict[str, str]:
        """What the experiment's series are called, by their tags."""
        return {slug(cell.label): cell.label for cell in self.experiment.cells}

    @property
    def tags(self) -> list[str]:
        """The series shown, in order."""
        return list(self.series or self.labels)

    @property
    def cap(self) -> int:
        """What a time panel plots for a run that never got there."""
        return work_of(self.experiment.method, self.experiment.settings)

    @property
    def unit(self) -> str:
        """What is counted."""
        return {"plan": "updates", "learn": "trajectories", "deep": "episodes"}[
            self.experiment.method
        ]

    @property
    def ylabel(self) -> str:
        """The axis' label."""
        if self.kind == "time":
            whose = {"time_jekyll": " of Jekyll", "time_global": " (global)"}.get(self.quantity, "")
            return f"{self.unit} to a normalized return{whose} of {self.experiment.settings['target']:g}"
        if "score" in self.quantity:
            return (
                "score of ten greedy episodes"
                if self.quantity == "score"
                else "exact score of the greedy policy"
            )
        whose, when = (
            " of Jekyll" if "jekyll" in self.quantity else "",
            " at the end" if self.kind == "end" else "",
        )
        return f"normalized return{whose}{when}"


@dataclass(frozen=True)
class Curves:
    """A panel's numbers. Per series: `samples` [runs, X], their statistic y [X] with a 95 %
    interval [lo, hi].

    censored : share of runs that never reached the target [X].     failures : runs that diverged;
        in a time they count as the cap,
    elsewhere with their last return, or 0 where they have none.
    runs : of the series with the fewest.
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
        """What the experiment's series are called, by their tags."""
        return self.panel.labels

    @property
    def cap(self) -> int:
        """What a time panel plots for a run that never got there."""
        return self.panel.cap


def panel_of(experiment: Experiment) -> Panel:
    """The obvious panel of an experiment: times if it has a target, else returns at the end if
    something varies, else curves.
    """
    if experiment.method == "deep":
        return Panel(
            experiment.name, experiment.title, experiment, "training episodes", "exact_score"
        )
    xlabel = next(
        iter(experiment.axes), "updates" if experiment.method == "plan" else "trajectories"
    )
    quantity = (
        "time"
        if experiment.settings.get("target") is not None
        else "J_norm_end"
        if experiment.vary
        else "J_norm"
    )
    exact = experiment.method == "plan" and experiment.runs == 1
    numbers = [
        value
        for value in experiment.axes.get(xlabel, [])
        if isinstance(value, (int, float)) and value > 0
    ]
    logx = len(numbers) > 3 and np.allclose(
        np.diff(np.log(numbers)), np.log(numbers[1] / numbers[0]), rtol=1e-3
    )
    return Panel(
        experiment.name, experiment.title, experiment, xlabel, quantity, logx=logx, exact=exact
    )


def read(panel: Panel, store: Store) -> Curves:
    """The panel's numbers from the runs that the store has: as many as all of its cells have."""
    by_label: dict[str, list[Cell]] = {tag: [] for tag in panel.tags}
    for cell in panel.experiment.cells:
        if slug(cell.label) in by_label:
            by_label[slug(cell.label)].append(cell)
    runs = min(
        (_complete_runs(store, cell) for cells in by_label.values() for cell in cells), default=0
    )
    runs = min(runs, panel.experiment.runs)
    if runs == 0:
        raise InputError(
            f"panel {panel.name} has cells without any run in the store; make it first with jh figure {panel.name}"
        )
    table = store.table(
        [cell.digest for cells in by_label.values() for cell in cells], _columns(panel)
    )
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        if row["run"] < runs:
            rows.setdefault(row["cell"], []).append(row)
    x: Floats = np.zeros(0)
    samples, censored, failures = {}, {}, {}
    for label, cells in by_label.items():
        found = [sorted(rows[cell.digest], key=lambda row: int(row["run"])) for cell in cells]
        failures[label] = sum(row["failure"] is not None for some in found for row in some)
        x, samples[label], censored[label] = (
            _curve(panel, found[0]) if panel.kind == "curve" else _points(panel, cells, found)
        )
    measured = {label: summarize(values, panel.statistic) for label, values in samples.items()}
    y, lo, hi = ({label: one[i] for label, one in measured.items()} for i in range(3))
    return Curves(panel, x, samples, y, lo, hi, censored, failures, runs)


def _columns(panel: Panel) -> list[str]:
    return ["cell", "run", "failure", panel.quantity, *(["at"] if panel.kind == "curve" else [])]


def _complete_runs(store: Store, cell: Cell) -> int:
    here = store.present(cell.digest)
    return next(run for run in range(len(here) + 1) if run not in here)


def _points(
    panel: Panel, cells: Sequence[Cell], rows: list[list[dict[str, Any]]]
) -> tuple[Floats, Floats, Floats]:
    """The axis x [X], a value per run and x, and the share of runs without one; those count as the
    cap, a return as 0.
    """
    values = np.array(
        [
            [np.nan if row[panel.quantity] is None else row[panel.quantity] for row in some]
            for some in rows
        ],
        dtype=np.float64,
    ).T
    words = any(cell.x is None for cell in cells)
    x = np.array([i if words else cell.x for i, cell in enumerate(cells)], dtype=np.float64)
    return (
        x,
        np.where(np.isnan(values), panel.cap if panel.kind == "time" else 0.0, values),
        np.isnan(values).mean(axis=0),
    )


def _curve(panel: Panel, rows: list[dict[str, Any]]) -> tuple[Floats, Floats, Floats]:
    """The axis x [X] and the curve of each run; one that stopped early keeps its last value."""
    at = next(row["at"] for row in rows if row["at"] is not None)
    values = np.array(
        [np.zeros(len(at)) if row[panel.quantity] is None else row[panel.quantity] for row in rows],
        dtype=np.float64,
    )
    known = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(values.shape[1])), axis=1)
    return (
        np.array(at, dtype=np.float64),
        np.take_along_axis(values, known, axis=1),
        np.zeros(len(at)),
    )


def judge(curves: Curves) -> list[dict[str, str]]:
    """Every claim about the panel, with its verdict and the numbers that it rests on."""
    found = []
    for claim in curves.panel.claims:
        verdict, measured = claim.test(curves)
        found.append(
            {"id": claim.id, "claim": claim.text, "verdict": verdict, "measured": measured}
        )
    return found
