"""What agents that learn step by step share, with tables or with networks: the loop around single
steps, the way back into an episode, and questions to both personalities.

Nothing is lost: a step is taken over as a whole or not at all. After an exception or Ctrl-C the
agent is where it was before the step that failed, and the next call of `learn` brings the
environment back there (see `episode`).
"""

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.agent import Agent, Callback, Episodes, Record
from jekyllhyde.episode import Episode, play_again, reset
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.interrupts import Interrupts
from jekyllhyde.policy_returns import environment_like, evaluate_policy, opened
from jekyllhyde.progress_bar import progress_bar as show_progress

JEKYLL, HYDE = range(2)
CHUNK = 1 << 16  # steps that room is made for at once
REPORTED = 100  # steps between two movements of the bar
PATIENCE = 2  # failures at one step after which its episode is given up


class Beliefs(NamedTuple):
    """What a personality thinks of N observations: probabilities and values of the actions [N, A],
    and whether a batch was asked for; `q` is None where he keeps none.
    """

    probabilities: NDArray[Any]
    q: NDArray[Any] | None
    is_batch: bool


class Personality:
    """Dr Jekyll or Mr Hyde, who can be asked what he would do; asking changes nothing."""

    def __init__(self, agent: "StepwiseAgent", who: int) -> None:
        self.agent, self._who = agent, who

    def predict(self, observation: Any, deterministic: bool = True, action_mask: Any = None) -> Any:
        """His most probable action, or one drawn with his probabilities, among those that the mask
        allows; an array of actions for a batch of observations.
        """
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


