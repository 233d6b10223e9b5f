"""Algorithm 3 (Dr Jekyll and Mr Hyde), and Algorithm 2 (on-policy), the same loop without Hyde.

The numbers on the right of `advance` are the lines of Algorithm 3 | of Algorithm 2. Each is one
call, and the type of its first argument selects the code. The records below are the paper's
listings, those of convention="paper"; other conventions, `recommended` (the default of J&H) first
of all, choose others (`conventions`).

    lines     call            in the file   Algorithm 3              Algorithm 2
    1-3 | 1   initial_state   run_state     theta 0, q = q0, nothing stored, Jekyll leads
    5 | 3     act             known_model   a known MDP, or an environment
    6         store           replays       TwoLogs                  UnderWay
    7         choose_leader   hyde          JekyllAndHyde            Nobody
    9 | 4     draw            replays       TwoLogs                  UnderWay
    10        learn_hyde      hyde          BonusQLearning, Count    Nobody
    11 | 5    learn_critic    jekyll        TemporalDifference with ExpectedSarsa
    12 | 6    improve         jekyll        Softmax                  Sampled

The order within a step is that of the published code, in every convention: Jekyll's critic learns
before Hyde's, which changes nothing, for neither reads the other; and the next leader is drawn when
the trajectory is over, after learning. A trajectory is over in a terminal state, and where it is
cut. Random numbers are drawn in the order of the calls, where there is something to choose.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, kernel
from jekyllhyde.tabular.records import Run
from jekyllhyde.tabular.step_sizes import StepSize, step_of

PAUSED, FINISHED, EVALUATE, DIVERGED = range(4)  # why the loop returned
JEKYLL, HYDE = range(2)  # who is in control


class Algorithm(NamedTuple):
    """All choices; `batch` samples a step, `counts_log`: a bonus asks for log(trajectories + 1)."""

    leader: Any
    actor: Any
    critic: Any
    explorer: Any
    replay: Any
    step_size: StepSize
    batch: int
    counts_log: bool


# The calls of the loop, by the file that has their records: known_model; replays; jekyll and hyde;
# hyde; learned_model.
act, is_over, restart, evaluate = map(by_type, ("act", "is_over", "restart", "evaluate"))
store, draws, draw = map(by_type, ("store", "draws", "draw"))
prepare, learn_critic, improve, learn_hyde = map(
    by_type, ("prepare", "learn_critic", "improve", "learn_hyde")
)
begin, off_policiness, choose_leader = map(by_type, ("begin", "off_policiness", "choose_leader"))
observe, settle = map(by_type, ("observe", "settle"))


def keep(explorer: Any, run: Run) -> None:
    """His values go on from one trajectory to the next."""


redraw = by_type("redraw", keep)


@kernel
def advance(world: Any, run: Run, algorithm: Algorithm, budget: int) -> int:
    """Up to `budget` environment steps; returns why it stopped."""
    leader, actor, critic, explorer, replay, step_size, batch, counts_log = algorithm
    edges, tables, model, words, position = run
    now = position[0]
    row, k, t, control = np.uint64(now.row), now.k, now.steps, now.control
    trajectories, log_count = now.trajectories, math.log(now.trajectories + 1.0)
    factor, factor_sum = now.factor, now.factor_sum
    sizes = now.size_jekyll, now.size_hyde
    reason, finite = PAUSED, True
    for _ in range(budget):  # 4 | 2
        if k == 0:
            begin(leader, run, row)  # Hyde's value at the start, for `curious` and `model_based`
        pair, e = act(world, run, explorer, row, control)  # 5 | 3
        t += 1
        tables.n[pair] += 1
        sizes = store(replay, e, control, sizes)  # 6
        observe(model, run, e)  # counted, where somebody plans in the learned model
        # eta d of the actor: the factor, gamma^k or 1, is that of this step, also for old samples
        factor_sum += factor
        step = step_of(step_size, factor, factor_sum, trajectories, t)
        factor *= step_size.decay
        o = off_policiness(leader, run, t)
        prepare(critic, world, run, t)  # the mle critic alone
        over = is_over(world, e, k + 1)
        for i in range(draws(replay, run, batch, k + 1, over)):  # 8
            sample = draw(replay, run, e, i, control, o, sizes)  # 9 | 4
            finite &= learn_critic(critic, run, sample, e, log_count)  # 11 | 5
            learn_hyde(explorer, run, sample, log_count)  # 10
            improve(actor, run, sample, step, t)  # 12 | 6
            settle(model, run, sample.row)  # whom a moved value concerns is drawn next
        if not finite:
            reason = DIVERGED
            break
        row = np.uint64(edges.next[e])
        k += 1
        if over:
            trajectories += 1
            if counts_log:
                log_count = math.log(trajectories + 1.0)
            k, factor = 0, 1.0
            now.hyde_trajectories += control
            epsilon, control = choose_leader(leader, run, t)  # 7
            if control:
                redraw(explorer, run)  # posterior sampling alone
            row = restart(world, row, words)
            reason = evaluate(world, run, explorer, trajectories, t, epsilon)
            if reason != PAUSED:
                break
    now.row, now.k, now.steps, now.control = np.int64(row), k, t, control
    now.trajectories, now.factor, now.factor_sum = trajectories, factor, factor_sum
    now.size_jekyll, now.size_hyde = sizes
    return reason
