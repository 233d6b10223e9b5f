"""Markdown as the differences from the paper are written in it, as HTML."""

from __future__ import annotations

import re

import pytest

from jekyllhyde.lab import markdown

TABLE = """
| point | `a\\|b` | effect |
| --- | :-: | --- |
| $\\lvert S\\rvert=6$, $\\gamma^{50}$, $a_1$ | <b>x</b> \\| y | *more* [here](there.md) |
"""


def test_markdown_tables() -> None:
    html = markdown.html(TABLE)
    assert html.startswith("<div class='box wide' tabindex='0'")
    assert re.findall(r"<th[^>]*>(.*?)</th>", html) == [
        "point",
        "<code>a|b</code>",
        "effect",
    ]
    assert re.findall(r"<td[^>]*>(.*?)</td>", html) == [
        "<i>|S| = 6</i>, <i>γ<sup>50</sup></i>, <i>a<sub>1</sub></i>",
        "&lt;b&gt;x&lt;/b&gt; | y",
        "<em>more</em> <span>here</span>",
    ]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A & B", "<h3>A &amp; B</h3>"),
        ("one\ntwo", "<p>one two</p>"),
        ("- one\n  more\n- two", "<ul> <li>one more</li> <li>two</li> </ul>"),
        (
            "see {doc}`theory`, 2 * 3 * 4 and **this**",
            "<p>see <code>theory</code>, 2 * 3 * 4 and <strong>this</strong></p>",
        ),
        ("`<script>` $a<b$", "<p><code>&lt;script&gt;</code> <i>a&lt;b</i></p>"),
        (r"$\sqrt{\log(N+1)/n}$, $1/\sqrt{n}$", "<p><i>√(log (N+1)/n)</i>, <i>1/√n</i></p>"),
        ("$-0.5$, $-x$", "<p>−0.5, <i>−x</i></p>"),
        ("*a `c` b*", "<p><em>a <code>c</code> b</em></p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
    ],
)
def test_markdown_blocks(text: str, html: str) -> None:
    assert " ".join(markdown.html(text).split()) == html


def test_a_line_is_safe_to_be_shown() -> None:
    assert markdown.inline("a <b> of\n $\\gamma$") == "a &lt;b&gt; of <i>γ</i>"
