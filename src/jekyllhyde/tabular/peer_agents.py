"""The field's tabular explorers as agents: `peers` says what they do, `peer_settings` what they
can be told.
"""

from typing import Any

from jekyllhyde.tabular.agents import TabularAgent, keywords_of
from jekyllhyde.tabular.peer_settings import (
    PsrlSettings,
    QLearningSettings,
    UcbHSettings,
    UcbviSettings,
)


class TabularQLearning(TabularAgent):
    """Q-learning, epsilon-greedy, optimistic at first where `optimism` is above 0."""

    name = "tabular_q_learning"
    settings_type = QLearningSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        epsilon: float = 0.1,
        eta_c: float | str = 0.1,
        optimism: float = 0.0,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**keywords_of(locals()))


class TabularUcbH(TabularAgent):
    """Q-learning with the Hoeffding bonus (Jin et al., 2018)."""

    name = "tabular_ucb_h"
    settings_type = UcbHSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        c: float = 0.001,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**keywords_of(locals()))


class TabularUcbvi(TabularAgent):
    """UCBVI, optimistic values in the learned model (Azar et al., 2017)."""

    name = "tabular_ucbvi"
    settings_type = UcbviSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        c: float = 0.01,
        batch: int = 16,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**keywords_of(locals()))


class TabularPsrl(TabularAgent):
    """Posterior sampling (Osband et al., 2013)."""

    name = "tabular_psrl"
    settings_type = PsrlSettings

    def __init__(
        self,
        env: Any = None,
        *,
        seed: int = 0,
        alpha: float = 0.1,
        sigma: float = 0.1,
        mu: float = 1.0,
        gamma: float = 0.99,
        r_max: float | None = None,
        lookahead: float | None = None,
    ) -> None:
        super().__init__(**keywords_of(locals()))
