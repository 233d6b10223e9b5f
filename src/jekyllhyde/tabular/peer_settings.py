"""The settings of the field's tabular explorers (`peers`), and the records that they stand for."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jekyllhyde.errors import check_count, require
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.algorithm import HYDE, Algorithm
from jekyllhyde.tabular.conventions import BY_VISITS
from jekyllhyde.tabular.learned_model import Counts
from jekyllhyde.tabular.peers import (
    Alone,
    EpsilonGreedy,
    Follow,
    NoCritic,
    Psrl,
    UcbHoeffding,
    Ucbvi,
)
from jekyllhyde.tabular.posterior import room_for_draw
from jekyllhyde.tabular.replays import UNBOUNDED, Sweeping, TwoLogs, UnderWay
from jekyllhyde.tabular.step_sizes import NONE, ByVisits, Constant, StepSize

if TYPE_CHECKING:
    from jekyllhyde.tabular.run_state import RunState


@dataclass(frozen=True, kw_only=True)
class PeerSettings(AgentSettings, ABC):
    """What every peer can be told."""

    # The largest |reward| there is; the MDP's own where it is known, else 1.
    r_max: float | None = None
    # The horizon H of values and bonuses; 1 / (1 - gamma) by default.
    lookahead: float | None = None

    values: ClassVar[str] = "q_hyde"
    hyde_q0: ClassVar[float] = 0.0  # there is a table for it; `begin` fills it
    # What the numbers must exceed, and must not.
    bounds: ClassVar[dict[str, tuple[float, float]]] = {}

    def __post_init__(self) -> None:
        require(0 <= self.gamma <= 1, f"gamma is {self.gamma!r}; it must be a number in [0, 1]")
        for name in ("r_max", "lookahead"):
            value = getattr(self, name)
            fits = value is None or (math.isfinite(value) and value > 0)
            require(fits, f"{name} is {value!r}; it must be a positive number")
        for name, (low, high) in self.bounds.items():
            value = getattr(self, name)
            is_number = isinstance(value, (int, float)) and low <= value <= high
            most = f" and at most {high:g}" if math.isfinite(high) else ""
            require(
                is_number, f"{name} is {value!r}; it must be a number of at least {low:g}{most}"
            )

    def begin(self, state: "RunState", gamma: float, r_max: float) -> None:
        """Hyde leads from the first step on, and every pair is worth `optimism` H r_max."""
        now, scale = state.position, self.r_max or r_max
        now.scale, now.control = scale, HYDE
        optimism = self.option("optimism")
        first_value = (1.0 if optimism is None else optimism) * self.horizon(gamma) * scale
        state.tables.q_hyde[:] = first_value
        if isinstance(state.model, Counts):
            state.model.v_hyde[:] = state.model.told_hyde[:] = first_value

    def horizon(self, gamma: float) -> float:
        """H."""
        require(
            gamma < 1 or self.lookahead is not None,
            "gamma is 1, where H = 1 / (1 - gamma) has no end; give lookahead",
        )
        return self.lookahead or 1.0 / (1.0 - gamma)

    def algorithm(self, state: "RunState", gamma: float) -> Algorithm:
        """The records of all choices."""
        logs = TwoLogs(state.log, UNBOUNDED, True, False)
        return Algorithm(
            leader=Alone(),
            actor=Follow(),
            critic=NoCritic(),
            explorer=self.record(state, gamma),
            replay=Sweeping(logs, gamma) if self.uses_replay else UnderWay(),
            step_size=StepSize(0.0, 1.0, NONE),
            batch=self.option("batch") or 1,
            counts_log=False,
        )

    @abstractmethod
    def record(self, state: "RunState", gamma: float) -> Any:
        """The peer's own record."""


@dataclass(frozen=True, kw_only=True)
class QLearningSettings(PeerSettings):
    """Q-learning."""

    # Probability of a uniform action.
    epsilon: float = 0.1
    # Step size; visits: (h + 1) / (h + n) with h = 10.
    eta_c: float | str = 0.1
    # Initial values, in units of the largest there can be, H r_max.
    optimism: float = 0.0

    agent: ClassVar[str] = "q-learning"
    bounds: ClassVar[dict[str, tuple[float, float]]] = {"epsilon": (0, 1), "optimism": (0, 1)}

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.eta_c == BY_VISITS
            or (isinstance(self.eta_c, (int, float)) and 0 < self.eta_c <= 1),
            f"eta_c is {self.eta_c!r}; it must be a number in (0, 1], or 'visits'",
        )

    def record(self, state: "RunState", gamma: float) -> Any:
        step = ByVisits() if self.eta_c == BY_VISITS else Constant(float(self.eta_c))
        return EpsilonGreedy(step, float(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class UcbHSettings(PeerSettings):
    """UCB-Hoeffding Q-learning."""

    # Weight of the bonus c r_max sqrt(H^3 / n); it holds the paper's logarithm.
    c: float = 0.001

    agent: ClassVar[str] = "ucb-h"
    bounds: ClassVar[dict[str, tuple[float, float]]] = {"c": (0, math.inf)}

    def record(self, state: "RunState", gamma: float) -> Any:
        return UcbHoeffding(self.horizon(gamma), float(self.c))


@dataclass(frozen=True, kw_only=True)
class UcbviSettings(PeerSettings):
    """UCBVI."""

    # Weight of the bonus c r_max H / sqrt(n); it holds the paper's logarithm.
    c: float = 0.01
    # Pairs whose values are computed anew after each step.
    batch: int = 16

    agent: ClassVar[str] = "ucbvi"
    bounds: ClassVar[dict[str, tuple[float, float]]] = {"c": (0, math.inf)}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.batch, "batch", 1)

    @property
    def uses_replay(self) -> bool:
        return True

    @property
    def learns_model(self) -> bool:
        return True

    def record(self, state: "RunState", gamma: float) -> Any:
        return Ucbvi(gamma, self.horizon(gamma), float(self.c))


@dataclass(frozen=True, kw_only=True)
class PsrlSettings(PeerSettings):
    """PSRL; its prior."""

    # Mass of the Dirichlet prior of a pair's successors.
    alpha: float = 0.1
    # Standard deviation of a reward, prior and noise, in units of r_max.
    sigma: float = 0.1
    # Mean of a reward before it was seen, in units of r_max.
    mu: float = 1.0

    agent: ClassVar[str] = "psrl"
    bounds: ClassVar[dict[str, tuple[float, float]]] = {
        "alpha": (1e-6, math.inf),
        "sigma": (0, math.inf),
        "mu": (-math.inf, math.inf),
    }

    @property
    def learns_model(self) -> bool:
        return True

    def record(self, state: "RunState", gamma: float) -> Any:
        prior = float(self.alpha), float(self.sigma), float(self.mu)
        return Psrl(gamma, *prior, room_for_draw(state.model))
