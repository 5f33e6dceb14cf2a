"""A terminal that prints text literally: no markup, no emoji, and invisible characters escaped."""

import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from generator.text import visible


class Terminal(Console):
    """Names in a checkpoint are untrusted: none of them may set colours, break lines, or control
    the terminal or a log viewer.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich renders it, with invisible characters escaped."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Continue silently when the reader of stdout has gone: the site is the result, not the
        output.
        """
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
