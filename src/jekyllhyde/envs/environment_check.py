"""What an agent will do with an environment, and what is wrong with it, before anything is learned.

The environment is played at random for some thousand steps, as an agent would play it.
"""

from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from jekyllhyde.envs.minigrid_cells import kinds_of
from jekyllhyde.envs.space_parts import Part, factors_of, parts_of, take_apart
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.gym_import import make_environment

WIDE = 1e3  # numbers beyond this are called large


@dataclass(frozen=True)
class EnvironmentCheck:
    """What `check_env` says: what agents will do, and what is wrong, in sentences. `ok` where
    nothing is; `print` shows all of it.
    """

    name: str
    uses: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        wrong = [f"  - {sentence}" for sentence in self.problems] or ["  nothing was found"]
        uses = [f"  - {sentence}" for sentence in self.uses]
        return "\n".join([f"{self.name}: what agents do with it", *uses, "what is wrong", *wrong])


@dataclass
class _Play:
    # What was met at random play.
    lengths: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    lowest: float = np.inf
    highest: float = -np.inf
    masks: int = 0
    problems: dict[str, str] = field(default_factory=dict)  # the first of each kind

    def note(self, kind: str, sentence: str) -> None:
        self.problems.setdefault(kind, sentence)


def check_env(
    env: Any, steps: int = 2000, seed: int = 0, env_kwargs: dict[str, Any] | None = None
) -> EnvironmentCheck:
    """Say what agents will do with an environment, and what is wrong with it.

    Parameters
    ----------
    env : an environment, its id ("CartPole-v1", "module:Id"), or a function that makes one.
    steps : how long it is played at random.
    seed : of the first reset, and of the actions.
    env_kwargs : keywords with which it is made.
    """
    made = make_environment(env, env_kwargs)
    require(
        isinstance(made, gym.Env),
        f"env is {env!r}, a vector environment; check one of its lanes, gymnasium.make(id)",
    )
    name = made.spec.id if made.spec is not None else type(made.unwrapped).__name__
    check_count(steps, "steps", 1)
    uses, play = [], _Play()
    parts: tuple[Part, ...] = ()
    try:
        parts = parts_of(made.observation_space, kinds_of(made))
        uses += _about_observations(made.observation_space, parts)
        uses += _about_actions(made.action_space)
    except InputError as error:
        play.note("spaces", str(error))
    if not play.problems:
        try:
            if _takes_seeds(made, seed, play):
                _play(made, parts, steps, seed, play)
        except Exception as error:  # an environment may raise anything
            play.note("raised", f"it raised {type(error).__name__}: {_short(str(error))}")
        uses += _about_play(made, play)
    if made is not env:
        made.close()
    return EnvironmentCheck(name, tuple(uses), tuple(play.problems.values()))


def _about_observations(space: Any, parts: tuple[Part, ...]) -> list[str]:
    if isinstance(space, gym.spaces.Discrete):
        return [f"observations are {space.n} states: tables, or 20 random numbers for each state"]
    says = {
        "numbers": "numbers ({width}), scaled by their running mean and variance",
        "image": "an image {image}, seen by convolutions; 1000 transitions take {size:.1f} MB",
        "categories": "categories, as {width} numbers (one-hot up to 512, else random codes)",
        "cells": "cells of categories, each a one-hot code ({width}); numbers with one_hot=False",
        "bits": "bits ({width})",
        "text": "text, which is left out",
    }
    return [
        f"the {part.name} is "
        + says[part.kind].format(
            width=part.width,
            image=part.image if part.kind == "image" else None,
            size=1.25e-3 * np.prod(part.shape),  # frames of 8 bits, and those that end episodes
        )
        for part in parts
    ]


def _about_actions(space: Any) -> list[str]:
    counts = [n for n, _ in factors_of(space)]
    if isinstance(space, gym.spaces.Discrete):
        return [f"there are {counts[0]} actions"]
    product = " x ".join(map(str, counts))
    return [f"actions are the product {product} = {np.prod(counts)} of {space}"]


