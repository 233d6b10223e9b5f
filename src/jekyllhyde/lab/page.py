"""The HTML of the report's parts. Names come from users: whatever is shown is escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from jekyllhyde.lab import markdown
from jekyllhyde.lab.draw import Style, note, styles
from jekyllhyde.lab.panel import Curves
from jekyllhyde.lab.provenance import MAKER, Provenance, Tally

VERDICTS = ("supported", "partly", "contradicted", "not testable")
STATISTICS = {
    "mean": "mean",
    "median": "median",
    "decile": "lowest decile",
    "iqm": "interquartile mean",
}
_DASHES = {"solid": "", "dash": "7 4", "dashdot": "7 3 2 3", "dot": "2 3", "longdash": "11 4"}
_TALLIED = "<th class='number'>runs</th><th class='number'>failed</th><th class='number'>seconds</th><th>stored on</th>"


@dataclass(frozen=True)
class Shown:
    """A panel in the report: its place, its group, its numbers, and the claims about it with their
    verdicts.
    """

    place: int
    group: str
    curves: Curves
    claims: list[dict[str, str]]

    @property
    def name(self) -> str:
        """The panel's."""
        return self.curves.panel.name

    @property
    def link(self) -> str:
        """To the panel."""
        return f"<a href='#panel-{escape(self.name)}'>{escape(self.name)}</a>"


def slug(text: str) -> str:
    """A text as an id or a class."""
    return re.sub(r"\W+", "-", text.lower())


def navigation(sections: Mapping[str, str]) -> str:
    """Links to the sections, by their ids."""
    return "".join(f"<li><a href='#{id}'>{escape(name)}</a></li>" for id, name in sections.items())


def data(place: int, json: str) -> str:
    """A chart's data."""
    return f"<script type='application/json' id='data-{place}'>{json}</script>"


def numbers(panels: Sequence[Shown], total: Tally, skipped: Sequence[str]) -> str:
    """The report in numbers, and what is not in it."""
    verdicts = Counter(claim["verdict"] for one in panels for claim in one.claims)
    found = {"panels": len(panels), "runs": total.runs, "failed runs": total.failed}
    if verdicts:
        found |= {"claims": verdicts.total()} | {
            badge(verdict): verdicts[verdict] for verdict in VERDICTS
        }
    missing = f"<p>Not made, for lack of runs: {escape(', '.join(skipped))}.</p>" if skipped else ""
    return f"<ul class='numbers'>{''.join(f'<li><b>{count:,}</b> {name}</li>' for name, count in found.items())}</ul>{missing}"


def badge(verdict: str) -> str:
    """A verdict, marked by its colour."""
    return f"<span class='verdict {slug(verdict)}'>{escape(verdict)}</span>"


# Panels.


def figure(text: str, panels: Sequence[Shown]) -> str:
    """A figure's panels under a heading, the first paragraph of `text`."""
    heading, *more = text.split("\n\n")
    about = "".join(f"<p class='soft'>{markdown.inline(' '.join(one.split()))}</p>" for one in more)
    heading = markdown.inline(" ".join(heading.split()).removesuffix("."))
    return f"<h2>{heading}</h2>{about}<div class='panels'>{''.join(panel(one) for one in panels)}</div>"


def panel(one: Shown) -> str:
    """Title, the chart's place, a button per series, and the claims."""
    shown, looks = one.curves.panel, styles(list(one.curves.y))
    name = escape(shown.name)
    basis = note(one.curves) + ("" if shown.exact else f", {STATISTICS[shown.statistic]}")
    alt = f"Chart of panel {shown.name}, {shown.title}: {shown.ylabel} against {shown.xlabel}; series {', '.join(looks)}"
    buttons = "".join(_button(i, label, style) for i, (label, style) in enumerate(looks.items()))
    if len(looks) > 2:
        buttons += "<button type='button' data-all>all</button>"
    return (
        f"<figure class='panel' id='panel-{name}' data-place='{one.place}'>"
        f"<figcaption><h3>{name}&ensp;{escape(shown.title)}</h3><span class='soft'>{escape(basis)}</span></figcaption>"
        f"<div class='chart' role='img' aria-label='{escape(alt)}'></div>"
        f"<div class='legend' role='group' aria-label='Series of panel {name}'>{buttons}</div>{_claims_below(one)}</figure>"
    )


