"""What the paper says about its figures, in our words, and where it says so
(`figures/sentences.toml`).

A place is a section with the number of a paragraph, such as "App. E.2, par. 1", or a figure, which
stands for its caption.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Section:
    """A section of the paper, or a caption, and how many paragraphs it has."""

    title: str
    paragraphs: int


@dataclass(frozen=True)
class Sentence:
    """What is said, and the place in the paper."""

    text: str
    place: str


_DATA = tomllib.loads(
    (files("jekyllhyde.lab") / "figures" / "sentences.toml").read_text(encoding="utf-8")
)
SECTIONS: dict[str, Section] = {
    name: Section(**section) for name, section in _DATA["sections"].items()
}
SENTENCES: dict[str, Sentence] = {
    id: Sentence(text, place)
    for place, sentences in _DATA["claims"].items()
    for id, text in sentences.items()
}
