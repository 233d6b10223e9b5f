"""Algorithms 2 and 3 in plain, slow Python, as the paper lists them; the engine must agree with it,
transition by transition.

It shares with the engine the agents' settings and the order in which random numbers are drawn, and
no code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.schedule import Schedule
from jekyllhyde.tabular.agents import TabularAgent, TabularJekyllHyde
from jekyllhyde.tabular.settings import JekyllHydeSettings, OnPolicySettings, TabularSettings

MASK = 2**64 - 1


class Random:
    """xoshiro256++ on Python's integers."""

    def __init__(self, seed: int, run: int) -> None:
        self.words = [
            int(w) for w in np.random.SeedSequence((seed, run)).generate_state(4, np.uint64)
        ]

    def uniform(self) -> float:
        def rotate(x: int, k: int) -> int:
            return ((x << k) | (x >> (64 - k))) & MASK

        w = self.words
        bits = (rotate((w[0] + w[3]) & MASK, 23) + w[0]) & MASK
        shifted = (w[1] << 17) & MASK
        w[2] ^= w[0]
        w[3] ^= w[1]
        w[1] ^= w[2]
        w[0] ^= w[3]
        w[2] ^= shifted
        w[3] = rotate(w[3], 45)
        return (bits >> 11) / 2**53

    def below(self, n: int) -> int:
        return int(self.uniform() * n)

    def choose(self, weights: list[float]) -> int:
        """An index with these probabilities."""
        u, chosen = self.uniform() - weights[0], 0
        while u >= 0 and chosen < len(weights) - 1:
            chosen += 1
            u -= weights[chosen]
        return max(i for i in range(chosen + 1) if weights[i] > 0)


@dataclass
class Transition:
    s: int
    a: int
    r: float
    s_next: int
    discount: float


@dataclass
class Outcome:
    """What a reference run leaves behind; `evaluations`: trajectories -> (J of Jekyll, J of greedy
    Hyde, epsilon).
    """

    transitions: list[Transition] = field(default_factory=list)
    in_control: list[str] = field(default_factory=list)
    replayed: list[tuple[str, int, int, int]] = field(default_factory=list)
    evaluations: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    theta: list[list[float]] = field(default_factory=list)
    pi: list[list[float]] = field(default_factory=list)
    q: list[list[float]] = field(default_factory=list)
    q_hyde: list[list[float]] = field(default_factory=list)
    n: list[list[int]] = field(default_factory=list)


