"""Algorithm 3 (Dr Jekyll and Mr Hyde), and Algorithm 2 (on-policy actor-critic), which is the same loop without Hyde and replay.

    for t = 1, 2, ...:
        a ~ the policy in control, s' ~ p(.|s, a)                                act
        add (s, a, r, s') to the buffer of the personality in control; count it
        for each sample of the batch:                                            on-policy: the transition itself
            draw it from Hyde's buffer with probability o_t, else from Jekyll's
            Jekyll's critic q         (`critics`)
            Hyde's critic q~          (`critics`)
            Jekyll's actor, in s      (`actors`)      step = eta d_t, normalized
        if the trajectory is over: Hyde takes control with probability epsilon_t, else Jekyll; evaluate if it is time to

`advance` runs it on a known MDP; with `problem` None it learns from one transition of an environment, given as edge clock[EDGE].
The phases that every agent shares stand in the loop; what is None is not compiled. Random numbers are drawn in the order of the listing,
and only where there is something to choose.
"""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.actors import (
    TINY,
    greedy_action,
    improve,
    improve_direct,
    improve_sampled,
    improve_softmax,
    sample_action,
)  # fmt: skip
from jekyllhyde.tabular.arrays import (
    CONTROL,
    CURRENT,
    DIVERGED,
    EDGE,
    ENDED,
    FACTOR,
    FACTOR_SUM,
    HYDE_TRAJECTORIES,
    MLE,
    NEXT,
    PAPER,
    PAUSED,
    PUBLISHED,
    Q_LEARNING,
    SIZE_HYDE,
    SIZE_JEKYLL,
    STATE,
    STEPS,
    TRAJECTORIES,
    Buffers,
    Edges,
    Hyde,
    Jekyll,
    K,
    Options,
    Problem,
    Scratch,
    Tables,
    Trace,
)  # fmt: skip
from jekyllhyde.tabular.critics import LARGEST, expected_value, fit_model, greedy_value, ucb
from jekyllhyde.tabular.leaf import phase
from jekyllhyde.tabular.replay import pick, store
from jekyllhyde.tabular.rng import Words, uniform
from jekyllhyde.tabular.simulate import next_edge, record, start_state


