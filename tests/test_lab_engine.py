"""The engine: whatever happens to a sweep, going on with it gives the rows of one that nothing
happened to.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jekyllhyde.errors import InputError
from jekyllhyde.lab import engine
from jekyllhyde.lab.methods import METHODS
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from lab_sweeps import Forks, expected, held, interrupts_ignored, long, planned, rows, small

OWN = """
import numpy as np

def breaks_off(t, mdp, pi, evaluation):
    return np.full(mdp.n_states, np.nan if t == 10 and mdp.n_states == 5 else 1.0)

def raises(t, mdp, pi, evaluation):
    if t == 10 and mdp.n_states == 5:
        raise ZeroDivisionError("by my own fault \\udcff")
    return np.ones(mdp.n_states)

def falling(t):
    return 1.0 / t

def sinks(t):
    return 1.0 - t / 1000
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as process:
        yield process


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def uninterrupted(tmp_path: Path, experiments: list[Experiment]) -> str:
    whole = Store.open(tmp_path / "whole", create=True)
    engine.run(experiments, whole, workers=1)
    return rows(whole, experiments)


# Killed.


@pytest.mark.long
def test_killed_at_twenty_random_moments(forks: Forks, tmp_path: Path) -> None:
    """Each a little after none to five parts more were stored, so that the moments are spread on
    slow machines too.
    """
    moments, folder, runs = random.Random(20), tmp_path / "store", 150
    sizes = []
    for _ in range(20):
        pid = forks.start(folder, runs)
        before, more = len(list(folder.glob("parts/*.parquet"))), moments.randrange(6)
        while len(list(folder.glob("parts/*.parquet"))) < before + more and not forks.wait(
            pid, 0.002
        ):
            pass
        assert forks.kill(pid, moments.uniform(0.0, 0.05)), (
            "the sweep has ended before it was killed 20 times"
        )
        if (folder / "manifest.json").exists():
            store = Store.open(folder)
            assert store.verify() == {}
            sizes.append(len(store.parts))
    assert len(set(sizes)) > 8, "hardly any part was stored between two kills"
    assert forks.wait(forks.start(folder, runs))
    store = Store.open(folder)
    assert store.verify() == {}
    assert held(store) == sorted(expected(long(runs)))
    assert rows(store, long(runs)) == uninterrupted(tmp_path, long(runs))


