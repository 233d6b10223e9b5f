"""Figure 15: trajectories to the target against the critic's initial value q0, on the chain (15a)
and on random MDPs (15b).

What the paper says about it, in our words, is from Appendix E. The text refers to the figure of the
critic's step here; what it says is about this one.
"""

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import compare, crossed, never, show
from jekyllhyde.lab.figures.shared_experiments import BASELINES, BY_O, JH, chain_sweep, random_sweep

FRUIT = 0.8 * 0.99**8  # the value of the low-hanging fruit, beta gamma^(|S|-2)
ALL = (*JH, *BASELINES)

PANELS = (
    chain_sweep(
        "15a",
        {"q0": {"from": 0.0, "to": 1.0, "step": 0.01}},
        {
            "15a-optimism": compare(
                of.share, BASELINES, *said.USUALLY, flags=times.arrive, low=FRUIT
            ),
            "15a-pessimism": never(times.arrive, BASELINES, high=FRUIT),
            "15a-less": (
                compare(times.longest_to_shortest, crossed(JH, BASELINES), said.SHORTER),
                show(times.longest_to_shortest, ALL),
            ),
            "15a-strong": compare(times.longest_to_shortest, BY_O, said.SHORTER),
            "15a-whatever": compare(times.lowest_share, JH, said.NEARLY_ALL),
        },
    ),
    random_sweep(
        "15b",
        {"q0": {"from": 0.0, "to": 1.0, "step": 0.02}},
        {
            "15b-slightly": (
                compare(times.trend, ALL, said.HIGHER),
                compare(times.along, ALL, said.SLIGHTLY_LONGER),
            ),
        },
    ),
)
