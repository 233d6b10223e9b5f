"""One run of exact policy updates: its settings after validation, what it records, its outcome."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from jekyllhyde.errors import check_choice, check_count, check_number, require
from jekyllhyde.mdp.domains import CONVENTIONS
from jekyllhyde.mdp.evaluation import DENSE_LIMIT
from jekyllhyde.mdp.finite import FiniteMDP, Floats, Ints, as_floats, refuse
from jekyllhyde.planning.densities import Density, DensityFunction, resolve
from jekyllhyde.planning.updates import compiles, make_rule
from jekyllhyde.schedule import Schedule, parse, positive

RECORDABLE = ("v", "q", "d", "pi", "theta")
ENGINES = ("auto", "compiled", "reference")
RECORD_LIMIT = 8 * 2**30

Times = Iterable[int] | Literal["all"]
Progress = Callable[[int], None]


def broadcast(**fields: Any) -> list[dict[str, Any]]:
    """One dict per run from fields that are lists of one common length, lists of length 1, or
    single values.
    """
    lengths = {name: len(value) for name, value in fields.items() if isinstance(value, list)}
    count = max(lengths.values())
    refuse(
        [name for name, length in lengths.items() if length not in (1, count) or length == 0],
        lambda name: (
            f"{name} is a list of {lengths[name]}; in a batch of {count} runs it must hold {count} "
            "values, or one"
        ),
    )
    columns = [
        value * (count // len(value)) if isinstance(value, list) else [value] * count
        for value in fields.values()
    ]
    return [dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Job:
    """One run after validation; `record`, with the weights, is kept at the times `record_at`."""

    mdp: FiniteMDP
    rule: Any
    density: Density | DensityFunction
    eta: Schedule
    updates: int
    target: float | None
    J_stop: float
    record: tuple[str, ...]
    record_at: frozenset[int]
    pi0: Floats
    compiled: bool
    settings: dict[str, Any]


def make_job(
    mdp: FiniteMDP,
    density: Any,
    o: Any,
    eta: Any,
    lam: float,
    *,
    parametrization: Any,
    updates: int,
    target: float | None,
    record: Sequence[str],
    record_at: Times,
    pi0: ArrayLike | None,
    convention: str,
    engine: str,
) -> Job:
    """Check every setting of one run; see `plan` for what they mean."""
    check_choice(convention, "convention", CONVENTIONS)
    updates = check_count(updates, "updates", 0)
    rule, name = make_rule(parametrization, lam, convention)
    if target is not None:
        target = check_number(target, "target", "a normalized return, usually in (0, 1)")
        mdp.normalize(0.0)  # refuses an MDP on which the normalized return is undefined
    wanted = (record,) if isinstance(record, str) else record
    record = tuple(check_choice(quantity, "record", RECORDABLE) for quantity in wanted)
    resolved = resolve(density, mdp, o, convention)
    step_size = positive(eta, "eta")
    return Job(
        mdp=mdp,
        rule=rule,
        density=resolved,
        eta=step_size,
        J_stop=np.inf if target is None else mdp.J_low + target * (mdp.J_star - mdp.J_low),
        record=(*record, "weights") if record else (),
        record_at=_times(record, record_at if record else (), updates, mdp),
        updates=updates,
        target=target,
        compiled=_is_compiled(engine, mdp, resolved, rule),
        pi0=mdp.uniform_policy() if pi0 is None else mdp.check_policy(pi0),
        settings={
            "mdp": mdp.name,
            "parametrization": name,
            "density": getattr(resolved, "name", getattr(resolved, "__name__", "own")),
            "o": None if o is None else str(parse(o, "o")),
            "eta": str(step_size),
            "lam": float(getattr(rule, "lam", lam)),
            "updates": updates,
            "target": target,
            "convention": convention,
        },
    )


def _is_compiled(engine: str, mdp: FiniteMDP, density: Any, rule: Any) -> bool:
    # Whether the run goes through the compiled loop; refuses what that loop cannot do.
    check_choice(engine, "engine", ENGINES)
    obstacles = {
        "takes the built-in densities and arrays; a callable density needs 'reference'": (
            not isinstance(density, Density)
        ),
        "needs gamma below 1, it does not check that a policy ends; use 'reference'": (
            mdp.gamma == 1.0
        ),
        "cannot compile this rule; use 'reference'": not compiles(rule),
    }
    obstacle = next((obstacle for obstacle, stands in obstacles.items() if stands), None)
    require(engine != "compiled" or obstacle is None, f"engine 'compiled' {obstacle}")
    is_small = mdp.n_states <= DENSE_LIMIT
    return obstacle is None and (engine == "compiled" or (engine == "auto" and is_small))


def _times(record: Sequence[str], record_at: Times, updates: int, mdp: FiniteMDP) -> frozenset[int]:
    if isinstance(record_at, str):
        check_choice(record_at, "record_at", ["all"])
        times: Collection[int] = range(updates + 1)
    else:
        given = as_floats(list(record_at), "record_at").ravel()
        refuse(
            given[~((given >= 0) & (given <= updates) & (given == np.floor(given)))],
            lambda wrong: (
                f"record_at contains {wrong:g}; times are the integers from 0 to {updates}"
            ),
        )
        times = {int(t) for t in given}
    size = 8 * len(times) * mdp.n_states * (1 + len(record) * mdp.n_actions)
    require(
        size <= RECORD_LIMIT,
        f"recording {len(times)} times would take up to {size / 2**30:.0f} GiB; "
        "give fewer times in record_at",
    )
    return frozenset(times)


@dataclass(frozen=True)
class PlanRun:
    """The outcome of `plan`.

    J : [T+1]; J[t] is the return before update t, the last entry that of the final policy.
    pi, theta : the final policy and its parameters [S, A].
    weights : sum_t eta_t d_t [S], the quantity of condition C4.
    updates : T, the updates made; fewer than `cap`, those asked for, if the target was reached
        before.
    t : the recorded times [n]; `records` holds what was asked for at those times, and the weights
        spent before them: v, d, weights [n, S]; q, pi, theta [n, S, A].
    settings : what was asked for, in the words of the command line.  solver : compiled, dense,
        sparse_lu or iterative.
    """

    mdp: FiniteMDP = field(repr=False)
    J: Floats = field(repr=False)
    pi: Floats = field(repr=False)
    theta: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    updates: int
    cap: int
    target: float | None
    censored: bool
    t: Ints = field(repr=False)
    records: dict[str, Floats] = field(repr=False)
    settings: dict[str, Any]
    solver: str
    density: Density | DensityFunction = field(repr=False)
    eta: Schedule = field(repr=False)

    @property
    def J_norm(self) -> Floats:
        """The normalized returns [T+1]: 0 at the domain's reference policy, 1 at the optimum."""
        return np.asarray(self.mdp.normalize(self.J))

    @property
    def time_to_target(self) -> int | None:
        """First t with J_norm[t] > target; the cap where it was never reached (`censored`); None
        without a target.
        """
        return None if self.target is None else self.cap if self.censored else self.updates

    def record(self, name: str) -> Floats:
        """A recorded quantity; its first axis is `t`."""
        require(
            name in self.records,
            f"{name!r} was not recorded; ask for it with plan(..., record=[{name!r}])",
        )
        return self.records[name]


def conclude(
    job: Job,
    J: Floats,
    taken: dict[int, dict[str, Floats]],
    theta: Floats,
    pi: Floats,
    weights: Floats,
    solver: str,
) -> PlanRun:
    """The outcome of a job with what was `taken` at the times to record, once its returns are known
    to be finite.
    """
    refuse(
        np.flatnonzero(~np.isfinite(J)),
        lambda t: (
            f"{job.mdp.name}: the return is not finite after update {t}; "
            f"eta = {job.eta} is too large for these values"
        ),
    )
    return PlanRun(
        mdp=job.mdp,
        J=J,
        pi=pi,
        theta=theta,
        weights=weights,
        updates=len(J) - 1,
        cap=job.updates,
        target=job.target,
        censored=job.target is not None and not J[-1] > job.J_stop,
        t=np.array([*taken], dtype=np.int64),
        records={name: np.array([each[name] for each in taken.values()]) for name in job.record},
        settings=job.settings,
        solver=solver,
        density=job.density,
        eta=job.eta,
    )
