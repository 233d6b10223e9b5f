"""Whole training runs on the library's domains, many seeds and settings at once, each scored
exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jekyllhyde.agent import Progress
from jekyllhyde.deep import compiler
from jekyllhyde.deep.configurations import configure
from jekyllhyde.deep.training_loop import Inputs, Programs, compile_loop, run_all
from jekyllhyde.envs.functional import make_model, optimal_score
from jekyllhyde.errors import InputError, check_choice, check_count, require
from jekyllhyde.mdp.domains import Domain, find_domain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.registry import python_name


@dataclass(frozen=True)
class Case:
    """A problem, the steps after which its episodes are cut, and the agent's settings on it."""

    mdp: FiniteMDP
    horizon: int
    config: Any


@dataclass(frozen=True)
class TrainResult(Case):
    """Learning curves of several seeds on a case.

    episode [E]; score [seeds, E] mean of ten sampled greedy episodes; exact_score [seeds, E]
    expected score of the greedy policy; optimum the best score; step [seeds, E] environment steps;
    pi, q [seeds, E, S, A] Jekyll's policy and critic; arrivals [seeds, E, 2, S] entries into each
    state by Jekyll and by Hyde; taken [seeds, E, S, A] how often each action was taken in each
    state; networks: the final ones, first axis seeds.

    diverged [seeds]: which runs met a number that is not finite; their scores count like any other.
    solved(within) [seeds, E]: where the exact score is within `within` of the optimum.
    """

    episode: NDArray[np.int64]
    score: NDArray[np.float64]
    exact_score: NDArray[np.float64]
    optimum: float
    step: NDArray[np.int64]
    pi: NDArray[np.float32]
    q: NDArray[np.float32]
    arrivals: NDArray[np.int32]
    taken: NDArray[np.int32]
    networks: Any
    agent: str
    device: str

    @property
    def diverged(self) -> NDArray[np.bool_]:
        return np.array(
            [
                not (np.isfinite(pi).all() and np.isfinite(q).all())
                for pi, q in zip(self.pi, self.q, strict=True)
            ]
        )

    def solved(self, within: float = 0.5) -> NDArray[np.bool_]:
        return self.exact_score >= self.optimum - within


def train(
    env: str | FiniteMDP = "four_rooms",
    agent: str = "jekyll_hyde",
    *,
    seeds: int = 10,
    episodes: int = 500,
    config: Any = "recommended",
    seed: int = 0,
    every: int = 10,
    horizon: int | None = None,
    device: str | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **domain: Any,
) -> TrainResult:
    """Train `agent` on a domain with several seeds at once.

    Parameters
    ----------
    env : the name of a domain, as four_rooms or chain; `domain` goes to its maker (`level`,
        `size`, `slip`, `n_states`, ...). Or any finite MDP.
    agent : jekyll_hyde, ddqn, ddqn_rnd, bootstrapped_dqn, sac or sac_rnd.
    seeds, episodes : how many runs, and training episodes per run.
    config : "published", "released", "paper", "recommended", or a Config of the agent;
        `hyperparameters` replace some of its values.
    seed : the root seed; run i depends on (seed, i) alone.
    every : training episodes between two evaluations.
    horizon : steps after which an episode is cut; the domain's by default, 100 for a finite MDP.
    device : "cpu" or "gpu"; JAX's default otherwise.
    progress : called with the number of episodes, of all runs, since the last call.
    """
    return sweep(
        env,
        agent,
        [hyperparameters or {}],
        seeds=seeds,
        episodes=episodes,
        config=config,
        seed=seed,
        every=every,
        horizon=horizon,
        device=device,
        progress=progress,
        **domain,
    )[0]


def sweep(
    env: str | FiniteMDP,
    agent: str,
    settings: Sequence[Mapping[str, Any]],
    *,
    config: Any = "recommended",
    horizon: int | None = None,
    device: str | None = None,
    seeds: int = 10,
    episodes: int = 500,
    seed: int = 0,
    every: int = 10,
    progress: Progress | None = None,
    **domain: Any,
) -> list[TrainResult]:
    """`train` for each of `settings` (which may differ in numbers such as eta, not in names or
    sizes), in one compiled call.
    """
    return Batch(
        agent,
        [make_case(env, agent, config, each, horizon=horizon, **domain) for each in settings],
        seeds=seeds,
        episodes=episodes,
        seed=seed,
        every=every,
        device=device,
    ).run(progress=progress)


