"""Locks that others hold and disks that are full: an interrupt ends the wait, and a failure to
write is one sentence.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jekyllhyde import files
from jekyllhyde.cli import main
from jekyllhyde.lab.store import Store
from lab_sweeps import interrupts_ignored

SPEC = """
name = "x"
method = "plan"
problem = {name = "chain", n_states = 4}
settings = {updates = 5}
series = [{label = "PG"}]
"""
SWEEP = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
from jekyllhyde import files
from jekyllhyde.cli import main

locked = files.locked

def told(path, *waiting):
    print("waiting", flush=True)
    return locked(path, *waiting)

files.locked = told
sys.exit(main(["sweep", *sys.argv[1:]]))
"""


def test_an_interrupt_ends_the_wait_for_a_lock(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SPEC)
    store = Store.open(tmp_path / "store", create=True)
    folders = ["--store", str(store.folder), "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", SWEEP, str(tmp_path / "x.toml"), *folders]
    with (
        files.locked(store.folder / ".lock"),
        interrupts_ignored(),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"jh: stopped\n"
    assert not list((store.folder / "parts").iterdir())
    assert main(["sweep", str(tmp_path / "x.toml"), *folders]) == 0


def test_what_is_raised_while_waiting_ends_the_wait(tmp_path: Path) -> None:
    def give_up() -> None:
        raise TimeoutError

    holder = files.locked(tmp_path / "lock")
    with holder, pytest.raises(TimeoutError), files.locked(tmp_path / "lock", give_up):
        pass
    with files.locked(tmp_path / "lock", give_up):  # it is free again
        pass


def test_a_lock_is_had_by_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        for _ in range(20):
            with files.locked(tmp_path / "lock"):
                inside.append(1)
                assert len(inside) == 1
                time.sleep(0.0001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == []


@pytest.mark.parametrize(
    "command", [["plan", "chain", "--updates", "5"], ["sweep", "x.toml"], ["figure", "1"]]
)
def test_a_full_disk_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    (tmp_path / "x.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    sync = os.fsync

    def full(descriptor: int) -> None:
        if "/out/" in os.readlink(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("jh: cannot write")
    assert lines[-1].endswith("No space left on device")
    assert not list((tmp_path / "out").glob("*.csv"))
    assert not list((tmp_path / "out").glob(".*"))


def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert files.plain_size(tmp_path / "pipe") == -1
    with pytest.raises(OSError, match="it is not a plain file"):
        files.read_file(tmp_path / "pipe", 100)
    (tmp_path / "large").write_bytes(bytes(101))
    with pytest.raises(OSError, match="it has 101 bytes, and may have 100"):
        files.read_file(tmp_path / "large", 100)
