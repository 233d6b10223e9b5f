"""What docs/reliability.md counts: sweeps that are killed here and on Ray, stores of a million
cells, and the suite where it is hard.

    python benchmarks/reliability.py kills --count 100
    python benchmarks/reliability.py ray --workers 10 --raylets 3 --heads 3
    python benchmarks/reliability.py cells --count 1000000
    python benchmarks/reliability.py suite --count 5 --logs FOLDER

Each prints what was tried, survived and failed, and adds it to benchmarks/results/reliability.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from jekyllhyde.errors import InputError  # noqa: E402
from jekyllhyde.lab import engine  # noqa: E402
from jekyllhyde.lab.spec import Cell  # noqa: E402
from jekyllhyde.lab.store import Store  # noqa: E402
from lab_sweeps import Forks, expected, held, rows, small  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "reliability.json"
MARK = f"jekyllhyde-reliability-{os.getpid()}"
STEPS = 400  # about as many calls as storing this sweep is made of


def kills(count: int, seed: int = 0) -> dict[str, Any]:
    """Kill a sweep, half of the times inside of a write; look at what is stored; finish it."""
    chance, experiments = random.Random(seed), [small(40)]
    tally = {"tried": count, "survived": 0, "failed": [], "stored when killed": 0, "not killed": 0}
    with tempfile.TemporaryDirectory() as place, Forks() as forks:
        whole = _finished(forks, Path(place) / "whole", experiments)
        for i in range(count):
            folder = Path(place) / f"store-{i}"
            started = time.perf_counter()
            if i % 2:
                child = forks.start(folder, 40, "short", die_at=chance.randrange(1, STEPS))
                assert forks.wait(child)
                was_killed = True
            else:
                child = forks.start(folder, 40, "short")
                was_killed = forks.kill(child, chance.uniform(0.05, 1.0))
            try:
                wrong = Store.open(folder).verify() if (folder / "manifest.json").exists() else {}
                before = held(Store.open(folder)) if any(folder.glob("parts/*.parquet")) else []
                tally["stored when killed"] += len(before)
                was_killed = was_killed and len(before) < len(expected(experiments))
                after = _finished(forks, folder, experiments)
                once = held(Store.open(folder)) == sorted(expected(experiments))
                fault = f"{wrong}, each run once: {once}, byte-equal: {after == whole}"
                is_good = not wrong and once and after == whole
            except InputError as error:
                is_good, fault = False, str(error)
            tally["not killed"] += not was_killed
            tally["survived"] += is_good
            tally["failed"] += [] if is_good else [f"kill {i}: {fault}"]
            print(f"kill {i}: {len(before)} runs stored, {time.perf_counter() - started:.1f} s")
    return tally


def _finished(forks: Forks, folder: Path, experiments: list[Any]) -> str:
    # The rows of a sweep that is run to its end.
    assert forks.wait(forks.start(folder, 40, "short"), 300.0)
    return rows(Store.open(folder), experiments)


# On Ray.

DRIVER = """
import sys
from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine
from jekyllhyde.lab.store import Store
from lab_sweeps import small
engine.TASK_SECONDS = 0.25
report = lambda status: print("done", status.tasks_done, flush=True)
store = Store.open(sys.argv[1], create=True)
sweep = small(60, settings={"trajectories": 4000, "points": 20})
try:
    engine.run([sweep], store, engine="ray", workers=2, report=report)
except InputError as error:
    print("refused", error, flush=True)
    sys.exit(2)
