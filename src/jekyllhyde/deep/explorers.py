"""Who explores: Mr Hyde, as the paper has him and as an optimist.

An explorer is a record, a subclass of `Explorer`, whose fields are its settings; what it has
learned is a state of its own. Agents take one by name, "hyde" or "optimist", or of the user's own,
"file.py:Mine".

    hyde       q~(s,a) <- bonus + gamma q~_target(s', argmax q~(s', .))
    optimist   q~(s,a) <- (1 - gamma) bonus + gamma v~(s'),  v~(s') = max_a' u + (1 - u) q~(s',a')

The optimist takes what is unknown for the best there is. With bonuses of at most 1 his values lie
between 0 and 1; u(s,a), from 0 to 1, is how unknown the bonus finds a pair, and a pair that was
never tried is worth 1 whatever his network makes of it. With `bounded` goals his values stay there;
without, the greatest of several errors comes back with every step, and outgrows the 1 - gamma by
which values fall, until nothing that is new can be worth more.

A network that has to be optimistic by its weights alone is not so for long, for what it learns in
one state moves it in others (Rashid et al., 2020, whose bonus is added instead). For him no
trajectory ends: he goes on where the next one starts, so its end is worth his mean value at starts.
Otherwise he would avoid the places where trajectories end. Where observations are views (`views`),
an action is worth `weariness` less to him each time that he takes it again in an episode: with 1
the least taken comes first, and his values decide among equals. Otherwise he walks in circles
there.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jekyllhyde.deep.critics import Critic
from jekyllhyde.deep.networks import Samples, Space, among, blend, pick, static
from jekyllhyde.deep.noise import noisy_greedy
from jekyllhyde.deep.views import Taken, shows_views
from jekyllhyde.errors import check_count
from jekyllhyde.registry import Choices

EXPLORERS = Choices("explorer")
START_RATE = 0.1  # of the running mean over starts


class Explorer(eqx.Module):
    """Who explores: a record whose state is any pytree; settings beyond its own are the agent's."""

    @abstractmethod
    def init(self, keys: tuple[jax.Array, jax.Array], config: Any, space: Space) -> Any:
        """Its state before the first step."""

    @abstractmethod
    def logits(self, state: Any, config: Any, x: Any, allowed: jax.Array | None) -> jax.Array:
        """The logits [A] with which it acts in x, where the actions `allowed` [A] can be taken, or
        all (None); what it says of the others does not count.
        """

    @abstractmethod
    def learn(self, state: Any, config: Any, samples: Samples) -> Any:
        """Its state after one update on a batch."""

    def observe(self, state: Any, config: Any, step: Samples, ended: jax.Array) -> Any:
        """Its state after one step of the agent (not a batch), which may have `ended` an episode;
        nothing by default.
        """
        return state

    def curiosity(self, state: Any) -> Any:
        """How much there is to explore from where trajectories start, from 0 to 1; None where it
        does not know, as by default.
        """
        return None


class HydeState(eqx.Module):
    """Hyde's values q~, and what the bonus has learned. An explorer with such a state has a `goal`
    [N] for q~, given the bonus [N].
    """

    q: Critic
    bonus: Any


@EXPLORERS.register
class Hyde(Explorer):
    """Double DQN on the bonus, greedy but for uniform actions with probability `hyde_noise`."""

    def init(self, keys: tuple[jax.Array, jax.Array], config: Any, space: Space) -> HydeState:
        network = space.network(keys[0], config.hidden_hyde, xavier=config.hyde_xavier)
        return HydeState(
            q=Critic.of(network.scaled(config.first_values)),
            bonus=config.bonus.init(keys[1], space),
        )

    def logits(self, state: HydeState, config: Any, x: Any, allowed: Any) -> jax.Array:
        noise = config.noise.share(config.hyde_noise)
        return noisy_greedy(state.q.online.network(x), noise, allowed)

    def observe(self, state: HydeState, config: Any, step: Samples, ended: Any) -> HydeState:
        return replace(state, bonus=config.bonus.observe(state.bonus, step, ended))

    def goal(self, state: HydeState, config: Any, samples: Samples, bonus: Any) -> jax.Array:
        discount = config.gamma_hyde * (samples.discount if config.hyde_terminates else 1.0)
        return state.q.double_dqn(samples, bonus, discount)

    def learn(self, state: HydeState, config: Any, samples: Samples) -> HydeState:
        return _learned(self, state, config, samples)


