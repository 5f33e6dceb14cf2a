"""A terminal that prints text literally: no markup, no emoji, and invisible characters escaped."""

import errno
import json
import os
import re
from typing import IO, Any

from rich.console import Console
from rich.text import Text

from generator.cli.deferral import deferred

with deferred():
    from generator import text as texts

# What runners obey in a log, by their references: at the start of a line GitHub and Buildkite, and
# anywhere GitHub's former form, Azure Pipelines and TeamCity, and GitLab and Travis CI.
COMMAND = re.compile(
    r"(?m:^)\s*(?::(?=:)|([-+~^])(?=\1\1))|#(?=#\w*\[)|(?:section|travis)_(?=[a-z]+:)"
)


def json_text(document: object, **options: Any) -> str:
    """A document as JSON, in which a log viewer finds no command."""
    return COMMAND.sub(_escaped, json.dumps(document, indent=1, **options))


def _escaped(command: re.Match[str]) -> str:
    return f"{command[0][:-1]}\\u{ord(command[0][-1]):04x}"


def _inert(text: Text) -> Text:
    """``text`` with its styles, and without what a log viewer would take for a command."""
    for command in reversed([*COMMAND.finditer(text.plain)]):
        before, after = text[: command.start()], text[command.end() :]
        text = Text.assemble(before, _escaped(command), after)
    return text


class Terminal(Console):
    """Names in a checkpoint are untrusted: none of them may set colours, break lines, or control
    the terminal or a log viewer.
    """

    def __init__(self, *, outlives_reader: bool = False, **options: Any) -> None:
        self.outlives_reader = outlives_reader
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints it; what is styled keeps its line breaks."""
        super().print(
            *(_inert(one) if isinstance(one, Text) else one for one in objects), **options
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich renders it, with invisible characters escaped, and what a log viewer would take
        for a command.
        """
        return super().render_str(COMMAND.sub(_escaped, texts.visible(text)), **options)

    def on_broken_pipe(self) -> None:
        """Continue silently when the reader of stdout has gone, where the result is not the output,
        but a site.

        errors: BrokenPipeError elsewhere
        """
        if not self.outlives_reader:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        self.quiet = True
        lost(self.file)


def lost(stream: IO[str]) -> bool:
    """Whether what was written to a stream is lost; then what follows goes nowhere."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return True
    return False
