"""The browser of the tests: which one it is, and how it comes here. ``python -m tests.browsers``
finds or installs it.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HAS_PLAYWRIGHT = find_spec("playwright") is not None
# The first has the same engine, and is quicker for want of windows.
COMMANDS = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
    "google-chrome-stable",
)  # fmt: skip
INSTALLER_SECONDS = 120.0
MISSING = (
    "no Chromium was found: install one (Debian: apt install chromium), or name one with"
    " CHROMIUM=path"
    if HAS_PLAYWRIGHT
    else "Playwright is not installed"
)
SWITCHES = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def _playwrights_own() -> str:
    """Where Playwright's installer puts its browser, installed or not.

    Asked in a thread: in the caller's, another Playwright may be running.
    """

    def asked() -> str:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            return playwright.chromium.executable_path

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asked).result()


def _starts(path: str) -> bool:
    """Ubuntu's chromium-browser, for one, may be a script that only says where to find the
    browser.
    """
    with suppress(OSError, subprocess.TimeoutExpired):
        return (
            subprocess.run(
                [path, "--version"], capture_output=True, check=False, timeout=10
            ).returncode
            == 0
        )
    return False


def _candidates() -> Iterator[str | None]:
    for name in (os.environ.get("CHROMIUM"), *COMMANDS):
        yield shutil.which(name) if name else None
    yield _playwrights_own()


def find() -> str | None:
    """The first browser that starts: CHROMIUM from the environment (a path or a command), one on
    the PATH, Playwright's own; None without Playwright.
    """
    paths = _candidates() if HAS_PLAYWRIGHT else ()
    return next((path for path in paths if path and _starts(path)), None)


def is_required() -> bool:
    """Whether tests without a browser are an error, as in continuous integration."""
    return os.environ.get("CI", "") not in ("", "0", "false")


def install(seconds: float = INSTALLER_SECONDS) -> None:
    """Run Playwright's installer, whether or not it succeeds, for ``seconds`` at most."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    with (
        suppress(subprocess.TimeoutExpired),
        subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as installer,
    ):
        try:
            installer.wait(seconds)
        except BaseException:
            # The installer's download is a process of its own.
            os.killpg(installer.pid, signal.SIGKILL)
            raise


@contextmanager
def started(path: str) -> "Iterator[Browser]":
    """The browser at ``path``, running without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()


def main() -> int:
    """Find the browser or install one, and report it; the exit code is 1 where one is required and
    there is none.
    """
    path = find()
    if path is None:
        most = f"{INSTALLER_SECONDS:.0f} seconds"
        print(  # noqa: T201 (a command)
            f"Browser: none found; Playwright's installer runs for up to {most}", flush=True
        )
        install()
        path = find()
    print(f"Browser: {path or MISSING}", flush=True)  # noqa: T201
    return int(path is None and is_required())


if __name__ == "__main__":
    sys.exit(main())
