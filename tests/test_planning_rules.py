"""Update rules of a user's own: records, "file.py:Mine", the command line; edits count."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from jekyllhyde.cli import main
from jekyllhyde.errors import InputError
from jekyllhyde.mdp.chain import chain
from jekyllhyde.mdp.garnet import garnet
from jekyllhyde.planning.plan import plan
from mdps import Floats, GreedyStep, assert_close

FILE = '''
from typing import NamedTuple

from jekyllhyde.simplex import project_row


class Mine(NamedTuple):
    """A step along q, projected, {scale} times as long."""

    scale: float = 1.0
    direct = True

    def improve_row(self, theta, pi, q, row, width, step):
        for i in range(row, row + width):
            theta[i] += {scale} * self.scale * step * q[i]
        project_row(theta, pi, row, width)


def from_the_left(t, mdp, pi, evaluation):
    import numpy as np

    return np.arange(mdp.n_states)[::-1] / mdp.n_states
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(scale=1.0))
    return path


class Interpreted(NamedTuple):
    """A rule that cannot be compiled: it keeps what it has seen in a dict."""

    seen: Any

    def improve_row(
        self, theta: Floats, pi: Floats, q: Floats, row: Any, width: Any, step: float
    ) -> None:
        self.seen[int(row)] = step
        GreedyStep().improve_row(theta, pi, q, row, width, step)


SETTINGS: dict[str, Any] = {"density": "mixture", "o": 0.5, "eta": 5.0, "updates": 20}


def test_a_rule_of_ones_own_in_both_loops_and_uncompiled() -> None:
    mdp = garnet(20, seed=1)
    seen: dict[int, float] = {}
    recorded: dict[str, Any] = {"record": ["theta", "pi"], "record_at": [0, 20]}
    compiled, reference = (
        plan(mdp, parametrization=GreedyStep(2.0), engine=engine, **SETTINGS, **recorded)
        for engine in ("auto", "reference")
    )
    assert (compiled.solver, reference.solver) == ("compiled", "dense")
    assert_close(compiled, reference)
    assert compiled.J[-1] > compiled.J[0]
    slow = plan(mdp, parametrization=Interpreted(seen), **SETTINGS)
    assert slow.solver == "dense"
    assert_close(slow, plan(mdp, parametrization=GreedyStep, **SETTINGS))
    assert len(seen) == mdp.n_states - 1
    with pytest.raises(InputError, match="engine 'compiled' cannot compile this rule"):
        plan(mdp, parametrization=Interpreted({}), engine="compiled", **SETTINGS)


def test_a_file_s_rule_is_direct_if_it_says_so_and_follows_edits(file: Path) -> None:
    mdp = garnet(12, seed=3)

    def mine(name: str) -> Floats:
        return plan(mdp, parametrization=f"{file}:{name}", **SETTINGS).J

    direct = plan(mdp, parametrization="direct", **SETTINGS)
    np.testing.assert_allclose(mine("Mine"), direct.J, rtol=1e-12)
    doubled = plan(mdp, parametrization="direct", **SETTINGS | {"eta": 10.0}).J
    np.testing.assert_allclose(mine("Mine(scale=2.0)"), doubled, rtol=1e-12)
    file.write_text(FILE.format(scale=2.0))
    np.testing.assert_allclose(mine("Mine"), doubled, rtol=1e-12)


def test_a_rule_on_the_command_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["plan", "chain", "--updates", "30", "--json", "--density", "uniform"]
    results = {}
    for rule in (f"{file}:Mine", f"{file}:Mine(scale=3.0)", "direct"):
        assert main([*flags, "--parametrization", rule]) == 0
        results[rule] = capsys.readouterr().out.split('"J": ')[1].split(",")[0]
    assert results[f"{file}:Mine"] == results["direct"] != results[f"{file}:Mine(scale=3.0)"]


def test_a_density_in_a_file(file: Path) -> None:
    mdp = chain(5)
    run = plan(mdp, density=f"{file}:from_the_left", updates=3, record="d")
    expected = np.arange(mdp.n_states)[::-1] / mdp.n_states
    expected[mdp.is_terminal] = 0.0
    np.testing.assert_array_equal(run.record("d")[0], expected)


def test_rules_that_are_refused(file: Path) -> None:
    for rule, sentence in {
        "hardmax": "parametrization is 'hardmax'; it must be one of direct, softmax",
        "softmax(eta=1)": r"parametrization is 'softmax\(eta=1\)'; softmax takes \(lam",
        f"{file}:Yours": "has no function Yours; it has NamedTuple, project_row, Mine",
    }.items():
        with pytest.raises(InputError, match=sentence):
            plan(chain(5), parametrization=rule, updates=1)
    with pytest.raises(InputError, match="a rule of your own has a method improve_row"):
        plan(chain(5), parametrization=Path("x"), updates=1)
    with pytest.raises(InputError, match="parametrization has no entropy term"):
        plan(chain(5), parametrization=f"{file}:Mine", lam=0.1, updates=1)


def test_softmax_takes_its_settings_in_parentheses() -> None:
    mdp = garnet(12, seed=3)
    assert_close(
        plan(mdp, parametrization="softmax(lam=0.2)", **SETTINGS),
        plan(mdp, parametrization="softmax", lam=0.2, **SETTINGS),
        0.0,
    )
    run = plan(mdp, parametrization="softmax(lam=1)", **SETTINGS)
    assert (run.settings["parametrization"], run.settings["lam"]) == ("softmax(lam=1)", 1.0)
