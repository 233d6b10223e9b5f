"""Probe environments: each can be solved only by an agent that does one thing right.

With gamma = 1/2, what every action value must become is known.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import jekyllhyde as jh
from jekyllhyde import deep

GAMMA = 0.5


class Probe(gym.Env[Any, Any]):
    """Two places, 0 and 1, seen as numbers, or as states where it is `finite`.

    constant     every step pays 1 and terminates
    observation  place p pays p and terminates; it starts in either
    discount     from 0 to 1 for nothing, from there to the end for 1
    choice       action 1 pays 1, action 0 pays -1; both terminate
    both         the action with the place's number pays 1, the other -1; it starts in either
    truncation   action 0 pays 1 and terminates; action 1 pays 0.7 and the episode is cut, in place
    """

    def __init__(self, kind: str, finite: bool) -> None:
        self.kind, self.finite, self.place = kind, finite, 0
        self.observation_space = Discrete(2) if finite else Box(0.0, 1.0, (1,))
        self.action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        is_random = self.kind in ("observation", "both")
        self.place = int(self.np_random.integers(2)) if is_random else 0
        return self._see(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        place, is_cut = self.place, self.kind == "truncation" and action == 1
        reward = {
            "constant": 1.0,
            "observation": float(place),
            "discount": float(place),
            "choice": 2.0 * action - 1.0,
            "both": 2.0 * (action == place) - 1.0,
            "truncation": 0.7 if is_cut else 1.0,
        }[self.kind]
        goes_on = self.kind == "discount" and place == 0
        self.place = 1 if goes_on else place
        return self._see(), reward, not goes_on and not is_cut, is_cut, {}

    def _see(self) -> Any:
        return np.int64(self.place) if self.finite else np.full(1, self.place, np.float32)


# the values of both actions in the places that are met
VALUES: dict[str, dict[int, list[float]]] = {
    "constant": {0: [1.0, 1.0]},
    "observation": {0: [0.0, 0.0], 1: [1.0, 1.0]},
    "discount": {0: [0.5, 0.5], 1: [1.0, 1.0]},
    "choice": {0: [-1.0, 1.0]},
    "both": {0: [1.0, -1.0], 1: [-1.0, 1.0]},
    "truncation": {0: [1.0, 1.4]},
}
SMALL: dict[str, Any] = {
    "gamma": GAMMA,
    "hidden": (16,),
    "batch": 32,
    "capacity": 400,
    "eta_c": 1e-2,
    "tau": 0.1,
}
AGENTS: dict[str, Any] = {
    "jekyll_hyde": lambda env: deep.JekyllHyde(
        env, **SMALL, hidden_hyde=(16,), warmup=40, eta=1e-2, epsilon_1=200.0
    ),
    "ddqn": lambda env: deep.DoubleDQN(env, **SMALL),
    "bootstrapped_dqn": lambda env: deep.BootstrappedDQN(env, **SMALL, heads=6),
    "sac": lambda env: deep.DiscreteSAC(env, **SMALL, warmup=40, eta=1e-2),
    "tabular_jekyll_hyde": lambda env: jh.TabularJekyllHyde(env, gamma=GAMMA),
    "tabular_on_policy": lambda env: jh.TabularOnPolicy(env, gamma=GAMMA, eta=0.3, lam=0.01),
}


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_has_the_right_values(name: str) -> None:
    is_tabular = name.startswith("tabular")
    for kind, places in VALUES.items():
        agent = AGENTS[name](Probe(kind, finite=is_tabular)).learn(2000 if is_tabular else 400)
        for place, values in places.items():
            seen = place if is_tabular else np.full(1, place, np.float32)
            q = np.asarray(agent.q(seen))
            gap = abs(values[1] - values[0])
            if gap:
                assert agent.predict(seen, True) == int(np.argmax(values)), (kind, place)
            # soft actor-critic's values of what is to come hold its entropy too
            if not (name == "sac" and kind in ("discount", "truncation")):
                best = int(np.argmax(values)) if gap else slice(None)
                if name == "bootstrapped_dqn":  # heads that are sure try no other action
                    best = int(np.argmax(q))
                assert q[best] == pytest.approx(np.array(values)[best], abs=0.15), (kind, place, q)
