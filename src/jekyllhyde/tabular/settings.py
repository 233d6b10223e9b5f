"""The tabular agents' settings: what can be chosen.

An option left at None takes the convention's value (`conventions`). `run_state.algorithm` turns
settings into the records that the compiled loop reads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from jekyllhyde.errors import check_choice, check_count, require
from jekyllhyde.schedule import Schedule, ScheduleLike, probability
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.conventions import (
    ADAPTIVE,
    BY_VISITS,
    CURIOUS,
    JEKYLL_HYDE,
    NORMALIZATIONS,
    ON_POLICY,
    Presets,
)
from jekyllhyde.tabular.hyde import BONUSES, EXPLORERS, BonusQLearning, ModelBased
from jekyllhyde.tabular.jekyll import ACTORS, CRITICS, Mle, ModelBasedCritic
from jekyllhyde.tabular.posterior import Posterior
from jekyllhyde.tabular.row_actors import RaiseHopeful

# Options that version 0.1 did not have, at what gives its behaviour. They are left out there, so
# that the runs that it stored are found by later versions.
NEW_OPTIONS = {"actor": None, "replay": "logs", "with_current": False}


@dataclass(frozen=True, kw_only=True)
class TabularSettings(AgentSettings):
    """What both of the paper's agents can be told."""

    # Step size of the actor.
    eta: float | None = None
    # Step size of the critic; visits: (h + 1) / (h + n) with h = 10.
    eta_c: float | str = 0.1
    # Initial value of the critic.
    q0: float = 0.0
    # Of the policy: softmax or direct.
    parametrization: str = "softmax"
    # Another rule for the policy update than the paper's: cross_entropy, raise_greedy,
    # raise_hopeful, natural_gradient (the same as mirror_step), or file.py:Name.
    actor: Any = None
    # expected_sarsa, current (on the transition under way), q_learning, model_based, mle, or
    # file.py:Name.
    critic: Any = None
    # Steps between two solutions of the mle critic, the exact values in the empirical model.
    mle_every: int = 1
    # Weight of a UCB bonus.
    nu: float = 0.0
    # Samples per step; each step size is divided by it.
    batch: int | None = None
    # Learn from the transition under way as well, before the `batch` that is drawn.
    with_current: bool = False
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
    # recommended (J&H; the best we know), published (as the figures were made) or paper (the text,
    # literally).
    convention: str = "published"

    presets: ClassVar[Presets]
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "parametrization": ("softmax", "direct"),
        "normalization": NORMALIZATIONS,
        "density": ("pg", "undiscounted"),
        "when_full": ("ring", "keep"),
        "successor": ("model", "stored"),
    }

    # What the numbers must be, beside finite, and in words.
    numbers: ClassVar[dict[str, tuple[Callable[[float], bool], str]]] = {
        "eta": (lambda x: x > 0, "a positive number"),
        "eta_c": (lambda x: x > 0, "a positive number, or 'visits'"),
        "q0": (lambda x: True, "a finite number"),
        "nu": (lambda x: x >= 0, "a number of at least 0"),
        "lam": (lambda x: x >= 0, "a number of at least 0"),
        "gamma": (lambda x: 0 <= x <= 1, "a number in [0, 1]"),
        "hyde_q0": (lambda x: True, "a finite number"),
        "hyde_eta": (lambda x: x > 0, "a positive number"),
    }

    def __post_init__(self) -> None:
        check_choice(self.convention, "convention", tuple(self.presets))
        for name, allowed in self.choices.items():
            check_choice(self.option(name), name, allowed)
        for name, (holds, words) in self.numbers.items():
            value = getattr(self, name, None)
            if value is None or (name, value) == ("eta_c", BY_VISITS):
                continue
            is_number = isinstance(value, (int, float)) and math.isfinite(value)
            require(is_number and holds(value), f"{name} is {value!r}; it must be {words}")
        for name in ("batch", "mle_every"):
            check_count(self.option(name), name, 1)
        if self.capacity is not None:
            check_count(self.capacity, "capacity", 1)
            require(
                self.successor != "model",
                "successor is 'model', but a bounded buffer forgets; "
                "give successor='stored' or no capacity",
            )
        require(
            not self.with_current or self.option("replay") in (True, "logs"),
            "with_current is given, but it goes with a replay of the logs; "
            "give replay=True (on-policy) or replay='logs' (J&H)",
        )
        critic, actor = CRITICS.make(self.option("critic"), "critic"), self.option("actor")
        require(
            actor is None
            or not isinstance(ACTORS.make(actor, "actor"), RaiseHopeful)
            or isinstance(critic, ModelBasedCritic),
            "actor is 'raise_hopeful', which needs critic='model_based'; take 'raise_greedy'",
        )

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = getattr(self, name, None)
        if value is not None:
            return value
        if name == "successor" and self.capacity is not None:
            return "stored"
        preset = self.presets[self.convention].get(name)
        is_sure = preset == "raise_hopeful" and self.option("critic") != "model_based"
        return "raise_greedy" if is_sure else preset  # without counts there is no doubt

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
        return bool(self.option("replay"))

    def cut(self, n_states: int) -> int | None:
        """After how many steps a trajectory is cut where nobody says it: 100 as published, with
        `recommended` S more, enough to cross any problem; never with `paper`.
        """
        return {"published": 100, "recommended": 100 + n_states}.get(self.convention)

    @property
    def is_practical(self) -> bool:
        """Not with the paper's conventions."""
        return self.convention == "recommended"

    @property
    def has_callables(self) -> bool:
        """Whether a schedule is a function of the user's, which is asked for in stretches."""
        return any(isinstance(rate, Schedule) and rate.function for rate in vars(self).values())

    @property
    def uses_model(self) -> bool:
        """Whether the empirical model is solved, which needs a known MDP."""
        return isinstance(CRITICS.make(self.option("critic"), "critic"), Mle)

    @property
    def learns_model(self) -> bool:
        """Whether transitions are counted, for a critic or a Hyde that plans."""
        critic = CRITICS.make(self.option("critic"), "critic")
        return isinstance(critic, ModelBasedCritic)


