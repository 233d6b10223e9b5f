"""As much of Markdown as the differences from the paper need, as HTML: headings, paragraphs, lists,
tables, code, simple TeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_SYMBOLS = {
    "gamma": "γ",
    "beta": "β",
    "eta": "η",
    "lambda": "λ",
    "pi": "π",
    "theta": "θ",
    "nu": "ν",
    "epsilon": "ε",
    "varepsilon": "ε",
    "lvert": "|",
    "rvert": "|",
    "le": "≤",
    "ge": "≥",
    "leq": "≤",
    "geq": "≥",
    "times": "×",
    "cdot": "·",
    "approx": "≈",
    "sim": "∼",
    "infty": "∞",
    "sum": "∑",
    "sqrt": "√",
    "in": "∈",
    "to": "→",
    "dots": "…",
    "ldots": "…",
    "pm": "±",
    "star": "*",
    "log": "log ",
    "max": "max ",
    "min": "min ",
    "mathrm": "",
    "text": "",
    "left": "",
    "right": "",
    "quad": " ",
}
_INLINE = re.compile(
    r"`([^`]+)`|\$([^$]+)\$|\*\*([^*]+)\*\*|(?<!\*)\*([^*\s][^*]*)\*(?!\*)|\[([^\]]+)\]\([^)]*\)"
)
_HEADING, _ITEM, _RULE = (
    re.compile(r"(#+)\s+(.*)"),
    re.compile(r"[-*]\s+"),
    re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?"),
)


def html(text: str) -> str:
    """Markdown as HTML. Headings start at the third level, below those of the page."""
    return "\n".join(_block(block) for block in re.split(r"\n\s*\n", text.strip()) if block.strip())


def table(lines: Sequence[str]) -> str:
    """The lines of a table (head, rule, rows) as an HTML table."""
    head, _, *rows = [_cells(line) for line in lines]
    top = "".join(f"<th scope='col'>{inline(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    inner = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='box wide' tabindex='0' role='region' aria-label='Table'>{inner}</div>"


def inline(text: str) -> str:
    """Code, mathematics, emphasis; of a link its text. Everything else is shown as it is."""
    text = re.sub(r"\{\w+\}(?=`)", "", text)  # a role, such as {doc}`page`
    found, end = "", 0
    for match in _INLINE.finditer(text):
        code, tex, strong, emphasis, link = match.groups()
        found += escape(text[end : match.start()])
        if code is not None:
            found += f"<code>{escape(code)}</code>"
        elif tex is not None:
            found += _mathematics(tex)
        else:
            tag = "strong" if strong is not None else "em" if emphasis is not None else "span"
            found += f"<{tag}>{inline(strong or emphasis or link)}</{tag}>"
        end = match.end()
    return found + escape(text[end:])


def _block(block: str) -> str:
    lines = block.strip().splitlines()
    heading = _HEADING.fullmatch(lines[0])
    if heading:
        level, rest = min(len(heading[1]) + 2, 6), "\n".join(lines[1:])
        return f"<h{level}>{inline(heading[2])}</h{level}>" + (
            "\n" + html(rest) if rest.strip() else ""
        )
    if len(lines) > 1 and "|" in lines[0] and _RULE.fullmatch(lines[1].strip()):
        return table(lines)
    if _ITEM.match(lines[0]):
        items = re.split(r"\n(?=[-*]\s)", "\n".join(lines))
        return (
            "<ul>"
            + "".join(f"<li>{inline(_joined(_ITEM.sub('', item, count=1)))}</li>" for item in items)
            + "</ul>"
        )
    return f"<p>{inline(_joined(block))}</p>"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _cells(line: str) -> list[str]:
    """A row's cells; a bar after a backslash or within code is no border."""
    parts = re.split(
        r"(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", line.strip().removeprefix("|").removesuffix("|")
    )
    return [part.strip().replace("\\|", "|") for part in parts]


def _mathematics(tex: str) -> str:
    """Greek letters, roots, upper and lower indices; of what else TeX has, the names."""
    found = re.sub(r"\\sqrt *{(\w)}", r"√\1", escape(tex))
    found = re.sub(r"\\sqrt *{([^{}]*)}", r"√(\1)", found)
    found = re.sub(r"\\([A-Za-z]+) ?", lambda match: _SYMBOLS.get(match[1], match[1]), found)
    found = re.sub(r"\\[,;! ]", " ", found).replace("-", "−")
    found = re.sub(r"\s*=\s*", " = ", found)
    for sign, tag in (("\\^", "sup"), ("_", "sub")):
        found = re.sub(rf"{sign}(?:{{([^{{}}]*)}}|(\w|\*))", rf"<{tag}>\1\2</{tag}>", found)
    found = re.sub(r"[{}]", "", found)
    return f"<i>{found}</i>" if re.search(r"[^\W\d_]", tex) else found
