"""What a training run's records tell, with the exact model as ground truth: why an agent learns, or
stops.

Every function takes a `TrainResult` and returns one number per run and evaluation [seeds, E], means
over the non-terminal states.

    entropy          of pi, in nats
    action_gap       the critic's best q less its second best
    critic_error     |q - q_pi|, with the exact q_pi of the recorded policy
    trapped          share of states where the optimal actions together have probability below
                     0.001: the factor pi in the expected update has all but switched off there,
                     and the policy cannot unlearn
    coverage         share of states entered so far, by one personality or by both
    terminal_share   share of all transitions so far that entered a terminal state
    batch_share      the same within the batches that the agent learns from, on average since the
                     last evaluation
"""

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.deep.training import TrainResult
from jekyllhyde.envs.functional import make_model, optimal_q, policy_q

Curve = NDArray[np.float64]
TRAPPED = 1e-3
TIE = 1e-6  # of 32-bit values


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
    exact = policy_q(make_model(result.mdp, result.horizon), result.pi, result.mdp.gamma)
    return _live(result, abs(result.q - np.asarray(exact))).mean((-1, -2))


def trapped(result: TrainResult) -> Curve:
    """Share of states where the policy has all but ruled out what is optimal."""
    q = np.asarray(optimal_q(make_model(result.mdp, result.horizon), result.mdp.gamma))
    best = q >= q.max(-1, keepdims=True) - TIE * abs(q).max()
    return np.mean(np.sum(_live(result, result.pi * best), axis=-1) < TRAPPED, axis=-1)


def coverage(result: TrainResult, personality: int | None = None) -> Curve:
    """Share of states that have been entered: by Jekyll (0), by Hyde (1), or by either (None)."""
    arrivals = result.arrivals.sum(2) if personality is None else result.arrivals[:, :, personality]
    return np.mean(_live(result, arrivals) > 0, axis=-1)


def terminal_share(result: TrainResult) -> Curve:
    """Share of transitions that entered a terminal state."""
    return _terminal(result).sum(-1) / result.step


def batch_share(result: TrainResult) -> Curve:
    """Expected share of transitions into a terminal state in a batch: of all, or of recent ones and
    of Hyde's in equal parts.
    """
    recent = terminal_share(result)
    if result.agent != "jekyll_hyde":
        return recent
    if result.config.fifo:
        ends = np.diff(_terminal(result).sum(-1), axis=1, prepend=0)
        recent = ends / np.diff(result.step, axis=1, prepend=0)
    count = result.arrivals[:, :, 1].sum(-1)  # of Hyde's transitions
    hyde = _terminal(result)[..., 1] / np.maximum(count, 1)
    return np.where(count > 0, (recent + hyde) / 2, recent)


def _terminal(result: TrainResult) -> Curve:
    # Transitions into a terminal state [seeds, E, 2], by personality.
    return result.arrivals[..., result.mdp.is_terminal].sum(-1).astype(np.float64)


def _live(result: TrainResult, values: np.ndarray) -> Curve:
    # `values` [seeds, E, S, ...] without the terminal states.
    return values[:, :, ~result.mdp.is_terminal].astype(np.float64)
