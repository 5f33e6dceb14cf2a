"""Markdown to HTML, by mkdocs."""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from generator.cache import byte_code
from generator.contracts.list_settings import ListSettings
from generator.errors import RefusedError
from generator.site.data import search_index
from generator.site.glossary import with_terms
from generator.site.html import long_tables
from generator.site.html.converted import Converted
from generator.site.html.minify import compact
from generator.site.html.policy import with_policy, with_relations
from generator.site.write import fresh

ADDRESS = "SITE_URL"  # Environment variable with the URL of the site.
BY_ENVIRONMENT = b'site_url: !ENV [SITE_URL, ""]'  # As in mkdocs.yml.
URL = re.compile(r"https?://[^\s/?#{}\\]+[^\s?#{}\\]*")
EPOCH = "SOURCE_DATE_EPOCH"
AFTER_CELL = re.compile(r"</(?:td|th|caption|option|dt|dd)>(?=<)")
# A link within what opens by a press, which may have none.
IN_SUMMARY = re.compile(r'(<summary>\s*<h\d[^>]*>[^<]*)<a class="headerlink"[^>]*>[^<]*</a>')
# Where minified code names the map of its source.
TO_MAP = re.compile(rb"\n?(?://# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ \*/)\s*$")
NOT_FOUND = "404.html"  # By the theme.
DAY_ZERO = 315532800  # 1980-01-01, the earliest date in a zip archive.