def _button(i: int, label: str, style: Style) -> str:
    width, dash = 1.5 * style.width, _DASHES[style.dash]
    line = f"<path d='M0 5h28' stroke='{style.colour}' stroke-width='{width}' stroke-dasharray='{dash}'/>"
    cross = f"<path d='M11 2l6 6m0-6l-6 6' stroke='{style.colour}'/>" if style.marker else ""
    swatch = f"<svg width='28' height='10' aria-hidden='true'>{line}{cross}</svg>"
    return f"<button type='button' aria-pressed='true' data-series='{i}'>{swatch}<span>{escape(label)}</span></button>"


def _claims_below(one: Shown) -> str:
    items = [
        f"<li><details><summary>{badge(claim['verdict'])} {escape(claim['claim'])}</summary>"
        f"<div class='measured'>{escape(claim['measured'])}</div></details></li>"
        for claim in one.claims
    ]
    return f"<ul class='claims'>{''.join(items)}</ul>" if items else ""


# Tables.


def claims(panels: Sequence[Shown], groups: Sequence[str]) -> str:
    """All claims in one table, with what filters it."""
    buttons = "".join(
        f"<button type='button' data-verdict='{verdict}' aria-pressed='{'false' if verdict else 'true'}'>{verdict or 'all'} "
        "(<span></span>)</button>"
        for verdict in ("", *VERDICTS)
    )
    options = "".join(
        f"<option value='{escape(group)}'>{escape(group)}</option>" for group in groups
    )
    rows = "".join(
        f"<tr data-verdict='{escape(claim['verdict'])}' data-group='{escape(one.group)}'><td class='short'>{one.link}</td>"
        f"<td>{escape(claim['claim'])}</td><td>{badge(claim['verdict'])}</td><td>{escape(claim['measured'])}</td></tr>"
        for one in panels
        for claim in one.claims
    )
    head = "<th>panel</th><th class='claim'>claim</th><th>verdict</th><th class='measured'>measured</th>"
    return (
        "<h2>Claims</h2><p>A sentence is <em>supported</em> if all that it says holds in these runs, each comparison with its 95 % "
        "interval on one side, and <em>contradicted</em> if nothing does; it holds <em>partly</em> if only some of it does, or if "
        "these runs cannot tell. It is <em>not testable</em> where it needs what the panel does not have.</p>"
        f"<div class='filters'><span class='verdicts' role='group' aria-label='Verdict'>{buttons}</span>"
        f"<select aria-label='Figure'><option value=''>all figures</option>{options}</select>"
        "<input type='search' placeholder='search the claims' aria-label='Search the claims'>"
        f"<span id='shown' role='status'></span></div>{table('Claims', head, rows, 'wide')}"
    )


def table(name: str, head: str, rows: str, kind: str = "") -> str:
    """A table that scrolls within its box, also by keyboard."""
    inner = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div class='box {kind}' tabindex='0' role='region' aria-label='{name}'>{inner}</div>"


def provenance(panels: Sequence[Shown], found: Provenance) -> str:
    """Where the runs come from, by panel and by maker."""
    by_panel = "".join(
        f"<tr><td class='short'>{one.link}</td><td>{escape(one.curves.panel.title)}</td>"
        f"<td class='number'>{one.curves.runs:,}</td>{_tally(found.panels[one.name])}</tr>"
        for one in panels
    )
    by_maker = "".join(
        f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in maker)}{_tally(tally)}</tr>"
        for maker, tally in found.makers.items()
    )
    total = found.total
    return (
        "<h2>Provenance</h2><p>Seconds are the wall time of the tasks that computed the runs, added up; panels that show "
        f"the same runs share them. In all, {total.runs:,} runs took {total.seconds:,.0f} seconds; {total.failed:,} failed.</p>"
        + table(
            "Runs by panel",
            f"<th>panel</th><th>shows</th><th class='number'>runs a point</th>{_TALLIED}",
            by_panel,
        )
        + table("Runs by maker", "".join(f"<th>{key}</th>" for key in MAKER) + _TALLIED, by_maker)
    )


def _tally(tally: Tally) -> str:
    cells = "".join(
        f"<td class='number'>{value:,.0f}</td>"
        for value in (tally.runs, tally.failed, tally.seconds)
    )
    return f"{cells}<td class='short'>{escape(tally.days)}</td>"
