"""The series and problems that several figures share."""

from __future__ import annotations

from typing import Any

from jekyllhyde.lab.spec import Experiment

Series = tuple[dict[str, Any], ...]

PLAN: Series = (
    {"label": "PG", "density": "pg"},
    {"label": "undiscounted", "density": "undiscounted"},
    {"label": "uniform", "density": "uniform"},
    {"label": "o=0.5", "density": "mixture", "o": 0.5},
    {"label": "o=0.1", "density": "mixture", "o": 0.1},
    {"label": "o=10/sqrt(t)", "density": "mixture", "o": "10/sqrt(t)"},
    {"label": "o=10/t", "density": "mixture", "o": "10/t"},
)
PLAN_ENTROPY: Series = tuple(
    {**one, "label": f"{one['label']} lam=0.1", "lam": 0.1} for one in PLAN[:2]
)

JEKYLL_HYDE: Series = tuple(
    {"label": f"J&H eps={epsilon} o={o}", "agent": "jekyll-hyde", "epsilon": epsilon, "o": o}
    for o in (0.5, "10/sqrt(t)")
    for epsilon in ("100/t", "10/sqrt(t)")
)
ON_POLICY: Series = tuple(
    {
        "label": label + (f" lam={lam:g}" if lam else ""),
        "agent": "on-policy",
        "density": density,
        "lam": lam,
    }
    for lam in (0.0, 0.01)
    for label, density in (("PG", "pg"), ("undiscounted", "undiscounted"))
)
UCB: Series = tuple(
    {"label": f"PG nu={nu:g}", "agent": "on-policy", "density": "pg", "nu": nu}
    for nu in (1.0, 0.1, 0.01)
)

CHAIN = {"name": "chain", "n_states": 10, "beta": 0.8}
RANDOM = {"name": "garnet", "n_states": 100, "n_actions": 4, "connectivity": 2}
DEFAULTS = {"eta": 1.0, "eta_c": 0.1, "q0": 0.0}


def labels(*groups: Series) -> tuple[str, ...]:
    """The labels of these series."""
    return tuple(str(one["label"]) for group in groups for one in group)


def chain_sweep(
    name: str, series: Series, cap: int = 150_000, target: float = 0.5, **more: Any
) -> Experiment:
    """Trajectories to `target` on the chain with 10 states and beta 0.8, 100 runs."""
    return _sweep(name, CHAIN, series, cap, target, **more)


def random_sweep(
    name: str, series: Series, cap: int = 120_000, target: float = 0.95, **more: Any
) -> Experiment:
    """Trajectories to `target` on random MDPs with 100 states, a new one for each run, 100 runs."""
    return _sweep(name, RANDOM, series, cap, target, **more)


def _sweep(
    name: str,
    problem: dict[str, Any],
    series: Series,
    cap: int,
    target: float,
    vary: Any,
    **settings: Any,
) -> Experiment:
    chosen = {**DEFAULTS, "trajectories": cap, "target": target, **settings}
    return Experiment(
        name=name,
        method="learn",
        problem=problem,
        series=series,
        settings=chosen,
        vary=vary,
        runs=100,
    )
