"""The same agents on ordinary Gymnasium environments: a loop on the host around the compiled `act`
and `update`.

    agent = JekyllHyde(env, seed=0); agent.learn(10_000); agent.predict(observation);
    agent.save("folder")

An agent on disk is a folder: `state.safetensors` holds every array (networks, moments, replay,
random key, counters) and `agent.json` the rest. Loading runs no code. After `load` the training
goes on exactly, from a new episode.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from jekyllhyde.deep.agents import AGENTS, Agent, configure
from jekyllhyde.deep.cache import keep_compiled
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.replay import Transition
from jekyllhyde.deep.training import TrainResult
from jekyllhyde.errors import InputError, check_count

FORMAT = 1


class HostAgent:
    """An agent with its environment.

    Parameters
    ----------
    env : a Gymnasium environment with discrete actions, and discrete or vector observations.
    seed : of the agent and of the environment's first reset.
    config : "published", "paper", "recommended", or a Config; `hyperparameters` replace some of its
        values.
    """

    name = ""  # in AGENTS; subclasses say which

    def __init__(
        self,
        env: gym.Env[Any, Any],
        seed: int = 0,
        config: Any = "recommended",
        **hyperparameters: Any,
    ) -> None:
        space = space_of(env)
        mdp = getattr(env.unwrapped, "mdp", None)
        settings = hyperparameters if mdp is None else {"gamma": mdp.gamma, **hyperparameters}
        chosen = configure(self.name, config, **settings)
        self._build(chosen, space, check_count(seed, "seed", 0))
        self.env: gym.Env[Any, Any] | None = env

    def _build(self, config: Any, space: Space, seed: int) -> None:
        keep_compiled()
        agent: Agent = AGENTS[self.name]
        self.config, self.space, self.seed, self.env = config, space, seed, None
        self._init = jax.jit(agent.init, static_argnames="space")
        # the state is given up and returned: replay is changed in place, not copied
        self._act = jax.jit(agent.act, donate_argnums=0)
        self._update = jax.jit(agent.update, donate_argnums=0)
        self._tables = jax.jit(agent.tables)
        self._state = self._init(jax.random.key(seed), config, space=space)
        self._observation: Any = None

    @property
    def state(self) -> Any:
        """Everything the agent knows, as one pytree."""
        return self._state

    def learn(self, steps: int, progress: Callable[[float], None] | None = None) -> Self:
        """Take `steps` environment steps with one update each; calling it twice is the same as once
        with the sum.
        """
        if self.env is None:
            raise InputError("the agent has no environment; give one to load")
        first = self.env.action_space.start if isinstance(self.env.action_space, Discrete) else 0
        for i in range(check_count(steps, "steps", 0)):
            if self._observation is None:
                fresh = int(self._state.t) == 0
                self._observation = self._read(self.env.reset(seed=self.seed if fresh else None)[0])
            action, self._state = self._act(self._state, self.config, self._observation)
            seen, reward, terminated, truncated, _ = self.env.step(first + int(action))
            following = self._read(seen)
            transition = Transition(
                self._observation,
                action,
                jnp.float32(reward),
                following,
                jnp.float32(not terminated),
            )
            self._state = self._update(
                self._state, self.config, transition, jnp.asarray(terminated or truncated)
            )
            self._observation = None if terminated or truncated else following
            if progress is not None and (i + 1) % 100 == 0:
                progress((i + 1) / steps)
        return self

    def predict(self, observation: Any) -> int:
        """The greedy action, numbered as the environment does."""
        pi, _ = self._tables(self._state.networks, self.config, self._read(observation)[None])
        first = (
            self.env.action_space.start
            if self.env is not None and isinstance(self.env.action_space, Discrete)
            else 0
        )
        return int(first) + int(jnp.argmax(pi[0]))

    def _read(self, observation: Any) -> jax.Array:
        if self.space.n_states is None:
            return jnp.asarray(np.asarray(observation, np.float32).ravel())
        first = (
            self.env.observation_space.start
            if self.env is not None and isinstance(self.env.observation_space, Discrete)
            else 0
        )
        return jnp.asarray(int(observation) - int(first), jnp.int32)

    def save(self, folder: str | Path) -> None:
        """Write the agent into `folder`, made if need be."""
        folder = Path(folder)
        about = {
            "format": FORMAT,
            "agent": self.name,
            "seed": self.seed,
            "config": {f.name: _plain(getattr(self.config, f.name)) for f in fields(self.config)},
            "space": {f.name: getattr(self.space, f.name) for f in fields(self.space)},
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save_file(
                {name: np.asarray(leaf) for name, leaf in _leaves(self._state).items()},
                folder / "state.safetensors",
            )
            (folder / "agent.json").write_text(json.dumps(about, indent=1) + "\n")
        except OSError as error:
            raise InputError(
                f"folder {str(folder)!r} cannot be written: {error.strerror or error}"
            ) from None

    @classmethod
    def load(cls, folder: str | Path, env: gym.Env[Any, Any] | None = None) -> Self:
        """The agent saved in `folder`; with an `env` of the same spaces it can learn on."""
        try:
            about = json.loads((Path(folder) / "agent.json").read_text())
            stored = load_file(Path(folder) / "state.safetensors")
            name, seed, settings, space = (
                about["agent"],
                about["seed"],
                about["config"],
                Space(**about["space"]),
            )
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise InputError(
                f"folder {str(folder)!r} holds no agent that can be read ({type(error).__name__})"
            ) from None
        if about["format"] != FORMAT or name != cls.name:
            raise InputError(
                f"folder {str(folder)!r} holds a {name} of format {about['format']}, not a {cls.name} of format {FORMAT}"
            )
        if env is not None and space_of(env) != space:
            raise InputError("env has other observations or actions than the saved agent")
        agent = cls.__new__(cls)
        agent._build(
            configure(name, "paper", **{key: _restored(value) for key, value in settings.items()}),
            space,
            seed,
        )
        agent._state = _filled(agent._state, stored, str(folder))
        agent.env = env
        return agent


class JekyllHyde(HostAgent):
    """Dr Jekyll and Mr Hyde (Algorithm 4)."""

    name = "jekyll_hyde"


class DoubleDQN(HostAgent):
    """Double DQN; `rnd=True` adds RND's bonus to the reward."""

    name = "ddqn"


