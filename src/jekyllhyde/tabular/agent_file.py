"""A step-by-step agent in one `.npz` file: what was learned as arrays, the rest as JSON, no pickle.

What is read is checked for consistency, not only for its shape: the compiled loop takes some of the
numbers for addresses. Files of before 0.4 are read; what they say of the episode under way is not,
so that learning goes on with a new one.
"""

import json
import math
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jekyllhyde import references
from jekyllhyde.agent import Episodes, evaluation_rows
from jekyllhyde.episode import Episode
from jekyllhyde.errors import InputError, require
from jekyllhyde.files import read_npz, write_npz
from jekyllhyde.schedule import Schedule
from jekyllhyde.tabular.environment_learner import EnvironmentLearner, describe
from jekyllhyde.tabular.learned_model import LISTS, OBSERVED, Counts, NoModel, link
from jekyllhyde.tabular.records import EDGE_FIELDS, POSITION, new_edges

if TYPE_CHECKING:
    from jekyllhyde.tabular.agents import TabularAgent

FORMAT, VERSION = "jekyllhyde.TabularAgent", 3
TABLES = ("theta", "pi", "q", "q_hyde", "n")
NAMES_1 = {"jekyll-hyde": "tabular_jekyll_hyde", "on-policy": "tabular_on_policy"}
_UNREADABLE = (
    *(ValueError, LookupError, TypeError, AttributeError, OverflowError, EOFError),
    *(MemoryError, RecursionError, NotImplementedError, zipfile.BadZipFile),
)
Kind = TypeVar("Kind", bound="TabularAgent")
Arrays = dict[str, NDArray[Any]]


def save(agent: "TabularAgent", path: str | Path) -> None:
    """Write `agent` to `path`; a failure leaves what was there as it was."""
    learner = agent.learner
    header = {
        "format": FORMAT,
        "version": VERSION,
        "agent": agent.name,
        "seed": agent.seed,
        "settings": {name: _written(name, value) for name, value in vars(agent.settings).items()},
        "env_id": learner.env_id,
        "shape": learner.shape,
        "offsets": learner.offsets,
        "evaluations": agent.evaluations,
        "episode": agent._episode and vars(agent._episode),
    }
    arrays = {
        "header": np.array(json.dumps(header)),
        "episodes": agent.episodes.table,
        **arrays_of(learner),
    }
    write_npz(Path(path), arrays)


def load(kind: type[Kind], path: str | Path, env: Any, own: dict[str, Any]) -> Kind:
    """Read what `save` wrote; anything else gives one `InputError` that names the file."""
    path = Path(path)
    try:
        arrays = read_npz(path)
        header = json.loads(str(arrays.pop("header")), parse_constant=_infinity)
        agent = _build(kind, header, arrays, own)
    except OSError as error:
        raise InputError(f"cannot read the agent file {path}: {error.strerror or error}") from error
    except _UNREADABLE as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} is not a usable agent file: {reason}") from error
    if env is not None:
        from jekyllhyde.mdp.gym_import import make_environment

        agent.env = make_environment(env)
        learner, (env_id, shape, _) = agent.learner, describe(agent.env)
        require(
            (env_id, shape) == (learner.env_id, learner.shape),
            f"this agent has learned {learner.env_id} ({learner.shape[0]} states, "
            f"{learner.shape[1]} actions); it cannot go on in {env_id} ({shape[0]} states, "
            f"{shape[1]} actions)",
        )
    return agent


def _infinity(word: str) -> float:
    require(word != "NaN", "its header has the number NaN")
    return float(word)


def _written(name: str, value: Any) -> Any:
    # A setting as it was given: None stays None, a schedule is in its own grammar.
    if isinstance(value, Schedule):
        require(
            value.function is None,
            f"{name} is the callable {value}; only schedules that can be written down can be saved",
        )
        return repr(value.c) if value.constant else f"{value.c!r}/t^{value.alpha!r}"
    require(
        not isinstance(value, tuple),
        f"{name} is the record {value}; only choices that are given by name can be saved",
    )
    return value


