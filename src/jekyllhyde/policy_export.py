"""A policy that leaves the library: a folder with its weights, a forward pass in NumPy alone, a
model card, and an ONNX graph where one is asked for.

    policy.npz    the arrays of the forward pass          policy.py    the forward pass
    README.md     the model card                          policy.onnx  the same as a graph
"""

import dataclasses
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from jekyllhyde import __version__, numpy_policy
from jekyllhyde.agent import LAST
from jekyllhyde.episode import name_of
from jekyllhyde.errors import need, require
from jekyllhyde.files import write_folder, write_npz, write_text
from jekyllhyde.onnx_policy import onnx_policy

WEIGHTS, CODE, CARD, GRAPH = "policy.npz", "policy.py", "README.md", "policy.onnx"
PACKAGES = ("numpy", "numba", "gymnasium", "jax", "equinox", "optax", "pyarrow")


class Exported(NamedTuple):
    """What of an agent leaves: the arrays of its greedy policy by name (see `numpy_policy`), in
    words what an observation and an action are, how many numbers an observation has (0 where it is
    an index), and the sizes of its images.
    """

    arrays: dict[str, Any]
    observation: str
    action: str
    width: int = 0
    images: tuple[tuple[int, int, int], ...] = ()


def export(agent: Any, policy: Exported, path: str | Path, onnx: bool) -> None:
    """Write the folder, which takes the place of one written before."""
    folder = Path(path)
    need("onnx" if onnx else None)
    files = {WEIGHTS, CODE, CARD, GRAPH}
    require(
        not folder.is_dir() or {file.name for file in folder.iterdir()} <= files,
        f"path is {str(folder)!r}, which holds other files; give a folder of its own",
    )

    def fill(partial: Path) -> None:
        write_npz(partial / WEIGHTS, policy.arrays)
        write_text(partial / CODE, Path(numpy_policy.__file__).read_text())
        write_text(partial / CARD, model_card(agent, policy, onnx))
        if onnx:
            graph = onnx_policy(policy.arrays, policy.width, policy.images)
            (partial / GRAPH).write_bytes(graph)

    write_folder(folder, fill)


DRAWN = (
    "\n\nThe agent draws its actions with the probabilities softmax(`policy.scores(...)`); the "
    "most probable ones, which `policy.action` has, may go in circles."
)


def model_card(agent: Any, policy: Exported, onnx: bool = False) -> str:
    """What the policy is, where it was trained, what it is worth, and how it is used."""
    task = "an environment that is not known any more" if agent.env is None else name_of(agent.env)
    last = agent.episodes.returns[-LAST:]
    scores = {
        f"mean return of the last {len(last)} episodes of learning": f"{last.mean():.4g}"
        if len(last)
        else "none has ended",
    }
    for row in agent.evaluations[-1:]:
        how = "drawn" if agent.draws_actions else "most probable"
        name = f"mean of {row['episodes']:.0f} episodes of {how} actions at step {row['step']:.0f}"
        scores[name] = f"{row['mean']:.4g}, 95 % interval [{row['lo']:.4g}, {row['hi']:.4g}]"
    sections = {
        "Task": f"Observation: {policy.observation}.\n\nAction: {policy.action}.",
        "Use": _use(policy, onnx) + DRAWN * agent.draws_actions,
        "Scores": _table(scores) + "\n\nThey hold for this environment alone.",
        "Settings": _table({"seed": agent.seed, "steps": agent.steps, **_settings(agent.settings)}),
        "Versions": _table(versions()),
    }
    text = "\n\n".join(f"## {title}\n\n{body}" for title, body in sections.items())
    about = f"A greedy policy for {task}, learned by {agent.name} of jekyllhyde {__version__}."
    return f"# {agent.name} on {task}\n\n{about}\n\n{text}\n"


def versions() -> dict[str, str]:
    """Of Python, of this library, and of what it computes with."""
    known = {"python": platform.python_version(), "jekyllhyde": __version__}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def _use(policy: Exported, onnx: bool) -> str:
    called = "observation" if policy.width or "table" in policy.arrays else "images=[image]"
    if policy.images and called == "observation":
        called = "observation, images=[image]"
    lines = ["from policy import Policy  # policy.py, which needs NumPy alone", ""]
    lines += ['policy = Policy(".")', f"action = policy.action({called})"]
    text = "```python\n" + "\n".join(lines) + "\n```"
    if onnx:
        text += (
            f"\n\n`{GRAPH}` is the same as a graph, for batches: its outputs are `scores` and "
            "`action`, an index counted from 0."
        )
    return text


def _settings(settings: Any) -> dict[str, Any]:
    return {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}


def _table(values: Mapping[str, Any]) -> str:
    rows = [f"| {name} | {value} |" for name, value in values.items()]
    return "\n".join(["| | |", "| --- | --- |", *rows])
