"""A panel's numbers as files: what is written beside its picture, and read to draw it again without
any run.

`P.csv` has a line for each series and place, `P.claims.json` the claims as they were judged; they
are not judged anew, for that takes runs. docs/results has the same of the paper's panels, with
fewer places and digits, and in `made.json` the digest of the experiment behind each. Until version
0.9 the columns of `jh figure` were those that are needed.
"""

import contextlib
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde.errors import InputError, missing, plain, require
from jekyllhyde.files import read_file, read_json, refused
from jekyllhyde.intervals import Floats
from jekyllhyde.lab.cell_settings import short
from jekyllhyde.lab.panel import Claim, Curves, Panel
from jekyllhyde.lab.suite import Suite
from jekyllhyde.lab.verdicts import VERDICTS, Estimate, JudgedClaim, Part

NEEDED = ("series", "x", "y", "lo", "hi")
COLUMNS = (*NEEDED, "median", "censored", "runs", "failed")
UNKNOWN = {"censored": "nan", "runs": "0", "failed": "0"}  # where a file does not say
MADE = "made.json"
MOST = 1 << 26  # bytes of a file
LARGEST = 1e100  # number, beyond which scales overflow
PART = set(Part("", "", Estimate(0.0, 0.0, 0.0), None).record())


@dataclass(frozen=True)
class Numbers:
    """What a folder has of a panel.

    curves : without samples.
    text : the CSV that they are from.
    claims : the records of the panel's claims, in the words of today.
    is_current : whether the numbers are of the panel's present settings; None where nobody says.
    """

    curves: Curves
    text: str
    claims: list[dict[str, Any]]
    is_current: bool | None


def numbers_text(curves: Curves, places: Sequence[int] | None = None, digits: int = 10) -> str:
    """The CSV of a panel: all places or these, with so many digits."""
    axis = curves.panel.words or [f"{x:.{digits}g}" for x in curves.x]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for tag, label in curves.labels.items():
        samples = curves.samples[tag]
        median, failed = np.median(samples, axis=0), curves.failures.get(tag, 0)
        lines = (curves.y[tag], curves.lo[tag], curves.hi[tag], median, curves.censored[tag])
        for i in range(len(axis)) if places is None else places:
            values = (f"{line[i]:.{digits}g}" for line in lines)
            writer.writerow((label, axis[i], *values, len(samples), failed))
    return file.getvalue()


def read_numbers(panels: Mapping[str, Panel], folder: Path) -> dict[str, Numbers]:
    """What a folder has of these panels, by name and in their order; those that it has no P.csv of
    are left out.
    """
    with refused(plain(f"numbers is {str(folder)!r}; it cannot be read")):
        there = {path.name for path in folder.iterdir()}
    made = _read_made(folder / MADE) if MADE in there else {}
    return {
        name: _read(panel, folder, made)
        for name, panel in panels.items()
        if f"{panel.name}.csv" in there
    }


def _read(panel: Panel, folder: Path, made: Mapping[str, str]) -> Numbers:
    path = folder / f"{panel.name}.csv"
    with _named(path):
        text = read_file(path, MOST).decode("utf-8-sig")
        curves = _curves(_shown(panel), text)
    path = folder / f"{panel.name}.claims.json"
    with _named(path):
        claims = _claims(panel.claims, read_json(path, MOST))
    # settings are told where what they are of is installed
    digest = None if missing(panel.method.extra) else made.get(panel.name)
    is_current = None if digest is None else digest == panel.experiment.digest
    return Numbers(curves, text, claims, is_current)


def _read_made(path: Path) -> dict[str, str]:
    with _named(path):
        made = read_json(path, MOST)
        require(isinstance(made, dict), "it must be an object: by panel a digest")
    return dict(made)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    # Whatever is wrong with a file is one sentence that names it.
    try:
        yield
    except InputError as error:
        raise InputError(plain(f"{path}: {error}")) from None
    except RecursionError:
        raise InputError(plain(f"{path} is nested too deep")) from None
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(plain(f"{path} cannot be read ({reason})")) from None


def _shown(panel: Panel) -> Panel:
    # The panel as it is drawn. What a view shows, it says of numbers alone: of one run of ones.
    if panel.view is None:
        return panel
    ones = np.ones(max(map(len, panel.cells.values())))
    lines, samples = (dict.fromkeys(panel.labels, values) for values in (ones, ones[None]))
    none = dict.fromkeys(panel.labels, 0)
    return panel.view(
        Curves(panel, ones.cumsum(), samples, lines, lines, lines, lines, none, 1)
    ).panel


