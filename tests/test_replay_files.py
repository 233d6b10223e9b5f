"""A replay leaves an agent and comes into another."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from boundary_envs import ACTIONS, SPACES, Sampled
from jekyllhyde import deep
from jekyllhyde.deep.replay_files import transitions
from jekyllhyde.errors import InputError

SMALL: dict[str, Any] = {"hidden": (8,), "batch": 8, "capacity": 40}


def same(first: Any, second: Any) -> bool:
    leaves = [jax.tree.leaves(tree) for tree in (first, second)]
    return len(leaves[0]) == len(leaves[1]) and all(map(np.array_equal, *leaves))


@pytest.mark.parametrize("kind", ["vector", "states", "dict", "pixels"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_file_has_all_transitions_in_their_order(kind: str, masked: bool, tmp_path: Path) -> None:
    env = Sampled(SPACES[kind], ACTIONS["shifted"], masked)
    agent = deep.DoubleDQN(env, **SMALL).learn(60)  # the ring has been written over
    agent.export_replay(tmp_path / "replay.parquet")
    other = deep.DoubleDQN(env, seed=1, **SMALL)
    count = other.import_replay(tmp_path / "replay.parquet")
    kept = transitions(agent.state.everyone)
    assert count == len(kept.reward) == (40 if "pix" not in kind else count)
    assert same(transitions(other.state.everyone), kept)
    other.learn(5)
    other.save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent")
    assert same(loaded.state.everyone, other.state.everyone)


def test_hydes_own_replay_goes_with_it(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**SMALL, "hidden_hyde": (8,), "warmup": 5, "cut_stays": False}
    agent = deep.JekyllHyde("FrozenLake-v1", **settings).learn(70)
    agent.export_replay(tmp_path / "replay.parquet")
    other = deep.JekyllHyde("FrozenLake-v1", seed=1, **settings)
    other.import_replay(tmp_path / "replay.parquet")
    for name in ("everyone", "hyde"):
        replays = [transitions(getattr(each.state, name)) for each in (agent, other)]
        assert len(replays[0].reward) > 0
        assert same(*replays)
    without = deep.DoubleDQN("FrozenLake-v1", **SMALL)
    assert without.import_replay(tmp_path / "replay.parquet") == 80
    assert same(transitions(without.state.everyone), transitions(agent.state.everyone))


def test_normalization_sees_what_is_imported(tmp_path: Path) -> None:
    agent = deep.DoubleDQN("CartPole-v1", **SMALL).learn(30)
    agent.export_replay(tmp_path / "replay.parquet")
    other = deep.DoubleDQN("CartPole-v1", seed=1, **SMALL)
    other.import_replay(tmp_path / "replay.parquet")
    assert same(other.state.networks.features, agent.state.networks.features)


def test_values_may_be_as_large_as_imported_rewards_allow(tmp_path: Path) -> None:
    settings: dict[str, Any] = {**SMALL, "hidden_hyde": (8,), "warmup": 5}
    deep.JekyllHyde("CartPole-v1", **settings).learn(30).export_replay(tmp_path / "replay.parquet")
    other = deep.JekyllHyde("CartPole-v1", seed=1, **settings)
    assert float(other.state.sums.highest) == 0.0
    other.import_replay(tmp_path / "replay.parquet")
    assert float(other.state.sums.highest) >= 30.0


def changed(path: Path, **columns: Any) -> Path:
    table = pq.read_table(path)
    for name, value in columns.items():
        place = table.schema.get_field_index(name)
        array = pa.array([value] * len(table), table.schema.field(name).type)
        table = table.set_column(place, table.schema.field(name), array)
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"action": 4}, "column action has a number that is not from 0 to 3"),
        ({"observation": -1}, "column observation has a number that is not from 0 to 15"),
        ({"following": 2**31 - 1}, "column following has a number"),
        ({"reward": float("nan")}, "not finite"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    columns: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "replay.parquet"
    agent = deep.DoubleDQN("FrozenLake-v1", **SMALL).learn(20)
    agent.export_replay(path)
    before = transitions(agent.state.everyone)
    with pytest.raises(InputError, match=words):
        agent.import_replay(changed(path, **columns))
    assert same(transitions(agent.state.everyone), before)


def test_other_files_and_environments_are_refused(tmp_path: Path) -> None:
    agent = deep.DoubleDQN("FrozenLake-v1", **SMALL).learn(20)
    agent.export_replay(tmp_path / "replay.parquet")
    with pytest.raises(InputError, match="it is of another environment"):
        deep.DoubleDQN("CartPole-v1", **SMALL).import_replay(tmp_path / "replay.parquet")
    (tmp_path / "text.parquet").write_text("no replay")
    for name in ("text.parquet", "nothing.parquet"):
        with pytest.raises(InputError, match="holds no replay that can be read"):
            agent.import_replay(tmp_path / name)


@pytest.mark.parametrize("task", ["CartPole-v1", "FrozenLake-v1"])
def test_a_dataset_of_minari(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    agent = deep.DoubleDQN(task, **SMALL).learn(35)
    agent.export_replay("minari:mine/test-v0")
    dataset = minari.load_dataset("mine/test-v0")
    assert dataset.total_steps == 35
    assert agent._episode is not None
    assert dataset.total_episodes == len(agent.episodes) + (agent._episode.actions != [])
    other = deep.DoubleDQN(task, seed=1, **SMALL)
    assert other.import_replay("minari:mine/test-v0") == 35
    assert same(transitions(other.state.everyone), transitions(agent.state.everyone))
    with pytest.raises(InputError, match="cannot be loaded"):
        agent.import_replay("minari:mine/other-v0")


def test_a_dataset_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Observations of several parts and actions that are a product are read as in an
    environment."""
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env = Sampled(SPACES["tuple"], ACTIONS["product"])
    env.action_space.seed(0)
    seen, taken = [env.reset(seed=0)[0]], [env.action_space.sample() for _ in range(7)]
    seen += [env.step(action)[0] for action in taken]
    ends = [False] * 6
    episode = minari.data_collector.EpisodeBuffer(
        id=0,
        observations=tuple(map(list, zip(*seen, strict=True))),
        actions=taken,
        rewards=[1.0] * 7,
        terminations=[*ends, True],
        truncations=[*ends, False],
    )
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Minari, which would know the authors
        minari.create_dataset_from_buffers("parts-v0", [episode], **spaces)
    agent = deep.DoubleDQN(Sampled(SPACES["tuple"], ACTIONS["product"]), **SMALL)
    assert agent.import_replay("minari:parts-v0") == 7
    kept = transitions(agent.state.everyone)
    assert [agent._as_action(int(i)).tolist() for i in kept.action] == np.array(taken).tolist()
    assert kept.discount.tolist() == [1.0] * 6 + [0.0]
    before = [agent._look(observation, {}).observation for observation in seen]
    assert np.array_equal(kept.observation, before[:-1])
    assert np.array_equal(kept.following, before[1:])
    with pytest.raises(InputError, match="several parts"):
        agent.export_replay("minari:again-v0")
