"""Deep reinforcement learning (Section 4.4, Appendix F): Dr Jekyll and Mr Hyde beside Double DQN
and soft actor-critic.

`train` and `sweep` compile whole training runs on the library's domains; `JekyllHyde`, `DoubleDQN`
and `DiscreteSAC` learn in any Gymnasium environment with discrete actions. Needs the extra `deep`
(JAX, Equinox, Optax, safetensors).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jekyllhyde.deep.agents import AGENTS as AGENTS
from jekyllhyde.deep.agents import CONFIGS as CONFIGS
from jekyllhyde.deep.agents import configure as configure
from jekyllhyde.deep.training import Batch as Batch
from jekyllhyde.deep.training import Case as Case
from jekyllhyde.deep.training import TrainResult as TrainResult
from jekyllhyde.deep.training import sweep as sweep
from jekyllhyde.deep.training import train as train

if TYPE_CHECKING:
    from jekyllhyde.deep.host import DiscreteSAC as DiscreteSAC
    from jekyllhyde.deep.host import DoubleDQN as DoubleDQN
    from jekyllhyde.deep.host import HostAgent as HostAgent
    from jekyllhyde.deep.host import JekyllHyde as JekyllHyde
    from jekyllhyde.deep.host import from_result as from_result

_HOST = ("DiscreteSAC", "DoubleDQN", "HostAgent", "JekyllHyde", "from_result")


def __getattr__(name: str) -> Any:
    # the host loop brings Gymnasium, which the compiled loop does without
    if name not in _HOST:
        raise AttributeError(f"module 'jekyllhyde.deep' has no attribute {name!r}")
    from jekyllhyde.deep import host

    return getattr(host, name)
