"""The field's tabular explorers: each is Mr Hyde alone, who looks at the rewards too.

He leads every trajectory, his values are tables.q_hyde, and he acts greedily on them; there is no
Jekyll who would learn beside him. `Follow` keeps pi at his greedy policy, uniform over ties, and
that is what is evaluated: the policy that he would play, without the epsilon of Q-learning.

    q_learning   q <- q + eta_c (r + discount max q(s',.) - q); epsilon-greedy; q = optimism H r_max
                 at first (Watkins, 1989; Even-Dar and Mansour, 2001)
    ucb_h        q <- q + (H + 1) / (H + n) (r + discount min(max q(s',.), H r_max) + b - q),
                 b = c r_max sqrt(H^3 / n) (Jin et al., 2018, UCB-Hoeffding)
    ucbvi        q = min(r^ + b + gamma P^ max q(s',.), H r_max), b = c r_max H / sqrt(n)
                 (Azar et al., 2017, UCBVI-CH), swept where values have moved
    psrl         q of a model drawn at the end of each trajectory (Osband et al., 2013): `posterior`

The papers have a table for each of the H steps of an episode; here values do not know the step,
which is the same where the state does, as in DeepSea and in locks, and is the discounted form
elsewhere, with H = 1 / (1 - gamma). c holds the papers' logarithm, a constant of a run. The papers
know the range of the rewards, and so do these agents: r_max is the MDP's own where it is known.
So rewards that are multiplied by a number change nothing.

UCBVI's bound on q by its own last value is left out: it only serves the proof, and it keeps an
estimate that was too low once there for ever.
"""

from typing import Any, NamedTuple

import numpy as np

from jekyllhyde.jit import phase, sqrt
from jekyllhyde.tabular.algorithm import HYDE
from jekyllhyde.tabular.hyde import greedy_action, learn_with_bonus
from jekyllhyde.tabular.jekyll import LARGEST
from jekyllhyde.tabular.learned_model import next_mean
from jekyllhyde.tabular.posterior import Draw, draw_model, solve_draw
from jekyllhyde.tabular.records import Place, Run, Tables, Transition, greedy_value
from jekyllhyde.tabular.step_sizes import critic_step


class Alone(NamedTuple):
    """Hyde leads every trajectory, and what he does is what is evaluated as pi."""

    def begin(self, run: Run, row: Place) -> None:
        """Nothing."""

    def off_policiness(self, run: Run, t: int) -> float:
        return 1.0

    def choose_leader(self, run: Run, t: int) -> tuple[float, int]:
        return 0.0, HYDE


class NoCritic(NamedTuple):
    """Nobody judges pi; Hyde's values are watched."""

    def prepare(self, world: Any, run: Run, t: int) -> None:
        """Nothing."""

    def learn_critic(self, run: Run, sample: Transition, e: Place, log_count: float) -> bool:
        return abs(run.tables.q_hyde[sample.pair]) < LARGEST


class Follow(NamedTuple):
    """pi is Hyde's greedy policy."""

    def improve(self, run: Run, sample: Transition, step: float, t: int) -> None:
        follow(run.tables, sample.row)


@phase
def follow(tables: Tables, row: Place) -> None:
    """pi(.|s) uniform over the actions of largest q~(s, .)."""
    q, pi = tables.q_hyde, tables.pi
    best, ties = greedy_value(q, row, tables.width), 0
    for i in range(row, row + tables.width):
        ties += q[i] == best
    for i in range(row, row + tables.width):
        pi[i] = 1.0 / ties if q[i] == best else 0.0


class EpsilonGreedy(NamedTuple):
    """Q-learning; every action that is allowed is taken with probability epsilon / A at least."""

    step: Any
    epsilon: float

    def hyde_action(self, tables: Tables, row: Place, u: float) -> Place:
        if u >= self.epsilon:
            rest = (u - self.epsilon) / (1.0 - self.epsilon)
            return greedy_action(tables.q_hyde, row, tables.width, rest)
        allowed = 0
        for i in range(row, row + tables.width):
            allowed += tables.q_hyde[i] > -np.inf
        chosen, rank = row, np.int64(u / self.epsilon * allowed)
        for i in range(row, row + tables.width):
            if tables.q_hyde[i] > -np.inf:
                if rank == 0:
                    chosen = Place(i)
                rank -= 1
        return chosen

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        tables, q, pair = run.tables, run.tables.q_hyde, sample.pair
        target = sample.r + sample.discount * greedy_value(q, sample.next, tables.width)
        q[pair] += critic_step(self.step, tables.n[pair]) * (target - q[pair])


class UcbHoeffding(NamedTuple):
    """Q-learning with the Hoeffding bonus."""

    h: float
    c: float

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        tables, unit = run.tables, run.position[0].scale
        value = min(greedy_value(tables.q_hyde, sample.next, tables.width), self.h * unit)
        target = sample.r + sample.discount * value
        learn_with_bonus(run, sample.pair, target, self.h, self.c * unit)


class Ucbvi(NamedTuple):
    """Optimistic values in the learned model."""

    gamma: float
    h: float
    c: float

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        model, tables, pair = run.model, run.tables, sample.pair
        most = self.h * run.position[0].scale
        mean = next_mean(model, tables, pair, model.v_hyde, 0.0)
        bonus = self.c * most / sqrt(float(tables.n[pair]))
        tables.q_hyde[pair] = min(model.r[pair] + bonus + self.gamma * mean, most)


class Psrl(NamedTuple):
    """The best policy of a drawn model."""

    gamma: float
    alpha: float
    sigma: float
    mu: float
    draw: Draw

    def learn_hyde(self, run: Run, sample: Transition, log_count: float) -> None:
        """Nothing: he draws when a trajectory is over."""

    def redraw(self, run: Run) -> None:
        unit = run.position[0].scale
        draw_model(run, self.draw, 1.0, unit, self.alpha, self.sigma, self.mu)
        solve_draw(run, self.draw, self.gamma, 0.0)
        for s in range(len(run.model.into)):
            follow(run.tables, np.uint64(s) * run.tables.width)
