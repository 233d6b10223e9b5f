"""The Ray engine: the same rows as here, with workers and a node lost on the way."""

from __future__ import annotations

import importlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jekyllhyde import errors
from jekyllhyde.errors import InputError
from jekyllhyde.lab import cluster as ours
from jekyllhyde.lab import engine
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
from lab_sweeps import expected, held, interrupts_ignored, planned, rows, small

MARK = f"jekyllhyde-test-{os.getpid()}"
NODE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 * 2**20}


def sweep(runs: int = 40) -> list[Experiment]:
    return [small(runs, settings={"trajectories": 4000, "points": 20}), planned()]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes on this machine."""
    pytest.importorskip("ray")
    os.environ.update(
        {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "JEKYLLHYDE_TEST": MARK,
            "RAY_AUTH_TOKEN": secrets.token_hex(32),  # there may be no home to keep one in
        }
    )
    found: Any = importlib.import_module("ray.cluster_utils").Cluster()
    for _ in range(2):
        found.add_node(**NODE)
    yield found
    found.shutdown()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = Store.open(tmp_path_factory.mktemp("whole") / "store", create=True)
    engine.run(sweep(), store, workers=1)
    return rows(store, sweep())


def busy_workers() -> dict[int, int]:
    """The processes of this test's cluster that are at a task, with their parents, one a node."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                if (place / "cmdline").read_bytes().startswith(b"ray::_work") and MARK.encode() in (
                    place / "environ"
                ).read_bytes():
                    found[int(place.name)] = int(
                        (place / "stat").read_text().rsplit(")", 1)[1].split()[1]
                    )
            except OSError:  # it has ended
                continue
    return found


@pytest.mark.long
def test_two_nodes_and_a_killed_worker(
    cluster: Any, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.25)
    store = Store.open(tmp_path / "store", create=True)
    killed: list[int] = []
    nodes: set[int] = set()

    def report(status: engine.Status) -> None:
        workers = busy_workers()
        nodes.update(workers.values())
        if status.tasks_done >= 3 and workers and not killed:
            killed.append(next(iter(workers)))
            os.kill(killed[0], signal.SIGKILL)

    status = engine.run(sweep(), store, engine="ray", address=cluster.address, report=report)
    assert killed
    assert len(nodes) == 2
    assert status.tasks_done == status.tasks > 8
    assert status.runs_done == status.runs
    assert status.work_done == pytest.approx(status.work)
    assert held(store) == sorted(expected(sweep()))
    assert rows(store, sweep()) == whole
    assert store.verify() == {}
    assert engine.run(sweep(), store, engine="ray", address=cluster.address).tasks == 0


@pytest.mark.long
def test_a_lost_node(
    cluster: Any, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.25)
    store = Store.open(tmp_path / "store", create=True)
    extra = [cluster.add_node(**NODE)]

    def report(status: engine.Status) -> None:
        if status.tasks_done >= 3 and extra:
            cluster.remove_node(extra.pop(), allow_graceful=False)

    engine.run(sweep(), store, engine="ray", address=cluster.address, report=report)
    assert not extra
    assert held(store) == sorted(expected(sweep()))
    assert rows(store, sweep()) == whole


