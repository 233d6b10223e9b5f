"""The flags of commands, made from options.

A command has the flags of the problem and of the agent that it is given. The values shown as
defaults are those in force; a flag that was not given has no value, so that what a convention or a
configuration chooses stays its own choice. A name that several groups have is one flag, for all of
them.
"""

import ast
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import tyro

from jekyllhyde.agent import AgentRecord
from jekyllhyde.errors import InputError, require
from jekyllhyde.options import Option, options_of
from jekyllhyde.registry import class_name

Options = Mapping[str, Option]
# how a value is read, the first that an option allows, and what it is called
KINDS = {str: "text", float: "a number", int: "an integer", bool: "true or false"}


@dataclasses.dataclass(frozen=True)
class ProblemCommand:
    """What the commands on a problem share. `completed` is the command with the flags of what the
    arguments name; `run` does the work.
    """

    problem: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PROBLEM")]
    """A domain (jh list), one of your own, file.py:name, a Gymnasium id such as Taxi-v4, or a file
    written by FiniteMDP.save.
    """
    out: Annotated[Path | None, tyro.conf.arg(help_behavior_hint="(default: none)")] = None
    """Folder for a Parquet table, a picture, and what else the command writes."""
    json: bool = False
    """Print one JSON object instead of the table."""


def value_of(flag: str, arguments: Sequence[str]) -> str | None:
    """The value of a flag among the arguments, None where it is not given."""
    words = [word for argument in arguments for word in argument.split("=", 1)]
    return dict(zip(words, [*words[1:], ""], strict=True)).get(f"--{flag}")


def values_of(flag: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The words that follow a flag of several words, up to the next flag."""
    if f"--{flag}" not in arguments:
        return ()
    words = arguments[arguments.index(f"--{flag}") + 1 :]
    return tuple(itertools.takewhile(lambda word: not word.startswith("--"), words))


def keywords_of(words: tuple[str, ...]) -> dict[str, Any]:
    """size=8 as {"size": 8}; what is no Python literal is text."""
    keywords: dict[str, Any] = {}
    for word in words:
        name, is_given, text = word.partition("=")
        require(is_given and name.isidentifier(), f"env_kwargs is {word!r}; it must be name=value")
        keywords[name] = text
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):  # nested too deeply
            keywords[name] = ast.literal_eval(text)
    return keywords


def without(arguments: Sequence[str], *flags: str) -> list[str]:
    """The arguments without these flags and their values."""
    kept: list[str] = []
    is_left_out = False
    for word in arguments:
        if word.startswith("--"):
            is_left_out = word.partition("=")[0].removeprefix("--") in flags
        if not is_left_out:
            kept.append(word)
    return kept


def first_argument(command: str, arguments: Sequence[str]) -> str | None:
    """The problem, which comes first; None where there is none, or only help is asked for."""
    if arguments and not arguments[0].startswith("-"):
        return arguments[0]
    if not arguments or {"-h", "--help"} & set(arguments):
        return None
    raise InputError(
        f"{arguments[0]} stands where the problem should; it comes first, "
        f"as in: jh {command} chain {' '.join(arguments[:2])}"
    )


def with_flags(command: type, groups: Mapping[str, Options]) -> Any:
    """The command with groups of flags by their titles."""
    taken = {field.name for field in dataclasses.fields(command)}
    added: list[tuple[str, Any, Any]] = []
    for title, options in groups.items():
        flags = [_flag(option) for name, option in options.items() if name not in taken]
        group: Any = dataclasses.make_dataclass("Flags", flags, frozen=True)
        kind = Annotated[group, tyro.conf.arg(name=title)]
        added.append((f"flags_{len(added)}", kind, dataclasses.field(default_factory=group)))
        taken |= set(options)
    return dataclasses.make_dataclass(
        command.__name__,
        added,
        bases=(command,),
        namespace={"__doc__": command.__doc__},
        frozen=True,
    )


def given(command: Any, options: Options) -> dict[str, Any]:
    """Those of the options whose flags were given, with their values."""
    return {
        name: _read(options[name], value)
        for title, group in vars(command).items()
        if title.startswith("flags_")
        for name, value in vars(group).items()
        if name in options and value != getattr(type(group), name)
    }


def agent_options(record: AgentRecord, preset: Mapping[str, str]) -> dict[str, Option]:
    """The agent's options by name; defaults are the values in force under the given `preset`."""
    cls = record.cls
    documented, keywords = options_of(getattr(cls, "settings_type", cls)), options_of(cls)
    chosen = {name: value for name, value in preset.items() if name in keywords}
    values = settings_of(cls(**{**record.fixed, **chosen}).settings) | chosen
    elsewhere = () if "config" in chosen else getattr(cls, "elsewhere", ())
    options = {
        name: documented.get(name, option)._replace(default=values.get(name, option.default))
        for name, option in keywords.items()
        if name not in ("env", "seed")
    }
    for changes, where, _ in elsewhere:
        for name in changes.keys() - chosen.keys():
            about = f"{options[name].about}; {shown(changes[name])} {where}"
            options[name] = options[name]._replace(about=about)
    return options


def settings_of(settings: Any) -> dict[str, Any]:
    """An agent's settings by name, with what a convention chooses written out."""
    chosen = settings.resolved() if hasattr(settings, "resolved") else settings
    if isinstance(chosen, Mapping):
        return dict(chosen)
    return {field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)}


def shown(value: Any) -> str:
    """A default as the help says it; a record by its name."""
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    is_plain = isinstance(value, (str, int, float))
    return str(value) if is_plain else "none" if value is None else class_name(type(value))


def _flag(option: Option) -> tuple[str, Any, Any]:
    # The flag's field: a switch for true or false, else text that is None where not given.
    if isinstance(option.default, bool):
        return option.name, Annotated[bool, tyro.conf.arg(help=option.about)], option.default
    kind, is_list = _kind(option)
    about = tyro.conf.arg(
        help=option.about,
        help_behavior_hint=f"(default: {shown(option.default)})",
        metavar=kind.__name__.upper() + " ..." * is_list,
    )
    return option.name, Annotated[(tuple[str, ...] if is_list else str) | None, about], None


def _kind(option: Option) -> tuple[type, bool]:
    # The type that a word of the flag is read as, and whether the flag takes several words.
    lists = [get_args(kind)[0] for kind in option.kinds if get_origin(kind) is tuple]
    return [*lists, *(kind for kind in KINDS if kind in option.kinds), str][0], bool(lists)


def _read(option: Option, value: Any) -> Any:
    kind, is_list = _kind(option)
    try:
        return tuple(map(kind, value)) if is_list else kind(value)
    except ValueError:
        words = " ".join(value) if is_list else value
        raise InputError(f"{option.name} is {words!r}; it must be {KINDS[kind]}") from None
