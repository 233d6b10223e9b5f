"""A replay that leaves an agent and comes into another: as a Parquet file, or as a dataset of
Minari (`minari_files`).

A Parquet file has a row per transition, in the order in which they were made:

    replay                     "all", or "hyde": one of Hyde's own replay
    observation, following     an index, or the numbers that networks are given
    image_0, following_0 ...   images in 8 bits, as bytes, where there are some
    action, reward             the number of the action, counted from 0
    terminated                 whether the model ended the episode; a time-out is no such end
    allowed, allowed_next      the actions that were allowed before and after, where there are masks
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jekyllhyde.deep import spaces
from jekyllhyde.deep.encoders import Seen
from jekyllhyde.deep.learning import Replay, State
from jekyllhyde.deep.minari_files import read_minari, write_minari
from jekyllhyde.deep.networks import Space, Transition
from jekyllhyde.envs.space_parts import is_binary
from jekyllhyde.errors import InputError, require
from jekyllhyde.files import write_parquet

MINARI = "minari:"
KEY = b"jekyllhyde"


def export_replay(agent: Any, target: str | Path) -> None:
    """Write the transitions that an agent keeps, to a file or to "minari:NAME"."""
    require(
        str(target).startswith(MINARI) or Path(target).suffix == ".parquet",
        f"target is {str(target)!r}; it must end in .parquet, or be {MINARI}NAME",
    )
    replays = {"all": agent.state.everyone, "hyde": agent.state.hyde}
    rows = {name: transitions(replay) for name, replay in replays.items() if replay is not None}
    if str(target).startswith(MINARI):
        write_minari(agent, rows["all"], str(target).removeprefix(MINARI))
        return
    import pyarrow as pa

    tables = [pa.table(_columns(agent.space, name, batch)) for name, batch in rows.items()]
    about = {KEY: json.dumps(_described(agent.space))}
    write_parquet(Path(target), pa.concat_tables(tables).replace_schema_metadata(about))


def import_replay(agent: Any, source: str | Path) -> int:
    """Put transitions from a file, or from "minari:NAME", behind those that an agent keeps; returns
    how many there were.
    """
    if str(source).startswith(MINARI):
        name = str(source).removeprefix(MINARI)
        rows = {"all": check_batch(agent.space, read_minari(agent.space, name))}
    else:
        rows = _read_parquet(agent.space, Path(source))
    if agent.state.everyone.data.cut is not None:  # nor is it known which of them were cut
        rows = {
            name: replace(batch, cut=np.zeros(len(batch.reward), bool))
            for name, batch in rows.items()
        }
    if agent.state.everyone.data.novelty is not None:  # in the episodes of others nothing is new
        rows = {name: replace(batch, novelty=0.0 * batch.reward) for name, batch in rows.items()}
    state = _added(agent.state, rows["all"]) if "all" in rows else agent.state
    if state.hyde is not None and "hyde" in rows:
        state = replace(state, hyde=_added_to(state.hyde, rows["hyde"]))
    rewards = np.concatenate([batch.reward for batch in rows.values()])
    if state.sums is not None:
        state = replace(state, sums=state.sums.beside(rewards))
    count = len(rewards)
    agent.state, agent.imported = state, agent.imported + count
    return count


def transitions(replay: Replay) -> Transition:
    """What a replay holds, as NumPy's arrays, the oldest first."""
    size, position, data = int(replay.size), int(replay.position), replay.data
    order = (position - size + np.arange(size)) % len(data.reward)
    batch: Transition = jax.tree.map(lambda ring: np.asarray(ring)[order], data)
    if replay.frames is None:
        observation, following = map(replay.unpacked, (batch.observation, batch.following))
        return replace(batch, observation=np.asarray(observation), following=np.asarray(following))
    rings = [np.asarray(ring) for ring in replay.frames.images]
    digests = np.asarray(replay.frames.digests)
    kept = (batch.observation, batch.following)
    is_there = np.all([(digests[each.place] == each.digest).all(-1) for each in kept], axis=0)
    before, after = (
        Seen(each.vector, tuple(ring[each.place] for ring in rings), each.digest) for each in kept
    )
    whole = replace(batch, observation=before, following=after)
    return jax.tree.map(lambda array: array[is_there], whole)


