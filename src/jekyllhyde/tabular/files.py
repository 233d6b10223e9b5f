"""A step-by-step agent in one `.npz` file: settings and the environment's state as JSON, what was
learned as arrays, no pickle.
"""

from __future__ import annotations

import json
import os
import uuid
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from jekyllhyde.errors import InputError
from jekyllhyde.schedule import Schedule

if TYPE_CHECKING:
    from jekyllhyde.tabular.agents import TabularAgent

FORMAT, VERSION = "jekyllhyde.TabularAgent", 1
Agent = TypeVar("Agent", bound="TabularAgent")


def save(agent: TabularAgent, path: str | Path) -> None:
    """Write `agent` to `path`: to a temporary file beside it first, so that a failure leaves what
    was there as it was.
    """
    learner, path = agent.learner, Path(path)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "agent": agent.name,
        "settings": _settings(agent),
        "env_id": learner.env_id,
        "offsets": learner.offsets,
        "progression": _plain(vars(learner.progression)),
    }
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            np.savez(
                file, allow_pickle=False, header=np.array(json.dumps(header)), **learner.arrays()
            )
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write the agent file {path}: {error.strerror or error}"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def load(kind: type[Agent], path: str | Path) -> Agent:
    """Read an agent that `save` wrote; a file that is anything else gives one `InputError` that
    names it.
    """
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return _build(kind, json.loads(str(archive["header"])), archive)
    except OSError as error:
        raise InputError(f"cannot read the agent file {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} is not a usable agent file: {reason}") from error


def _settings(agent: TabularAgent) -> dict[str, Any]:
    """The settings as they were given: None stays None, schedules in their own grammar."""
    given = {name: getattr(agent, name) for name in agent.settings}
    for name, value in given.items():
        if isinstance(value, Schedule):
            if value.function is not None:
                raise InputError(
                    f"{name} is the callable {value}; only schedules that can be written down can be saved"
                )
            given[name] = repr(value.c) if value.constant else f"{value.c!r}/t^{value.alpha!r}"
    return given


def _plain(value: Any) -> Any:
    """Random states hold NumPy integers and arrays; JSON takes neither."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def _build(kind: type[Agent], header: dict[str, Any], archive: Any) -> Agent:
    from jekyllhyde.tabular.stepwise import Learner, Progression

    if header.get("format") != FORMAT or header.get("version") != VERSION:
        found = f"{header.get('format')!r}, version {header.get('version')!r}"
        raise InputError(f"it is of format {found}, not {FORMAT!r}, version {VERSION}")
    if header["agent"] != kind.name:
        raise InputError(f"it holds the agent {header['agent']!r}; this class reads {kind.name!r}")
    agent = kind(**header["settings"])
    n_states, n_actions = archive["pi"].shape
    learner = Learner(agent, int(n_states), int(n_actions), str(header["env_id"]))
    learner.offsets = (int(header["offsets"][0]), int(header["offsets"][1]))
    learner.progression = Progression(**header["progression"])
    learner.restore({name: archive[name] for name in archive.files if name != "header"})
    agent._learner.append(learner)
    return agent
