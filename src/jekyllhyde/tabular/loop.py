"""Algorithm 3 (Dr Jekyll and Mr Hyde), and Algorithm 2 (on-policy actor-critic), which is the same
loop without Hyde and replay.

    for t = 1, 2, ...:
        a ~ the policy in control, s' ~ p(.|s, a)                                act
        add (s, a, r, s') to the buffer of the personality in control; count it
        for each sample of the batch:                                            on-policy: the transition itself
            draw it from Hyde's buffer with probability o_t, else from Jekyll's
            Jekyll's critic q         (`critics`)
            Hyde's critic q~          (`critics`)
            Jekyll's actor, in s      (`actors`)      step = eta d_t, normalized
        if the trajectory is over: Hyde takes control with probability epsilon_t, else Jekyll;
        evaluate if it is time to

`advance` runs it on a known MDP; with `problem` None it learns from one transition of an
environment, given as edge clock[EDGE]. The phases that every agent shares stand in the loop; what
is None is not compiled (which takes an `if` of its own). Random numbers are drawn in the order of
the listing, and only where there is something to choose.
"""

# ruff: noqa: PLR0912, PLR0915, SIM102, SIM108

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel, phase
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.actors import (
    TINY,
    greedy_action,
    improve,
    improve_direct,
    improve_sampled,
    improve_softmax,
    sample_action,
)
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
    ONE,
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
)
from jekyllhyde.tabular.critics import LARGEST, expected_value, fit_model, greedy_value, ucb
from jekyllhyde.tabular.replay import pick, store
from jekyllhyde.tabular.rng import Words, uniform
from jekyllhyde.tabular.simulate import next_edge, record, start_row


