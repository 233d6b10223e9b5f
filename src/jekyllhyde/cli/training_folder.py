"""What `jh train` leaves of an agent in an environment, and finds there again.

    agent/   best/                    the newest checkpoint, and that of the best evaluation
    episodes.parquet                  run, episode, step, return, length, hyde (1 where he led)
    evaluations.parquet               run, step, mean, lo, hi, episodes
    train.png                         returns against steps
    config.toml                       the command, all settings, versions and hardware

With several runs, each has its checkpoints in a folder of its own, run-0 and so on.
"""

import dataclasses
import os
import platform
import shlex
import sys
import sysconfig
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde import intervals, plotting, references
from jekyllhyde.agent import LAST, AgentRecord, Episodes
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.files import read_file, write_folder, write_parquet, write_toml
from jekyllhyde.policy_export import versions

CONFIG, MOST = "config.toml", 1 << 20  # and its bytes
INNER = "env="  # among the keywords of an environment: the id of one that it is made of


class TrainingFolder(NamedTuple):
    """A folder, how many runs it has, and whose they are."""

    path: Path
    runs: int
    record: AgentRecord

    def checkpoint(self, run: int, name: str = "agent") -> Path:
        """Where a run keeps its newest agent, or its best."""
        parent = self.path if self.runs == 1 else self.path / f"run-{run}"
        return parent / name / "agent.npz" if self.record.tabular else parent / name

    def save(self, agent: Any, run: int, name: str = "agent") -> None:
        """Put an agent in the place of the one before."""
        place = self.checkpoint(run, name)
        if self.record.tabular:  # one file, in a folder that is exchanged as a whole
            write_folder(place.parent, lambda partial: agent.save(partial / place.name))
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            agent.save(place)

    def load(self, run: int, env: Any, name: str = "agent", **own: Any) -> Any:
        """The agent of a run; None where there is none yet. Settings of the user's own are not in
        it, and given.
        """
        place = self.checkpoint(run, name)
        folder = place.parent if self.record.tabular else place
        is_there = folder.exists() or folder.is_symlink()
        return self.record.cls.load(place, env, **own) if is_there else None

    def require_empty(self) -> None:
        """Refuse a folder that holds a training: it would be lost."""
        places = [self.path / "agent", *self.path.glob("run-*/agent")]
        name = str(self.path)
        require(
            not any(place.exists() for place in places),
            f"out is {name!r}, which holds a training; go on with jh train --resume {name}, or "
            "give another folder",
        )

    def clear(self) -> None:
        """Remove what a process that was killed has left half-written."""
        for leftover in self.path.glob(".*.tmp"):
            if leftover.is_file():
                leftover.unlink()

    def write_config(self, arguments: Sequence[str], settings: dict[str, Any]) -> None:
        """The command and where it ran."""
        plain = {key: value for key, value in settings.items() if value is not None}
        tables = {
            "run": {
                "command": shlex.join(["jh", "train", *arguments, "--out", str(self.path)]),
                "arguments": list(arguments),
                "agent": self.record.name,
                "runs": self.runs,
            },
            "settings": {key: _plain(value) for key, value in plain.items()},
            "versions": versions(),
            "hardware": hardware(),
        }
        write_toml(self.path / CONFIG, tables)

    def write_tables(self, agents: Sequence[Any]) -> list[str]:
        """Episodes and evaluations of all runs; returns the names of the files."""
        tables = {
            "episodes.parquet": _columns([agent.episodes for agent in agents]),
            "evaluations.parquet": _evaluations([agent.evaluations for agent in agents]),
        }
        for name, table in tables.items():
            write_parquet(self.path / name, table)
        return [str(self.path / name) for name in tables]

    def write_picture(self, agents: Sequence[Any], title: str) -> str:
        """Returns of those episodes that each personality led, and of evaluations."""
        plotting.draw_lines(
            curves(agents),
            "environment steps",
            "undiscounted return",
            title,
            self.path / "train.png",
        )
        return str(self.path / "train.png")


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):  # with every setting
        known = (
            f"{field.name}={getattr(value, field.name)!r}" for field in dataclasses.fields(value)
        )
        return f"{type(value).__name__}({', '.join(known)})"
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def hardware() -> dict[str, Any]:
    """The machine in words."""
    device = {}
    if "jax" in sys.modules:
        device = {"device": str(sys.modules["jax"].devices()[0].device_kind)}
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count() or 1,
        **device,
    }


