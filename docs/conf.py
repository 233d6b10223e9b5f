"""Sphinx configuration: MyST pages, API from docstrings, mathematics as MathML so that pages need
no network.
"""

from __future__ import annotations

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


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext(), display="block"))
    raise nodes.SkipNode


def _as_written(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings are plain text with shapes and formulas: the first paragraph is prose, the rest is
    shown as it stands.
    """
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    prose = [
        line.replace("|", "\\|").replace("*", "\\*").replace("_ ", "\\_ ") for line in lines[:end]
    ]
    rest = (
        ["", "::", "", *("   " + line for line in lines[end:]), ""]
        if any(line.strip() for line in lines[end:])
        else []
    )
    lines[:] = prose + rest


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", _as_written)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
