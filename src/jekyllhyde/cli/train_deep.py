"""`jh train` with networks: the paper's deep agents on the library's environments, all seeds in one
compiled call.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from jekyllhyde.cli.show import Progress, show_table
from jekyllhyde.errors import InputError, check_choice

if TYPE_CHECKING:
    from jekyllhyde.cli.train import Train
    from jekyllhyde.deep import TrainResult

DOMAINS = {
    "FourRooms-v0": "four_rooms",
    "Chain-v0": "chain",
    "Garnet-v0": "garnet",
    "DeepSea-v0": "deep_sea",
}
AGENTS = ("jekyll-hyde", "ddqn", "sac", "ddqn-rnd", "sac-rnd")
TICKS = 1000  # of the progress bar
CORE_RATE = 1000.0  # steps per second of J&H on one core, and on an H200 by number of seeds
GPU_RATES = {1: 4_100.0, 10: 37_000.0, 100: 192_000.0, 1000: 367_000.0}


@dataclass(frozen=True)
class Deep:
    """Options of agents with networks (Algorithm 4 and its baselines), on FourRooms-v0, Chain-v0,
    Garnet-v0 and DeepSea-v0.

    Those left out take the configuration's value, and each agent takes its own; eta, eta_c, batch
    (K) and capacity are shared with the tabular agents.
    """

    config: str | None = None
    """recommended (the default), published (as the figure was made) or paper (the text, literally).
    """
    seeds: int | None = None
    """Runs, each with its own seed (default: 10)."""
    episodes: int | None = None
    """Training episodes per run (default: 500)."""
    device: str | None = None
    """cpu or gpu; JAX's own choice by default."""
    actor_rule: str | None = None
    """Update of the actor (jekyll-hyde): paper, published, normalized_advantage, natural_gradient,
    mirror_step, cross_entropy, soft_cross_entropy or modified_cross_entropy."""
    epsilon_1: float | None = None
    """epsilon_1, scale of epsilon_t: steps (jekyll-hyde), or episodes (ddqn)."""
    schedule: str | None = None
    """Form of epsilon_t: paper, epsilon_1 / t, or published."""
    eta_hyde: float | None = None
    """Step size of Hyde's q~ (jekyll-hyde)."""
    eta_rnd: float | None = None
    """Step size of RND's predictor p_RND."""
    gamma_hyde: float | None = None
    """Hyde's discount (jekyll-hyde)."""
    hyde_noise: float | None = None
    """Probability of a uniform action while Hyde acts (jekyll-hyde)."""
    tau: float | None = None
    """Rate of the target networks; 1 is none."""
    tau_hyde: float | None = None
    """Rate of Hyde's target network (jekyll-hyde)."""
    temperature: float | None = None
    """Of soft_cross_entropy and mirror_step (jekyll-hyde)."""
    bonus_weight: float | None = None
    """Weight of the bonus r~ (ddqn-rnd, sac-rnd)."""
    clip: float | None = None
    """Largest norm of a gradient."""
    clip_rnd: float | None = None
    """The same for RND."""
    adam_eps: float | None = None
    """Adam's epsilon."""
    warmup: int | None = None
    """First steps, with uniform actions and no learning (jekyll-hyde, sac)."""
    hidden: tuple[int, ...] | None = None
    """Widths of the hidden layers."""
    hidden_hyde: tuple[int, ...] | None = None
    """The same for Hyde's q~ (jekyll-hyde)."""
    critics: int | None = None
    """Critics, of which the smallest counts (jekyll-hyde)."""
    fifo: bool | None = None
    """Jekyll's half of the batch is F, the last K transitions, instead of a draw from all
    (jekyll-hyde).
    """
    fresh_critic: bool | None = None
    """The actor sees q after the critic's update (jekyll-hyde)."""
    trained_embedding: bool | None = None
    """Each network trains its own embedding of the states, instead of one fixed random one."""
    bonus_per_action: bool | None = None
    """The bonus is of (s, a) instead of s'."""
    deep_target: bool | None = None
    """RND's target t_RND has two hidden layers."""
    normalize_bonus: bool | None = None
    """The bonus r~ is divided by its running mean (jekyll-hyde)."""
    hyde_terminates: bool | None = None
    """Hyde's target is cut where episodes end (jekyll-hyde)."""
    hyde_xavier: bool | None = None
    """Hyde's first weights are drawn as Jekyll's (jekyll-hyde)."""
    timeout_terminates: bool | None = None
    """A time-out counts as an end (ddqn)."""
    bonus_terminates: bool | None = None
    """The bonus critic's target is cut where episodes end (sac-rnd)."""

    def given(self) -> dict[str, Any]:
        """The options that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


DEFAULTS: dict[str, Any] = {
    "config": "recommended",
    "seeds": 10,
    "episodes": 500,
    "device": None,
}  # of what is not the agent's own
SHARED = ("eta", "eta_c", "batch", "capacity")  # with the tabular agents


def is_deep(problem: str, agent: str) -> bool:
    """Whether networks are meant: on the library's own environments, and with agents that have no
    tabular form.
    """
    return problem.removeprefix("jekyllhyde/") in DOMAINS or (
        agent in AGENTS and agent != "jekyll-hyde"
    )


def run_deep(command: Train) -> int:
    """Train all seeds, and say what came of it."""
    try:
        from jekyllhyde import deep
    except ImportError as error:
        raise InputError(
            f"agents with networks need {error.name}; install jekyllhyde[deep]"
        ) from None
    from jekyllhyde.deep.training import HORIZON, HORIZONS
    from jekyllhyde.mdp.problem import make
    from jekyllhyde.planning.output import prepare_folder

    agent = check_choice(command.agent, "agent", AGENTS).replace("-", "_")
    _refuse_tabular(command)
    name = _domain(command.problem)
    run = DEFAULTS | {key: value for key, value in command.deep.given().items() if key in DEFAULTS}
    own = {key: value for key, value in command.deep.given().items() if key not in DEFAULTS}
    own |= {
        key: value for key in SHARED if (value := getattr(command.agent_options, key)) is not None
    }
    domain = {key: value for key, value in asdict(command.options).items() if value is not None}
    mdp = make(name, **domain, **({"seed": command.mdp_seed} if name == "garnet" else {}))
    config = deep.configure(agent, run["config"], level=domain.get("level", 1), **own)
    folder = None if command.out is None else prepare_folder(command.out)
    start = time.perf_counter()
    with Progress(TICKS, f"{command.agent} on {name}") as advance:
        result = deep.train(
            mdp,
            agent,
            seeds=run["seeds"],
            episodes=run["episodes"],
            config=config,
            seed=command.seed,
            device=run["device"],
            horizon=HORIZONS.get(name, HORIZON),
            progress=_ticks(advance),
        )
    seconds = time.perf_counter() - start
    files = [] if folder is None else _write(result, folder, name, domain)
    summary = _summary(result)
    if command.json:
        report = {
            "problem": command.problem,
            "agent": command.agent,
            **run,
            "device": result.device,
            "seconds": seconds,
        }
        print(json.dumps({**report, "measured": summary, "files": files}))
        return 0
    show_table(
        f"{command.agent} ({run['config']}) on {mdp.name}: {run['seeds']} seeds, {run['episodes']} episodes",
        summary,
    )
    print(f"{int(result.step[:, -1].sum())} steps in {seconds:.1f} s, compilation included")
    print(device_sentence(result.device, run["seeds"]))
    print("".join(f"{file}\n" for file in files), end="")
    return 0


def _domain(problem: str) -> str:
    """The domain behind an environment's id, or behind its own name."""
    name = problem.removeprefix("jekyllhyde/")
    if name not in DOMAINS and name not in DOMAINS.values():
        raise InputError(
            f"problem is {problem!r}; agents with networks train on {', '.join(DOMAINS)}, and elsewhere from Python"
        )
    return DOMAINS.get(name, name)