def read_config(folder: Path) -> dict[str, Any]:
    """What `write_config` wrote; nothing of it is run."""
    try:
        config = tomllib.loads(read_file(folder / CONFIG, MOST).decode())
        run, *others = (config[title] for title in ("run", "settings", "versions", "hardware"))
        words = [*run["arguments"], run["command"], run["agent"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{str(folder)!r} is no folder that jh train --out wrote ({type(error).__name__})"
        ) from None
    require(
        all(isinstance(table, dict) for table in others)
        and isinstance(run["arguments"], list)
        and all(isinstance(word, str) for word in words)
        and words[0][:1] != "-",
        f"{str(folder / CONFIG)!r} holds no command of jh train",
    )
    run["runs"] = check_count(run.get("runs"), "runs", 1)
    return config


def read_command(folder: Path, trust: bool) -> list[str]:
    """The arguments of the command of a folder, which is refused if it runs others' code, unless
    that is trusted.
    """
    arguments: list[str] = read_config(folder)["run"]["arguments"]
    code = ", ".join(code_in_command(arguments))
    require(
        arguments and all(word.isprintable() for word in arguments),
        f"{str(folder / CONFIG)!r} holds no command of jh train",
    )
    require(
        trust or not code,
        f"{str(folder / CONFIG)!r} runs code of others, {code}; if you trust that code, "
        "give --trust",
    )
    return arguments


def code_in_command(arguments: Sequence[str]) -> list[str]:
    """What the arguments of jh train name of others' code: files, and modules of environments, but
    for those of packages that are installed.
    """
    inner = [word for word in arguments[1:] if word.startswith(INNER)]  # an environment's own
    named = [*arguments[:1], *(word.removeprefix(INNER) for word in inner)]
    modules = [name for name in named if ":" in name and not _is_installed(name)]
    return modules + references.code_in([word for word in arguments[1:] if word not in inner])


def _is_installed(problem: str) -> bool:
    # Whether the module of "module:Id" is an installed package, found without importing it; the
    # current folder comes after those, and a file there is not one.
    name = problem.partition(":")[0].partition(".")[0]
    if references.is_reference(problem) or not name.isidentifier():
        return False
    with suppress(ImportError, ValueError):
        spec = find_spec(name)
        places = [Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")]
        origin = Path((spec and spec.origin) or "nowhere").resolve()
        return any(place in origin.parents for place in places)
    return False


def _columns(runs: Sequence[Episodes]) -> dict[str, Any]:
    table = np.concatenate([episodes.table for episodes in runs])
    counts = [len(episodes) for episodes in runs]
    return {
        "run": np.repeat(np.arange(len(runs)), counts),
        "episode": np.concatenate([np.arange(count) for count in counts]),
        "step": table[:, 3].astype(np.int64),
        "return": table[:, 0],
        "length": table[:, 1].astype(np.int64),
        "hyde": table[:, 2].astype(np.int64),
    }


def _evaluations(runs: Sequence[list[dict[str, float]]]) -> dict[str, Any]:
    rows = [(run, row) for run, evaluations in enumerate(runs) for row in evaluations]
    counts = {
        name: np.array([row[name] for _, row in rows], dtype=np.int64)
        for name in ("step", "episodes")
    }
    means = {
        name: np.array([row[name] for _, row in rows], dtype=np.float64)
        for name in ("mean", "lo", "hi")
    }
    run = np.array([run for run, _ in rows], dtype=np.int64)
    return {"run": run, "step": counts["step"], **means, "episodes": counts["episodes"]}


def curves(agents: Sequence[Any]) -> dict[str, plotting.Line]:
    """Running means of the returns that each personality earned, averaged over runs, with an
    interval where there are several; and the evaluations.
    """
    end = min((int(agent.episodes.steps.max(initial=0)) for agent in agents), default=0)
    grid = np.linspace(0, end, 200)
    lines: dict[str, plotting.Line] = {}
    for hyde, name in enumerate(("Jekyll", "Hyde")):
        smooth = []
        for agent in agents:
            led = agent.episodes.hyde == hyde
            if led.any():
                mean = running_mean(agent.episodes.returns[led])
                smooth.append(np.interp(grid, agent.episodes.steps[led], mean))
        if smooth:
            mean = intervals.summarize(np.array(smooth), "mean")
            lines[f"{name}, mean of his last {LAST} episodes"] = (grid, *mean)
    rows = [[row["mean"] for row in agent.evaluations] for agent in agents]
    if rows and (count := min(map(len, rows))):
        steps = np.array([row["step"] for row in agents[0].evaluations[:count]])
        means = np.array([values[:count] for values in rows])
        lines["evaluations of Jekyll's policy"] = (
            steps,
            *intervals.summarize(means, "mean"),
        )
    return lines or {"no episode has ended": (grid, np.full(len(grid), np.nan))}


def running_mean(values: Any) -> Any:
    """The mean of the last 100 values at each of them."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    end = np.arange(1, len(values) + 1)
    start = np.maximum(end - LAST, 0)
    return (total[end] - total[start]) / (end - start)