class OptimistState(HydeState):
    """Also his mean value at `start`s, whether the next step `begins` a trajectory, and of views
    what was `taken` in the episode.
    """

    start: jax.Array
    begins: jax.Array
    taken: Taken | None


@EXPLORERS.register
class Optimist(Explorer):
    """Double DQN on the bonus; what is unknown is worth the most there is, and nothing ends."""

    weariness: float = 1.0  # of an action, each time it is taken again in a view and an episode
    lanes: int = static(1)  # environments that take turns; as many as there are

    def __check_init__(self) -> None:
        check_count(self.lanes, "lanes of optimist", 1)

    def init(self, keys: tuple[jax.Array, jax.Array], config: Any, space: Space) -> OptimistState:
        plain = Hyde().init(keys, config, space)
        taken = None
        if shows_views(space):
            taken = Taken.empty(jax.random.fold_in(keys[1], 1), space, self.lanes)
        return OptimistState(
            plain.q, plain.bonus, start=jnp.ones(()), begins=jnp.asarray(True), taken=taken
        )

    def logits(self, state: OptimistState, config: Any, x: Any, allowed: Any) -> jax.Array:
        q = self._hopeful(state, config, state.q.online.network, x)
        if state.taken is not None:
            q = q - self.weariness * state.taken.times(x)
        return noisy_greedy(q, config.noise.share(config.hyde_noise), allowed)

    def observe(
        self, state: OptimistState, config: Any, step: Samples, ended: Any
    ) -> OptimistState:
        q = self._hopeful(state, config, state.q.online.network, step.x)
        value = jnp.clip(jnp.max(among(step.allowed, q), -1), 0.0, 1.0)
        return OptimistState(
            state.q,
            config.bonus.observe(state.bonus, step, ended),
            start=blend(state.start, value, START_RATE * state.begins),
            begins=ended,
            taken=state.taken and state.taken.after(step.x, step.action, ended),
        )

    def goal(self, state: OptimistState, config: Any, samples: Samples, bonus: Any) -> jax.Array:
        x = samples.x_next
        greedy = jnp.argmax(
            samples.among_next(self._hopeful(state, config, state.q.online.network, x)), -1
        )
        v = pick(self._hopeful(state, config, state.q.target, x), greedy)
        v = jnp.clip(v, 0.0, 1.0) if config.bounded else v
        v = samples.discount * v + (1.0 - samples.discount) * state.start
        return (1.0 - config.gamma_hyde) * bonus + config.gamma_hyde * v

    def learn(self, state: OptimistState, config: Any, samples: Samples) -> OptimistState:
        return _learned(self, state, config, samples)

    def curiosity(self, state: OptimistState) -> jax.Array:
        return state.start

    def _hopeful(self, state: OptimistState, config: Any, network: Any, x: Any) -> jax.Array:
        unknown = config.bonus.unknown(state.bonus, x)
        return unknown + (1.0 - unknown) * network(x)


def _learned(explorer: Any, state: Any, config: Any, samples: Samples) -> Any:
    bonus, bonus_state = config.bonus.of(state.bonus, samples)  # 15
    goal = explorer.goal(state, config, samples, bonus)
    q = state.q.learn(samples, goal, config.eta_hyde, config.tau_hyde, config)  # 16
    return replace(state, q=q, bonus=config.bonus.learn(bonus_state, samples))  # 19
