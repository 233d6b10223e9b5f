"""The interactive report: panels, claims, differences and provenance in one HTML file that needs
nothing else.

This module decides what is shown, turns panels into the data of their charts, and counts who made
the runs, when and with what; `report.html` is the template of the page, with the script that draws
a chart once it comes into view. Names come from users: the template escapes whatever it is given.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from jekyllhyde import __version__
from jekyllhyde.errors import need, require
from jekyllhyde.files import prepare_folder, write_text
from jekyllhyde.lab import figures, markdown
from jekyllhyde.lab.agreement import compare_with_published, published, worst_first
from jekyllhyde.lab.draw import DASHES, note, styles
from jekyllhyde.lab.exploration import panels as exploration
from jekyllhyde.lab.interval_drawing import interval_svg
from jekyllhyde.lab.judgement import among, judge
from jekyllhyde.lab.panel import Curves, Others, Panel
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_files import Held
from jekyllhyde.lab.verdicts import VERDICTS
from jekyllhyde.mdp.finite import Floats, Ints

WORST_FIRST = ("contradicted", "undecided", "partly", "supported", "not testable")
OWN, EXPLORATION = "Own experiments", "Exploration"
MAKER = ("version", "commit", "machine", "python")
MOST_POINTS = 500  # about as many as a chart is wide
STATISTICS = {
    "mean": "mean",
    "median": "median",
    "decile": "lowest decile",
    "iqm": "interquartile mean",
}


def write_page(
    curves: Sequence[Curves],
    path: Path,
    store: Store,
    skipped: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Write the report on these panels to `path`; `skipped` are panels that it lacks, by reason.

    The same panels from the same store give the same file, byte for byte.
    """
    need("plot")
    import jinja2
    from plotly.offline import get_plotlyjs

    require(curves, "there is no panel to report on; a report needs at least one")
    prepare_folder(path.parent)
    others = among(curves)
    panels = [_shown(one, others) for one in curves]
    groups: dict[str, list[dict[str, Any]]] = {}
    for panel in panels:
        groups.setdefault(panel["group"], []).append(panel)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters |= {
        "slug": lambda text: re.sub(r"\W+", "-", text.lower()),
        "commas": "{:,.0f}".format,
        "inline": markdown.inline,
    }
    template = (files("jekyllhyde.lab") / "report.html").read_text(encoding="utf-8")
    write_text(
        path,
        environment.from_string(template).render(
            is_paper=bool(groups.keys() - {OWN, EXPLORATION}),
            panels=panels,
            groups=[
                (group, _about(group).strip().split("\n\n"), members)
                for group, members in groups.items()
            ],
            verdicts=Counter(claim["verdict"] for panel in panels for claim in panel["claims"]),
            all_verdicts=VERDICTS,
            sorted_claims=sorted(
                ((panel, claim) for panel in panels for claim in panel["claims"]),
                key=lambda pair: WORST_FIRST.index(pair[1]["verdict"]),
            ),
            agreements=worst_first(
                {shown["panel"].name: shown["agreement"] for shown in panels if shown["agreement"]}
            ),
            runs_of={shown["panel"].name: shown["runs"] for shown in panels},
            provenance=provenance([one.panel for one in curves], store),
            maker=MAKER,
            differences=differences(),
            skipped=skipped or {},
            dashes={name: dashes for name, (_, dashes) in DASHES.items()},
            version=__version__,
            plotly=get_plotlyjs(),
        ),
    )
    return path


def differences() -> str:
    """The differences from the paper as HTML, without the text's own title; empty where the package
    has no such text.
    """
    file = files("jekyllhyde.lab") / "differences.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return markdown.html(re.sub(r"\A\s*# .*\n", "", text))


def _group(panel: Panel) -> str:
    # The heading of a panel: the paper's figure that it belongs to, such as Figure 16 for
    # 16a-jekyll.
    if panel.name in figures.PANELS:
        return "Figure " + re.sub(r"\D.*", "", panel.name)
    return EXPLORATION if panel.name in exploration.PANELS else OWN


def _about(group: str) -> str:
    # What is said of a figure: the text of its module.
    name = f"figure{group.rsplit(maxsplit=1)[-1]:>02}"
    module = exploration if group == EXPLORATION else getattr(figures, name, None)
    return (module and module.__doc__) or group