class _Warnings(logging.Handler):
    """Collector of the warnings of mkdocs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def address(settings: Sequence[Path]) -> str | None:
    """URL of the site, ending with "/": that of the environment, else that of the first of the
    ``settings`` that has one; None without any.

    errors: RefusedError
    """
    found = [
        (ADDRESS, os.environ.get(ADDRESS)),
        *(
            (f"{path}: site_url", read(path).get("site_url"))
            for path in filter(_has_address, settings)
        ),
    ]
    place, given = next(((place, given) for place, given in found if given), ("", None))
    if given is None:
        return None
    if not (isinstance(given, str) and URL.fullmatch(given)):
        raise RefusedError(
            f"{place}: found {str(given)[:80]!r}; expected an address like"
            " https://example.org/atlas/"
        )
    return f"{given.rstrip('/')}/"


def _has_address(settings: Path) -> bool:
    """Whether ``settings`` may name another address than that of the environment; to parse them
    takes mkdocs, which a build with nothing new does not load.
    """
    text = settings.read_bytes().replace(BY_ENVIRONMENT, b"")
    return b"site_url" in text or b"INHERIT" in text


def build(  # noqa: PLR0913, PLR0917 (what a site is made of)
    settings: Sequence[Path],
    docs: Path,
    site: Path,
    date: int | None,
    own_pages: Sequence[str] = (),
    listed: ListSettings = ListSettings(),  # noqa: B008 (frozen)
    converted: Converted | None = None,
) -> None:
    """Build ``docs`` into ``site``, which is replaced only if mkdocs succeeds.

    settings: files like mkdocs.yml, of which the last is whole, and those before it win; date: of
        the generated files, in seconds since 1970; None for 1980-01-01
    own_pages: that the menu has after all others, unless settings of a user have their own ``nav``
    listed: of the list, whose title and description settings of a user replace
    converted: pages of earlier builds
    errors: RefusedError with the warnings and errors of mkdocs
    """
    from mkdocs.exceptions import Abort, ConfigurationError

    logger, warnings = logging.getLogger("mkdocs"), _Warnings()
    logger.setLevel(logging.WARNING)
    logger.addHandler(warnings)
    try:
        with fresh(site) as new, _dated(date if date is not None else DAY_ZERO):
            config = _config(settings, docs.resolve(), new.resolve(), listed)
            if config.nav and (len(settings) == 1 or "nav" not in read(settings[0])):
                config.nav = [*config.nav, *_entries(config, own_pages)]
            if converted:
                converted.install(config, warnings.messages)
            _build(config)
            if not config.site_url:  # It would name no page.
                for sitemap in new.glob("sitemap.xml*"):
                    sitemap.unlink()
            finish(docs, new, config.extra.get("policy") or "")
            search_index.finish(new)
            search = config.plugins.get("material/search")  # Settings of a user may have none.
            _prune(new, search.config.lang if search else ())
    except (Abort, ConfigurationError) as error:
        details = "; ".join([*warnings.messages, " ".join(str(error).split())])
        raise RefusedError(
            f"{settings[0]}: mkdocs says: {details}; expected pages that it can build"
        ) from None
    finally:
        logger.removeHandler(warnings)


def _config(settings: Sequence[Path], docs: Path, site: Path, listed: ListSettings) -> Any:
    """The configuration of mkdocs."""
    from mkdocs.config import load_config

    *own, whole = settings
    ours = read(whole)
    of_list = {
        "site_name": listed.title,
        "site_description": listed.description,
        "copyright": listed.title and ours.get("extra", {}).get("copyright_of_titled"),
    }
    options: dict[str, Any] = {name: text for name, text in of_list.items() if text}
    if (nav := ours.get("nav")) is not None:
        options["nav"] = _present(nav, docs)
    options |= merged(whole, own[0]) if own else {}
    options |= {
        "docs_dir": str(docs),
        "site_dir": str(site),
        "strict": True,
        "site_url": address(settings) or "",
    }
    return load_config(str(whole), config_file_path=str(whole), **options)


def _entries(config: Any, pages: Sequence[str]) -> list[Any]:
    """Entries of the navigation: one for each page, and for each folder of pages; none for those
    that it has already, or that settings of mkdocs leave out.
    """
    from mkdocs.utils import dirname_to_title

    left_out = [config.exclude_docs, config.draft_docs, config.not_in_nav]
    known, found = json.dumps(config.nav), list[Any]()
    wanted = [
        page
        for page in pages
        if json.dumps(page) not in known
        and not any(one and one.match_file(page) for one in left_out)
    ]
    for folder, grouped in groupby(wanted, lambda page: page[: page.find("/") + 1]):
        within = list(grouped)
        found += [{dirname_to_title(folder[:-1]): within}] if folder else within
    return found


def _present(entries: Any, docs: Path) -> list[Any]:
    """The entries of a navigation that have a page."""
    found = []
    for entry in entries:
        [(title, inner)] = entry.items()
        if isinstance(inner, list):
            found += [{title: present}] if (present := _present(inner, docs)) else []
        elif (docs / inner).is_file():
            found.append(entry)
    return found


def _build(config: Any) -> None:
    from mkdocs.commands import build

    config.plugins.events["page_content"].append(_spaced)
    config.plugins.events["env"].append(_compiled)
    config.plugins.on_startup(command="build", dirty=False)
    build.build(config)
    config.plugins.on_shutdown()


def _compiled(env: Any, **_: Any) -> Any:
    """``env`` of the theme, whose templates are compiled once and not for each build."""
    env.bytecode_cache = byte_code.stored("theme")
    return env


def _prune(site: Path, languages: Sequence[str]) -> None:
    """Remove what the theme brings and no reader loads: maps of its source, and the stemmers of
    other languages than English, where ``languages`` of the search are English alone.
    """
    for source_map in site.glob("assets/**/*.map"):
        source_map.unlink()
        mapped = source_map.with_suffix("")
        mapped.write_bytes(TO_MAP.sub(b"", mapped.read_bytes()))
    if list(languages) == ["en"]:
        shutil.rmtree(site / "assets/javascripts/lunr", ignore_errors=True)


def _spaced(html: str, **_: Any) -> str:
    """``html`` with a space after each cell and choice: search would join their words without.
    ``compact`` takes those between cells out again. Without links in headings that open by a press.
    """
    return AFTER_CELL.sub(r"\g<0> ", IN_SUMMARY.sub(r"\1", html))


def merged(whole: Path, own: Path) -> dict[str, Any]:
    """Settings of a user, merged with ours where both are mappings; their paths are relative to the
    user's file.
    """
    base, options = read(whole), read(own)
    if "hooks" in options:
        options["hooks"] = [str(own.parent / hook) for hook in options["hooks"]]
    if "custom_dir" in (options.get("theme") or {}):
        options["theme"]["custom_dir"] = str(
            (own.parent / options["theme"]["custom_dir"]).resolve()
        )
    return {
        key: (
            {**base[key], **value}
            if isinstance(value, dict) and isinstance(base.get(key), dict)
            else value
        )
        for key, value in options.items()
    }


def read(settings: Path) -> dict[str, Any]:
    """Settings of mkdocs, with variables of the environment filled in. errors: RefusedError"""
    from mkdocs.exceptions import ConfigurationError
    from mkdocs.utils.yaml import yaml_load

    try:
        with settings.open("rb") as file:
            options = yaml_load(file)
    except (OSError, ConfigurationError, TypeError, ValueError) as error:
        raise RefusedError(
            f"{settings}: {' '.join(str(error).split())}; expected settings of mkdocs in YAML"
        ) from None
    if not isinstance(options, dict):
        raise RefusedError(
            f"{settings}: found no settings; expected those of mkdocs, name and value"
        )
    return options


def finish(docs: Path, site: Path, policy: str) -> None:
    """Minify the HTML of every page in Markdown and of that for what is not found; their links out,
    those of their words and their policy are written then, and further rows of long tables beside.
    """
    for source in (*docs.rglob("*.md"), docs / NOT_FOUND):
        path = source.relative_to(docs).with_suffix(".html")
        page, name = site / path, path.as_posix()
        if page.is_file():
            html = with_relations(compact(page.read_bytes().decode()))
            html = with_terms(with_policy(html, policy), name)
            script = page.with_suffix(long_tables.SCRIPT)
            html, others = long_tables.shortened(html, script.name)
            if others:
                script.write_bytes(others)
            page.write_bytes(html.encode())


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
