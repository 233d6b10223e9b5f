"""Dr Jekyll and Mr Hyde of an agent, and what they can be asked."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.errors import InputError, require

JEKYLL, HYDE = range(2)


class Beliefs(NamedTuple):
    """What a personality thinks of N observations: probabilities and values of the actions [N, A],
    and whether a batch was asked for; `q` is None where he keeps none.
    """

    probabilities: NDArray[Any]
    q: NDArray[Any] | None
    is_batch: bool


class Personality:
    """Dr Jekyll or Mr Hyde, who can be asked what he would do; asking changes nothing."""

    def __init__(self, agent: Any, who: int) -> None:
        self.agent, self._who = agent, who

    def predict(
        self, observation: Any, deterministic: bool | None = None, action_mask: Any = None
    ) -> Any:
        """His most probable action, or one drawn with his probabilities, among those that the mask
        allows; an array of actions for a batch of observations. Without a word, what the
        agent's `draws_actions` says.
        """
        if deterministic is None:
            deterministic = not self.agent.draws_actions
        pi, _, is_batch = self.agent._ask(observation, self._who, action_mask)
        pi = pi if action_mask is None else _allowed(pi, action_mask)
        if deterministic:
            actions = pi.argmax(-1)
        else:
            edges = pi.cumsum(-1, dtype=np.float64)
            draws = self.agent._draws.random((len(pi), 1)) * edges[:, -1:]
            actions = (draws >= edges).sum(-1)
        chosen = [self.agent._as_action(int(action)) for action in actions]
        return np.array(chosen) if is_batch else chosen[0]

    def probabilities(self, observation: Any) -> NDArray[Any]:
        """Those with which he acts [A], or [N, A] for a batch."""
        pi, _, is_batch = self.agent._ask(observation, self._who)
        return pi if is_batch else pi[0]

    def q(self, observation: Any) -> NDArray[Any]:
        """What he expects of each action [A], or [N, A]: Jekyll of rewards, Hyde of what is new."""
        _, q, is_batch = self.agent._ask(observation, self._who)
        if q is None:
            raise InputError(f"{('Jekyll', 'Hyde')[self._who]} of this agent keeps no values q")
        return q if is_batch else q[0]


def _allowed(pi: NDArray[Any], action_mask: Any) -> NDArray[Any]:
    # The probabilities of the actions that are allowed; all the same where none of them had any.
    allowed = np.broadcast_to(np.asarray(action_mask).astype(bool), pi.shape)
    require(
        allowed.any(axis=-1).all(),
        f"action_mask is {action_mask!r}; it must allow an action in each observation",
    )
    kept = np.where(allowed, pi, 0.0)
    return np.where(kept.sum(-1, keepdims=True) > 0.0, kept, allowed)
