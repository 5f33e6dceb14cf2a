"""``python -m tests [options of pytest]``: all tests but the thorough ones, on all processors,
within a limit; what ``make test`` runs.

``python -m tests -m ""`` runs the thorough ones too.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress

from tests import browsers

MINUTES = 45.0  # for all tests together, several times as long as they take on two processors
# A file's tests share fixtures and so a process. One that dies ends the run, which names its test:
# xdist would wait for its files for ever.
PARALLEL = (
    "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "0",
)  # fmt: skip
LAST_SECONDS = 20.0
TOO_LONG = 124  # As timeout(1) ends.


def run(arguments: list[str], minutes: float = MINUTES) -> int:
    """The exit code of pytest; ``TOO_LONG`` where it was ended after ``minutes``.

    No process that it started outlives it.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *PARALLEL, *arguments], start_new_session=True
    ) as pytest:
        try:
            return pytest.wait(60 * minutes)
        except subprocess.TimeoutExpired:
            sys.stderr.write(
                f"The tests were ended after {minutes:g} minutes; expected them to end by"
                " themselves\n"
            )
            return TOO_LONG
        except KeyboardInterrupt:
            os.killpg(pytest.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):  # It reports what it has done so far.
                pytest.wait(LAST_SECONDS)
            raise
        finally:
            with suppress(ProcessLookupError):
                os.killpg(pytest.pid, signal.SIGKILL)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # What ends this process ends all.
    sys.exit(browsers.main() or run(sys.argv[1:]))
