"""Figure 14: trajectories to 0.5 on the chain against its size (14a) and against beta (14b).

What the paper says about it, in our words, is from Appendix E.
"""

import numpy as np

from jekyllhyde import intervals
from jekyllhyde.lab.claims import (
    LAST,
    Measured,
    about,
    above,
    all_arrive,
    arrived,
    at,
    average_time_ratio,
    below,
    between,
    both,
    bounded,
    compare,
    each,
    each_pair,
    every,
    in_runs,
    label_of,
    listing,
    lost,
    most,
    of_means,
    require,
    say,
    share,
    show,
    time_ratio,
    untestable,
    values_at,
)
from jekyllhyde.lab.estimates import Estimate, Floats
from jekyllhyde.lab.figures.shared_experiments import (
    BETAS,
    BY_ENTROPY,
    BY_O,
    ENTROPY,
    HALF,
    JH,
    PLAIN,
    SIZES,
    chain_sweep,
)
from jekyllhyde.lab.panel import Curves


def _median(curves: Curves, tag: str) -> Estimate:
    (times,) = values_at(curves, 3, tag)
    return bounded(curves, intervals.kaplan_meier(times, times < curves.cap).median, len(times))


def _entropy_late(curves: Curves) -> Measured:
    # The median on the smallest chain, which the sentence before is about; a mean near the cap,
    # where times end, says nothing.
    medians = each(_median, ENTROPY)(curves)
    measured = (
        f"median time at |S|=3: {say(medians)}; "
        f"share that does not get there by {curves.cap}: "
        + say(each(lambda c, tag: c.censored[tag][at(c, 3)], ENTROPY)(curves))
    )
    require(
        not all(np.isinf(median.y) for median in medians.values()),
        f"most runs do not get there by the cap, so nobody knows when they do; {measured}",
    )
    return [
        None if np.isinf(time.y) else about(time, 150_000) for time in medians.values()
    ], measured


def _small_beta(curves: Curves, tag: str) -> Measured:
    first, last = arrived(curves, tag).T[[0, -1]]
    return [both(every(curves, first), not last.all())], (
        f"{label_of(curves, tag)} {first.mean():.4g} at {curves.x[0]:g}, "
        f"{last.mean():.4g} at {curves.x[-1]:g}"
    )


def _limit(curves: Curves, *tags: str) -> Estimate:
    # The largest beta that at least half of the runs solve; of a first series less that of a
    # second.

    def largest(shares: Floats, *others: Floats) -> Floats:
        place = np.where(shares >= 0.5, curves.x, -1.0).max(axis=-1)
        return place - largest(*others) if others else place

    return of_means(curves, largest, *(arrived(curves, tag).astype(float) for tag in tags))


PANELS = (
    chain_sweep(
        "14a",
        {"n_states": SIZES},
        (
            "14a-scales",
            "J&H scales well with the chain's size where off-policiness is maintained.",
            all_arrive(HALF),
        ),
        (
            "14a-maintained",
            "It does less so where off-policiness decays (o=10/sqrt(t)).",
            compare(
                "mean time at |S|={last:g} relative to o=0.5: {}",
                each_pair(time_ratio, tuple((b, a) for a, b in BY_O), LAST, name="{a}"),
                above,
                1.0,
            ),
        ),
        (
            "14a-easiest",
            "On-policy updates fail even on the easiest chain.",
            in_runs(most, lost, PLAIN, 3),
            show("share of runs that fail at |S|=3: {}", each(share, PLAIN, lost, 3)),
        ),
        ("14a-entropy", "With entropy they reach 0.5 around trajectory 150,000.", _entropy_late),
        (
            "14a-converged",
            "On-policy updates have settled on the fruit "
            "before the later states' values are estimated.",
            untestable("it gives a cause; the stored times show the effect alone (14a-easiest)"),
        ),
        title="chain, beta=0.8",
    ),
    chain_sweep(
        "14b",
        {"beta": BETAS},
        (
            "14b-small",
            "With beta small enough on-policy updates solve the chain of 10 states.",
            listing(  # at the smallest beta all runs find the optimal policy, at the largest not
                "share of runs that reach the target: {}", _small_beta, PLAIN, separator=", "
            ),
        ),
        (
            "14b-entropy",
            "Entropy pushes that limit a bit further, not by much.",
            show(
                "largest beta that half of the runs solve (-1: none): {}",
                each(_limit, tuple(tag for a, b in BY_ENTROPY for tag in (b, a))),
            ),
            compare("shift: {}", each_pair(_limit, BY_ENTROPY, name="{a}"), between, 0.0, 0.1),
        ),
        (
            "14b-critic",
            "The time that the critic needs is fatal to on-policy updates.",
            untestable(
                "it gives a cause; "
                "the stored times show the effect alone (14b-small, 12a-on-policy)"
            ),
        ),
        ("14b-reliable", "J&H is reliable, whatever beta.", all_arrive(JH)),
        (
            "14b-strong",
            "It is so in particular with strong off-policiness.",
            compare(
                "mean time relative to o=10/sqrt(t): {}",
                each_pair(average_time_ratio, BY_O, name="{a}"),
                below,
                1.0,
            ),
        ),
        title="chain, |S|=10",
    ),
)
