"""Figure 2: the tabular agents against trajectories, on the chain (2a) and on random MDPs (2b, 2c
zoomed); what the paper says about it, in our words, is from Section 4.3.
"""

from jekyllhyde.lab.claims import (
    ALIKE,
    FOUND,
    SOLVED,
    Bools,
    Curves,
    Measured,
    above,
    below,
    compare,
    crosses_sooner,
    decided,
    each,
    each_pair,
    end_means,
    ends_higher,
    every,
    gap_ratio,
    half_and_end,
    label_of,
    listing,
    mean,
    none,
    runs_above,
    share,
    show,
)
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    BRIEF,
    BY_ENTROPY,
    BY_O,
    JEKYLL_HYDE_4,
    JH,
    LASTING,
    ON_POLICY_1,
    ON_POLICY_4,
    ON_RANDOM_MDPS,
    ON_THE_CHAIN,
    PLAIN,
    RELEASED,
    UCB,
    UCB_4,
    chain_curves,
    curve_panel,
    random_curves,
    tags,
)

UCB_1, UCB_01, UCB_001 = tags(UCB)
BY_EPSILON = tuple(zip(BRIEF, LASTING, strict=True))
VANILLA = tuple((a, b) for a in BRIEF for b in PLAIN)


def _above_half_time(curves: Curves, tag: str) -> Bools:
    half, end = half_and_end(curves, tag).T
    return end > half


def _eventually(curves: Curves, tag: str) -> Measured:
    # Above 0.95 is there; still rising over the second half is halfway, since the end is not seen.
    end, rise = mean(curves, tag), share(curves, tag, _above_half_time)
    return [decided(above(end, SOLVED), above(rise, 0.5) is False)], (
        f"{label_of(curves, tag)} {end} at the end, "
        f"share of runs above their return at half time {rise}"
    )


PANELS = (
    curve_panel(
        "2a",
        ON_THE_CHAIN,
        chain_curves,
        (
            "2a-on-policy",
            "On-policy updates, with entropy or without, cannot solve the chain.",
            runs_above(none, FOUND, BASELINES),
        ),
        (
            "2a-ucb",
            "PG with a strong UCB bonus (nu=1) solves it.",
            runs_above(every, FOUND, (UCB_1,)),
        ),
        (
            "2a-ucb-only",
            "nu=1 is the only on-policy setting that does: smaller bonuses fail.",
            runs_above(none, FOUND, (UCB_01, UCB_001)),
        ),
        ("2a-jh", "Every J&H variant solves it.", runs_above(every, FOUND, JH)),
        (
            "2a-half",
            "o=0.5 finds the optimal policy significantly sooner than o=10/sqrt(t).",
            crosses_sooner(FOUND, BY_O),
        ),
        ("2a-sufficient", "eps=100/t explores enough.", end_means(above, SOLVED, BRIEF)),
        (
            "2a-asymptotic",
            "eps=100/t is closer to the optimum in the end than eps=10/sqrt(t).",
            ends_higher(BY_EPSILON),
        ),
    ),
    curve_panel(
        "2b",
        ON_RANDOM_MDPS,
        random_curves,
        (
            "2b-solve",
            "All algorithms but those with a large UCB bonus solve random MDPs.",
            end_means(above, SOLVED, (*JH, *BASELINES, UCB_001)),
        ),
        (
            "2b-ucb",
            "UCB with nu 0.1 or 1 explores too much to solve random MDPs in time "
            "(published setting batch=1).",
            end_means(below, SOLVED, (UCB_1, UCB_01)),
            show("beside them: {}", each(mean, tags(UCB_4))),
        ),
        ("2b-eventually", "They eventually will.", listing("{}", _eventually, (UCB_1, UCB_01))),
        series=tags(JEKYLL_HYDE_4, ON_POLICY_4, UCB, UCB_4),
        ylim=(-0.25, 1.02),
    ),
    curve_panel(
        "2c",
        f"{ON_RANDOM_MDPS}, zoomed",
        random_curves,
        (
            "2c-bias",
            "Entropy regularization incurs a bias.",
            ends_higher(tuple((plain, entropy) for entropy, plain in BY_ENTROPY)),
        ),
        (
            "2c-off-policy",
            "The off-policy part of J&H does not slow convergence down "
            "compared with plain on-policy updates (eps=100/t).",
            crosses_sooner(SOLVED, VANILLA, ALIKE),
            compare(
                "of distances to the optimum at the end: {}",
                each_pair(gap_ratio, VANILLA),
                below,
                ALIKE,
            ),
        ),
        (
            "2c-mixture",
            "J&H with eps=10/sqrt(t) is worse in global return; Jekyll alone: see 9b.",
            ends_higher(BY_EPSILON),
        ),
        series=tags(JEKYLL_HYDE_4, ON_POLICY_4, UCB, UCB_4),
        groups={"J&H": JH, "on-policy": BASELINES, "PG with a UCB bonus": tags(UCB, UCB_4)},
        ylim=(0.9, 1.002),
        xlim=(1000, 100_000),
        logx=True,
    ),
    curve_panel(
        "2b-settings",
        f"{ON_RANDOM_MDPS}, the same with other settings",
        random_curves,
        series=tags(JEKYLL_HYDE_4[:1], ON_POLICY_4[:2], ON_POLICY_1[:2], RELEASED),
        ylim=(-0.25, 1.02),
    ),
)