class DiscreteSAC(HostAgent):
    """Discrete soft actor-critic; `rnd=True` adds a critic of RND's bonus."""

    name = "sac"


def from_result(result: TrainResult, run: int = 0) -> HostAgent:
    """One run of `train` as an agent that predicts and saves: the final networks, with an empty
    replay.
    """
    kind = {"ddqn": DoubleDQN, "sac": DiscreteSAC}.get(
        result.agent.removesuffix("_rnd"), JekyllHyde
    )
    agent = kind.__new__(kind)
    agent._build(result.config, Space(result.mdp.n_states, 1, result.mdp.n_actions), 0)
    networks = jax.tree.map(partial(_of_run, run), result.networks)
    agent._state = replace(agent._state, networks=networks)
    return agent


def _of_run(run: int, leaf: Any) -> jax.Array:
    return jnp.asarray(leaf[run])


def space_of(env: gym.Env[Any, Any]) -> Space:
    """What the agent will meet in `env`, or a sentence on why it cannot."""
    observations, actions = env.observation_space, env.action_space
    if not isinstance(actions, Discrete):
        raise InputError(f"env has the action space {actions}; these agents need a Discrete one")
    if isinstance(observations, Discrete):
        return Space(int(observations.n), 1, int(actions.n))
    if not isinstance(observations, Box):
        raise InputError(
            f"env has the observation space {observations}; it must be Discrete or Box"
        )
    return Space(None, int(np.prod(observations.shape)), int(actions.n))


def _plain(value: Any) -> Any:
    """A setting for JSON, which knows no infinity."""
    return list(value) if isinstance(value, tuple) else "inf" if value == float("inf") else value


def _restored(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else float("inf") if value == "inf" else value


def _leaves(state: Any) -> dict[str, jax.Array]:
    """The arrays of a state by their path; the random key as its bits."""
    paths, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path): _bits(leaf) for path, leaf in paths}


def _bits(leaf: jax.Array) -> jax.Array:
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def _filled(state: Any, stored: dict[str, Any], folder: str) -> Any:
    """`state` with the stored arrays in place of its own."""
    expected = _leaves(state)
    if {k: (v.shape, v.dtype) for k, v in expected.items()} != {
        k: (v.shape, v.dtype) for k, v in stored.items()
    }:
        raise InputError(f"folder {folder!r} holds arrays that do not fit its agent.json")
    arrays = [jnp.asarray(stored[name]) for name in expected]
    leaves = [
        jax.random.wrap_key_data(array)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        else array
        for array, leaf in zip(arrays, jax.tree.leaves(state), strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(state), leaves)
