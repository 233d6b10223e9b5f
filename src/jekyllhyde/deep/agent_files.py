"""An agent on disk: a folder with `state.safetensors`, every array (networks, moments, replay,
random key, counters, episodes), and `agent.json`, the rest. Loading runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from jekyllhyde.deep.configurations import RECORDS, configure, spell
from jekyllhyde.deep.networks import Space
from jekyllhyde.deep.spaces import Episode
from jekyllhyde.errors import InputError
from jekyllhyde.files import write_folder, write_json

FORMAT = 2
ABOUT, ARRAYS = "agent.json", "state.safetensors"
EPISODES = "episodes"


@dataclass(frozen=True)
class Saved:
    """What a folder holds."""

    name: str
    seed: int
    settings: Any
    space: Space
    arrays: dict[str, Any]
    episode: Episode | None


def save_agent(path: str | Path, saved: Saved) -> None:
    """Write all of an agent into a folder, which takes the place of one written before."""
    folder = Path(path)
    if folder.is_dir() and {file.name for file in folder.iterdir()} - {ABOUT, ARRAYS}:
        raise InputError(
            f"path is {str(folder)!r}, which holds other files; give a folder of its own"
        )
    about: dict[str, Any] = {
        "format": FORMAT,
        "agent": saved.name,
        "seed": saved.seed,
        "settings": plain_settings(saved.settings),
        "space": asdict(saved.space),
        "episode": None if saved.episode is None else asdict(saved.episode),
    }
    if saved.episode is not None:
        about["episode"]["observation"] = np.asarray(saved.episode.observation).tolist()

    def fill(partial: Path) -> None:
        save_file(saved.arrays, partial / ARRAYS)
        write_json(partial / ABOUT, about)

    write_folder(folder, fill)


def load_agent(path: str | Path, name: str, own: Mapping[str, Any]) -> Saved:
    """Read the agent of that name; settings of the user's own are not in the file, and given."""
    folder = f"folder {str(path)!r}"
    try:
        about = json.loads((Path(path) / ABOUT).read_text())
        number, stored = about["format"], about["agent"]
        if number == FORMAT and stored == name:
            space, episode = about["space"], about["episode"]
            return Saved(
                name,
                about["seed"],
                restore_settings(name, about["settings"], own),
                Space(**{**space, "shape": tuple(space["shape"])}),
                load_file(Path(path) / ARRAYS),
                None if episode is None else Episode(**episode),
            )
    except InputError as error:
        raise InputError(f"{folder}: {error}") from None
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise InputError(
            f"{folder} holds no agent that can be read ({type(error).__name__})"
        ) from None
    if number == 1:
        raise InputError(
            f"{folder} holds an agent of version 0.1; load it with jekyllhyde 0.1, or train it anew"
        )
    raise InputError(
        f"{folder} holds a {stored} of format {number}, not a {name} of format {FORMAT}"
    )


def plain_settings(settings: Any) -> dict[str, Any]:
    """Settings for JSON, which knows no infinity; records and functions by name."""
    return {f.name: _plain(f.name, getattr(settings, f.name)) for f in fields(settings)}


def _plain(name: str, value: Any) -> Any:
    if name in RECORDS:
        kind = spell(name, value).partition("(")[0]
        return {"kind": kind, **plain_settings(value)}
    value = spell(name, value)
    return list(value) if isinstance(value, tuple) else "inf" if value == inf else value


def restore_settings(agent: str, stored: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    """The configuration that `plain_settings` wrote."""
    given = {name: _restored(name, value) for name, value in stored.items() if name not in own}
    settings = configure(agent, "paper", **{**given, **own})
    for name, value in plain_settings(settings).items():
        if value != stored[name]:
            raise InputError(
                f"{name} was {stored[name]!r} where the agent was saved, not {value!r}"
            )
    return settings


def _restored(name: str, value: Any) -> Any:
    kind = value.get("kind") if isinstance(value, dict) else value
    if isinstance(kind, str) and "@" in kind:
        raise InputError(f"its {name} is of your own, {kind}; give it too, {name}='file.py:name'")
    if isinstance(value, dict):
        settings = {key: _restored(key, each) for key, each in value.items() if key != "kind"}
        return RECORDS[name][0][str(kind)](**settings)
    return tuple(value) if isinstance(value, list) else inf if value == "inf" else value


def named_arrays(state: Any) -> dict[str, Any]:
    """The arrays of a state by their path; the random key as its bits."""
    paths, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path): np.asarray(_bits(leaf)) for path, leaf in paths}


def filled(state: Any, stored: Mapping[str, Any], folder: str) -> Any:
    """`state` with the stored arrays in place of its own."""
    expected = named_arrays(state)
    if _shapes(expected) != _shapes(stored):
        raise InputError(f"folder {folder!r} holds arrays that do not fit its {ABOUT}")
    leaves = [
        jax.random.wrap_key_data(jnp.asarray(stored[name]))
        if _is_key(leaf)
        else jnp.asarray(stored[name])
        for name, leaf in zip(expected, jax.tree.leaves(state), strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(state), leaves)


def _shapes(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (array.shape, array.dtype) for name, array in arrays.items()}


def _bits(leaf: jax.Array) -> jax.Array:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def _is_key(leaf: jax.Array) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))
