"""Markdown to HTML, by mkdocs."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generator.errors import RefusedError
from generator.site.write import fresh

ADDRESS = "SITE_URL"  # Environment variable with the URL of the site, read in mkdocs.yml.
EPOCH = "SOURCE_DATE_EPOCH"
DAY_ZERO = 315532800  # 1980-01-01, the earliest date in a zip archive.


class _Warnings(logging.Handler):
    """Collector of the warnings of mkdocs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def build(config_file: Path, docs: Path, site: Path, date: int | None) -> None:
    """Build ``docs`` into ``site``, which is replaced only if mkdocs succeeds.

    date: of the generated files, in seconds since 1970; None for 1980-01-01
    errors: RefusedError with the warnings and errors of mkdocs
    """
    from mkdocs.exceptions import Abort, ConfigurationError

    logger, warnings = logging.getLogger("mkdocs"), _Warnings()
    logger.setLevel(logging.WARNING)
    logger.addHandler(warnings)
    try:
        with fresh(site) as new, _dated(date if date is not None else DAY_ZERO):
            _build(config_file, docs.resolve(), new.resolve())
    except (Abort, ConfigurationError) as error:
        details = "; ".join([*warnings.messages, " ".join(str(error).split())])
        raise RefusedError(f"{config_file}: mkdocs says: {details}; expected pages that it can build") from None
    finally:
        logger.removeHandler(warnings)


def _build(config_file: Path, docs: Path, site: Path) -> None:
    from mkdocs.commands import build
    from mkdocs.config import load_config

    config = load_config(str(config_file), config_file_path=str(config_file), docs_dir=str(docs), site_dir=str(site), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build.build(config)
    config.plugins.on_shutdown()


@contextmanager
def _dated(seconds: int) -> Iterator[None]:
    """SOURCE_DATE_EPOCH, from which mkdocs takes its dates, set for the block."""
    previous = os.environ.get(EPOCH)
    os.environ[EPOCH] = str(seconds)
    try:
        yield
    finally:
        if previous is None:
            del os.environ[EPOCH]
        else:
            os.environ[EPOCH] = previous
