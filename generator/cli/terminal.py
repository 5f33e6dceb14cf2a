"""A terminal on which everything is shown as it is: no markup, no emoji, and what cannot be seen spelt out."""

import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from generator.text import visible


class Terminal(Console):
    """Names in a checkpoint come from outside: none of them colours a line, begins another, or commands a terminal or whoever reads a log."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich does, of what can be seen."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Go on in silence where nobody reads any longer: the site is what was asked for."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
