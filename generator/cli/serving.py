"""What ``serve`` adds to the server of mkdocs."""

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from generator.errors import RefusedError
from generator.site.html import mkdocs_build


def without_nul(application: Callable[..., Any]) -> Callable[..., Any]:
    """A WSGI application that looks for a path with NUL as for any other that no file has; the
    system refuses to open one.
    """

    def answer(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Any:
        return application(
            {**environ, "PATH_INFO": environ["PATH_INFO"].replace("\0", "%00")}, start_response
        )

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
