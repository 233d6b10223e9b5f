"""Figure 13: random MDPs with eta 10 and eta_c 0.025, mean (13a) and decile (13b) of the global
return.

What the paper says about it, in our words, is from Appendix E; the steps are tuned for 0.95.
"""

from jekyllhyde.lab.claims import (
    SOLVED,
    above,
    against,
    below,
    compare,
    decile,
    decile_higher,
    each,
    end_means,
)
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    DECAYING,
    HALF,
    JEKYLL_HYDE,
    JH,
    ON_POLICY,
    ON_RANDOM_MDPS,
    PLAIN,
    RANDOM,
    curve_panel,
    learning,
)

ALL = (*JH, *BASELINES)
TUNED = learning("fig13a", RANDOM, JEKYLL_HYDE + ON_POLICY, eta=10.0, eta_c=0.025)
PANELS = (
    curve_panel(
        "13a",
        f"{ON_RANDOM_MDPS}, eta=10, eta_c=0.025, mean",
        TUNED,
        (
            "13a-well",
            "All algorithms perform well with these steps: they reach 0.95.",
            end_means(above, SOLVED, ALL),
        ),
        (
            "13a-99",
            "With these steps 0.99 would take much longer than 100,000 trajectories "
            "(that the default gets there: 9a-default-99).",
            end_means(below, 0.99, ALL),
        ),
        ("13a-999", "Let alone 0.999.", end_means(below, 0.999, ALL)),
        ylim=(0.9, 1.002),
    ),
    curve_panel(
        "13b",
        f"{ON_RANDOM_MDPS}, eta=10, eta_c=0.025, decile",
        TUNED,
        (
            "13b-99",
            "In the decile too, 0.99 would take much longer.",
            compare("decile at the end: {}", each(decile, ALL), below, 0.99),
        ),
        (
            "13b-worst",
            "Off-policiness improves the worst case.",
            decile_higher("J&H eps=100/t o=0.5", against(HALF[0], (DECAYING[0], *PLAIN))),
        ),
        statistic="decile",
        ylim=(0.8, 1.002),
    ),
)
