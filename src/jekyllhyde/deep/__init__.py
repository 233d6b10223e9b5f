"""Deep reinforcement learning (Section 4.4, Appendix F): Dr Jekyll and Mr Hyde beside Double DQN,
bootstrapped DQN and soft actor-critic.

`train` and `sweep` compile whole training runs on the library's domains; `JekyllHyde`, `DoubleDQN`,
`BootstrappedDQN` and `DiscreteSAC` learn in any Gymnasium environment with discrete actions. Needs
the extra `deep` (JAX, Equinox, Optax, safetensors).
"""

from typing import TYPE_CHECKING, Any

from jekyllhyde.errors import need

need("deep")

from jekyllhyde.deep.configurations import ALGORITHMS, CONFIGS, configure, describe  # noqa: E402
from jekyllhyde.deep.training import (  # noqa: E402
    Batch,
    Case,
    TrainResult,
    make_case,
    sweep,
    train,
)

if TYPE_CHECKING:
    from jekyllhyde.deep.agents import (
        BootstrappedDQN,
        DiscreteSAC,
        DoubleDQN,
        JekyllHyde,
        from_result,
    )
    from jekyllhyde.deep.deep_agent import DeepAgent

__all__ = [
    "ALGORITHMS",
    "CONFIGS",
    "Batch",
    "BootstrappedDQN",
    "Case",
    "DeepAgent",
    "DiscreteSAC",
    "DoubleDQN",
    "JekyllHyde",
    "TrainResult",
    "configure",
    "describe",
    "from_result",
    "make_case",
    "sweep",
    "train",
]


def __getattr__(name: str) -> Any:
    # the rest brings Gymnasium, which the compiled loop does without
    if name not in __all__:
        raise AttributeError(f"module 'jekyllhyde.deep' has no attribute {name!r}")
    from jekyllhyde.deep import agents

    return getattr(agents, name)


def __dir__() -> list[str]:
    return sorted(__all__)
