"""The application of all commands, and what they have in common: options, exit codes, and how a
problem ends one.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from generator.cli.terminal import Terminal, lost
from generator.errors import NO_PROCESS, AtlasError, RefusedError, of_system

OK, FAILED, REFUSED = 0, 1, 2
LONGEST = 200  # characters of a message that no code foresaw
EXIT_CODES = (
    "0 done; 1 a checkpoint could not be read or reached; 2 refused, for example for a mistake in"
    " the list."
)


# Commands by what they are for, in the order of help.
GROUPS = {
    "For engineers": ("lint", "compare", "inspect", "expected"),
    "For a site": ("init", "add", "check", "build", "serve", "diff"),
    "Upkeep": ("pin", "schema", "models", "summary"),
}
GROUP_OF = {name: title for title, names in GROUPS.items() for name in names}


def place(name: str) -> int:
    """Where a command is in help; those without a group are last."""
    first = name.split(maxsplit=1)[0]
    return list(GROUP_OF).index(first) if first in GROUP_OF else len(GROUP_OF)


class Flowing(TyperGroup):
    """Commands whose help breaks lines where the terminal ends, not where docstrings do."""

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, in the panel of its group."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            paragraphs = cleandoc(command.help or "").split("\n\n")
            command.help = "\n\n".join(" ".join(one.split()) for one in paragraphs)
            command.rich_help_panel = GROUP_OF.get(cmd_name)
        return command


class Guarded(Flowing):
    """Commands in groups, whatever ends one of which is one sentence and an exit code."""

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, group by group."""
        return sorted(super().list_commands(ctx), key=place)

    @override
    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """That of the arguments, which may ask for help."""
        with reporting_errors():
            return super().make_context(*arguments, **options)

    @override
    def invoke(self, ctx: Any) -> Any:
        """The command."""
        with reporting_errors():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
)
out, err = Terminal(), Terminal(stderr=True)

Config = Annotated[
    Path, typer.Option("--config", help="The list of checkpoints.", show_default=True)
]
Output = Annotated[
    Path,
    typer.Option(
        "--output", help="Folder for docs and site; created if missing, and used for nothing else."
    ),
]


@contextmanager
def reporting_errors(consequence: str = "") -> Iterator[None]:
    """Print what ends a command once, without a traceback, and exit.

    consequence: of an error of the disk, of too little memory, or of Ctrl+C
    """
    try:
        yield
    except (typer.Exit, typer.Abort, typer.TyperException):  # Of typer, which words the last.
        raise
    except RefusedError as error:
        _end(*error.problems)
    except AtlasError as error:
        _end(str(error), code=FAILED)
    except KeyboardInterrupt:
        # Not by the terminal, whose modules may be those whose import was interrupted.
        typer.echo(f"interrupted{consequence}", err=True)
        raise typer.Exit(REFUSED) from None
    except BrokenPipeError:  # Who reads stdout has enough.
        lost(sys.stdout)
        raise typer.Exit(REFUSED) from None
    except Exception as error:  # noqa: BLE001 (of a library, or of this program)
        _end(f"{_worded(error)}{consequence}")


def _end(*problems: str, code: int = REFUSED) -> None:
    """errors: typer.Exit"""
    for problem in problems:
        try:
            err.print(problem)
        except OSError:  # Nobody reads stderr.
            break
        except Exception:  # noqa: BLE001 (its modules may not fit into memory)
            typer.echo(problem.encode("ascii", "backslashreplace"), err=True)
    raise typer.Exit(code) from None


def _worded(error: Exception) -> str:
    """What no code foresaw."""
    if isinstance(error, OSError):
        lost(sys.stdout)
        return of_system(error)
    if isinstance(error, MemoryError):
        return "memory: too little; expected more, or fewer processes (--jobs 1)"
    if isinstance(error, BrokenExecutor):
        return NO_PROCESS
    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    [*_, place] = extract_tb(first.__traceback__)
    said = " ".join(str(first).split())[:LONGEST]
    return (
        f"unexpected {type(first).__name__} at {Path(place.filename).name}:{place.lineno}: {said};"
        " expected more memory, or no fault of this program or a library"
    )
