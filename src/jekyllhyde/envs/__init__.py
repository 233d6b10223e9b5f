"""The domains as environments, in two faces made from the same finite MDP.

`tabular` has Gymnasium environments; `functional` the same dynamics as pure JAX functions, for a
training loop that is compiled whole. Both have the model at hand, so whatever is learned in them
can be scored exactly. `pixel_sea` shows one of them as an image; `swing_up` is a yardstick without
a model, bsuite's cart-pole. `remembering` adds to any environment's observations what was done
before in the episode.
"""

import importlib
from typing import TYPE_CHECKING, Any

from jekyllhyde.mdp.domains import DOMAINS, NAMESPACE

if TYPE_CHECKING:
    from jekyllhyde.envs.environment_check import EnvironmentCheck, check_env
    from jekyllhyde.envs.pixel_sea import PixelDeepSea
    from jekyllhyde.envs.remembering import Remembering
    from jekyllhyde.envs.swing_up import CartPoleSwingUp
    from jekyllhyde.envs.tabular import FourRooms, TabularEnv

# environments that are no domains, by their ids
ENVIRONMENTS = {
    f"{NAMESPACE}CartPoleSwingUp-v0": "jekyllhyde.envs.swing_up:CartPoleSwingUp",
    f"{NAMESPACE}PixelDeepSea-v0": "jekyllhyde.envs.pixel_sea:PixelDeepSea",
    f"{NAMESPACE}Remembering-v0": "jekyllhyde.envs.remembering:make_remembering",
}
_HOME = {
    "CartPoleSwingUp": "swing_up",
    "EnvironmentCheck": "environment_check",
    "FourRooms": "tabular",
    "PixelDeepSea": "pixel_sea",
    "Remembering": "remembering",
    "TabularEnv": "tabular",
    "check_env": "environment_check",
}

__all__ = [
    "CartPoleSwingUp",
    "EnvironmentCheck",
    "FourRooms",
    "PixelDeepSea",
    "Remembering",
    "TabularEnv",
    "check_env",
    "register",
]


def register() -> None:
    """Make the ids of domains and environments known to `gymnasium.make`; calling it again changes
    nothing.
    """
    import gymnasium

    for name, home in ENVIRONMENTS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=home)
    for domain in DOMAINS.values():
        if domain.id not in gymnasium.registry:
            gymnasium.register(
                id=domain.id,
                entry_point=domain.environment or "jekyllhyde.envs.tabular:TabularEnv",
                kwargs={} if domain.environment else {"mdp": domain.name},
            )


def __getattr__(name: str) -> Any:
    # the rest needs Gymnasium, which a machine that only computes may lack
    if name not in _HOME:
        raise AttributeError(f"module 'jekyllhyde.envs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"jekyllhyde.envs.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
