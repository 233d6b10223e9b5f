"""An agent on disk: a folder with `state.safetensors`, every array (networks, moments, replay,
random key, counters, episodes), and `agent.json`, the rest. Loading runs no code.
"""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from jekyllhyde.deep import learning, networks, spaces
from jekyllhyde.deep.configurations import RECORDS, configure, spell
from jekyllhyde.errors import InputError, require
from jekyllhyde.files import write_folder, write_json

FORMAT = 2
ABOUT, ARRAYS = "agent.json", "state.safetensors"


def save(
    path: str | Path,
    arrays: dict[str, np.ndarray],
    *,
    agent: str,
    seed: int,
    settings: Any,
    space: networks.Space,
    episode: spaces.Episode | None,
) -> None:
    """Write all of an agent into a folder, which takes the place of one written before."""
    folder = Path(path)
    require(
        not folder.is_dir() or {file.name for file in folder.iterdir()} <= {ABOUT, ARRAYS},
        f"path is {str(folder)!r}, which holds other files; give a folder of its own",
    )

    def fill(partial: Path) -> None:
        save_file(arrays, partial / ARRAYS)
        write_json(
            partial / ABOUT,
            {
                "format": FORMAT,
                "agent": agent,
                "seed": seed,
                "settings": _plain_settings(settings),
                "space": vars(space),
                "episode": episode
                and {**vars(episode), "observation": episode.observation.tolist()},
            },
        )

    write_folder(folder, fill)


def load(path: str | Path, name: str, own: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of the agent of that name, and what was saved beside them; settings of the user's
    own are not in the file, and given.
    """
    folder = f"folder {str(path)!r}"
    try:
        about = json.loads((Path(path) / ABOUT).read_text())
        number, stored = about["format"], about["agent"]
        require(number != 1, "it is of version 0.1; load it with jekyllhyde 0.1, or train it anew")
        require(
            (number, stored) == (FORMAT, name),
            f"it is a {stored} of format {number}, not a {name} of {FORMAT}",
        )
        return load_file(Path(path) / ARRAYS), {
            "seed": about["seed"],
            "settings": _restored_settings(name, about["settings"], own),
            "space": networks.Space.restored(about["space"]),
            "episode": about["episode"] and spaces.Episode(**about["episode"]),
        }
    except InputError as error:
        raise InputError(f"{folder} holds an agent that cannot be loaded: {error}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise InputError(
            f"{folder} holds no agent that can be read ({type(error).__name__})"
        ) from None


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


def named_arrays(state: learning.State) -> dict[str, Any]:
    """Copies of the arrays of a state by their path; the random key as its bits."""
    paths, _ = jax.tree_util.tree_flatten_with_path(
        replace(state, key=jax.random.key_data(state.key))
    )
    return {jax.tree_util.keystr(path): np.array(leaf) for path, leaf in paths}


def filled(state: learning.State, stored: dict[str, Any]) -> learning.State:
    """`state` with the stored arrays in place of its own."""
    shapes, expected = (
        {name: (array.shape, array.dtype) for name, array in arrays.items()}
        for arrays in (stored, named_arrays(state))
    )
    require(shapes == expected, f"the folder holds arrays that do not fit its {ABOUT}")
    plain = jax.tree.unflatten(
        jax.tree.structure(state), [jax.numpy.asarray(stored[name]) for name in expected]
    )
    return replace(plain, key=jax.random.wrap_key_data(plain.key))
