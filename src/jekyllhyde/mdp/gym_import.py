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

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from jekyllhyde.errors import InputError, require
from jekyllhyde.mdp.finite import Bools, FiniteMDP, Floats, Ints, refuse

ENVIRONMENTS = (gymnasium.Env, gymnasium.vector.VectorEnv)


def from_gymnasium(
    env: str | Callable[..., Any] | gymnasium.Env[Any, Any],
    gamma: float = 0.99,
    *,
    p0: ArrayLike | None = None,
    **kwargs: Any,
) -> FiniteMDP:
    """The finite MDP behind a Gymnasium environment.

    Parameters
    ----------
    env : an id such as "FrozenLake-v1", made with `kwargs` (for example map_name="8x8"), a function
        that makes the environment, or an environment.
    gamma : discount; Gymnasium does not say.
    p0 : initial distribution over the environment's states, where the environment does not say it
        itself.
    """
    made = make_environment(env, kwargs)
    spec = made.spec
    name = spec.id if spec is not None else type(made.unwrapped).__name__
    if made is env:
        return _read(made, name, gamma, p0)
    with closing(made):
        return _read(made, env if isinstance(env, str) else name, gamma, p0)


def make_environment(env: Any, kwargs: dict[str, Any] | None = None) -> Any:
    """The environment that is meant: one with an id, as "CartPole-v1" or "module:Id", made with
    `kwargs`; one that a function makes with them; or `env` itself, also a vector environment.
    Modules in the current folder are found.
    """
    options = kwargs or {}
    if isinstance(env, ENVIRONMENTS):
        given = ", ".join(options)
        require(not options, f"{given} given beside an environment; such options go with an id")
        return env
    require(
        isinstance(env, str) or callable(env),
        f"env is {env!r}; it must be the id of a Gymnasium environment, an environment, "
        "or a function that makes one",
    )
    try:
        with _current_folder():
            made = gymnasium.make(env, **options) if isinstance(env, str) else env(**options)
    except Exception as error:  # an environment's constructor may raise anything
        maker = "Gymnasium" if isinstance(env, str) else "the function"
        raise InputError(f"{maker} cannot make the environment {env!r}: {error}") from error
    require(
        isinstance(made, ENVIRONMENTS),
        f"env is {env!r}, which returned {made!r}; it must return a Gymnasium environment",
    )
    return made


@contextmanager
def _current_folder() -> Iterator[None]:
    # Its modules can be imported meanwhile, as in `python -m`; scripts do not find them.
    folder = os.getcwd()
    is_new = folder not in sys.path and "" not in sys.path
    if is_new:
        sys.path.append(folder)
    try:
        yield
    finally:
        if is_new and folder in sys.path:
            sys.path.remove(folder)


def _read(env: Any, name: str, gamma: float, p0: ArrayLike | None) -> FiniteMDP:
    inner = env.unwrapped
    require(
        hasattr(inner, "P"),
        f"{name} has no unwrapped.P, the model that is read "
        f"(its observations are {inner.observation_space})",
    )
    for field, space in (("observation", inner.observation_space), ("action", inner.action_space)):
        require(
            isinstance(space, gymnasium.spaces.Discrete),
            f"{name} is not a finite MDP: its {field} space is {space}, not Discrete",
        )
    require(
        not getattr(inner, "fickle_passenger", False),
        f"{name} with fickle_passenger=True is not what its P says; "
        "from_gymnasium cannot import it",
    )
    n, n_actions = int(inner.observation_space.n), int(inner.action_space.n)
    try:
        row, successor, p, r, ends = _transitions(inner, n, n_actions)
        start = _initial(inner, p0, n)
        # terminal: other states enter it by flagged transitions only, and it is no start
        is_entered = row // n_actions != successor
        flagged, otherwise = (
            np.isin(np.arange(n), successor[is_entered & how]) for how in (ends, ~ends)
        )
        is_terminal = flagged & ~otherwise & ~(start > 0)
        collected = ends & ~is_terminal[successor]
        size = n + int(collected.any())
        return FiniteMDP(
            *_accumulate(row, np.where(collected, n, successor), p, r, (size * n_actions, size)),
            p0=np.append(start, np.zeros(size - n)),
            gamma=gamma,
            terminal=[*np.flatnonzero(is_terminal), *range(n, size)],
            name=name,
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from error


def _transitions(inner: Any, n: int, n_actions: int) -> tuple[Ints, Ints, Floats, Floats, Bools]:
    # Every listed transition of positive probability: row s*A + a, successor, probability, reward,
    # terminated.
    first = _first(inner.P, inner.observation_space, "state")
    listed = []
    for s in range(n):
        actions = inner.P[first + s]
        first_action = _first(actions, inner.action_space, f"action of state {s}")
        listed += [(s, a, entry) for a in range(n_actions) for entry in actions[first_action + a]]
    refuse(
        [each for each in listed if len(each[2]) != 4],
        lambda each: "P has the entry {2} for state {0}, action {1}; it must hold 4 fields".format(
            *each
        ),
    )
    numbers = [(s, a, *map(float, entry)) for s, a, entry in listed]
    state, action, p, successor, r, terminated = np.array(numbers, np.float64).reshape(-1, 6).T
    refuse(
        np.flatnonzero(~np.isin(successor - first, np.arange(n))),
        lambda e: (
            f"P leads from state {state[e]:.0f}, action {action[e]:.0f} to {successor[e]:g}, "
            "which is not a state"
        ),
    )
    refuse(
        np.flatnonzero(~(p >= 0.0)),
        lambda e: (
            f"P has the probability {p[e]:g} for state {state[e]:.0f}, action {action[e]:.0f}"
        ),
    )
    row, column = (state * n_actions + action).astype(int), (successor - first).astype(int)
    return row[p > 0], column[p > 0], p[p > 0], r[p > 0], terminated[p > 0] != 0.0


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


def _initial(inner: Any, p0: ArrayLike | None, n: int) -> Floats:
    # p0 as given, or as the environment states it: a distribution, or one start state.
    for given in (p0, getattr(inner, "initial_state_distrib", None), getattr(inner, "isd", None)):
        if given is not None:
            start = np.array(given, dtype=np.float64)
            require(
                start.shape == (n,), f"p0 has shape {start.shape}; the environment has {n} states"
            )
            return start
    index = getattr(inner, "start_state_index", None)
    require(
        index is not None,
        "it does not say where episodes start (initial_state_distrib); give p0",
    )
    is_start = np.arange(n) + _first(inner.P, inner.observation_space, "state") == index
    require(is_start.any(), f"start_state_index is {index}, which is not a state")
    return is_start.astype(np.float64)


def _accumulate(
    row: Ints, successor: Ints, p: Floats, r: Floats, shape: tuple[int, int]
) -> tuple[sparse.csr_array, sparse.csr_array]:
    # P and the expected reward per transition, repetitions of a successor merged.
    key, inverse = np.unique(row * shape[1] + successor, return_inverse=True)
    total = np.bincount(inverse, weights=p)
    P = sparse.csr_array((total, np.divmod(key, shape[1])), shape=shape)
    mean = np.bincount(inverse, weights=p * r) / total
    return P, sparse.csr_array((mean, np.divmod(key, shape[1])), shape=shape)
