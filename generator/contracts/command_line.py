"""The commands of the program, as the guide shows them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """An argument or an option.

    name: as it is typed; kind: what it takes, "" for a switch; default: "" without one
    """

    name: str
    kind: str
    default: str
    is_required: bool
    meaning: str


@dataclass(frozen=True)
class Command:
    """A command. summary: one sentence; endings: its exit codes where they have a meaning of their
    own, else ""
    """

    name: str
    summary: str
    endings: str
    parameters: tuple[Parameter, ...]
