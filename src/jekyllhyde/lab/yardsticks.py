"""The yardsticks of exploration: problems that nobody tuned for this package, by name.

YARDSTICKS has them all, so that an experiment can say "on every yardstick":

for name, yardstick in YARDSTICKS.items():
    Experiment(name, "learn", yardstick.problem, series, {"horizon": yardstick.horizon, ...})
"""

from typing import Any, NamedTuple

from jekyllhyde.lab.problems import problem_for_run
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.mdp.finite import FiniteMDP


class Yardstick(NamedTuple):
    """A problem by its name, its options, and the steps after which an episode is cut.

    `problem` is how experiments write it, and `make` its MDP in a run: locks, mazes and garnets
    are new in every run.
    """

    name: str
    options: dict[str, Any]
    horizon: int

    @property
    def problem(self) -> dict[str, Any]:
        return {"name": self.name, **self.options}

    def make(self, run: int = 0) -> FiniteMDP:
        return problem_for_run(self.problem, run)


def _own(name: str, **options: Any) -> Yardstick:
    return Yardstick(name, options, DOMAINS[name].cut(**options))


YARDSTICKS: dict[str, Yardstick] = {
    "chain": _own("chain"),
    "garnet": _own("garnet"),
    **{f"deep_sea_{n}": _own("deep_sea", n=n) for n in (10, 20, 30, 50, 100)},
    **{f"deep_sea_stochastic_{n}": _own("deep_sea", n=n, stochastic=True) for n in (10, 20, 30)},
    **{f"river_swim_{n}": _own("river_swim", n=n) for n in (6, 12, 24)},
    **{f"locks_{length}": _own("locks", length=length) for length in (6, 12, 25, 50)},
    "maze": _own("maze", rooms=4, size=5),
    "taxi": Yardstick("Taxi-v4", {}, 200),
    "cliff_walking": Yardstick("CliffWalking-v1", {}, 200),
    "frozen_lake_4x4": Yardstick("FrozenLake-v1", {}, 100),
    "frozen_lake_8x8": Yardstick("FrozenLake8x8-v1", {}, 200),
}
