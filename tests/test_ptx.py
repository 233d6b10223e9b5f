"""The kernels that the figures use compile for a GPU, from the same source, without a card."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

from jekyllhyde.jit import compile_ptx
from jekyllhyde.mdp.chain import chain
from jekyllhyde.planning.compiled_updates import Mixture, Visits, advance
from jekyllhyde.planning.updates import ByRows, Direct, Softmax, Tables
from jekyllhyde.tabular.agents import TabularJekyllHyde, TabularOnPolicy
from jekyllhyde.tabular.peer_agents import TabularPsrl, TabularUcbvi
from mdps import GreedyStep

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="needs numba-cuda: jekyllhyde[gpu]"
)


def planning_arguments(rule: Any) -> tuple[Any, ...]:
    mdp = chain(5)
    model = mdp.elimination
    n, size = len(model.p0), len(model.r)
    tables = Tables(*(np.zeros(length) for length in (size, size, size, n, n, size)))
    visits = Visits(*(np.zeros(length) for length in (n, n, n * n, n)))
    mixture = Mixture(mdp.gamma, True, np.zeros(n))
    curves = (np.zeros(1), np.zeros(1), np.zeros(1), np.inf)
    return (model, mdp.gamma, rule, mixture, tables, visits, *curves)


@pytest.mark.parametrize("rule", [Softmax(0.1), Direct(), ByRows(GreedyStep())])
def test_planning_compiles_to_ptx(rule: Any) -> None:
    assert_complete(compile_ptx(advance, planning_arguments(rule)))


@pytest.mark.parametrize(
    "agent",
    [
        TabularJekyllHyde(),
        TabularJekyllHyde(hyde="optimistic", critic="expected_sarsa", replay="backward"),
        TabularJekyllHyde(convention="published"),
        TabularJekyllHyde(convention="published", parametrization="direct"),
        TabularOnPolicy(),
        TabularOnPolicy(lam=0.1),
        TabularUcbvi(),
        TabularPsrl(),
    ],
    ids=[
        "recommended",
        "model_free",
        "jekyll_hyde",
        "jekyll_hyde_direct",
        "on_policy",
        "on_policy_entropy",
        "ucbvi",
        "psrl",
    ],
)
def test_learning_compiles_to_ptx(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the arguments that a run on the processor has."""
    learning: Any = importlib.import_module("jekyllhyde.tabular.learn")
    advance_learning, calls = learning.advance, []

    def spy(*arguments: Any) -> Any:
        calls.append(arguments)
        return advance_learning(*arguments)

    monkeypatch.setattr(learning, "advance", spy)
    learning.learn(chain(5), agent, trajectories=2)
    assert_complete(compile_ptx(advance_learning, calls[0]))


def assert_complete(ptx: str) -> None:
    """There is one function, it is not empty, and it calls nothing that is missing."""
    assert ptx.count(".visible .func") == 1
    assert "ld." in ptx
    assert "fma.rn.f64" in ptx
    assert [line for line in ptx.splitlines() if ".extern" in line] == []


def test_what_does_not_compile_is_refused() -> None:
    def allocates(x: Any) -> Any:
        return np.empty(len(x))

    with pytest.raises(Exception, match="empty"):
        compile_ptx(allocates, (np.zeros(2),))
