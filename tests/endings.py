"""Builds that are killed, ended and interrupted at moments spread over all their stages, and builds
on a disk that is full at some point.

python -m tests.endings [kills]

However a build ends, the site is that of the former build or one of those of the new one, whole:
the one before its model was read, or the one after; and the next build ends as if nothing had
happened. The full disks are file systems in memory, which Linux
lets a process have that may mount them.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import tiny
from tests.built import ROOT, contents
from tests.synthetic import BUCKETS, ROTATION, TABLE, write_folder, write_list

KILLS, DISKS = 40, 8
# In turns, each to all processes of a build or to its first alone: no process can do anything about
# a kill; a system whose memory runs out sends it to one, who asks a program to end asks it alone,
# and a terminal interrupts all of a group.
SIGNALS = (
    (signal.SIGKILL, os.killpg),
    (signal.SIGTERM, os.kill),
    (signal.SIGINT, os.killpg),
    (signal.SIGKILL, os.kill),
)
PATIENCE = 30.0  # seconds within which all processes have ended
FOLDERS = {"table": TABLE, "rotation": ROTATION, "buckets": BUCKETS}
MODEL = {"n_layer": 2, "n_positions": 128, "max_position_embeddings": 128, "vocab_size": 99}
SHOWN = ("docs", "site")


def main(kills: int) -> None:
    """Try ``kills`` kills and ``DISKS`` full disks. errors: SystemExit where a site was damaged"""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, files in FOLDERS.items():
            write_folder(folder / name, files)
        tiny.build("gpt2", **MODEL).save_pretrained(folder / "model")
        rows = [{"folder": f"../{name}"} for name in FOLDERS]
        former = write_list(folder / "former", rows[:2])
        new = write_list(folder / "new", [*rows, {"folder": "../model", "use": True}])
        before = folder / "before"
        _finish(before, former)
        for name in ("early", "after"):
            shutil.copytree(before, folder / name)
        _end_early(folder / "early", new)
        started = time.monotonic()
        _finish(folder / "after", new)
        seconds = time.monotonic() - started
        trial = Trial(new, *(shown(folder / name) for name in ("before", "early", "after")))
        for number in range(kills):
            output = Path(shutil.copytree(before, folder / "output"))
            trial.end(output, seconds * (number + 0.5) / kills, *SIGNALS[number % len(SIGNALS)])
            shutil.rmtree(output)
        with disk(folder / "disk"):
            for number in range(DISKS):
                trial.fill(before, folder / "disk", (number + 0.5) / DISKS)
    sys.stdout.write(
        f"{kills} signals, {trial.ended} of them after the end; {DISKS} disks, {trial.sufficed} of"
        " them large enough\n"
    )


class Trial:
    """Builds of ``rows`` over a former one.

    sites: what they show when nothing happens: the former build, and the new one before and after
        its model is read
    """

    def __init__(self, rows: Path, *sites: Mapping[str, bytes]) -> None:
        self.rows, self.sites = rows, sites
        self.ended = self.sufficed = 0

    def end(
        self, output: Path, seconds: float, sent: signal.Signals, send: Callable[[int, int], None]
    ) -> None:
        """End a build in ``output`` after so many seconds by a signal, and build again."""
        what = f"{sent.name} after {seconds:.2f} s"
        with subprocess.Popen(
            _command(output, self.rows),
            cwd=ROOT,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            self.ended += process.poll() is not None
            with suppress(ProcessLookupError):
                send(process.pid, sent)
            _, said = process.communicate(timeout=PATIENCE)
        if "Traceback" in said:
            raise SystemExit(f"{what}: {said}")
        _wait_for_all(process.pid, what)
        self._check(output, what)

    def fill(self, before: Path, mounted: Path, share: float) -> None:
        """Build on a disk that has this share of what the former build takes left, and again on a
        large one.
        """
        output = Path(shutil.copytree(before, mounted / "output"))
        used = shutil.disk_usage(mounted).used
        _resize(mounted, int(used * (1 + share)))
        done = subprocess.run(
            _command(output, self.rows), cwd=ROOT, capture_output=True, text=True, check=False
        )
        self.sufficed += done.returncode == 0
        if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
            raise SystemExit(
                f"a disk with {share:.0%} left: exit code {done.returncode}\n{done.stderr}"
            )
        _resize(mounted, 10 * used)
        self._check(output, f"a disk with {share:.0%} left")
        shutil.rmtree(output)

    def _check(self, output: Path, what: str) -> None:
        for name in SHOWN:
            found = of(shown(output), name)
            if found not in [of(site, name) for site in self.sites]:
                raise SystemExit(f"{what}: {name} is of neither the former build nor the new one")
        _finish(output, self.rows)
        if shown(output) != self.sites[-1]:
            raise SystemExit(f"{what}: the next build differs from an undisturbed one")


def _wait_for_all(group: int, what: str) -> None:
    """errors: SystemExit where a process of the group stays"""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    raise SystemExit(f"{what}: a process of the build stays")


def shown(output: Path) -> dict[str, bytes]:
    """Every file that a build in ``output`` publishes, by its path below."""
    return {
        f"{name}/{path}": content
        for name in SHOWN
        for path, content in contents(output / name).items()
    }


def of(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """The files below the folder ``name``."""
    return {path: content for path, content in files.items() if path.startswith(f"{name}/")}


@contextmanager
def disk(place: Path) -> Iterator[None]:
    """A small file system in memory at ``place``."""
    place.mkdir()
    subprocess.run(["/bin/mount", "-t", "tmpfs", "none", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["/bin/umount", str(place)], check=True)


def _resize(place: Path, n_bytes: int) -> None:
    subprocess.run(["/bin/mount", "-o", f"remount,size={n_bytes}", str(place)], check=True)


def _command(output: Path, rows: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "generator",
        "build",
        "--config",
        str(rows),
        "--output",
        str(output),
    ]


def _end_early(output: Path, rows: Path) -> None:
    """Kill a build when its first site is there, and its model is still read."""
    with subprocess.Popen(
        _command(output, rows), cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        if not any("still being measured" in line for line in process.stdout):
            raise SystemExit("a build with a model published no site before it was read")
        os.killpg(process.pid, signal.SIGKILL)


def _finish(output: Path, rows: Path) -> None:
    subprocess.run(_command(output, rows), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS)
