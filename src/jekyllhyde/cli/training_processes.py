"""Runs of `jh train` in processes of their own, which leave their agents in the folder."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from jekyllhyde.cli.training_folder import TrainingFolder
from jekyllhyde.cli.training_task import Stopped, Task
from jekyllhyde.errors import InputError


def run_in_processes(task: Task, folder: TrainingFolder, workers: int) -> None:
    """All runs of a task, so many at a time. Ctrl-C reaches each of them, and each saves."""
    line = ["train", *task.arguments, "--resume" if task.resume else "--out", str(folder.path)]
    resume = task.how_to_go_on(folder.path)
    context = multiprocessing.get_context("spawn")  # JAX's threads do not survive a fork
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore) as pool:
        futures = [pool.submit(train_run, line, run) for run in range(folder.runs)]
        try:
            for future in futures:
                future.result()
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            for child in multiprocessing.active_children():
                if child.pid is not None:
                    os.kill(child.pid, signal.SIGINT)
            pool.shutdown(wait=True)
            raise Stopped(f"stopped and saved; {resume}") from None
        except BrokenProcessPool:
            raise InputError(f"a process of a run was killed; {resume}") from None


def train_run(arguments: list[str], run: int) -> None:
    """One run, as its process does it."""
    from jekyllhyde.cli import parse

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        parse(arguments).learn_run(run)
    finally:
        _ignore()


def _ignore() -> None:
    # Between runs Ctrl-C is the first process's affair.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