@kernel
def advance(
    problem: Problem | None,
    edges: Edges,
    tables: Tables,
    jekyll: Jekyll,
    hyde: Hyde | None,
    buffers: Buffers | None,
    options: Options | None,
    words: Words,
    clock: Ints,
    sums: Floats,
    trace: Trace,
    scratch: Scratch,
    budget: int,
) -> int:
    """Up to `budget` environment steps; returns why it stopped (PAUSED, FINISHED, EVALUATE or
    DIVERGED).
    """
    theta, pi, q, q_hyde, n = flat(tables)
    e_row, e_pair, e_next, e_r, e_discount, first, seen = edges
    eta, eta_c, decay, normalization = jekyll
    width = np.uint64(tables.pi.shape[1])
    row, k, t = np.uint64(clock[STATE]) * width, clock[K], clock[STEPS]
    trajectories, control = clock[TRAJECTORIES], clock[CONTROL]
    size_jekyll, size_hyde = clock[SIZE_JEKYLL], clock[SIZE_HYDE]
    factor, factor_sum = sums[FACTOR], sums[FACTOR_SUM]
    log_count, uses_log_count, learns_model, batch, eta_hyde = (
        np.log(trajectories + 1.0),
        False,
        False,
        1,
        0.0,
    )
    if buffers is not None:
        log, capacity, ring, from_model, batch = buffers
        learns_model = from_model
    if hyde is not None:
        (
            eta_hyde,
            clip,
            ucb_bonus,
            uniform_hyde,
            epsilon_c,
            epsilon_alpha,
            epsilon_table,
            o_c,
            o_alpha,
            o_table,
            table_first,
        ) = hyde
        uses_log_count = True
    eta, eta_c, eta_hyde = eta / batch, eta_c / batch, eta_hyde / batch
    if options is not None:
        critic, mle_every, q0, gamma, direct, sampled, lam, centred, nu_critic, nu_actor, work = (
            options
        )
        uses_log_count, learns_model = (
            uses_log_count or nu_critic > 0.0,
            learns_model or critic == MLE,
        )
    if problem is not None:
        cdf, ends, start, start_cdf, _, horizon = problem
        due = trace.at[clock[NEXT]]
    finite, reason = True, PAUSED
    for _ in range(budget):
        # Act.
        if problem is None:
            e = np.uint64(clock[EDGE])
            pair = np.uint64(e_pair[e])
        else:
            u = uniform(words)
            pair = (
                greedy_action(q_hyde, row, width, u)
                if control
                else sample_action(pi, row, width, u)
            )
            e = np.uint64(first[pair])
            if first[pair + ONE] > e + ONE:
                e = next_edge(first, cdf, pair, uniform(words))
            if learns_model:
                seen[e] += 1
        t += 1
        # Store and count.
        n[pair] += 1
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
                fit_model(tables, edges, trace, scratch, gamma, q0)
        for _ in range(batch):
            # Draw.
            drawn = e
            if buffers is not None:
                from_hyde = 0
                if hyde is not None:
                    if size_hyde > 0:
                        from_hyde = 1 if uniform(words) < o else 0
                size = min(size_hyde if from_hyde else size_jekyll, capacity)
                drawn = np.uint64(log[from_hyde, np.uint64(uniform(words) * size)])
                if from_model:
                    pair = np.uint64(e_pair[drawn])
                    if first[pair + ONE] > first[pair] + ONE:
                        drawn = pick(first, seen, pair, np.int64(uniform(words) * n[pair]))
            row, pair, row_next = (
                np.uint64(e_row[drawn]),
                np.uint64(e_pair[drawn]),
                np.uint64(e_next[drawn]),
            )
            # Jekyll's critic.
            if options is None:
                target = e_r[drawn] + e_discount[drawn] * expected_value(pi, q, row_next, width)
                q[pair] += eta_c * (target - q[pair])
                finite &= abs(q[pair]) < LARGEST
            elif critic != MLE:
                used = e if critic == CURRENT else drawn
                pair_c, next_c = np.uint64(e_pair[used]), np.uint64(e_next[used])
                value = (
                    greedy_value(q, next_c, width)
                    if critic == Q_LEARNING
                    else expected_value(pi, q, next_c, width)
                )
                target = (
                    e_r[used] + e_discount[used] * value + nu_critic * ucb(n[pair_c], log_count)
                )
                q[pair_c] += eta_c * (target - q[pair_c])
                finite &= abs(q[pair_c]) < LARGEST
            # Hyde's critic.
            if hyde is not None:
                if not uniform_hyde:
                    bonus = ucb(n[pair], log_count) if ucb_bonus else 1.0 / np.sqrt(n[pair])
                    target = bonus + e_discount[drawn] * greedy_value(q_hyde, row_next, width)
                    q_hyde[pair] = min(q_hyde[pair] + eta_hyde * (target - q_hyde[pair]), clip)
            # Jekyll's actor.
            if options is None:
                improve(theta, pi, q, row, width, step)
            elif sampled:
                target = e_r[drawn] + e_discount[drawn] * expected_value(pi, q, row_next, width)
                target += nu_actor * np.sqrt(log_t / n[pair]) - lam * np.log(max(pi[pair], TINY))
                improve_sampled(theta, pi, row, width, pair, target, step, direct)
            elif direct:
                improve_direct(theta, pi, q, n, row, width, step, nu_actor, log_t)
            else:
                improve_softmax(
                    theta, pi, q, n, work, row, width, step, lam, centred, nu_actor, log_t
                )
        if not finite:
            reason = DIVERGED
            break
        # The end of a trajectory.
        row = np.uint64(e_next[e])
        k += 1
        if problem is None:
            over = clock[ENDED] == 1
        else:
            over = ends[e] or k == horizon
        if over:
            trajectories += 1
            if uses_log_count:
                log_count = np.log(trajectories + 1.0)
            k, factor, epsilon = 0, 1.0, 0.0
            if hyde is not None:
                clock[HYDE_TRAJECTORIES] += control
                epsilon = value_at(epsilon_c, epsilon_alpha, epsilon_table, table_first, t)
                control = 1 if epsilon > 0.0 and uniform(words) < epsilon else 0
            if problem is not None:
                row = np.uint64(start[0])
                if len(start) > 1:
                    row = np.uint64(start_row(start, start_cdf, uniform(words)))
                if trajectories == due:
                    clock[TRAJECTORIES], clock[STEPS] = trajectories, t
                    reason = record(trace, scratch, problem, tables, clock, epsilon)
                    if reason != PAUSED:
                        break
                    due = trace.at[clock[NEXT]]
    clock[STATE], clock[K], clock[STEPS], clock[TRAJECTORIES], clock[CONTROL] = (
        row // width,
        k,
        t,
        trajectories,
        control,
    )
    clock[SIZE_JEKYLL], clock[SIZE_HYDE] = size_jekyll, size_hyde
    sums[FACTOR], sums[FACTOR_SUM] = factor, factor_sum
    return reason


@phase
def flat(tables: Tables) -> tuple[Floats, Floats, Floats, Floats, Ints]:
    """The same memory as [S A]."""
    return (
        tables.theta.reshape(-1),
        tables.pi.reshape(-1),
        tables.q.reshape(-1),
        tables.q_hyde.reshape(-1),
        tables.n.reshape(-1),
    )


@phase
def value_at(c: float, alpha: float, table: Floats, first: int, t: int) -> float:
    """min(1, c / t^alpha), or the table's entry for t; t is 1 at the first environment step."""
    if alpha == 0.0:
        value = c
    elif alpha == 0.5:
        value = c / np.sqrt(t)
    elif alpha == 1.0:
        value = c / t
    elif np.isnan(alpha):
        value = table[t - first]
    else:
        value = c / t**alpha
    return min(1.0, value)


@kernel
def act(tables: Tables, clock: Ints, words: Words) -> int:
    """The action of the personality in control, in the state of the clock."""
    _, pi, _, q_hyde, _ = flat(tables)
    width = np.uint64(tables.pi.shape[1])
    row, u = np.uint64(clock[STATE]) * width, uniform(words)
    return int(
        (
            greedy_action(q_hyde, row, width, u)
            if clock[CONTROL]
            else sample_action(pi, row, width, u)
        )
        - row
    )


@kernel
def draw(pi: Floats, s: int, u: float) -> int:
    """An action drawn from pi(.|s) by a uniform u."""
    width = np.uint64(pi.shape[1])
    row = np.uint64(s) * width
    return int(sample_action(pi.reshape(-1), row, width, u) - row)
