"""``python -m generator``, which an installed program calls ``position-atlas``."""

import sys
from io import TextIOWrapper

from generator import PROGRAM
from generator.cli.commands import app


def main() -> None:
    """The command line, under the name by which it was called."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Where a terminal lacks a character, the line is still shown.
    app(prog_name="python -m generator" if __name__ == "__main__" else PROGRAM)


if __name__ == "__main__":
    main()
