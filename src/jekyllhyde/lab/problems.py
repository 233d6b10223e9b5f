"""The problem of a cell: checked, written out for its digest, and made for each run.

Most methods take finite MDPs (`MODELS`); `environments` has the other kind.
"""

import contextlib
import re
import time
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jekyllhyde import references
from jekyllhyde.errors import InputError, require
from jekyllhyde.lab.cell_settings import PLAIN, check_names, check_type, hints_of, stored
from jekyllhyde.mdp.domains import DOMAINS, find_problem, known_domain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.options import options_of

EXAMPLES = 10
CACHED = 2048  # MDPs that are remembered


def domain_name(name: str) -> str:
    """The name of a domain as digests have it; any other name is left as it is."""
    domain = None if references.is_reference(name) else known_domain(name)
    return name if domain is None else domain.name


def domain_options(name: str) -> dict[str, Any]:
    """The options of a domain with their defaults; one with a seed is random: a new MDP for every
    run. Of any other problem, the discount.
    """
    domain = known_domain(name)
    return {"gamma": None} if domain is None else _defaults(domain.make)


@lru_cache(maxsize=64)
def _defaults(maker: Callable[..., FiniteMDP]) -> dict[str, Any]:
    # Once per function: the texts of options are read from its source.
    options = {key: option.default for key, option in options_of(maker).items()}
    return options | ({"seed": "run"} if "seed" in options else {})


def locate_problem(problem: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The problem with a file relative to `folder` made into one that any process finds."""
    name = str(problem["name"])
    located = references.locate(problem, folder)
    if domain_name(name) not in DOMAINS and (folder / name).is_file():
        located["name"] = str((folder / name).resolve())
    return located


def complete_problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Name and options with every default written out, files by their content; all checked."""
    name = domain_name(problem["name"])
    given = {key: value for key, value in problem.items() if key != "name"}
    domain = known_domain(name)
    if domain is None:
        content = references.file_digest(Path(name)) if Path(name).is_file() else None
        described = {"name": Path(name).name if content else name, **given, "content": content}
    else:
        options, hints = domain_options(name), hints_of(domain.make)
        check_names(given, f"problem {name} does not take {{}}", options)
        for key, value in given.items():
            if key != "seed" or _first_seed(value) is None:
                check_type(value, key, hints.get(key, Any))
        described = stored(name, options | given, options) | references.described({"name": name})
    example(problem)
    return described


def example(problem: Mapping[str, Any]) -> FiniteMDP:
    """An MDP as the runs have: of the first run or, since some random MDPs cannot be made, of one
    of the next.
    """
    for run in range(EXAMPLES - 1):
        with contextlib.suppress(InputError):
            return problem_for_run(problem, run)
    return problem_for_run(problem, EXAMPLES - 1)


def problem_for_run(problem: Mapping[str, Any], run: int) -> FiniteMDP:
    """The MDP of run number `run`: a random one without a seed of its own is new for every run,
    and has the run's number for a seed, or with `seed: "run+1000"` as much more.
    """
    name = domain_name(str(problem["name"]))
    options = {key: value for key, value in problem.items() if key != "name"}
    for key, value in options.items():
        require(
            isinstance(value, (*PLAIN, np.generic, type(None))),
            f"{key} is {value!r}; an option of a problem is a number, a text, true or false",
        )
    random = "seed" in domain_options(name)
    require(random or "seed" not in options, f"problem {name} does not take seed; it is not random")
    first = _first_seed(options.get("seed", "run"))
    if random and first is not None:
        options["seed"] = first + run
    file = Path(name.rpartition(":")[0] if references.is_reference(name) else name)
    return _made(
        name,
        tuple(sorted(options.items())),
        references.file_digest(file) if file.is_file() else "",
    )


def making(problem: Mapping[str, Any]) -> tuple[float, bool]:
    """How many seconds it takes to make the MDP of a run, and whether every run has its own."""
    example(problem)  # after this, what is loaded and compiled once is
    _made.cache_clear()
    started = time.perf_counter()
    example(problem)
    seconds = time.perf_counter() - started
    random = "seed" in domain_options(domain_name(str(problem["name"])))
    return seconds, random and _first_seed(problem.get("seed", "run")) is not None


def _first_seed(seed: Any) -> int | None:
    # The seed of run 0 where every run has its own: "run", or "run+1000".
    match = re.fullmatch(r"run(?:\+(\d{1,9}))?", seed) if isinstance(seed, str) else None
    return match and int(match[1] or 0)


@lru_cache(maxsize=CACHED)
def _made(name: str, options: tuple[tuple[str, Any], ...], content: str) -> FiniteMDP:
    # The MDP; `content` tells a file from what it was before an edit.
    mdp = find_problem(name)(**{key: value for key, value in options if value is not None})
    mdp.normalize(0.0)  # the optimum and the low return, once, before threads share the MDP
    return mdp


class ProblemKind(NamedTuple):
    """What a method's problems are.

    options : problem -> the names of its options: what varies and is called so is the problem's.
    complete : problem -> name and options as they enter the digest, all checked.
    example : problem -> one, for the method to check its settings with.
    making : problem -> seconds that it takes to make one, and whether every run has its own.
    """

    options: Callable[[Mapping[str, Any]], Collection[str]]
    complete: Callable[[Mapping[str, Any]], dict[str, Any]]
    example: Callable[[Mapping[str, Any]], Any]
    making: Callable[[Mapping[str, Any]], tuple[float, bool]]


MODELS = ProblemKind(
    lambda problem: domain_options(str(problem["name"])), complete_problem, example, making
)
