"""The commands as records, from the signatures by which typer parses them."""

import inspect
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, ParameterInfo

from generator.cli.application import GROUP_OF, place
from generator.contracts import Command, Parameter

ENDINGS = "Exit codes: "  # The beginning of a paragraph in the docstring of a command.
KINDS = {Path: "path", str: "text", int: "whole number", bool: ""}


def commands(app: typer.Typer, group: str = "") -> tuple[Command, ...]:
    """Every command that help lists, in that order; the name of one below another begins with that
    of the other.
    """
    own = [
        _command(info.callback, group, info.epilog or "")
        for info in app.registered_commands
        if not info.hidden and info.callback
    ]
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            own += commands(inner.typer_instance, f"{group}{inner.name} ")
    return tuple(sorted(own, key=lambda one: place(one.name)))


def _command(function: Any, group: str, epilog: str) -> Command:
    summary, *paragraphs = (
        " ".join(text.split()) for text in inspect.cleandoc(function.__doc__).split("\n\n")
    )
    endings = next(
        (text.removeprefix(ENDINGS) for text in paragraphs if text.startswith(ENDINGS)), ""
    )
    hints = get_type_hints(function, include_extras=True)
    signature = inspect.signature(function).parameters
    name = group + function.__name__
    return Command(
        name,
        GROUP_OF.get(name.split(maxsplit=1)[0], ""),
        summary,
        endings,
        tuple(_parameter(name, hints[name], signature[name].default) for name in signature),
        tuple(line.strip() for line in epilog.splitlines() if line.startswith("  ")),
    )


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    annotated, info, *_ = get_args(hint)
    # In an annotation, typer takes the first name for a default.
    given = (info.default, *(info.param_decls or ()))
    names = [text for text in given if isinstance(text, str) and text.startswith("-")]
    option = " ".join(names) or f"--{name.replace('_', '-')}"
    is_required = default is inspect.Parameter.empty
    if isinstance(info.show_default, str):
        shown = info.show_default
    else:
        shown = "" if is_required or default in (None, False, "") else str(default)
    return Parameter(
        name.upper() if isinstance(info, ArgumentInfo) else option,
        _kind(annotated, info),
        shown,
        is_required,
        info.help or "",
    )


def _kind(annotated: Any, info: ParameterInfo) -> str:
    """What a parameter takes, without None, and its limits."""
    kinds = get_args(annotated) or (annotated,)
    kind = next(kind for kind in kinds if kind is not type(None))
    limits = "".join(
        f" {word} {limit}"
        for word, limit in (("from", info.min), ("to", info.max))
        if limit is not None
    )
    return str(KINDS.get(kind, kind.__name__)) + limits
