"""Import from Gymnasium: every environment whose `unwrapped.P[s][a]` lists (probability, successor,
reward, terminated).

The `terminated` flag alone says where an episode ends: the goal of CliffWalking goes on in P like
any other state. A state that others enter by flagged transitions only, and that is no start, is
terminal. Where a state is also entered otherwise (Taxi's drop-offs), its flagged transitions lead
to one added terminal state instead, the last index. The environment's own states and actions keep
their indices, counted from 0 where a space starts elsewhere (`Discrete(n, start=...)`). A successor
that is listed several times is one transition with the summed probability and the mean reward. Time
limits and other wrappers are not part of P.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints

Env = Any


def from_gymnasium(
    env: str | gymnasium.Env[Any, Any],
    gamma: float = 0.99,
    *,
    p0: ArrayLike | None = None,
    **kwargs: Any,
) -> FiniteMDP:
    """The finite MDP behind a Gymnasium environment.

    Parameters
    ----------
    env : an id such as "FrozenLake-v1", made with `kwargs` (for example map_name="8x8"), or an
        environment.
    gamma : discount; Gymnasium does not say.
    p0 : initial distribution over the environment's states, where the environment does not say it
        itself.
    """
    if isinstance(env, str):
        with closing(make_environment(env, kwargs)) as environment:
            return _read(environment, env, gamma, p0)
    if kwargs:
        raise InputError(
            f"{', '.join(kwargs)} given beside an environment; such options go with an id"
        )
    spec = make_environment(env).spec
    return _read(env, spec.id if spec is not None else type(env.unwrapped).__name__, gamma, p0)


def make_environment(env: Any, kwargs: dict[str, Any] | None = None) -> Env:
    """The environment itself, or the one with that id made with `kwargs`."""
    if isinstance(env, gymnasium.Env):
        return env
    if not isinstance(env, str):
        raise InputError(
            f"env is {env!r}; it must be the id of a Gymnasium environment, or an environment"
        )
    try:
        return gymnasium.make(env, **(kwargs or {}))
    except Exception as error:  # an environment's constructor may raise anything
        raise InputError(f"Gymnasium cannot make the environment {env!r}: {error}") from error


def _read(env: Env, name: str, gamma: float, p0: ArrayLike | None) -> FiniteMDP:
    inner = env.unwrapped
    if not hasattr(inner, "P"):
        raise InputError(
            f"{name} has no unwrapped.P, the model that is read "
            f"(its observations are {inner.observation_space})"
        )
    for field, space in (("observation", inner.observation_space), ("action", inner.action_space)):
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InputError(
                f"{name} is not a finite MDP: its {field} space is {space}, not Discrete"
            )
    if getattr(inner, "fickle_passenger", False):
        raise InputError(
            f"{name} with fickle_passenger=True is not what its P says; "
            "from_gymnasium cannot import it"
        )
    try:
        row, successor, p, r, ends = _transitions(inner)
        start = _initial(inner, p0)
        n, n_actions = int(inner.observation_space.n), int(inner.action_space.n)
        is_terminal = _terminal_states(row // n_actions, successor, ends, start)
        collected = ends & ~is_terminal[successor]
        size = n + int(collected.any())
        successor = np.where(collected, n, successor)
        return FiniteMDP(
            *_accumulate(row, successor, p, r, (size * n_actions, size)),
            p0=np.append(start, np.zeros(size - n)),
            gamma=gamma,
            terminal=[*np.flatnonzero(is_terminal), *range(n, size)],
            name=name,
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from error


def _transitions(inner: Env) -> tuple[Ints, Ints, Floats, Floats, np.ndarray]:
    # Every listed transition of positive probability: row s*A + a, successor, probability, reward,
    # terminated.
    n, n_actions = int(inner.observation_space.n), int(inner.action_space.n)
    first = _first(inner.P, inner.observation_space, "state")
    listed = []
    for s in range(n):
        actions = inner.P[first + s]
        first_action = _first(actions, inner.action_space, f"action of state {s}")
        for a in range(n_actions):
            for entry in actions[first_action + a]:
                if len(entry) != 4:
                    raise InputError(
                        f"P has the entry {entry} for state {s}, action {a}; it must hold 4 fields"
                    )
                p, successor, r, terminated = map(float, entry)
                if not 0 <= successor - first < n or successor % 1:
                    raise InputError(
                        f"P leads from state {s}, action {a} to {successor:g}, which is not a state"
                    )
                if not p >= 0.0:
                    raise InputError(f"P has the probability {p:g} for state {s}, action {a}")
                if p > 0.0:
                    listed.append((s * n_actions + a, successor - first, p, r, terminated))
    row, column, *numbers, ends = np.array(listed, dtype=np.float64).reshape(-1, 5).T
    return row.astype(np.int64), column.astype(np.int64), *numbers, ends != 0.0


def _first(table: Any, space: Any, what: str) -> int:
    # The key that stands for index 0 in P: 0, or the space's start; every index must be there.
    keys = set(table) if isinstance(table, Mapping) else set(range(len(table)))
    for first in (0, int(space.start)):
        if keys >= {first + i for i in range(int(space.n))}:
            return first
    raise InputError(
        f"P does not have an entry for each {what}: "
        f"the space has {space.n}, starting at {space.start}"
    )


def _initial(inner: Env, p0: ArrayLike | None) -> Floats:
    # p0 as given, or as the environment states it: a distribution, or one start state.
    n = int(inner.observation_space.n)
    for candidate in (
        p0,
        *(getattr(inner, name, None) for name in ("initial_state_distrib", "isd")),
    ):
        if candidate is not None:
            start = np.array(candidate, dtype=np.float64)
            if start.shape != (n,):
                raise InputError(f"p0 has shape {start.shape}; the environment has {n} states")
            return start
    index = getattr(inner, "start_state_index", None)
    if index is None:
        raise InputError("it does not say where episodes start (initial_state_distrib); give p0")
    start = (np.arange(n) + _first(inner.P, inner.observation_space, "state") == index).astype(
        np.float64
    )
    if not start.any():
        raise InputError(f"start_state_index is {index}, which is not a state")
    return start


def _terminal_states(state: Ints, successor: Ints, ends: np.ndarray, start: Floats) -> np.ndarray:
    # Mask of the states that other states enter by flagged transitions only.
    entered = state != successor
    flagged, unflagged = np.zeros(len(start), dtype=bool), start > 0
    flagged[successor[entered & ends]] = True
    unflagged[successor[entered & ~ends]] = True
    return flagged & ~unflagged


def _accumulate(
    row: Ints, successor: Ints, p: Floats, r: Floats, shape: tuple[int, int]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    # P and the expected reward per transition, repetitions of a successor merged.
    key, inverse = np.unique(row * shape[1] + successor, return_inverse=True)
    total = np.bincount(inverse, weights=p, minlength=len(key))
    mean = np.bincount(inverse, weights=p * r, minlength=len(key)) / total
    index = np.divmod(key, shape[1])
    return sparse.csr_array((total, index), shape=shape), sparse.csr_array(
        (mean, index), shape=shape
    )