def _build(kind: type[Kind], header: dict[str, Any], arrays: Arrays, own: dict[str, Any]) -> Kind:
    version = header.get("version")
    require(
        header.get("format") == FORMAT and version in (1, 2, VERSION),
        f"it is of format {header.get('format')!r}, version {version!r}, not {FORMAT!r}, "
        f"version {VERSION}",
    )
    if version == 1:
        header, arrays = _from_version_1(header, arrays)
    arrays["position"] = _with_all_fields(arrays.get("position", np.empty(0)))
    require(
        header["agent"] == kind.name,
        f"it holds the agent {header['agent']!r}; this class reads {kind.name!r}",
    )
    references.refuse_code(header["settings"], own)
    agent = kind(seed=header["seed"], **{**header["settings"], **own})
    (n_states, n_actions), (first_state, first_action) = header["shape"], header["offsets"]
    require(
        n_states * n_actions == arrays["pi"].size,
        f"its tables are not those of {n_states} states, {n_actions} actions",
    )
    agent._learner = EnvironmentLearner(
        agent.settings,
        agent.seed,
        str(header["env_id"]),
        (int(n_states), int(n_actions)),
        (int(first_state), int(first_action)),
    )
    agent.episodes = Episodes.of(_with_steps(arrays.pop("episodes")))
    agent.evaluations = evaluation_rows(header.get("evaluations", []))
    _restore(agent._learner, arrays)
    if header.get("episode") is not None:
        agent._episode = Episode(**header["episode"])
        _check_episode(agent._learner, agent._episode)
    return agent


def _with_steps(table: NDArray[Any]) -> NDArray[Any]:
    # Before version 3 the ends of the episodes were not noted.
    ends = table[:, 1].cumsum() if table.shape[1] == 3 else table[:, 3]
    require(
        np.isfinite(table).all() and (np.diff(ends, prepend=0) >= table[:, 1]).all(),
        "its episodes cannot be those of such an agent",
    )
    return np.column_stack([table[:, :3], ends])


def _check_episode(learner: EnvironmentLearner, episode: Episode) -> None:
    actions = [episode.next_action, *episode.actions]
    require(
        all(isinstance(a, int) and 0 <= a < learner.shape[1] for a in actions)
        and isinstance(episode.number, int)
        and episode.number >= 0
        and episode.hyde == int(learner.state.position.control[0])
        and len(episode.actions) <= learner.state.steps
        and math.isfinite(episode.total),
        "its episode cannot be that of such an agent",
    )


