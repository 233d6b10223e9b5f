"""Worlds of returns against time: as the paper tells them, and their opposites."""

from __future__ import annotations

import numpy as np

from claim_worlds import World
from mdps import Floats


def level(y: float) -> World:
    return lambda label, x: y + 0.0 * x


def step_at(time: float, x: Floats, before: float, after: float) -> Floats:
    return np.where(x >= time, after, before)


def chain_learns(label: str, x: Floats) -> Floats:
    if "J&H" in label:
        time = (8000 if "o=0.5" in label else 44_000) * (0.8 if "eps=10/sqrt" in label else 1.0)
        return step_at(time, x, 0.0, 0.985 if "eps=10/sqrt" in label else 0.998)
    return step_at(20_000, x, 0.0, 0.97 if "nu=1" in label else 0.0) if "nu" in label else 0.0 * x


def jekyll_learns(label: str, x: Floats) -> Floats:
    return step_at(8000, x, 0.0, 0.998) if "J&H" in label else 0.0 * x


def chain_fails(label: str, x: Floats) -> Floats:
    if "J&H" not in label:
        return np.where(label.endswith("nu=1"), 0.0, 0.99) + 0.0 * x
    time = (8000 if "o=0.5" in label else 7000) * (3.0 if "eps=10/sqrt" in label else 1.0)
    rising = step_at(time, x, 0.0, 0.6)
    return np.where(x > 95_000, 0.4 if "eps=10/sqrt" in label else 0.3, rising)


def chain_leaves_it(label: str, x: Floats) -> Floats:
    # J&H stays, all others learn.
    return (0.1 if "J&H" in label else 0.99) + 0.0 * x


def random_learns(label: str, x: Floats) -> Floats:
    gap = 1 / (1 + x / 500)
    if "lam" in label:
        return 1 - np.maximum(gap, 0.03)
    if "nu" in label:
        return 1 - np.maximum(gap, 0.02) if "nu=0.01" in label else 0.8 * x / x[-1]
    gap = gap * {"o=0.5": 1.02, "o=10/sqrt(t)": 0.98}.get(label.rsplit(" ", maxsplit=1)[-1], 1.0)
    return 1 - gap - (0.02 if "eps=10/sqrt" in label else 0.0)


def random_opposite(label: str, x: Floats) -> Floats:
    gap = 1 / (1 + x / 500)
    if "J&H" in label:
        return 1 - gap * (3.0 if "eps=100/t" in label else 0.8) * (0.9 if "o=0.5" in label else 1.0)
    return (
        1
        - gap * (0.4 if "lam" in label else 3.0 if "batch=1" in label else 1.0)
        - (0.02 if "nu" in label else 0.0)
    )


def random_jekyll_opposite(label: str, x: Floats) -> Floats:
    scale = {"J&H eps=100/t": 2.0, "J&H eps=10/sqrt(t)": 3.0}.get(label.rpartition(" ")[0], 1.0)
    return 1 - scale / (1 + x / 500)


def random_jekyll_learns(label: str, x: Floats) -> Floats:
    return 1 - (0.9 if "J&H" in label else 1.0) / (1 + x / 500)


def random_fails(label: str, x: Floats) -> Floats:
    gap = 1 / (1 + x / 500)
    if "nu" in label:
        return 0.99 + 0.0 * x if "nu=0.01" not in label else 0.2 + 0.0 * x
    if "lam" in label:
        return 0.9 * np.minimum(1.0, x / 1e5)
    if "J&H" in label:
        slow = 3 if "o=10/sqrt" in label else 2
        return (0.85 if "eps=100/t" in label else 0.9) - slow * gap
    return 0.8 * np.minimum(1.0, x / 5e4)


def long_learns(label: str, x: Floats) -> Floats:
    gap = 500 / (500 + x)
    return 1 - gap * {"o=0.5": 0.9, "o=10/sqrt(t)": 1.0}.get(label.rsplit(" ", maxsplit=1)[-1], 1.1)


def half_is_sooner(label: str, x: Floats) -> Floats:
    return 1 - (0.5 if "o=0.5" in label else 1.0) * 500 / (500 + x)


def long_stalls(label: str, x: Floats) -> Floats:
    gap = np.maximum(500 / (500 + x), 0.01)
    return 1 - gap * {"o=0.5": 1.4, "o=10/sqrt(t)": 1.0}.get(
        label.rsplit(" ", maxsplit=1)[-1], 1.2 if label == "PG" else 3.0
    )


def tuned(label: str, x: Floats) -> Floats:
    return 1 - np.maximum(1 / (1 + x / 500), 0.02 if "o=0.5" in label else 0.03)


def tuned_well(label: str, x: Floats) -> Floats:
    return 1 - np.maximum(1 / (1 + x / 500), 4e-4) * (0.09 if "o=0.5" in label else 0.05)


