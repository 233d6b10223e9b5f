"""The agents with networks in ordinary Gymnasium environments: a loop on the host around the
compiled `act` and `update`, under the contract of all agents (`jekyllhyde.agent`).

    agent = JekyllHyde("CartPole-v1", seed=0, gamma=0.99).learn(10_000)
    agent.predict(observation)
    agent.save("folder")

Settings that are not given are those of the configuration: "recommended", "published" or "paper".
"""

from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

from jekyllhyde.agent import AGENTS, Agent, Episodes, Progress
from jekyllhyde.deep import (
    ALGORITHMS,
    TrainResult,
    actor_rules,
    agent_files,
    configure,
    ddqn,
    jekyll_hyde,
    learning,
    networks,
    sac,
    spaces,
    training_loop,
)
from jekyllhyde.deep.bonus import Bonus
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.gym_import import make_environment

Widths = tuple[int, ...] | None
REPORTED = 100  # steps between two calls of `progress`


@cache
def _compiled(name: str) -> SimpleNamespace:
    # An algorithm's functions, compiled. `update` gives up the state that it is given, so that
    # replay is changed in place, not copied.
    plain = ALGORITHMS[name]
    return SimpleNamespace(
        init=jax.jit(plain.init, static_argnames="space"),
        act=jax.jit(plain.act),
        update=jax.jit(plain.update, donate_argnums=0),
        tables=jax.jit(lambda networks, *asked: networks.tables(*asked)),
    )


class DeepAgent(Agent):
    """What the agents with networks share. With an environment, or after `load`, there is a state;
    an agent without one is its settings alone.

    config : recommended, published (as the figure was made) or paper (the text, literally).
    """

    settings_type: ClassVar[type[learning.Settings]]
    space: networks.Space  # where there is a state

    def __init__(
        self, env: spaces.Env | str | None, seed: int, config: Any, given: dict[str, Any]
    ) -> None:
        self.env = None if env is None else make_environment(env)
        self.seed = check_count(seed, "seed", 0)
        mdp = getattr(getattr(self.env, "unwrapped", None), "mdp", None)
        chosen = {} if mdp is None else {"gamma": mdp.gamma}
        chosen |= {
            f.name: given[f.name] for f in fields(self.settings_type) if given[f.name] is not None
        }
        self.settings = configure(self.name, config, **chosen)
        self.episodes = Episodes()
        self._algorithm = _compiled(self.name)
        self._episode: spaces.Episode | None = None
        self._state: learning.State | None = None
        if self.env is not None:
            self._start(spaces.space_of(self.env))

    def _start(self, space: networks.Space) -> Self:
        training_loop.keep_compiled()
        self.space = space
        # on the device once, not with every call
        self._config = jax.tree.map(jnp.float32, self.settings)
        self._state = self._algorithm.init(jax.random.key(self.seed), self.settings, space=space)
        return self

    @property
    def state(self) -> learning.State:
        # everything the agent knows
        if self._state is None:
            raise InputError("the agent has no environment; give one, or load one that has learned")
        return self._state

    def learn(self, total_timesteps: int, *, progress: Progress | None = None) -> Self:
        # one update after each step; two calls are the same as one with the sum
        n_steps = check_count(total_timesteps, "total_timesteps", 0)
        state, env, act, update = self.state, self.env, self._algorithm.act, self._algorithm.update
        require(env is not None, "the agent has no environment; give one to load")
        if self._episode is None:
            self._episode = spaces.Episode.begin(env, self.space, int(state.hyde_acts), self.seed)
        for i in range(n_steps):
            episode = self._episode
            action, key = act(state, self._config, episode.observation, episode.allowed)
            state = self._state = replace(state, key=key)
            episode.actions.append(int(action))
            observation, reward, terminated, truncated, info = env.step(
                spaces.action_of(self.space, episode.actions[-1])
            )
            following, ended = spaces.read(self.space, observation), bool(terminated or truncated)
            facts: Any = (
                episode.observation,
                action,
                np.float32(reward),
                following,
                np.float32(not terminated),
            )
            allowed = spaces.allowed_in(self.space, info)
            transition = networks.Transition(*facts, allowed=episode.allowed, allowed_next=allowed)
            state = self._state = update(state, self._config, transition, np.bool_(ended))
            episode.total, episode.observation = episode.total + float(reward), following
            episode.allowed = allowed
            if ended:
                self.episodes.add(episode.total, len(episode.actions), episode.hyde)
                self._episode = spaces.Episode.begin(env, self.space, int(state.hyde_acts))
            if progress is not None and ((i + 1) % REPORTED == 0 or i + 1 == n_steps):
                progress(i % REPORTED + 1)
        return self

    def predict(self, observation: Any, deterministic: bool = True, action_mask: Any = None) -> Any:
        # the greedy action, or one drawn from the policy, numbered as the environment does
        state, space = self.state, self.space
        x = spaces.read(space, observation)
        is_batch = spaces.is_batch(space, x)
        allowed = None if action_mask is None else spaces.read_mask(space, action_mask)
        asked = (x, allowed) if is_batch else jax.tree.map(lambda part: part[None], (x, allowed))
        pi, _ = self._algorithm.tables(state.networks, *asked)
        if deterministic:
            actions = np.argmax(np.asarray(pi), -1)
        else:
            key, draw_key = jax.random.split(state.key)
            self._state = replace(state, key=key)
            actions = np.asarray(jax.random.categorical(draw_key, jnp.log(pi)))
        chosen = spaces.action_of(space, actions if is_batch else actions[0])
        return chosen if is_batch or space.factors else int(chosen)

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "episodes": np.array(self.episodes.rows, dtype=np.float64).reshape(-1, 3),
            **agent_files.named_arrays(self.state),
        }

    def save(self, path: str | Path) -> None:
        agent_files.save(
            path,
            self.arrays(),
            agent=self.name,
            seed=self.seed,
            settings=self.settings,
            space=self.space,
            episode=self._episode,
        )

    @classmethod
    def load(cls, path: str | Path, env: spaces.Env | str | None = None, **own: Any) -> Self:
        """The agent saved in a folder; with an environment of the same spaces it goes on learning
        where it stood. Settings of the user's own, such as bonus="file.py:Mine", are given again.
        """
        arrays, saved = agent_files.load(path, cls.name, own)
        agent = cls(seed=saved["seed"], config=saved["settings"])  # type: ignore[call-arg]
        agent.episodes = Episodes(
            [(float(total), int(n), int(hyde)) for total, n, hyde in arrays.pop("episodes")]
        )
        agent._state = agent_files.filled(agent._start(saved["space"]).state, arrays)
        agent._episode = saved["episode"]
        if env is not None:
            agent.env = make_environment(env)
            require(
                spaces.space_of(agent.env) == agent.space,
                "env has other observations or actions than the saved agent",
            )
            if agent._episode is not None:
                agent._episode = agent._episode.resume(agent.env, agent.space, agent.seed)
        return agent


