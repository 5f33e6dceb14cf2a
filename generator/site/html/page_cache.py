"""HTML of pages that are as they were: mkdocs neither parses nor renders them again.

What a page is made of: its Markdown, the navigation, and what the caller's key stands for. Links
depend on which other files there are, so that an entry has what its page asked for, and counts only
where the answers are the same. All links are checked in every build.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from generator.cache import fingerprint
from generator.cache.blobs import BlobCache
from generator.site.html.escape import literal

SEARCH = "material/search"
LEVEL = 1  # of compression
# In place of the present release: as Markdown and verbatim elements have it, and in other HTML.
# JSON has neither.
ESCAPED, PLAIN = "\1", "\2"


@dataclass
class PageCache:
    """Pages by the digest of what they are made of.

    key: of all that pages have in common but the navigation; fresh: whether nothing from an earlier
        build counts; used: gets the names in ``blobs`` of all pages
    release: the present one, which every citation names: pages that differ in nothing else are one
    """

    blobs: BlobCache
    key: str
    fresh: bool
    used: set[str]
    release: str = ""


class CachedPages:
    """The pages of one build by mkdocs."""

    def __init__(self, cache: PageCache) -> None:
        self.cache = cache
        self.key = ""
        self.found: dict[str, dict[str, Any]] = {}  # By path of the HTML.
        self.made: dict[str, dict[str, Any]] = {}
        self.names: dict[str, str] = {}
        self.mentions: dict[str, int] = {}  # Of the release, in Markdown.
        self.mention = str(literal(cache.release))

    def attach(self, events: Mapping[str, list[Callable[..., Any]]]) -> None:
        """Have mkdocs ask for pages in its build. events: those of its plugins"""
        events["nav"].append(self._on_nav)
        events["pre_page"].append(self._on_pre_page)

    def put(self, path: str, html: str) -> None:
        """Keep the page at ``path``, which is whole now. html: as it is published"""
        if path not in self.made:
            return
        text = json.dumps({**self.made[path], "html": html})
        if release := self.cache.release:
            # A page may have the same digits elsewhere, or an anchor of them.
            if html.count(self.mention) + html.count(release) != self.mentions[path]:
                return
            text = text.replace(self.mention, ESCAPED).replace(release, PLAIN)
        self.cache.blobs.put(self.names[path], zlib.compress(text.encode(), LEVEL))

    def _on_nav(self, nav: Any, config: Any, **_: Any) -> Any:
        entries = [_entry(item) for item in nav.items]
        # A title that is not given is read from its page later, and stands on all pages.
        if all(page.title is not None for page in nav.pages):
            self.key = fingerprint.of_parts((self.cache.key, entries))
            self._note_entries(config.plugins[SEARCH].search_index)
        return nav

    def _on_pre_page(self, page: Any, files: Any, **_: Any) -> Any:
        if not self.key:
            return page
        path = page.file.dest_uri
        markdown, mention = page.file.content_bytes, self.mention.encode()
        if mention:
            self.mentions[path] = markdown.count(mention)
            markdown = markdown.replace(mention, ESCAPED.encode())
        # The room that a page has left depends on the length.
        name = fingerprint.of_parts((self.key, path, markdown, len(mention)))
        self.names[path] = name
        self.cache.used.add(name)
        entry = None if self.cache.fresh else self._entry(name, files)
        if entry is None:
            self._note(page, path)
        else:
            self._fill(page, entry, files)
            self.found[path] = entry
        return page

    def _entry(self, name: str, files: Any) -> dict[str, Any] | None:
        """The page in the cache, if all files answer as they did."""
        data = self.cache.blobs.get(name)
        if data is None:
            return None
        text = zlib.decompress(data).decode()
        text = text.replace(ESCAPED, self.mention).replace(PLAIN, self.cache.release)
        entry: dict[str, Any] = json.loads(text)
        return entry if entry["asked"] == _answers(files, entry["asked"]) else None

    def _note(self, page: Any, path: str) -> None:
        """Have ``page`` rendered, and note what else it is made of."""
        render = page.render

        def rendered(config: Any, files: Any) -> None:
            asking = _Asking(files)
            render(config, asking)
            self.made[path] = {
                "asked": asking.asked,
                "anchors": sorted(page.present_anchor_ids),
                "links": {file.src_uri: links for file, links in page.links_to_anchors.items()},
            }

        page.render = rendered

    def _fill(self, page: Any, entry: Mapping[str, Any], files: Any) -> None:
        """Have ``page`` be its HTML, whatever its template."""
        from jinja2 import Template

        def read_source(_: Any) -> None:
            page.markdown = ""
            page.meta = {"template": Template("{{ page.meta.html }}"), "html": entry["html"]}

        def render(_: Any, __: Any) -> None:
            page.content = ""
            page.present_anchor_ids = set(entry["anchors"])
            page.links_to_anchors = {
                files.get_file_from_path(uri): links for uri, links in entry["links"].items()
            }

        page.read_source, page.render = read_source, render

    def _note_entries(self, index: Any) -> None:
        """Have the search index take those of pages from the cache, and note those of others."""
        add = index.add_entry_from_context

        def added(page: Any) -> None:
            path, count = page.file.dest_uri, len(index.entries)
            if path in self.found:
                index.entries += self.found[path]["entries"]
            else:
                add(page)
                self.made[path]["entries"] = index.entries[count:]

        index.add_entry_from_context = added


class _Asking:
    """Files of mkdocs, with notes of those that a page asked for."""

    def __init__(self, files: Any) -> None:
        self.files = files
        self.asked: dict[str, str | None] = {}

    def get_file_from_path(self, path: str) -> Any:
        """As that of mkdocs."""
        self.asked |= _answers(self.files, (path,))
        return self.files.get_file_from_path(path)


def _answers(files: Any, paths: Any) -> dict[str, str | None]:
    """Where each of ``paths`` is in the site; None where it is not."""
    found = {path: files.get_file_from_path(path) for path in paths}
    return {path: file and file.url for path, file in found.items()}


def _entry(item: Any) -> Any:
    """An entry of the navigation with all that is below it."""
    return (item.title, [_entry(one) for one in item.children] if item.children else item.url)
