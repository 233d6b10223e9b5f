"""Reinforcement learning that plans where the policy does not go.

The flat public API of the library after "Dr Jekyll and Mr Hyde: The Strange Case of Off-Policy
Policy Updates" (NeurIPS 2021). Names are loaded when first used: importing the package imports
neither plotting, nor JAX, nor Ray. It makes the environments of `jekyllhyde.envs` known to
Gymnasium, where that is installed.
"""

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from jekyllhyde import deep as deep
    from jekyllhyde import lab as lab
    from jekyllhyde import theory as theory
    from jekyllhyde.agent import Agent as Agent
    from jekyllhyde.check import check_agent as check_agent
    from jekyllhyde.errors import InputError as InputError
    from jekyllhyde.lab.spec import Experiment as Experiment
    from jekyllhyde.mdp.chain import chain as chain
    from jekyllhyde.mdp.deep_sea import deep_sea as deep_sea
    from jekyllhyde.mdp.domains import Domain as Domain
    from jekyllhyde.mdp.domains import find_domain as find_domain
    from jekyllhyde.mdp.evaluation import Evaluation as Evaluation
    from jekyllhyde.mdp.finite import FiniteMDP as FiniteMDP
    from jekyllhyde.mdp.garnet import garnet as garnet
    from jekyllhyde.mdp.gym_import import from_gymnasium as from_gymnasium
    from jekyllhyde.mdp.optimum import Optimum as Optimum
    from jekyllhyde.mdp.rooms import four_rooms as four_rooms
    from jekyllhyde.planning.plan import plan as plan
    from jekyllhyde.planning.plan_run import PlanRun as PlanRun
    from jekyllhyde.schedule import Schedule as Schedule
    from jekyllhyde.tabular.agents import TabularJekyllHyde as TabularJekyllHyde
    from jekyllhyde.tabular.agents import TabularOnPolicy as TabularOnPolicy
    from jekyllhyde.tabular.learn import learn as learn
    from jekyllhyde.tabular.learn_run import LearnRun as LearnRun

_HOME = {
    "deep": "jekyllhyde.deep",
    "lab": "jekyllhyde.lab",
    "theory": "jekyllhyde.theory",
    "Agent": "jekyllhyde.agent",
    "Experiment": "jekyllhyde.lab.spec",
    "InputError": "jekyllhyde.errors",
    "chain": "jekyllhyde.mdp.chain",
    "deep_sea": "jekyllhyde.mdp.deep_sea",
    "Domain": "jekyllhyde.mdp.domains",
    "find_domain": "jekyllhyde.mdp.domains",
    "four_rooms": "jekyllhyde.mdp.rooms",
    "garnet": "jekyllhyde.mdp.garnet",
    "Evaluation": "jekyllhyde.mdp.evaluation",
    "FiniteMDP": "jekyllhyde.mdp.finite",
    "from_gymnasium": "jekyllhyde.mdp.gym_import",
    "Optimum": "jekyllhyde.mdp.optimum",
    "plan": "jekyllhyde.planning.plan",
    "PlanRun": "jekyllhyde.planning.plan_run",
    "Schedule": "jekyllhyde.schedule",
    "TabularJekyllHyde": "jekyllhyde.tabular.agents",
    "TabularOnPolicy": "jekyllhyde.tabular.agents",
    "check_agent": "jekyllhyde.check",
    "learn": "jekyllhyde.tabular.learn",
    "LearnRun": "jekyllhyde.tabular.learn_run",
}

__all__ = [*_HOME, "__version__"]  # noqa: PLE0604 (the keys are strings)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'jekyllhyde' has no attribute {name!r}")
    module = importlib.import_module(_HOME[name])
    value = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


with contextlib.suppress(ImportError):
    from jekyllhyde.envs import register

    register()
