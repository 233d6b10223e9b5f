"""An experiment is data: a problem, the series to compare on it, what varies, and how many runs.

The same in Python and in a TOML file:

    name = "o-on-garnets"            [vary]                        [[series]]
    method = "learn"                 o = [0.1, 0.5, 0.9]           label = "J&H"
    runs = 20                                                      agent = "tabular_jekyll_hyde"
                                     [settings]                    epsilon = "100/t"
    [problem]                        trajectories = 10000
    name = "garnet"                  target = 0.95
    n_states = 30

A cell is one series at one point of the grid that `vary` spans. It is known by the digest of its
complete settings, defaults included, so a cell that was computed once is never computed again,
whatever experiment asks for it.
"""

import itertools
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
import numpy as np

from jekyllhyde import files, references
from jekyllhyde.errors import InputError, plain, require
from jekyllhyde.lab.cell_settings import (
    MOST,
    Count,
    axis,
    canonical,
    check_names,
    check_type,
    hints_of,
    short,
    slug,
    text_digest,
)
from jekyllhyde.lab.methods import METHODS, complete
from jekyllhyde.lab.problems import locate_problem

MOST_RUNS = 10**9
LONGEST = 200  # bytes of a name
MOST_BYTES = 2**24  # of a TOML file
NUMBERS = 1  # to be raised when a change of the engines changes the numbers of the same settings

Table = Annotated[Mapping[str, Any], msgspec.Meta(description="a table of settings")]
Tables = Annotated[
    Sequence[Mapping[str, Any]],
    msgspec.Meta(min_length=1, description="one or more tables, each with a label"),
]


@dataclass(frozen=True)
class Cell:
    """One series at one point of the grid. `values` are the point's coordinates, the x axis first;
    `name` is the series' tag.

    `id` is for people: experiment/coordinates/series, such as fig11a/eta=6.31/jh-100t-o0.5. `label`
    shows the series, and `tag` is what it is known by, with the coordinates beside the x axis. `x`
    is the coordinate on that axis, if it is a number. `text` has problem, settings and seed with
    every default written out, as JSON, and `complete` the same as a dictionary. By its `digest` the
    store knows the cell, and run i draws from the random stream (`stream`, i).
    """

    experiment: str
    series: str
    values: dict[str, Any]
    method: str
    problem: dict[str, Any]
    settings: dict[str, Any]
    seed: int
    name: str = ""

    @property
    def id(self) -> str:
        return "/".join([self.experiment, *self._coordinates(), slug(self.series)])

    @property
    def label(self) -> str:
        return " ".join([self.series, *self._coordinates()[1:]])

    @property
    def tag(self) -> str:
        return "-".join([self.name or slug(self.series), *map(slug, self._coordinates()[1:])])

    def _coordinates(self) -> list[str]:
        return [f"{name}={short(value)}" for name, value in self.values.items()]

    @property
    def x(self) -> float | None:
        first = next(iter(self.values.values()), "")
        return None if isinstance(first, (bool, str)) else float(first)

    @property
    def text(self) -> str:
        # Refused where something does not fit.
        try:
            problem, settings = complete(self.method, self.problem, self.settings)
        except InputError as error:
            raise InputError(plain(f"{self.id}: {error}")) from None
        return (
            f'{{"method":"{self.method}","numbers":{NUMBERS},"problem":{problem},'
            f'"seed":{self.seed},"settings":{settings}}}'
        )

    @property
    def complete(self) -> dict[str, Any]:
        return dict(json.loads(self.text))

    @cached_property
    def digest(self) -> str:
        return text_digest(self.text)

    @property
    def stream(self) -> int:
        return int(self.digest, 16)


