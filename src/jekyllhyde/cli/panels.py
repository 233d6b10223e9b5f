"""The panels that the names on a command line mean, and those of them that can be made here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jekyllhyde as jh
from jekyllhyde import references
from jekyllhyde.cli.laboratory import with_runs
from jekyllhyde.errors import check_choice, missing, require


def ready(
    panels: Mapping[str, jh.lab.Panel], preset: str, runs: int | None = None
) -> tuple[dict[str, jh.lab.Panel], dict[str, list[str]]]:
    """The panels that can be made, at the size asked for, and the names of the others by the module
    that they lack.
    """
    check_choice(preset, "preset", ("paper", "quick"))
    lacks = {name: [*missing(panel.method.extra), ""][0] for name, panel in panels.items()}
    absent = {
        module: [name for name in lacks if lacks[name] == module]
        for module in lacks.values()
        if module
    }
    made = {
        name: panel if panel.exact else sized(panel, preset, runs)
        for name, panel in panels.items()
        if not lacks[name]
    }
    return made, absent


def sized(panel: jh.lab.Panel, preset: str, runs: int | None) -> jh.lab.Panel:
    """The panel with as many points and runs as asked for."""
    experiment = panel.experiment
    if preset == "quick":
        experiment = experiment.scaled(runs=min(10, experiment.runs), points=11)
    return replace(panel, experiment=with_runs(experiment, runs))


def find_panels(
    wanted: tuple[str, ...], paper: Mapping[str, Any], exploration: Mapping[str, Any]
) -> dict[str, Any]:
    """What is meant by names, a figure's number, `all`, `exploration`, or file.py:NAME, by name."""
    names = ", ".join([*paper, *exploration])
    allowed = f"all, a figure's number, exploration, file.py:NAME, or one of {names}"
    require(wanted, f"no figure is given; it must be {allowed}")
    panels: dict[str, Any] = {}
    for name in wanted:
        meant = (
            _own_panels(name)
            if references.is_reference(name)
            else {
                key: panel
                for key, panel in paper.items()
                if name in ("all", key)
                or (name.isdigit() and name == key.rstrip("abcdefghijklmnopqrstuvwxyz-"))
            }
            | {key: panel for key, panel in exploration.items() if name in ("exploration", key)}
        )
        require(meant, f"figure is {name!r}; it must be {allowed}")
        panels |= meant
    return panels


def _own_panels(reference: str) -> dict[str, Any]:
    # The panels that "file.py:NAME" names; the files that they refer to are found beside it.
    def is_figure(value: Any) -> bool:
        panels = value if isinstance(value, (tuple, list)) else (value,)
        return bool(panels) and all(isinstance(panel, jh.lab.Panel) for panel in panels)

    loaded = references.load_value("figure", reference, is_figure, "Panel (or tuple of Panels)")
    folder = Path(reference.rpartition(":")[0]).resolve().parent
    return {
        panel.name: replace(panel, experiment=replace(panel.experiment, folder=folder))
        if isinstance(panel.experiment, jh.Experiment) and panel.experiment.folder == Path()
        else panel
        for panel in (loaded if isinstance(loaded, (tuple, list)) else (loaded,))
    }