def _from_version_1(header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    shape, clock, sums = arrays["pi"].shape, arrays.pop("clock"), arrays.pop("sums")
    # The position was an array of integers, in the order of the fields of now, and two floats; the
    # state was a number instead of its row.
    clock[3] *= shape[1]
    position = np.array(
        [(*clock[:8], 0, *sums, *[0] * (len(POSITION.names or ()) - 11))], dtype=POSITION
    )
    settings = dict(header["settings"])
    return (
        {
            **header,
            "agent": NAMES_1.get(header["agent"]),
            "seed": settings.pop("seed"),
            "shape": shape,
            "settings": settings,
        },
        {
            **arrays,
            **{name: arrays[name].ravel() for name in TABLES},
            "position": position,
            "episodes": np.zeros((0, 3)),
        },
    )


def _with_all_fields(position: NDArray[Any]) -> NDArray[Any]:
    # Fields that the version that wrote it did not have are 0.
    grown = np.zeros(position.shape, dtype=POSITION)
    kinds = {name: POSITION[name] for name in POSITION.names or ()}
    known = {name for name in position.dtype.names or () if position.dtype[name] == kinds.get(name)}
    if not known >= set(list(kinds)[:11]):  # those that the first such file had
        return position
    for name in known:
        grown[name] = position[name]
    return grown


def arrays_of(learner: EnvironmentLearner) -> Arrays:
    """Copies of all arrays that learning changes; unused ends of log and edges left out."""
    state, settings = learner.state, learner.settings
    sizes = [min(size, state.log.shape[1]) for size in state.sizes]
    used = state.steps if settings.option("capacity") is None else len(learner.edges.r)
    views = _views(learner, sizes, used if settings.uses_replay else 0)
    return {name: view.copy() for name, view in views.items()}


def _views(learner: EnvironmentLearner, sizes: list[int], used: int) -> Arrays:
    # The arrays themselves, with so many entries of the two logs and so many edges.
    state = learner.state
    distinct = int(state.position.transitions[0])
    model = {} if isinstance(state.model, NoModel) else state.model._asdict()
    return {
        **{name: getattr(state.tables, name) for name in TABLES},
        "words": state.words,
        "known": learner.known,
        "position": state.position.view(np.ndarray).view(POSITION),
        "log_jekyll": state.log[0, : sizes[0]],
        "log_hyde": state.log[1, : sizes[1]],
        **{f"edge_{name}": getattr(learner.edges, name)[:used] for name in EDGE_FIELDS},
        **{f"model_{name}": model[name][:distinct] for name in OBSERVED if model},
        **{f"model_{name}": model[name] for name in model if name not in (*OBSERVED, *LISTS)},
    }


def _restore(learner: EnvironmentLearner, arrays: Arrays) -> None:
    # Take over arrays that `arrays_of` gave, after checking that they fit such an agent.
    *sizes, used = (len(arrays.get(name, ())) for name in ("log_jekyll", "log_hyde", "edge_row"))
    learner.state.log = np.zeros((2, max(sizes)), dtype=np.uint32)
    learner.edges = new_edges(used)
    learner.state.make_model_room(len(arrays.get("model_pair", ())))
    learner.state.position.transitions = len(arrays.get("model_pair", ()))
    for name, view in _views(learner, sizes, used).items():
        given = arrays.get(name, np.empty(()))
        require(
            given.dtype == view.dtype and given.shape == view.shape,
            f"its array {name!r} is missing or of another kind",
        )
        view[:] = given
    _check_consistency(learner, sizes)


def _check_consistency(learner: EnvironmentLearner, lengths: list[int]) -> None:
    # Refuse numbers that the compiled loop would take for addresses.
    (_, n_actions), state, edges = learner.shape, learner.state, learner.edges
    now, pi, settings = state.position[0], state.table("pi"), learner.settings
    fields = {name: now[name] for name in POSITION.names or ()}
    counts = [value for name, value in fields.items() if POSITION[name] == np.int64]
    capacity = settings.option("capacity")
    needed = 0 if not state.steps else state.steps if capacity is None else 2 * capacity + 1
    inside = all((place < pi.size).all() for place in (edges.row, edges.pair, edges.next))
    is_row = not ((edges.row % n_actions).any() or (edges.next % n_actions).any())
    fits = {
        "position": min(counts) >= 0 and now.row < pi.size and now.row % n_actions == 0,
        "leader": now.control <= 1 and np.isfinite(list(fields.values())).all(),
        "edges": inside and is_row and (len(edges.r) >= needed or not settings.uses_replay),
        "log": not settings.uses_replay
        or lengths == [min(size, capacity or size) for size in state.sizes],
        "numbers": not state.log.size or state.log.max() < len(edges.r),
        "policy": np.isfinite(pi).all() and (pi >= 0).all() and (pi.max(axis=1) > 0).all(),
    }
    model = state.model
    if isinstance(model, Counts):
        queued = np.take(model.queue, np.arange(now.queue_size) + now.queue_first, mode="wrap")
        fits["model"] = (
            now.queue_first < pi.size
            and now.queue_size <= pi.size
            and now.transitions <= len(model.pair)
            and (model.pair < pi.size).all()
            and (model.next < len(pi)).all()
            and (model.times[: now.transitions] > 0).all()
            and np.array_equal(np.sort(queued), np.flatnonzero(model.is_queued))
        )
    for name, fit in fits.items():
        require(fit, f"its {name} cannot be that of such an agent")
    if isinstance(model, Counts):
        link(model, now.transitions)