class StepwiseAgent(Agent):
    """The mechanics of `learn`; subclasses have its phases, which stand below, in call order.

    is_inside : the environment is where the episode under way stands.
    evaluations : a row per evaluation that `learn` made.
    """

    is_inside: bool
    evaluations: list[dict[str, float]]

    def _prepare(self, env: Any, seed: int) -> None:
        self.env, self.seed = env, check_count(seed, "seed", 0)
        self.episodes, self.evaluations = Episodes(), []
        self.is_inside, self._failures = False, 0
        self._episode: Episode | None = None
        self._draws = np.random.default_rng(self.seed)  # of `predict`, apart from learning

    def learn(
        self,
        total_timesteps: int,
        *,
        callback: Callback | None = None,
        progress_bar: bool = False,
        eval_env: Any = None,
        eval_every: int | None = None,
        eval_episodes: int = 10,
        log_every: int = 1000,
    ) -> Self:
        """Learn from so many steps of the environment, going on where the last call stopped.

        callback : a function of (agent, record), called at the end of each episode, after each
            evaluation, and every `log_every` steps; it stops the learning by returning False.
        progress_bar : show a bar, at a terminal.
        eval_env : an environment, or its id, to evaluate the greedy policy in; by default one like
            the agent's.
        eval_every : steps between evaluations of `eval_episodes`, noted in `agent.evaluations`.
        """
        steps = check_count(total_timesteps, "total_timesteps", 0)
        require(self.env is not None, "the agent has no environment; give one to it, or to load")
        evaluating: Any = nullcontext()
        if eval_every is not None:
            check_count(eval_every, "eval_every", 1)
            evaluating = opened(environment_like(self.env) if eval_env is None else eval_env)
        every = {"log": check_count(log_every, "log_every", 1), "evaluation": eval_every}
        show = show_progress(steps, self.name) if progress_bar else nullcontext(lambda count: None)
        with evaluating as environment, show as advance, Interrupts() as interrupts:
            clock = [time.perf_counter(), self.steps]
            for i, ended in enumerate(self._taken(steps, interrupts)):
                if (i + 1) % REPORTED == 0 or i + 1 == steps:
                    advance(i % REPORTED + 1)
                due = {name for name, n in every.items() if n and self.steps % n == 0}
                if ended or due:
                    records = [
                        *([self._episode_record()] if ended else []),
                        *(
                            [self._evaluate(environment, eval_episodes)]
                            if "evaluation" in due
                            else []
                        ),
                        *([self._log(clock)] if "log" in due else []),
                    ]
                    answers = [callback(self, record) for record in records if callback]
                    if any(answer is False for answer in answers):
                        break
                interrupts.let_in()
        return self

    def predict(self, observation: Any, deterministic: bool = True, action_mask: Any = None) -> Any:
        """Jekyll's most probable action, or one drawn from his policy, among those that the mask
        allows; an array of actions for a batch of observations.
        """
        return Personality(self, JEKYLL).predict(observation, deterministic, action_mask)

    def probabilities(self, observation: Any) -> NDArray[Any]:
        """Those with which Jekyll acts [A], or [N, A] for a batch of observations."""
        return Personality(self, JEKYLL).probabilities(observation)

    def q(self, observation: Any) -> NDArray[Any]:
        """What Jekyll expects of each action [A], or [N, A] for a batch of observations."""
        return Personality(self, JEKYLL).q(observation)

    @property
    def hyde(self) -> Personality:
        """Mr Hyde, who can be asked the same questions."""
        require(self.has_hyde, f"{self.name} has no Hyde: one policy explores and exploits")
        return Personality(self, HYDE)

    def _taken(self, steps: int, interrupts: Interrupts) -> Iterator[bool]:
        # Steps that are taken over, and whether each ended an episode.
        try:
            for i in range(steps):
                if i % CHUNK == 0:
                    interrupts.is_closed = True
                    self._reserve(min(CHUNK, steps - i))
                    interrupts.is_closed = False
                    self._enter(interrupts)
                self.is_inside = False
                outcome = self._try()
                interrupts.is_closed = True
                ended = self._take_over(outcome)
                self.is_inside, self._failures, interrupts.is_closed = True, 0, False
                yield ended
        except Exception:
            self._failures += not self.is_inside
            raise

    def _enter(self, interrupts: Interrupts) -> None:
        # Bring the environment to where the episode stands, or begin a new one.
        if self.is_inside:
            return
        episode, shown = self._episode, None
        if episode is not None and self._failures < PATIENCE:
            shown = play_again(self.env, self.seed, episode, self._as_action)
            shown = shown if shown is not None and self._stands_at(self._look(*shown)) else None
        if shown is None:
            if episode is not None:
                warnings.warn(
                    "the environment did not come back to where the agent stood; a new episode "
                    "begins",
                    stacklevel=4,
                )
            number = 0 if episode is None else episode.number + 1
            start = self._look(*reset(self.env, self.seed, number))
            interrupts.is_closed = True
            self._begin(number, start)
            interrupts.is_closed = False
        self.is_inside = True

    def _episode_record(self) -> Record:
        last = self.episodes.rows[-1]
        values = {"return": last.total, "length": last.length, "hyde": last.hyde}
        return Record("episode", self.steps, {**values, "episodes": len(self.episodes)})

    def _evaluate(self, env: Any, count: int) -> Record:
        result = evaluate_policy(self, env, count, seed=self.seed)
        values = {"mean": result.mean, "lo": result.lo, "hi": result.hi}
        self.evaluations.append({"step": self.steps, **values, "episodes": count})
        return Record("evaluation", self.steps, values)

    def _log(self, clock: list[Any]) -> Record:
        # Numbers of now, and the speed since the clock was last set, to which it is set.
        now, steps = time.perf_counter(), self.steps
        rate = (steps - clock[1]) / max(now - clock[0], 1e-9)
        values = {"episodes": len(self.episodes), **self.episodes.recent(), **self._measure()}
        clock[:] = time.perf_counter(), steps
        return Record("log", steps, {**values, "steps_per_second": rate})

    # Phases of a subclass. `_look` checks what the environment shows, and changes nothing.

    @property
    @abstractmethod
    def steps(self) -> int:
        """Environment steps so far."""

    @abstractmethod
    def _look(self, observation: Any, info: dict[str, Any]) -> Any: ...

    @abstractmethod
    def _stands_at(self, seen: Any) -> bool: ...

    @abstractmethod
    def _begin(self, number: int, seen: Any) -> None: ...

    @abstractmethod
    def _reserve(self, steps: int) -> None: ...

    @abstractmethod
    def _try(self) -> Any: ...

    @abstractmethod
    def _take_over(self, outcome: Any) -> bool: ...

    @abstractmethod
    def _ask(self, observation: Any, who: int, action_mask: Any = None) -> Beliefs: ...

    @abstractmethod
    def _as_action(self, index: int) -> Any: ...

    @property
    @abstractmethod
    def has_hyde(self) -> bool:
        """Whether a Hyde explores."""

    @abstractmethod
    def _measure(self) -> dict[str, float]: ...
