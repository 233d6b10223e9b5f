"""`jh`: a thin door to the library. Bad input gets one sentence and exit status 2."""

from __future__ import annotations

import sys
from typing import Annotated

import tyro

from jekyllhyde.cli.figure import Figure
from jekyllhyde.cli.listing import List
from jekyllhyde.cli.plan import Plan
from jekyllhyde.cli.report import Report
from jekyllhyde.cli.store import StoreCommand
from jekyllhyde.cli.sweep import Sweep
from jekyllhyde.cli.train import Train
from jekyllhyde.errors import InputError

Command = (
    Annotated[Plan, tyro.conf.subcommand("plan")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Figure, tyro.conf.subcommand("figure")]
    | Annotated[Sweep, tyro.conf.subcommand("sweep")]
    | Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[StoreCommand, tyro.conf.subcommand("store")]
    | Annotated[List, tyro.conf.subcommand("list")]
)


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `jh`."""
    command = tyro.cli(
        Command,
        prog="jh",
        description="Policy updates where the policy does not go.",
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
    )
    try:
        return command.run()
    except InputError as error:
        print(f"jh: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("jh: stopped", file=sys.stderr)
        return 130
