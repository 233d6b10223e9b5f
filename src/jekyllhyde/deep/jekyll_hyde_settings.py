"""The settings of Dr Jekyll and Mr Hyde with networks, and its configurations.

published         as the paper's figure was made, as far as its text and appendix say
released          also what the authors' released code does beside that
paper             the listing, literally
recommended       the default
recommended_0_3   what version 0.3 recommended
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from jekyllhyde.deep.actor_rules import Rule
from jekyllhyde.deep.bonus import RND
from jekyllhyde.deep.counts import Counts
from jekyllhyde.deep.explorers import Explorer, Hyde, Optimist
from jekyllhyde.deep.leaders import Leader, Practising, Scheduled
from jekyllhyde.deep.learning import Settings
from jekyllhyde.deep.networks import Space, static
from jekyllhyde.deep.noise import Noise, Persistent, Single
from jekyllhyde.deep.views import shows_cells


class Config(Settings):
    """Settings of Dr Jekyll and Mr Hyde."""

    eta: float = 1e-3  # actor step
    eta_hyde: float = 1e-2  # step of Hyde's q~
    epsilon_1: float = 4000.0  # scale of epsilon_t, in environment steps
    tau_hyde: float = 0.01  # rate of Hyde's target network
    gamma_hyde: float = 0.9  # Hyde's discount
    hyde_noise: float = 0.0  # probability of a uniform action while Hyde acts; see noise
    first_values: float = 1.0  # scale of the last weights of q and q~ before the first step
    temperature: float = 1.0  # temperature of soft_cross_entropy and mirror_step
    pessimism: float = 1.0  # how much the smallest critic counts; the rest is their mean
    explorer: Explorer = Hyde()  # who explores: hyde, optimist, or "file.py:Mine"
    noise: Noise = Single()  # how long Hyde's uniform actions last: single, persistent, ...
    leader: Leader = Scheduled()  # who acts: scheduled, curious, ..., or "file.py:Mine"
    # the actor's update: the name of a rule, or "file.py:function"
    actor_rule: str | Rule = static("published")
    schedule: str = static("published")  # form of epsilon_t: paper or published
    # Jekyll's half of the batch is the last K transitions, instead of a draw from all
    fifo: bool = static(False)
    # Jekyll's half of the batch is drawn by the size of his critics' last errors; not with fifo
    prioritized: bool = static(False)
    critics: int = static(2)  # how many critics Jekyll has
    # the actor follows each critic, not what they say together: where they disagree he draws
    votes: bool = static(False)
    dueling: bool = static(False)  # each is a value and what an action adds, of two networks
    n_steps: int = static(1)  # of the returns that the critics learn from
    far_share: float = 1.0  # how much these count in their goal; the rest is a single step's
    quiet: float = 1.0  # they go on over steps that bring at most this share of the largest reward
    tolerance: float = jnp.inf  # they do not count where they bring less by more than this share
    # where they led to an end that is worse than what one step promises, they count less: as far
    # as Jekyll would take the last of them
    weigh_ends: bool = static(False)
    # after a time-out nothing is learned of where the last step led, so that it is taken to have
    # led nowhere: what the last state is worth is learned from itself
    cut_stays: bool = static(False)
    # what the critics expect lies between what the rewards in replay allow
    bounded: bool = static(False)
    fresh_critic: bool = static(False)  # the actor sees q after the critic's update, not before
    hyde_terminates: bool = static(False)  # Hyde's target is cut where episodes end
    hyde_xavier: bool = static(False)  # Hyde's first weights are drawn as Jekyll's
    # rate at which the actor that plays follows the one that learns; 1 is the same actor
    tau_actor: float = static(1.0)
    # hidden layers of the actor have mean 0 and variance 1 over their units, so that these stay on
    normalized_actor: bool = static(False)
    # Jekyll takes his most probable actions in every other stretch of so many steps; 0 is never
    greedy_stretch: int = static(0)
    shared_start: bool = static(False)  # networks have first weights of each other; takes rnd
    warmup: int = static(400)  # first steps: uniform actions, no learning
    batch: int = static(128)  # K, per half
    hidden_hyde: tuple[int, ...] = static((30, 10))  # widths of Hyde's q~


class Elsewhere(NamedTuple):
    """What `recommended` changes in some spaces, and which ones these are, in words."""

    changes: dict[str, Any]
    where: str
    holds: Callable[[Space], bool]


ELSEWHERE = (
    # There networks blur what they see, so that news get lost on their way through many of their
    # guesses: what several steps led to counts for more, though it was Hyde who took them. And
    # counts are of cells, which are wider than a step: a bonus that falls as 1 / n takes a cell for
    # known whose far edge was never crossed. (A normalized actor was not tried there.)
    Elsewhere(
        {"far_share": 0.5, "bonus": "counts(power=0.5)", "normalized_actor": False},
        "where states are not known by an index",
        lambda space: space.n_states is None,
    ),
    # There each episode is a world of its own: Hyde seeks what he has not seen in it. And Jekyll is
    # asked for actions that are drawn, for greedy ones go in circles, so he practises these alone.
    Elsewhere(
        {"bonus": "new_views", "greedy_stretch": 0}, "where cells of a grid are seen", shows_cells
    ),
)

CONFIGS = {
    "published": Config(trained_embedding=True, bonus=RND(per_action=True, deep_target=True)),
    "released": Config(
        trained_embedding=True,
        shared_start=True,
        bonus=RND(per_action=True, deep_target=True, xavier=False, apart=True),
    ),
    "paper": Config(
        actor_rule="paper",
        schedule="paper",
        fifo=True,
        critics=1,
        fresh_critic=True,
        tau=1.0,
        warmup=0,
        hyde_terminates=True,
        clip=jnp.inf,
        adam_eps=1e-8,
        bonus=RND(clip=jnp.inf, adam_eps=1e-8),
    ),
    # What 0.3 recommended, for Four Rooms. Cross-entropy can unlearn. Half of Hyde's actions are
    # uniform: greedy on a bonus that his network fits slowly, he walks in circles. His values keep
    # one scale as the bonus shrinks, look far, and end with the episode: else the goal, whose value
    # is never trained, may draw him.
    "recommended_0_3": Config(
        actor_rule="cross_entropy",
        epsilon_1=40_000.0,
        hyde_noise=0.5,
        gamma_hyde=0.99,
        eta_hyde=1e-3,
        hyde_terminates=True,
        hyde_xavier=True,
        hidden_hyde=(64, 64),
        bonus=RND(eta=1e-4, normalize=True),
    ),
    # Hyde is an optimist and fears no end (explorers.py); he leads as long as he is curious, and
    # actions that last lead him out of cells. News must come back over many steps, so target
    # networks are quick, and the critics look ten steps ahead where nothing is paid on the way; and
    # from few samples, so Adam's epsilon is small: rows of the first weights that are seldom met
    # then take large steps. Critics begin near 0: biases that have to take back what they say by
    # chance switch units off, for good, where there are many states. Jekyll follows both critics
    # and plays a mean of his actor, for actions often differ by less than a critic's error; and he
    # practises, to see where his own actions lead. While nothing is paid his actor follows what
    # critics say by chance, and where there are many states that would switch its units off.
    "recommended": Config(
        actor_rule="cross_entropy",
        explorer=Optimist(),
        leader=Practising(),
        noise=Persistent(everywhere=False),
        hyde_noise=0.1,
        epsilon_1=40_000.0,  # where another explorer does not say how curious he is
        bonus=Counts(power=1.0, finer=True),
        one_hot=True,
        prioritized=True,
        bounded=True,
        first_values=0.01,
        votes=True,
        pessimism=0.0,
        n_steps=10,
        far_share=0.35,
        quiet=0.02,
        weigh_ends=True,
        cut_stays=True,
        tau_actor=0.01,
        normalized_actor=True,
        greedy_stretch=100,
        adam_eps=1e-5,
        tau=0.05,
        tau_hyde=0.2,
        gamma_hyde=0.99,
        eta_hyde=1e-3,
        hyde_xavier=True,
        hidden_hyde=(64, 64),
    ),
}