@jax.jit
def _added(state: State, batch: Transition) -> State:
    # with each transition, what normalizes observations moves on too
    def body(state: State, transition: Transition) -> tuple[State, None]:
        seen, priorities = state.observed(transition), state.priorities
        if priorities is not None:
            priorities = priorities.added(seen.everyone.position)
        return replace(seen, everyone=seen.everyone.add(transition), priorities=priorities), None

    return jax.lax.scan(body, state, batch)[0]


@jax.jit
def _added_to(replay: Replay, batch: Transition) -> Replay:
    return jax.lax.scan(lambda replay, each: (replay.add(each), None), replay, batch)[0]


def _described(space: Space) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(json.dumps(asdict(space)))
    return known


# Parquet.


def _columns(space: Space, name: str, batch: Transition) -> dict[str, Any]:
    columns: dict[str, Any] = {"replay": [name] * len(batch.reward)}
    for side, seen in (("observation", batch.observation), ("following", batch.following)):
        vector = seen.vector if isinstance(seen, Seen) else seen
        if space.n_states is not None or vector.shape[-1]:  # there may be images alone
            columns[side] = _lists(vector) if space.n_states is None else vector
        if isinstance(seen, Seen):
            prefix = "image" if side == "observation" else side
            for i, images in enumerate(seen.images):
                columns[f"{prefix}_{i}"] = [image.tobytes() for image in images]
    columns |= {"action": batch.action, "reward": batch.reward, "terminated": batch.discount == 0}
    if batch.allowed is not None:
        columns |= {"allowed": _lists(batch.allowed), "allowed_next": _lists(batch.allowed_next)}
    return columns


def _lists(array: Any) -> Any:
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[-1])


def _read_parquet(space: Space, path: Path) -> dict[str, Transition]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        stored = json.loads((table.schema.metadata or {})[KEY])
        require(stored == _described(space), "it is of another environment")
        names = np.array(table["replay"].to_pylist())
        return {
            str(name): _transitions(space, table.filter(pa.array(names == name)))
            for name in np.unique(names)
        }
    except InputError as error:
        raise InputError(
            f"file {str(path)!r} holds a replay that cannot be taken: {error}"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(
            f"file {str(path)!r} holds no replay that can be read ({type(error).__name__})"
        ) from None


def _transitions(space: Space, table: Any) -> Transition:
    n = len(table)

    def numbers(name: str, kind: Any, *shape: int) -> Any:
        column = table[name].combine_chunks()
        values = column.flatten() if shape else column
        return np.asarray(values).astype(kind).reshape(n, *shape)

    def seen(side: str, prefix: str) -> Any:
        if space.n_states is not None:
            return numbers(side, np.int32)
        width, kind = int(np.prod(space.shape)), bool if is_binary(space.parts) else np.float32
        vector = numbers(side, kind, width) if width else np.zeros((n, 0), np.float32)
        images = [
            np.array([np.frombuffer(data, np.uint8) for data in table[f"{prefix}_{i}"].to_pylist()])
            for i in range(len(space.images))
        ]
        shaped = tuple(
            image.reshape(n, *size) for image, size in zip(images, space.images, strict=True)
        )
        return _digested(vector, shaped) if images else vector

    masks = (
        [numbers(name, bool, space.n_actions) for name in ("allowed", "allowed_next")]
        if space.masked
        else [None, None]
    )
    return check_batch(
        space,
        Transition(
            seen("observation", "image"),
            numbers("action", np.int32),
            numbers("reward", np.float32),
            seen("following", "following"),
            1.0 - numbers("terminated", np.float32),
            allowed=masks[0],
            allowed_next=masks[1],
        ),
    )


def _digested(vectors: Any, images: tuple[Any, ...]) -> Seen:
    rows = zip(*images, strict=True)
    digests = [spaces.digest(vector, each) for vector, each in zip(vectors, rows, strict=True)]
    return Seen(vectors, images, np.array(digests, np.int32).reshape(-1, 2))


def check_batch(space: Space, batch: Transition) -> Transition:
    """The batch, if it is what compiled loops will take for granted."""
    require(
        all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(batch)),
        "it has numbers that are not finite",
    )
    for name, values, count in (
        ("action", batch.action, space.n_actions),
        ("observation", batch.observation, space.n_states),
        ("following", batch.following, space.n_states),
    ):
        if count is not None:
            require(
                ((values >= 0) & (values < count)).all(),
                f"its column {name} has a number that is not from 0 to {count - 1}",
            )
    return batch
