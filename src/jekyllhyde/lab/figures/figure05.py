"""Figure 5: exact updates on the chain, direct parametrization; against updates, |S|, beta and eta.

What the paper says about it, in our words, is from Section 4.2 and Appendix D.
"""

import numpy as np

from jekyllhyde.lab.claims import (
    FOUND,
    MUCH,
    Curves,
    Measured,
    average,
    below,
    compare,
    crossing,
    decided,
    each,
    exactly,
    holds,
    join,
    label_of,
    largest,
    near,
    require,
    say,
    show,
    solved,
    untestable,
)
from jekyllhyde.lab.figures import chain_planning as chain
from jekyllhyde.lab.figures.shared_experiments import (
    BETAS,
    DIRECT,
    O_HALF,
    O_T,
    PLANNED_PLAIN,
    SIZES,
    UNIFORM,
)

OPTIMAL = 1 - 1e-10


def _settled(curves: Curves, tag: str) -> float:
    # When the return is within 0.01 of where it ends, for good.
    y = average(curves, tag)
    away = np.flatnonzero(np.abs(y - y[-1]) > 0.01)
    return float(curves.x[min(away[-1] + 1, len(y) - 1) if len(away) else 0])


def _first_to_find(curves: Curves) -> float:
    return min(float(crossing(curves, tag, FOUND).mean()) for tag in chain.C4)


def _fast_once_found(curves: Curves) -> Measured:
    # Fast: from 0.5 to the optimum in less time than from the start to 0.5.
    times = {
        label_of(curves, tag): [float(curves.x[np.argmax(y > level)]) for level in (FOUND, OPTIMAL)]
        for tag in chain.C4
        for y in [average(curves, tag)]
        if y[-1] > OPTIMAL
    }
    require(times, "no series reaches the optimum")
    return [done - start < start for start, done in times.values()], (
        "updates to 0.5, then to the optimum: "
        + say({key: f"{start:g} then {done - start:g}" for key, (start, done) in times.items()})
    )


