"""A judged claim as a small drawing (SVG): a row per part, the stated range as a grey band, the
estimate as a dot with its interval as a bar, and both in numbers beside them. The name of the part
and what is stated show where the pointer rests, and are read aloud.

Parts are as they are written to files (`P.claims.json`): what, name, y, lo, hi, low, high, decides,
holds; a limit that is null is infinite. Parts of the same quantity share a scale. Those that fail
come first, then those that are open.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from jekyllhyde.plotting import GREEN, RED

WIDTH, HEIGHT, MARGIN, MOST = 110.0, 13.0, 5.0, 8
LETTER = 6.4  # the width of one in the numbers
OPEN, BAND = "#595959", "#dcdcdc"
COLOURS = {True: GREEN, False: RED, None: OPEN}
ORDER = {False: 0, None: 1, True: 2}

PartRecord = Mapping[str, Any]


def interval_svg(parts: Sequence[PartRecord]) -> str:
    """The drawing of the parts that decide, `MOST` of them; nothing where there are none."""
    deciding = _deciding(parts)
    shown = deciding[:MOST]
    if not shown:
        return ""
    rows = [_row(part, i, _scale(part, deciding)) for i, part in enumerate(shown)]
    left_out = len(deciding) - len(shown)
    if left_out:
        rows.append(_text(f"and {left_out} more", len(shown)))
    width = WIDTH + MARGIN + LETTER * max(len(number_of(part)) for part in shown)
    height = HEIGHT * len(rows)
    about = "; ".join(in_words(part) for part in shown)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:g}" '
        f'viewBox="0 0 {width:.0f} {height:g}" role="img"><title>{escape(about)}</title>'
        f"{''.join(rows)}</svg>"
    )


def decisive(parts: Sequence[PartRecord]) -> PartRecord | None:
    """The part on which a verdict rests: one that fails, else one that is open, else the first."""
    return next(iter(_deciding(parts)), None)


def _deciding(parts: Sequence[PartRecord]) -> list[PartRecord]:
    # Those that decide and have a number, failing ones first.
    known = [part for part in parts if part["decides"] and part["y"] is not None]
    return sorted(known, key=lambda part: ORDER[part["holds"]])


def in_words(part: PartRecord) -> str:
    """A part as a text: its name, the estimate with its interval, and what is stated."""
    return f"{part['name']} {number_of(part)}, {stated(part)} stated".strip()


def number_of(part: PartRecord) -> str:
    """The estimate with its interval, or the bound that it is."""
    y, lo, hi = (None if part[key] is None else short(part[key]) for key in ("y", "lo", "hi"))
    if lo is None or hi is None:
        bound = f"{lo} or more" if lo is not None else f"{hi} or less"
        return f"{y}, no interval" if lo is hi else bound
    return f"{y}" if lo == hi else f"{y} [{lo}, {hi}]"


def stated(part: PartRecord) -> str:
    """The range that the sentence states."""
    low, high = part["low"], part["high"]
    if low is None:
        return f"below {short(high)}"
    return f"above {short(low)}" if high is None else f"{short(low)} to {short(high)}"


def short(number: float) -> str:
    """Three digits, and no exponent where a number is large."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _scale(part: PartRecord, parts: Sequence[PartRecord]) -> tuple[float, float]:
    # From the smallest to the largest number of the parts of the same quantity.
    same = [other for other in parts if other["what"] == part["what"]]
    numbers = [other[key] for other in same for key in ("y", "lo", "hi", "low", "high")]
    known = [number for number in numbers if number is not None]
    low, high = min(known), max(known)
    room = 0.15 * (high - low) or 0.1 * abs(low) or 1.0
    return low - room, high + room


def _row(part: PartRecord, i: int, scale: tuple[float, float]) -> str:
    low, high = scale

    def place(value: float | None, end: float) -> float:
        if value is None:
            return end
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (value - low) / (high - low), 1)

    colour, y = COLOURS[part["holds"]], HEIGHT * (i + 0.5)
    first, last = place(part["low"], 0.0), place(part["high"], WIDTH)
    left, right = place(part["lo"], 0.0), place(part["hi"], WIDTH)
    return (
        f'<g pointer-events="bounding-box"><title>{escape(in_words(part))}</title>'
        f'<path d="M{first:g} {y:g}H{last:g}" stroke="{BAND}" stroke-width="{HEIGHT - 1:g}"/>'
        f'<path d="M{left:g} {y:g}H{right:g}" stroke="{colour}" stroke-width="1.6"/>'
        f'<circle cx="{place(part["y"], 0.0):g}" cy="{y:g}" r="2.6" fill="{colour}"/>'
        f"{_text(number_of(part), i)}</g>"
    )


def _text(text: str, i: int) -> str:
    # What stands beside the drawing in a row.
    return (
        f'<text x="{WIDTH + MARGIN:g}" y="{HEIGHT * (i + 0.75):g}" font-size="10" '
        f'font-family="sans-serif" fill="currentColor">{escape(text)}</text>'
    )
