"""The methods by name: exact updates, learning from samples, learning with networks, training in
environments; and cells completed by them: problem and settings with every default written out, as
the digest has them.
"""

from functools import lru_cache
from typing import Any

from jekyllhyde.lab.cell_settings import PLAIN, canonical
from jekyllhyde.lab.methods.contract import Method, Settings
from jekyllhyde.lab.methods.learn import DEEP, LEARN
from jekyllhyde.lab.methods.plan import PLAN
from jekyllhyde.lab.methods.train import TRAIN
from jekyllhyde.lab.problems import MODELS, complete_problem, domain_name, example
from jekyllhyde.mdp.domains import DOMAINS
from jekyllhyde.registry import Registry

METHODS = Registry[Method]("method", {method.name: method for method in (PLAN, LEARN, DEEP, TRAIN)})


def complete(method: str, problem: Settings, settings: Settings) -> tuple[str, str]:
    """Problem and settings, complete and checked, as canonical texts; what depends on plain values
    alone, not on a file nor on an array's fit to the problem, is remembered.
    """
    kind = METHODS[method].problems
    is_model = kind is MODELS
    return (
        _remembered(None, **problem)
        if is_model and domain_name(problem["name"]) in DOMAINS and _is_plain(problem)
        else canonical(kind.complete(problem)),
        _remembered(method, **settings)
        if is_model and _is_plain(settings)
        else canonical(METHODS[method].complete(kind.example(problem), settings)),
    )


def _is_plain(values: Settings) -> bool:
    return all(
        value is None or (type(value) in PLAIN and ".py:" not in str(value))
        for value in values.values()
    )


@lru_cache(maxsize=8192, typed=True)  # with types, since 1, 1.0 and true are equal
def _remembered(method: str | None, /, **values: Any) -> str:
    return canonical(
        complete_problem(values)
        if method is None
        else METHODS[method].complete(example({"name": "chain"}), values)
    )
