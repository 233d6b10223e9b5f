"""Tasks on a Ray cluster, one that is running already or one started here.

Every worker writes to the same store, in a folder that all machines see; only the names of parts
travel back. A lost worker's task is run again.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from jekyllhyde.errors import InputError
from jekyllhyde.lab.engine import Done, Status, Task, execute
from jekyllhyde.lab.store import Store
from jekyllhyde.parallel import count_threads

RETRIES = (
    10  # of a task whose worker is lost; one that kills its worker every time must end some time
)
QUEUED = 2  # tasks in flight per core: the next is there when one ends


def run_on_ray(
    tasks: list[Task], folder: Path, address: str | None, workers: int | None, status: Status
) -> Done:
    """Run tasks on the cluster at `address` ("auto" for the one on this machine; None starts one
    with `workers` cores).
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise InputError(
            "engine is 'ray', but Ray is not installed; install jekyllhyde[ray], or use engine 'local'"
        ) from None
    with _connected(ray, address, workers):
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        place = str(folder.resolve())
        waiting = iter(tasks)
        pending: dict[Any, Task] = {}
        try:
            while True:
                cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
                room = (
                    workers if workers and address else QUEUED * cores
                )  # on a cluster of others, no more than asked for
                for task in itertools.islice(waiting, max(0, room - len(pending))):
                    pending[remote.remote(task, place)] = task
                if not pending:
                    break
                ready, others = ray.wait(list(pending), num_returns=1, timeout=0.5)
                if ready and others:
                    ready += ray.wait(others, num_returns=len(others), timeout=0)[0]
                for reference in ready:
                    task = pending.pop(reference)
                    _, failed = _result(ray, reference, task)
                    status.work_done += task.work
                    yield task, failed
                if not ready:
                    yield None, 0
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _work(task: Task, folder: str) -> tuple[str | None, int]:
    manifest = Path(folder) / "manifest.json"
    return execute(task, _store(folder, manifest.stat().st_mtime_ns if manifest.exists() else 0))


@lru_cache(maxsize=4)
def _store(folder: str, made: int) -> Store:
    """Opened once per worker: later tasks need only what is new in its index. `made` tells a store
    from one that took its place.
    """
    return Store.open(folder)


def _result(ray: Any, reference: Any, task: Task) -> tuple[str | None, int]:
    try:
        part, failed = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.NodeDiedError,
        ray.exceptions.ObjectLostError,
    ) as error:
        cells = ", ".join(cell.id for cell, _ in task.blocks[:3]) + (
            ", ..." if len(task.blocks) > 3 else ""
        )
        raise InputError(
            f"{RETRIES + 1} workers were lost with the same task ({cells}): {str(error).splitlines()[0]}"
        ) from None
    return part, failed


@contextlib.contextmanager
def _connected(ray: Any, address: str | None, workers: int | None) -> Iterator[None]:
    """A connection to the cluster, for as long as it is needed; one that the caller has made is
    used and left alone.
    """
    if ray.is_initialized():
        yield
        return
    quiet = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }  # no network, no advice
    for name, value in quiet.items():
        os.environ.setdefault(name, value)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        options |= {
            "num_cpus": count_threads(workers),
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
        }
    try:
        ray.init(address=address or "local", **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        what = (
            "no Ray cluster can be started"
            if address is None
            else f"address is {address!r}; no Ray cluster can be reached there"
        )
        raise InputError(f"{what} ({str(error).splitlines()[0]})") from None
    try:
        yield
    finally:
        ray.shutdown()
