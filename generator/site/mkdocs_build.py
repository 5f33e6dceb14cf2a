"""Markdown to HTML, by mkdocs as it is."""

import json
import logging
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.cache.stamps import Stamps
from generator.errors import RefusedError
from generator.site.write import fresh, link

if TYPE_CHECKING:
    from mkdocs.structure.files import File, Files

ADDRESS = "SITE_URL"  # The variable that says where a site will stand; mkdocs.yml reads it.
SEARCH = "search/search_index.json"


class _Warnings(logging.Handler):
    """What mkdocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@dataclass(frozen=True)
class Known:
    """What is known of a site that stands. stamps: what its files were made from; always: paths of pages that are made in any case, since
    nothing but mkdocs tells whether their links still lead somewhere"""

    stamps: Stamps
    always: Collection[str] = ()


def build(config_file: Path, docs: Path, site: Path, date: int | None, known: Known | None = None) -> None:
    """Build ``docs`` into ``site``, which stays as it was if mkdocs fails.

    date: seconds since 1970 for what mkdocs dates, None for 1980
    known: of ``site``; what would be the same in it stays. None where all is to be made
    errors: RefusedError when mkdocs refuses
    """
    from mkdocs.exceptions import Abort, ConfigurationError

    dated = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = str(date if date is not None else 315532800)
    logger, warnings = logging.getLogger("mkdocs"), _Warnings()
    logger.setLevel(logging.WARNING)
    logger.addHandler(warnings)
    logging.getLogger("mkdocs.commands.build").addFilter(_is_no_warning_of_partial_builds)
    with fresh(site) as new:
        try:
            made_of = _build(config_file, docs, site, new, known)
        except (Abort, ConfigurationError) as error:
            told = "; ".join([*warnings.messages, " ".join(str(error).split())])
            raise RefusedError(f"{config_file}: mkdocs says: {told}; expected pages that it can build") from None
        finally:
            logger.removeHandler(warnings)
            if dated is None:
                del os.environ["SOURCE_DATE_EPOCH"]
            else:
                os.environ["SOURCE_DATE_EPOCH"] = dated
    if known is not None:
        known.stamps.save(site, made_of)


def _build(config_file: Path, docs: Path, site: Path, new: Path, known: Known | None) -> dict[str, str]:
    """Build into ``new`` what ``site`` does not have; what tells apart that which each file is made of."""
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config
    from mkdocs.structure.files import get_files

    config = load_config(
        str(config_file), config_file_path=str(config_file), docs_dir=str(docs.resolve()), site_dir=str(new.resolve()), strict=True
    )
    files = get_files(config)
    made_of = {file.dest_uri: _source(file) for file in files}
    kept = set()
    if known is not None and known.stamps.holds(site / SEARCH, SEARCH, SEARCH):
        standing = {path for path, source in made_of.items() if known.stamps.holds(site / path, path, source)}
        kept = {file.url for file in files if file.dest_uri in standing and file.src_uri not in known.always and _stays(file, site, new)}
    config.plugins.on_startup(command="build", dirty=False)
    mkdocs_build(config, dirty=bool(kept))
    config.plugins.on_shutdown()
    if kept:
        _complete_search(files, kept, site, new)
    return {**made_of, SEARCH: SEARCH}


def _is_no_warning_of_partial_builds(record: logging.LogRecord) -> bool:
    """mkdocs warns that pages which it leaves out may link to what has moved; here they are those that would be the same."""
    return not str(record.msg).startswith("A 'dirty' build")


def _source(file: "File") -> str:
    state = Path(str(file.abs_src_path)).stat()
    return f"{state.st_size} {state.st_mtime_ns}"


def _stays(file: "File", site: Path, new: Path) -> bool:
    """Take over what was made of ``file``, unless mkdocs, which goes by time alone, would write into it."""
    former = site / file.dest_uri
    stays = bool(former.stat().st_mtime >= Path(str(file.abs_src_path)).stat().st_mtime)
    if stays:
        link(former, new / file.dest_uri)
    return stays


def _complete_search(files: "Files", kept: Collection[str], site: Path, new: Path) -> None:
    """Put what the search knew of the pages that are ``kept``, by address, where a build of all would have put it."""
    place = {file.url: index for index, file in enumerate(files.documentation_pages())}
    former, index = (json.loads((folder / SEARCH).read_text(encoding="utf-8")) for folder in (site, new))
    entries = [entry for entry in former["docs"] if _page_of(entry) in kept] + index["docs"]
    text = json.dumps({**index, "docs": sorted(entries, key=lambda entry: place[_page_of(entry)])}, separators=(",", ":"))
    (new / SEARCH).write_text(text, encoding="utf-8")
    (new / SEARCH).with_suffix(".js").write_text(f"var __index = {text}", encoding="utf-8")  # Where there is no server.


def _page_of(entry: dict[str, Any]) -> str:
    return str(entry["location"]).partition("#")[0]
