"""`jh train`: agents that learn from samples: tabular ones on a known model or step by step on a
Gymnasium environment, and, on the library's own environments, agents with networks (`train_deep`).
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from jekyllhyde.cli.problem import Problem
from jekyllhyde.cli.show import Progress, show_table
from jekyllhyde.cli.train_deep import Deep, is_deep, run_deep
from jekyllhyde.errors import InputError, check_choice, check_count

if TYPE_CHECKING:
    from jekyllhyde.mdp.finite import Floats
    from jekyllhyde.tabular.agents import TabularAgent


@dataclass(frozen=True)
class Agent:
    """Options of the agent; those left out take the convention's value, and each agent takes its
    own.
    """

    epsilon: str | None = None
    """epsilon_t, probability that Hyde leads the next trajectory: 100/t, 10/sqrt(t), 0.1
    (jekyll-hyde).
    """
    o: str | None = None
    """o_t, probability that a sample comes from Hyde's buffer (jekyll-hyde)."""
    hyde: str | None = None
    """Hyde's policy: q_learning on his bonus, or uniform (jekyll-hyde)."""
    bonus: str | None = None
    """Hyde's bonus: ucb or count, 1/sqrt(n) (jekyll-hyde)."""
    density: str | None = None
    """Step factor along a trajectory: pg (gamma^k) or undiscounted (1)."""
    lam: float | None = None
    """lambda, entropy weight (on-policy)."""
    nu: float | None = None
    """nu, weight of a UCB bonus."""
    replay: bool | None = None
    """Learn from draws of all transitions so far (on-policy)."""
    eta: float | None = None
    """eta, step size of the actor."""
    eta_c: float | None = None
    """eta_c, step size of the critic."""
    q0: float | None = None
    """q_0, initial value of the critic."""
    critic: str | None = None
    """expected_sarsa, current, q_learning or mle."""
    parametrization: str | None = None
    """softmax or direct."""
    batch: int | None = None
    """Samples per step."""
    normalization: str | None = None
    """Of the actor's step: published, paper or none."""
    capacity: int | None = None
    """Bound on each replay buffer; unbounded by default."""


