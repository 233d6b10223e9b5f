"""An agent on disk: a folder with `state.safetensors`, every array (networks, moments, replay,
random key, counters, episodes, the episode under way), and `agent.json`, the rest. Loading runs no
code, and what is loaded is checked for consistency before anything is made of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from jekyllhyde.agent import Episodes, evaluation_rows
from jekyllhyde.deep import learning, networks, spaces
from jekyllhyde.deep.configurations import ALGORITHMS, RECORDS, configure, spell
from jekyllhyde.deep.lane_files import lane_arrays, restored_lanes
from jekyllhyde.episode import Episode
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.files import read_json, write_folder, write_json
from jekyllhyde.mdp.gym_import import make_environment

if TYPE_CHECKING:
    from jekyllhyde.deep.deep_agent import DeepAgent

FORMAT = 3
ABOUT, ARRAYS = "agent.json", "state.safetensors"
BESIDE, NEWEST = ("episodes", "actions"), "observation"  # arrays that are not the algorithm's
Kind = TypeVar("Kind", bound="DeepAgent")
Arrays = dict[str, np.ndarray]


def save(path: str | Path, agent: "DeepAgent") -> None:
    """Write all of an agent into a folder, which takes the place of one written before."""
    folder = Path(path)
    require(
        not folder.is_dir() or {file.name for file in folder.iterdir()} <= {ABOUT, ARRAYS},
        f"path is {str(folder)!r}, which holds other files; give a folder of its own",
    )
    episode = agent._episode
    arrays = {
        **agent.arrays(),
        "actions": np.array([] if episode is None else episode.actions, np.int32),
        **{f"{NEWEST}{path}": np.array(part) for path, part in _named(agent._observation).items()},
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
        about = read_json(Path(path) / ABOUT)
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
        arrays = load_file(Path(path) / ARRAYS)
        beside = {name: arrays.pop(name) for name in BESIDE}
        newest = {name: arrays.pop(name) for name in list(arrays) if name.startswith(NEWEST)}
        settings = _restored_settings(kind.name, about["settings"], own)
        space = _restored_space(about["space"])
        lanes = restored_lanes(arrays, space, spaces.example(space), partial(_is_in, space))
        _check_shapes(kind.name, settings, space, arrays)
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
        _check_consistency(agent)
    if env is not None:
        agent.env = make_environment(env)
        require(
            spaces.space_of(agent.env) == agent.space,
            "env has other observations or actions than the saved agent",
        )
    return agent


@contextmanager
def _in_one_sentence(path: str | Path) -> Iterator[None]:
    folder = f"folder {str(path)!r}"
    try:
        yield
    except InputError as error:
        raise InputError(f"{folder} holds an agent that cannot be loaded: {error}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{folder} holds no agent that can be read ({type(error).__name__})"
        ) from None
    except (SafetensorError, RecursionError, MemoryError) as error:
        raise InputError(
            f"{folder} holds no agent that can be read ({type(error).__name__})"
        ) from None


def _restored_space(stored: dict[str, Any]) -> networks.Space:
    space = networks.Space.restored(stored)
    for name in ("n_states", "n_actions", "first_state", "first_action", "shape"):
        value = getattr(space, name)
        for count in value if isinstance(value, tuple) else (value,):
            require(
                count is None or isinstance(count, int),
                f"its space has {name} {value!r}; it must be made of integers",
            )
    return space


def _restored_observation(agent: "DeepAgent", stored: Arrays) -> Any:
    example = agent._observation
    expected = {f"{NEWEST}{path}": part for path, part in _named(example).items()}
    require(
        {name: (part.shape, part.dtype) for name, part in stored.items()}
        == {name: (part.shape, part.dtype) for name, part in expected.items()},
        "its observation cannot be that of such an agent",
    )
    return jax.tree.unflatten(jax.tree.structure(example), [stored[name] for name in expected])


def _check_shapes(name: str, settings: Any, space: networks.Space, arrays: Arrays) -> None:
    # Before anything is allocated: the arrays are those of such an agent.
    counts = [getattr(settings, "critics", 1), *map(len, _widths(settings))]
    require(max(counts) <= len(arrays), f"it holds arrays that do not fit its {ABOUT}")
    plain = ALGORITHMS[name].init
    expected = jax.eval_shape(lambda key: plain(key, settings, space), jax.random.key(0))
    bits = jax.eval_shape(jax.random.key_data, expected.key)
    require(
        {key: (array.shape, array.dtype) for key, array in arrays.items()}
        == {
            key: (leaf.shape, leaf.dtype)
            for key, leaf in _named(replace(expected, key=bits)).items()
        },
        f"it holds arrays that do not fit its {ABOUT}",
    )


def _widths(settings: Any) -> list[tuple[int, ...]]:
    return [value for value in vars(settings).values() if isinstance(value, tuple)]


def _check_consistency(agent: "DeepAgent") -> None:
    # Numbers that contradict each other are refused; weights may be anything.
    state, space, steps = agent.state, agent.space, agent.steps
    episode, table, rows = agent._episode, agent.episodes.table, len(agent.episodes)
    fits = {
        "steps": int(state.t) == min(steps, learning.MOST),
        "episodes": np.isfinite(table).all()
        and int(state.episodes) == rows
        and np.isin(table[:, 2], (0, 1)).all()
        and (table[:, 1] >= 1).all()
        and (np.diff(table[:, 3], prepend=0) >= 0).all()  # lanes take their steps in turns
        and (table[:, 3] >= table[:, 1]).all()
        and (rows == 0 or table[-1, 3] <= steps),
        "observation": _is_in(space, agent._observation.observation),
        "episode": episode is None
        or (
            isinstance(episode.number, int)
            and episode.number >= rows
            and episode.hyde == int(state.hyde_acts)
            and np.isfinite(episode.total)
            and len(episode.actions) <= steps
            and _are_actions(space, [episode.next_action, *episode.actions])
        ),
    }
    for name, replay in (("replay", state.everyone), ("replay of Hyde", state.hyde)):
        if replay is not None:
            fits[name] = _is_replay(space, replay, steps + agent.imported)
    for name, fit in fits.items():
        require(fit, f"its {name} cannot be that of such an agent")


def _is_replay(space: networks.Space, replay: learning.Replay, steps: int) -> bool:
    data = jax.tree.map(np.asarray, replay.data)
    size, position, capacity = int(replay.size), int(replay.position), len(data.reward)
    return bool(
        0 <= position < capacity
        and 0 <= size <= min(capacity, steps)
        and size in (capacity, position)
        and _are_actions(space, data.action)
        and _is_in(space, data.observation)
        and _is_in(space, data.following)
        and np.isfinite(data.reward).all()
        and np.isin(data.discount, (0.0, 1.0)).all()
    )


def _are_actions(space: networks.Space, actions: Any) -> bool:
    numbers = np.asarray(actions)
    return numbers.dtype.kind == "i" and bool(((numbers >= 0) & (numbers < space.n_actions)).all())


def _is_in(space: networks.Space, observations: Any) -> bool:
    if space.n_states is None:
        return all(np.isfinite(part).all() for part in jax.tree.leaves(observations))
    return bool(((observations >= 0) & (observations < space.n_states)).all())


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
    for name, value in stored.items():
        if isinstance(value, str) and "@" in value and name not in own:
            raise InputError(
                f"its {name} is of your own, {value}; give it too, {name}='file.py:name'"
            )
    given = {name: np.inf if value == "inf" else value for name, value in stored.items()}
    settings = configure(agent, "paper", **{**given, **own})
    for name, value in _plain_settings(settings).items():
        require(
            value == stored[name],
            f"{name} was {stored[name]!r} where the agent was saved, not {value!r}",
        )
    return settings


def named_arrays(state: learning.State) -> Arrays:
    """Copies of the arrays of a state by their path; the random key as its bits."""
    named = _named(replace(state, key=jax.random.key_data(state.key)))
    return {name: np.array(leaf) for name, leaf in named.items()}


def _named(state: Any) -> dict[str, Any]:
    paths, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path): leaf for path, leaf in paths}


def filled(state: learning.State, stored: Arrays) -> learning.State:
    """`state` with the stored arrays in place of its own, by name."""
    plain = jax.tree.unflatten(
        jax.tree.structure(state),
        [jax.numpy.asarray(stored[name]) for name in _named(state)],
    )
    return replace(plain, key=jax.random.wrap_key_data(plain.key))
