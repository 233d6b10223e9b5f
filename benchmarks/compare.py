"""The tree beside another commit, in one run: the same numbers to the last bit, and how fast.

    python benchmarks/compare.py REVISION [--numbers] [--speed] [--repetitions N]

Numbers: six panels in small and three trainings through the command line of both trees; every CSV,
every verdict and every Parquet column is compared. Speed: processor seconds of the same calls in
both trees, taken in turns, in processes of their own; the ratio of the minima is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PANELS = "2a 5a 6a 7c 10a 13a"
COMMANDS = {
    "figures": f"figure {PANELS} --preset quick --store STORE --out OUT",
    "chain": "train chain --beta 0.8 --agent tabular-jekyll-hyde --epsilon 100/t --o 0.5"
    " --convention published --trajectories 20000 --runs 20 --target 0.5 --out OUT",
    "rooms": "train four_rooms --agent tabular-jekyll-hyde --trajectories 2000 --runs 4"
    " --convention published --out OUT",
    "networks": "train FourRooms-v0 --agent jekyll-hyde --runs 2 --episodes 60 --out OUT CONFIG",
}
OLD_NAMES = {"tabular-jekyll-hyde": "jekyll-hyde", "tabular-on-policy": "on-policy"}  # in 0.1

SPEED = """
import functools, json, sys, time
import jekyllhyde as jh
J = functools.partial(jh.TabularJekyllHyde, convention="published")
P = jh.TabularOnPolicy
chain, garnet = jh.chain(10, beta=0.8), jh.garnet(100, seed=1)
calls = {}
for name, mdp, agent, count in (
    ("learn, chain, J&H", chain, J(), 200_000), ("learn, chain, PG", chain, P(), 5_000_000),
    ("learn, random, J&H", garnet, J(hyde_eta=1.0), 8_000),
    ("learn, random, J&H, batch 4", garnet, J(batch=4, hyde_eta=1.0), 3_000),
    ("learn, random, PG", garnet, P(), 8_000),
):
    calls[name] = lambda mdp=mdp, agent=agent, count=count: jh.learn(
        mdp, agent, trajectories=count, threads=1)
for mdp, count in ((jh.chain(10), 300_000), (jh.garnet(50, seed=0), 20_000)):
    for rule in ("direct", "softmax"):
        for density in ("pg", "undiscounted", "uniform", "mixture"):
            o = 0.5 if density == "mixture" else None
            calls[f"plan, {mdp.name}, {rule}, {density}"] = (
                lambda mdp=mdp, rule=rule, density=density, o=o, count=count: jh.plan(
                    mdp, parametrization=rule, density=density, o=o, eta=1.0, updates=count))
if "deep" in sys.argv:
    from jekyllhyde import deep
    given = {} if jh.__version__.startswith("0.1") else {"config": "recommended_0_3"}
    for agent in ("jekyll_hyde", "ddqn", "sac"):
        calls[f"train, {agent}"] = lambda agent=agent: deep.train(
            "four_rooms", agent, seeds=1, episodes=30, **given)
times = {}
for name, call in calls.items():
    call()
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    times[name] = best
print(json.dumps(times))
"""
START = """
import time
import jekyllhyde as jh
agents = (
    jh.TabularJekyllHyde(convention="published"),
    jh.TabularOnPolicy(),
    jh.TabularOnPolicy(lam=0.01),
)
for agent in agents:
    jh.learn(jh.chain(10, beta=0.8), agent, trajectories=10)
jh.plan(jh.chain(10), updates=10)
print(time.process_time())
"""


def run(tree: Path, arguments: list[str], **variables: str) -> str:
    """What a Python process prints that imports the package of `tree`."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), **variables}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{tree.name}: {' '.join(arguments[:4])} failed\n{done.stderr[-2000:]}")
    return done.stdout


def is_first_version(tree: Path) -> bool:
    return '"0.1' in (tree / "src/jekyllhyde/__init__.py").read_text()


def outputs(tree: Path, folder: Path) -> Path:
    """The folder with everything that the commands above write."""
    for name, command in COMMANDS.items():
        config = "" if is_first_version(tree) else "--config recommended_0_3"
        words = command.replace("OUT", str(folder / name)).replace("STORE", str(folder / "store"))
        arguments = words.replace("CONFIG", config).split()
        if is_first_version(tree):
            old = OLD_NAMES | ({"--runs": "--seeds"} if name == "networks" else {})
            arguments = [old.get(word, word) for word in arguments]
        run(tree, ["-m", "jekyllhyde", *arguments])
        print(f"{tree.name}: {name}", flush=True)
    return folder


def content(path: Path) -> Any:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path).to_pydict()
    return json.loads(path.read_text()) if path.suffix == ".json" else path.read_text()


def changed_verdicts(old: Path, new: Path) -> list[str]:
    """The claims of a panel that are judged otherwise, or are not in both trees."""
    before, after = ({claim["id"]: claim["verdict"] for claim in content(p)} for p in (old, new))
    names = [name for name in before | after if before.get(name) != after.get(name)]
    return [f"{name}: {before.get(name, 'none')}, now {after.get(name, 'none')}" for name in names]


def compare_numbers(old: Path, new: Path) -> int:
    """How many files differ."""
    files = [path for ending in ("csv", "json", "parquet") for path in old.rglob(f"*.{ending}")]
    files = [path for path in files if not {"store", "run-0", "run-1"} & set(path.parts)]
    different = [
        path for path in files if repr(content(path)) != repr(content(new / path.relative_to(old)))
    ]
    print(f"{len(files)} files compared, {len(different)} differ")
    for path in different:
        name = path.relative_to(old)
        is_claims = path.name.endswith(".claims.json")
        print(f"  {name}", *(changed_verdicts(path, new / name) if is_claims else ()), sep="\n    ")
    return len(different)


def compare_speed(trees: dict[str, Path], repetitions: int) -> None:
    times: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
    starts: dict[str, list[tuple[float, float]]] = {name: [] for name in trees}
    for _ in range(repetitions):
        for name, tree in trees.items():
            times[name].append(json.loads(run(tree, ["-c", SPEED, "deep"])))
            with tempfile.TemporaryDirectory() as cache:
                first, second = (
                    float(run(tree, ["-c", START], NUMBA_CACHE_DIR=cache)) for _ in range(2)
                )
            starts[name].append((first, second))
    for call in times["new"][0]:
        old, new = (min(trial[call] for trial in times[name]) for name in ("old", "new"))
        print(f"{call:50s} {old:8.3f} s {new:8.3f} s   {new / old:.3f}")
    for i, call in enumerate(("first use, compiled", "first use, from the cache")):
        old, new = (min(trial[i] for trial in starts[name]) for name in ("old", "new"))
        print(f"{call:50s} {old:8.3f} s {new:8.3f} s   {new / old:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    everything = not (options.numbers or options.speed)
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        git = ["git", "-C", str(HERE.parent)]
        subprocess.run(
            [*git, "worktree", "add", "--detach", str(old), options.revision], check=True
        )
        trees = {"old": old, "new": HERE.parent}
        try:
            if options.numbers or everything:
                folders = [
                    outputs(tree, Path(folder) / f"{name}-out") for name, tree in trees.items()
                ]
                compare_numbers(*folders)
            if options.speed or everything:
                compare_speed(trees, options.repetitions)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(old)], check=True)


if __name__ == "__main__":
    main()
