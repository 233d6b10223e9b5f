"""Exploration bonuses: what is new, as a number, for an agent to seek.

A bonus is a record, a subclass of `Bonus`, whose fields are its settings: numbers, and whatever
changes the code as `eqx.field(static=True)`. What it has learned is a state of its own, any pytree.
Agents take one by name, "rnd" or "rnd(eta=0.001)", or of the user's own, "file.py:Mine".
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
from jax import Array

from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.replay import Samples
from jekyllhyde.registry import Choices

BONUSES = Choices("bonus")


class Bonus(eqx.Module):
    """What a bonus has to say."""

    @abstractmethod
    def init(self, key: Array, space: Space) -> Any:
        """Its state before the first step."""

    @abstractmethod
    def of(self, state: Any, samples: Samples) -> tuple[Array, Any]:
        """The bonus [N] of a batch, and the state: a running scale moves on with each batch."""

    @abstractmethod
    def learn(self, state: Any, samples: Samples) -> Any:
        """The state after the batch has been seen; samples with `weight` 0 do not count."""
