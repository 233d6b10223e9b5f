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
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from jekyllhyde.agent import Agent, Callback, Episodes, Record
from jekyllhyde.episode import Episode, check_reward, name_of, play_again, reset, take_step
from jekyllhyde.errors import check_count, require
from jekyllhyde.interrupts import Interrupts
from jekyllhyde.personality import HYDE, JEKYLL, Beliefs, Personality
from jekyllhyde.policy_export import Exported, export
from jekyllhyde.policy_returns import environment_like, evaluate_policy, opened
from jekyllhyde.progress_bar import progress_bar as show_progress

CHUNK = 1 << 16  # steps that room is made for at once
REPORTED = 100  # steps between two movements of the bar
PATIENCE = 2  # failures at one step after which its episode is given up


class Outcome(NamedTuple):
    """What came of a step: the reward, what it led to, where the next step starts (elsewhere where
    an episode ended), and how it ended; `lane` is which of several environments.
    """

    reward: float
    following: Any
    start: Any
    terminated: bool
    ended: bool
    lane: int | None = None


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
        self._cut: int | None = None  # steps after which an episode is cut
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
        eval_env : an environment, or its id, to evaluate the policy in; by default one like
            the agent's.
        eval_every : steps between evaluations of `eval_episodes`, noted in `agent.evaluations`.
        """
        steps = check_count(total_timesteps, "total_timesteps", 0)
        require(self.env is not None, "the agent has no environment; give one to it, or to load")
        evaluating: Any = nullcontext()
        if eval_every is not None:
            check_count(eval_every, "eval_every", 1)
            evaluating = opened(environment_like(self.env) if eval_env is None else eval_env)
        every = {"evaluation": eval_every, "log": check_count(log_every, "log_every", 1)}
        if callback is None:
            del every["log"]
        periods = [(name, n) for name, n in every.items() if n]
        show = show_progress(steps, self.name) if progress_bar else nullcontext(lambda count: None)
        with evaluating as environment, show as advance, Interrupts() as interrupts:
            clock = [time.perf_counter(), self.steps]
            for i, ended in enumerate(self._taken(steps, interrupts)):
                if (i + 1) % REPORTED == 0 or i + 1 == steps:
                    advance(i % REPORTED + 1)
                due = [name for name, n in periods if self.steps % n == 0]
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

    def __repr__(self) -> str:
        if self.env is None:
            return f"{type(self).__name__}(without an environment)"
        return f"{type(self).__name__}({name_of(self.env)}, {self.steps} steps, {self.episodes!r})"

    @property
    def draws_actions(self) -> bool:
        """Whether actions are drawn from the policy where nobody says which are wanted, instead of
        the most probable being taken.
        """
        return False

    def predict(
        self, observation: Any, deterministic: bool | None = None, action_mask: Any = None
    ) -> Any:
        """Jekyll's most probable action, or one drawn from his policy, among those that the mask
        allows; an array of actions for a batch of observations. Without a word, what
        `draws_actions` says.
        """
        return Personality(self, JEKYLL).predict(observation, deterministic, action_mask)

    @contextmanager
    def drawing(self, seed: int) -> Iterator[None]:
        """Meanwhile `predict` draws from numbers of that seed."""
        before, self._draws = self._draws, np.random.default_rng(seed)
        try:
            yield
        finally:
            self._draws = before

    def probabilities(self, observation: Any) -> NDArray[Any]:
        """Those with which Jekyll acts [A], or [N, A] for a batch of observations."""
        return Personality(self, JEKYLL).probabilities(observation)

    def q(self, observation: Any) -> NDArray[Any]:
        """What Jekyll expects of each action [A], or [N, A] for a batch of observations."""
        return Personality(self, JEKYLL).q(observation)

    def export(self, path: str | Path, *, onnx: bool = False) -> None:
        """Write the greedy policy for others into a folder: its arrays (policy.npz), a forward pass
        that needs NumPy alone (policy.py), a model card (README.md), and with `onnx` the same as a
        graph (policy.onnx).
        """
        export(self, self._exported(), path, onnx)

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
                if i == 0 or not self.is_inside:  # an evaluation may have used the environment
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

    def _try(self) -> Outcome:
        # A step of the environment, checked; the agent is not changed by it.
        episode: Any = self._episode
        observation, reward, terminated, truncated, info = take_step(
            self.env, self._as_action(episode.next_action)
        )
        following = start = self._look(observation, info)
        value = check_reward(self.env, reward, self.steps + 1)
        ended = bool(terminated or truncated or len(episode.actions) + 1 == self._cut)
        if ended:
            start = self._look(*reset(self.env, self.seed, episode.number + 1))
        return Outcome(value, following, start, bool(terminated), ended)

    def _episode_record(self) -> Record:
        (last,) = self.episodes.last(1)
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
    def _take_over(self, outcome: Outcome) -> bool: ...

    @abstractmethod
    def _ask(self, observation: Any, who: int, action_mask: Any = None) -> Beliefs: ...

    @abstractmethod
    def _as_action(self, index: int) -> Any: ...

    @abstractmethod
    def _exported(self) -> Exported: ...

    @property
    @abstractmethod
    def has_hyde(self) -> bool:
        """Whether a Hyde explores."""

    @abstractmethod
    def _measure(self) -> dict[str, float]: ...
