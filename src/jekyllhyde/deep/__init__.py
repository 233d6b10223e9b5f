"""Deep reinforcement learning (Section 4.4, Appendix F): Dr Jekyll and Mr Hyde beside Double DQN and soft actor-critic.

Needs the extra `deep` (JAX, Equinox, Optax, safetensors).
"""

from __future__ import annotations

from jekyllhyde.deep.agents import AGENTS as AGENTS
from jekyllhyde.deep.agents import CONFIGS as CONFIGS
from jekyllhyde.deep.agents import configure as configure
from jekyllhyde.deep.train import TrainResult as TrainResult
from jekyllhyde.deep.train import sweep as sweep
from jekyllhyde.deep.train import train as train