def _shown(curves: Curves, others: Others) -> dict[str, Any]:
    # A panel as the template shows it.
    from markupsafe import Markup

    panel = curves.panel
    return {
        "panel": panel,
        "group": _group(panel),
        "runs": curves.runs,
        "claims": [
            {**record, "drawing": Markup(interval_svg(record["parts"]))}
            for record in (claim.record() for claim in judge(curves, others))
        ],
        "chart": chart(curves),
        "agreement": compare_with_published(curves) if panel.published else None,
        "looks": {curves.labels[tag]: look for tag, look in styles(list(curves.y)).items()},
        "basis": note(curves) + ("" if panel.exact else f", {STATISTICS[panel.statistic]}"),
    }


def chart(curves: Curves) -> dict[str, Any]:
    """A panel's chart: five digits, and no more points than can be seen."""
    panel = curves.panel
    timed, words = panel.kind == "time", panel.words
    exact = panel.exact or curves.runs < 2
    x: Floats = np.arange(len(curves.x), dtype=np.float64) if words else curves.x
    shown = visible(x, panel.logx)
    series = []
    for tag, style in styles(list(curves.y)).items():
        lines = {"y": curves.y[tag]}
        if not exact:
            lines |= {"lo": curves.lo[tag], "hi": curves.hi[tag]}
        if timed:
            lines |= {
                "median": np.median(curves.samples[tag], axis=0),
                "censored": curves.censored[tag],
            }
        series.append(
            {"label": curves.labels[tag], **style._asdict()}
            | {name: rounded(line[shown]) for name, line in lines.items()}
        )
    return {
        "xlabel": panel.xlabel,
        "ylabel": panel.ylabel,
        "x": rounded(x[shown], 7),
        "words": words,
        "logx": panel.logx and not words,
        "cap": curves.cap if timed else None,
        "xlim": panel.xlim,
        "ylim": panel.ylim,
        "exact": exact,
        "statistic": STATISTICS[panel.statistic],
        "series": series,
        "published": [
            {"label": label, "x": rounded(known[label][0], 7), "y": rounded(known[label][1])}
            for label in curves.labels.values()
            if label in (known := published(panel.published))
        ],
    }


def visible(x: Floats, logarithmic: bool) -> Ints:
    """Which points of an axis to draw: of many, those that follow `MOST_POINTS` equally spaced
    places, both ends among them.
    """
    if len(x) <= MOST_POINTS or (np.diff(x) < 0).any():
        return np.arange(len(x))
    along = np.log(x) if logarithmic and x[0] > 0 else x
    places = np.linspace(along[0], along[-1], MOST_POINTS)
    return np.unique(np.searchsorted(along, places).clip(max=len(x) - 1))


def rounded(values: Iterable[float], digits: int = 5) -> list[float | None]:
    """Numbers to so many significant digits, None where they are not finite: JSON has no word for
    that.
    """
    return [
        None if not math.isfinite(value) else int(value) if value.is_integer() else value
        for value in (float(f"{value:.{digits}g}") for value in values)
    ]


# Where the runs come from.


@dataclass(frozen=True)
class Tally:
    """Runs, how many of them failed, the seconds that they took, and from when to when they were
    stored.
    """

    runs: int
    failed: int
    seconds: float
    days: str


@dataclass(frozen=True)
class Provenance:
    """What a store knows about some panels: by panel, by maker (version, commit, machine, Python),
    and in all.
    """

    panels: dict[str, Tally]
    makers: dict[tuple[str, ...], Tally]
    total: Tally


def provenance(panels: Sequence[Panel], store: Store) -> Provenance:
    """Count the runs of these panels' cells.

    A part's seconds go to its runs in equal shares. Runs that two panels share count for both, and
    once in all.
    """
    about = cache(store.provenance)
    sizes = {part: sum(held.runs for held in parts) for part, parts in store.parts.items()}

    def tally(stretches: Sequence[Held]) -> Tally:
        days = sorted(about(held.part)["time"][:10] for held in stretches)
        return Tally(
            runs=sum(held.runs for held in stretches),
            failed=sum(held.failed for held in stretches),
            seconds=sum(
                about(held.part)["seconds"] / sizes[held.part] * held.runs for held in stretches
            ),
            days=" to ".join(dict.fromkeys(days[:1] + days[-1:])),
        )

    shown = {
        panel.name: [
            held for digest in dict.fromkeys(panel.digests) for held in store.cells.get(digest, [])
        ]
        for panel in panels
    }
    total = list(dict.fromkeys(held for stretches in shown.values() for held in stretches))
    makers: dict[tuple[str, ...], list[Held]] = defaultdict(list)
    for held in total:
        makers[tuple(str(about(held.part).get(key) or "unknown") for key in MAKER)].append(held)
    return Provenance(
        {name: tally(stretches) for name, stretches in shown.items()},
        {maker: tally(stretches) for maker, stretches in makers.items()},
        tally(total),
    )
