"""The series, problems and experiments that several figures share, and the tags of the series that
their claims compare.

The settings behind panels 2b, 2c and 9 were never released. `FITTED` gives their speed
(docs/reproducing.md): the transition under way and four replayed ones are learned from, and no step
is divided by their number. There the on-policy baselines learn from replay too, and those with UCB
from the transition under way alone. Both ways are run for both: `batch=1` and `batch=4` in a label
mark the one that the paper does not show. `divided` is what the released scripts do with a batch.
"""

from functools import partial
from typing import Any

from jekyllhyde.lab.cell_settings import slug
from jekyllhyde.lab.claims import Tests, claims
from jekyllhyde.lab.panel import Panel
from jekyllhyde.lab.spec import Experiment

Series = tuple[dict[str, Any], ...]


def tags(*groups: Series) -> tuple[str, ...]:
    """The tags of these series."""
    return tuple(table.get("tag", slug(table["label"])) for group in groups for table in group)


# Exact updates.

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
    {**table, "label": f"{table['label']} lam=0.1", "lam": 0.1} for table in PLAN[:2]
)
PLANNED, PLANNED_ENTROPY = tags(PLAN), tags(PLAN_ENTROPY)
PLANNED_PLAIN, (UNIFORM, O_HALF, O_TENTH, O_SQRT, O_T) = PLANNED[:2], PLANNED[2:]
DIRECT = {"parametrization": "direct", "eta": 1.0}
SOFTMAX = {"parametrization": "softmax", "eta": 10.0}

# Updates from samples.

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
FITTED = {"batch": 4, "with_current": True, "eta": 4.0, "eta_c": 0.3}
DIVIDED = {"batch": 4}
JEKYLL_HYDE_4: Series = tuple({**table, **FITTED, "hyde_eta": 4.0} for table in JEKYLL_HYDE)
ON_POLICY_4: Series = tuple({**table, **FITTED, "replay": True} for table in ON_POLICY)
ON_POLICY_1: Series = tuple({**table, "label": f"{table['label']} batch=1"} for table in ON_POLICY)
UCB_4: Series = tuple(
    {**table, **FITTED, "replay": True, "label": f"{table['label']} batch=4"} for table in UCB
)
RELEASED: Series = (
    {**JEKYLL_HYDE[0], **DIVIDED, "hyde_eta": 1.0, "label": f"{JEKYLL_HYDE[0]['label']} divided"},
    *(
        {**row, **DIVIDED, "replay": True, "label": f"{row['label']} divided"}
        for row in ON_POLICY[:2]
    ),
)

JH, BASELINES = tags(JEKYLL_HYDE), tags(ON_POLICY)
HALF, DECAYING = JH[:2], JH[2:]  # o=0.5 and o=10/sqrt(t)
BRIEF, LASTING = JH[::2], JH[1::2]  # exploration: eps=100/t and eps=10/sqrt(t)
PLAIN, ENTROPY = BASELINES[:2], BASELINES[2:]
BY_O = tuple(zip(HALF, DECAYING, strict=True))
BY_ENTROPY = tuple(zip(ENTROPY, PLAIN, strict=True))

# Problems and experiments.

CHAIN = {"name": "chain", "n_states": 10, "beta": 0.8}
RANDOM = {"name": "garnet", "n_states": 100, "n_actions": 4, "connectivity": 2}
# The first seed of a panel's MDPs, so that no two panels rest on the same sample of problems.
FIRST_SEEDS = {"2b": 2000, "9c": 3000, "10b": 4000, "12b": 5000, "15b": 6000, "16b": 7000}
ON_THE_CHAIN, ON_RANDOM_MDPS = "chain, |S|=10, beta=0.8", "random MDPs, |S|=100"
DEFAULTS = {"eta": 1.0, "eta_c": 0.1, "q0": 0.0}
SIZES = list(range(3, 26))
BETAS = {"from": 0.0, "to": 0.99, "step": 0.01}


def random_mdps(name: str) -> dict[str, Any]:
    """Random MDPs of a panel's own; those of the panels that share runs are the same."""
    first = FIRST_SEEDS.get(name.removesuffix("-jekyll"))
    return RANDOM if first is None else {**RANDOM, "seed": f"run+{first}"}


def learning(
    name: str, problem: dict[str, Any], series: Series, runs: int = 100, **settings: Any
) -> Experiment:
    """The return against trajectories, 100,000 by default."""
    return Experiment(
        name=name,
        method="learn",
        problem=problem,
        series=series,
        runs=runs,
        settings={**DEFAULTS, "trajectories": 100_000, "points": 500, **settings},
    )


def curve_panel(name: str, title: str, experiment: Experiment, tests: Tests, **shown: Any) -> Panel:
    """Returns against updates or trajectories, and the claims about them."""
    unit = "updates" if "updates" in experiment.settings else "trajectories"
    about = claims(experiment.settings[unit], tests)
    return Panel(name, title, experiment, unit, claims=about, **shown)


def sweep(
    name: str,
    vary: dict[str, Any],
    tests: Tests,
    *,
    title: str,
    problem: dict[str, Any],
    series: Series = JEKYLL_HYDE + ON_POLICY,
    **settings: Any,
) -> Panel:
    """Trajectories to the target against what varies, and the claims about them."""
    ((axis, values),) = vary.items()
    jekyll = settings.get("target_on") == "jekyll"
    return Panel(
        name,
        title + (", Jekyll" if jekyll else ""),
        Experiment(
            name=f"fig{name}",
            method="learn",
            problem=random_mdps(name) if problem is RANDOM else problem,
            series=series,
            settings={**DEFAULTS, **settings},
            vary=vary,
            runs=100,
        ),
        "|S|" if axis == "n_states" else axis,
        "time_jekyll" if jekyll else "time",
        logx="per_decade" in values,
        claims=claims(settings["trajectories"], tests),
    )


# To 0.5 on the chain with 10 states and beta 0.8; to 0.95 on random MDPs with 100 states, a new one
# for each run.
chain_sweep = partial(sweep, title=ON_THE_CHAIN, problem=CHAIN, trajectories=150_000, target=0.5)
random_sweep = partial(
    sweep, title=ON_RANDOM_MDPS, problem=RANDOM, trajectories=120_000, target=0.95
)
chain_curves = learning("fig2a", CHAIN, JEKYLL_HYDE + ON_POLICY + UCB, runs=200)
random_curves = learning(
    "fig2b",
    random_mdps("2b"),
    JEKYLL_HYDE_4 + ON_POLICY_4 + UCB + UCB_4 + ON_POLICY_1[:2] + RELEASED,
    runs=200,
    points=1001,
)
