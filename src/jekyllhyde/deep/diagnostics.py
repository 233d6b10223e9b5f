"""What a training run's records tell, with the exact model as ground truth: why an agent learns, or stops.

Every function takes a `TrainResult` and returns one number per run and evaluation [seeds, E], means over the non-terminal states.

    entropy          of pi, in nats
    action_gap       the critic's best q less its second best
    critic_error     |q - q_pi|, with the exact q_pi of the recorded policy
    trapped          share of states where the optimal actions together have probability below 0.001: the factor pi in the expected
                     update has all but switched off there, and the policy cannot unlearn
    coverage         share of states entered so far, by both personalities
    terminal_share   share of all transitions so far that entered a terminal state
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.deep.training import TrainResult

Curve = NDArray[np.float64]
TRAPPED = 1e-3
TIE = 1e-9


def entropy(result: TrainResult) -> Curve:
    """Mean entropy of the policy."""
    pi = _live(result, result.pi)
    return -np.sum(pi * np.log(np.maximum(pi, 1e-30)), axis=-1).mean(-1)


def action_gap(result: TrainResult) -> Curve:
    """Mean gap between the critic's two best actions."""
    ordered = np.sort(_live(result, result.q), axis=-1)
    return (ordered[..., -1] - ordered[..., -2]).mean(-1)


def critic_error(result: TrainResult) -> Curve:
    """Mean absolute error of the critic against the exact q of the recorded policy."""
    errors = np.empty(result.step.shape)
    for run, i in np.ndindex(errors.shape):
        pi = result.pi[run, i].astype(np.float64)
        exact = result.mdp.evaluate(pi / pi.sum(-1, keepdims=True)).q
        errors[run, i] = abs(result.q[run, i] - exact)[~result.mdp.is_terminal].mean()
    return errors


def trapped(result: TrainResult) -> Curve:
    """Share of states where the policy has all but ruled out what is optimal."""
    q = result.mdp.optimal().q
    best = q >= q.max(-1, keepdims=True) - TIE * abs(q).max()
    return np.mean(np.sum(_live(result, result.pi * best), axis=-1) < TRAPPED, axis=-1)


def coverage(result: TrainResult) -> Curve:
    """Share of states that have been entered."""
    return np.mean(_live(result, result.arrivals.sum(2)[..., None])[..., 0] > 0, axis=-1)


def terminal_share(result: TrainResult) -> Curve:
    """Share of transitions that entered a terminal state."""
    return result.arrivals[..., result.mdp.is_terminal].sum((2, 3)) / result.step


def _live(result: TrainResult, values: NDArray[Any]) -> Curve:
    """`values` [seeds, E, S, ...] without the terminal states."""
    return values[:, :, ~result.mdp.is_terminal].astype(np.float64)