def _takes_seeds(env: Any, seed: int, play: _Play) -> bool:
    # Whether it can be reset with a seed; whether the seed determines the start is noted.
    try:
        starts = [env.reset(seed=seed) for _ in range(2)]
        for start in starts:
            if not (isinstance(start, tuple) and len(start) == 2):
                play.note("reset", f"reset returned {start!r}; it must return observation and info")
                return False
    except TypeError as error:
        play.note("seed", f"reset(seed={seed}) is refused ({error}); results cannot be repeated")
        return False
    if not _same(starts[0][0], starts[1][0]):
        play.note(
            "seed",
            f"reset(seed={seed}) gave two different observations; results cannot be repeated, and "
            "a saved agent begins a new episode",
        )
    return True


def _play(env: Any, parts: tuple[Part, ...], steps: int, seed: int, play: _Play) -> None:
    env.action_space.seed(seed)
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    length = 0
    _see(env, parts, observation, "after reset", play)
    for step in range(1, steps + 1):
        mask = info.get("action_mask")
        play.masks += mask is not None
        observation, reward, terminated, truncated, info = env.step(_action(env, mask, rng))
        length += 1
        _see(env, parts, observation, f"at step {step}", play)
        try:
            is_finite = bool(np.isfinite(float(reward)))
        except (TypeError, ValueError):
            is_finite = False
        if is_finite:
            play.rewards.append(float(reward))
        else:
            play.note("reward", f"the reward is {reward!r} at step {step}; it must be finite")
        if terminated or truncated:
            play.lengths.append(length)
            length = 0
            observation, info = env.reset()
            _see(env, parts, observation, f"after the reset that followed step {step}", play)
    if not play.lengths:
        play.note(
            "end",
            f"no episode ended within {steps} steps; give it a limit, as with "
            "gymnasium.wrappers.TimeLimit(env, max_episode_steps=1000)",
        )


def _action(env: Any, mask: Any, rng: np.random.Generator) -> Any:
    if mask is None or not isinstance(env.action_space, gym.spaces.Discrete):
        return env.action_space.sample()
    return env.action_space.start + rng.choice(np.flatnonzero(mask))


def _see(env: Any, parts: tuple[Part, ...], observation: Any, when: str, play: _Play) -> None:
    try:
        vector, _ = take_apart(parts, observation)
    except InputError as error:
        play.note("observation", f"{error} ({when})")
        return
    n_numbers = sum(part.width for part in parts if part.kind == "numbers")
    if n_numbers:
        play.lowest = min(play.lowest, float(vector[:n_numbers].min()))
        play.highest = max(play.highest, float(vector[:n_numbers].max()))
    if not env.observation_space.contains(observation):
        play.note(
            "outside",
            f"the observation {_short(observation)} {when} is not in its space, "
            f"{_short(env.observation_space)}: other bounds, another shape or another type",
        )


def _about_play(env: Any, play: _Play) -> list[str]:
    said = []
    if np.isfinite(play.lowest):
        is_large = max(abs(play.lowest), abs(play.highest)) > WIDE
        said.append(
            f"numbers were seen from {play.lowest:.4g} to {play.highest:.4g}"
            + (": large, but normalized as they come" if is_large else "")
        )
    if play.rewards:
        low, high = min(play.rewards), max(play.rewards)
        said.append(f"rewards were from {low:.4g} to {high:.4g}")
        if low == high:
            said.append(
                "random play met no other reward; where there are others, exploring must find them"
            )
    if play.lengths:
        said.append(
            f"{len(play.lengths)} episodes ended, after {min(play.lengths)} to "
            f"{max(play.lengths)} steps"
        )
    if play.masks:
        said.append("actions that info['action_mask'] forbids are not taken")
    return said


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(np.array_equal(first, second))


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
