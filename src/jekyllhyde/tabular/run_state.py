"""A run of the compiled loop: what changes while an agent learns, and its choices as records."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from jekyllhyde.errors import require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.schedule import Schedule
from jekyllhyde.tabular.agent_settings import AgentSettings
from jekyllhyde.tabular.algorithm import JEKYLL, Algorithm
from jekyllhyde.tabular.conventions import BY_VISITS, NORMALIZATIONS
from jekyllhyde.tabular.hyde import (
    BonusQLearning,
    Count,
    Curiosity,
    JekyllAndHyde,
    Nobody,
    Promise,
    Stalling,
    Unasked,
    Uniform,
)
from jekyllhyde.tabular.jekyll import (
    ACTORS,
    CRITICS,
    Current,
    Direct,
    ExpectedSarsa,
    Mle,
    ModelBasedCritic,
    Plain,
    RegularizedSoftmax,
    Sampled,
    Softmax,
    TemporalDifference,
    WithUcb,
)
from jekyllhyde.tabular.learned_model import NOTHING, NoModel, enlarged, new_counts
from jekyllhyde.tabular.posterior import Posterior, room_for_draw
from jekyllhyde.tabular.random_stream import Words, stream
from jekyllhyde.tabular.records import POSITION, Index, Tables
from jekyllhyde.tabular.replays import UNBOUNDED, Backward, Sweeping, TwoLogs, UnderWay, WithCurrent
from jekyllhyde.tabular.row_actors import as_actor
from jekyllhyde.tabular.settings import JekyllHydeSettings, TabularSettings
from jekyllhyde.tabular.step_sizes import ByVisits, Constant, StepSize, rate_of

CHUNK = 1 << 16  # environment steps between two returns from the loop, at most


@dataclass
class RunState:
    """All that changes while an agent learns: tables, random stream, position, replay [2, room]."""

    tables: Tables
    words: Words
    position: np.recarray[Any, Any]
    log: Index
    model: Any

    def table(self, name: str) -> Floats:
        """One of the tables as [S, A], the same memory."""
        return np.reshape(getattr(self.tables, name), (-1, int(self.tables.width)))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many transitions Jekyll's and Hyde's buffers were ever offered."""
        return int(self.position.size_jekyll[0]), int(self.position.size_hyde[0])

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return int(self.position.steps[0])

    def make_room(self, settings: AgentSettings, steps: int) -> bool:
        """Room in the log for `steps` more transitions; whether it had to grow (it doubles)."""
        capacity = settings.option("capacity") or UNBOUNDED
        needed = min(max(self.sizes) + steps, capacity) if settings.uses_replay else 0
        room = self.log.shape[1]
        if room < needed:
            old, self.log = self.log, np.empty((2, min(max(needed, 2 * room), capacity)), np.uint32)
            for row, size in enumerate(self.sizes):
                self.log[row, : min(size, capacity)] = old[row, : min(size, capacity)]
        grown = self.make_model_room(int(self.position.transitions[0]) + steps)
        return grown or room < needed

    def make_model_room(self, distinct: int) -> bool:
        """Room for so many distinct transitions in the learned model; whether it had to grow."""
        if isinstance(self.model, NoModel) or len(self.model.times) >= distinct:
            return False
        require(
            distinct < NOTHING,
            f"the learned model would have {distinct:,} transitions; it counts fewer than 2^32",
        )
        self.model = enlarged(self.model, max(distinct, 2 * len(self.model.times)))
        return True


def initial_state(
    settings: AgentSettings, n_states: int, n_actions: int, seed: int, run: int
) -> RunState:
    """A uniform policy, q = q0, Hyde's q = hyde_q0, nothing seen."""
    size = n_states * n_actions
    uniform = np.full(size, 1.0 / n_actions)
    q0, hyde_q0 = float(settings.option("q0") or 0.0), settings.option("hyde_q0")
    is_direct = settings.option("parametrization") == "direct"
    position = np.zeros(1, dtype=POSITION).view(np.recarray)
    position.factor, position.control = 1.0, JEKYLL
    has_hyde_q = hyde_q0 is not None or settings.learns_model
    first_value = float(hyde_q0 or 0.0)
    return RunState(
        tables=Tables(
            theta=uniform.copy() if is_direct else np.zeros(size),
            pi=uniform,
            q=np.full(size, q0),
            q_hyde=np.full(size if has_hyde_q else 0, first_value),
            n=np.zeros(size, dtype=np.int64),
            work=np.empty(n_actions),
            width=np.uint64(n_actions),
        ),
        words=stream(seed, run),
        position=position,
        log=np.empty((2, 0), dtype=np.uint32),
        model=new_counts(n_states, n_actions, q0, first_value)
        if settings.learns_model
        else NoModel(),
    )


