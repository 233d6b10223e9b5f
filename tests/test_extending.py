"""The count: whoever adds a bonus, an actor rule, a critic, a domain, an agent or a figure writes
one file, outside the package, and uses it from Python, from TOML and on the command line. An edit
of the file changes the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jekyllhyde as jh
from jekyllhyde.cli import main
from jekyllhyde.tabular.agents import TabularAgent

BONUS = """
from typing import NamedTuple

class Inverse(NamedTuple):
    "scale / (1 + n)."
    scale: float = 1.0

    def value(self, visits, log_count):
        return self.scale / (1.0 + visits)
"""
CRITIC = """
from typing import NamedTuple

class Timid(NamedTuple):
    "The smallest q of s'."
    weight: float = 1.0

    def next_value(self, tables, row):
        least = tables.q[row]
        for i in range(row, row + tables.width):
            least = min(least, tables.q[i])
        return self.weight * least
"""
RULE = """
from typing import NamedTuple
from jekyllhyde.simplex import softmax_row

class GreedyStep(NamedTuple):
    "Raise the greedy action."
    rate: float = 1.0

    def improve_row(self, theta, pi, q, row, width, step):
        best = row
        for i in range(row, row + width):
            if q[i] > q[best]:
                best = i
        theta[best] += self.rate * step
        softmax_row(theta, pi, row, width)

def greedy_step(logits, q, temperature):
    import jax.numpy as jnp
    best = jnp.argmax(q, -1)
    return -1.0 * jnp.take_along_axis(logits, best[:, None], axis=1)[:, 0]
"""
DOMAIN = """
import numpy as np
from jekyllhyde import FiniteMDP

def bridge(length: int = 4, toll: float = 0.1, gamma: float = 0.9) -> FiniteMDP:
    '''A bridge: each step right costs a toll, the far end pays 1.

    length : steps to the far end.
    toll : of each step.
    gamma : discount.
    '''
    P, r = np.zeros((length + 1, 2, length + 1)), np.zeros((length + 1, 2))
    for s in range(length):
        P[s, 0, length] = P[s, 1, s + 1] = 1.0
        r[s, 1] = -toll
    r[length - 1, 1] += 1.0
    return FiniteMDP(P, r, gamma=gamma, terminal=[length], J_low=0.0, name="bridge")
"""
AGENT = """
from jekyllhyde.tabular.agents import TabularAgent
from jekyllhyde.tabular.settings import OnPolicySettings

class Hasty(TabularAgent):
    "On-policy with large steps."
    name = "hasty"
    settings_type = OnPolicySettings

    def __init__(self, env=None, *, seed=0, eta: float = 5.0, lam: float = 0.0, **more):
        super().__init__(env, seed=seed, eta=2.0 * eta, lam=lam, **more)
"""
FIGURE = """
from jekyllhyde.lab import Claim, Experiment, Panel, estimates
from jekyllhyde.lab.claims import compare
from jekyllhyde.lab.verdicts import HIGHER

chain = {"name": "chain", "n_states": 5}
series = [{"label": "PG"}, {"label": "even", "density": "uniform"}]
experiment = Experiment("mine", "plan", chain, series, {"updates": 20})