@pytest.mark.parametrize("later", [0, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_every_step_of_storing(forks: Forks, tmp_path: Path, later: int) -> None:
    """At the start and in the middle of a sweep, while a second process works on the same runs."""
    whole = uninterrupted(tmp_path, [small(3)])
    for step in range(1 + later, 19 + later):
        folder = tmp_path / f"store{step}"
        victim = forks.start(folder, 3, "short", die_at=step)
        other = forks.start(folder, 3, "short")
        assert forks.wait(victim)
        assert forks.wait(other)
        store = Store.open(folder)
        assert held(store) == sorted(expected([small(3)])), f"killed at step {step}"
        assert rows(store, [small(3)]) == whole
        assert store.verify() == {}


def test_two_processes_on_one_store(forks: Forks, tmp_path: Path) -> None:
    """The same sweep, and the same with fewer and with more runs, all at once."""
    for pid in [forks.start(tmp_path / "store", runs) for runs in (20, 30, 30, 45)]:
        assert forks.wait(pid)
    store = Store.open(tmp_path / "store")
    assert held(store) == sorted(expected(long(45)))
    assert rows(store, long(45)) == uninterrupted(tmp_path, long(45))
    assert store.verify() == {}


# Interrupted.

SWEEP = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from jekyllhyde.lab import engine
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
engine.TASK_SECONDS = 0.3
plan = sys.argv[2] == "plan"
settings = {"updates": 10**9, "eta": 1e-9} if plan else {"trajectories": 10**8}
problem = {"name": "chain", "n_states": 30} if plan else {"name": "garnet", "n_states": 60}
series = {"label": "a"} | ({} if plan else {"agent": "on-policy"})  # no replay to fill memory
common = {"method": sys.argv[2], "problem": problem, "series": [series]}
short = {name: 10 for name in settings if name != "eta"}
quick = Experiment(name="quick", settings=short, **common)
slow = Experiment(name="slow", settings={**settings, "target": 2.0}, runs=50, **common)
store = Store.open(sys.argv[1], create=True)
engine.run([quick], store)
def report(status):
    print("working", flush=True)
try:
    engine.run([slow], store, workers=2, report=report)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("method", ["plan", "learn"])
def test_an_interrupt_stops_within_two_seconds(tmp_path: Path, method: str) -> None:
    command = [sys.executable, "-c", SWEEP, str(tmp_path / "store"), method]
    with interrupts_ignored():
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(4):  # it is well under way
            assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        started = time.perf_counter()
        assert process.wait(60) == 0
        assert time.perf_counter() - started < 5  # two seconds on a machine of its own
        assert process.stdout.read().endswith("stopped\n")
        assert process.stderr.read() == ""
    store = Store.open(tmp_path / "store")
    assert store.verify() == {}
    assert len(held(store)) == 1
    assert not list((tmp_path / "store" / "parts").glob(".*"))


def test_an_error_in_the_report_stops_the_workers(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an interrupt does that comes while the progress bar is drawn: nothing goes on behind the
    scenes.
    """
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.01)

    def report(status: engine.Status) -> None:
        if status.tasks_done == 2:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt) as caught:
        engine.run([small(50)], store, workers=2, report=report)
    assert threading.active_count() == before
    stored = len(held(store))
    time.sleep(0.3)
    assert len(held(store)) == stored < 300
    assert caught.type is KeyboardInterrupt


# Going on.


@pytest.mark.parametrize("workers", [1, 3])
def test_more_runs_more_points_more_series_compute_only_what_is_missing(
    store: Store, tmp_path: Path, workers: int
) -> None:
    engine.run([small(3)], store, workers=workers)
    first = {path: path.read_bytes() for path in (store.folder / "parts").iterdir()}
    series = [*small().series, {"label": "direct", "parametrization": "direct"}]
    wider = small(5, vary={"eta": [0.5, 1.0, 2.0, 4.0]}, series=series)
    status = engine.run([wider], store, workers=workers)
    assert status.runs_done == status.runs == 12 * 5 - 6 * 3
    assert status.work_done == pytest.approx(status.work)
    assert held(store) == sorted(expected([wider]))
    assert all(path.read_bytes() == content for path, content in first.items())
    assert rows(store, [wider]) == uninterrupted(tmp_path, [wider])
    assert engine.run([wider], store, workers=workers).tasks == 0


def test_rows_do_not_depend_on_how_the_work_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments = [small(7), planned(2)]
    whole = uninterrupted(tmp_path, experiments)
    for seconds, workers in ((1e-9, 1), (0.011, 2), (0.03, 3)):
        monkeypatch.setattr(engine, "TASK_SECONDS", seconds)
        store = Store.open(tmp_path / f"{seconds}", create=True)
        engine.run(experiments, store, workers=workers)
        assert rows(store, experiments) == whole


def test_another_seed_gives_other_rows(store: Store) -> None:
    experiments = [small(2), small(2, seed=1)]
    engine.run(experiments, store, workers=1)
    first, second = (
        store.table([one.cells[0].digest], ["J_norm"]).to_pylist() for one in experiments
    )
    assert repr(first) != repr(second)


def test_tasks_are_of_similar_work_and_hold_every_run_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments = [small(11), planned(3), small(7)]
    for seconds in (0.02, 0.2, 10.0):
        monkeypatch.setattr(engine, "TASK_SECONDS", seconds)
        tasks = engine.tasks_of(experiments, store)
        runs = [
            (cell.digest, run) for task in tasks for cell, block in task.blocks for run in block
        ]
        assert sorted(runs) == sorted(expected(experiments))
        assert all(seconds <= task.work < 2.1 * seconds for task in tasks[:-1])


def test_tasks_with_curves_stay_small_in_memory(store: Store) -> None:
    """However quick the runs: at most 2000 curves, or 100,000 rows without, in one task."""
    curves = engine.tasks_of([small(10_000, settings={"trajectories": 1})], store)
    assert max(task.runs for task in curves) <= 2000
    times = engine.tasks_of([small(100_000, settings={"trajectories": 1, "target": 0.5})], store)
    assert max(task.runs for task in times) <= 100_000


# Failing.


def test_failed_runs_are_rows_with_a_reason_and_the_sweep_goes_on(store: Store, own: Path) -> None:
    series: list[dict[str, Any]] = [
        {"label": "nan", "density": f"{own}:breaks_off"},
        {"label": "raises", "density": f"{own}:raises"},
        {"label": "fine"},
    ]
    experiment = planned(3, series=series, settings={"updates": 40})
    status = engine.run([experiment], store, workers=2)
    assert status.failed == 6
    assert held(store) == sorted(expected([experiment]))
    reasons = {
        "nan": "density has an entry that is negative or not finite",
        "raises": "ZeroDivisionError: by my own fault ?",
    }
    for cell in experiment.cells:
        for row in store.table([cell.digest], ["failure", "J_norm"]).to_pylist():
            fails = cell.values["n_states"] == 5 and cell.series in reasons
            assert row["failure"] == (reasons[cell.series] if fails else None)
            assert (row["J_norm"] is None) == fails
    assert engine.run([experiment], store).tasks == 0
    assert sum(one.failed for some in store.parts.values() for one in some) == 6


def test_a_learning_run_that_raises_fails_alone(
    store: Store, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its block is run again in halves; the others are bit-identical to those without it."""
    whole = uninterrupted(tmp_path, [small(9)])
    method = METHODS["learn"]

    def unlucky(problem: Any, settings: Any, stream: int, runs: range, progress: Any) -> Any:
        if 5 in runs and settings["eta"] == 1.0:
            raise RuntimeError("run 5")
        return method.rows(problem, settings, stream, runs, progress)

    monkeypatch.setitem(METHODS._records, "learn", replace(method, rows=unlucky))
    status = engine.run([small(9)], store, workers=1)
    assert status.failed == 2
    failed = [
        row
        for row in store.table({cell.digest for cell in small(9).cells}).to_pylist()
        if row["failure"]
    ]
    assert {(row["x"], row["run"], row["failure"]) for row in failed} == {
        (1.0, 5, "RuntimeError: run 5")
    }
    monkeypatch.undo()
    assert len(held(store)) == len(expected([small(9)]))
    fine = [cell.digest for cell in small(9).cells if cell.values["eta"] != 1.0]
    whole_store = Store.open(tmp_path / "whole")
    assert repr(store.table(fine).to_pydict()) == repr(whole_store.table(fine).to_pydict())
    hit = [cell.digest for cell in small(9).cells if cell.values["eta"] == 1.0]
    ours, theirs = (
        repr([row for row in one.table(hit).to_pylist() if row["run"] != 5])
        for one in (store, whole_store)
    )
    assert ours == theirs
    assert whole


def test_a_schedule_that_leaves_its_range_fails_its_runs(store: Store, own: Path) -> None:
    experiment = small(
        2,
        series=[
            {"label": "good", "epsilon": f"{own}:falling"},
            {"label": "bad", "epsilon": f"{own}:sinks"},
        ],
    )
    status = engine.run([experiment], store, workers=1)
    assert status.failed == 6
    found = store.table(
        {cell.digest for cell in experiment.cells}, ["series", "failure"]
    ).to_pylist()
    assert {row["failure"] is None for row in found if row["series"] == "good"} == {True}
    assert all(
        "the schedule sinks gives -0.00" in row["failure"]
        for row in found
        if row["series"] == "bad"
    )


def test_an_mdp_that_cannot_be_made_fails_its_run(store: Store) -> None:
    """Small random MDPs have no goal that is far enough but can be reached, for some seeds."""
    experiment = planned(
        40, problem={"name": "garnet", "n_states": 3, "n_actions": 2, "connectivity": 1}, vary={}
    )
    status = engine.run([experiment], store, workers=2)
    assert 0 < status.failed < 80
    reasons = {
        row["failure"]
        for row in store.table({cell.digest for cell in experiment.cells}, ["failure"]).to_pylist()
    }
    assert all(
        reason is None or "take another seed" in reason or "undefined" in reason
        for reason in reasons
    )


def test_no_memory_is_not_a_failure_of_the_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setitem(METHODS._records, "learn", replace(METHODS["learn"], rows=exhausted))
    with pytest.raises(MemoryError):
        engine.run([small(2)], store, workers=1)
    assert store.parts == {}


def test_a_file_edited_during_the_sweep_stops_it(
    store: Store, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored under a digest is what the digest was made of."""
    monkeypatch.setattr(engine, "TASK_SECONDS", 1e-9)
    experiment = planned(series=[{"label": "mine", "density": f"{own}:raises"}])

    def report(status: engine.Status) -> None:
        if status.tasks_done == 1:
            edited = own.with_name("edited.py")
            edited.write_text(OWN.replace("np.ones", "2 * np.ones"))
            edited.replace(own)  # at once, as editors do

    with pytest.raises(
        InputError, match="not those that the sweep was started with; start it again"
    ):
        engine.run([experiment], store, workers=1, report=report)
    again = planned(series=[{"label": "mine", "density": f"{own}:raises"}])
    assert not {cell.digest for cell in again.cells} & {cell.digest for cell in experiment.cells}
    engine.run([again], store, workers=1)
    assert expected([again]) <= set(held(store))


def test_a_store_that_vanishes_is_one_sentence(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.01)
    moved = store.folder.with_name("moved")

    def report(status: engine.Status) -> None:
        with contextlib.suppress(FileNotFoundError):
            store.folder.rename(moved)

    with pytest.raises(InputError, match=r"cannot be written to: No such file or directory"):
        engine.run([small(20)], store, workers=2, report=report)


# Estimating.


@pytest.mark.parametrize(
    "experiment",
    [small(3), planned(), small(1, settings={"trajectories": 1}), planned(settings={"updates": 0})],
)
def test_a_calibration_runs_little_and_stores_nothing(store: Store, experiment: Experiment) -> None:
    tasks, seconds = engine.calibrate([experiment], store, workers=1)
    assert sum(task.runs for task in tasks) == len(expected([experiment]))
    assert 0.0 <= seconds < 60.0
    assert store.parts == {}
    engine.run([experiment], store, workers=1)
    assert engine.calibrate([experiment], store) == ([], 0.0)


def test_an_engine_that_does_not_exist(store: Store) -> None:
    with pytest.raises(InputError, match="engine is 'slurm'; it must be one of local, ray"):
        engine.run([small()], store, engine="slurm")


CORE = """
import sys
blocked = "matplotlib plotly jinja2 markdown_it tyro rich jax equinox optax ray".split()
sys.modules.update(dict.fromkeys(blocked))
from lab_sweeps import planned, small
from jekyllhyde.lab import engine
from jekyllhyde.lab.figures import PANELS
from jekyllhyde.lab.panel import panel_of, read
from jekyllhyde.lab.store import Store
store = Store.open(sys.argv[1], create=True)
for experiment in (small(1), planned()):
    engine.run([experiment], store, workers=1)
    print(read(panel_of(experiment), store).runs)
"""


def test_sweeps_run_with_the_core_install(tmp_path: Path) -> None:
    """Without pictures, pages, the command line, networks and Ray."""
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", CORE, str(tmp_path / "store")],
        cwd=here,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1"]
