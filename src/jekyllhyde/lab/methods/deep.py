"""Learning with networks (`jekyllhyde.deep.train`) as runs of a cell."""

import hashlib
from typing import Any

import msgspec
from msgspec.structs import asdict

from jekyllhyde import references
from jekyllhyde.agent import find_agent
from jekyllhyde.errors import need
from jekyllhyde.lab.cell_settings import Count, check_settings
from jekyllhyde.lab.methods import contract
from jekyllhyde.lab.methods.contract import Method, Progress, Row, Settings
from jekyllhyde.lab.problems import domain_name
from jekyllhyde.mdp.finite import FiniteMDP


class DeepSettings(msgspec.Struct, frozen=True):
    """Settings of `deep.train` beside the agent's hyperparameters."""

    agent: str = "jekyll_hyde"
    config: str = "recommended"
    episodes: Count = 500
    every: Count = 10


def _complete(mdp: FiniteMDP, settings: Settings) -> dict[str, Any]:
    need("deep")
    from jekyllhyde.deep.configurations import configure, describe

    chosen, options = _chosen(settings)
    values = repr(
        [
            describe(configure(chosen["agent"], chosen["config"], level=level, **options))
            for level in (1, 2)
        ]
    )
    return references.described(chosen | options) | {
        "values": hashlib.sha256(values.encode()).hexdigest()[:12]  # what the name stands for today
    }


def _rows(
    problem: Settings, settings: Settings, stream: int, runs: range, progress: Progress
) -> list[Row]:
    # All runs in one compiled call. Run i depends on (stream, i) alone: with more runs, the first
    # ones are made again.
    from jekyllhyde.deep import train

    chosen, options = _chosen(settings)
    result = train(
        domain_name(problem["name"]),
        **chosen,
        seeds=runs.stop,
        seed=stream % 2**31,
        hyperparameters=options,
        **{key: value for key, value in problem.items() if key != "name"},
    )
    progress(chosen["episodes"] * len(runs))
    return [
        {
            "end": chosen["episodes"],
            "steps": int(result.step[run, -1]),
            "at": result.episode,
            "score": result.score[run],
            "exact_score": result.exact_score[run],
            "failure": "a network left the finite numbers" if result.diverged[run] else None,
        }
        for run in runs
    ]


def _chosen(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    # The method's settings, and the agent's hyperparameters.
    own, options = contract.split(settings, DeepSettings)
    chosen = asdict(check_settings(DeepSettings, own, "deep"))
    if not references.is_reference(chosen["agent"]):
        chosen["agent"] = find_agent(chosen["agent"]).name
    return chosen, options


DEEP = Method(
    name="deep",
    unit="episodes",
    options=DeepSettings,
    complete=_complete,
    rows=_rows,
    seconds=lambda problem, settings: 0.05,
    curve="exact_score",
    end="",
    xlabel="training episodes",
    whole=True,
    extra="deep",
    columns=dict.fromkeys(("end", "steps"), contract.COUNT)
    | {"at": contract.PLACES, "score": contract.CURVE, "exact_score": contract.CURVE},
)
