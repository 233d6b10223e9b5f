"""An agent on disk: a folder with `state.safetensors`, every array (networks, moments, replay,
random key, counters, episodes, the episode under way), and `agent.json`, the rest. Loading runs no
code, and what is loaded is checked for consistency before anything is made of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from jekyllhyde import references
from jekyllhyde.agent import Episodes, evaluation_rows
from jekyllhyde.deep import learning, spaces
from jekyllhyde.deep.agent_checks import (
    Arrays,
    check_consistency,
    check_shapes,
    declared_arrays,
    named_leaves,
    read_arrays,
    restored_space,
)
from jekyllhyde.deep.configurations import RECORDS, configure, spell
from jekyllhyde.deep.lane_files import PREFIX, lane_arrays, restored_lanes
from jekyllhyde.episode import Episode
from jekyllhyde.errors import InputError, check_count, plain, require
from jekyllhyde.files import read_json, write_folder, write_json
from jekyllhyde.mdp.gym_import import make_environment

if TYPE_CHECKING:
    from jekyllhyde.deep.deep_agent import DeepAgent

FORMAT = 3
ABOUT, ARRAYS = "agent.json", "state.safetensors"
MOST = 1 << 24  # bytes of the first, most of which are evaluations
LONGEST = 300  # characters of a sentence, which may quote the file
# settings that came later: files without them have the defaults
LATER = {"bounded", "first_values", "leader", "n_steps", "noise", "one_hot", "pessimism"}
LATER |= {"lanes", "prioritized", "shared_start", "falling_step", "fresh_critic", "dueling"}
LATER |= {"far_share", "quiet", "tolerance", "tau_actor", "greedy_stretch", "cut_stays"}
LATER |= {"votes", "weigh_ends", "normalized_actor"}
# and so have records whose settings came later, as files of 0.5 spell them
WITHOUT = {"optimist()": "optimist(weariness=0.0, lanes=1)"}
BESIDE, NEWEST = ("episodes", "actions"), "observation"  # arrays that are not the algorithm's
# what damaged or hostile files make their readers raise; JAX's errors are among them
_UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(AssertionError, RuntimeError, MemoryError, SafetensorError),
)
Kind = TypeVar("Kind", bound="DeepAgent")


def save(path: str | Path, agent: "DeepAgent") -> None:
    """Write all of an agent into a folder, which takes the place of one written before."""
    folder = Path(path)
    require(
        not folder.is_dir() or {file.name for file in folder.iterdir()} <= {ABOUT, ARRAYS},
        f"path is {str(folder)!r}, which holds other files; give a folder of its own",
    )
    episode = agent._episode
    newest = named_leaves(agent._observation)
    arrays = {
        **agent.arrays(),
        "actions": np.array([] if episode is None else episode.actions, np.int32),
        **{f"{NEWEST}{name}": np.array(part) for name, part in newest.items()},
        **lane_arrays(agent._lanes),
    }
    about = {
        "format": FORMAT,
        "agent": agent.name,
        "seed": agent.seed,
        "settings": _plain_settings(agent.settings),
        "space": vars(agent.space),
        "steps": agent.steps,
        "imported": agent.imported,
        "evaluations": agent.evaluations,
        "episode": episode
        and {key: value for key, value in vars(episode).items() if key != "actions"},
    }

    def fill(partial: Path) -> None:
        try:
            save_file(arrays, partial / ARRAYS)
        except SafetensorError as error:  # it hides the operating system's
            raise OSError(str(error)) from error
        write_json(partial / ABOUT, about)

    write_folder(folder, fill)


def load(kind: type[Kind], path: str | Path, env: Any, own: dict[str, Any]) -> Kind:
    """The agent of that kind in a folder; settings of the user's own are not in it, and given."""
    with _in_one_sentence(path):
        about = read_json(Path(path) / ABOUT, MOST)
        number, stored = about["format"], about["agent"]
        require(
            isinstance(number, int) and number >= FORMAT,
            f"it is of format {number}, which jekyllhyde 0.3 and before wrote; load it there, or "
            "train it anew",
        )
        require(
            (number, stored) == (FORMAT, kind.name),
            f"it is a {stored} of format {number}, not a {kind.name} of {FORMAT}",
        )
        settings = _restored_settings(kind.name, about["settings"], own)
        space = restored_space(about["space"])
        declared = declared_arrays(Path(path) / ARRAYS)
        others = {name for name in declared if name in BESIDE or name.startswith((NEWEST, PREFIX))}
        check_shapes(
            kind.name, settings, space, {name: declared[name] for name in declared.keys() - others}
        )
        arrays = read_arrays(Path(path) / ARRAYS)
        beside = {name: arrays.pop(name) for name in BESIDE}
        lanes = restored_lanes(arrays, space, spaces.example(space))
        newest = {name: arrays.pop(name) for name in list(arrays) if name.startswith(NEWEST)}
        agent = kind(seed=about["seed"], config=settings)  # type: ignore[call-arg]
        agent._start(space)
        agent.state = filled(agent.state, arrays)
        agent._steps = check_count(about["steps"], "steps", 0)
        agent.imported = check_count(about.get("imported", 0), "imported", 0)
        agent.episodes = Episodes.of(beside["episodes"])
        agent.evaluations = evaluation_rows(about["evaluations"])
        if about["episode"] is not None:
            agent._episode = Episode(**about["episode"], actions=beside["actions"].tolist())
        agent._observation, agent._lanes = _restored_observation(agent, newest), lanes
        check_consistency(agent)
    if env is not None:
        agent.env = make_environment(env)
        require(
            spaces.space_of(agent.env, agent.settings.one_hot) == agent.space,
            "env has other observations or actions than the saved agent",
        )
        agent._make_room()
    return agent


