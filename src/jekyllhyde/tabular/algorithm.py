"""Algorithm 3 (Dr Jekyll and Mr Hyde), and Algorithm 2 (on-policy), the same loop without Hyde.

The numbers on the right are the lines of Algorithm 3. What can be chosen is a record whose type
selects the code:

    leader     who acts, and whose transitions are learned from       (`hyde`)
    actor      the update of Jekyll's policy in a visited state       (`jekyll`)
    critic     Jekyll's q                                             (`jekyll`)
    explorer   Mr Hyde: his policy, his q and his bonus               (`hyde`)
    replay     the two buffers, or the transition under way           (`replays`)
    model      what is learned of the world: nothing, or all counts   (`learned_model`)
    world      a known model, or one observed transition              (`known_model`)

Random numbers are drawn in the order of the listing, and only where there is something to choose.
The published code learns Jekyll's critic before Hyde's, and draws the next leader after learning.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import by_type, kernel
from jekyllhyde.tabular.records import Run, StepSize, step_of

PAUSED, FINISHED, EVALUATE, DIVERGED = range(4)  # why the loop returned


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


act, is_over, restart, evaluate = map(by_type, ("act", "is_over", "restart", "evaluate"))
store, draw, prepare, learn_critic, learn_hyde, improve = map(
    by_type, ("store", "draw", "prepare", "learn_critic", "learn_hyde", "improve")
)
off_policiness, choose_leader = map(by_type, ("off_policiness", "choose_leader"))
begin, draws, observe, settle = map(by_type, ("begin", "draws", "observe", "settle"))


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
    for _ in range(budget):
        if k == 0:
            begin(leader, run, row)
        pair, e = act(world, run, explorer, row, control)  # 5
        t += 1
        tables.n[pair] += 1
        sizes = store(replay, e, control, sizes)  # 6
        observe(model, run, e)
        factor_sum += factor
        step = step_of(step_size, factor, factor_sum, trajectories, t)
        factor *= step_size.decay
        o = off_policiness(leader, t)
        prepare(critic, world, run, t)
        over = is_over(world, e, k + 1)
        for i in range(draws(replay, run, batch, k + 1, over)):
            sample = draw(replay, run, e, i, control, o, sizes)  # 9
            finite &= learn_critic(critic, run, sample, e, log_count)  # 11
            learn_hyde(explorer, run, sample, log_count)  # 10
            improve(actor, run, sample, step, t)  # 12
            settle(model, run, sample.row)
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
            row = restart(world, row, words)
            reason = evaluate(world, run, explorer, trajectories, t, epsilon)
            if reason != PAUSED:
                break
    now.row, now.k, now.steps, now.control = np.int64(row), k, t, control
    now.trajectories, now.factor, now.factor_sum = trajectories, factor, factor_sum
    now.size_jekyll, now.size_hyde = sizes
    return reason