def _curves(panel: Panel, text: str) -> Curves:
    # The curves of those of the panel's series that the CSV has.
    by_label = _lines(text, panel.words)
    labels = panel.labels
    for label, lines in by_label.items():
        require(
            label in labels.values(),
            f"it has the series {label!r}; panel {panel.name} has {', '.join(labels.values())}",
        )
        _check(label, lines)
    columns = {tag: by_label[label].T for tag, label in labels.items() if label in by_label}
    x = next(iter(columns.values()))[0]
    require(
        all(np.array_equal(lines[0], x) for lines in columns.values()),
        "its series have values at different places",
    )
    require(panel.kind != "curve" or (np.diff(x) >= 0).all(), "its x goes down")
    y, lo, hi, censored, runs, failed = (
        {tag: lines[i] for tag, lines in columns.items()} for i in range(1, 7)
    )
    require(any(np.isfinite(line).any() for line in y.values()), "its y has no number")
    if words := panel.words:
        places = np.unique(x).astype(int)
        narrowed = _only(panel, [words[place] for place in places])
        if narrowed.words:  # not if what is left is numbers
            panel, x = narrowed, np.searchsorted(places, x).astype(np.float64)
    return Curves(
        panel=replace(panel, series=tuple(columns)),
        x=x,
        samples={},
        y=y,
        lo=lo,
        hi=hi,
        censored=censored,
        failures={tag: int(counts[0]) for tag, counts in failed.items()},
        runs=int(min(counts.min() for counts in runs.values())),
    )


def _only(panel: Panel, words: Sequence[str]) -> Panel:
    # The panel with these places on its axis of words.
    experiment = panel.experiment
    name, values = next(iter(experiment.axes.items()))
    kept = [value for value in values if short(value) in words]
    if isinstance(experiment, Suite):
        return replace(panel, experiment=experiment.only(*kept))
    return replace(panel, experiment=replace(experiment, vary={**experiment.vary, name: kept}))


def _lines(text: str, words: Sequence[str] | None) -> dict[str, Floats]:
    # By label the lines of a CSV: x, y, lo, hi, and what is UNKNOWN in some. x is the number of a
    # word, where the axis has words.
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    head = next(rows, [])
    require(head, "it is empty")
    lacking = [name for name in NEEDED if name not in head]
    require(
        not lacking,
        f"it has no column {', '.join(lacking)}; its columns must be {', '.join(COLUMNS)}",
    )
    lines: dict[str, list[list[float]]] = {}
    for row in rows:
        if row:
            require(
                len(row) == len(head),
                f"line {rows.line_num} has {len(row)} entries; it must have {len(head)}",
            )
            entries = {**UNKNOWN, **dict(zip(head, row, strict=True))}
            try:
                numbers = [_number(entries, name, words) for name in (*NEEDED[1:], *UNKNOWN)]
            except InputError as error:
                raise InputError(f"line {rows.line_num}: {error}") from None
            lines.setdefault(entries["series"], []).append(numbers)
    require(lines, "it has no line below its head")
    return {label: np.array(numbers) for label, numbers in lines.items()}


def _number(entries: Mapping[str, str], name: str, words: Sequence[str] | None) -> float:
    text = entries[name]
    if name == "x" and words:
        require(text in words, f"x is {text!r}; it must be one of {', '.join(words)}")
        return float(words.index(text))
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} is {text!r}; it must be a number") from None


def _check(label: str, lines: Floats) -> None:
    # Places and counts must be what they can be; a value may be nan, where nothing was defined.
    x, _, _, _, censored, *counts = lines.T
    for holds, sentence in (
        (np.isfinite(x), "x must be finite"),
        (~((np.abs(lines) > LARGEST) & np.isfinite(lines)), "a number is too large to be drawn"),
        (~((censored < 0) | (censored > 1)), "censored must be a share"),
        *(((n >= 0) & (n < 1e15) & (n == n.round()), "runs and failed are counts") for n in counts),
    ):
        require(holds.all(), f"series {label!r}: {sentence}")


def _claims(claims: Sequence[Claim], records: Any) -> list[dict[str, Any]]:
    # The records of these claims, and of one that came after the runs that it is not judged.
    require(
        isinstance(records, list) and all(map(_is_record, records)),
        f"it must be a list of claims with id, measured, parts and verdict, which is one of "
        f"{', '.join(VERDICTS)}",
    )
    found = {record["id"]: record for record in records}
    return [
        found.get(claim.id, JudgedClaim(claim.id, "", "undecided", (), "not run yet").record())
        | {"claim": claim.text, "place": claim.place}
        for claim in claims
    ]


def _is_record(record: Any) -> bool:
    # The parts of version 0.4 were not kept.
    return (
        isinstance(record, dict)
        and isinstance(record.get("id"), str)
        and isinstance(record.get("measured"), str)
        and record.get("verdict") in VERDICTS
        and isinstance(record.get("parts", []), list)
        and all(isinstance(part, dict) and set(part) >= PART for part in record.get("parts", []))
    )
