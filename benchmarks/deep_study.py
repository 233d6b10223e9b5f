"""The deep experiments in full, for a GPU.

    rules     the actor rule alone: all else as in `paper`, one rule after another, with diagnostics
    critic    the same with a sounder critic: two with slow targets, batches from all transitions
    ablation  `recommended` with one thing at a time put back to what `paper` has
    figure3   all agents with the published, the released and the paper's settings
    conventions  `published` with one thing at a time as the paper, or the release, has it
    sweeps    the appendix's learning rates, bonus weights and decays; Double DQN as wide as Jekyll
    fresh     `recommended` on a hundred seeds for a thousand episodes
    speed     steps per second in total at 1, 10, 100 and 1000 seeds

    python benchmarks/deep_study.py --out DIR [--parts rules figure3 ...] [--levels 2] [--seeds 4]
    [--episodes 300]

Needs JAX, Equinox, Optax, NumPy and SciPy, and runs from a checkout without installation. Each part
writes DIR/PART.npz, anew after each of its calls, and its seconds to DIR/seconds.json; what is
there is not run again. Arrays are named call/level/setting/what. A call holds both levels and all
its settings; calls are compiled beside each other, then run one after another. Runs that diverge
are kept and counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip

from jekyllhyde.deep import ALGORITHMS, Batch, TrainResult, diagnostics, make_case  # isort: skip
from jekyllhyde.deep.actor_rules import ACTOR_RULES  # isort: skip
from jekyllhyde.files import write_file, write_json  # isort: skip

LEVELS = (1, 2)  # of Four Rooms: the problems of Figure 3, as the laboratory has them
SEEDS, EPISODES = 10, 500
RECOMMENDED = "recommended_0_3"  # what these studies were made with
SEED = 2021  # none of these runs served to choose a setting
RATES = (0.06, 0.03, 0.01, 0.006, 0.003, 0.001)  # the appendix's sets
RATES_JEKYLL = (*RATES, 0.0006)
RATES_RND = (0.1, 0.03, 0.01, 0.003, 0.001)
WEIGHTS = (0.1, 0.3, 0.6, 1.0, 1.3, 1.6)
DECAYS = (10.0, 100.0)  # episodes in which DDQN's random actions fall to a half
SIZES = (1, 10, 100, 1000)
WARM, TIMED = 8, 30  # episodes before the clock starts, and on it
NUMBERS_BACK: dict[str, dict[str, float]] = {
    "nothing": {},
    "no slow targets": {"tau": 1.0},
    "Hyde greedy": {"hyde_noise": 0.0},
    "gamma_hyde 0.9": {"gamma_hyde": 0.9},
    "eta_hyde 0.01": {"eta_hyde": 0.01},
    "eta_rnd 0.003": {"eta_rnd": 0.003},
    "epsilon_1 4000": {"epsilon_1": 4000.0},
    "no clipping": {"clip": float("inf"), "clip_rnd": float("inf"), "adam_eps": 1e-8},
}
CHOICES_BACK: dict[str, dict[str, Any]] = {
    "rule paper": {"actor_rule": "paper"},
    "rule published": {"actor_rule": "published"},
    "rule soft_cross_entropy": {"actor_rule": "soft_cross_entropy"},
    "rule raise_greedy_centred": {"actor_rule": "raise_greedy_centred"},
    "last K transitions": {"fifo": True},
    "one critic": {"critics": 1},
    "bonus not normalized": {"normalize_bonus": False},
    "Hyde 30-10": {"hidden_hyde": (30, 10), "hyde_xavier": False},
    "trained embedding": {"trained_embedding": True},
}
CONVENTIONS: dict[str, dict[str, Any]] = {
    "published": {},
    "fixed random table of states": {"trained_embedding": False},
    "last K transitions": {"fifo": True},
    "one critic without a target": {"critics": 1, "tau": 1.0},
    "actor rule of the text": {"actor_rule": "paper"},
    "q after the critic's update": {"fresh_critic": True},
    "epsilon of the text": {"schedule": "paper"},
    "no warm-up": {"warmup": 0},
    "Hyde's target ends": {"hyde_terminates": True},
    "bonus of s'": {"bonus_per_action": False},
    "smaller target of RND": {"deep_target": False},
    "no clipping": {"clip": float("inf"), "clip_rnd": float("inf"), "adam_eps": 1e-8},
    "released: RND's first weights": {"bonus": "rnd(xavier=False)"},
    "released: shared first weights, biases": {"shared_start": True},
    "released: RND's loss": {"bonus": "rnd(apart=True)"},
}

DIAGNOSTICS: dict[str, Callable[[TrainResult], Any]] = {
    "entropy": diagnostics.entropy,
    "action_gap": diagnostics.action_gap,
    "critic_error": diagnostics.critic_error,
    "trapped": diagnostics.trapped,
    "coverage": diagnostics.coverage,
    "coverage_hyde": lambda result: diagnostics.coverage(result, 1),
    "batch_share": diagnostics.batch_share,
}


@dataclass(frozen=True)
class Call:
    """One compiled call: an agent with a configuration, numbers by label in place of its own, on
    both levels.
    """

    name: str
    agent: str
    config: str = "published"
    fixed: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: {"": {}})
    seeds: int = SEEDS
    episodes: int = EPISODES
    diagnosed: bool = False

    def batch(self, levels: tuple[int, ...], seeds: int | None, episodes: int | None) -> Batch:
        """The call, ready to be compiled."""
        cases = [
            make_case("four_rooms", self.agent, self.config, {**self.fixed, **each}, level=level)
            for level in levels
            for each in self.settings.values()
        ]
        size = {"seeds": seeds or self.seeds, "episodes": episodes or self.episodes}
        return Batch(self.agent, cases, **size, seed=SEED)


def rates(names: tuple[str, ...], values: tuple[float, ...]) -> dict[str, dict[str, float]]:
    return {f"{names[0]}={value:g}": dict.fromkeys(names, value) for value in values}


def rule_call(rule: str, fixed: Mapping[str, Any]) -> Call:
    return Call(
        rule,
        "jekyll_hyde",
        "paper",
        {**fixed, "actor_rule": rule},
        seeds=32,
        episodes=450,
        diagnosed=True,
    )


def calls() -> dict[str, list[Call]]:
    """What each part runs."""
    q, actor, weights = ("eta_c",), ("eta", "eta_c"), rates(("bonus_weight",), WEIGHTS)
    wide = {"hidden": (64, 64)}
    sound = {"fifo": False, "critics": 2, "tau": 0.01}
    return {
        "rules": [rule_call(rule, {}) for rule in ACTOR_RULES],
        "critic": [rule_call(rule, sound) for rule in ACTOR_RULES],
        "ablation": [
            Call(
                "numbers",
                "jekyll_hyde",
                RECOMMENDED,
                settings=NUMBERS_BACK,
                seeds=32,
                episodes=400,
            ),
            *(
                Call(name, "jekyll_hyde", RECOMMENDED, back, seeds=32, episodes=400)
                for name, back in CHOICES_BACK.items()
            ),
        ],
        "figure3": [
            *(
                Call(f"{agent} {config}", agent, config)
                for agent in ALGORITHMS
                for config in ("published", "released", "paper")
                if agent != "bootstrapped_dqn"
            ),
            Call("jekyll_hyde recommended", "jekyll_hyde", RECOMMENDED),
        ],
        "conventions": [
            *(
                Call(name, "jekyll_hyde", fixed=changed, seeds=64, episodes=450)
                for name, changed in CONVENTIONS.items()
            ),
            Call("released", "jekyll_hyde", "released", seeds=64, episodes=450),
        ],
        "sweeps": [
            Call(
                "jekyll_hyde",
                "jekyll_hyde",
                settings={**rates(actor, RATES_JEKYLL), **rates(("eta_rnd",), RATES_RND)},
            ),
            Call("ddqn", "ddqn", settings=rates(q, RATES)),
            Call("ddqn decay", "ddqn", settings=rates(("epsilon_1",), DECAYS)),
            Call("ddqn 64-64", "ddqn", fixed=wide, settings=rates(q, RATES)),
            Call("ddqn_rnd", "ddqn_rnd", settings={**rates(q, RATES), **weights}),
            Call("ddqn_rnd 64-64", "ddqn_rnd", fixed=wide, settings=rates(q, RATES)),
            Call("sac", "sac", settings=rates(actor, RATES)),
            Call("sac_rnd", "sac_rnd", settings={**rates(actor, RATES), **weights}),
        ],
        "fresh": [
            Call("jekyll_hyde recommended", "jekyll_hyde", RECOMMENDED, seeds=100, episodes=1000)
        ],
    }


def arrays(call: Call, levels: tuple[int, ...], results: list[TrainResult]) -> dict[str, Any]:
    """What is kept of a call, by name."""
    kept: dict[str, Any] = {}
    for i, result in enumerate(results):
        level, setting = divmod(i, len(call.settings))
        label = f"{call.name}/{levels[level]}/{list(call.settings)[setting]}"
        kept[f"{label}/episode"] = result.episode.astype(np.int32)
        kept[f"{label}/optimum"] = np.float32(result.optimum)
        kept[f"{label}/diverged"] = result.diverged
        kept[f"{label}/step"] = result.step.astype(np.int32)
        for name in ("exact_score", "score"):
            kept[f"{label}/{name}"] = getattr(result, name).astype(np.float32)
        kept[f"{label}/coverage_hyde"] = diagnostics.coverage(result, 1).astype(np.float32)
        if call.diagnosed:
            kept |= {
                f"{label}/{name}": measure(result).astype(np.float32)
                for name, measure in DIAGNOSTICS.items()
            }
            kept[f"{label}/pi"], kept[f"{label}/q"] = (
                result.pi[:4, -1],
                result.q[:4, -1],
            )  # pictures need a few runs only
            kept[f"{label}/arrivals"] = result.arrivals[:4, -1]
    return kept


def run_part(
    part: str,
    todo: list[Call],
    out: Path,
    levels: tuple[int, ...],
    seeds: int | None,
    episodes: int | None,
) -> None:
    """Compile the calls that are not stored yet beside each other, run them one after another,
    store after each.
    """
    stored: dict[str, Any] = (
        dict(np.load(out / f"{part}.npz")) if (out / f"{part}.npz").exists() else {}
    )
    todo = [call for call in todo if not any(name.startswith(f"{call.name}/") for name in stored)]
    batches = [call.batch(levels, seeds, episodes) for call in todo]
    start = perf_counter()
    with ThreadPoolExecutor() as pool:
        programs = list(pool.map(Batch.compile, batches))
    compiled_s = perf_counter() - start
    print(f"{part}: {len(todo)} calls compiled in {compiled_s:.1f} s", flush=True)
    note(
        out,
        part,
        "compilation of all calls, beside each other",
        compile_s=compiled_s,
        calls=len(todo),
    )
    for call, batch, compiled in zip(todo, batches, programs, strict=True):
        start = perf_counter()
        results = batch.run(compiled)
        seconds = perf_counter() - start
        stored |= arrays(call, levels, results)
        steps = sum(int(result.step[:, -1].sum()) for result in results)
        # a stop in between leaves the old file
        write_file(out / f"{part}.npz", partial(np.savez_compressed, **stored))
        note(out, part, call.name, run_s=seconds, runs=len(results) * batch.seeds, steps=steps)
        solved = [float(result.solved()[:, -1].mean()) for result in results]
        print(
            f"{part}: {call.name}: {seconds:.1f} s, solved {np.round(solved, 2)}, diverged "
            f"{[int(result.diverged.sum()) for result in results]}",
            flush=True,
        )


def run_speed(out: Path) -> None:
    """Steps per second of one batch at several sizes, past the warm-up; each size's seconds to
    compile, alone.
    """
    sizes = SIZES if jax.default_backend() == "gpu" else (1,)
    for agent in ("jekyll_hyde", "ddqn", "sac"):
        for seeds in sizes:
            batch = Call("speed", agent, RECOMMENDED).batch((2,), seeds, WARM + TIMED)
            start = perf_counter()
            programs = batch.compile()
            compiled = perf_counter() - start
            models, _, configs = batch.inputs
            carry = programs.run(models, programs.start(*batch.inputs), configs, jnp.int32(WARM))
            before = int(carry.agent.t.sum())
            start = perf_counter()
            carry = programs.run(models, carry, configs, jnp.int32(WARM + TIMED))
            steps = int(carry.agent.t.sum()) - before
            seconds = perf_counter() - start
            note(
                out,
                "speed",
                f"{agent} {seeds}",
                compile_s=compiled,
                steps=steps,
                run_s=seconds,
                steps_per_s=steps / seconds,
            )
            print(
                f"speed: {agent}, {seeds} seeds: {steps / seconds:.0f} steps/s, "
                f"compiled in {compiled:.1f} s",
                flush=True,
            )


def about() -> dict[str, str]:
    return {"device": jax.devices()[0].device_kind, "jax": jax.__version__}


def note(out: Path, part: str, name: str, **numbers: float) -> None:
    """Add numbers to DIR/seconds.json."""
    path = out / "seconds.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    known.setdefault(part, {})[name] = {**numbers, **about()}
    write_json(path, known)


def main() -> None:
    parts = calls()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--parts", nargs="+", choices=[*parts, "speed"], default=[*parts, "speed"])
    parser.add_argument("--only", nargs="+", help="only the calls of these names")
    parser.add_argument("--levels", nargs="+", type=int, default=LEVELS, help="of Four Rooms")
    parser.add_argument("--seeds", type=int, help="in place of each part's own")
    parser.add_argument("--episodes", type=int, help="in place of each part's own")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(about(), flush=True)
    for part in options.parts:
        start = perf_counter()
        if part == "speed":
            run_speed(options.out)
        else:
            chosen = [call for call in parts[part] if not options.only or call.name in options.only]
            run_part(
                part, chosen, options.out, tuple(options.levels), options.seeds, options.episodes
            )
        print(f"{part}: done in {perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
