"""``python -m generator``."""

import sys
from io import TextIOWrapper

from generator.cli.commands import app

if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Where a terminal lacks a character, the line is still shown.
    app(prog_name="python -m generator")
