"""What an agent with networks makes of a Gymnasium environment: its spaces, observations as arrays,
actions and masks.
"""

import hashlib
import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import gymnasium as gym
import jax
import numpy as np

from jekyllhyde.deep.encoders import Seen
from jekyllhyde.deep.networks import Space, Transition
from jekyllhyde.envs.minigrid_cells import kinds_of
from jekyllhyde.envs.space_parts import Array, Part, factors_of, parts_of, take_apart
from jekyllhyde.episode import reset
from jekyllhyde.errors import InputError, require

# an environment, a vector environment, or what makes one
Env = gym.Env[Any, Any] | gym.vector.VectorEnv[Any, Any, Any] | Callable[..., Any]


def space_of(env: Any, one_hot: bool = False) -> Space:
    """What the agent will meet in `env`, or a sentence on why it cannot. The environment is reset
    once, to see whether it says which actions are allowed. A vector environment has those of its
    lanes. With `one_hot`, cells of MiniGrid are categories.
    """
    is_vector = isinstance(env, gym.vector.VectorEnv)
    observations: Any = env.single_observation_space if is_vector else env.observation_space
    actions = env.single_action_space if is_vector else env.action_space
    factors, parts = factors_of(actions), parts_of(observations, kinds_of(env) if one_hot else ())
    for part in parts:
        if part.kind == "text":
            warnings.warn(f"the {part.name} is text, which is left out", stacklevel=4)
    is_product = not isinstance(actions, gym.spaces.Discrete)
    common: dict[str, Any] = {
        "n_actions": math.prod(n for n, _ in factors),
        "first_action": 0 if is_product else factors[0][1],
        "factors": factors if is_product else (),
        "masked": "action_mask" in reset(env, 0, 0)[1],
    }
    if isinstance(observations, gym.spaces.Discrete):
        first = int(observations.start)
        return Space(n_states=int(observations.n), shape=(), first_state=first, **common)
    if [part.kind for part in parts] == ["numbers"] and isinstance(observations, gym.spaces.Box):
        return Space(n_states=None, shape=observations.shape, **common)
    seen = tuple(part for part in parts if part.kind != "text")
    require(seen, f"env has the observation space {observations}, of which nothing can be taken")
    width = sum(part.width for part in seen)
    return Space(n_states=None, shape=(width,), parts=seen, **common)


def read(space: Space, observation: Any) -> Any:
    """An observation, or a batch of them, as networks take it: indices from 0, vectors, or vectors
    with images. What is not finite, or not of the space, is refused.
    """
    if space.parts:
        vector, images = take_apart(space.parts, observation)
        return Seen(vector, images, digest(vector, images)) if images else vector
    if space.n_states is None:
        return take_apart((Part((), "numbers", space.shape),), observation)[0]
    index = np.asarray(observation, np.int64) - space.first_state
    if ((index < 0) | (index >= space.n_states)).any():
        raise InputError(
            f"the observation is {observation!r}; it must be an index from {space.first_state} to "
            f"{space.first_state + space.n_states - 1}"
        )
    return index.astype(np.int32)


def digest(vector: Array, images: tuple[Array, ...]) -> Array:
    """By which the frames of one observation are known; a batch needs none."""
    if vector.ndim > 1:
        return np.zeros((*vector.shape[:-1], 2), np.int32)
    content = hashlib.blake2b(digest_size=8)
    for image in images:
        content.update(image.data)
    return np.frombuffer(content.digest(), np.int32)


def is_batch(space: Space, x: Any) -> bool:
    """Whether `read` was given a batch of observations."""
    leading = (x.vector if isinstance(x, Seen) else x).ndim
    return bool(leading > (space.n_states is None))


def action_of(space: Space, index: Any) -> Any:
    """The action, or the actions of a batch of indices, as the environment numbers them."""
    if not space.factors:
        return index + space.first_action
    counts, firsts = zip(*space.factors, strict=True)
    return np.stack(np.unravel_index(index, counts), -1) + np.array(firsts)


