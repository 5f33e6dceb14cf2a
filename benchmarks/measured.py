"""The cost of a command: seconds, processor time, and memory of its processes."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

ROOT = Path(__file__).parent.parent
# Byte code is kept, as it usually is.
_USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# seconds between two samples of memory; sampling four times as often slows a build by a tenth
INTERVAL = 0.2


@dataclass(frozen=True)
class Cost:
    """The cost of a command.

    seconds: elapsed; busy: processor time of all processes, which other programs affect less; peak:
        peak memory of all processes in bytes, shared pages counted once; main: that of the first
        process
    """

    seconds: float
    busy: float
    peak: int
    main: int


def mkdocs_command(folder: Path) -> list[str]:
    """``mkdocs build`` of the docs in ``folder``/out, into ``folder``/plain."""
    config = (
        (ROOT / "mkdocs.yml")
        .read_text(encoding="utf-8")
        .replace("build/docs", "out/docs")
        .replace("build/site", "plain")
    )
    for path in ("templates/theme", "generator/site"):
        config = config.replace(path, str(ROOT / path))
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    return [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "--config-file",
        str(folder / "mkdocs.yml"),
    ]


def print_line(line: str) -> None:
    """Print a line without buffering."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def measure(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Cost:
    """Run ``command`` in ``folder`` to its end, and return its cost. Linux only.

    errors: CalledProcessError when it fails
    """
    started, finished, peaks, main, before = time.monotonic(), Event(), [0], [0], _waited_for()
    busy: dict[int, float] = {}
    with subprocess.Popen(
        command,
        env={**_USUAL, **environment},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:

        def watch() -> None:
            while not finished.wait(INTERVAL):
                processes = _descendants(process.pid)
                busy.update({pid: max(_busy(pid), busy.get(pid, 0.0)) for pid in processes})
                memory = [_memory(pid) for pid in processes]
                peaks.append(sum(memory))
                main.append(memory[0] if memory else 0)

        watcher = Thread(target=watch)
        watcher.start()
        output, _ = process.communicate()
        finished.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    seconds, waited = time.monotonic() - started, _waited_for() - before
    return Cost(seconds, max(sum(busy.values()), waited), max(peaks), max(main))


def _waited_for() -> float:
    """Processor time, in seconds, of all processes that have been waited for; a fork server, for
    example, is not among them.
    """
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _busy(pid: int) -> float:
    """Processor time of a process, in seconds; 0 if it has ended."""
    try:
        after_name = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
    except OSError:
        return 0.0
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _descendants(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return [pid, *(descendant for child in children for descendant in _descendants(child))]


def _memory(pid: int) -> int:
    """Proportional set size of a process, in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
