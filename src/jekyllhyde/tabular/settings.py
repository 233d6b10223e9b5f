"""The tabular agents' settings: what can be chosen, and what the two conventions choose.

An option left at None takes the convention's value. `algorithm` turns settings into the records
that the compiled loop reads.

| option        | in the paper | published                              | paper                    |
| ------------- | ------------ | -------------------------------------- | ------------------------ |
| normalization | Appendix E   | factor * trajectories / sum of factors | factor / mean of factors |
| density (J&H) | d            | pg: factor gamma^k                     | undiscounted: factor 1   |
| bonus         | 1/sqrt(n)    | ucb: sqrt(log(N + 1) / (n + 0.001))    | count: 1/sqrt(n)         |
| hyde_q0       | q_0          | 1                                      | q0                       |
| hyde_clip     | -            | 1                                      | none                     |
| hyde_eta      | eta_c        | 0.1                                    | eta_c                    |
| successor     | tau ~ D      | model: s' from both buffers' model     | stored: as it was        |
| update        | line 6       | expected                               | sampled (on-policy)      |
| nu_in         | line 6       | critic                                 | actor                    |
| entropy       | lambda       | plain: -lam log pi                     | centred                  |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from jekyllhyde.errors import check_choice, check_count, require
from jekyllhyde.schedule import Schedule, ScheduleLike, probability
from jekyllhyde.tabular.hyde import BONUSES, EXPLORERS, OptimisticQ
from jekyllhyde.tabular.jekyll import ACTORS, CRITICS, Mle

NORMALIZATIONS = ("published", "paper", "none")
# Options that version 0.1 did not have, at what gives its behaviour. They are left out there, so
# that the runs that it stored are found by later versions.
NEW_OPTIONS = {"actor": None}


@dataclass(frozen=True, kw_only=True)
class TabularSettings:
    """What both agents can be told."""

    # Discount of the environment; on a known MDP the MDP's own holds.
    gamma: float = 0.99
    # Step size of the actor.
    eta: float = 1.0
    # Step size of the critic.
    eta_c: float = 0.1
    # Initial value of the critic.
    q0: float = 0.0
    # Of the policy: softmax or direct.
    parametrization: str = "softmax"
    # A rule of your own for the policy update, file.py:Name, instead of the paper's.
    actor: Any = None
    # expected_sarsa, current (on the transition under way), q_learning, mle, or file.py:Name.
    critic: Any = "expected_sarsa"
    # Steps between two solutions of the mle critic, the exact values in the empirical model.
    mle_every: int = 1
    # Weight of a UCB bonus.
    nu: float = 0.0
    # Samples per step; each step size is divided by it.
    batch: int = 1
    # Of the actor's step: published, paper or none.
    normalization: str | None = None
    # Step factor along a trajectory: pg (gamma^k) or undiscounted (1).
    density: str | None = None
    # Bound on each replay buffer; unbounded by default.
    capacity: int | None = None
    # What a full buffer does: ring (the oldest makes room) or keep (the newest is dropped).
    when_full: str = "ring"
    # Replayed s': model (drawn again from the empirical model) or stored.
    successor: str | None = None
    # published (as the figures were made) or paper (the text, literally).
    convention: str = "published"

    agent: ClassVar[str]
    presets: ClassVar[dict[str, dict[str, Any]]]
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "convention": ("published", "paper"),
        "parametrization": ("softmax", "direct"),
        "normalization": NORMALIZATIONS,
        "density": ("pg", "undiscounted"),
        "when_full": ("ring", "keep"),
        "successor": ("model", "stored"),
    }

    # What the numbers must be, beside finite, and in words.
    numbers: ClassVar[dict[str, tuple[Callable[[float], bool], str]]] = {
        "eta": (lambda x: x > 0, "a positive number"),
        "eta_c": (lambda x: x > 0, "a positive number"),
        "q0": (lambda x: True, "a finite number"),
        "nu": (lambda x: x >= 0, "a number of at least 0"),
        "lam": (lambda x: x >= 0, "a number of at least 0"),
        "gamma": (lambda x: 0 <= x <= 1, "a number in [0, 1]"),
        "hyde_q0": (lambda x: True, "a finite number"),
        "hyde_eta": (lambda x: x > 0, "a positive number"),
    }

    def __post_init__(self) -> None:
        for name, allowed in self.choices.items():
            check_choice(self.option(name), name, allowed)
        for name, (holds, words) in self.numbers.items():
            value = getattr(self, name, None)
            is_number = isinstance(value, (int, float)) and math.isfinite(value)
            require(
                value is None or (is_number and holds(value)),
                f"{name} is {value!r}; it must be {words}",
            )
        for name in ("batch", "mle_every"):
            check_count(getattr(self, name), name, 1)
        if self.capacity is not None:
            check_count(self.capacity, "capacity", 1)
            require(
                self.successor != "model",
                "successor is 'model', but a bounded buffer forgets; "
                "give successor='stored' or no capacity",
            )
        CRITICS.make(self.critic, "critic")
        if self.actor is not None:
            ACTORS.make(self.actor, "actor")

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = getattr(self, name, None)
        if name == "successor" and value is None and self.capacity is not None:
            return "stored"
        return self.presets[self.convention].get(name) if value is None else value

    def resolved(self) -> dict[str, Any]:
        """Every option with its value in force, in the words of the command line."""
        values = {name: self.option(name) for name in vars(self)}
        choices = {"critic": CRITICS, "bonus": BONUSES, "hyde": EXPLORERS, "actor": ACTORS}
        for name, value in values.items():
            if isinstance(value, Schedule):
                values[name] = str(value)
            elif name in choices and value is not None and not isinstance(value, str):
                values[name] = choices[name].spell(choices[name].make(value))
        return dict(each for each in values.items() if each not in NEW_OPTIONS.items())

    @property
    def uses_replay(self) -> bool:
        """Whether transitions are kept: always with Hyde, and without him where it is asked for."""
        return bool(getattr(self, "replay", True))

    @property
    def has_callables(self) -> bool:
        """Whether a schedule is a function of the user's, which is asked for in stretches."""
        return any(isinstance(rate, Schedule) and rate.function for rate in vars(self).values())

    @property
    def uses_model(self) -> bool:
        """Whether the empirical model is solved, which needs a known MDP."""
        return isinstance(CRITICS.make(self.critic, "critic"), Mle)


