"""What the paper changes on Four Rooms' second level, where no episode starts in the goal's room
(Appendix F): exploration lasts ten times as long.
"""

from typing import Any

LEVEL_2: dict[tuple[str, str], dict[str, Any]] = {
    ("jekyll_hyde", "published"): {"epsilon_1": 40_000.0},
    ("jekyll_hyde", "paper"): {"epsilon_1": 40_000.0},
    ("ddqn", "published"): {"epsilon_1": 100.0},
    ("ddqn", "recommended"): {"epsilon_1": 100.0},
}


def level_settings(agent: str, config: str, level: int) -> dict[str, Any]:
    """What a named configuration of an agent, with or without a bonus, changes on a level."""
    return LEVEL_2.get((agent.removesuffix("_rnd"), config), {}) if level == 2 else {}
