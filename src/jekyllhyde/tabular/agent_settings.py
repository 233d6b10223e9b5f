"""What the compiled loop asks of the settings of any tabular agent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from jekyllhyde.tabular.algorithm import Algorithm
    from jekyllhyde.tabular.run_state import RunState


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """Settings of a tabular agent: its options are the fields, and the rest says what it needs."""

    # Discount of the environment; on a known MDP the MDP's own holds.
    gamma: float = 0.99

    agent: ClassVar[str]
    values: ClassVar[str] = "q"  # the table that says what actions are worth

    def option(self, name: str) -> Any:
        """The value of an option; None where the agent has no such option."""
        return getattr(self, name, None)

    def resolved(self) -> dict[str, Any]:
        """Every option with its value in force, in the words of the command line."""
        return {name: self.option(name) for name in vars(self)}

    def begin(self, state: "RunState", gamma: float, r_max: float) -> None:
        """Prepare a fresh run on a problem of this discount and this largest |reward|."""

    def algorithm(self, state: "RunState", gamma: float) -> "Algorithm":
        """The records of all choices; `run_state.algorithm` has those of the paper's agents."""
        raise NotImplementedError

    def cut(self, n_states: int) -> int | None:
        """After how many steps a trajectory is cut where nobody says it: enough to cross any
        problem; None for never.
        """
        return 100 + n_states

    @property
    def is_practical(self) -> bool:
        """Whether endless episodes are cut in environments too, and Jekyll alone is judged."""
        return True

    @property
    def uses_replay(self) -> bool:
        """Whether transitions are kept."""
        return False

    @property
    def has_callables(self) -> bool:
        """Whether a schedule is a function of the user's, which is asked for in stretches."""
        return False

    @property
    def uses_model(self) -> bool:
        """Whether the empirical model is solved, which needs a known MDP."""
        return False

    @property
    def learns_model(self) -> bool:
        """Whether transitions are counted, for somebody who plans."""
        return False