@contextmanager
def _in_one_sentence(path: str | Path) -> Iterator[None]:
    folder = f"folder {str(path)!r}"
    try:
        yield
    except InputError as error:
        reason = plain(str(error))[:LONGEST]
        raise InputError(f"{folder} holds an agent that cannot be loaded: {reason}") from None
    except _UNREADABLE as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{folder} holds no agent that can be read ({reason})") from None


def _restored_observation(agent: "DeepAgent", stored: Arrays) -> Any:
    example = agent._observation
    expected = {f"{NEWEST}{path}": part for path, part in named_leaves(example).items()}
    require(
        {name: (part.shape, part.dtype) for name, part in stored.items()}
        == {name: (part.shape, part.dtype) for name, part in expected.items()},
        "its observation cannot be that of such an agent",
    )
    return jax.tree.unflatten(jax.tree.structure(example), [stored[name] for name in expected])


def _plain_settings(settings: Any) -> dict[str, Any]:
    # Settings for JSON, which knows no infinity and no tuples; functions and records as text.
    return {f.name: _plain(f.name, getattr(settings, f.name)) for f in fields(settings)}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if name in RECORDS:  # with all of its settings: defaults may change
        known = [f"{f.name}={getattr(value, f.name)!r}" for f in fields(value)]
        return f"{spell(name, value).partition('(')[0]}({', '.join(known)})"
    return "inf" if value == np.inf else spell(name, value)


def _restored_settings(agent: str, stored: dict[str, Any], own: dict[str, Any]) -> Any:
    # The configuration that `_plain_settings` wrote, with the user's own settings.
    references.refuse_code(stored, own)
    stored = {
        name: WITHOUT.get(value, value) if isinstance(value, str) else value
        for name, value in stored.items()
    }
    given = {name: np.inf if value == "inf" else value for name, value in stored.items()}
    settings = configure(agent, "paper", **{**given, **own})
    known = configure(agent, "paper")
    for name, value in _plain_settings(settings).items():
        written = stored.get(name, value) if name in LATER else stored[name]
        require(
            value == written or (name in RECORDS and _is_later(value, written)),
            f"{name} was {written!r} where the agent was saved, not {value!r}",
        )
        is_number = type(getattr(settings, name)) in (int, float)
        require(
            is_number or not isinstance(getattr(known, name), float),
            f"{name} is {value!r}; it must be a number",
        )
    return settings


def _is_later(record: str, written: Any) -> bool:
    # The record as it was written, but for settings that it did not have then.
    (name, _, settings), (old_name, _, old) = record.partition("("), str(written).partition("(")
    return name == old_name and {*old.rstrip(")").split(", ")} < {*settings.rstrip(")").split(", ")}


def named_arrays(state: learning.State) -> Arrays:
    """Copies of the arrays of a state by their path; the random key as its bits."""
    named = named_leaves(replace(state, key=jax.random.key_data(state.key)))
    return {name: np.array(leaf) for name, leaf in named.items()}


def filled(state: learning.State, stored: Arrays) -> learning.State:
    """`state` with the stored arrays in place of its own, by name."""
    plain = jax.tree.unflatten(
        jax.tree.structure(state),
        [jax.numpy.asarray(stored[name]) for name in named_leaves(state)],
    )
    return replace(plain, key=jax.random.wrap_key_data(plain.key))