def test_failed_runs_and_errors_come_back(cluster: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("def density(t, mdp, pi, evaluation):\n    raise OSError('no luck')\n")
    experiment = planned(series=[{"label": "mine", "density": f"{own}:density"}, {"label": "PG"}])
    store = Store.open(tmp_path / "store", create=True)
    status = engine.run([experiment], store, engine="ray", address=cluster.address)
    assert status.failed == 6
    found = store.table(
        {cell.digest for cell in experiment.cells}, ["series", "failure"]
    ).to_pylist()
    assert {(row["series"], row["failure"]) for row in found} == {
        ("mine", "OSError: no luck"),
        ("PG", None),
    }

    (tmp_path / "store").rename(tmp_path / "elsewhere")
    lost = Store(tmp_path / "elsewhere")
    lost.refresh()
    lost.folder = tmp_path / "store"
    with pytest.raises(
        InputError, match=r"there is no store|cannot be listed|cannot be written to"
    ):
        for _ in ours.run_on_ray(
            engine.tasks_of([small()], lost),
            lost.folder,
            cluster.address,
            1,
            engine.Status(1, 1, 1.0),
        ):
            pass


@pytest.mark.long
def test_a_task_that_kills_its_workers_ends(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "RETRIES", 1)
    own = tmp_path / "own.py"
    own.write_text("import os\ndef density(t, mdp, pi, evaluation):\n    os.kill(os.getpid(), 9)\n")
    experiment = planned(series=[{"label": "deadly", "density": f"{own}:density"}], vary={})
    store = Store.open(tmp_path / "store", create=True)
    with pytest.raises(
        InputError, match=r"2 workers were lost with the same task \(planned/deadly\)"
    ):
        engine.run([experiment], store, engine="ray", address=cluster.address)
    assert store.verify() == {}


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from jekyllhyde.lab import cluster as ours
from jekyllhyde.lab import engine
from jekyllhyde.lab.spec import Experiment
from jekyllhyde.lab.store import Store
engine.TASK_SECONDS = 0.3
settings = {"trajectories": 10**6, "target": 2.0}
common = {"method": "learn", "problem": {"name": "garnet"}, "series": [{"label": "a"}]}
slow = Experiment(name="slow", settings=settings, runs=50, **common)
def report(status):
    print("working", flush=True)
try:
    store = Store.open(sys.argv[1], create=True)
    engine.run([slow], store, engine="ray", address=sys.argv[2], workers=2, report=report)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_an_interrupt_cancels_the_tasks(cluster: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "store"), cluster.address]
    with interrupts_ignored():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        while not busy_workers():
            assert process.stdout.readline()  # ours, or one of Ray's
        process.send_signal(signal.SIGINT)
        started = time.perf_counter()
        assert "stopped" in process.stdout.read().splitlines()
        assert process.wait(30) == 0
        assert time.perf_counter() - started < 15
    for _ in range(100):
        if not busy_workers():
            break
        time.sleep(0.1)
    assert busy_workers() == {}
    assert Store.open(tmp_path / "store").verify() == {}


def test_a_cluster_is_started_where_there_is_none(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    store = Store.open(tmp_path / "store", create=True)
    status = engine.run([planned()], store, engine="ray", workers=1)
    assert status.runs_done == len(held(store)) == 12
    assert not ray.is_initialized()


def test_a_token_is_made_where_there_is_no_home_to_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    assert not ours._has_token()
    (tmp_path / "nowhere" / ".ray").mkdir(parents=True)
    (tmp_path / "nowhere" / ".ray" / "auth_token").touch()
    assert ours._has_token()


def test_without_ray_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(errors.EXTRAS, "ray", ("no_such_module",))
    store = Store.open(tmp_path / "store", create=True)
    with pytest.raises(InputError, match=r"no_such_module; install jekyllhyde\[ray\]"):
        engine.run([planned()], store, engine="ray")


def test_a_head_that_does_not_answer_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        head = f"127.0.0.1:{server.getsockname()[1]}"
        ours._check_head(head)
    with pytest.raises(
        InputError, match=rf"head of the Ray cluster, {head}, does not answer; what"
    ):
        ours._check_head(head)
    ours._check_head("")  # one that cannot be asked from here


def test_a_lost_raylet_is_one_sentence() -> None:
    ray = pytest.importorskip("ray")

    def get(reference: Any) -> Any:
        raise ray.exceptions.LocalRayletDiedError

    task = engine.tasks_of([planned()], Store(Path()))[0]
    with pytest.raises(
        InputError, match=r"the Ray cluster is lost \(.*raylet died.*start the sweep"
    ):
        ours._failed(SimpleNamespace(get=get, exceptions=ray.exceptions), None, task)


TOKEN = """
import os, sys
from jekyllhyde.lab import cluster
cluster.need = lambda extra: None
cluster.importlib.import_module = lambda name: sys.exit(os.environ.get("RAY_AUTH_MODE"))
next(cluster.run_on_ray([], None, eval(sys.argv[1]), 1, None))
"""


@pytest.mark.parametrize(("address", "mode"), [("None", "token"), ("'auto'", "None")])
def test_a_cluster_of_ones_own_takes_no_strangers(address: str, mode: str) -> None:
    """Ray looks for its mode when it is imported, so it is there by then."""
    environment = {key: value for key, value in os.environ.items() if key[:8] != "RAY_AUTH"}
    command = [sys.executable, "-c", TOKEN, address]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ("" if mode == "None" else mode)