@kernel
def advance(
    problem: Problem | None, edges: Edges, tables: Tables, jekyll: Jekyll, hyde: Hyde | None, buffers: Buffers | None,
    options: Options | None, words: Words, clock: Ints, sums: Floats, trace: Trace, scratch: Scratch, budget: int,
) -> int:  # fmt: skip
    """Up to `budget` environment steps; returns why it stopped (PAUSED, FINISHED, EVALUATE or DIVERGED)."""
    theta, pi, q, q_hyde, n = tables
    e_s, e_a, e_next, e_r, e_discount, first, count = edges
    eta, eta_c, decay, normalization = jekyll
    n_actions = pi.shape[1]
    s, k, t, trajectories, control = clock[STATE], clock[K], clock[STEPS], clock[TRAJECTORIES], clock[CONTROL]
    size_jekyll, size_hyde = clock[SIZE_JEKYLL], clock[SIZE_HYDE]
    factor, factor_sum = sums[FACTOR], sums[FACTOR_SUM]
    log_count = np.log(trajectories + 1.0)
    batch = 1
    eta_hyde = 0.0
    if buffers is not None:
        log, capacity, ring, from_model, batch = buffers
    if hyde is not None:
        eta_hyde, clip, ucb_bonus, uniform_hyde, epsilon_c, epsilon_alpha, epsilon_table, o_c, o_alpha, o_table, table_first = hyde
    eta, eta_c, eta_hyde = eta / batch, eta_c / batch, eta_hyde / batch
    if options is not None:
        critic, mle_every, q0, gamma, direct, sampled, lam, centred, nu_critic, nu_actor, work = options
    if problem is not None:
        cdf, start, start_cdf, terminal, horizon = problem
        due = trace.at[clock[NEXT]]
    finite, reason = True, PAUSED
    for _ in range(budget):
        # Act.
        if problem is None:
            e = clock[EDGE]
            s, a = np.int64(e_s[e]), np.int64(e_a[e])
        else:
            u = uniform(words)
            a = greedy_action(q_hyde, s, u) if control else sample_action(pi, s, u)
            e = np.int64(first[s * n_actions + a])
            if first[s * n_actions + a + 1] - e > 1:
                e = np.int64(next_edge(first, cdf, s * n_actions + a, uniform(words)))
            count[e] += 1
        t += 1
        # Store and count.
        n[s, a] += 1
        if buffers is not None:
            store(log, control, size_hyde if control else size_jekyll, capacity, ring, e)
            size_hyde += control
            size_jekyll += 1 - control
        # Step size.
        factor_sum += factor
        step = eta * factor
        if normalization == PUBLISHED:
            step *= trajectories / factor_sum
        elif normalization == PAPER:
            step *= t / factor_sum
        factor *= decay
        if hyde is not None:
            o = value_at(o_c, o_alpha, o_table, table_first, t)
        if options is not None:
            log_t = np.log(t) if nu_actor > 0.0 else 0.0
            if critic == MLE and t % mle_every == 0:
                fit_model(tables, edges, scratch, gamma, q0)
        for _ in range(batch):
            # Draw.
            drawn = e
            if buffers is not None:
                from_hyde = 0
                if hyde is not None:
                    if size_hyde > 0 and (uniform(words) < o or size_jekyll == 0):
                        from_hyde = 1
                size = min(size_hyde if from_hyde else size_jekyll, capacity)
                drawn = np.int64(log[from_hyde, np.int64(uniform(words) * size)])
                if from_model:
                    row = np.int64(e_s[drawn]) * n_actions + e_a[drawn]
                    if first[row + 1] - first[row] > 1:
                        drawn = np.int64(pick(first, count, row, np.int64(uniform(words) * n[e_s[drawn], e_a[drawn]])))
            s_i, a_i, next_i = e_s[drawn], e_a[drawn], e_next[drawn]
            # Jekyll's critic.
            if options is None:
                target = e_r[drawn] + e_discount[drawn] * expected_value(pi, q, next_i)
                q_new = q[s_i, a_i] + eta_c * (target - q[s_i, a_i])
                q[s_i, a_i] = q_new
                finite &= abs(q_new) < LARGEST
            elif critic != MLE:
                used = e if critic == CURRENT else drawn
                s_c, a_c, next_c = e_s[used], e_a[used], e_next[used]
                value = greedy_value(q, next_c) if critic == Q_LEARNING else expected_value(pi, q, next_c)
                target = e_r[used] + e_discount[used] * value + nu_critic * ucb(n[s_c, a_c], log_count)
                q_new = q[s_c, a_c] + eta_c * (target - q[s_c, a_c])
                q[s_c, a_c] = q_new
                finite &= abs(q_new) < LARGEST
            # Hyde's critic.
            if hyde is not None:
                if not uniform_hyde:
                    bonus = ucb(n[s_i, a_i], log_count) if ucb_bonus else 1.0 / np.sqrt(n[s_i, a_i])
                    target = bonus + e_discount[drawn] * greedy_value(q_hyde, next_i)
                    q_hyde[s_i, a_i] = min(q_hyde[s_i, a_i] + eta_hyde * (target - q_hyde[s_i, a_i]), clip)
            # Jekyll's actor.
            if options is None:
                improve(theta, pi, q, s_i, step)
            elif sampled:
                target = e_r[drawn] + e_discount[drawn] * expected_value(pi, q, next_i)
                target += nu_actor * np.sqrt(log_t / n[s_i, a_i]) - lam * np.log(max(pi[s_i, a_i], TINY))
                improve_sampled(theta, pi, s_i, a_i, target, step, direct)
            elif direct:
                improve_direct(theta, pi, q, n, s_i, step, nu_actor, log_t)
            else:
                improve_softmax(theta, pi, q, n, work, s_i, step, lam, centred, nu_actor, log_t)
        if not finite:
            reason = DIVERGED
            break
        # The end of a trajectory.
        s = np.int64(e_next[e])
        k += 1
        if problem is None:
            over = clock[ENDED] == 1
        else:
            over = terminal[s] or k == horizon
        if over:
            trajectories += 1
            log_count = np.log(trajectories + 1.0)
            k, factor, epsilon = 0, 1.0, 0.0
            if hyde is not None:
                clock[HYDE_TRAJECTORIES] += control
                epsilon = value_at(epsilon_c, epsilon_alpha, epsilon_table, table_first, t)
                control = 1 if epsilon > 0.0 and uniform(words) < epsilon else 0
            if problem is not None:
                s = np.int64(start_state(start, start_cdf, words))
                if trajectories == due:
                    clock[TRAJECTORIES], clock[STEPS] = trajectories, t
                    reason = record(trace, scratch, edges, problem, tables, clock, epsilon)
                    if reason != PAUSED:
                        break
                    due = trace.at[clock[NEXT]]
    clock[STATE], clock[K], clock[STEPS], clock[TRAJECTORIES], clock[CONTROL] = s, k, t, trajectories, control
    clock[SIZE_JEKYLL], clock[SIZE_HYDE] = size_jekyll, size_hyde
    sums[FACTOR], sums[FACTOR_SUM] = factor, factor_sum
    return reason


@phase
def value_at(c: float, alpha: float, table: Floats, first: int, t: int) -> float:
    """min(1, c / t^alpha), or the table's entry for t; t is 1 at the first environment step."""
    if alpha == 0.0:
        value = c
    elif alpha == 0.5:
        value = c / np.sqrt(t)
    elif alpha == 1.0:
        value = c / t
    elif alpha != alpha:
        value = table[t - first]
    else:
        value = c / t**alpha
    return min(1.0, value)


@kernel
def act(tables: Tables, clock: Ints, words: Words) -> int:
    """The action of the personality in control, in the state of the clock."""
    s = clock[STATE]
    u = uniform(words)
    return greedy_action(tables.q_hyde, s, u) if clock[CONTROL] else sample_action(tables.pi, s, u)
