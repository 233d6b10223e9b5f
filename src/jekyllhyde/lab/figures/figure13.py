"""Figure 13: random MDPs with eta 10 and eta_c 0.025, mean (13a) and decile (13b) of the global
return.

What the paper says about it, in our words, is from Appendix E; the steps are tuned for 0.95.
"""

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab.claims import compare, crossed
from jekyllhyde.lab.figures import shared_experiments as shared
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BRIEF, JH, PLAIN
from jekyllhyde.lab.verdicts import HIGHER, SOLVES, above, below

ALL = (*JH, *BASELINES)
ONE_AT_A_TIME = shared.tags(shared.ON_POLICY_1[:2])
TUNED = shared.learning(
    "fig13a", shared.RANDOM, shared.JEKYLL_HYDE + shared.ON_POLICY, eta=10.0, eta_c=0.025
)
PANELS = (
    shared.curve_panel(
        "13a",
        f"{shared.ON_RANDOM_MDPS}, eta=10, eta_c=0.025, mean",
        TUNED,
        {
            "13a-well": compare(of.mean, ALL, SOLVES),
            "13a-99": (
                compare(of.mean, ALL, below(0.99)),
                compare(of.decile, ALL, below(0.99), panel="13b"),
                compare(of.mean, (*BRIEF, *PLAIN), above(0.99), panel="9a"),
                # the default steps in the loop of these runs, one transition a step
                compare(of.mean, ONE_AT_A_TIME, above(0.99), panel="2b-settings"),
            ),
            "13a-999": compare(of.mean, ALL, below(0.999)),
        },
        ylim=(0.9, 1.002),
    ),
    shared.curve_panel(
        "13b",
        f"{shared.ON_RANDOM_MDPS}, eta=10, eta_c=0.025, decile",
        TUNED,
        {
            "13b-worst": compare(
                of.decile_gain, crossed(shared.HALF[:1], (shared.DECAYING[0], *PLAIN)), HIGHER
            )
        },
        statistic="decile",
        ylim=(0.8, 1.002),
    ),
)
