"""MiniGrid's cells are categories, not amounts: each is a one-hot code, kept as bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from jekyllhyde.envs.minigrid_cells import COLOURS, OBJECTS, STATES, kinds_of
from jekyllhyde.envs.space_parts import is_binary, parts_of, take_apart
from jekyllhyde.errors import InputError

ID = "minigrid:MiniGrid-DoorKey-5x5-v0"
GRID = Box(0, 255, (2, 1, 3), np.uint8)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def test_cells_by_hand() -> None:
    parts = parts_of(Dict(direction=Discrete(4), image=GRID), (3, 2, 2))
    assert [part.kind for part in parts] == ["categories", "cells"]
    assert [part.width for part in parts] == [4, 2 * (3 + 2 + 2)]
    seen = {"direction": 2, "image": np.array([[[2, 0, 1]], [[0, 1, 0]]], np.uint8)}
    vector, images = take_apart(parts, seen)
    cells = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0]
    assert vector.dtype == bool
    assert vector.astype(int).tolist() == [0, 0, 1, 0, *cells]
    assert images == ()
    batch = {name: np.stack([np.asarray(value)] * 3) for name, value in seen.items()}
    assert (take_apart(parts, batch)[0] == vector).all()
    seen["image"] = np.array([[[2, 0, 1]], [[0, 2, 0]]], np.uint8)
    with pytest.raises(InputError, match=r"the observation\['image'\] is 2; it must be an integer"):
        take_apart(parts, seen)


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (GRID, "cells"),
        (Box(0, 255, (2, 1, 4), np.uint8), "numbers"),  # other channels
        (Box(0, 10, (2, 1, 3), np.uint8), "numbers"),  # other bounds
        (Box(0.0, 255.0, (2, 1, 3)), "numbers"),
        (Box(0, 255, (56, 56, 3), np.uint8), "image"),  # a picture of the grid
    ],
)
def test_what_counts_as_a_grid(space: Box, kind: str) -> None:
    assert [part.kind for part in parts_of(space, (3, 2, 2))] == [kind]
    assert [part.kind for part in parts_of(space)] == [{"cells": "numbers"}.get(kind, kind)]


def test_vectors_with_numbers_stay_numbers() -> None:
    parts = parts_of(Dict(image=GRID, speed=Box(-1.0, 1.0, (1,))), (3, 2, 2))
    seen = {"image": np.zeros((2, 1, 3), np.uint8), "speed": np.array([0.5], np.float32)}
    assert not is_binary(parts)
    assert take_apart(parts, seen)[0].tolist() == [0.5] + [1, 0, 0, 1, 0, 1, 0] * 2
    assert not is_binary(parts_of(Dict(image=GRID, where=Discrete(600)), (3, 2, 2)))
    assert not is_binary(parts_of(Discrete(3)))


def test_which_environments_have_cells() -> None:
    minigrid = pytest.importorskip("minigrid")
    constants = minigrid.core.constants
    largest = [
        max(table.values()) + 1 for table in (constants.OBJECT_TO_IDX, constants.COLOR_TO_IDX)
    ]
    assert largest == [OBJECTS, COLOURS]
    assert max(constants.STATE_TO_IDX.values()) < STATES == len(constants.DIR_TO_VEC)
    env = gym.make(ID)
    kinds = (OBJECTS, COLOURS, STATES)
    assert kinds_of(env) == kinds_of(gym.make_vec(ID, 2, "sync")) == kinds

    class Own(type(env.unwrapped)):  # type: ignore[misc]
        pass

    assert kinds_of(Own()) == kinds
    assert kinds_of(gym.make("CartPole-v1")) == kinds_of(gym.make_vec("CartPole-v1", 2)) == ()
    pictures = minigrid.wrappers.RGBImgPartialObsWrapper(env)
    assert "image" in [part.kind for part in parts_of(pictures.observation_space, kinds)]
    seen, _ = env.reset(seed=0)
    vector, _ = take_apart(parts_of(env.observation_space, kinds), seen)
    assert vector.shape == (4 + 49 * 21,)
    assert vector.sum() == 1 + 49 * 3


def test_an_agent_in_minigrid(tmp_path: Path) -> None:
    deep = pytest.importorskip("jekyllhyde.deep")
    pytest.importorskip("minigrid")
    small: dict[str, Any] = {"hidden": (8,), "batch": 8, "capacity": 50}
    agent = deep.DoubleDQN(ID, seed=0, bonus="counts", **small).learn(40)
    assert [part.kind for part in agent.space.parts] == ["categories", "cells"]
    assert agent.state.everyone.data.observation.dtype == np.uint8  # eight bits each
    env = gym.make(ID)
    assert 0 <= agent.predict(env.reset(seed=0)[0]) < 7
    agent.save(tmp_path / "agent")
    loaded = deep.DoubleDQN.load(tmp_path / "agent", gym.make(ID))
    assert loaded.space == agent.space
    agent.export_replay(tmp_path / "replay.parquet")
    assert loaded.import_replay(tmp_path / "replay.parquet") == 40
    assert (agent.learn(5).steps, loaded.learn(5).steps) == (45, 45)


def test_what_was_recommended_before_stays_as_it_was(tmp_path: Path) -> None:
    deep = pytest.importorskip("jekyllhyde.deep")
    pytest.importorskip("minigrid")
    agent = deep.DoubleDQN(ID, config="recommended_0_3", hidden=(8,), batch=8, capacity=50)
    assert [part.kind for part in agent.space.parts] == ["categories", "numbers"]
    agent.save(tmp_path / "agent")
    assert deep.DoubleDQN.load(tmp_path / "agent", gym.make(ID)).space == agent.space