"""


def on_ray(workers: int, raylets: int, heads: int) -> dict[str, Any]:
    """Kill workers, raylets and heads under a sweep, then go on with it."""
    sweep = [small(60, settings={"trajectories": 4000, "points": 20})]
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        alone = Store.open(Path(place) / "alone", create=True)
        engine.run(sweep, alone, workers=1)
        whole = rows(alone, sweep)
        for name, count, times, victims in (
            ("workers", workers, 1, lambda pid: _processes("ray::_work")),
            ("raylets", raylets, raylets, lambda pid: _children(pid, "raylet")),
            ("heads", heads, heads, lambda pid: _children(pid, "gcs_server")),
        ):
            tally: dict[str, Any] = {"tried": count, "survived": 0, "failed": [], "seconds": []}
            for i in range(min(times, count)):
                folder = Path(place) / f"{name}-{i}"
                each = count if name == "workers" else 1
                status, said, seconds = _killed_on_ray(folder, each, victims)
                tally["seconds"].append(round(seconds, 1))
                store = Store.open(folder)
                wrong, stored = store.verify(), len(held(store))
                engine.run(sweep, store, workers=1)
                same = rows(store, sweep) == whole and held(store) == sorted(expected(sweep))
                told = status == 0 if name == "workers" else status == 2 and said.count("\n") == 0
                is_good = same and told and not wrong
                tally["survived"] += each * is_good
                if not is_good:
                    tally["failed"].append(f"{status} {said!r} {wrong} byte-equal: {same}")
                print(
                    name, i, status, said, f"{stored} runs stored", f"{seconds:.1f} s", flush=True
                )
            result[name] = tally
    return result


def _killed_on_ray(
    folder: Path, count: int, victims: Callable[[int], list[int]]
) -> tuple[int, str, float]:
    # The driver's exit status and what it said, and how long after the last kill it ended.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JEKYLLHYDE_TEST": MARK}
    killed, last, said = 0, 0.0, ""
    command = [sys.executable, "-c", DRIVER, str(folder)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = line[8:].strip() if line.startswith("refused") else said
            done = int(line.split()[1]) if line.startswith("done") else 0
            if done >= 3 * (killed + 1) and killed < count:
                for pid in victims(process.pid)[:1]:
                    os.kill(pid, signal.SIGKILL)
                    killed, last = killed + 1, time.perf_counter()
        status = process.wait()
    assert killed == count, f"only {killed} of {count} could be killed"
    return status, said, time.perf_counter() - last


def _processes(start: str) -> list[int]:
    # The processes of this script's clusters whose command line begins so.
    return [
        int(place.name)
        for place, command in _commands()
        if command.startswith(start) and MARK.encode() in _read(place / "environ")
    ]


def _children(parent: int, name: str) -> list[int]:
    return [
        int(place.name)
        for place, command in _commands()
        if Path(command.split("\0")[0]).name == name
        and _read(place / "stat").rsplit(b")", 1)[-1].split()[1:2] == [str(parent).encode()]
    ]


def _commands() -> Iterator[tuple[Path, str]]:
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            yield place, _read(place / "cmdline").decode(errors="replace")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


# Large stores.


def cells(count: int) -> dict[str, Any]:
    """A store of so many cells, a run each, in parts of ten thousand: open, look for what is
    missing, verify, merge.
    """
    template = small(1).cells[0]
    row = {"run": 0, "end": 10, "time": 7, "J_norm_end": 0.5}
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        store = Store.open(Path(place) / "store", create=True)
        started = time.process_time()
        for first in range(0, count, 10_000):
            blocks = [(_cell(template, i), [row]) for i in range(first, min(first + 10_000, count))]
            store.add(blocks, 1.0)
        seconds["make"] = round(time.process_time() - started, 2)
        digests = list(store.cells)
        other = Store.open(Path(place) / "other", create=True)

        def timed(name: str, work: Callable[[], Any]) -> Any:
            started = time.process_time()  # of this process: others may be at work beside it
            outcome = work()
            seconds[name] = round(time.process_time() - started, 2)
            print(name, seconds[name], flush=True)
            return outcome

        opened = timed("open", lambda: Store.open(store.folder))
        gaps = timed("look for missing", lambda: sum(len(opened.missing(d, 1)) for d in digests))
        wrong = timed("verify", opened.verify)
        taken = timed("merge", lambda: other.merge(opened))
        (store.folder / "index.jsonl").unlink()
        timed("open without index", lambda: Store.open(store.folder))
        assert (gaps, wrong, len(other.cells)) == (0, {}, count)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"cells": count, "parts": taken, "seconds": seconds, "GiB": round(memory, 2)}


class _Named(Cell):
    """A cell whose settings are not those of a run: it only has to be another one."""

    @property
    def text(self) -> str:
        return f'{{"number":{self.seed}}}'


def _cell(template: Cell, number: int) -> Cell:
    values = {"number": number}
    return _Named("many", "a", values, template.method, template.problem, {}, number)


def suite(count: int, loops: int, logs: Path) -> dict[str, Any]:
    """The whole suite so many times in a row beside so many busy loops, as a background job (Ctrl-C
    is ignored), without a home directory, under `python -O`, as an ordinary user.
    """
    if os.geteuid() == 0:
        raise SystemExit("the superuser may do anything; start this as the user who owns this tree")
    logs.mkdir(parents=True, exist_ok=True)
    homes = ("HOME", "USER", "LOGNAME", "PYTHONPATH")
    known = {key: text for key, text in os.environ.items() if key not in homes}
    environment = {key: text for key, text in known.items() if not key.startswith("XDG_")}
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    ends: list[str] = []
    try:
        for number in range(1, count + 1):
            path = logs / f"suite-{number}.log"
            with path.open("w") as log:
                done = subprocess.run(
                    ["make", "test"],
                    cwd=ROOT,
                    env=environment | {"PYTHONOPTIMIZE": "1"},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
                    check=False,
                )
            summaries = re.findall(r"=+ (.* in .*) =+\n", path.read_text())
            ends.append(f"exit {done.returncode}: {['no summary', *summaries][-1]}")
            print(f"{number}: {ends[-1]}", flush=True)
    finally:
        for process in busy:
            process.kill()
    survived = sum(end.startswith("exit 0:") for end in ends)
    return {"tried": count, "survived": survived, "ends": ends}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("kills", "ray", "cells", "suite"))
    parser.add_argument("--logs", type=Path, default=ROOT / "out")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--loops", type=int, default=2)
    for name, default in (("workers", 10), ("raylets", 3), ("heads", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    result = {
        "ray": lambda: on_ray(given.workers, given.raylets, given.heads),
        "kills": lambda: kills(given.count),
        "cells": lambda: cells(given.count),
        "suite": lambda: suite(given.count, given.loops, given.logs),
    }[given.what]()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(known | {given.what: result}, indent=1) + "\n")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
