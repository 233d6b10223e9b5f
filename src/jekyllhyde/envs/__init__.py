"""The domains as environments, in two faces made from the same finite MDP.

`tabular` has Gymnasium environments; `functional` the same dynamics as pure JAX functions, for a
training loop that is compiled whole. Both have the model at hand, so whatever is learned in them
can be scored exactly.
"""

import importlib
from typing import TYPE_CHECKING, Any

from jekyllhyde.mdp.domains import DOMAINS

if TYPE_CHECKING:
    from jekyllhyde.envs.environment_check import EnvironmentCheck, check_env
    from jekyllhyde.envs.tabular import FourRooms, TabularEnv

__all__ = ["EnvironmentCheck", "FourRooms", "TabularEnv", "check_env", "register"]


def register() -> None:
    """Make the domains' ids known to `gymnasium.make`; calling it again changes nothing."""
    import gymnasium

    for domain in DOMAINS.values():
        if domain.id not in gymnasium.registry:
            gymnasium.register(
                id=domain.id,
                entry_point=domain.environment or "jekyllhyde.envs.tabular:TabularEnv",
                kwargs={} if domain.environment else {"mdp": domain.name},
            )


def __getattr__(name: str) -> Any:
    # the rest needs Gymnasium, which a machine that only computes may lack
    if name not in __all__:
        raise AttributeError(f"module 'jekyllhyde.envs' has no attribute {name!r}")
    module = "tabular" if name in ("FourRooms", "TabularEnv") else "environment_check"
    return getattr(importlib.import_module(f"jekyllhyde.envs.{module}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