@dataclass(frozen=True)
class Experiment:
    """Series of runs on a problem along a grid.

    Parameters
    ----------
    name : the first part of the cells' ids.
    method : "plan" (exact updates), "learn" (from samples), "deep" (with networks) or "train" (any
        agent in an environment).
    problem : the domain's `name` and options, or a file; of "train", an id and its keywords. A
        random domain without a `seed` is a new MDP for each run, the same for all series.
    series : per series its own settings beside `label`, and a `tag` by which panels and claims know
        it (made of the label by default).
    settings : those of all series.
    vary : per coordinate a list of values, {from, to, step} or {from, to, per_decade}; two
        coordinates make a grid. A coordinate is an option of the problem if that has one of this
        name, otherwise a setting.
    runs, seed : run i of a cell draws from a stream made of the seed, the cell and i.
    """

    name: Annotated[
        str, msgspec.Meta(pattern=r"^[\w.+-]+$", description="made of letters, digits and . + - _")
    ]
    method: str
    problem: Table
    series: Tables
    settings: Table = field(default_factory=dict)
    vary: Table = field(default_factory=dict)
    runs: Count = 1
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    title: str = ""
    folder: Path = field(default=Path(), compare=False)

    def __post_init__(self) -> None:
        hints = hints_of(Experiment)
        for name in ("name", "problem", "series", "settings", "vary", "title", "runs", "seed"):
            object.__setattr__(self, name, check_type(getattr(self, name), name, hints[name]))
        _ = METHODS[self.method]
        require(
            isinstance(self.problem.get("name"), str),
            "problem has no name; it must be a domain such as chain or garnet, or a file",
        )
        self._check_series()
        size = len(self.series) * math.prod(len(values) for values in self.axes.values())
        require(
            size <= MOST, f"vary and series make {size:,} cells; an experiment has at most {MOST:,}"
        )
        require(
            size * self.runs <= MOST_RUNS,
            f"runs is {self.runs}, which makes {size * self.runs:,} in {size:,} cells; "
            f"an experiment has at most {MOST_RUNS:,}",
        )
        require(
            len(self.name.encode()) <= LONGEST,
            f"name has {len(self.name.encode())} bytes; files are named after it, so it has at "
            f"most {LONGEST}",
        )

    def _check_series(self) -> None:
        labels: dict[str, str] = {}  # by what the series before are known by
        for i, series in enumerate(self.series, start=1):
            label: Any = series.get("label")
            require(
                isinstance(label, str) and label.isprintable() and slug(label),
                f"series {i} has the label {label!r}; it must be a text with a letter or a digit "
                "that names it",
            )
            tag = series.get("tag", slug(label))
            require(
                isinstance(tag, str) and tag and slug(tag) == tag,
                f"series {i} has the tag {tag!r}; it must be made of small letters, digits and "
                ". + - _",
            )
            for key in {tag, slug(label)}:
                require(
                    key not in labels,
                    f"series {i} has the label {label!r}, too much like {labels.get(key)!r}; "
                    "labels and tags must differ",
                )
                labels[key] = label
            for name in self.vary:
                require(
                    name not in series,
                    f"series {label!r} sets {name}, which vary sets too; it must be in one of them",
                )

    @cached_property
    def axes(self) -> dict[str, list[Any]]:
        return {name: axis(name, values) for name, values in self.vary.items()}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every series at every point of the grid."""
        common = locate_problem(self.problem, self.folder)
        options = METHODS[self.method].problems.options(common)
        settings = [
            references.locate({**self.settings, **series}, self.folder) for series in self.series
        ]
        names = [(chosen.pop("label"), chosen.pop("tag", "")) for chosen in settings]
        cells = []
        for point in itertools.product(*self.axes.values()):
            values = dict(zip(self.axes, point, strict=True))
            problem = common | {name: value for name, value in values.items() if name in options}
            varied = references.locate(
                {name: value for name, value in values.items() if name not in options}, self.folder
            )
            cells += [
                Cell(
                    self.name, label, values, self.method, problem, chosen | varied, self.seed, tag
                )
                for (label, tag), chosen in zip(names, settings, strict=True)
            ]
        return cells

    @cached_property
    def digest(self) -> str:
        """A stable hash of what is run, apart from the number of runs."""
        return text_digest(canonical([cell.digest for cell in self.cells]))

    def scaled(
        self, *, runs: int | None = None, points: int | None = None, length: float = 1.0
    ) -> Self:
        """A smaller copy: fewer runs, every coordinate thinned to `points` values, shorter runs."""
        settings, vary = dict(self.settings), dict(self.vary)
        unit = METHODS[self.method].unit
        if unit in settings:
            settings[unit] = max(1, round(settings[unit] * length))
        if points is not None:
            for name, values in self.axes.items():
                kept = np.unique(np.linspace(0, len(values) - 1, points).round().astype(int))
                vary[name] = [values[i] for i in kept]
        return replace(self, runs=self.runs if runs is None else runs, settings=settings, vary=vary)

    @classmethod
    def from_toml(cls, path: str | Path, *, trust: bool = False) -> Self:
        """Read a file; an error names the file, the field and what is allowed.

        A file that names Python code, "file.py:name", runs it as soon as it is read: it is refused
        without `trust`.
        """
        path = Path(path)
        try:
            data = tomllib.loads(files.read_file(path, MOST_BYTES).decode())
        except RecursionError:
            raise InputError(f"{path} is nested too deep") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} cannot be read ({getattr(error, 'strerror', None) or error})"
            ) from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not TOML: {error}") from None
        keys = [f.name for f in fields(cls) if f.name != "folder"]
        try:
            check_names(data, "unknown key {!r}", dict.fromkeys(keys))
            for key in ("name", "method", "problem", "series"):
                require(key in data, f"{key} is missing; the keys are {', '.join(keys)}")
            code = "" if trust else ", ".join(references.code_in(data))
            require(
                not code,
                f"it runs code of others, {code}; if you trust that code, give --trust "
                "(in Python trust=True)",
            )
            experiment = cls(**data, folder=path.parent)
            _ = experiment.digest  # every cell is checked
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return experiment