def index_of(space: Space, actions: Any) -> Array:
    """The indices [N] of actions [N, ...] as the environment numbers them."""
    numbers = np.asarray(actions)
    if not space.factors:
        return (numbers.reshape(-1) - space.first_action).astype(np.int32)
    counts, firsts = zip(*space.factors, strict=True)
    axes = numbers.reshape(len(numbers), -1) - np.array(firsts)
    require(
        ((axes >= 0) & (axes < counts)).all(),
        f"an action is {actions!r}; the environment has no such action",
    )
    return np.ravel_multi_index(tuple(axes.T), counts).astype(np.int32)


def allowed_in(space: Space, info: dict[str, Any]) -> Array | None:
    """Which actions [A] may be taken, as the environment's info says; None where it never does. A
    mask of a product may be one of all its actions, or one per axis.
    """
    mask = info.get("action_mask")
    if mask is None:
        return np.ones(space.n_actions, bool) if space.masked else None
    require(space.masked, "the environment has an action_mask after a step, but not after reset")
    return read_mask(space, mask)


def read_mask(space: Space, mask: Any) -> Array | None:
    """Which actions [..., A] a mask allows; None stands for all."""
    if mask is None:
        return None
    if isinstance(mask, tuple):
        mask = reduce(np.multiply.outer, [np.asarray(axis) != 0 for axis in mask]).ravel()
    allowed = np.asarray(mask) != 0
    if allowed.shape[-1:] != (space.n_actions,) or not allowed.any(-1).all():
        raise InputError(
            f"action_mask allows {allowed.sum()} actions, shape {allowed.shape}; "
            f"it takes one or more, ({space.n_actions},)"
        )
    return allowed


class View(NamedTuple):
    """What the agent sees: the observation as networks take it, and which actions [A] are allowed;
    None where all always are.
    """

    observation: Any
    allowed: Any = None


def look(space: Space, observation: Any, info: dict[str, Any]) -> View:
    """What an environment shows, checked; nothing is changed."""
    return View(read(space, observation), allowed_in(space, info))


def looking(space: Space) -> Callable[[Any, dict[str, Any]], View]:
    """`look` in this space; for most steps it needs no field of a record, which takes its time."""
    shape, is_masked = space.shape, space.masked
    is_vector = space.n_states is None and not space.parts

    def look_here(observation: Any, info: dict[str, Any]) -> View:
        if is_vector and not is_masked and "action_mask" not in info:
            array = np.asarray(observation)
            if array.dtype == np.float32 and array.shape == shape:
                flat = array.flatten()
                if np.isfinite(flat).all():
                    return View(flat)
        return look(space, observation, info)

    return look_here


def example(space: Space) -> View:
    """A view of zeros."""
    zeros = jax.tree.map(np.asarray, space.transition())
    return View(zeros.observation, zeros.allowed)


class Step(NamedTuple):
    """A step as it is given to a compiled call: what was seen before, after, and where the next one
    starts; `numbers` are reward and discount, `counts` action, whether the episode ended, whether
    Hyde leads, and the lane.
    """

    before: View
    after: View
    start: View
    numbers: Any
    counts: Any


def example_step(space: Space) -> Step:
    """A step of zeros."""
    view = example(space)
    return Step(view, view, view, np.zeros(2, np.float32), np.zeros(4, np.int32))


def transition_of(step: Step) -> Transition:
    """One step, as agents learn from it."""
    reward, discount = step.numbers
    return transition(step.before, step.counts[0], reward, step.after, discount)


def transition(before: View, action: Any, reward: Any, after: View, discount: Any) -> Transition:
    """A transition from what was seen before to what was seen after, or a batch of them."""
    return Transition(
        before.observation,
        action,
        reward,
        after.observation,
        discount,
        allowed=before.allowed,
        allowed_next=after.allowed,
    )