@dataclass(frozen=True, kw_only=True)
class JekyllHydeSettings(TabularSettings):
    """Dr Jekyll and Mr Hyde (Algorithm 3). In his case nu adds UCB to Jekyll's critic."""

    # Probability epsilon_t that Hyde leads the next trajectory: 0.1, 100/t, 10/sqrt(t).
    # curious: as often as he expects something new.
    epsilon: ScheduleLike | None = None
    # Probability o_t that a sample comes from Hyde's buffer; t counts environment steps.
    # adaptive: the more the less Jekyll's own value moves.
    o: ScheduleLike = 0.5
    # Hyde: model_based, optimistic (the same without a model), hoeffding, posterior (sampling),
    # q_learning on his bonus (the paper), uniform, or file.py:Name.
    hyde: Any = None
    # Where samples come from: logs (the two buffers, evenly), sweeping (where values have moved),
    # or backward (whole trajectories from their end).
    replay: str | None = None
    # His bonus: ucb, count, or file.py:Name.
    bonus: Any = None
    # His initial value.
    hyde_q0: float | None = None
    # Upper clip of his values; inf for none.
    hyde_clip: float | None = None
    # His step size.
    hyde_eta: float | None = None

    convention: str = "recommended"

    agent: ClassVar[str] = "jekyll-hyde"
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **TabularSettings.choices,
        "replay": ("logs", "sweeping", "backward"),
    }
    presets: ClassVar[Presets] = JEKYLL_HYDE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.option("epsilon") != CURIOUS:
            object.__setattr__(self, "epsilon", probability(self.option("epsilon"), "epsilon"))
        if self.o != ADAPTIVE:
            object.__setattr__(self, "o", probability(self.o, "o"))
        require(
            self.hyde_clip is None or self.hyde_clip > -math.inf,
            f"hyde_clip is {self.hyde_clip!r}; it must be a number, or inf for no clip",
        )
        gamma = getattr(self.explorer(), "gamma", 0.0)
        require(
            0 <= gamma < 1 or self.hyde_q0 is not None,
            f"hyde has gamma = {gamma}; it must be in [0, 1), or hyde_q0 be given",
        )

    def option(self, name: str) -> Any:
        """The value of an option, the convention's where it was left at None."""
        value = super().option(name)
        if value is None and name == "hyde_q0":
            explorer = self.explorer()
            if hasattr(explorer, "gamma"):
                return 1.0 / (1.0 - explorer.gamma)  # the most that bonuses of up to 1 can sum to
            return 1.0 if super().option("epsilon") == CURIOUS else self.q0  # he is measured by it
        return self.eta_c if value is None and name == "hyde_eta" else value

    @property
    def learns_model(self) -> bool:
        """Whether transitions are counted."""
        sweeps = self.option("replay") == "sweeping"
        return (
            sweeps or super().learns_model or isinstance(self.explorer(), (ModelBased, Posterior))
        )

    def explorer(self) -> Any:
        """Hyde's record."""
        hyde = self.option("hyde")
        preset = BONUSES.make(self.option("bonus"), "bonus")
        if EXPLORERS.get(hyde) is BonusQLearning:
            eta, clip = self.option("hyde_eta"), self.option("hyde_clip")
            require(eta != BY_VISITS, "hyde_eta must be given where eta_c is 'visits'")
            return BonusQLearning(float(eta) / self.option("batch"), float(clip), preset)
        explorer = EXPLORERS.make(hyde, "hyde")
        bonus = getattr(explorer, "bonus", preset)
        if isinstance(bonus, str):
            return explorer._replace(bonus=BONUSES.make(bonus, "bonus"))
        return explorer if bonus is not None else explorer._replace(bonus=preset)


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

    agent: ClassVar[str] = "on-policy"
    presets: ClassVar[Presets] = ON_POLICY
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **TabularSettings.choices,
        "entropy": ("plain", "centred"),
        "nu_in": ("critic", "actor"),
        "update": ("expected", "sampled"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.replay or self.option("batch") == 1,
            f"batch is {self.batch}, but without replay there is one transition per step; "
            "give replay=True",
        )
        require(
            self.lam == 0 or self.parametrization == "softmax",
            "lam is given, but the direct parametrization has no entropy term; use 'softmax'",
        )
