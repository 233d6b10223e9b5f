"""`jh`: a thin door to the library. Bad input gets one sentence and exit status 2."""

import os
import re
import sys
import warnings
from typing import Annotated, Any, Union

import tyro

from jekyllhyde import __version__
from jekyllhyde.cli.checking import Check
from jekyllhyde.cli.console import say
from jekyllhyde.cli.figure import Figure, Report
from jekyllhyde.cli.laboratory import StoreCommand, Sweep
from jekyllhyde.cli.listing import List
from jekyllhyde.cli.plan import Plan
from jekyllhyde.cli.train import Train, resumed
from jekyllhyde.cli.watching import Compare, Eval, Export, Watch
from jekyllhyde.errors import InputError, check_choice
from jekyllhyde.registry import shell_name

LONGEST = 900  # characters of a sentence
COMMANDS: dict[str, Any] = {
    "plan": Plan,
    "train": Train,
    "check": Check,
    "eval": Eval,
    "watch": Watch,
    "compare": Compare,
    "export": Export,
    "figure": Figure,
    "sweep": Sweep,
    "report": Report,
    "store": StoreCommand,
    "list": List,
}


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `jh`."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"jekyllhyde {__version__}")
        return 0
    if arguments[:1] == ["train"]:
        arguments = [re.sub("^--seeds(?==|$)", "--runs", word) for word in arguments]
    shown = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"jh: {message}\n"  # not where in our source
    try:
        return parse(resumed(arguments, parse)).run() or 0
    except InputError as error:
        sentence = str(error)  # it may quote a file at length
        say(f"jh: {sentence[:LONGEST]}{' ...' * (len(sentence) > LONGEST)}", error=True)
    except MemoryError as error:
        say(f"jh: there is not enough memory here ({error}); what is stored stays", error=True)
    except BrokenPipeError:  # nobody reads on
        # what is left is flushed to it at the end
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    except KeyboardInterrupt as stop:
        say(f"jh: {str(stop) or 'stopped'}", error=True)
        return 130
    finally:
        warnings.formatwarning = shown
    return 2


def parse(arguments: list[str]) -> Any:
    """The command that the arguments give; its flags may depend on the arguments themselves."""
    name = arguments[0] if arguments else ""
    if name and name[0] != "-":
        check_choice(name, "command", COMMANDS)
    completed = getattr(COMMANDS.get(name), "completed", None)
    commands = COMMANDS | ({} if completed is None else {name: completed(arguments[1:])})
    command_type: Any = Union[  # noqa: UP007 (of as many as there are)
        tuple(Annotated[kind, tyro.conf.subcommand(key)] for key, kind in commands.items())
    ]
    command, unknown = tyro.cli(
        command_type,
        prog="jh",
        description="Policy updates where the policy does not go.",
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes, tyro.conf.FlagCreatePairsOff),
        return_unknown_args=True,
    )
    if unknown:
        agent = f" --agent {shell_name(command.task.record.name)}" if name == "train" else ""
        told = f"jh {' '.join(arguments[: 1 if completed is None else 2])}{agent}"
        raise InputError(
            f"{unknown[0]} is given, but {told} does not take it; add --help to see what it takes"
        )
    return command
