"""The interactive report: panels, claims, differences and provenance in one HTML file that needs
nothing else.

This module decides what is shown and turns a panel into the data of its chart; `page` writes the
HTML, `report.html` is the page around it with the script that draws a chart once it comes into
view.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import __version__
from jekyllhyde.errors import InputError
from jekyllhyde.files import prepare_folder
from jekyllhyde.lab import figures, markdown, page
from jekyllhyde.lab.draw import styles
from jekyllhyde.lab.page import Shown
from jekyllhyde.lab.panel import Curves, Panel, judge
from jekyllhyde.lab.provenance import provenance
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.values import short
from jekyllhyde.mdp.finite import Floats

MOST_POINTS = 500  # about as many as a chart is wide
OWN = "Own experiments"


def write(curves: Sequence[Curves], path: Path, store: Store, skipped: Sequence[str] = ()) -> Path:
    """Write the report on these panels to `path`; `skipped` are panels that the store has too
    little for.

    The same panels from the same store give the same file, byte for byte.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise InputError("the report needs plotly; install jekyllhyde[plot]") from None
    if not curves:
        raise InputError("there is no panel to report on; a report needs at least one")
    prepare_folder(path.parent)
    text = _html(curves, store, skipped, get_plotlyjs())
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(
            f"the report cannot be written to {str(path)!r} ({error.strerror})"
        ) from None
    return path


def has(store: Store, panel: Panel) -> bool:
    """Whether the store has at least one run of each of the panel's cells."""
    labels = set(panel.labels)
    return all(
        0 in store.present(cell.digest) for cell in panel.experiment.cells if cell.label in labels
    )


def differences() -> str:
    """The differences from the paper as HTML, without the text's own title; empty where the package
    has no such text.
    """
    text = files("jekyllhyde.lab") / "differences.md"
    return (
        markdown.html(re.sub(r"\A\s*# .*\n", "", text.read_text(encoding="utf-8")))
        if text.is_file()
        else ""
    )


def _html(curves: Sequence[Curves], store: Store, skipped: Sequence[str], plotly: str) -> str:
    docs = {
        panel.name: (figure.__doc__ or "").strip()
        for figure in figures.FIGURES
        for panel in figure.PANELS
    }
    panels = [Shown(i, _group(one.panel.name), one, judge(one)) for i, one in enumerate(curves)]
    groups: dict[str, list[Shown]] = {}
    for one in panels:
        groups.setdefault(one.group, []).append(one)
    found = provenance([one.panel for one in curves], store)
    ours = list(groups) != [OWN]
    sections = {
        page.slug(group): (group, page.figure(docs.get(some[0].name) or group, some))
        for group, some in groups.items()
    }
    if any(one.claims for one in panels):
        sections["claims"] = ("Claims", page.claims(panels, list(groups)))
    if ours and (text := differences()):
        sections["differences"] = ("Differences", f"<h2>Differences from the paper</h2>{text}")
    sections["provenance"] = ("Provenance", page.provenance(panels, found))
    content = {
        "title": "The figures of “Dr Jekyll and Mr Hyde”, remade" if ours else "Experiments",
        "numbers": page.numbers(panels, found.total, skipped),
        "nav": page.navigation({id: name for id, (name, _) in sections.items()}),
        "sections": "\n".join(
            f"<section id='{id}'>{html}</section>" for id, (_, html) in sections.items()
        ),
        "version": __version__,
        "data": "\n".join(page.data(one.place, embedded(chart(one.curves))) for one in panels),
        "plotly": plotly,
    }
    template = (files("jekyllhyde.lab") / "report.html").read_text(encoding="utf-8")
    return re.sub(
        r"\{\{(\w+)\}\}", lambda match: content[match[1]], template
    )  # in one go: what is put in is not searched


def _group(panel: str) -> str:
    """The figure of the paper that a panel belongs to, such as Figure 16 for 16a-jekyll."""
    return "Figure " + re.sub(r"\D.*", "", panel) if panel in figures.PANELS else OWN


# What a chart is drawn from.


def chart(curves: Curves) -> dict[str, Any]:
    """A panel's chart as data: five digits, and no more points than can be seen."""
    panel = curves.panel
    timed, words = panel.kind == "time", _words(curves)
    exact = panel.exact or curves.runs < 2
    x: Floats = np.arange(len(curves.x), dtype=np.float64) if words else curves.x
    shown = visible(x, panel.logx)
    series = []
    for label, style in styles(list(curves.y)).items():
        one: dict[str, Any] = {
            "label": label,
            **style._asdict(),
            "y": rounded(curves.y[label][shown]),
        }
        if not exact:
            one |= {"lo": rounded(curves.lo[label][shown]), "hi": rounded(curves.hi[label][shown])}
        if timed:
            median = np.median(curves.samples[label], axis=0)
            one |= {
                "median": rounded(median[shown]),
                "censored": rounded(curves.censored[label][shown]),
            }
        series.append(one)
    return {
        "xlabel": panel.xlabel,
        "ylabel": panel.ylabel,
        "x": rounded(x[shown], 7),
        "words": words,
        "logx": panel.logx and not words,
        "cap": curves.cap if timed else None,
        "ylim": panel.ylim,
        "exact": exact,
        "statistic": page.STATISTICS[panel.statistic],
        "series": series,
    }


def _words(curves: Curves) -> list[str] | None:
    """The names of the places along an axis that is not one of numbers."""
    cells = [cell for cell in curves.panel.experiment.cells if cell.label == next(iter(curves.y))]
    if curves.panel.kind == "curve" or all(cell.x is not None for cell in cells):
        return None
    return [short(next(iter(cell.values.values()), "")) for cell in cells]


def visible(x: Floats, logarithmic: bool) -> NDArray[np.int64]:
    """Which points of an axis to draw: of many, those that follow `MOST_POINTS` equally spaced
    places, both ends among them.
    """
    if len(x) <= MOST_POINTS or (np.diff(x) < 0).any():
        return np.arange(len(x))
    along = np.log(x) if logarithmic and x[0] > 0 else x
    return np.unique(
        np.searchsorted(along, np.linspace(along[0], along[-1], MOST_POINTS)).clip(max=len(x) - 1)
    )


def rounded(values: Iterable[float], digits: int = 5) -> list[float | None]:
    """Numbers to so many significant digits, None where they are not finite: JSON has no word for
    that.
    """
    found = [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]
    return [int(value) if value is not None and value.is_integer() else value for value in found]


def embedded(data: Any) -> str:
    """JSON that can stand in a page: nothing in it ends the script element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
