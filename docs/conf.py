"""Sphinx configuration: MyST pages, API from docstrings, mathematics as MathML so that pages need
no network.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx

import jekyllhyde

project = "jekyllhyde"
author = "The jekyllhyde developers"
project_copyright = f"2026, {author}"
release = version = jekyllhyde.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "figures"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = "jekyllhyde"
html_math_renderer = "mathml"
default_role = "literal"
highlight_language = "none"  # of what does not name its language: docstrings, commands
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say types and shapes, with names that readers know
autodoc_preserve_defaults = True

NAMES = r"\w[\w, ]*(?: \[\w+\])?"
ENTRY = re.compile(rf"({NAMES}) : (.*)")
TWO_ENTRIES = re.compile(rf"(?<=\S) {{2,}}(?={NAMES} : )")  # on one line


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext(), display="block"))
    raise nodes.SkipNode


def _as_written(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text: paragraphs are prose, "name : text" is a row of a table, and what
    is indented (formulas, pictures) is shown as it stands.
    """
    text = "\n".join(lines)
    text = re.sub(r"(Parameters|Attributes)\n-+\n", "\n", text)
    shown: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        block = paragraph.split("\n")
        rows = _parameters(block)
        if rows:
            shown += [".. list-table::", "   :widths: 25 75", ""]
            for key, value in rows:
                shown += [f"   * - ``{key}``", f"     - {_prose(value)}"]
        elif block[0].startswith(" "):
            shown += ["::", "", *("   " + line for line in block)]
        else:
            shown += [_prose(line) for line in block]
        shown.append("")
    lines[:] = shown


def _parameters(block: list[str]) -> list[tuple[str, str]]:
    # The rows of a paragraph in which every line begins a row, or goes on with one.
    rows: list[tuple[str, str]] = []
    for line in [entry for written in block for entry in TWO_ENTRIES.split(written)]:
        match = ENTRY.fullmatch(line)
        if match:
            rows.append((match[1], match[2]))
        elif line.startswith(" ") and rows:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
        else:
            return []
    return rows


def _prose(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_ ", "\\_ ")


def _drawing(
    name: str, rawtext: str, text: str, *context: Any
) -> tuple[list[nodes.Node], list[Any]]:
    """The small drawing of a claim in the page itself, where its numbers can be pointed at and
    read aloud.
    """
    svg = (Path(__file__).parent / "_static" / "claims" / f"{text}.svg").read_text()
    return [nodes.raw(rawtext, svg, format="html")], []


def setup(app: Sphinx) -> None:
    app.add_role("drawing", _drawing)
    app.connect("autodoc-process-docstring", _as_written)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
