"""A command, and what it took: seconds, seconds of a processor, and memory of its processes."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

INTERVAL = 0.2  # seconds between two looks at the memory of all processes; four times as often they would slow a build by a tenth


@dataclass(frozen=True)
class Taken:
    """seconds: from start to end; busy: seconds of a processor, of all processes, which other programs change less; peak: bytes of memory at most, of all processes, shared pages counted once; own: of the first process"""

    seconds: float
    busy: float
    peak: int
    own: int


def print_line(line: str) -> None:
    """Say it at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def taken(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Taken:
    """Run ``command`` in ``folder`` to its end. Linux alone.

    errors: CalledProcessError
    """
    begun, ended, peaks, own, before = time.monotonic(), Event(), [0], [0], _waited_for()
    busy: dict[int, float] = {}
    with subprocess.Popen(
        command, env={**os.environ, **environment}, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:

        def watch() -> None:
            while not ended.wait(INTERVAL):
                family = _family(process.pid)
                busy.update({pid: max(_busy(pid), busy.get(pid, 0.0)) for pid in family})
                memory = [_memory(pid) for pid in family]
                peaks.append(sum(memory))
                own.append(memory[0] if memory else 0)

        watcher = Thread(target=watch)
        watcher.start()
        said, _ = process.communicate()
        ended.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, said)
    seconds, exactly = time.monotonic() - begun, _waited_for() - before
    return Taken(seconds, max(sum(busy.values()), exactly), max(peaks), max(own))


def _waited_for() -> float:
    """Seconds of a processor of all processes that have ended; those who were not waited for, such as a server of forks, are not among them."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _busy(pid: int) -> float:
    """Seconds of a processor that one process has used; 0 where it has ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[int]:
    """A process and all that it started."""
    try:
        children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid, *(each for child in children for each in _family(child))]


def _memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
