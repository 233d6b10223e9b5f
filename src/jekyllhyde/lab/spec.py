"""An experiment is data: a problem, the series to compare on it, what varies, and how many runs.

The same in Python and in a TOML file:

    name = "o-on-garnets"            [vary]                        [[series]]
    method = "learn"                 o = [0.1, 0.5, 0.9]           label = "J&H"
    runs = 20                                                      agent = "jekyll-hyde"
                                     [settings]                    epsilon = "100/t"
    [problem]                        trajectories = 10000
    name = "garnet"                  target = 0.95
    n_states = 30

A cell is one series at one point of the grid that `vary` spans. It is known by the digest of its
complete settings, defaults included, so a cell that was computed once is never computed again,
whatever experiment asks for it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import references as own
from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.lab import methods
from jekyllhyde.lab.values import MOST, axis, canonical, short, slug

NUMBERS = 1  # to be raised when a change of the engines changes the numbers of the same settings

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One series at one point of the grid. `values` are the point's coordinates, the x axis first."""

    experiment: str
    series: str
    values: dict[str, Any]
    method: str
    problem: dict[str, Any]
    settings: dict[str, Any]
    seed: int

    @property
    def id(self) -> str:
        """For people: experiment/coordinates/series, such as fig11a/eta=6.31/jh-100t-o0.5."""
        return "/".join(
            [
                self.experiment,
                *(f"{name}={short(value)}" for name, value in self.values.items()),
                slug(self.series),
            ]
        )

    @property
    def label(self) -> str:
        """The series, with the coordinates beside the x axis."""
        return " ".join(
            [
                self.series,
                *(f"{name}={short(value)}" for name, value in list(self.values.items())[1:]),
            ]
        )

    @property
    def x(self) -> float | None:
        """The coordinate on the x axis, if it is a number."""
        first = next(iter(self.values.values()), None)
        return (
            float(first)
            if isinstance(first, (int, float)) and not isinstance(first, bool)
            else None
        )

    @property
    def text(self) -> str:
        """Problem, settings and seed with every default written out, as JSON; raises `InputError`
        where something does not fit.
        """
        try:
            problem, settings = (
                one.text for one in methods.complete(self.method, self.problem, self.settings)
            )
        except InputError as error:
            raise InputError(f"{self.id}: {error}") from None
        return f'{{"method":"{self.method}","numbers":{NUMBERS},"problem":{problem},"seed":{self.seed},"settings":{settings}}}'

    @property
    def complete(self) -> dict[str, Any]:
        """The same as a dictionary."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    @cached_property
    def digest(self) -> str:
        """What the cell is known by in the store."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def stream(self) -> int:
        """The seed of the cell's random streams: run i draws from (stream, i)."""
        return int(self.digest, 16)


