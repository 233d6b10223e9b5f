"""The domains as environments, in two faces made from the same finite MDP.

`tabular` has Gymnasium environments; `functional` the same dynamics as pure JAX functions, for a
training loop that is compiled whole. Both have the model at hand, so whatever is learned in them
can be scored exactly.
"""

from jekyllhyde.mdp.domains import DOMAINS


def register() -> None:
    """Make the domains' ids known to `gymnasium.make`; calling it again changes nothing."""
    import gymnasium

    for domain in DOMAINS.values():
        if domain.id not in gymnasium.registry:
            gymnasium.register(
                id=domain.id,
                entry_point=domain.environment or "jekyllhyde.envs.tabular:TabularEnv",
                kwargs={} if domain.environment else {"mdp": domain.name},
            )