@dataclass(frozen=True)
class Train:
    """Let an agent learn from samples, many runs at once, with exact evaluation where the model is
    known.

    Tabular agents take the problems chain, garnet, four_rooms, deep_sea, files and Gymnasium ids;
    agents with networks take the environments FourRooms-v0, Chain-v0, Garnet-v0 and DeepSea-v0.
    """

    problem: tyro.conf.Positional[str]
    """chain, garnet, four_rooms, deep_sea, a file written by FiniteMDP.save, a Gymnasium id such as
    Taxi-v4, or FourRooms-v0.
    """
    options: Annotated[Problem, tyro.conf.arg(name="problem")] = field(default_factory=Problem)
    agent_options: Annotated[Agent, tyro.conf.arg(name="agent")] = field(default_factory=Agent)
    deep: Annotated[Deep, tyro.conf.arg(name="deep")] = field(default_factory=Deep)
    agent: str = "jekyll-hyde"
    """jekyll-hyde (Algorithm 3) or on-policy (Algorithm 2); networks: jekyll-hyde (Algorithm 4),
    ddqn, sac, ddqn-rnd, sac-rnd.
    """
    trajectories: int | None = None
    """Trajectories per run, on a known model (default: 10000)."""
    steps: int | None = None
    """Environment steps per run, on a Gymnasium environment (default: 100000)."""
    runs: int | None = None
    """Independent runs (default: 10)."""
    mdps: int = 1
    """Random MDPs, seeds mdp-seed, mdp-seed + 1, ..., `runs` runs on each (garnet)."""
    mdp_seed: int = 0
    """Which random MDP (garnet)."""
    seed: int = 0
    """Seed of the runs: run i draws from the stream (seed, i)."""
    target: float | None = None
    """Stop a run once its normalized return exceeds this."""
    convention: str = "published"
    """published (as the figures were made) or paper (the text, literally)."""
    out: Path | None = None
    """Folder for train.parquet and train.png."""
    json: bool = False
    """Print one JSON object instead of the table."""

    def run(self) -> int:
        """Learn, and say what came of it."""
        from jekyllhyde.planning.output import prepare_folder

        if is_deep(self.problem, self.agent):
            return run_deep(self)
        for name in self.deep.given():
            raise InputError(
                f"{name} is given, but {self.agent} on {self.problem} is tabular; FourRooms-v0 is learned with networks"
            )
        agent = self.make_agent(self.seed)
        folder = None if self.out is None else prepare_folder(self.out)
        on_environment = "-v" in self.problem and not Path(self.problem).exists()
        start = time.perf_counter()
        summary, files = (
            self.on_environment(folder) if on_environment else self.on_model(agent, folder)
        )
        seconds = time.perf_counter() - start
        if self.json:
            print(
                json.dumps(
                    {
                        "problem": self.problem,
                        "agent": agent.settings,
                        "seconds": seconds,
                        **summary,
                        "files": files,
                    }
                )
            )
            return 0
        show_table(
            f"{agent.name} on {self.problem} (mean and 95 % interval over {summary['runs']} runs)",
            summary["measured"],
        )
        for run, reason in summary["failures"].items():
            print(f"run {run} failed: {reason}")
        print(f"{summary['work']} in {seconds:.2f} s" + "".join(f"\n{file}" for file in files))
        return 0

    def n_runs(self) -> int:
        """The number of runs asked for."""
        return check_count(10 if self.runs is None else self.runs, "runs", 1)

    def make_agent(self, seed: int) -> TabularAgent:
        """The agent with those options that were given; options of another agent are refused."""
        from jekyllhyde.tabular.agents import TabularJekyllHyde, TabularOnPolicy

        kinds: dict[str, type[TabularAgent]] = {
            "jekyll-hyde": TabularJekyllHyde,
            "on-policy": TabularOnPolicy,
        }
        kind = kinds[check_choice(self.agent, "agent", kinds)]
        given = {
            name: value for name, value in asdict(self.agent_options).items() if value is not None
        }
        allowed = [f.name for f in fields(kind) if f.init]
        for name in given:
            if name not in allowed:
                raise InputError(
                    f"{self.agent} does not take {name}; it takes {', '.join(allowed)}"
                )
        return kind(
            **given, convention=self.convention, gamma=self.options.gamma or 0.99, seed=seed
        )

    def on_model(
        self, agent: TabularAgent, folder: Path | None
    ) -> tuple[dict[str, Any], list[str]]:
        """All runs at once on a known model, evaluated exactly."""
        from jekyllhyde.mdp.problem import make
        from jekyllhyde.tabular import output
        from jekyllhyde.tabular.learn import learn
        from jekyllhyde.tabular.learn_run import interval

        if self.steps is not None:
            raise InputError(
                f"steps is given, but {self.problem} has a known model; give trajectories"
            )
        trajectories = check_count(
            10_000 if self.trajectories is None else self.trajectories, "trajectories", 1
        )
        count, runs = check_count(self.mdps, "mdps", 1), self.n_runs()
        given = asdict(self.options) | {"convention": self.convention}
        if self.problem == "garnet":
            mdps = [
                make("garnet", **given, seed=check_count(self.mdp_seed, "mdp_seed", 0) + i)
                for i in range(count)
            ]
        elif count > 1:
            raise InputError(f"mdps is {count}, but {self.problem} is not random; give runs")
        else:
            mdps = [make(self.problem, **given)]
        with Progress(count * runs * trajectories, self.problem) as advance:
            result = learn(
                mdps,
                agent,
                trajectories=trajectories,
                runs=runs,
                seed=self.seed,
                target=self.target,
                progress=advance,
            )
        measured = [
            row(f"J_norm {name}", *interval(output.final(result, name))[:4])
            for name in ("global", "jekyll")
        ]
        if self.target is not None:
            times = result.summary(self.target)
            measured += [
                row(f"trajectories to {self.target:g}", *times[:4]),
                row("share censored", times.censored),
            ]
        files = [] if folder is None else output.write(result, folder)
        work = f"{int(result.steps.max(axis=1).sum())} steps"
        return {
            "runs": result.runs,
            "measured": measured,
            "failures": result.failures,
            "work": work,
        }, files

    def on_environment(self, folder: Path | None) -> tuple[dict[str, Any], list[str]]:
        """One agent per run, step by step on the environment."""
        import numpy as np

        from jekyllhyde.mdp.gymnasium import from_gymnasium, make_environment
        from jekyllhyde.tabular import output
        from jekyllhyde.tabular.learn_run import interval

        for name, value in {"trajectories": self.trajectories, "target": self.target}.items():
            if value is not None:
                raise InputError(
                    f"{name} is given, but {self.problem} is learned step by step; give steps"
                )
        steps = check_count(100_000 if self.steps is None else self.steps, "steps", 1)
        runs = self.n_runs()
        episodes, policies = [], []
        with Progress(runs * steps, self.problem) as advance:
            for run in range(runs):
                agent = self.make_agent(self.seed + run)
                episodes.append(agent.learn(make_environment(self.problem), steps, advance))
                policies.append(agent.pi)
        last = [
            float(np.mean(one.returns[-100:])) if len(one.returns) else np.nan for one in episodes
        ]
        measured = [row("return, last 100 episodes", *interval(np.array(last))[:4])]
        try:
            mdp = from_gymnasium(self.problem, gamma=self.options.gamma or 0.99)
        except InputError:
            mdp = None  # without a model there is no exact value
        if mdp is not None:
            J = np.array([mdp.evaluate(greedy(pi, mdp.n_states)).J for pi in policies])
            measured += [
                row("J of the greedy policy, exact", *interval(J)[:4]),
                row("J of the optimum", mdp.J_star),
            ]
        files = [] if folder is None else output.write_episodes(episodes, folder)
        return {
            "runs": runs,
            "measured": measured,
            "failures": {},
            "work": f"{runs * steps} steps",
        }, files


def row(
    quantity: str,
    mean: float,
    lo: float | None = None,
    hi: float | None = None,
    median: float | None = None,
) -> dict[str, Any]:
    """One line of the table."""
    return {"quantity": quantity, "mean": mean, "lo": lo, "hi": hi, "median": median}


def greedy(pi: Floats, n_states: int) -> Floats:
    """The greedy policy of `pi`, with a row for the terminal state that the imported model may have
    added.
    """
    import numpy as np

    actions = np.append(pi.argmax(axis=1), np.zeros(n_states - len(pi), dtype=int))
    return np.eye(pi.shape[1])[actions]