@dataclass(frozen=True)
class Experiment:
    """Series of runs on a problem along a grid.

    Parameters
    ----------
    name : the first part of the cells' ids.     method : "plan" (exact updates) or "learn" (from
        samples).
    problem : the domain's `name` and options. A garnet without a `seed` is a new random MDP for
        each run, the same for all series.
    series : per series its own settings beside `label`.     settings : those of all series.
    vary : per coordinate a list of values, {from, to, step} or {from, to, per_decade}; two
        coordinates make a grid. A coordinate is an option of the problem if that has one of this
        name, otherwise a setting.
    runs, seed : run i of a cell draws from a stream made of the seed, the cell and i.
    """

    name: str
    method: str
    problem: Settings
    series: Sequence[Settings]
    settings: Settings = field(default_factory=dict)
    vary: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 1
    seed: int = 0
    title: str = ""
    folder: Path = field(default=Path(), compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[\w.+-]+", self.name):
            raise InputError(
                f"name is {self.name!r}; it must be made of letters, digits and . + - _"
            )
        check_choice(self.method, "method", methods.METHODS)
        object.__setattr__(self, "runs", check_count(self.runs, "runs", 1))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", 0))
        if not isinstance(self.title, str):
            raise InputError(f"title is {self.title!r}; it must be a text")
        for name in ("problem", "settings", "vary"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(
                    f"{name} is {getattr(self, name)!r}; it must be a table of settings"
                )
        if not isinstance(self.problem.get("name"), str):
            raise InputError(
                "problem has no name; it must be a domain such as chain or garnet, or a file"
            )
        self._check_series()
        size = len(self.series) * math.prod(len(values) for values in self.axes.values())
        if size > MOST:
            raise InputError(
                f"vary and series make {size:,} cells; an experiment has at most {MOST:,}"
            )

    def _check_series(self) -> None:
        if not isinstance(self.series, (list, tuple)) or not self.series:
            raise InputError(
                f"series is {self.series!r}; it must be one or more tables, each with a label"
            )
        names: dict[str, str] = {}
        for i, one in enumerate(self.series, start=1):
            label = one.get("label") if isinstance(one, Mapping) else None
            if not isinstance(label, str) or not label.isprintable() or not slug(label):
                raise InputError(
                    f"series {i} has the label {label!r}; it must be a text with a letter or a digit that names it"
                )
            if slug(label) in names:
                raise InputError(
                    f"series {i} has the label {label!r}, too much like {names[slug(label)]!r}; labels must differ"
                )
            names[slug(label)] = label
            for name in self.vary:
                if name in one:
                    raise InputError(
                        f"series {label!r} sets {name}, which vary sets too; it must be in one of them"
                    )

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        """The values of each coordinate."""
        return {name: axis(name, values) for name, values in self.vary.items()}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every series at every point of the grid."""
        found = []
        options = methods.problem_options(self.problem["name"])
        common = methods.locate_problem(self.problem, self.folder)
        series = [
            (str(one["label"]), own.locate({**self.settings, **one}, self.folder))
            for one in self.series
        ]
        for _, settings in series:
            del settings["label"]
        for point in itertools.product(*self.axes.values()):
            values = dict(zip(self.axes, point, strict=True))
            problem = common | {name: value for name, value in values.items() if name in options}
            varied = own.locate(
                {name: value for name, value in values.items() if name not in options}, self.folder
            )
            for label, settings in series:
                found.append(
                    Cell(
                        self.name, label, values, self.method, problem, settings | varied, self.seed
                    )
                )
        return found

    @cached_property
    def digest(self) -> str:
        """A stable hash of what is run, apart from the number of runs."""
        return hashlib.sha256(canonical([cell.digest for cell in self.cells]).encode()).hexdigest()[
            :16
        ]

    def scaled(
        self, *, runs: int | None = None, points: int | None = None, length: float = 1.0
    ) -> Experiment:
        """A smaller copy: fewer runs, every coordinate thinned to `points` values, shorter runs."""
        settings = dict(self.settings)
        for name in ("trajectories", "updates", "episodes"):
            if name in settings:
                settings[name] = max(1, round(settings[name] * length))
        vary: dict[str, Any] = dict(self.vary)
        if points is not None:
            for name, values in self.axes.items():
                kept = np.unique(np.linspace(0, len(values) - 1, points).round().astype(int))
                vary[name] = [values[i] for i in kept]
        return replace(self, runs=self.runs if runs is None else runs, settings=settings, vary=vary)

    @classmethod
    def from_toml(cls, path: str | Path) -> Experiment:
        """Read a file; an error names the file, the field and what is allowed."""
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} cannot be read ({getattr(error, 'strerror', None) or error})"
            ) from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not TOML: {error}") from None
        allowed = [f.name for f in fields(cls) if f.name != "folder"]
        for key in data:
            if key not in allowed:
                raise InputError(f"{path}: unknown key {key!r}; the keys are {', '.join(allowed)}")
        for key in ("name", "method", "problem", "series"):
            if key not in data:
                raise InputError(f"{path}: {key} is missing; the keys are {', '.join(allowed)}")
        try:
            experiment = cls(**data, folder=path.parent)
            _ = experiment.digest  # every cell is checked
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return experiment
