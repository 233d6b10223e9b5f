"""The tabular agents: what can be chosen, and what the two conventions choose where nothing is
said.

An agent is its settings; `learn(mdp, agent, ...)` never changes it. `agent.learn(env, steps)` makes
it learn step by step from an environment, and then `predict`, `save` and `load` speak of what it
has learned (`stepwise`).

| option          | paper        | published                                       | paper                           |
| --------------- | ------------ | ----------------------------------------------- | ------------------------------- |
| normalization   | Appendix E   | factor * trajectories / sum of factors          | factor / mean of factors        |
| density (J&H)   | d            | pg: factor gamma^k                              | undiscounted: factor 1          |
| bonus           | 1/sqrt(n)    | ucb: sqrt(log(trajectories + 1) / (n + 0.001))  | count: 1/sqrt(n)                |
| hyde_q0         | q_0          | 1                                               | q0                              |
| hyde_clip       | -            | 1                                               | none                            |
| hyde_eta        | eta_c        | 0.1                                             | eta_c                           |
| successor       | tau ~ D      | model: s' from both buffers' empirical model    | stored: the transition itself   |
| update          | line 6       | expected                                        | sampled (on-policy)             |
| nu_in           | line 6       | critic                                          | actor                           |
| entropy         | lambda       | plain: -lam log pi                              | centred                         |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import NDArray

from jekyllhyde.errors import InputError, check_choice, check_count
from jekyllhyde.schedule import Schedule, ScheduleLike, probability

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import Floats
    from jekyllhyde.tabular.stepwise import Episodes, Learner

CONVENTIONS = ("published", "paper")
DENSITIES = ("pg", "undiscounted")
CRITICS = ("expected_sarsa", "current", "q_learning", "mle")
NORMALIZATIONS = ("published", "paper", "none")
PARAMETRIZATIONS = ("softmax", "direct")
BONUSES = ("ucb", "count")
HYDES = ("q_learning", "uniform")
SUCCESSORS = ("model", "stored")
WHEN_FULL = ("ring", "keep")


@dataclass(frozen=True, kw_only=True)
class TabularAgent:
    """What both agents share.

    Parameters
    ----------
    eta, eta_c : step sizes of actor and critic.     q0 : the critic's initial value.
    parametrization : "softmax" or "direct".     nu : weight of a UCB bonus.
    critic : "expected_sarsa" on the drawn samples, "current" (expected SARSA on the transition
        under way), "q_learning", or "mle" (exact values in the empirical model, solved every
        `mle_every` steps; on a known MDP).
    batch : samples per step; each step size is divided by it.
    normalization : of the actor's step; "published", "paper" or "none".
    capacity : bound on each replay buffer, unbounded by default; `when_full`: "ring" (the oldest
        makes room) or "keep".
    successor : replayed s' from the empirical "model", or as "stored".
    convention : "published" or "paper": the value of every option left at None (the table above).
    gamma, seed : of the step-by-step agent; on a known MDP, the MDP's discount and `learn`'s seed
        hold.
    """

    eta: float = 1.0
    eta_c: float = 0.1
    q0: float = 0.0
    parametrization: str = "softmax"
    critic: str = "expected_sarsa"
    mle_every: int = 1
    nu: float = 0.0
    batch: int = 1
    normalization: str | None = None
    density: str | None = None
    capacity: int | None = None
    when_full: str = "ring"
    successor: str | None = None
    convention: str = "published"
    gamma: float = 0.99
    seed: int = 0
    _learner: list[Learner] = field(default_factory=list, init=False, repr=False, compare=False)

    name: ClassVar[str]
    presets: ClassVar[dict[str, dict[str, Any]]]

    def __post_init__(self) -> None:
        check_choice(self.convention, "convention", CONVENTIONS)
        for name in ("eta", "eta_c"):
            self._check(name, lambda x: x > 0, "a positive number")
        self._check("q0", lambda x: True, "a finite number")
        for name in ("nu", "lam"):
            self._check(name, lambda x: x >= 0, "a number of at least 0")
        self._check("gamma", lambda x: 0 <= x <= 1, "a number in [0, 1]")
        for name in ("batch", "mle_every"):
            check_count(getattr(self, name), name, 1)
        check_count(self.seed, "seed", 0)
        if self.capacity is not None:
            check_count(self.capacity, "capacity", 1)
        allowed = {
            "parametrization": PARAMETRIZATIONS,
            "critic": CRITICS,
            "normalization": NORMALIZATIONS,
            "density": DENSITIES,
            "when_full": WHEN_FULL,
            "successor": SUCCESSORS,
        }
        for name, choices in allowed.items():
            check_choice(self.option(name), name, choices)
        if self.capacity is not None and self.successor == "model":
            raise InputError(
                "successor is 'model', but a bounded buffer forgets; give successor='stored' or no capacity"
            )

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = getattr(self, name, None)
        if name == "successor" and value is None and self.capacity is not None:
            return "stored"
        return self.presets[self.convention].get(name) if value is None else value

    @property
    def settings(self) -> dict[str, Any]:
        """Every option with its value, in the words of the command line."""
        values = {f.name: self.option(f.name) for f in fields(self) if f.init}
        return {
            name: str(value) if isinstance(value, Schedule) else value
            for name, value in values.items()
        }

    def _check(self, name: str, allowed: Callable[[float], bool], words: str) -> None:
        value = getattr(self, name, None)
        if value is not None and not (
            isinstance(value, (int, float)) and math.isfinite(value) and allowed(value)
        ):
            raise InputError(f"{name} is {value!r}; it must be {words}")

    # Step by step, on an environment without a model.

    def learn(
        self, env: Any, steps: int, progress: Callable[[int], None] | None = None
    ) -> Episodes:
        """Learn from `steps` steps of a Gymnasium environment, going on where the last call
        stopped; the episodes that ended.
        """
        from jekyllhyde.tabular.stepwise import Learner, describe

        check_count(steps, "steps", 0)
        description = describe(env)
        if not self._learner:
            self._learner.append(Learner(self, *description))
        return self._learner[0].learn(env, steps, progress or (lambda n: None))

    def predict(self, observation: int, deterministic: bool = True) -> int:
        """Jekyll's action: his most probable one, or one drawn from his policy (which moves the
        agent's random stream on).
        """
        from jekyllhyde.tabular.stepwise import predict

        return predict(self.learner, observation, deterministic)

    def save(self, path: str | Path) -> None:
        """Write settings and everything learned to one file (npz and JSON, no pickle)."""
        from jekyllhyde.tabular.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an agent that `save` wrote; learning goes on exactly where it stopped."""
        from jekyllhyde.tabular.files import load

        return load(cls, path)

    @property
    def learner(self) -> Learner:
        """What was learned step by step."""
        if not self._learner:
            raise InputError("this agent has not learned yet; call learn(env, steps) first")
        return self._learner[0]

    @property
    def pi(self) -> Floats:
        """Jekyll's policy [S, A], as learned step by step."""
        return self.learner.state.tables.pi

    @property
    def q(self) -> Floats:
        """Jekyll's critic [S, A], as learned step by step."""
        return self.learner.state.tables.q

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all arrays that learning changes."""
        return self.learner.arrays()


@dataclass(frozen=True, kw_only=True)
class TabularJekyllHyde(TabularAgent):
    """Dr Jekyll and Mr Hyde (Algorithm 3).

    Parameters
    ----------
    epsilon, o : probability epsilon_t that Hyde leads the next trajectory, and o_t that a sample
        comes from his buffer. Numbers in [0, 1] or schedules such as "100/t"; t counts environment
        steps.
    hyde : "q_learning" on the `bonus` ("ucb" or "count"), or "uniform".
    hyde_q0, hyde_clip, hyde_eta : his initial value, upper clip (inf for none) and step size.
    density : the step factor along the trajectory under way: "pg" (gamma^k) or "undiscounted" (1).
    The rest: see `TabularAgent`; nu adds UCB to Jekyll's critic.
    """

    epsilon: ScheduleLike = "100/t"
    o: ScheduleLike = 0.5
    hyde: str = "q_learning"
    bonus: str | None = None
    hyde_q0: float | None = None
    hyde_clip: float | None = None
    hyde_eta: float | None = None

    name: ClassVar[str] = "jekyll-hyde"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "published": {
            "normalization": "published",
            "density": "pg",
            "bonus": "ucb",
            "hyde_q0": 1.0,
            "hyde_clip": 1.0,
            "hyde_eta": 0.1,
            "successor": "model",
        },
        "paper": {
            "normalization": "paper",
            "density": "undiscounted",
            "bonus": "count",
            "hyde_clip": math.inf,
            "successor": "stored",
        },
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", probability(self.epsilon, "epsilon"))
        object.__setattr__(self, "o", probability(self.o, "o"))
        super().__post_init__()
        check_choice(self.hyde, "hyde", HYDES)
        check_choice(self.option("bonus"), "bonus", BONUSES)
        self._check("hyde_q0", lambda x: True, "a finite number")
        self._check("hyde_eta", lambda x: x > 0, "a positive number")
        if self.hyde_clip is not None and not self.hyde_clip > -math.inf:
            raise InputError(
                f"hyde_clip is {self.hyde_clip!r}; it must be a number, or inf for no clip"
            )

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = super().option(name)
        if value is None and name in ("hyde_q0", "hyde_eta"):
            return self.q0 if name == "hyde_q0" else self.eta_c
        return value


@dataclass(frozen=True, kw_only=True)
class TabularOnPolicy(TabularAgent):
    """On-policy actor-critic (Algorithm 2).

    Parameters
    ----------
    density : "pg" (updates weighted by gamma^k at step k of a trajectory) or "undiscounted".
    lam : entropy weight; `entropy`: "plain" or "centred".     nu : UCB weight; `nu_in`: the
        "critic"'s target or the "actor".
    update : "expected" over all actions, or "sampled": of the action taken, with a one-step target.
    replay : learn from `batch` draws of all transitions so far instead of from the one under way.
    The rest: see `TabularAgent`.
    """

    lam: float = 0.0
    entropy: str | None = None
    nu_in: str | None = None
    update: str | None = None
    replay: bool = False

    name: ClassVar[str] = "on-policy"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "published": {
            "normalization": "published",
            "density": "pg",
            "successor": "model",
            "entropy": "plain",
            "nu_in": "critic",
            "update": "expected",
        },
        "paper": {
            "normalization": "paper",
            "density": "pg",
            "successor": "stored",
            "entropy": "centred",
            "nu_in": "actor",
            "update": "sampled",
        },
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.option("entropy"), "entropy", ("plain", "centred"))
        check_choice(self.option("nu_in"), "nu_in", ("critic", "actor"))
        check_choice(self.option("update"), "update", ("expected", "sampled"))
        if self.batch > 1 and not self.replay:
            raise InputError(
                f"batch is {self.batch}, but without replay there is one transition per step; give replay=True"
            )
        if self.lam > 0 and self.parametrization == "direct":
            raise InputError(
                "lam is given, but the direct parametrization has no entropy term; use 'softmax'"
            )
