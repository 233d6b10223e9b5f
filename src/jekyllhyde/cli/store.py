"""`jh store`: what a store holds, and whether it is whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from jekyllhyde.cli.show import show_table
from jekyllhyde.errors import InputError, check_choice

ACTIONS = ("ls", "show", "verify", "merge")


@dataclass(frozen=True)
class StoreCommand:
    """Look into a store: `ls`, `show ID`, `verify`, or `merge FOLDER` (take over another store's
    runs).
    """

    action: tyro.conf.Positional[str]
    """ls, show, verify or merge."""
    what: tyro.conf.Positional[str] = ""
    """For show: a cell's id or digest, or the beginning of one. For merge: the other store's
    folder.
    """
    store: Path = Path("jh-store")
    """The store's folder."""
    set_aside: bool = False
    """For verify: move damaged parts to STORE/damaged, so that their runs are computed again."""
    json: bool = False
    """Print JSON instead of tables."""

    def run(self) -> int:
        """The action."""
        from jekyllhyde.lab.store import Store

        check_choice(self.action, "action", ACTIONS)
        store = Store.open(self.store)
        return {"ls": self.ls, "show": self.show, "verify": self.verify, "merge": self.merge}[
            self.action
        ](store)

    def ls(self, store: Any) -> int:
        """Cells, runs and failures per experiment."""
        found: dict[str, dict[str, Any]] = {}
        cells: dict[str, set[str]] = {}
        for held in store.parts.values():
            for one in held:
                name = one.id.split("/")[0]
                row = found.setdefault(
                    name, {"experiment": name, "cells": 0, "runs": 0, "failed": 0}
                )
                cells.setdefault(name, set()).add(one.cell)
                row["runs"] += one.last - one.first
                row["failed"] += one.failed
        rows = [{**row, "cells": len(cells[name])} for name, row in sorted(found.items())]
        if self.json:
            print(json.dumps(rows))
        elif rows:
            show_table(f"{self.store}: {len(store.parts)} parts", rows)
        else:
            print(f"{self.store} is empty")
        for name, reason in store.damaged.items():
            print(f"part {name} cannot be read: {reason}")
        return 0

    def show(self, store: Any) -> int:
        """One cell: its settings, its runs, who made them."""
        known = {one.cell: one.id for held in store.parts.values() for one in held}
        matching = {cell: name for cell, name in known.items() if self.what in (cell, name)} or {
            cell: name
            for cell, name in known.items()
            if self.what and (cell.startswith(self.what) or name.startswith(self.what))
        }
        if not matching:
            raise InputError(
                f"no cell of {str(self.store)!r} is called {self.what!r}; jh store ls lists the experiments"
            )
        if len(matching) > 1:
            for digest, name in sorted(matching.items(), key=lambda item: item[1]):
                print(digest, name)
            return 0
        digest, name = next(iter(matching.items()))
        rows = store.table([digest]).to_pylist()
        made = [
            store.provenance(part)
            for part, held in sorted(store.parts.items())
            if any(one.cell == digest for one in held)
        ]
        about = {
            "cell": digest,
            "id": name,
            "settings": json.loads(rows[0]["settings"]),
            "runs": len(rows),
            "made": made,
            "failures": {row["run"]: row["failure"] for row in rows if row["failure"] is not None},
        }
        print(json.dumps(about, indent=None if self.json else 1))
        return 0

    def verify(self, store: Any) -> int:
        """Read everything and compare checksums; exit status 1 if something is wrong."""
        wrong = store.verify()
        for name, reason in wrong.items():
            print(f"{name}: {reason}")
        if wrong and self.set_aside:
            for path in store.set_aside(wrong):
                print(f"moved to {path}")
        print(
            f"{len(store.parts)} parts read, {len(wrong)} damaged"
            if wrong
            else f"{len(store.parts)} parts, all whole"
        )
        return 1 if wrong else 0

    def merge(self, store: Any) -> int:
        """Take over another store's runs."""
        from jekyllhyde.lab.store import Store

        if not self.what:
            raise InputError("merge needs the folder of another store")
        print(f"{store.merge(Store.open(self.what))} parts taken over")
        return 0
