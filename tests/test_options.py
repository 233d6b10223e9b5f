"""Options are read from signatures, docstrings, strings below fields and comments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jekyllhyde.options import Option, options_of

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True)
class Settings:
    """Of an agent."""

    kind: ClassVar[str] = "x"
    eta: float = 1.0
    """Step size
    of the actor.
    """
    rule: str | Callable[[float], float] = "paper"  # of the update
    # the critic's
    width: tuple[int, ...] = (8, 8)
    price: Decimal | None = None
    plain: int | None = None


@dataclass(frozen=True)
class More(Settings):
    """Of a special agent."""

    eta: float = 0.5
    lam: float = 0.0  # entropy weight


class Agent:
    """An agent.

    Parameters
    ----------
    gamma, lam : discount, and
        entropy weight.
    """

    def __init__(self, env: object = None, *, gamma: float = 0.9, lam: float | None = None) -> None:
        self.gamma = gamma


def test_fields_of_a_class() -> None:
    options = options_of(More)
    assert list(options) == ["eta", "rule", "width", "price", "plain", "lam"]
    assert options["eta"] == Option("eta", float, 0.5, "Step size of the actor.")
    assert options["rule"].about == "of the update"
    assert options["rule"].kinds[0] is str
    assert options["width"] == Option("width", tuple[int, ...], (8, 8), "the critic's")
    assert options["width"].kinds == (tuple[int, ...],)
    assert options["price"] == Option("price", str, None, "")  # a type that cannot be read
    assert options["plain"].kinds == (int,)
    assert options["lam"].about == "entropy weight"


def test_keywords_of_a_class() -> None:
    options = options_of(Agent)
    assert list(options) == ["env", "gamma", "lam"]
    assert options["gamma"] == Option("gamma", float, 0.9, "discount, and entropy weight.")
    assert options["lam"].kinds == (float,)


def test_a_function_without_annotations() -> None:
    def make(length=4, name=None, **more):  # type: ignore[no-untyped-def]
        """Make it."""

    assert options_of(make) == {
        "length": Option("length", int, 4, ""),
        "name": Option("name", str, None, ""),
    }
