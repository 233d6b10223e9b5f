"""Environments that misbehave in 25 ways, each given to a tabular agent that learns from it:
`python tests/misbehaving.py`. The agent goes on, or ends with one sentence.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import gymnasium as gym
import numpy as np

from jekyllhyde import TabularJekyllHyde
from jekyllhyde.errors import InputError


class Corridor(gym.Env[Any, Any]):
    """Five states in a row; one of the things that it does is done in some other way."""

    observation_space: Any = gym.spaces.Discrete(5)
    action_space: Any = gym.spaces.Discrete(2)

    def __init__(self, way: Any, value: Any) -> None:
        self.way, self.value, self.place, self.steps = way, value, 0, 0
        if way == "space":
            self.observation_space = value

    def reset(self, **given: Any) -> Any:
        super().reset(seed=given.get("seed"))
        self.place = 0
        if self.way == "start":
            return self.value
        return (self.value if self.way == "reset" else 0), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        odd = self.steps == 20
        self.place = min(4, max(0, self.place + (1 if action else -1)))
        answer: list[Any] = [self.place, float(self.place == 4), self.place == 4, False, {}]
        if odd and isinstance(self.way, int):
            answer[self.way] = self.value
        if odd and self.way == "answer":
            return self.value
        return tuple(answer)


WAYS: list[tuple[Any, Any]] = [
    *((0, value) for value in (5, -1, 2**40, 1.5, math.nan, "state", None, [1, 2], np.zeros(3))),
    *((1, value) for value in (math.nan, math.inf, "reward", None, [1.0, 2.0], 1e308)),
    (2, None),
    ("start", None),
    *((4, value) for value in (None, {"action_mask": [0, 0]}, {"action_mask": "none"})),
    *(("reset", value) for value in (9, None)),
    *(("answer", value) for value in ((1, 2, 3), None)),
    ("space", gym.spaces.Box(0.0, 1.0)),
]


def main() -> int:
    failed = 0
    for way, value in WAYS:
        try:
            TabularJekyllHyde(Corridor(way, value)).learn(300)
            outcome = "goes on"
        except InputError as error:
            lines = str(error).splitlines()
            outcome, failed = lines[0], failed + (len(lines) != 1)
        except Exception as error:
            outcome, failed = f"FAILED: {type(error).__name__}: {error}", failed + 1
        print(f"{way} {value!r}: {outcome}", flush=True)
    print(f"{len(WAYS)} ways, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