def algorithm(
    settings: AgentSettings, state: RunState, gamma: float, steps: int, has_model: bool
) -> Algorithm:
    """The records of all choices, for the next `steps` environment steps."""
    if not isinstance(settings, TabularSettings):
        return settings.algorithm(state, gamma)
    leader: Any = Nobody()
    explorer: Any = Nobody()
    if isinstance(settings, JekyllHydeSettings):
        explorer = settings.explorer()
        rates: dict[str, Any] = {
            "epsilon": Curiosity(float(settings.option("hyde_q0"))),
            "o": Stalling(),
        }
        for name in rates:
            schedule = settings.option(name)
            if isinstance(schedule, Schedule):
                rates[name] = rate_of(schedule, state.steps, steps)
        is_blind = isinstance(explorer, (BonusQLearning, Uniform))
        is_asked = isinstance(rates["epsilon"], Curiosity) or not is_blind
        leader = JekyllAndHyde(**rates, promise=Promise() if is_asked else Unasked())
        if isinstance(explorer, Posterior):
            explorer = explorer._replace(draw=room_for_draw(state.model))
    replay: Any = UnderWay()
    if settings.uses_replay:
        replay = TwoLogs(
            log=state.log,
            capacity=settings.capacity or UNBOUNDED,
            ring=settings.when_full == "ring",
            from_model=settings.option("successor") == "model" and has_model,
        )
        if settings.option("replay") == "sweeping":
            replay = Sweeping(replay, gamma)
        elif settings.option("replay") == "backward":
            replay = Backward(replay)
        elif settings.with_current:
            replay = WithCurrent(replay)
    is_quiet = isinstance(explorer, (Nobody, Uniform)) or isinstance(
        getattr(explorer, "bonus", None), Count
    )
    return Algorithm(
        leader=leader,
        actor=_actor(settings),
        critic=_critic(settings, gamma),
        explorer=explorer,
        replay=replay,
        step_size=StepSize(
            eta=float(settings.option("eta")) / settings.option("batch"),
            decay=gamma if settings.option("density") == "pg" else 1.0,
            normalization=NORMALIZATIONS.index(settings.option("normalization")),
        ),
        batch=settings.option("batch"),
        counts_log=not is_quiet or settings.nu > 0.0,
    )


def _critic(settings: TabularSettings, gamma: float) -> Any:
    rule = CRITICS.make(settings.option("critic"), "critic")
    if isinstance(rule, ModelBasedCritic):
        return ModelBasedCritic(gamma)
    if isinstance(rule, Mle):
        return Mle(settings.mle_every, float(settings.q0))
    is_plain = settings.nu == 0 or settings.option("nu_in") == "actor"
    is_current = isinstance(rule, Current)
    is_fading = settings.eta_c == BY_VISITS
    learned = TemporalDifference(
        rule=ExpectedSarsa() if is_current else rule,
        eta=ByVisits() if is_fading else Constant(float(settings.eta_c) / settings.option("batch")),
        reward=Plain() if is_plain else WithUcb(float(settings.nu)),
    )
    return Current(learned) if is_current else learned


def _actor(settings: TabularSettings) -> Any:
    if settings.option("actor") is not None:
        return as_actor(ACTORS.make(settings.option("actor"), "actor"))
    nu = float(settings.nu) if settings.option("nu_in") == "actor" else 0.0
    lam = float(settings.option("lam") or 0.0)
    is_direct = settings.parametrization == "direct"
    if settings.option("update") == "sampled":
        return Sampled(is_direct, lam, nu)
    if is_direct:
        return Direct(nu)
    regularized = RegularizedSoftmax(lam, settings.option("entropy") == "centred", nu)
    return regularized if lam > 0.0 or nu > 0.0 else Softmax()
