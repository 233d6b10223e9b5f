"""`jh train` in an environment, step by step: checkpoints, evaluations, going on after a stop."""

import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from jekyllhyde.agent import LAST, Record, make_agent
from jekyllhyde.cli.flags import keywords_of, settings_of
from jekyllhyde.cli.live_table import live_table
from jekyllhyde.cli.training_folder import TrainingFolder
from jekyllhyde.cli.training_page import write_page
from jekyllhyde.cli.training_processes import run_in_processes
from jekyllhyde.cli.training_task import Outcome, Stopped, Task, row
from jekyllhyde.envs.tabular import TabularEnv
from jekyllhyde.envs.vector_lanes import RESET_HERE
from jekyllhyde.errors import InputError, check_count, require
from jekyllhyde.mdp.finite import Floats
from jekyllhyde.mdp.gym_import import make_environment
from jekyllhyde.stepwise_agent import StepwiseAgent

UNLIMITED = 10**15  # steps, where episodes are counted
EVALUATIONS, LEAST_BETWEEN = 20, 500  # of a training whose number is not given, and steps between


def learn_step_by_step(
    task: Task,
    steps: int | None = None,
    episodes: int | None = None,
    runs: int = 1,
    workers: int | None = None,
    envs: int = 1,
    eval_every: int | None = None,
    eval_episodes: int = 10,
    checkpoint_every: int = 10_000,
    env_kwargs: tuple[str, ...] = (),
    mdp_seed: int = 0,
) -> Outcome:
    """One agent per run, step by step in the environment.

    steps : environment steps per run; 100,000 where no episodes are given either.
    episodes : episodes per run; what comes first ends it.
    runs : independent runs; --seeds is the same.
    workers : processes that share the runs; by default as many as there are cores.
    envs : copies of the environment that an agent with networks learns from in turns.
    eval_every : steps between evaluations of the policy in an environment of its own; with
        --out a twentieth of the steps where it is not given. 0: none.
    eval_episodes : episodes of an evaluation.
    checkpoint_every : steps between checkpoints in the folder --out.
    env_kwargs : keywords of the environment, as in size=8 is_slippery=False.
    mdp_seed : which random MDP.
    """
    steps = steps or (UNLIMITED if episodes else 100_000)
    if eval_every is None and task.out is not None:
        eval_every = max(LEAST_BETWEEN, min(steps, 100_000) // EVALUATIONS)
    evaluation = {"eval_every": eval_every, "eval_episodes": eval_episodes} if eval_every else {}
    limits = Limits(steps, episodes, evaluation, checkpoint_every)
    make = _makers(task, keywords_of(env_kwargs), mdp_seed, envs)
    folder = None if task.out is None else TrainingFolder(task.out, runs, task.record)
    if task.run is not None:  # in a worker
        return _empty(_train(task, folder, task.run, limits, make))
    if folder is not None and not task.resume:
        folder.require_empty()
    agents = [_agent(task, folder, 0, make)]  # what is wrong is said before any work
    task.announce()
    if folder is not None:
        folder.clear()
        folder.write_config(task.arguments, settings_of(agents[0].settings))
    count = min(runs, workers or os.cpu_count() or 1)
    if count > 1 and folder is not None and isinstance(agents[0], StepwiseAgent):
        agents = _in_processes(task, folder, count, make)
    else:
        agents = []
        for run in range(runs):
            _train(task, folder, run, limits, make, agents)
    model = _model(task, agents[0], mdp_seed) if envs == 1 else None
    return _outcome(task, folder, agents, model)


class Limits(NamedTuple):
    """When a run ends, how it is evaluated, and how often it is saved."""

    steps: int
    episodes: int | None
    evaluation: dict[str, int]
    checkpoint_every: int


class Makers(NamedTuple):
    """Functions that make the environment to learn in, and the one to evaluate in."""

    learning: Callable[[], Any]
    evaluation: Callable[[], Any]


def _in_processes(task: Task, folder: TrainingFolder, count: int, make: Makers) -> list[Any]:
    # The agents of all runs, which processes of their own leave in the folder.
    def saved() -> list[Any]:
        return [folder.load(run, make.learning(), **task.own) for run in range(folder.runs)]

    try:
        run_in_processes(task, folder, count)
    except (Stopped, InputError):
        agents = saved()
        if all(agents):  # some may have been stopped before their first checkpoint
            _written(folder, agents, task)
        raise
    return saved()


def _agent(task: Task, folder: TrainingFolder | None, run: int, make: Makers) -> Any:
    # The agent of a run: where it stopped, or a new one.
    env = make.learning()
    agent = folder.load(run, env, **task.own) if folder is not None and task.resume else None
    return agent or make_agent(task.record, env, run_seed(task.seed, run), task.settings)


def _train(
    task: Task,
    folder: TrainingFolder | None,
    run: int,
    limits: Limits,
    make: Makers,
    agents: list[Any] | None = None,
) -> Any:
    # One run to its end; `agents` are those of the runs before, to which it is added.
    agent = _agent(task, folder, run, make)
    if agents is not None:
        agents.append(agent)
    more: dict[str, Any] = {}
    if isinstance(agent, StepwiseAgent) and limits.evaluation:
        more = {"eval_env": make.evaluation(), **limits.evaluation}
    Watch(task, folder, run, limits, agents).learn(agent, **more)
    return agent


def _empty(agent: Any) -> Outcome:
    # of a worker, whose agent is in the folder
    return Outcome(1, [], "", {}, lambda path: [], {})


def _outcome(task: Task, folder: TrainingFolder | None, agents: list[Any], model: Any) -> Outcome:
    last = [np.mean(a.episodes.returns[-LAST:]) if len(a.episodes) else np.nan for a in agents]
    measured = [row(f"undiscounted return, last {LAST} episodes", last)]
    if all(getattr(agent, "evaluations", []) for agent in agents):
        final = [agent.evaluations[-1]["mean"] for agent in agents]
        measured.append(row("undiscounted return, last evaluation", final))
    if model is not None:
        J = [model.evaluate(_greedy(agent, model.n_states)).J for agent in agents]
        measured += [
            row("discounted J of the greedy policy", J),
            row("discounted J of the optimum", model.J_star),
        ]
    return Outcome(
        runs=len(agents),
        measured=measured,
        work=f"{sum(getattr(agent, 'steps', 0) for agent in agents)} steps",
        settings=settings_of(agents[0].settings),
        write=lambda path: _written(folder, agents, task),
        failures={},
    )


class Watch:
    """A run that is watched: shown, checkpointed, and stopped by its number of episodes."""

    def __init__(
        self,
        task: Task,
        folder: TrainingFolder | None,
        run: int,
        limits: Limits,
        agents: list[Any] | None,
    ) -> None:
        self.task, self.folder, self.run, self.agents = task, folder, run, agents
        self.steps, self.episodes, _, self.checkpoint_every = limits
        self.show: Callable[[dict[str, float], int], None] = lambda values, step: None
        self.saved = 0

    def learn(self, agent: Any, **more: Any) -> None:
        """Learn until the number of steps or of episodes is reached; Ctrl-C saves first."""
        self.saved = done = getattr(agent, "steps", 0)
        title = f"{self.task.record.name} on {self.task.domain.name}, run {self.run}"
        total = None if self.steps == UNLIMITED else self.steps
        try:
            if self.episodes is None or len(agent.episodes) < self.episodes:
                with live_table(title, total, self.agents is not None) as self.show:
                    agent.learn(max(self.steps - done, 0), callback=self.note, **more)
        except KeyboardInterrupt:
            if self.folder is None:
                raise Stopped("stopped; nothing is kept without --out FOLDER") from None
            raise Stopped(self.kept(agent, "stopped")) from None
        except Exception as error:
            if self.folder is None or not isinstance(agent, StepwiseAgent):
                raise
            raise InputError(self.kept(agent, _in_words(error))) from error
        self.save(agent)

    def kept(self, agent: Any, reason: str) -> str:
        """Save all there is, and say so."""
        folder: Any = self.folder
        self.save(agent)
        if self.agents is not None:
            _written(folder, self.agents, self.task)
        return (
            f"{reason} after {agent.steps} steps of run {self.run}, which are saved; "
            f"{self.task.how_to_go_on(folder.path)}"
        )

    def note(self, agent: Any, record: Record) -> bool:
        """The callback."""
        values = record.values
        if record.event == "log":
            self.show(values, record.step)
        if record.event == "evaluation":
            self.show({"evaluation": values["mean"]}, record.step)
            earlier = [row["mean"] for row in agent.evaluations[:-1]]
            if self.folder is not None and values["mean"] >= max(earlier, default=-np.inf):
                self.folder.save(agent, self.run, "best")
        if record.step - self.saved >= self.checkpoint_every:
            self.save(agent)
        return self.episodes is None or len(agent.episodes) < self.episodes

    def save(self, agent: Any) -> None:
        """A checkpoint, and the tables."""
        if self.folder is not None:
            self.folder.save(agent, self.run)
            self.saved = getattr(agent, "steps", 0)
            if self.agents is not None:
                self.folder.write_tables(self.agents)


def _in_words(error: Exception) -> str:
    # What the environment raised, and where; what the agent refused says it itself.
    if isinstance(error, InputError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} in {place} ({error})"


def run_seed(seed: int, run: int) -> int:
    """The seed of a run's agent: runs of different seeds do not share it."""
    sequence = np.random.SeedSequence((check_count(seed, "seed", 0), run))
    return int(sequence.generate_state(1)[0])


def _written(folder: TrainingFolder | None, agents: list[Any], task: Task) -> list[str]:
    if folder is None:
        return []
    title = f"{task.record.name} on {task.domain.name} ({len(agents)} runs)"
    files = [*folder.write_tables(agents), folder.write_picture(agents, title)]
    if all(isinstance(agent, StepwiseAgent) for agent in agents):
        files.append(write_page(folder.path / "report.html", {folder.path: agents}))
    places = [folder.checkpoint(run) for run in range(len(agents))]
    return [*files, *(str(place) for place in places if place.exists())]


def _makers(task: Task, keywords: dict[str, Any], mdp_seed: int, envs: int) -> Makers:
    # Of the environment of that id, or of the face of a known model.
    if task.domain.foreign:
        name = task.domain.name

        def make() -> Any:
            return make_environment(name, keywords)

        def make_many() -> Any:
            return make_environment(
                lambda: gymnasium.make_vec(name, envs, "sync", RESET_HERE, None, **keywords)
            )

        return Makers(make if envs == 1 else make_many, make)
    require(not keywords, "env_kwargs is given, but a known model has its options as flags")
    require(envs == 1, f"envs is {envs}; a known model is one environment")
    mdp, cut = task.mdp(mdp_seed), task.domain.cut(**task.options)
    return Makers(lambda: TabularEnv(mdp, cut), lambda: TabularEnv(mdp, cut))


def _model(task: Task, agent: Any, mdp_seed: int) -> Any:
    # The exact model, where there is one.
    if not task.domain.foreign:
        return task.mdp(mdp_seed)
    from jekyllhyde.mdp.gym_import import from_gymnasium

    gamma = settings_of(agent.settings).get("gamma", 0.99)
    with suppress(InputError):  # without a model there is no exact value
        return from_gymnasium(agent.env, gamma)
    return None


def _greedy(agent: Any, n_states: int) -> Floats:
    # with a row for the terminal state that the imported model may have added
    states, actions = agent.env.observation_space, agent.env.action_space
    chosen = [int(agent.predict(int(states.start) + s) - actions.start) for s in range(states.n)]
    return np.eye(int(actions.n))[chosen + [0] * (n_states - len(chosen))]
