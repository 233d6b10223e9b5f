"""A policy that leaves: NumPy alone and ONNX agree with `predict`, and the card says what it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from boundary_envs import ACTIONS, SPACES, Sampled
from jekyllhyde import deep
from jekyllhyde.cli import main
from jekyllhyde.deep import spaces
from jekyllhyde.deep.encoders import Seen
from jekyllhyde.errors import InputError
from jekyllhyde.numpy_policy import Policy

SMALL: dict[str, Any] = {"hidden": (8,), "batch": 8, "capacity": 60}


def inputs(agent: Any, observation: Any) -> tuple[Any, tuple[Any, ...]]:
    """What the forward pass takes: an index, a vector, or a vector and images."""
    if agent.space.n_states is not None:
        return observation, ()
    x = spaces.read(agent.space, observation)
    return (x.vector, x.images) if isinstance(x, Seen) else (x, ())


def scores(agent: Any, observations: list[Any]) -> np.ndarray:
    """What the agent is greedy in: q of Double DQN, log-probabilities of the others up to a
    constant."""
    if isinstance(agent, deep.DoubleDQN):
        return np.array([agent.q(observation) for observation in observations])
    return np.log([agent.probabilities(observation) for observation in observations])


RUN = """
import sys
import numpy as np
import onnxruntime
graph, given, outputs = sys.argv[1:]
session, values = onnxruntime.InferenceSession(graph), np.load(given)
kinds = {place.name: place.type for place in session.get_inputs()}
assert set(kinds) <= set(values), (kinds, list(values))
feed = {
    name: values[name].astype(np.int64) if kind == "tensor(int64)" else values[name]
    for name, kind in kinds.items()
}
names = [place.name for place in session.get_outputs()]
np.savez(outputs, **dict(zip(names, session.run(names, feed))))
"""


def exported(agent: Any, folder: Path) -> Policy:
    agent.export(folder, onnx=True)
    return Policy(folder)


def run_graph(folder: Path, **feed: Any) -> Any:
    """The outputs of policy.onnx, in a program of its own: where the policy goes there is neither
    JAX nor Numba."""
    if find_spec("onnxruntime") is None:
        pytest.skip("the extra onnx is not installed")
    given, outputs = folder / "given.npz", folder / "outputs.npz"
    np.savez(given, **feed)
    subprocess.run(
        [sys.executable, "-c", RUN, str(folder / "policy.onnx"), str(given), str(outputs)],
        check=True,
    )
    return np.load(outputs)


@pytest.mark.parametrize("kind", [name for name in SPACES if name != "with text"])
def test_both_forms_agree_with_the_agent(kind: str, tmp_path: Path) -> None:
    env = Sampled(SPACES[kind], ACTIONS["product" if kind == "dict" else "shifted"])
    cls = deep.DoubleDQN if kind in ("vector", "pixels") else deep.DiscreteSAC
    agent = cls(env, **SMALL).learn(30)
    policy = exported(agent, tmp_path / "policy")
    env.observation_space.seed(1)
    observations = [env.observation_space.sample() for _ in range(12)]
    expected = scores(agent, observations)
    pairs = [inputs(agent, observation) for observation in observations]
    ours = np.array([policy.scores(*pair) for pair in pairs])
    images = [np.array(each) for each in zip(*(images for _, images in pairs), strict=True)]
    batch = policy.scores(np.array([x for x, _ in pairs]), images)
    feed = {"observation": np.array([x for x, _ in pairs])}
    feed |= {f"image_{i}": each for i, each in enumerate(images)}
    outputs = run_graph(tmp_path / "policy", **feed)
    theirs, actions = outputs["scores"], outputs["action"]
    np.testing.assert_allclose(batch, ours, atol=1e-5)
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
    offset = ours - expected
    assert np.ptp(offset, axis=-1).max() < 1e-4
    assert np.ptp(ours) > 1e-3  # not all the same
    for observation, pair, index in zip(observations, pairs, actions, strict=True):
        chosen = agent.predict(observation, deterministic=True)
        assert np.array_equal(policy.action(*pair), chosen)
        assert np.array_equal(agent._as_action(int(index)), chosen)


@pytest.mark.parametrize("trained", [False, True])
def test_tables_of_states_are_part_of_it(trained: bool, tmp_path: Path) -> None:
    agent = deep.JekyllHyde("FrozenLake-v1", trained_embedding=trained, hidden_hyde=(8,), **SMALL)
    policy = exported(agent.learn(20), tmp_path / "policy")
    states = np.arange(16)
    assert np.array_equal(policy.action(states), agent.predict(states))


def test_a_normalized_actor_leaves_in_both_forms(tmp_path: Path) -> None:
    agent = deep.JekyllHyde("CartPole-v1", normalized_actor=True, hidden_hyde=(8,), **SMALL)
    policy = exported(agent.learn(20), tmp_path / "policy")
    x = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
    expected = scores(agent, list(x))
    assert np.ptp(policy.scores(x) - expected, axis=-1).max() < 1e-4
    outputs = run_graph(tmp_path / "policy", observation=x)
    np.testing.assert_allclose(outputs["scores"], policy.scores(x), atol=1e-5)


def test_a_tabular_policy_leaves_too(tmp_path: Path) -> None:
    agent = jh.TabularJekyllHyde("FrozenLake-v1", seed=1).learn(800)
    policy = exported(agent, tmp_path / "policy")
    states = np.arange(16)
    assert np.array_equal(policy.action(states), agent.predict(states))
    outputs = run_graph(tmp_path / "policy", observation=states)
    assert np.array_equal(outputs["action"], agent.predict(states))


def test_a_mask_is_heeded(tmp_path: Path) -> None:
    agent = deep.DoubleDQN("CartPole-v1", **SMALL)
    agent.export(tmp_path / "policy")
    policy, x = Policy(tmp_path / "policy"), np.ones(4)
    assert [policy.action(x, mask=mask) for mask in ([1, 0], [0, 1])] == [0, 1]


def test_the_folder_needs_numpy_alone(tmp_path: Path) -> None:
    agent = deep.DoubleDQN("CartPole-v1", **SMALL).learn(40)
    agent.export(tmp_path / "policy")
    assert {file.name for file in (tmp_path / "policy").iterdir()} == {
        "policy.npz",
        "policy.py",
        "README.md",
    }
    tree = ast.parse((tmp_path / "policy" / "policy.py").read_text())
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    assert modules == {"numpy", "pathlib", "typing"}
    code = "from policy import Policy; print(Policy('.').action([0.0, 0.1, 0.0, -0.1]))"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "policy", capture_output=True, check=True
    )
    assert int(answer.stdout) == agent.predict([0.0, 0.1, 0.0, -0.1])


def test_the_card_says_what_it_is(tmp_path: Path) -> None:
    agent = jh.TabularJekyllHyde("FrozenLake-v1", seed=3).learn(600, eval_every=300)
    agent.export(tmp_path / "policy")
    card = (tmp_path / "policy" / "README.md").read_text()
    assert card.startswith("# tabular_jekyll_hyde on FrozenLake-v1\n")
    assert "an integer from 0 to 15" in card
    assert "of 10 episodes of most probable actions at step 600" in card
    for cell in ("| seed | 3 |", "| steps | 600 |", "| gamma | 0.99 |", jh.__version__):
        assert cell in card
    env: Any = Sampled(SPACES["dict"], ACTIONS["product"])
    deep.DiscreteSAC(env, **SMALL).export(tmp_path / "dict")
    card = (tmp_path / "dict" / "README.md").read_text()
    assert "entries 0 to 1: `observation['where']['x']`" in card
    assert "2 integers (5 to 6, 0 to 2)" in card


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    agent = deep.DoubleDQN("CartPole-v1", **SMALL)
    with pytest.raises(InputError, match="holds other files"):
        agent.export(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_jh_export(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = str(tmp_path / "lake")
    assert main(["train", "FrozenLake-v1", "--steps", "300", "--out", out]) == 0
    capsys.readouterr()
    assert main(["export", out, "--out", str(tmp_path / "policy")]) == 0
    assert "README.md" in capsys.readouterr().out
    agent = jh.TabularJekyllHyde.load(tmp_path / "lake" / "agent" / "agent.npz")
    policy = Policy(tmp_path / "policy")
    assert np.array_equal(policy.action(np.arange(16)), agent.predict(np.arange(16)))
