"""What enters the digests of cells, so that runs stored by version 0.1 are found by later ones.

An option that 0.1 did not have enters only where it differs from its default, which must stand for
what 0.1 did. What 0.1 had is listed here, once.
"""

from collections.abc import Mapping
from typing import Any

_AGENT = """eta eta_c q0 parametrization critic mle_every nu batch normalization density capacity
    when_full successor convention"""
OPTIONS: dict[str, tuple[str, ...]] = {
    owner: tuple(names.split())
    for owner, names in {
        "chain": "n_states beta gamma convention",
        "garnet": "n_states n_actions connectivity gamma seed convention goal",
        "four_rooms": "level size gamma slip convention",
        "deep_sea": "n gamma convention",
        "plan": "parametrization density o eta lam updates target convention points",
        "learn": "agent trajectories target target_on horizon points",
        "deep": "agent config episodes every",
        "jekyll-hyde": f"{_AGENT} epsilon o hyde bonus hyde_q0 hyde_clip hyde_eta",
        "on-policy": f"{_AGENT} lam entropy nu_in update replay",
    }.items()
}


def stored(owner: str, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The values without those newer than 0.1 that are at their default; an owner that 0.1 did not
    have keeps all.
    """
    known = OPTIONS.get(owner, tuple(values))
    return {
        name: value
        for name, value in values.items()
        if name in known or name not in defaults or value != defaults[name]
    }
