"""Figure 11: trajectories to the target against the actor's step size eta, on the chain (11a) and
on random MDPs (11b).

What the paper says about it, in our words, is from Appendix E.
"""

import numpy as np

from jekyllhyde.lab.claims import (
    FIRST,
    LAST,
    Curves,
    Estimate,
    Floats,
    Measured,
    about,
    above,
    below,
    best,
    best_about,
    compare,
    each,
    each_pair,
    each_reaching,
    every,
    label_of,
    listing,
    much_above,
    none_arrive,
    of_means,
    runs_of,
    say,
    single,
    slowdown,
    time_ratio,
    untestable,
    within,
)
from jekyllhyde.lab.figures.shared_experiments import (
    BASELINES,
    JH,
    PLAIN,
    chain_sweep,
    random_sweep,
)

ALL = (*JH, *BASELINES)


def _until_it_breaks(curves: Curves, tag: str) -> Measured:
    # At the smallest eta the time is longer than at the best, at the largest more than twice.
    first, last = slowdown(curves, tag, FIRST), slowdown(curves, tag, LAST)
    return [above(first, 1.0), much_above(last)], (
        f"{label_of(curves, tag)} best at {best(curves, tag)}, "
        f"{first} times as long at {curves.x[0]:g}, {last} times at {curves.x[-1]:g}"
    )


def _no_divergence(curves: Curves) -> Measured:
    return [every(curves, curves.failures.get(tag, 0) == 0) for tag in JH], (
        "runs that diverged: "
        + say({label_of(curves, tag): count for tag, count in curves.failures.items()})
    )


def _best_eta_ratio(curves: Curves) -> Estimate:
    # The best eta of J&H, on (geometric) average over its variants, relative to that of on-policy
    # updates.

    def ratio(*m: Floats) -> Floats:
        places = np.log(np.stack([curves.x[times.argmin(axis=-1)] for times in m]))
        return np.asarray(np.exp(places[:4].mean(axis=0) - places[4:].mean(axis=0)))

    return of_means(curves, ratio, *runs_of(curves, *ALL))


def _shortest(*m: Floats) -> Floats:
    return np.min([times.min(axis=-1) for times in m], axis=0)


def _levels(curves: Curves) -> Measured:
    groups = [runs_of(curves, *tags) for tags in (JH, BASELINES)]
    jh, on_policy = (of_means(curves, _shortest, *samples) for samples in groups)
    medians = [min(np.median(times, axis=0).min() for times in samples) for samples in groups]
    return [about(jh, 2500), about(on_policy, 3500)], (
        f"shortest mean time of J&H {jh} (2500 stated), "
        f"of on-policy updates {on_policy} (3500 stated); "
        f"shortest medians {medians[0]:.4g} and {medians[1]:.4g}"
    )


PANELS = (
    chain_sweep(
        "11a",
        {"eta": {"from": 0.01, "to": 1000, "per_decade": 5}},
        (
            "11a-breaks",
            "A larger eta is better for J&H up to some value, where it breaks.",
            listing("{}", _until_it_breaks, JH),
        ),
        ("11a-numerical", "That is not a matter of numerical stability.", _no_divergence),
        (
            "11a-softmax",
            "It is that softmax parameters run away faster than they can come back.",
            untestable("the stored times say nothing about the parameters"),
        ),
        (
            "11a-on-policy",
            "No eta lets on-policy updates find the optimum.",
            none_arrive(BASELINES),
        ),
        (
            "11a-easier",
            "On easier chains (lower beta, smaller) it is the same.",
            untestable("the panel has one chain; the paper does not show this either"),
        ),
        (
            "11a-default",
            "The default of 1 is not the best eta.",
            compare(
                "mean time at eta={x[1.0]:g} relative to the shortest: {}",
                each(slowdown, JH, 1.0),
                above,
                1.0,
            ),
        ),
        ("11a-20", "An eta of about 20 is best here too.", best_about(20, JH)),
    ),
    random_sweep(
        "11b",
        {"eta": {"from": 0.39, "to": 1000, "per_decade": 5}},
        (
            "11b-range",
            "Every update has its best eta between 2 and 30.",
            compare("best eta: {}", each_reaching(best, ALL), within, 2, 30),
        ),
        (
            "11b-too-fast",
            "There is a value in not updating too fast: a very large eta is worse.",
            compare(
                "mean time at eta={last:g} relative to the shortest: {}",
                each_reaching(slowdown, ALL, LAST),
                above,
                1.0,
            ),
        ),
        (
            "11b-tolerant",
            "Off-policiness tolerates a higher eta.",
            compare(
                "best eta of J&H relative to on-policy updates: {}",
                single(_best_eta_ratio),
                above,
                1.0,
            ),
        ),
        ("11b-jh-20", "J&H is best with eta of about 20.", best_about(20, JH)),
        (
            "11b-on-policy-5",
            "On-policy updates are best with eta of about 5.",
            best_about(5, BASELINES),
        ),
        (
            "11b-outperforms",
            "Each at its best eta, J&H significantly outperforms on-policy updates.",
            compare(
                "shortest mean time of J&H relative to on-policy updates: {}",
                single(
                    lambda c: of_means(
                        c, lambda *m: _shortest(*m[:4]) / _shortest(*m[4:]), *runs_of(c, *ALL)
                    )
                ),
                below,
                1.0,
            ),
        ),
        (
            "11b-levels",
            "The best times are about 2,500 trajectories for J&H and 3,500 for on-policy updates.",
            _levels,
        ),
        (
            "11b-default",
            "The default eta of 1 is not favourable for J&H.",
            compare(
                "ratio of mean times at eta={x[1.0]:g}: {}",
                each_pair(time_ratio, tuple((a, b) for a in JH for b in PLAIN), 1.0),
                above,
                1.0,
            ),
        ),
    ),
)
