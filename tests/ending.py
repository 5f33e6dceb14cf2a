"""How the processes of a command end: ``python ending.py FILE COMMAND…`` writes their exit codes to
FILE.

First that of the command, then of each process that it left behind, which nobody else waits for:
they come to this one (prctl(2), PR_SET_CHILD_SUBREAPER). A negative code is the signal that ended a
process.
"""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def exit_codes(command: list[str]) -> list[int]:
    """Of ``command`` and of the processes that it left behind."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    codes = [subprocess.run(command, check=False).returncode]
    while True:
        try:
            codes.append(os.waitstatus_to_exitcode(os.wait()[1]))
        except ChildProcessError:
            return codes


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(exit_codes(sys.argv[2:])), encoding="utf-8")