class Reference:
    """One run of one agent on one MDP."""

    def __init__(
        self,
        mdp: FiniteMDP,
        agent: TabularAgent,
        seed: int,
        run: int,
        horizon: int,
        times: list[int],
    ) -> None:
        S, A = mdp.n_states, mdp.n_actions
        self.mdp, self.horizon, self.times = mdp, horizon, times
        assert isinstance(agent.settings, TabularSettings)
        self.agent: TabularSettings = agent.settings
        self.random = Random(seed, run)
        self.rows: list[list[tuple[int, float, float]]] = []
        for row in range(S * A):
            e = slice(mdp.P.indptr[row], mdp.P.indptr[row + 1])
            self.rows.append(
                list(
                    zip(
                        mdp.P.indices[e].tolist(),
                        mdp.P.data[e].tolist(),
                        mdp.r_next[e].tolist(),
                        strict=True,
                    )
                )
            )
        self.softmax = self.agent.parametrization == "softmax"
        self.theta = [[0.0 if self.softmax else 1 / A] * A for _ in range(S)]
        self.pi = [[1 / A] * A for _ in range(S)]
        self.q = [[float(self.agent.q0)] * A for _ in range(S)]
        self.n = [[0] * A for _ in range(S)]
        self.seen: dict[tuple[int, int], dict[int, list[Transition]]] = {}
        self.buffers: dict[str, list[Transition]] = {"jekyll": [], "hyde": []}
        self.offered = {"jekyll": 0, "hyde": 0}
        self.control = "jekyll"
        self.t = self.trajectories = 0
        self.factors: list[float] = []
        self.out = Outcome(theta=self.theta, pi=self.pi, q=self.q, n=self.n)
        if isinstance(self.agent, JekyllHydeSettings):
            self.q_hyde = [[float(self.agent.option("hyde_q0"))] * A for _ in range(S)]
            self.out.q_hyde = self.q_hyde

    def learn(self, trajectories: int) -> Outcome:
        while self.trajectories < trajectories:
            self.trajectory()
        return self.out

    def start(self) -> int:
        states = [s for s, p in enumerate(self.mdp.p0.tolist()) if p > 0]
        if len(states) == 1:
            return states[0]
        u, total = self.random.uniform(), 0.0
        for s in states[:-1]:
            total += self.mdp.p0[s]
            if u < total:
                return s
        return states[-1]

    def trajectory(self) -> None:
        s = self.start()
        self.out.in_control.append(self.control)
        for k in range(self.horizon):
            s = self.step(s, k)
            if self.mdp.is_terminal[s]:
                break
        self.trajectories += 1
        epsilon = 0.0
        if isinstance(self.agent, JekyllHydeSettings):
            epsilon = self.at(self.agent.epsilon)
            self.control = "hyde" if epsilon > 0 and self.random.uniform() < epsilon else "jekyll"
        if self.trajectories in self.times:
            self.evaluate(epsilon)

    def at(self, schedule: object) -> float:
        assert isinstance(schedule, Schedule)
        return min(1.0, schedule(self.t))

    # One step: act, store and count, draw the batch, critic, Hyde's critic, actor.

    def step(self, s: int, k: int) -> int:
        agent = self.agent
        current = self.act(s)
        self.t += 1
        self.n[s][current.a] += 1
        self.seen.setdefault((s, current.a), {}).setdefault(current.s_next, []).append(current)
        self.out.transitions.append(current)
        self.store(current)
        step = agent.option("eta") / agent.option("batch") * self.step_factor(k)
        if agent.option("critic") == "mle" and self.t % agent.mle_every == 0:
            self.fit_model()
        for i in range(agent.option("batch") + agent.with_current):
            sample = current if agent.with_current and i == 0 else self.draw(current)
            if agent.option("critic") != "mle":
                self.update_critic(current if agent.option("critic") == "current" else sample)
            if isinstance(agent, JekyllHydeSettings) and agent.option("hyde") == "q_learning":
                self.update_hyde(agent, sample)
            self.update_actor(sample, step)
        return current.s_next

    def act(self, s: int) -> Transition:
        if self.control == "hyde":
            best = max(self.q_hyde[s])
            tied = [a for a, value in enumerate(self.q_hyde[s]) if value == best]
            a = tied[self.random.below(len(tied))]
        else:
            a = self.random.choose(self.pi[s])
        row = self.rows[s * self.mdp.n_actions + a]
        i = 0
        if len(row) > 1:
            u, total = self.random.uniform(), 0.0
            for _, p, _ in row[:-1]:
                total += p
                i += u >= total
        s_next, _, r = row[i]
        return Transition(s, a, r, s_next, 0.0 if self.mdp.is_terminal[s_next] else self.mdp.gamma)

    def store(self, transition: Transition) -> None:
        buffer, capacity = self.buffers[self.control], self.agent.capacity
        if capacity is None or len(buffer) < capacity:
            buffer.append(transition)
        elif self.agent.when_full == "ring":
            buffer[self.offered[self.control] % capacity] = transition
        self.offered[self.control] += 1

    def step_factor(self, k: int) -> float:
        self.factors.append(self.mdp.gamma**k if self.agent.option("density") == "pg" else 1.0)
        normalization = self.agent.option("normalization")
        if normalization == "published":
            return self.factors[-1] * self.trajectories / sum(self.factors)
        if normalization == "paper":
            return self.factors[-1] / (sum(self.factors) / len(self.factors))
        return self.factors[-1]

    def draw(self, current: Transition) -> Transition:
        agent = self.agent
        if isinstance(agent, OnPolicySettings) and not agent.replay:
            return current
        whose = "jekyll"
        if (
            isinstance(agent, JekyllHydeSettings)
            and self.buffers["hyde"]
            and self.random.uniform() < self.at(agent.o)
        ):
            whose = "hyde"
        if not self.buffers[whose]:
            whose = "hyde"
        sample = self.buffers[whose][self.random.below(len(self.buffers[whose]))]
        if (
            agent.option("successor") == "model"
            and len(self.rows[sample.s * self.mdp.n_actions + sample.a]) > 1
        ):
            visits = self.seen[sample.s, sample.a]
            ordered = [transition for s_next in sorted(visits) for transition in visits[s_next]]
            sample = ordered[self.random.below(len(ordered))]
        self.out.replayed.append((whose, sample.s, sample.a, sample.s_next))
        return sample

    def value(self, s: int) -> float:
        return sum(p * q for p, q in zip(self.pi[s], self.q[s], strict=True))

    def published_bonus(self, s: int, a: int) -> float:
        return math.sqrt(math.log(self.trajectories + 1) / (self.n[s][a] + 0.001))

    def update_critic(self, x: Transition) -> None:
        agent = self.agent
        target = x.r + x.discount * (
            max(self.q[x.s_next])
            if agent.option("critic") == "q_learning"
            else self.value(x.s_next)
        )
        if agent.nu > 0 and agent.option("nu_in") != "actor":
            target += agent.nu * self.published_bonus(x.s, x.a)
        self.q[x.s][x.a] += (
            agent.option("eta_c") / agent.option("batch") * (target - self.q[x.s][x.a])
        )

    def update_hyde(self, agent: JekyllHydeSettings, x: Transition) -> None:
        bonus = (
            self.published_bonus(x.s, x.a)
            if agent.option("bonus") == "ucb"
            else 1 / math.sqrt(self.n[x.s][x.a])
        )
        target = bonus + x.discount * max(self.q_hyde[x.s_next])
        value = self.q_hyde[x.s][x.a] + agent.option("hyde_eta") / agent.option("batch") * (
            target - self.q_hyde[x.s][x.a]
        )
        self.q_hyde[x.s][x.a] = min(value, agent.option("hyde_clip"))

    def update_actor(self, x: Transition, step: float) -> None:
        agent, s, actions = self.agent, x.s, range(self.mdp.n_actions)
        lam = agent.lam if isinstance(agent, OnPolicySettings) else 0.0
        bonus = [0.0 for _ in actions]
        if agent.nu > 0 and agent.option("nu_in") == "actor":
            bonus = [agent.nu * math.sqrt(math.log(self.t) / max(self.n[s][a], 1)) for a in actions]
        entropy = [-lam * math.log(p) if p > 0 else 0.0 for p in self.pi[s]]
        if agent.option("update") == "sampled":
            target = x.r + x.discount * self.value(x.s_next) + bonus[x.a] + entropy[x.a]
            gradient = [target * self.slope(s, x.a, b) for b in actions]
        elif self.softmax:
            values = [q + b for q, b in zip(self.q[s], bonus, strict=True)]
            v = sum(p * value for p, value in zip(self.pi[s], values, strict=True))
            if agent.option("entropy") == "centred":
                v += sum(p * h for p, h in zip(self.pi[s], entropy, strict=True))
            gradient = [self.pi[s][a] * (values[a] + entropy[a] - v) for a in actions]
        else:
            gradient = [self.q[s][a] + bonus[a] for a in actions]
        self.theta[s][:] = [
            theta + step * g for theta, g in zip(self.theta[s], gradient, strict=True)
        ]
        if self.softmax:
            top = max(self.theta[s])
            self.theta[s][:] = [theta - top for theta in self.theta[s]]
            weights = [math.exp(theta) for theta in self.theta[s]]
            self.pi[s][:] = [weight / sum(weights) for weight in weights]
        else:
            self.pi[s][:] = self.theta[s][:] = project(self.theta[s])

    def slope(self, s: int, a: int, b: int) -> float:
        """The derivative of pi(a|s) with respect to theta(s, b)."""
        return self.pi[s][a] * ((a == b) - self.pi[s][b]) if self.softmax else float(a == b)

    def fit_model(self) -> None:
        """The MLE critic, by a dense solve of the empirical model."""
        S, A, gamma = self.mdp.n_states, self.mdp.n_actions, self.mdp.gamma
        P, r = np.zeros((S, A, S)), np.full((S, A), float(self.agent.q0))
        for (s, a), visits in self.seen.items():
            everything = [x for transitions in visits.values() for x in transitions]
            r[s, a] = sum(x.r for x in everything) / len(everything)
            for s_next, transitions in visits.items():
                P[s, a, s_next] = len(transitions) / len(everything)
        r[self.mdp.is_terminal] = 0.0
        pi = np.array(self.pi)
        v = np.linalg.solve(
            np.eye(S) - gamma * np.einsum("sa,sax->sx", pi, P), np.einsum("sa,sa->s", pi, r)
        )
        q = r + gamma * P @ v
        for s in range(S):
            if not self.mdp.is_terminal[s]:
                self.q[s][:] = q[s].tolist()

    def evaluate(self, epsilon: float) -> None:
        J = self.mdp.evaluate(np.array(self.pi)).J
        J_hyde = math.nan
        if epsilon > 0:
            S, A = self.mdp.n_states, self.mdp.n_actions
            pi = np.eye(A)[[int(np.argmax(row)) for row in self.q_hyde]]
            if (
                isinstance(self.agent, JekyllHydeSettings)
                and self.agent.option("hyde") == "uniform"
            ):
                pi = np.full((S, A), 1 / A)
            J_hyde = self.mdp.evaluate(pi).J
        self.out.evaluations[self.trajectories] = (J, J_hyde, epsilon)


def project(x: list[float]) -> list[float]:
    """Projection on the simplex by sorting."""
    tau, total = 0.0, 0.0
    for i, value in enumerate(sorted(x, reverse=True)):
        total += value
        if value - (total - 1) / (i + 1) > 0:
            tau = (total - 1) / (i + 1)
    return [max(value - tau, 0.0) for value in x]


class Published(TabularJekyllHyde):
    """J&H as the paper's figures were made, where a test says nothing else."""

    def __init__(self, env: Any = None, *, seed: int = 0, **settings: Any) -> None:
        super().__init__(env, seed=seed, **{"convention": "published", **settings})