class JekyllHyde(DeepAgent):
    """Dr Jekyll and Mr Hyde (Algorithm 4)."""

    name = "jekyll_hyde"
    settings_type = jekyll_hyde.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | jekyll_hyde.Config = "recommended",
        gamma: float | None = None,
        eta: float | None = None,
        eta_c: float | None = None,
        tau: float | None = None,
        actor_rule: str | actor_rules.Rule | None = None,
        normalize_observations: bool | None = None,
        temperature: float | None = None,
        critics: int | None = None,
        fresh_critic: bool | None = None,
        epsilon_1: float | None = None,
        schedule: str | None = None,
        explorer: str | jekyll_hyde.Explorer | None = None,
        bonus: str | Bonus | None = None,
        gamma_hyde: float | None = None,
        eta_hyde: float | None = None,
        tau_hyde: float | None = None,
        hyde_noise: float | None = None,
        hyde_terminates: bool | None = None,
        hyde_xavier: bool | None = None,
        hidden_hyde: Widths = None,
        hidden: Widths = None,
        trained_embedding: bool | None = None,
        batch: int | None = None,
        fifo: bool | None = None,
        capacity: int | None = None,
        warmup: int | None = None,
        clip: float | None = None,
        adam_eps: float | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


class DoubleDQN(DeepAgent):
    """Double DQN; a bonus that is given is added to the reward."""

    name = "ddqn"
    settings_type = ddqn.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | ddqn.Config = "recommended",
        eta_c: float | None = None,
        tau: float | None = None,
        gamma: float | None = None,
        hidden: Widths = None,
        capacity: int | None = None,
        batch: int | None = None,
        epsilon_1: float | None = None,
        schedule: str | None = None,
        bonus: str | Bonus | None = None,
        with_bonus: bool | None = None,
        normalize_observations: bool | None = None,
        bonus_weight: float | None = None,
        trained_embedding: bool | None = None,
        timeout_terminates: bool | None = None,
        adam_eps: float | None = None,
        clip: float | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


class DiscreteSAC(DeepAgent):
    """Discrete soft actor-critic; a bonus that is given has a critic of its own."""

    name = "sac"
    settings_type = sac.Config

    def __init__(
        self,
        env: spaces.Env | str | None = None,
        *,
        seed: int = 0,
        config: str | sac.Config = "recommended",
        gamma: float | None = None,
        hidden: Widths = None,
        eta: float | None = None,
        eta_c: float | None = None,
        capacity: int | None = None,
        tau: float | None = None,
        warmup: int | None = None,
        bonus: str | Bonus | None = None,
        batch: int | None = None,
        with_bonus: bool | None = None,
        clip: float | None = None,
        bonus_weight: float | None = None,
        adam_eps: float | None = None,
        bonus_terminates: bool | None = None,
        normalize_observations: bool | None = None,
        trained_embedding: bool | None = None,
    ) -> None:
        super().__init__(env, seed, config, locals())


def from_result(result: TrainResult, run: int = 0) -> DeepAgent:
    """One run of `train` as an agent that predicts and saves, with an empty replay."""
    agent: DeepAgent = AGENTS[result.agent].cls(config=result.config)
    agent._start(networks.Space(result.mdp.n_states, (), result.mdp.n_actions))
    agent._state = replace(
        agent.state, networks=jax.tree.map(lambda leaf: jnp.asarray(leaf[run]), result.networks)
    )
    return agent
