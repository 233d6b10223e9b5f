"""Figure 16: trajectories to the target against a constant epsilon, on the chain (16a) and on
random MDPs (16b).

The published times need the global and Jekyll's return above the target; the text, in Appendix E,
speaks of Jekyll's alone. `16a` and `16b` show the first, `16a-jekyll` and `16b-jekyll` the second:
on the chain with a target of 0.95, to which the numbers in the text belong. On random MDPs the
first is at the cap from a small epsilon on, since Hyde's share of the return is low, so its axis is
dense at the beginning. The numbers on the chain follow a sentence about strong off-policiness, so
o=0.5 is tested and the other one reported; what is said of random MDPs, and of both, names no o, so
both are tested.
"""

from typing import Any

from jekyllhyde.lab import estimates as of
from jekyllhyde.lab import times
from jekyllhyde.lab import verdicts as said
from jekyllhyde.lab.claims import Quantity, compare, never, relative, show, untestable
from jekyllhyde.lab.figures.shared_experiments import Series, chain_sweep, random_sweep, tags
from jekyllhyde.lab.panel import Curves, Test
from jekyllhyde.lab.verdicts import LONGER, MUCH_LONGER, SHORTER, Estimate, Range, about

SERIES: Series = tuple(
    {"label": f"J&H o={o}", "agent": "jekyll-hyde", "o": o} for o in (0.5, "10/sqrt(t)")
)
STRONG, WEAK = TAGS = tags(SERIES)
EPSILONS = ("jh-100t", "jh-10sqrtt")  # of Figure 10, where o is 1 in the end
FINE = {"epsilon": {"from": 0.0, "to": 1.0, "step": 0.01}}
# also the places that the text speaks of, and their middle
MEDIUM = {"epsilon": sorted([*(k / 50 for k in range(51)), 0.05, 0.475, 0.95])}
# The published range ends at 0.04.
DENSE_AT_FIRST = {"epsilon": [k / 200 for k in range(11)] + [k / 20 for k in range(2, 21)]}


HYDE: dict[str, Any] = {"x": 0.0, "base": 0.05}  # how much longer it takes without him


def _strong(quantity: Quantity, *stated: Range, panel: str = "", **where: Any) -> tuple[Test, Test]:
    # Decided by o=0.5, with the other one shown.
    return (
        compare(quantity, (STRONG,), *stated, panel=panel, **where),
        show(quantity, (WEAK,), panel=panel, **where),
    )


def halves(curves: Curves, tag: str) -> Estimate:
    """Fall of the mean time from eps 0 to 0.475, relative to that from 0.475 to 0.95."""
    places = [of.at(curves, x) for x in (0.0, 0.475, 0.95)]
    return of.of_means(
        curves,
        lambda m: (m[..., 0] - m[..., 1]) / (m[..., 1] - m[..., 2]),
        of.runs_of(curves, tag)[0][:, places],
    )


PANELS = (
    chain_sweep(
        "16a",
        FINE,
        {
            "16a-zero": tuple(
                never(times.arrive_at, TAGS, panel, x=0.0) for panel in ("", "16a-jekyll")
            ),
            "16a-little": compare(of.share, TAGS, *said.USUALLY, flags=times.arrive_at, x=0.05),
            "16a-alleviates": tuple(
                compare(times.time_ratio, (TAGS,), SHORTER, panel=panel, x=0.05)
                for panel in ("", "16a-jekyll")
            ),
        },
        series=SERIES,
        trajectories=100_000,
    ),
    random_sweep(
        "16b",
        DENSE_AT_FIRST,
        {
            "16b-slightly": (
                *(
                    compare(times.along, TAGS, said.SLIGHTLY_LONGER, panel=panel, high=0.95)
                    for panel in ("", "16b-jekyll")
                ),
                # the last of both returns that nearly all runs reach
                compare(times.change, TAGS, LONGER, said.SLIGHTLY_LONGER, x=0.02, base=0.0),
            ),
        },
        series=SERIES,
    ),
    chain_sweep(
        "16a-jekyll",
        FINE,
        {
            "16a-jekyll-hyde": (
                compare(times.change, TAGS, LONGER, MUCH_LONGER, **HYDE),
                compare(times.change, TAGS, LONGER, MUCH_LONGER, panel="16b-jekyll", **HYDE),
            ),
            "16a-jekyll-15000": _strong(times.mean_time, about(15_000), x=0.05),
            "16a-jekyll-6500": _strong(times.mean_time, about(6_500), x=0.6),
            "16a-jekyll-faster": _strong(times.change, SHORTER, x=0.6, base=0.05),
            "16a-jekyll-flat": (
                *(compare(times.mean_time, (STRONG,), about(6450), x=x) for x in (0.6, 0.95)),
                compare(times.change, (STRONG,), said.ALIKE, x=0.95, base=0.6),
            ),
            "16a-jekyll-one": _strong(times.change, LONGER, x=1.0, base=0.95),
            "16a-jekyll-7300": _strong(times.mean_time, about(7_300), x=1.0),
            "16a-jekyll-improves": tuple(
                compare(times.trend, TAGS, said.LOWER, panel=panel, low=0.05, high=0.95)
                for panel in ("", "16b-jekyll")
            ),
            "16a-jekyll-no-on-policy": tuple(
                compare(times.change, EPSILONS, LONGER, panel=panel, x=1.0, base=0.95)
                for panel in ("10a", "10b")
            ),
            "16a-jekyll-statistics": untestable(
                "it gives a cause; times alone do not show what they rest on"
            ),
        },
        series=SERIES,
        trajectories=100_000,
        target=0.95,
        target_on="jekyll",
    ),
    random_sweep(
        "16b-jekyll",
        MEDIUM,
        {
            "16b-jekyll-unnecessary": compare(
                of.share, TAGS, *said.USUALLY, flags=times.arrive_at, x=0.0
            ),
            "16b-jekyll-35000": compare(times.mean_time, TAGS, about(35_000), x=0.0),
            "16b-jekyll-29000": compare(times.mean_time, TAGS, about(29_000), x=0.95),
            "16b-jekyll-linear": (
                compare(times.change, TAGS, SHORTER, x=0.95, base=0.0),
                compare(halves, TAGS, about(1.0)),
            ),
            "16b-jekyll-one": compare(times.mean_time, TAGS, said.above(100_000), x=1.0),
            "16b-jekyll-explore": untestable(
                "it gives a cause; at eps=0 Hyde's buffer is empty, "
                "so no off-policy update stands in for exploration"
            ),
            "16b-jekyll-stronger": relative(
                times.change, TAGS, "16a-jekyll", SHORTER, said.MUCH_SHORTER, **HYDE
            ),
        },
        series=SERIES,
        target=0.95,
        target_on="jekyll",
    ),
)
