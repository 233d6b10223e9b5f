"""Posterior sampling: a model is drawn from what may be true, and its best policy is played for a
trajectory (PSRL; Strens, 2000; Osband et al., 2013).

    P(.|s,a) ~ Dirichlet: the counts of what was seen, and `alpha` on one state drawn uniformly
    r(s,a)   ~ N((mu + n r^) / (1 + n), sigma^2 / (1 + n)), in units of the largest |reward|

The first is the posterior of a Dirichlet prior of mass alpha spread evenly over all states, with
the prior's share of a draw put in one place, which is where nearly all of it is when alpha is small
against their number. The values of the drawn model come from value iteration, which starts from the
last draw's.

As Mr Hyde (hyde="posterior") he samples what has no reward: to him every reward is 0, of which he
is unsure where he has seldom been, so that mu = 1 makes the unknown attractive; and the end of a
trajectory is worth what his trajectories are worth at their start (episodic=True: nothing).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import kernel, phase, sqrt
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.tabular.hyde import EXPLORERS
from jekyllhyde.tabular.learned_model import NOTHING, Counts
from jekyllhyde.tabular.random_stream import Words, uniform
from jekyllhyde.tabular.records import Index, Place, Run, Transition

PRECISION, MOST_SWEEPS = 1e-3, 2000


class Draw(NamedTuple):
    """A drawn model: p [M] of the transitions seen; per pair the state [S A] that the prior chose
    and its probability p_other [S A]; r [S A]. It is used within one call, and not kept.
    """

    p: Floats
    other: Index
    p_other: Floats
    r: Floats


def room_for_draw(model: Counts) -> Draw:
    """Room for one draw of a model of so many transitions."""
    size = len(model.r)
    return Draw(
        np.zeros(len(model.times)), np.zeros(size, np.uint32), np.zeros(size), np.zeros(size)
    )


@EXPLORERS.register
class Posterior(NamedTuple):
    """Acts as is best in a drawn model: drawn for each of his trajectories."""

    gamma: float = 0.99
    alpha: float = 0.1
    sigma: float = 0.1
    mu: float = 1.0
    episodic: bool = False
    draw: Draw | None = None

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        """Nothing: he draws when a trajectory is over."""

    def redraw(self, run: Run) -> None:
        draw_model(run, self.draw, 0.0, 1.0, self.alpha, self.sigma, self.mu)
        at_end = 0.0 if self.episodic else run.position[0].start_value
        solve_draw(run, self.draw, self.gamma, at_end)


@phase
def normal(words: Words) -> float:
    """A standard normal number."""
    radius = sqrt(-2.0 * math.log(1.0 - uniform(words)))
    return radius * math.cos(2.0 * math.pi * uniform(words))


@kernel
def gamma_variate(words: Words, shape: float) -> float:
    """A number of the Gamma distribution of that shape (Marsaglia and Tsang, 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(words)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = normal(words)
        v = (1.0 + x / sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(1.0 - uniform(words)) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return boost * d * v


@kernel
def draw_model(
    run: Run, draw: Any, share: float, unit: float, alpha: float, sigma: float, mu: float
) -> None:
    """Draw a model; `share` is 1 where rewards count, and 0 where all of them look like 0."""
    counts, tables, words = run.model, run.tables, run.words
    for pair in range(len(counts.r)):
        n = tables.n[pair]
        mean = (mu * unit + share * n * counts.r[pair]) / (1.0 + n)
        draw.r[pair] = mean + sigma * unit / sqrt(1.0 + n) * normal(words)
        draw.other[pair] = np.uint32(uniform(words) * len(counts.into))
        total, i = gamma_variate(words, alpha), counts.of_pair[pair]
        draw.p_other[pair] = total
        while i != NOTHING:
            draw.p[i] = gamma_variate(words, float(counts.times[i]))
            total += draw.p[i]
            i = counts.more[i]
        i = counts.of_pair[pair]
        draw.p_other[pair] = 1.0 if i == NOTHING else draw.p_other[pair] / total
        while i != NOTHING:
            draw.p[i] /= total
            i = counts.more[i]


@kernel
def solve_draw(run: Run, draw: Any, gamma: float, at_end: float) -> None:
    """q~ and v~ of the drawn model, state after state, forwards and backwards by turns."""
    counts, tables = run.model, run.tables
    v, n_states = counts.v_hyde, len(counts.into)
    for sweep in range(MOST_SWEEPS):
        moved, size = 0.0, 0.0
        for i in range(n_states):
            s = i if sweep % 2 else n_states - 1 - i
            row, best = np.uint64(s) * tables.width, -np.inf
            for pair in range(row, row + tables.width):
                if tables.q_hyde[pair] > -np.inf:  # allowed
                    mean = drawn_mean(counts, draw, Place(pair), at_end)
                    tables.q_hyde[pair] = draw.r[pair] + gamma * mean
                    best = max(best, tables.q_hyde[pair])
            moved, size = max(moved, abs(best - v[s])), max(size, abs(best))
            v[s] = best
        if moved <= PRECISION * size:
            break
    for s in range(n_states):
        counts.told_hyde[s] = v[s]


@phase
def drawn_mean(counts: Counts, draw: Any, pair: Place, at_end: float) -> float:
    """The mean of v~(s') after a pair in the drawn model."""
    total, i = draw.p_other[pair] * counts.v_hyde[draw.other[pair]], counts.of_pair[pair]
    while i != NOTHING:
        total += draw.p[i] * (at_end if counts.ended[i] else counts.v_hyde[counts.next[i]])
        i = counts.more[i]
    return total
