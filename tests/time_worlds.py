"""Worlds of times to a target along an axis: as the paper tells them, and their opposites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from claim_worlds import World
from mdps import Floats

CAP = 1e9  # above every cap


def never(label: str, x: Floats) -> Floats:
    return CAP + 0.0 * x


def flat(label: str, x: Floats) -> Floats:
    return 5000 + 0.0 * x


def off_policiness(slope: float) -> World:
    return lambda label, x: (
        20_000 * np.exp(slope * x) * {"J&H eps=100/t": 1.0, "J&H eps=0.1": 1.1}.get(label, 1.05)
    )


def bowl(centre: Callable[[str], float], level: Callable[[str], float]) -> World:
    return lambda label, x: level(label) * np.exp(0.5 * np.log(x / centre(label)) ** 2)


def eta_chain(label: str, x: Floats) -> Floats:
    return bowl(lambda _: 20.0, lambda _: 5000.0)(label, x) if "J&H" in label else CAP + 0.0 * x


def eta_chain_opposite(label: str, x: Floats) -> Floats:
    return 5000 * x**0.3 if "J&H" in label else 5000 + 0.0 * x


eta_random = bowl(
    lambda label: 20.0 if "J&H" in label else 5.0,
    lambda label: 2500.0 if "J&H" in label else 3500.0,
)


def eta_random_opposite(label: str, x: Floats) -> Floats:
    return 60_000 * (x / x[0]) ** 0.1 if "J&H" in label else 30_000 * x**-0.1


def critic_chain(label: str, x: Floats) -> Floats:
    if "J&H" not in label:
        return CAP + 0.0 * x
    return np.minimum((50 if "o=0.5" in label else 500) / x, CAP)


def critic_chain_opposite(label: str, x: Floats) -> Floats:
    return (5000 if "o=0.5" in label else 3000) * (1 + 10 * x)


def critic_random(label: str, x: Floats) -> Floats:
    y = 3000 * np.exp(0.3 * np.log(x / 0.025) ** 2)
    return np.where(x > 0.9, CAP, y)


def critic_random_opposite(label: str, x: Floats) -> Floats:
    return 3000 * (x / 0.001) ** 0.05


def sizes(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return (500 if "o=0.5" in label else 2000) * x
    return np.full_like(x, 145_000.0) if "lam" in label else CAP + 0.0 * x


def sizes_opposite(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return CAP + 0.0 * x if "o=0.5" in label else 2000 + 0.0 * x
    return 1000 + 0.0 * x


def betas(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return 3000 + (0 if "o=0.5" in label else 20_000) * x
    return np.where(x <= (0.25 if "lam" in label else 0.2), 1000.0, CAP)


def betas_opposite(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return np.where(x > 0.3, CAP, 9000.0 if "o=0.5" in label else 3000.0)
    return np.where(x >= (0.5 if "lam" in label else 0.4), 1000.0, CAP)


def optimism(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return 5000 * (1 + (0.1 if "o=0.5" in label else 1.0) * x)
    return np.where(x > 0.8 * 0.99**8, 1000.0, CAP)


def optimism_opposite(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        return np.where(x < 0.6, CAP, 1000.0 if "o=0.5" in label else 5000.0)
    return np.where(x > 0.8 * 0.99**8, CAP, 149_000.0)


def exploration(label: str, x: Floats) -> Floats:
    y = np.interp(x, [0.01, 0.05, 0.6, 0.95, 1.0], [30_000, 15_000, 6500, 6400, 7300]) * (
        1 if "o=0.5" in label else 6
    )
    return np.where(x == 0, CAP, y)


def exploration_opposite(label: str, x: Floats) -> Floats:
    return np.interp(x, [0.0, 1.0], [2000, 30_000]) / (1 if "o=0.5" in label else 1.5) - 10_000 * (
        x == 1
    )


def exploration_random(label: str, x: Floats) -> Floats:
    return np.where(x == 1, 110_000.0, 35_000 - 6000 * x / 0.95)


def exploration_random_opposite(label: str, x: Floats) -> Floats:
    return 5000 + 1000 * x


def plan_sizes(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return np.where(x <= 4, 300.0, CAP)
    if label in ("PG", "undiscounted"):
        return np.where(x <= 6, 200.0, CAP)
    if label == "o=10/t":
        return 1600 * np.exp(0.28 * (x - 3))
    return {"uniform": 100, "o=0.5": 150, "o=0.1": 500, "o=10/sqrt(t)": 520}[label] * x


def plan_sizes_opposite(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return 100 + 0.0 * x
    if label in ("PG", "undiscounted"):
        return np.where(x <= 6, CAP, 200.0)
    if label.startswith("o=10/"):
        return 50 * x**1.1
    return np.where(x > 24, CAP, {"uniform": 14_000, "o=0.5": 13_000, "o=0.1": 12_000}[label])


def plan_betas(label: str, x: Floats) -> Floats:
    if label.startswith(("PG", "undiscounted")):
        return np.where(
            x < (0.7 if "lam" in label else 0.05), 900.0 if "undiscounted" in label else 1000.0, CAP
        )
    return 1000 + 0.0 * x


def plan_betas_opposite(label: str, x: Floats) -> Floats:
    if label.startswith(("PG", "undiscounted")):
        return np.where(x > 0.05, 1000.0 if label.startswith("PG") else 1100.0, CAP)
    return np.where(x > 0.4, CAP, 1000.0)


def plan_lambdas(label: str, x: Floats) -> Floats:
    if label in ("PG", "undiscounted"):
        return np.where((x > 0.05) & (x < 0.26), 5000.0, CAP)
    return np.where(x < 0.26, 1000.0, CAP)


def plan_lambdas_opposite(label: str, x: Floats) -> Floats:
    return (900 if label in ("PG", "undiscounted") else 1000) * (1 + x)


def exploration_alone(label: str, x: Floats) -> Floats:
    # A world in which o makes no difference, and eps does.
    return np.interp(x, [0.0, 1.0], [50_000, 2000])


def spread_where(chosen: Callable[[Floats], Any]) -> World:
    # Times that differ between runs at some places.
    return lambda label, x: 5000 * (1 + np.where(chosen(x), 0.5, 0.05) * np.array([[-1.0], [1.0]]))


def to_either_side(mark: str) -> World:
    """Times that differ between series with the mark and those without it, in turn to either
    side.
    """
    return lambda label, x: (
        5000 * (1 + (0.3 if mark in label else -0.3) * np.array([[1.0], [-1.0]]) + 0.0 * x)
    )


def diverging(label: str, x: Floats) -> Floats:
    return np.nan * x