@dataclass(frozen=True, kw_only=True)
class JekyllHydeSettings(TabularSettings):
    """Dr Jekyll and Mr Hyde (Algorithm 3). In his case nu adds UCB to Jekyll's critic."""

    # Probability epsilon_t that Hyde leads the next trajectory: 0.1, 100/t, 10/sqrt(t).
    epsilon: ScheduleLike = "100/t"
    # Probability o_t that a sample comes from Hyde's buffer; t counts environment steps.
    o: ScheduleLike = 0.5
    # Hyde: q_learning on his bonus, uniform, or file.py:Name.
    hyde: Any = "q_learning"
    # His bonus: ucb, count, or file.py:Name.
    bonus: Any = None
    # His initial value.
    hyde_q0: float | None = None
    # Upper clip of his values; inf for none.
    hyde_clip: float | None = None
    # His step size.
    hyde_eta: float | None = None

    agent: ClassVar[str] = "jekyll-hyde"
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
        require(
            self.hyde_clip is None or self.hyde_clip > -math.inf,
            f"hyde_clip is {self.hyde_clip!r}; it must be a number, or inf for no clip",
        )
        BONUSES.make(self.option("bonus"), "bonus")
        self.explorer()

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = super().option(name)
        jekylls = {"hyde_q0": self.q0, "hyde_eta": self.eta_c}
        return jekylls.get(name) if value is None else value

    def explorer(self) -> Any:
        """Hyde's record."""
        if EXPLORERS.get(self.hyde) is not OptimisticQ:
            return EXPLORERS.make(self.hyde, "hyde")
        eta, clip = self.option("hyde_eta") / self.batch, self.option("hyde_clip")
        return OptimisticQ(float(eta), float(clip), BONUSES.make(self.option("bonus"), "bonus"))


@dataclass(frozen=True, kw_only=True)
class OnPolicySettings(TabularSettings):
    """On-policy actor-critic (Algorithm 2)."""

    # Entropy weight lambda.
    lam: float = 0.0
    # Form of the entropy term: plain or centred.
    entropy: str | None = None
    # Where nu's bonus goes: the critic's target or the actor.
    nu_in: str | None = None
    # expected over all actions, or sampled: of the action taken, with a one-step target.
    update: str | None = None
    # Learn from `batch` draws of all transitions so far instead of from the one under way.
    replay: bool = False

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "published": {
            "entropy": "plain",
            "nu_in": "critic",
            "update": "expected",
            "normalization": "published",
            "density": "pg",
            "successor": "model",
        },
        "paper": {
            "entropy": "centred",
            "nu_in": "actor",
            "update": "sampled",
            "normalization": "paper",
            "density": "pg",
            "successor": "stored",
        },
    }
    agent: ClassVar[str] = "on-policy"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **TabularSettings.choices,
        "entropy": ("plain", "centred"),
        "nu_in": ("critic", "actor"),
        "update": ("expected", "sampled"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.replay or self.batch == 1,
            f"batch is {self.batch}, but without replay there is one transition per step; "
            "give replay=True",
        )
        require(
            self.lam == 0 or self.parametrization == "softmax",
            "lam is given, but the direct parametrization has no entropy term; use 'softmax'",
        )
