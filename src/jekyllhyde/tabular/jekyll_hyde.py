"""Dr Jekyll and Mr Hyde on a finite MDP: Algorithm 3, with exact evaluation between trajectories."""

from __future__ import annotations

import numpy as np

from jekyllhyde.jit import kernel
from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.tabular.actors import greedy_action, improve, improve_direct, sample_action
from jekyllhyde.tabular.arrays import (
    CONTROL,
    CURRENT,
    DIVERGED,
    FACTOR,
    FACTOR_SUM,
    HYDE_TRAJECTORIES,
    MLE,
    NONE,
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
    Problem,
    Schedules,
    Scratch,
    Tables,
    Trace,
)  # fmt: skip
from jekyllhyde.tabular.critics import expected_value, fit_model, greedy_value, move, move_hyde, ucb
from jekyllhyde.tabular.replay import draw, redraw, store
from jekyllhyde.tabular.rng import Words, uniform
from jekyllhyde.tabular.schedules import value_at
from jekyllhyde.tabular.simulate import next_edge, record, start_state


@kernel
def advance(
    problem: Problem, edges: Edges, tables: Tables, buffers: Buffers, jekyll: Jekyll, hyde: Hyde, schedules: Schedules, nu: float,
    words: Words, clock: Ints, sums: Floats, trace: Trace, scratch: Scratch, budget: int,
) -> int:  # fmt: skip
    """Up to `budget` environment steps; why it stopped."""
    theta, pi, q, q_hyde, n = tables.theta, tables.pi, tables.q, tables.q_hyde, tables.n
    n_actions = pi.shape[1]
    s, k, t, trajectories, control = clock[STATE], clock[K], clock[STEPS], clock[TRAJECTORIES], clock[CONTROL]
    size_jekyll, size_hyde = clock[SIZE_JEKYLL], clock[SIZE_HYDE]
    factor, factor_sum = sums[FACTOR], sums[FACTOR_SUM]
    log_count = np.log(trajectories + 1.0)
    eta_c, eta_hyde = jekyll.eta_c / buffers.batch, hyde.eta / buffers.batch
    finite = True
    reason = PAUSED
    for _ in range(budget):
        a = greedy_action(q_hyde, s, words) if control else sample_action(pi, s, words)
        row = s * n_actions + a
        e = next_edge(edges.first, problem.cdf, row, words)
        n[s, a] += 1
        edges.count[e] += 1
        if control:
            size_hyde = store(buffers.hyde, size_hyde, buffers.capacity, buffers.ring, e)
        else:
            size_jekyll = store(buffers.jekyll, size_jekyll, buffers.capacity, buffers.ring, e)
        t += 1
        factor_sum += factor
        step = jekyll.eta / buffers.batch * factor
        if jekyll.normalization == PUBLISHED:
            step *= trajectories / factor_sum
        elif jekyll.normalization != NONE:
            step *= t / factor_sum
        o = value_at(schedules.o_c, schedules.o_alpha, schedules.o_table, schedules.first, t)
        if jekyll.critic == MLE:
            if t % jekyll.mle_every == 0:
                fit_model(tables, edges, scratch, jekyll.gamma, jekyll.q0)
        for _ in range(buffers.batch):
            drawn = draw(buffers.jekyll, buffers.hyde, size_jekyll, size_hyde, buffers.capacity, o, words)
            s_i, a_i = edges.s[drawn], edges.a[drawn]
            if buffers.from_model:
                drawn = redraw(edges.first, edges.count, n[s_i, a_i], s_i * n_actions + a_i, drawn, words)
            if jekyll.critic != MLE:
                used = e if jekyll.critic == CURRENT else drawn
                s_c, a_c, next_c = edges.s[used], edges.a[used], edges.next[used]
                value = greedy_value(q, next_c) if jekyll.critic == Q_LEARNING else expected_value(pi, q, next_c)
                target = edges.r[used] + edges.discount[used] * value
                if nu > 0.0:
                    target += nu * ucb(n[s_c, a_c], log_count)
                finite &= move(q, s_c, a_c, eta_c, target)
            if not hyde.uniform:
                finite &= move_hyde(q_hyde, n, edges, drawn, eta_hyde, hyde.clip, hyde.ucb, log_count)
            if jekyll.softmax:
                improve(theta, pi, q, s_i, step)
            else:
                improve_direct(tables, s_i, step)
        s = edges.next[e]
        k += 1
        factor *= jekyll.decay
        if not finite:
            reason = DIVERGED
            break
        if problem.terminal[s] or k == problem.horizon:
            epsilon = value_at(schedules.epsilon_c, schedules.epsilon_alpha, schedules.epsilon_table, schedules.first, t)
            trajectories += 1
            clock[HYDE_TRAJECTORIES] += control
            control = 1 if epsilon > 0.0 and uniform(words) < epsilon else 0
            s, k, factor = start_state(problem, words), 0, 1.0
            log_count = np.log(trajectories + 1.0)
            clock[TRAJECTORIES], clock[STEPS] = trajectories, t
            reason = record(trace, scratch, edges, problem, tables, clock, epsilon, hyde.uniform)
            if reason != PAUSED:
                break
    clock[STATE], clock[K], clock[STEPS], clock[TRAJECTORIES], clock[CONTROL] = s, k, t, trajectories, control
    clock[SIZE_JEKYLL], clock[SIZE_HYDE] = size_jekyll, size_hyde
    sums[FACTOR], sums[FACTOR_SUM] = factor, factor_sum
    return reason
