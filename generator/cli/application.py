"""The application of all commands, and what they have in common: options, exit codes, and how a
problem ends one.
"""

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from generator.cli.terminal import Terminal
from generator.errors import AtlasError, RefusedError

OK, FAILED, REFUSED = 0, 1, 2
EXIT_CODES = (
    "0 done; 1 a checkpoint could not be read or reached; 2 refused, for example for a mistake in"
    " the list."
)

app = typer.Typer(
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
    """Print problems that a user can act on once, without a traceback, and exit.

    consequence: of an error of the disk, of too little memory, or of Ctrl+C
    """
    try:
        yield
    except RefusedError as error:
        for problem in error.problems:
            err.print(problem)
        raise typer.Exit(REFUSED) from None
    except AtlasError as error:
        err.print(str(error))
        raise typer.Exit(FAILED) from None
    except OSError as error:
        err.print(f"{error.filename or 'disk'}: {error.strerror or error}{consequence}")
        raise typer.Exit(REFUSED) from None
    except (MemoryError, BrokenExecutor):  # The latter where no process can start.
        err.print(f"memory: too little; expected more, or fewer processes (--jobs 1){consequence}")
        raise typer.Exit(REFUSED) from None
    except KeyboardInterrupt:
        # Not by the terminal, whose modules may be those whose import was interrupted.
        typer.echo(f"interrupted{consequence}", err=True)
        raise typer.Exit(REFUSED) from None
