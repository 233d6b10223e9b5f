"""A problem by name: a domain, a Gymnasium environment with a known model, or a file."""

from pathlib import Path

from jekyllhyde.errors import InputError
from jekyllhyde.mdp.domains import DOMAINS, Domain, known_domain
from jekyllhyde.mdp.finite import FiniteMDP
from jekyllhyde.mdp.gym_import import from_gymnasium


def find_problem(name: str) -> Domain:
    """The domain of that name, or a record like a domain's of a file or of an environment."""

    def load() -> FiniteMDP:
        return FiniteMDP.load(name)

    def read(gamma: float = 0.99) -> FiniteMDP:
        """Gamma : discount."""
        return from_gymnasium(name, gamma)

    domain = known_domain(name)
    if domain is not None:
        return domain
    if Path(name).exists() or name.endswith(".npz"):
        return Domain(name, load)
    if "-v" in name:
        return Domain(name, read, foreign=True)
    raise InputError(
        f"problem is {name!r}; it must be one of {', '.join(DOMAINS)}, file.py:name, "
        "a Gymnasium id or an existing file"
    )
