"""Reinforcement learning that plans where the policy does not go.

The flat public API of the library after "Dr Jekyll and Mr Hyde: The Strange Case of Off-Policy
Policy Updates" (NeurIPS 2021). Names are loaded when first used: importing the package imports
neither plotting, nor JAX, nor Ray. It makes the environments of `jekyllhyde.envs` known to
Gymnasium.
"""

import ast
import contextlib
import importlib
from pathlib import Path
from typing import Any

from jekyllhyde.envs import register

__version__ = "0.13.0"

# The public names and their homes stand once, in the imports that type checkers read.
_HOME = {
    name.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text()).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
__all__ = [*_HOME, "__version__"]  # noqa: PLE0604 (the keys are strings)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jekyllhyde' has no attribute {name!r}")
    if _HOME[name] == __name__:
        return importlib.import_module(f"{__name__}.{name}")
    return globals().setdefault(name, getattr(importlib.import_module(_HOME[name]), name))


def __dir__() -> list[str]:
    return sorted(__all__)


with contextlib.suppress(ImportError):  # a machine that only computes may lack Gymnasium
    register()
