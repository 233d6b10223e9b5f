"""What the conventions choose where an option is left at None.

`published` is as the paper's figures were made, `paper` its text, literally; `recommended` (J&H) is
what we would take for a task that nobody knows: one setting for all, chosen on some tasks and
reported on others (docs/exploration.md). The rows from `update` on are the on-policy agent's, whose
`density` is pg in the text; `entropy` has no effect on a sampled update.

| option        | in the text | published             | paper               | recommended     |
| ------------- | ----------- | --------------------- | ------------------- | --------------- |
| hyde          | Q-learning  | q_learning            | q_learning          | model_based     |
| bonus         | 1/sqrt(n)   | ucb                   | count               | count           |
| hyde_q0       | q_0         | 1                     | q0                  | 1 / (1 - gamma) |
| hyde_clip     | -           | 1                     | none                | none            |
| hyde_eta      | eta_c       | 0.1                   | eta_c               | -               |
| epsilon       | epsilon_t   | 100/t                 | 100/t               | curious         |
| replay        | tau ~ D     | logs                  | logs                | sweeping        |
| successor     | tau ~ D     | model: s' from both   | stored: as it was   | stored          |
| batch         | 1           | 1                     | 1                   | 16              |
| critic        | line 11     | expected_sarsa        | expected_sarsa      | model_based     |
| actor         | line 12     | the parametrization's | as published        | raise_hopeful   |
| eta           | eta         | 1                     | 1                   | 1000            |
| normalization | Appendix E  | times N / sum         | divided by the mean | none            |
| density       | d           | pg: factor gamma^k    | undiscounted, or pg | undiscounted    |
| update        | line 6      | expected              | sampled             |                 |
| nu_in         | line 6      | critic                | actor               |                 |
| entropy       | lambda      | plain: -lam log pi    | centred             |                 |
"""

import math
from typing import Any

Presets = dict[str, dict[str, Any]]
NORMALIZATIONS = ("published", "paper", "none")
CURIOUS, ADAPTIVE, BY_VISITS = "curious", "adaptive", "visits"
_PAPERS = {"eta": 1.0, "critic": "expected_sarsa", "batch": 1}
_HYDE = {**_PAPERS, "epsilon": "100/t", "hyde": "q_learning", "replay": "logs"}

JEKYLL_HYDE: Presets = {
    "recommended": {
        "epsilon": CURIOUS,
        "hyde": "model_based",
        "bonus": "count",
        "hyde_clip": math.inf,
        "replay": "sweeping",
        "successor": "stored",
        "batch": 16,
        "critic": "model_based",
        "actor": "raise_hopeful",
        "eta": 1000.0,
        "normalization": "none",
        "density": "undiscounted",
    },
    "published": {
        **_HYDE,
        "normalization": "published",
        "density": "pg",
        "bonus": "ucb",
        "hyde_q0": 1.0,
        "hyde_clip": 1.0,
        "hyde_eta": 0.1,
        "successor": "model",
    },
    "paper": {
        **_HYDE,
        "normalization": "paper",
        "density": "undiscounted",
        "bonus": "count",
        "hyde_clip": math.inf,
        "successor": "stored",
    },
}
ON_POLICY: Presets = {
    "published": {
        **_PAPERS,
        "normalization": "published",
        "density": "pg",
        "successor": "model",
        "entropy": "plain",
        "nu_in": "critic",
        "update": "expected",
    },
    "paper": {
        **_PAPERS,
        "normalization": "paper",
        "density": "pg",
        "successor": "stored",
        "entropy": "centred",
        "nu_in": "actor",
        "update": "sampled",
    },
}
