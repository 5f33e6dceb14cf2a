"""A folder served on this machine, and a browser to look at it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, sync_playwright

SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Nothing: pytest shows what matters."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of ``folder`` on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that is installed here; without one the test is skipped, but not where builds are checked."""
    if shutil.which("chromium") is None and "CI" not in os.environ:
        pytest.skip("Chromium is not installed, so nothing here was tested: install it (Debian: apt install chromium)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(SWITCHES))
        yield started
        started.close()
