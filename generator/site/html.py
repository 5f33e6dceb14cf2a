"""Markdown to HTML, by mkdocs as it is."""

import logging
import os
from pathlib import Path

from generator.errors import RefusedError
from generator.site.write import fresh

ADDRESS = "SITE_URL"  # The variable that says where a site will stand; mkdocs.yml reads it.


class _Said(logging.Handler):
    """What mkdocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def build(config_file: Path, docs: Path, site: Path, date: int | None) -> None:
    """Build ``docs`` into ``site``, which stays as it was if mkdocs fails.

    date: seconds since 1970 for what mkdocs dates, None for 1980
    errors: RefusedError when mkdocs refuses
    """
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort, ConfigurationError

    os.environ["SOURCE_DATE_EPOCH"] = str(date if date is not None else 315532800)
    logger, said = logging.getLogger("mkdocs"), _Said()
    logger.setLevel(logging.WARNING)
    logger.addHandler(said)
    with fresh(site) as new:
        try:
            config = load_config(str(config_file), docs_dir=str(docs.resolve()), site_dir=str(new.resolve()), strict=True)
            config.plugins.on_startup(command="build", dirty=False)
            mkdocs_build(config)
            config.plugins.on_shutdown()
        except (Abort, ConfigurationError) as error:
            told = "; ".join([*said.messages, " ".join(str(error).split())])
            raise RefusedError(f"{config_file}: mkdocs says: {told}; expected pages that it can build") from None
        finally:
            logger.removeHandler(said)
