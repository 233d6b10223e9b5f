"""What `plan` refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.planning.plan import plan


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"density": "best"},
            "density is 'best'; it must be one of pg, undiscounted, uniform, mixture",
        ),
        ({"density": ["pg", "uniform"]}, "density is not an array of numbers"),
        ({"density": np.ones(4)}, "density has shape (4,); it must be [5], one weight per state"),
        ({"density": np.full(5, -1.0)}, "density has an entry that is negative or not finite"),
        ({"density": np.full(5, np.nan)}, "density has an entry that is negative or not finite"),
        (
            {"density": lambda *_: np.ones(3)},
            "density has shape (3,); it must be [5], one weight per state",
        ),
        (
            {"density": lambda *_: np.full(5, np.nan)},
            "density has an entry that is negative or not finite",
        ),
        ({"density": "mixture"}, 'density "mixture" needs o, the off-policiness'),
        ({"o": 0.5}, "o is given, but density 'pg' does not take it; use density \"mixture\""),
        (
            {"density": np.ones(5), "o": 0.5},
            "o is given, but a density of your own does not take it",
        ),
        ({"density": "mixture", "o": 1.5}, "o is 1.5; a constant o is a probability in [0, 1]"),
        ({"density": "mixture", "o": -0.5}, "o is -0.5; a constant o is a probability in [0, 1]"),
        ({"density": "mixture", "o": "half"}, "o 'half' is not a schedule; write a number"),
        ({"density": "mixture", "o": "10/s"}, "o '10/s' is not a schedule; write a number"),
        ({"eta": "fast"}, "eta 'fast' is not a schedule; write a number"),
        ({"eta": 0.0}, "eta is 0; it must be positive"),
        ({"eta": -1.0}, "eta is -1; it must be positive"),
        ({"eta": np.nan}, "eta nan is not a schedule; write a number"),
        ({"eta": np.inf}, "eta inf is not a schedule; write a number"),
        (
            {"eta": lambda t: np.inf},
            "the schedule <lambda> gives inf; values are numbers of at least 0",
        ),
        ({"updates": -1}, "updates is -1; it must be an integer of at least 0"),
        ({"updates": 1.5}, "updates is 1.5; it must be an integer of at least 0"),
        ({"updates": "many"}, "updates is 'many'; it must be an integer of at least 0"),
        ({"updates": np.nan}, "updates is nan; it must be an integer of at least 0"),
        ({"updates": np.inf}, "updates is inf; it must be an integer of at least 0"),
        ({"lam": -0.1}, "lam is -0.1; it must be an entropy weight of at least 0"),
        ({"lam": np.nan}, "lam is nan; it must be an entropy weight of at least 0"),
        (
            {"lam": 0.1, "parametrization": "direct"},
            "lam is given, but the direct parametrization has no entropy term",
        ),
        (
            {"parametrization": "linear"},
            "parametrization is 'linear'; it must be one of direct, softmax",
        ),
        ({"convention": "mine"}, "convention is 'mine'; it must be one of published, paper"),
        ({"engine": "steam"}, "engine is 'steam'; it must be one of auto, compiled, reference"),
        (
            {"engine": "compiled", "density": lambda *_: np.ones(5)},
            "engine 'compiled' takes the built-in densities and arrays",
        ),
        ({"target": np.nan}, "target is nan; it must be a normalized return"),
        ({"record": ["J"]}, "record is 'J'; it must be one of v, q, d, pi, theta"),
        (
            {"record": ["v"], "record_at": [11]},
            "record_at contains 11; times are the integers from 0 to 10",
        ),
        (
            {"record": ["v"], "record_at": [-1]},
            "record_at contains -1; times are the integers from 0 to 10",
        ),
        (
            {"record": ["v"], "record_at": [0.5]},
            "record_at contains 0.5; times are the integers from 0 to 10",
        ),
        ({"record": ["v"], "record_at": "some"}, "record_at is 'some'; it must be one of all"),
        ({"record": ["v"], "updates": 10**9}, "recording 1000000001 times would take up to"),
        (
            {"pi0": np.full((5, 3), 1 / 3)},
            "pi has shape (5, 3); this MDP takes (5, 2), states by actions",
        ),
        (
            {"pi0": np.full((5, 2), 0.6)},
            "pi is not a policy: its row for state 0 is not a distribution over the actions",
        ),
    ],
)
def test_bad_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(chain(5), **({"updates": 10} | settings))
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_target_needs_a_normalized_return() -> None:
    flat = FiniteMDP(np.ones((1, 2, 1)), np.ones((1, 2)), gamma=0.5)
    with pytest.raises(InputError, match="the normalized return is undefined"):
        plan(flat, target=0.5, updates=5)
    assert plan(flat, updates=5).J[0] == pytest.approx(2.0)
