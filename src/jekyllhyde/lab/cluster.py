"""Tasks on a Ray cluster, one that is running already or one started here.

Every worker writes to the same store, in a folder that all machines see; only the names of parts
travel back. A lost worker's task is run again.
"""

import atexit
import contextlib
import importlib
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from jekyllhyde.errors import InputError, need
from jekyllhyde.lab.engine import Done, Status, Task, execute, keep_busy
from jekyllhyde.lab.store import Store
from jekyllhyde.lab.store_files import first_line
from jekyllhyde.parallel import count_threads

RETRIES = 10  # of a task whose worker is lost; one that kills every worker must end some time
GO_ON = "what is stored stays, start the sweep again to go on"
WATCH = 5.0  # seconds between two looks at how large the cluster is
QUEUED = 2  # tasks in flight per core: the next is there when one ends


def run_on_ray(
    tasks: list[Task], folder: Path, address: str | None, workers: int | None, status: Status
) -> Done:
    """Run tasks on the cluster at `address` ("auto" for the one on this machine; None starts one
    with `workers` cores).
    """
    need("ray")
    if address is None and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        # Ray listens on the network and runs what it is told; it reads this when it is imported.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    elif address is None and not _has_token():
        # Ray would keep one in the home directory, which may not be there
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    ray: Any = importlib.import_module("ray")
    with _connected(ray, address, workers):
        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        pending: dict[Any, Task] = {}
        head, resources = _head(ray), ray.cluster_resources()
        over = threading.Event()

        def watch() -> None:  # in a thread: what asks a head that is gone never comes back
            while not over.wait(WATCH):
                with contextlib.suppress(Exception):
                    resources.update(ray.cluster_resources())

        threading.Thread(target=watch, daemon=True).start()

        def room() -> int:
            _check_head(head)
            if workers and address:  # on a cluster of others, no more than asked for
                return workers
            return QUEUED * max(1, int(resources.get("CPU", 1)))

        try:
            for task, failed in keep_busy(
                tasks,
                pending,
                room=room,
                submit=lambda task: remote.remote(task, str(folder.resolve())),
                ended=lambda pending: ray.wait(list(pending), num_returns=1, timeout=0.5)[0],
                failed=lambda reference, task: _failed(ray, reference, task),
            ):
                status.work_done += task.work if task else 0.0
                yield task, failed
        finally:
            over.set()
            if _answers(head):
                for reference in pending:
                    ray.cancel(reference, force=True)


def _work(task: Task, folder: str) -> tuple[str | None, int]:
    manifest = Path(folder) / "manifest.json"
    return execute(task, _store(folder, manifest.stat().st_mtime_ns if manifest.exists() else 0))


@lru_cache(maxsize=4)
def _store(folder: str, made: int) -> Store:
    # Opened once per worker: later tasks need only what is new in its index. `made` tells a store
    # from one that took its place.
    return Store.open(folder)


def _failed(ray: Any, reference: Any, task: Task) -> int:
    # How many runs of a task failed; the error of a task that did.
    failure = ray.exceptions
    try:
        return int(ray.get(reference)[1])
    except failure.RayTaskError as error:
        raise error.cause from None
    except (failure.WorkerCrashedError, failure.NodeDiedError, failure.ObjectLostError) as error:
        cells = [cell.id for cell, _ in task.blocks[:3]] + ["..."] * (len(task.blocks) > 3)
        raise InputError(
            f"{RETRIES + 1} workers were lost with the same task ({', '.join(cells)}): "
            f"{first_line(error)}"
        ) from None
    except failure.RayError as error:
        raise InputError(f"the Ray cluster is lost ({first_line(error)}); {GO_ON}") from None


def _has_token() -> bool:
    path = os.environ.get("RAY_AUTH_TOKEN_PATH", os.path.expanduser("~/.ray/auth_token"))
    return "RAY_AUTH_TOKEN" in os.environ or os.path.exists(path)


def _head(ray: Any) -> str:
    # The head's address; "" where it cannot be asked from here, behind a proxy for instance.
    address = str(ray.get_runtime_context().gcs_address)
    return address if _answers(address) else ""


def _answers(head: str) -> bool:
    if not head:
        return True
    host, _, port = head.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), 5.0).close()
    except (OSError, ValueError):
        return False
    return True


def _leave() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(2)


def _check_head(head: str) -> None:
    if not _answers(head):
        raise InputError(f"the head of the Ray cluster, {head}, does not answer; {GO_ON}")


@contextlib.contextmanager
def _connected(ray: Any, address: str | None, workers: int | None) -> Iterator[None]:
    # A connection to the cluster, for as long as it is needed; one that the caller has made is used
    # and left alone.
    if ray.is_initialized():
        yield
        return
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"):
        os.environ.setdefault(name, "0")  # no network, no advice
    options: dict[str, Any] = {"address": address or "local"}
    refusal = f"address is {address!r}; no Ray cluster can be reached there"
    if address is None:
        refusal = "no Ray cluster can be started"
        options = {
            "address": "local",
            "num_cpus": count_threads(workers),
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
        }
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", **options)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{refusal} ({first_line(error)})") from None
    head = _head(ray)
    try:
        yield
    finally:
        if _answers(head):
            ray.shutdown()
        else:  # Ray would wait for it, in vain, and its threads do not survive Python's end
            atexit.register(_leave)
