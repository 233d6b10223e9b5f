"""Gymnasium environments as problems of cells: an id, and the keywords that it is made with."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jekyllhyde import references
from jekyllhyde.errors import require
from jekyllhyde.lab.cell_settings import PLAIN
from jekyllhyde.lab.problems import ProblemKind
from jekyllhyde.mdp.gym_import import make_environment


def environment(problem: Mapping[str, Any], envs: int = 1) -> Any:
    """A new environment as the problem says, or a vector of several."""
    import gymnasium

    keywords = _keywords(problem)
    for name, value in keywords.items():
        require(
            isinstance(value, PLAIN),
            f"{name} is {value!r}; a keyword of an environment is a number, a text, true or false",
        )
    if envs == 1:
        return make_environment(str(problem["name"]), keywords)
    seeded = {"autoreset_mode": gymnasium.vector.AutoresetMode.DISABLED}
    return make_environment(
        lambda: gymnasium.make_vec(problem["name"], envs, "sync", seeded, None, **keywords)
    )


def complete_environment(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Id and keywords; a module that is imported for it by its content."""
    environment(problem).close()
    module, is_named, _ = str(problem["name"]).rpartition(":")
    spec = importlib.util.find_spec(module) if is_named else None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return dict(problem)
    return {**problem, "content": references.file_digest(Path(spec.origin))}


def _keywords(problem: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name != "name"}


ENVIRONMENTS = ProblemKind(
    options=_keywords,
    complete=complete_environment,
    example=environment,
    making=lambda problem: (0.0, False),
)
