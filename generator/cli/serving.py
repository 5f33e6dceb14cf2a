"""What ``serve`` adds to the server of mkdocs."""

import os
import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from generator.errors import RefusedError
from generator.site.html import mkdocs_build

LOOPBACK, PORT = {"127.0.0.1", "localhost", "[::1]"}, re.compile(r":\d*$")
App: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]  # of WSGI


def for_this_machine(app: App) -> App:
    """``app``, which answers only requests for this machine: a page elsewhere whose name comes to
    stand for this address could otherwise read the site. No path with a NUL reaches it.
    """

    def answer(request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        host = PORT.sub("", str(request.get("HTTP_HOST", ""))).lower()
        if host in LOOPBACK and "\0" not in request["PATH_INFO"]:
            return app(request, start)
        start("400 Bad Request", [("Content-Type", "text/plain")])
        return [b"expected a page of this machine, by the name localhost or 127.0.0.1\n"]

    return answer


def not_found(site: Path, _: int) -> bytes | None:
    """The page of a site for what is not found; None where it has none yet."""
    page = site / mkdocs_build.NOT_FOUND
    return page.read_bytes() if page.is_file() else None


def require_free(port: int) -> None:
    """errors: RefusedError when the port is in use"""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise RefusedError(
            f"--port {port}: {os.strerror(error.errno or 0)}; expected a free port"
        ) from None
