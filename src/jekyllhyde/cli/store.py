"""`jh store`: what a store holds, and whether it is whole."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tyro

from jekyllhyde.cli.show import show_table
from jekyllhyde.errors import InputError, check_choice

if TYPE_CHECKING:
    from jekyllhyde.lab.store import Store


@dataclass(frozen=True)
class StoreCommand:
    """Look into a store: `ls`, `show ID`, `verify`, or `merge FOLDER` (take over another store's
    runs).
    """

    # ls: cells, runs and failures per experiment; show: one cell, its settings, its runs, who made
    # them; verify: read everything and compare checksums (exit status 1 if something is wrong); or
    # merge.
    action: tyro.conf.Positional[str]
    # For show: a cell's id or digest, or the beginning of one. For merge: the other store's folder.
    what: tyro.conf.Positional[str] = ""
    # The store's folder.
    store: Path = Path("jh-store")
    # For verify: move damaged parts to STORE/damaged, so that their runs are computed again.
    set_aside: bool = False
    # Print JSON instead of tables.
    json: bool = False

    def run(self) -> int:
        from jekyllhyde.lab.store import Store

        check_choice(self.action, "action", ("ls", "show", "verify", "merge"))
        return int(getattr(self, self.action)(Store.open(self.store)))

    def ls(self, store: Store) -> int:
        rows: dict[str, dict[str, Any]] = {}
        cells: set[str] = set()
        for held in itertools.chain.from_iterable(store.parts.values()):
            name = held.id.split("/")[0]
            row = rows.setdefault(name, {"experiment": name, "cells": 0, "runs": 0, "failed": 0})
            row["cells"] += held.cell not in cells
            row["runs"] += held.runs
            row["failed"] += held.failed
            cells.add(held.cell)
        table = [rows[name] for name in sorted(rows)]
        if self.json:
            print(json.dumps(table))
        elif table:
            show_table(f"{self.store}: {len(store.parts)} parts", table)
        else:
            print(f"{self.store} is empty")
        for name, reason in store.damaged.items():
            print(f"part {name} cannot be read: {reason}")
        return 0

    def show(self, store: Store) -> int:
        known = {held.cell: held.id for held in itertools.chain.from_iterable(store.parts.values())}
        exact = {cell: name for cell, name in known.items() if self.what in (cell, name)}
        matching = exact or {
            cell: name
            for cell, name in known.items()
            if self.what and (cell.startswith(self.what) or name.startswith(self.what))
        }
        if not matching:
            raise InputError(
                f"no cell of {str(self.store)!r} is called {self.what!r}; jh store ls lists the "
                "experiments"
            )
        if len(matching) > 1:
            for digest, name in sorted(matching.items(), key=lambda item: item[1]):
                print(digest, name)
            return 0
        ((digest, name),) = matching.items()
        rows = store.table([digest]).to_pylist()
        about = {
            "cell": digest,
            "id": name,
            "settings": json.loads(rows[0]["settings"]),
            "runs": len(rows),
            "made": [
                store.provenance(part)
                for part, stretches in sorted(store.parts.items())
                if any(held.cell == digest for held in stretches)
            ],
            "failures": {row["run"]: row["failure"] for row in rows if row["failure"] is not None},
        }
        print(json.dumps(about, indent=None if self.json else 1))
        return 0

    def verify(self, store: Store) -> int:
        wrong = store.verify()
        for name, reason in wrong.items():
            print(f"{name}: {reason}")
        for path in store.set_aside(wrong) if wrong and self.set_aside else ():
            print(f"moved to {path}")
        summary = f"read, {len(wrong)} damaged" if wrong else "all whole"
        print(f"{len(store.parts)} parts{' ' if wrong else ', '}{summary}")
        return 1 if wrong else 0

    def merge(self, store: Store) -> int:
        if not self.what:
            raise InputError("merge needs the folder of another store")
        print(f"{store.merge(store.open(self.what))} parts taken over")
        return 0