def _exponential(curves: Curves) -> Measured:
    # Is log time closer to a line in |S| than in log |S|, with less than half the residual?
    there = solved(curves, O_T)
    require(
        there.sum() >= 4,
        f"o=10/t solves {there.sum()} of these chains; "
        "four are needed to tell exponential growth from a power",
    )
    y = np.log(np.maximum(average(curves, O_T)[there], 1.0))
    sizes = curves.x[there]
    exponential, power = (
        float(np.sqrt(np.mean((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2)))
        for x in (sizes, np.log(sizes))
    )
    return [decided(MUCH * exponential < power, exponential > MUCH * power)], (
        f"residual of the log time over {len(sizes)} sizes: "
        + say({"exponential": exactly(exponential), "power": exactly(power)})
    )


def _share_from_smallest(curves: Curves, tag: str) -> float:
    there = solved(curves, tag)
    reach = curves.x >= curves.x[there].min(initial=np.inf)
    return float(there[reach].mean()) if reach.any() else 0.0


_SENSITIVE = join(  # whether they succeed depends on x: solved at the low end, not at the high end
    holds(
        lambda curves: [
            part
            for tag in PLANNED_PLAIN
            for part in (solved(curves, tag)[0], not solved(curves, tag)[-1])
        ]
    ),
    show(
        "largest {xlabel} solved on-policy: {}, of {first:g} to {last:g}",
        each(largest, PLANNED_PLAIN),
    ),
)

PANELS = (
    chain.panel(
        "5a",
        "|S|=10, beta=0.95, direct, eta=1",
        {**DIRECT, "updates": 999},
        {},
        ("5a-fruit", "On-policy updates converge to the low-hanging fruit.", chain.fruit),
        (
            "5a-fast",
            "They do so very fast.",
            compare(
                "updates until on-policy returns stay within 0.01 of their end: {}",
                each(_settled, PLANNED_PLAIN),
                below,
                _first_to_find,
            ),
            lambda curves: ([], f"first to find the optimum: {_first_to_find(curves):g}"),
        ),
        (
            "5a-strong",
            "With enough off-policiness the optimal policy is found.",
            chain.lasting_reach,
        ),
        (
            "5a-tight",
            "o=10/t satisfies C4 and still stays on the low-hanging fruit for long.",
            chain.weak_is_stuck,
        ),
        (
            "5a-exact",
            "Once found, the optimum is met exactly (Theorem 3).",
            compare(
                "distance to the optimum at the end: {}",
                each(lambda curves, tag: 1.0 - chain.end(curves, tag), (UNIFORM, O_HALF)),
                near,
                0.0,
                1e-10,
            ),
        ),
        (
            "5a-once-found",
            "Once the optimal policy is identified, convergence is fast.",
            _fast_once_found,
        ),
    ),
    chain.panel(
        "5b",
        "beta=0.95, direct, eta=1",
        DIRECT,
        {"n_states": SIZES},
        (
            "5b-seven",
            "On-policy updates fail on chains of 7 states or more.",
            chain.seven_is_too_many,
        ),
        (
            "5b-never",
            "They will never leave the suboptimal policy.",
            untestable("a run ends; 5b-seven says what 15000 updates show"),
        ),
        (
            "5b-scales",
            "Partly off-policy updates solve chains of 25 states with beta 0.95.",
            chain.constant_scales,
        ),
        ("5b-half", "o=0.5 converges fast with beta 0.95 and 25 states.", chain.half_at_25),
        (
            "5b-weight",
            "Convergence is faster as the uniform density weighs more.",
            chain.weight_is_speed,
        ),
        (
            "5b-tight",
            "When C4 holds only tightly (o=10/t) it can take very long.",
            chain.tight_is_long,
        ),
        (
            "5b-exponential",
            "With o=10/t the time is possibly exponential in the chain's length.",
            _exponential,
        ),
        (
            "5b-constant",
            "A constant off-policiness is preferable to a decaying one.",
            chain.constant_is_better,
        ),
        ("5b-sensitive", "On-policy updates are sensitive to the size of the chain.", _SENSITIVE),
    ),
    chain.panel(
        "5c",
        "|S|=15, direct, eta=1",
        DIRECT,
        {"beta": BETAS},
        (
            "5c-beta",
            "At |S|=15 on-policy updates fail even with the fruit ten times below the optimum.",
            chain.ten_times_smaller,
        ),
        ("5c-sensitive", "On-policy updates are sensitive to beta.", _SENSITIVE),
        (
            "5c-reliable",
            "Updates that meet the density requirement reliably find the optimum, whatever beta.",
            chain.reliable,
        ),
        n=15,
    ),
    chain.panel(
        "5d",
        "|S|=10, beta=0.5, direct",
        DIRECT,
        {"eta": {"from": 0.01, "to": 100, "per_decade": 10}},
        (
            "5d-ability",
            "The step size does not change whether on-policy updates find the optimum.",
            compare(
                "share solved among step sizes from the smallest that solves: {}",
                each(_share_from_smallest, PLANNED_PLAIN),
                lambda share: share.y in (0.0, 1.0),
            ),
        ),
        (
            "5d-faster",
            "A larger step size is faster.",
            compare(
                "largest increase of the time along eta: {}",
                each(lambda curves, tag: np.diff(average(curves, tag)).max(), chain.CONSTANT),
                lambda rise: rise.y <= 0,
            ),
        ),
        (
            "5d-infinite",
            "An infinite step size makes the update a step of policy iteration.",
            compare(  # which needs at most one improvement per state
                "updates at eta={last:g}: {}; policy iteration needs at most 10",
                each(lambda curves, tag: average(curves, tag)[-1], chain.C4),
                lambda time: time.y <= 10 or None,
            ),
        ),
        (
            "5d-footnote",
            "With beta 0.7 on-policy updates find the optimum for no step size.",
            untestable("the panel's beta is 0.5"),
        ),
        beta=0.5,
    ),
)