def _refuse_tabular(command: Train) -> None:
    """Options that only tabular agents take are refused rather than ignored."""
    given = {
        key: value
        for key, value in asdict(command.agent_options).items()
        if value is not None and key not in SHARED
    }
    given |= {
        key: value
        for key in ("trajectories", "steps", "target", "runs")
        if (value := getattr(command, key)) is not None
    }
    for name in given:
        raise InputError(
            f"{name} is given, but {command.agent} on {command.problem} learns with networks; it takes seeds and episodes"
        )


def _ticks(advance: Any) -> Any:
    """A callback for shares that moves a bar of TICKS."""
    done = 0

    def progress(share: float) -> None:
        nonlocal done
        now = int(share * TICKS)
        advance(max(0, now - done))
        done = max(now, done)

    return progress


def _write(result: TrainResult, folder: Any, name: str, given: dict[str, Any]) -> list[str]:
    from jekyllhyde.deep import output
    from jekyllhyde.mdp.rooms import layout

    rooms = layout(given.get("level", 1), given.get("size", 15)) if name == "four_rooms" else None
    return output.write(result, folder, rooms)


def _summary(result: TrainResult) -> list[dict[str, Any]]:
    """What the last evaluation says, and when runs were first solved."""
    from jekyllhyde.cli.train import row
    from jekyllhyde.tabular.learn_run import interval

    solved = result.solved()
    first = result.episode[solved.argmax(1)][solved.any(1)]
    rows = [row("score, ten greedy episodes", *interval(result.score[:, -1])[:4])]
    rows += [
        row("score, exact", *interval(result.exact_score[:, -1])[:4]),
        row("optimum", result.optimum),
    ]
    rows.append(row("share of seeds within 0.5 of it", float(solved[:, -1].mean())))
    if len(first):
        rows.append(row("first there, episodes", *interval(first)[:4]))
    return [*rows, row("seeds that diverged", float(result.diverged.sum()))]


def device_sentence(used: str, seeds: int) -> str:
    """Which device ran, and which kind is the faster for this many seeds, by what was measured once
    (benchmarks/deep_study.py).
    """
    import numpy as np

    cores = min(seeds, os.cpu_count() or 1)
    gpu = np.interp(np.log(seeds), np.log(list(GPU_RATES)), list(GPU_RATES.values()))
    cpu = CORE_RATE * cores
    faster = (
        f"an H200 GPU is about {gpu / cpu:.0f} times as fast as"
        if gpu > 1.5 * cpu
        else "an H200 GPU is no faster than"
    )
    return f"device: {used}; for {seeds} seeds {faster} {cores} CPU cores"
