"""`jh list`: what there is to choose from."""

from __future__ import annotations

import json
from dataclasses import dataclass

from jekyllhyde.cli.show import show_table


@dataclass(frozen=True)
class List:
    """Show the domains with their options, the densities, the parametrizations and the schedules."""

    json: bool = False
    """Print one JSON object instead of the tables."""

    def run(self) -> int:
        """`jh list`."""
        import inspect

        from jekyllhyde.lab.figures import PANELS
        from jekyllhyde.mdp.domains import DOMAINS
        from jekyllhyde.planning.densities import DENSITIES
        from jekyllhyde.planning.updates import PARAMETRIZATIONS

        described = {
            "domains": {
                name: {
                    "about": (inspect.getdoc(domain) or "").split("\n")[0],
                    "options": {
                        p.name: p.default for p in inspect.signature(domain).parameters.values()
                    },
                }
                for name, domain in DOMAINS.items()
            },
            "densities": list(DENSITIES),
            "parametrizations": list(PARAMETRIZATIONS),
            "figures": list(PANELS),
            "schedules": ["0.5", "100/t", "10/sqrt(t)", "10/t^0.5"],
        }
        if self.json:
            print(json.dumps(described))
            return 0
        rows = [
            {
                "domain": name,
                "about": info["about"],
                "options": ", ".join(
                    f"{k}={v}" for k, v in info["options"].items() if k != "convention"
                ),
            }
            for name, info in described["domains"].items()  # type: ignore[attr-defined]
        ]
        show_table("domains (or a Gymnasium id with a known model, or a file)", rows)
        print(f"densities: {', '.join(DENSITIES)}\nparametrizations: {', '.join(PARAMETRIZATIONS)}")
        print(
            f"schedules: {', '.join(described['schedules'])}\nconventions: published, paper\nfigures: {', '.join(PANELS)}"
        )
        return 0