ahead = compare(estimates.gain, [("even", "pg")], HIGHER)
claim = Claim("ahead", "Even weights are ahead.", (ahead,))
PANEL = Panel("mine", "my figure", experiment, "updates", exact=True, claims=(claim,))
"""
LEARN = {"trajectories": 40, "problem": {"name": "chain", "n_states": 5, "beta": 0.5}, "runs": 2}

Numbers = list[float]


class Shell:
    """The command line, and sweeps of one series from a TOML file, in a folder of their own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def jh(self, *arguments: str) -> dict[str, Any]:
        self.capsys.readouterr()
        assert main([*arguments, "--json"]) == 0, self.capsys.readouterr().err
        report: dict[str, Any] = json.loads(self.capsys.readouterr().out.splitlines()[-1])
        return report

    def sweep(
        self, method: str, problem: dict[str, Any], settings: dict[str, Any], runs: int
    ) -> Numbers:
        lines = ['name = "own"', f'method = "{method}"', f"runs = {runs}", "[problem]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in problem.items()]
        lines += ["[[series]]", 'label = "mine"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (self.folder / "own.toml").write_text("\n".join(lines) + "\n")
        store, out = str(self.folder / "store"), str(self.folder / "out")
        own = ("sweep", str(self.folder / "own.toml"), "--trust")
        report = self.jh(*own, "--store", store, "--out", out, "--workers", "1")
        assert report["failed"] == 0
        return [point["mean"] for point in report["points"]]


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def rows(report: dict[str, Any]) -> Numbers:
    return [row["mean"] for row in report["measured"]]


def check_everywhere(ways: dict[str, Callable[[], Numbers]], edit: Callable[[], object]) -> None:
    """Every way gives numbers, and other ones after an edit of the file."""
    before = {name: way() for name, way in ways.items()}
    edit()
    after = {name: way() for name, way in ways.items()}
    for name, numbers in before.items():
        assert np.isfinite(numbers).all(), name
        assert numbers != after[name], f"{name}: an edit of the file changed nothing"


def learn_with(agent: TabularAgent, mdp: Any = None) -> Numbers:
    mdp = jh.chain(5, beta=0.5) if mdp is None else mdp
    run = jh.learn(mdp, agent, trajectories=40, runs=2, seed=3)
    return [*run.J_norm[:, -1].tolist(), float(run.q[0].sum())]


def learn_on_a_cliff(**given: Any) -> Numbers:
    given |= {"hyde_clip": np.inf}
    agent = jh.TabularJekyllHyde("CliffWalking-v1", **given).learn(2000)
    return [*agent.tables.q.ravel().tolist(), *agent.arrays()["q_hyde"].tolist()]


TRAIN = ("--trajectories", "40", "--runs", "2")
CHAIN = ("train", "chain", "--n-states", "5", "--beta", "0.5", "--agent", "tabular-jekyll-hyde")
PUBLISHED = ("--convention", "published")


@pytest.mark.parametrize(
    ("setting", "name", "text", "old", "new"),
    [
        ("bonus", "Inverse", BONUS, "(1.0 + visits)", "-(1.0 + visits)"),
        ("critic", "Timid", CRITIC, "self.weight * least", "0.5 * least"),
        ("actor", "GreedyStep", RULE, "self.rate * step", "0.1 * step"),
    ],
)
def test_a_tabular_choice(
    setting: str, name: str, text: str, old: str, new: str, shell: Shell
) -> None:
    file = shell.folder / "mine.py"
    file.write_text(text)
    own = f"{file}:{name}"
    given: Any = {setting: own, "epsilon": 0.5, "convention": "published"}
    settings = {"agent": "tabular-jekyll-hyde", "trajectories": 40, setting: f"mine.py:{name}"}
    chain = {"name": "chain", "n_states": 5, "beta": 0.5}
    check_everywhere(
        {
            "Python": lambda: learn_with(jh.TabularJekyllHyde(**given)),
            "an environment": lambda: learn_on_a_cliff(**given),
            "TOML": lambda: shell.sweep("learn", chain, {**settings, "epsilon": 0.5}, 2),
            "the command line": lambda: rows(
                shell.jh(*CHAIN, *PUBLISHED, f"--{setting}", own, "--epsilon", "0.5", *TRAIN)
            ),
        },
        lambda: file.write_text(text.replace(old, new)),
    )


def test_a_choice_may_have_settings_and_be_a_record(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(BONUS)
    numbers = [
        learn_with(
            jh.TabularJekyllHyde(
                convention="published", bonus=f"{file}:Inverse{settings}", epsilon=0.5
            )
        )
        for settings in ("", "(scale=1.0)", "(scale=3.0)")
    ]
    assert numbers[0] == numbers[1]
    assert numbers[0] != numbers[2]
    settings: Any = jh.TabularJekyllHyde(
        convention="published", bonus=f"{file}:Inverse(scale=3.0)"
    ).settings
    record = settings.explorer().bonus
    assert numbers[2] == learn_with(
        jh.TabularJekyllHyde(convention="published", bonus=record, epsilon=0.5)
    )


def test_an_actor_rule_in_planning(shell: Shell) -> None:
    file = shell.folder / "mine.py"
    file.write_text(RULE)
    own = f"{file}:GreedyStep"
    chain = {"name": "chain", "n_states": 5}
    settings = {"parametrization": "mine.py:GreedyStep", "updates": 30}
    arguments = ("plan", "chain", "--n-states", "5", "--parametrization", own, "--updates", "30")
    check_everywhere(
        {
            "Python": lambda: list(jh.plan(jh.chain(5), parametrization=own, updates=30).J),
            "TOML": lambda: shell.sweep("plan", chain, settings, 1),
            "the command line": lambda: [shell.jh(*arguments)["runs"][0]["J"]],
        },
        lambda: file.write_text(RULE.replace("self.rate * step", "0.1 * step")),
    )


def test_a_domain(shell: Shell) -> None:
    file = shell.folder / "mine.py"
    file.write_text(DOMAIN)
    own = f"{file}:bridge"
    problem = {"name": "mine.py:bridge", "length": 3}
    settings = {"agent": "tabular-jekyll-hyde", "trajectories": 40, "epsilon": 0.5}
    agent = ("--agent", "tabular-jekyll-hyde", "--epsilon", "0.5")

    def in_python() -> Numbers:
        from jekyllhyde.mdp.domains import find_domain

        return learn_with(jh.TabularJekyllHyde(epsilon=0.5), find_domain(own).make(length=3))

    check_everywhere(
        {
            "Python": in_python,
            "TOML": lambda: shell.sweep("learn", problem, settings, 2),
            "the command line": lambda: rows(
                shell.jh("train", own, "--length", "3", *agent, *TRAIN)
            ),
            "jh plan": lambda: [
                shell.jh("plan", own, "--length", "3", "--updates", "9")["runs"][0]["J"]
            ],
        },
        lambda: file.write_text(DOMAIN.replace("r[length - 1, 1] += 1.0", "r[length - 1, 1] = 9")),
    )


def test_an_agent(shell: Shell) -> None:
    file = shell.folder / "mine.py"
    file.write_text(AGENT)
    own = f"{file}:Hasty"
    chain = {"name": "chain", "n_states": 5, "beta": 0.5}
    settings = {"agent": "mine.py:Hasty", "trajectories": 40}
    arguments = (*CHAIN[:-1], own)

    def in_python() -> Numbers:
        from jekyllhyde.agent import find_agent

        return learn_with(find_agent(own).cls())

    check_everywhere(
        {
            "Python": in_python,
            "TOML": lambda: shell.sweep("learn", chain, settings, 2),
            "the command line": lambda: rows(shell.jh(*arguments, *TRAIN)),
        },
        lambda: file.write_text(AGENT.replace("2.0 * eta", "0.01 * eta")),
    )


def test_a_figure(shell: Shell) -> None:
    file = shell.folder / "mine.py"
    file.write_text(FIGURE)
    store, out = str(shell.folder / "store"), str(shell.folder / "out")
    name = f"{file}:PANEL"

    def in_python() -> Numbers:
        from jekyllhyde import references

        panel = references.load_value("figure", name, lambda value: True, "Panel")
        curves = jh.lab.run(panel.experiment, store)
        return curves.y["even"].tolist()

    def on_the_command_line() -> Numbers:
        report = shell.jh("figure", name, "--store", store, "--out", out)
        assert report["mine"]["claims"][0]["verdict"] == "supported"
        lines = (shell.folder / "out/mine.csv").read_text().splitlines()
        return [float(line.split(",")[2]) for line in lines if "even" in line]

    check_everywhere(
        {"Python": in_python, "the command line": on_the_command_line},
        lambda: file.write_text(FIGURE.replace('"n_states": 5', '"n_states": 4')),
    )


DEEP_BONUS = """
import equinox as eqx
import jax.numpy as jnp
from jekyllhyde.deep.bonus import Bonus

class Preferring(Bonus):
    "More for an action with a higher index."
    scale: float = 1.0

    def init(self, key, space):
        return jnp.zeros(())

    def of(self, state, samples):
        return self.scale * (0.0 + 20.0 * samples.action), state

    def learn(self, state, samples):
        return state + 1.0
"""


@pytest.mark.parametrize(
    ("setting", "name", "text", "old", "new"),
    [
        ("bonus", "Preferring", DEEP_BONUS, "(0.0 + 20.0", "(20.0 - 20.0"),
        pytest.param(
            "actor_rule", "greedy_step", RULE, "-1.0 * jnp", "-0.1 * jnp", marks=pytest.mark.long
        ),
    ],
)
def test_a_deep_choice(
    setting: str, name: str, text: str, old: str, new: str, shell: Shell
) -> None:
    deep = pytest.importorskip("jekyllhyde.deep")
    pq = pytest.importorskip("pyarrow.parquet")
    file = shell.folder / "mine.py"
    file.write_text(text)
    own = f"{file}:{name}"
    chain = {"name": "chain", "n_states": 5}
    settings = {"agent": "jekyll-hyde", "episodes": 60, "every": 10, setting: f"mine.py:{name}"}
    settings |= {"warmup": 10, "batch": 8}
    flag = f"--{setting.replace('_', '-')}"
    arguments = ("train", "chain", "--n-states", "5", "--agent", "jekyll-hyde", flag, own)
    small = ("--warmup", "10", "--batch", "8", "--episodes", "60", "--runs", "1")

    def in_python() -> Numbers:
        hyperparameters = {setting: own, "warmup": 10, "batch": 8}
        result = deep.train(
            "chain", n_states=5, seeds=1, episodes=60, every=10, hyperparameters=hyperparameters
        )
        return [*map(float, result.q[0, -1].ravel()), *map(float, result.step[0])]

    def in_toml() -> Numbers:
        parts = shell.folder / "store" / "parts"
        before = set(parts.glob("*.parquet"))
        assert len(shell.sweep("deep", chain, settings, 1)) == 1
        (added,) = set(parts.glob("*.parquet")) - before  # an edited file makes another cell
        table = pq.read_table(added).to_pydict()
        return [*table["steps"], *table["score"][0], *table["exact_score"][0]]

    def on_the_command_line() -> Numbers:
        shell.jh(*arguments, *small, "--out", str(shell.folder / "trained"))
        table = pq.read_table(shell.folder / "trained" / "train.parquet").to_pydict()
        return [*table["step"], *table["entropy"], *table["critic_error"]]

    check_everywhere(
        {"Python": in_python, "TOML": in_toml, "the command line": on_the_command_line},
        lambda: file.write_text(text.replace(old, new)),
    )
