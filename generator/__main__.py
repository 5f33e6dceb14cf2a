"""``python -m generator``, which an installed program calls ``position-atlas``."""

import codecs
import os
import signal
import sys
import warnings
from _thread import interrupt_main
from io import TextIOWrapper
from typing import IO, Any

from generator import PROGRAM

ABORTED, BY_TYPER = 2, 130  # Exit codes after Ctrl+C: ours, and that of typer.
STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}  # in the order of their numbers
LINE = "interrupted"
PLAIN = "position-atlas"  # How what a terminal lacks is written.
INSTEAD = {
    "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "−": "-", "×": "x", "·": "*", "…": "...",
    "→": "->", "²": "^2",
}  # fmt: skip


def main() -> None:
    """The command line, under the name by which it was called.

    Ctrl+C ends it with ABORTED and one line, whatever it is doing; so does a stream that takes no
    output.
    """
    for name in STREAMS:
        if getattr(sys, name) is None:
            setattr(sys, name, refusing(name))
    # A shell may have it ignored in the background.
    can_be_interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if can_be_interrupted:
        # Imports have nothing to clear away, and some ignore exceptions.
        signal.signal(signal.SIGINT, _leave)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # Those of evaluations are in the log.
    sys.unraisablehook = _again
    from generator.cli.commands import app

    codecs.register_error(PLAIN, plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Where a terminal lacks a character, the line is still shown.
            stream.reconfigure(errors=PLAIN)
    code = run(app, can_be_interrupted)
    if can_be_interrupted:
        signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    sys.exit(code)


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Characters of ASCII for those that an encoding lacks, and their code for all others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    shown = (
        INSTEAD.get(one) or one.encode("ascii", "backslashreplace").decode() for one in missing
    )
    return "".join(shown), error.end


def refusing(name: str) -> IO[Any]:
    """In place of a stream that was closed before the program began, which a file that it opens
    would otherwise become: what is read of it or printed to it fails, but to stderr.
    """
    fails = os.O_RDONLY if name == "stdout" else os.O_WRONLY
    return os.fdopen(os.open(os.devnull, fails), STREAMS[name], encoding="utf-8")


def run(app: Any, can_be_interrupted: bool = False) -> int:
    """The exit code of the command, after which nothing is left to be printed."""
    from generator.cli.terminal import lost

    code = _called(app, can_be_interrupted)
    lost(sys.stderr)
    return ABORTED if lost(sys.stdout) else code


def _called(app: Any, can_be_interrupted: bool) -> int:
    try:
        if can_be_interrupted:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        app(prog_name="python -m generator" if __name__ == "__main__" else PROGRAM)
    except SystemExit as ended:
        if ended.code != BY_TYPER:
            return int(ended.code or 0)
    except KeyboardInterrupt:
        pass
    except OSError:  # Nobody can read why the arguments are wrong.
        return ABORTED
    sys.stderr.write(f"{LINE}\n")
    return ABORTED


def _leave(*_: object) -> None:
    os.write(2, f"{LINE}\n".encode())
    os._exit(ABORTED)


def _again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Interrupt again where an interrupt came in a callback or a destructor, which cannot end the
    program.
    """
    if unraisable.exc_type is KeyboardInterrupt:
        interrupt_main()
    else:
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":
    main()
