"""The claims' tests on made-up runs: a world as the paper tells it must be supported, its opposite
contradicted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from jekyllhyde.intervals import summarize
from jekyllhyde.lab import verdicts
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import Curves, Panel, judge
from jekyllhyde.lab.verdicts import Estimate, Untestable
from mdps import Floats

World = Callable[[str, Floats], Floats]
VERDICTS = {"supported", "partly", "contradicted", "not testable"}


def axis_of(panel: Panel) -> Floats:
    if panel.kind == "time":
        return np.array(next(iter(panel.experiment.axes.values())), dtype=np.float64)
    return np.linspace(0.0, panel.cap, 501)


def make(
    panel: Panel,
    world: World,
    runs: int = 20,
    noise: float | Floats = 0.01,
    x: Floats | None = None,
) -> Curves:
    """Curves of a panel in which `world` gives the mean; relative noise in times, absolute (a tenth
    of it) in returns.
    """
    rng = np.random.default_rng(0)
    runs = 1 if panel.exact else runs
    noise = 0.0 if panel.exact else noise
    x = axis_of(panel) if x is None else x
    samples, censored = {}, {}
    for label in panel.labels:
        y = np.broadcast_to(np.asarray(world(label, x), dtype=np.float64), x.shape)
        draws = rng.normal(size=(runs, len(x)))
        if panel.kind == "time":
            lost = y >= panel.cap
            samples[label] = np.where(
                lost, panel.cap, np.clip(y * (1 + noise * draws), 1, panel.cap - 1)
            )
            censored[label] = lost.astype(np.float64)
        else:
            samples[label] = y + 0.01 * noise * (1 - y) * draws
            censored[label] = np.zeros(len(x))
    found = {label: summarize(one, panel.statistic, draws=50) for label, one in samples.items()}
    y_, lo, hi = ({label: one[i] for label, one in found.items()} for i in range(3))
    return Curves(panel, x, samples, y_, lo, hi, censored, dict.fromkeys(panel.labels, 0), runs)


def verdicts_of(curves: Curves) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in judge(curves)}


# Worlds. CAP is above every cap.

CAP = 1e9


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


def long_stalls(label: str, x: Floats) -> Floats:
    gap = np.maximum(500 / (500 + x), 0.01)
    return 1 - gap * {"o=0.5": 1.4, "o=10/sqrt(t)": 1.0}.get(
        label.rsplit(" ", maxsplit=1)[-1], 1.2 if label == "PG" else 3.0
    )


def tuned(label: str, x: Floats) -> Floats:
    return 1 - np.maximum(1 / (1 + x / 500), 0.02 if "o=0.5" in label else 0.03)


def tuned_well(label: str, x: Floats) -> Floats:
    return 1 - np.maximum(1 / (1 + x / 500), 4e-4) * (0.09 if "o=0.5" in label else 0.05)


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
        return 2000 * np.exp(0.6 * (x - 3))
    return {"uniform": 100, "o=0.5": 150, "o=0.1": 500, "o=10/sqrt(t)": 520}[label] * x


def plan_sizes_opposite(label: str, x: Floats) -> Floats:
    if "lam" in label:
        return 100 + 0.0 * x
    if label in ("PG", "undiscounted"):
        return np.where(x <= 6, CAP, 200.0)
    if label.startswith("o=10/"):
        return 50 * x**1.1
    return np.where(x > 24, CAP, {"uniform": 14_000, "o=0.5": 13_000, "o=0.1": 12_000}[label])


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


CASES: list[tuple[str, World, str, set[str]]] = [
    ("5a", plan_curve, "supported", set()),
    ("5a", plan_curve_opposite, "contradicted", set()),
    ("5b", plan_sizes, "supported", set()),
    ("5b", plan_sizes_opposite, "contradicted", set()),
    ("5c", plan_betas, "supported", set()),
    ("5c", plan_betas_opposite, "contradicted", set()),
    ("5d", lambda label, x: 2 + 100 / x, "supported", set()),
    ("6a", softmax_curve, "supported", set()),
    ("6a", softmax_curve_opposite, "contradicted", set()),
    ("6b", plan_sizes, "supported", set()),
    ("6b", plan_sizes_opposite, "contradicted", set()),
    ("6c", plan_betas, "supported", set()),
    ("6c", plan_betas_opposite, "contradicted", set()),
    ("6d", plan_lambdas, "supported", set()),
    ("6d", plan_lambdas_opposite, "contradicted", {"6d-small"}),
    ("7a", plan_random, "supported", {"7a-stagnate"}),
    ("7a", plan_random_opposite, "contradicted", {"7a-stagnate"}),
    ("7b", plan_random_decile, "supported", set()),
    ("7b", plan_random_decile_opposite, "contradicted", set()),
    ("7c", plan_softmax, "supported", set()),
    ("7c", plan_softmax_opposite, "contradicted", set()),
    ("7d", plan_random_decile, "supported", set()),
    ("7d", plan_random_decile_opposite, "contradicted", set()),
    ("2a", chain_learns, "supported", set()),
    ("2a", chain_fails, "contradicted", set()),
    ("8a", chain_learns, "supported", set()),
    ("8a", chain_fails, "contradicted", set()),
    ("8b", jekyll_learns, "supported", set()),
    ("8b", chain_fails, "contradicted", set()),
    ("2b", random_learns, "supported", {"2b-eventually"}),
    ("2b", random_fails, "contradicted", {"2b-eventually"}),
    ("2c", random_learns, "supported", set()),
    ("2c", random_opposite, "contradicted", set()),
    ("9a", random_learns, "supported", set()),
    ("9a", random_opposite, "contradicted", {"9a-default-99"}),
    ("9b", random_jekyll_learns, "supported", set()),
    ("9b", random_jekyll_opposite, "contradicted", set()),
    ("9c", long_learns, "supported", {"9c-no-winner"}),
    ("9c", long_stalls, "contradicted", set()),
    ("9d", long_learns, "supported", set()),
    ("10a", off_policiness(-2.0), "supported", {"10a-half"}),
    ("10a", off_policiness(0.05), "contradicted", {"10a-half"}),
    ("10b", off_policiness(0.2), "supported", {"10b-half"}),
    ("10b", off_policiness(0.1), "supported", set()),
    ("10b", off_policiness(-1.0), "contradicted", set()),
    ("11a", eta_chain, "supported", set()),
    ("11a", eta_chain_opposite, "contradicted", {"11a-numerical", "11a-breaks", "11a-default"}),
    ("11b", eta_random, "supported", {"11b-default"}),
    ("11b", eta_random_opposite, "contradicted", {"11b-default", "11b-too-fast"}),
    ("12a", critic_chain, "supported", set()),
    ("12a", critic_chain_opposite, "contradicted", set()),
    ("12b", critic_random, "supported", {"12b-steadier"}),
    ("12b", critic_random_opposite, "contradicted", {"12b-steadier", "12b-risk"}),
    ("13a", tuned, "supported", set()),
    ("13b", tuned, "supported", set()),
    ("13b", tuned_well, "contradicted", set()),
    ("14a", sizes, "supported", set()),
    ("14a", sizes_opposite, "contradicted", set()),
    ("14b", betas, "supported", set()),
    ("14b", betas_opposite, "contradicted", set()),
    ("15a", optimism, "supported", set()),
    ("15a", optimism_opposite, "contradicted", {"15a-strong"}),
    ("15b", lambda label, x: 5000 * (1 + 0.2 * x), "supported", set()),
    ("16a", exploration, "supported", set()),
    ("16a", exploration_opposite, "contradicted", {"16a-little"}),
    ("16a-jekyll", exploration, "supported", set()),
    ("16a-jekyll", exploration_opposite, "contradicted", set()),
    (
        "16b",
        lambda label, x: np.where(x == 1, 110_000.0, 30_000 * (1 + 0.2 * x)),
        "supported",
        set(),
    ),
    ("16b-jekyll", exploration_random, "supported", {"16b-jekyll-slightly", "16b-jekyll-hyde"}),
    ("16b-jekyll", exploration_random_opposite, "contradicted", {"16b-jekyll-slightly"}),
]


@pytest.mark.parametrize(
    ("name", "world", "expected", "but"), CASES, ids=lambda one: one if isinstance(one, str) else ""
)
def test_a_made_up_world_gets_its_verdicts(
    name: str, world: World, expected: str, but: set[str]
) -> None:
    found = {
        key: one
        for key, one in verdicts_of(make(PANELS[name], world)).items()
        if key not in but and one != "not testable"
    }
    assert found == dict.fromkeys(found, expected)
    assert found


def flat(label: str, x: Floats) -> Floats:
    return 5000 + 0.0 * x


ALONE: list[tuple[str, World, str]] = [
    ("2b-eventually", lambda label, x: 0.99 + 0.0 * x, "supported"),
    ("2b-eventually", random_learns, "partly"),
    ("2b-eventually", lambda label, x: 0.9 - 0.5 * x / x[-1], "contradicted"),
    ("5d-ability", lambda label, x: np.where((x > 1) & (x < 10), CAP, 100.0), "contradicted"),
    ("5d-faster", lambda label, x: 10 + x, "contradicted"),
    ("5d-infinite", lambda label, x: 100 + 0.0 * x, "partly"),
    ("6d-small", lambda label, x: 1000 * (1 + 10 * x), "contradicted"),
    ("7a-stagnate", lambda label, x: 0.99 + 0.0 * x, "supported"),
    ("7a-stagnate", lambda label, x: 0.999 + 0.0 * x, "contradicted"),
    ("7a-stagnate", lambda label, x: 0.99 * x / x[-1], "contradicted"),
    ("9a-default-99", random_fails, "contradicted"),
    ("9c-no-winner", long_learns, "contradicted"),
    ("9d-risk", lambda label, x: (0.9 if "o=0.5" in label else 0.99) + 0.0 * x, "contradicted"),
    ("10a-half", flat, "supported"),
    ("10a-half", off_policiness(-2.0), "contradicted"),
    ("10b-half", off_policiness(-2.0), "contradicted"),
    ("11a-default", lambda label, x: 5000 * (1 + np.log10(x) ** 2), "contradicted"),
    ("11a-breaks", lambda label, x: 5000 / x, "partly"),
    ("11b-default", lambda label, x: (9000 if "J&H" in label else 5000) + 0.0 * x, "supported"),
    ("11b-default", lambda label, x: (5000 if "J&H" in label else 9000) + 0.0 * x, "contradicted"),
    ("11b-too-fast", lambda label, x: 5000 / x, "contradicted"),
    ("12b-risk", lambda label, x: 5000 / x**0.1, "contradicted"),
    ("13a-well", lambda label, x: 0.5 + 0.0 * x, "contradicted"),
    ("13a-99", tuned_well, "contradicted"),
    ("13a-999", tuned_well, "contradicted"),
    (
        "15a-strong",
        lambda label, x: 5000 * (1 + (1.0 if "o=0.5" in label else 0.1) * x),
        "contradicted",
    ),
    ("15b-slightly", lambda label, x: 5000 * (1 - 0.5 * x), "contradicted"),
    ("15b-slightly", lambda label, x: 5000 * (1 + x), "contradicted"),
    ("16a-little", lambda label, x: np.where(x < 0.5, CAP, 5000.0), "contradicted"),
    ("16b-slightly", exploration_random, "contradicted"),
    ("16b-one", flat, "contradicted"),
    ("16b-jekyll-slightly", exploration_random_opposite, "supported"),
    ("16b-jekyll-slightly", exploration_random, "contradicted"),
    ("16b-jekyll-hyde", lambda label, x: np.where(x == 0, 90_000.0, 5000.0), "supported"),
    ("16b-jekyll-hyde", exploration_random, "partly"),
]


@pytest.mark.parametrize(
    ("id", "world", "expected"), ALONE, ids=lambda one: one if isinstance(one, str) else ""
)
def test_a_claim_in_a_world_of_its_own(id: str, world: World, expected: str) -> None:
    panel, claim = next(
        (panel, claim) for panel in PANELS.values() for claim in panel.claims if claim.id == id
    )
    assert claim.test(make(panel, world, runs=100))[0] == expected


@pytest.mark.parametrize(
    ("below", "above", "expected"), [(0.01, 0.3, "supported"), (0.3, 0.01, "contradicted")]
)
def test_steadiness_is_the_spread_between_runs(below: float, above: float, expected: str) -> None:
    x = axis_of(PANELS["12b"])
    curves = make(PANELS["12b"], flat, runs=60, noise=np.where(x < 0.025, below, above))
    assert verdicts_of(curves)["12b-steadier"] == expected


def test_there_is_no_winner_where_nothing_differs() -> None:
    curves = make(PANELS["9c"], lambda label, x: 0.9 + 0.0 * x, noise=0.0)
    assert verdicts_of(curves)["9c-no-winner"] == "supported"


def test_runs_that_diverge_are_a_matter_of_numerical_stability() -> None:
    curves = make(PANELS["11a"], eta_chain)
    assert (
        verdicts_of(replace(curves, failures=dict.fromkeys(curves.failures, 2)))["11a-numerical"]
        == "contradicted"
    )


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS.keys())
@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("length", [1.0, 0.01])
def test_claims_stand_thin_axes_few_runs_short_runs_and_missing_numbers(
    panel: Panel, runs: int, length: float
) -> None:
    """They say what cannot be told, and never that a claim about chance is supported by two runs."""
    panel = replace(panel, experiment=panel.experiment.scaled(runs=runs, points=3, length=length))
    x = axis_of(panel) if panel.kind == "time" else np.linspace(0.0, panel.cap, 5)
    top = 0.7 * panel.cap if panel.kind == "time" else 0.97
    for holes in (False, True):
        curves = make(panel, lambda label, x: top * (len(label) % 7 + 1) / 8 + 0.0 * x, runs, x=x)
        if holes:
            next(iter(curves.samples.values()))[0, 0] = np.nan
        found = judge(curves)
        assert {one["verdict"] for one in found} <= VERDICTS
        assert all(one["measured"] for one in found)
        if length < 1:
            assert {one["verdict"] for one in found} == {"not testable"}
        elif not panel.exact:
            assert "supported" not in {one["verdict"] for one in found}


def test_every_panel_has_claims_and_their_ids_are_unique_and_tell_the_panel() -> None:
    ids = [claim.id for panel in PANELS.values() for claim in panel.claims]
    assert len(set(ids)) == len(ids) >= 110
    for panel in PANELS.values():
        assert panel.claims
        assert all(claim.id.startswith(f"{panel.name}-") for claim in panel.claims)
        assert all(claim.text.endswith(".") for claim in panel.claims)


def test_a_series_that_is_not_there_is_said() -> None:
    panel = replace(PANELS["2a"], series=("PG",))
    found = {one["id"]: one for one in judge(make(panel, chain_learns))}
    assert found["2a-jh"]["verdict"] == "not testable"
    assert "J&H eps=100/t o=0.5" in found["2a-jh"]["measured"]


# The functions that claims are made of.


def exactly(y: float) -> Estimate:
    return Estimate(y, y, y)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((True, True), "supported"),
        ((False, False), "contradicted"),
        ((True, False), "partly"),
        ((None,), "partly"),
        ((True, None), "partly"),
        ((False, None), "partly"),
        ((np.False_, False), "contradicted"),
        ((np.True_,), "supported"),
    ],
)
def test_parts_make_a_verdict(parts: tuple[bool | None, ...], expected: str) -> None:
    assert verdicts.verdict(*parts) == expected


def test_no_parts_are_not_testable() -> None:
    with pytest.raises(Untestable):
        verdicts.verdict()


def test_intervals_decide_only_when_they_lie_on_one_side() -> None:
    low, across, high = Estimate(1, 0.9, 1.1), Estimate(2, 1, 3), Estimate(4, 3.5, 4.5)
    assert [verdicts.below(one, 2) for one in (low, across, high)] == [True, None, False]
    assert [verdicts.above(one, 2) for one in (low, across, high)] == [False, None, True]
    assert [verdicts.within(one, 0.5, 1.5) for one in (low, across, high)] == [True, None, False]
    assert [verdicts.much_below(exactly(y)) for y in (0.4, 0.7, 1.0)] == [True, None, False]
    assert [verdicts.much_above(exactly(y)) for y in (2.5, 1.5, 1.0)] == [True, None, False]
    assert [verdicts.mostly(share) for share in (1.0, 0.5, 0.49)] == [True, None, False]
    curves = make(PANELS["2a"], chain_learns)
    assert [
        verdicts.most(curves, flags)
        for flags in ([True, True], [True, False], [False, False, True])
    ] == [True, None, False]
    assert [verdicts.both(*parts) for parts in ((True, True), (True, None), (None, False))] == [
        True,
        None,
        False,
    ]
    unknown = Estimate(1.0, -np.inf, np.inf)
    assert verdicts.below(unknown, 5) is None
    assert verdicts.about(unknown, 1.0) is None


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (exactly(2500), True),
        (exactly(2100), True),
        (exactly(3000), True),
        (exactly(3500), None),
        (exactly(4500), False),
        (exactly(-2500), False),
        (Estimate(2500, 1000, 4000), None),
        (Estimate(5000, 3000, 9000), None),
    ],
)
def test_about(estimate: Estimate, expected: bool | None) -> None:
    assert verdicts.about(estimate, 2500) is expected
    mirrored = Estimate(-estimate.y, -estimate.hi, -estimate.lo)
    assert verdicts.about(mirrored, -2500) is expected


@pytest.mark.parametrize(
    ("y", "stated", "digits", "expected"),
    [
        (0.994, 0.99, 2, True),
        (0.9835, 0.99, 2, None),
        (0.97, 0.99, 2, False),
        (0.9969, 0.997, 3, True),
        (0.9955, 0.997, 3, None),
    ],
)
def test_rounding_to_a_stated_return(
    y: float, stated: float, digits: int, expected: bool | None
) -> None:
    assert verdicts.rounds_to(exactly(y), stated, digits) is expected


def test_the_nearest_place_must_be_near() -> None:
    curves = make(PANELS["16a"], exploration)
    assert curves.x[verdicts.at(curves, 0.6)] == pytest.approx(0.6)
    thin = make(PANELS["16a"], exploration, x=np.linspace(0.0, 1.0, 11))
    with pytest.raises(Untestable, match=r"epsilon 0.05 is not among the points; the nearest is 0"):
        verdicts.at(thin, 0.05)
    assert verdicts_of(thin)["16a-alleviates"] == "not testable"
    logarithmic = make(PANELS["11a"], eta_chain)
    assert logarithmic.x[verdicts.at(logarithmic, 16.0)] == pytest.approx(10**1.2)
    with pytest.raises(Untestable):
        verdicts.at(make(PANELS["11a"], eta_chain, x=np.array([0.01, 1.0, 1000.0])), 20.0)


def test_one_run_refutes_every_and_few_do_not_prove_it() -> None:
    curves = make(PANELS["2a"], chain_learns, runs=5)
    assert verdicts.every(curves, [True, False]) is False
    assert verdicts.every(curves, [True, True]) is None
    assert verdicts.every(make(PANELS["2a"], chain_learns, runs=6), [True, True]) is True
    assert verdicts.every(make(PANELS["5b"], plan_sizes), [True]) is True


def test_times_in_a_curve_and_distances_to_the_optimum() -> None:
    curves = make(PANELS["2a"], chain_learns, noise=0.0)
    np.testing.assert_array_equal(verdicts.crossing(curves, "J&H eps=100/t o=0.5", 0.5), 8000.0)
    np.testing.assert_array_equal(verdicts.crossing(curves, "PG", 0.5), 100_000.0)
    ratio = verdicts.crossing_ratio(
        curves, "J&H eps=100/t o=10/sqrt(t)", "J&H eps=100/t o=0.5", 0.5
    )
    assert ratio.y == pytest.approx(5.5)
    gap = verdicts.gap_ratio(curves, "J&H eps=10/sqrt(t) o=0.5", "J&H eps=100/t o=0.5")
    assert gap.y == pytest.approx(0.015 / 0.002)
    assert verdicts.gain(curves, "PG nu=1", "PG").y == pytest.approx(0.97)


def test_along_the_axis_of_times() -> None:
    curves = make(PANELS["11b"], eta_random, noise=0.0)
    place = verdicts.best(curves, "J&H eps=100/t o=0.5")
    assert place.y == pytest.approx(20, rel=0.27)
    assert verdicts.slowdown(curves, "PG", int(np.argmin(curves.y["PG"]))).y == 1.0
    assert verdicts.trend(curves, "PG", high=4.0).y == pytest.approx(-1.0)
    assert verdicts.trend(curves, "PG", low=6.0, high=60.0).y == pytest.approx(1.0)
    with pytest.raises(Untestable, match="nowhere"):
        verdicts.best(make(PANELS["11a"], eta_chain), "PG")
    sizes_curves = make(PANELS["5b"], plan_sizes)
    assert verdicts.largest(sizes_curves, "PG") == 6.0
    assert verdicts.solved(sizes_curves, "uniform").all()


def test_noise_that_hides_a_difference_leaves_it_open() -> None:
    """The same small difference is told with little noise and not with much."""
    world: World = lambda label, x: 5000 * (1 + 0.02 * x)  # noqa: E731
    assert verdicts_of(make(PANELS["15b"], world, noise=0.001))["15b-slightly"] == "supported"
    assert verdicts_of(make(PANELS["15b"], world, noise=3.0))["15b-slightly"] == "partly"


def test_a_series_that_never_arrives_compares_with_nothing() -> None:
    """With eps=0.1 the global return stays below 0.95: its flat line of caps must not count for or
    against anything.
    """

    def world(label: str, x: Floats) -> Floats:
        return CAP + 0.0 * x if label.endswith("0.1") else off_policiness(0.2)(label, x)

    found = {one["id"]: one for one in judge(make(PANELS["10b"], world))}
    assert found["10b-lower"]["verdict"] == found["10b-slightly"]["verdict"] == "supported"
    assert "eps=0.1" not in found["10b-lower"]["measured"]
    nowhere = {
        one["id"]: one["verdict"]
        for one in judge(make(PANELS["10b"], lambda label, x: CAP + 0.0 * x))
    }
    assert set(nowhere.values()) == {"not testable"}


def test_times_at_the_cap_are_not_taken_for_times() -> None:
    """Most runs with entropy never get there: their mean is near the cap, and says nothing about
    when they would.
    """

    def world(label: str, x: Floats) -> Floats:
        return CAP + 0.0 * x

    found = {one["id"]: one for one in judge(make(PANELS["14a"], world))}
    assert found["14a-entropy"]["verdict"] == "not testable"
    assert "150000" in found["14a-entropy"]["measured"]
