"""Markdown as the differences from the paper are written in it, as HTML: tables, simple TeX, and of
links the text alone.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any

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
# Greek letters, roots, upper and lower indices; of what else TeX has, the names.
_RULES: tuple[tuple[str, Any], ...] = (
    (r"\\sqrt *{(\w)}", r"√\1"),
    (r"\\sqrt *{([^{}]*)}", r"√(\1)"),
    (r"\\([A-Za-z]+) ?", lambda match: _SYMBOLS.get(match[1], match[1])),
    (r"\\[,;! ]", " "),
    ("-", "−"),
    (r"\s*=\s*", " = "),
    (r"\^(?:{([^{}]*)}|(\w|\*))", r"<sup>\1\2</sup>"),
    (r"_(?:{([^{}]*)}|(\w|\*))", r"<sub>\1\2</sub>"),
    (r"[{}]", ""),
)
_MATHEMATICS = re.compile(r"\$([^$]+)\$")
_BOX = "<div class='box wide' tabindex='0' role='region' aria-label='Table'><table>"


def html(text: str) -> str:
    """Markdown as HTML. Headings start at the third level, below those of the page."""
    tokens = _parser().parse(_without_roles(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    return str(_parser().renderer.render(tokens, _parser().options, {}))


def inline(text: str) -> Any:
    """A line of Markdown, safe to be shown."""
    from markupsafe import Markup

    return Markup(_parser().renderInline(_without_roles(" ".join(text.split()))))


def _without_roles(text: str) -> str:
    return re.sub(r"\{\w+\}(?=`)", "", text)  # such as {doc}`page`


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser: Any = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("escape", "mathematics", _read_mathematics)
    parser.renderer.rules |= {
        "mathematics": lambda tokens, i, *_: _mathematics(tokens[i].content),
        "table_open": lambda *_: _BOX,
        "table_close": lambda *_: "</table></div>",
        "link_open": lambda *_: "<span>",
        "link_close": lambda *_: "</span>",
    }
    return parser


def _read_mathematics(state: Any, silent: bool) -> bool:
    match = _MATHEMATICS.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("mathematics", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _mathematics(tex: str) -> str:
    text = escape(tex)
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    return f"<i>{text}</i>" if re.search(r"[^\W\d_]", tex) else text
