"""What ``serve`` adds to the server of mkdocs."""

import os
import socket
from pathlib import Path

from generator.errors import RefusedError
from generator.site.html import mkdocs_build


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