def plan_curve(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return np.where(x < 2000, -0.1, -0.005)
    if label in ("PG", "undiscounted", "o=10/t"):
        return np.where(x < 100, -0.5 + x / 200, 0.0)
    return np.clip((x - 300) / 50, 0.0, 1.0)


def softmax_curve(label: str, x: Floats) -> Floats:
    return plan_curve(label, x) - 0.003


def plan_curve_opposite(label: str, x: Floats) -> Floats:
    return (
        np.where(
            label in ("PG", "undiscounted", "o=10/t"), np.sqrt(x / x[-1]), np.where(x > 5, 0.2, 0.0)
        )
        + 0.0 * x
    )


def softmax_curve_opposite(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return 0.8 + 0.0 * x
    return np.where(label in ("PG", "undiscounted", "o=10/t"), 1.0, 0.0) + 0.0 * x


def plan_random(label: str, x: Floats) -> Floats:
    if label == "uniform":
        return 0.9967 + 5e-7 * (x - 4000)
    start = {"undiscounted": 0.99665, "o=10/t": 0.99662}.get(label, 0.9966)
    later = 8e-4 if label in ("o=0.5", "o=10/sqrt(t)", "o=0.1") else 0.0
    return start + later * np.clip((x - 2000) / 3000, 0.0, 1.0)


def plan_random_opposite(label: str, x: Floats) -> Floats:
    level = {"uniform": 0.92, "o=0.5": 0.9, "PG": 0.94, "undiscounted": 0.93}.get(label, 0.95)
    later = np.clip((x - 2000) / 3000, 0.0, 1.0) * (-0.01 if label == "o=0.5" else 0.0)
    return level + later + (0.5 if label == "uniform" else 0.0) * np.clip(1 - x / 2000, 0.0, 1.0)


def plan_random_decile(label: str, x: Floats) -> Floats:
    return (0.999 if label == "o=0.5" else 0.991) + 0.0 * x


def plan_random_decile_opposite(label: str, x: Floats) -> Floats:
    return (0.9 if label == "o=0.5" else 0.97) + 0.0 * x


def plan_softmax(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return np.where(x < 1500, 0.95, 0.91)
    top = {"uniform": 0.96, "o=0.5": 0.991}.get(label, 0.989)
    return top - 0.1 * np.clip(1 - x / 1900, 0.0, 1.0)


def plan_softmax_opposite(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return np.where(x < 1500, 0.5, 0.999)
    return {"uniform": 0.97, "o=0.5": 0.9}.get(label, 0.95) + 0.0 * x


def plan_random_wide(label: str, x: Floats) -> Floats:
    # The same order as with softmax, sooner and with wider gaps.
    return {"uniform": 0.9, "o=0.5": 0.999}.get(label, 0.985) + 0.0 * x


def plan_random_decile_wide(label: str, x: Floats) -> Floats:
    return (0.999 if label == "o=0.5" else 0.95) + 0.0 * x


def slow_finish(label: str, x: Floats) -> Floats:
    return np.where(x < 50, 0.0, np.where(x < 400, 0.6, 1.0))


def slow_plan_curve(label: str, x: Floats) -> Floats:
    return np.clip((x - 3000) / 50, 0.0, 1.0)


def rooms(label: str, x: Floats) -> Floats:
    if label.startswith("J&H"):
        return step_at(100, x, -5.0, 89.2)
    top = {"DDQN": 20.0, "SAC": 40.0, "DDQN+RND": 50.0, "SAC+RND": 60.0}[label]
    return top * np.minimum(1.0, x / 250)


def rooms_opposite(label: str, x: Floats) -> Floats:
    if label.startswith("J&H"):
        return 10.0 + 0.0 * x
    return {"DDQN": 89.9, "SAC": 89.7, "DDQN+RND": 89.6, "SAC+RND": 89.5}[label] + 0.0 * x


def tuned_rooms(best: dict[str, float]) -> World:
    """Scores that fall with the distance to the value at which an agent is best."""
    return lambda label, x: 80.0 - 30 * np.abs(np.log10(x / best[label]))


def late_seeds(label: str, x: Floats) -> Floats:
    # One seed in ten learns late, and all have learned in the end.
    times = [50.0] * 9 + [400.0]
    return np.stack([step_at(time, x, -5.0, 89.2) for time in times])


def lost_seeds(label: str, x: Floats) -> Floats:
    # Half of the seeds never learn.
    return np.stack([step_at(300.0, x, -5.0, 89.2), level(-5.0)(label, x)])


def to_either_side(mark: str) -> World:
    """Runs that differ between series with the mark and those without it, in turn to either
    side.
    """
    return lambda label, x: (
        0.9 + (0.05 if mark in label else -0.05) * np.array([[1.0], [-1.0]]) + 0.0 * x
    )


even_runs = to_either_side("o=0.5")  # between schedules of o


def one_in_ten(label: str, x: Floats) -> Floats:
    return 0.999 - 0.009 * np.eye(10)[:, :1] + 0.0 * x


def long_behind(label: str, x: Floats) -> Floats:
    return 1 - (3 if "J&H" in label else 1) * 500 / (1500 + x)


def deep_deciles(*deep: str) -> World:
    # One MDP in five is worse, much worse with these series.
    return lambda label, x: (
        0.99 - (0.02 if label in deep else 0.004) * np.array([[0.0], [0], [0], [0], [1]]) + 0.0 * x
    )
