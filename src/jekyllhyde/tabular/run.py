"""A run in the compiled loop: the bundles that an agent's settings ask for, and the state that they
work on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jekyllhyde.mdp.finite import Floats, Ints
from jekyllhyde.schedule import Schedule
from jekyllhyde.tabular.agents import (
    CRITICS,
    NORMALIZATIONS,
    TabularAgent,
    TabularJekyllHyde,
    TabularOnPolicy,
)
from jekyllhyde.tabular.arrays import (
    SIZE_HYDE,
    SIZE_JEKYLL,
    STEPS,
    Buffers,
    Hyde,
    Index,
    Jekyll,
    Options,
    Scratch,
    Tables,
    Trace,
)
from jekyllhyde.tabular.rng import Words, stream

CHUNK = 1 << 16
UNBOUNDED = 1 << 62
EMPTY = np.empty(0)


@dataclass
class State:
    """All that changes while an agent learns: its tables, its random stream, where it stands, and
    its replay log [2, room].
    """

    tables: Tables
    words: Words
    clock: Ints
    sums: Floats
    log: Index


def initial_state(agent: TabularAgent, n_states: int, n_actions: int, seed: int, run: int) -> State:
    """A uniform policy, q = q0, Hyde's q = hyde_q0, nothing seen."""
    shape = (n_states, n_actions)
    uniform = np.full(shape, 1.0 / n_actions)
    tables = Tables(
        theta=np.zeros(shape) if agent.parametrization == "softmax" else uniform.copy(),
        pi=uniform,
        q=np.full(shape, agent.q0),
        q_hyde=np.full(shape, float(agent.option("hyde_q0")))
        if isinstance(agent, TabularJekyllHyde)
        else np.empty((0, 0)),
        n=np.zeros(shape, dtype=np.int64),
    )
    return State(
        tables,
        stream(seed, run),
        np.zeros(11, dtype=np.int64),
        np.array([1.0, 0.0]),
        np.empty((2, 0), dtype=np.uint32),
    )


def make_room(state: State, agent: TabularAgent, steps: int) -> None:
    """Room in the log for `steps` more transitions; it doubles when it must grow."""
    if not uses_replay(agent):
        return
    sizes = state.clock[[SIZE_JEKYLL, SIZE_HYDE]]
    needed = min(int(sizes.max()) + steps, agent.capacity or UNBOUNDED)
    if state.log.shape[1] < needed:
        log = np.empty(
            (2, min(max(needed, 2 * state.log.shape[1]), agent.capacity or UNBOUNDED)),
            dtype=np.uint32,
        )
        for row, size in enumerate(np.minimum(sizes, agent.capacity or UNBOUNDED)):
            log[row, :size] = state.log[row, :size]
        state.log = log


def uses_replay(agent: TabularAgent) -> bool:
    """Whether the agent keeps its transitions."""
    return isinstance(agent, TabularJekyllHyde) or (
        isinstance(agent, TabularOnPolicy) and agent.replay
    )


def bundles(
    agent: TabularAgent, state: State, gamma: float, n_actions: int, steps: int
) -> tuple[Any, Any, Any, Any]:
    """(jekyll, hyde, buffers, options) for the compiled loop; those that the agent does without are
    None.
    """
    density = gamma if agent.option("density") == "pg" else 1.0
    jekyll = Jekyll(
        float(agent.eta),
        float(agent.eta_c),
        density,
        NORMALIZATIONS.index(agent.option("normalization")),
    )
    buffers = None
    if uses_replay(agent):
        buffers = Buffers(
            state.log,
            agent.capacity or UNBOUNDED,
            agent.when_full == "ring",
            agent.option("successor") == "model",
            agent.batch,
        )
    return (
        jekyll,
        _hyde(agent, int(state.clock[STEPS]), steps),
        buffers,
        _options(agent, gamma, n_actions),
    )


def _hyde(agent: TabularAgent, done: int, steps: int) -> Hyde | None:
    if not isinstance(agent, TabularJekyllHyde):
        return None
    epsilon, o = agent.epsilon, agent.o
    assert isinstance(epsilon, Schedule)
    assert isinstance(o, Schedule)
    tables = [
        EMPTY if schedule.function is None else schedule.values(done + 1, steps)
        for schedule in (epsilon, o)
    ]
    alphas = [
        np.nan if schedule.function is not None else schedule.alpha for schedule in (epsilon, o)
    ]
    return Hyde(
        float(agent.option("hyde_eta")),
        float(agent.option("hyde_clip")),
        agent.option("bonus") == "ucb",
        agent.hyde == "uniform",
        epsilon.c,
        alphas[0],
        tables[0],
        o.c,
        alphas[1],
        tables[1],
        done + 1,
    )


def _options(agent: TabularAgent, gamma: float, n_actions: int) -> Options | None:
    on_policy = isinstance(agent, TabularOnPolicy)
    in_actor = on_policy and agent.option("nu_in") == "actor"
    options = Options(
        critic=CRITICS.index(agent.critic),
        mle_every=agent.mle_every,
        q0=float(agent.q0),
        gamma=gamma,
        direct=agent.parametrization == "direct",
        sampled=on_policy and agent.option("update") == "sampled",
        lam=float(getattr(agent, "lam", 0.0)),
        centred=agent.option("entropy") == "centred",
        nu_critic=0.0 if in_actor else float(agent.nu),
        nu_actor=float(agent.nu) if in_actor else 0.0,
        row=np.empty(n_actions),
    )
    plain = (
        options.critic == 0
        and not options.direct
        and not options.sampled
        and options.lam == 0.0
        and agent.nu == 0.0
    )
    return None if plain else options


def empty_scratch() -> Scratch:
    """No room to evaluate inside the loop."""
    return Scratch(EMPTY, EMPTY, EMPTY, np.empty((0, 0)), EMPTY)


def empty_trace() -> Trace:
    """Nothing to evaluate."""
    none = np.zeros(0, dtype=np.int64)
    rows = np.zeros(0, dtype=np.int32)
    return Trace(
        none,
        EMPTY,
        EMPTY,
        EMPTY,
        none,
        none,
        none,
        none,
        rows,
        rows,
        np.empty((0, 0)),
        EMPTY,
        EMPTY,
        0.0,
        False,
        np.inf,
        np.inf,
    )