def make_case(
    env: str | FiniteMDP,
    agent: str,
    config: Any = "recommended",
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    horizon: int | None = None,
    **domain: Any,
) -> Case:
    """The case that `train` makes of the same arguments; gamma is the problem's own by default."""
    if isinstance(env, FiniteMDP):
        require(
            not domain,
            f"{', '.join(domain)} given beside a finite MDP; such options go with the name of a "
            "domain",
        )
        mdp, limit = env, Domain.horizon
    else:
        record = find_domain(env)
        mdp, limit = record(**domain), record.cut(**domain)
    return Case(
        mdp,
        check_count(limit if horizon is None else horizon, "horizon", 1),
        configure(
            agent,
            config,
            level=domain.get("level", 1),
            **{"gamma": mdp.gamma, **(hyperparameters or {})},
        ),
    )


class Batch:
    """Several cases with one agent, each on the same seeds, trained in one compiled call.

    Problems may differ in their numbers, not in their shape, and settings in theirs. `run` trains
    and returns one result per case; `compile` is apart from it, so that several batches can be
    compiled beside each other.
    """

    def __init__(
        self,
        agent: str,
        cases: Sequence[Case],
        *,
        seeds: int,
        episodes: int,
        seed: int = 0,
        every: int = 10,
        device: str | None = None,
    ) -> None:
        self.agent, self.cases, self.device = python_name(agent), list(cases), find_device(device)
        self.seeds, self.every = check_count(seeds, "seeds", 1), check_count(every, "every", 1)
        self.n_evaluations = check_count(episodes, "episodes", every) // every
        require(
            len({jax.tree.structure(case.config) for case in cases}) == 1,
            "the settings of a sweep differ in a name or a size; they may differ in numbers such "
            "as eta only",
        )
        with jax.default_device(self.device):
            models = [make_model(case.mdp, case.horizon) for case in cases]
            require(
                len({tuple(leaf.shape for leaf in model) for model in models}) == 1,
                "the problems of a batch differ in their numbers of states, actions or successors",
            )
            self.optimum = [float(optimal_score(model)) for model in models]
            root = jax.random.key(check_count(seed, "seed", 0))
            inputs = Inputs(
                models=jax.tree.map(
                    lambda *leaves: jnp.repeat(jnp.stack(leaves), seeds, axis=0), *models
                ),
                keys=jnp.stack([jax.random.fold_in(root, i) for i in range(seeds)] * len(cases)),
                configs=jax.tree.map(
                    lambda *leaves: jnp.repeat(jnp.asarray(leaves, jnp.float32), seeds),
                    *(case.config for case in cases),
                ),
            )
        self.inputs: Inputs = jax.device_put(inputs, self.device)

    def compile(self) -> Programs:
        compiler.keep_compiled()
        compiler.leave_room()
        with jax.default_device(self.device):
            return compile_loop(self.inputs, self.agent, self.n_evaluations, self.every)

    def run(
        self, programs: Programs | None = None, progress: Progress | None = None
    ) -> list[TrainResult]:
        with jax.default_device(self.device):
            outcome = run_all(
                programs or self.compile(), self.inputs, self.n_evaluations, self.every, progress
            )
        parts = [
            jax.tree.map(
                lambda leaf, i=i: np.asarray(leaf)[i * self.seeds : (i + 1) * self.seeds], outcome
            )
            for i in range(len(self.cases))
        ]
        return [
            TrainResult(
                **vars(case),
                episode=self.every * np.arange(1, self.n_evaluations + 1),
                score=sampled.astype(np.float64),
                exact_score=exact.astype(np.float64),
                optimum=optimum,
                step=records.step.astype(np.int64),
                pi=records.pi,
                q=records.q,
                arrivals=records.arrivals,
                taken=records.taken,
                networks=final,
                agent=self.agent,
                device=self.device.platform,
            )
            for case, optimum, (records, exact, sampled, final) in zip(
                self.cases, self.optimum, parts, strict=True
            )
        ]


def find_device(name: str | None) -> Any:
    """The device of that name, or JAX's first one."""
    if name is not None:
        check_choice(name, "device", ("cpu", "gpu"))
    try:
        return jax.devices(name)[0]
    except RuntimeError:
        raise InputError(
            f"device is {name!r}; JAX finds no such device here, only {jax.default_backend()}"
        ) from None
