"""The domains as environments, in two faces made from the same finite MDP.

`tabular` and `rooms` are Gymnasium environments; `functional` is the same dynamics as pure JAX
functions, for a training loop that is compiled whole. Both have the model at hand, so whatever is
learned in them can be scored exactly.
"""

from __future__ import annotations

IDS = {
    "jekyllhyde/FourRooms-v0": "jekyllhyde.envs.rooms:FourRooms",
    "jekyllhyde/Chain-v0": "jekyllhyde.envs.tabular:make_chain",
    "jekyllhyde/Garnet-v0": "jekyllhyde.envs.tabular:make_garnet",
    "jekyllhyde/DeepSea-v0": "jekyllhyde.envs.tabular:make_deep_sea",
}


def register() -> None:
    """Make the ids above known to `gymnasium.make`; calling it again changes nothing."""
    import gymnasium

    for name, entry_point in IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(id=name, entry_point=entry_point)
