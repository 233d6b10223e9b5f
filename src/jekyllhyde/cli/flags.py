"""Flags made from options: a command has those of the problem and of the agent that it is given.

The values shown as defaults are those in force; a flag that was not given has no value, so that
what a convention or a configuration chooses stays its own choice. A name that several groups have
is one flag, for all of them.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import tyro

from jekyllhyde.errors import InputError
from jekyllhyde.options import Option
from jekyllhyde.registry import class_name, python_name

Options = Mapping[str, Option]


def value_of(flag: str, arguments: Sequence[str]) -> str | None:
    """The value of a flag among the arguments, None where it is not given."""
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = argument.partition("=")
        if name == f"--{flag}":
            return value if equals else following
    return None


def first_argument(command: str, arguments: Sequence[str]) -> str | None:
    """The problem, which comes first; None where only help is asked for."""
    if arguments and not arguments[0].startswith("-"):
        return arguments[0]
    if not arguments or {"-h", "--help"} & set(arguments):
        return None
    raise InputError(
        f"{arguments[0]} stands where the problem should; it comes first, "
        f"as in: jh {command} chain {' '.join(arguments[:2])}"
    )


def with_flags(command: type, groups: Mapping[str, Options]) -> type:
    """The command with groups of flags by their titles."""
    taken = {field.name for field in dataclasses.fields(command)}
    added: list[tuple[str, Any, Any]] = []
    for title, options in groups.items():
        flags = [_flag(option) for name, option in options.items() if name not in taken]
        group: Any = dataclasses.make_dataclass("Flags", flags, frozen=True)
        kind = Annotated[group, tyro.conf.arg(name=title)]
        added.append((f"flags_{len(added)}", kind, dataclasses.field(default_factory=group)))
        taken |= set(options)
    made = dataclasses.make_dataclass(command.__name__, added, bases=(command,), frozen=True)
    made.__doc__ = command.__doc__
    return made


def given(command: Any) -> dict[str, Any]:
    """The values of all flags that were given, by name."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(command):
        group = getattr(command, field.name)
        if field.name.startswith("flags_"):
            for flag in dataclasses.fields(group):
                value = getattr(group, flag.name)
                values |= {} if value == flag.default else {flag.name: value}
    return values


def shown(value: Any) -> str:
    """A default as the help says it; a record by its name."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    is_plain = isinstance(value, (str, int, float))
    return str(value) if is_plain else python_name(class_name(type(value)))


def _flag(option: Option) -> tuple[str, Any, Any]:
    """The flag's field: a switch for true or false, else a value that is None where not given."""
    if isinstance(option.default, bool):
        return option.name, Annotated[bool, tyro.conf.arg(help=option.about)], option.default
    kinds = [one for one in option.choices if typing.get_origin(one) is tuple]
    kinds += [one for one in (str, float, int) if one in option.choices]
    kind = [*kinds, str][0]
    about = tyro.conf.arg(
        help=option.about,
        help_behavior_hint=f"(default: {shown(option.default)})",
        metavar="INT ..." if isinstance(option.default, tuple) else kind.__name__.upper(),
    )
    return option.name, Annotated[kind | None, about], None
