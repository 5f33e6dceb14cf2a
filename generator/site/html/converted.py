"""Pages that an earlier build converted from the same Markdown: to convert all again takes a fifth
of a build of few rows in which only the date is new.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from generator.cache.blobs import BlobCache
from generator.cache.fingerprint import of_parts

# Those whose HTML depends on the text and its links alone.
EXTENSIONS = {"admonition", "attr_list", "fenced_code", "md_in_html", "tables", "toc"}
PLUGINS = {"material/offline", "material/search"}


@dataclass
class _Links:
    """The files of a site, with the places of those that one page links."""

    files: Any
    places: dict[str, str | None] = field(default_factory=dict)

    def get_file_from_path(self, path: str) -> Any:
        """As that of the files."""
        found = self.files.get_file_from_path(path)
        self.places[path] = _place(found)
        return found


class Converted:
    """What mkdocs makes of the Markdown of pages, by their name, text and links.

    code: digest of the program and of its libraries; used: the entries of this build
    """

    def __init__(self, blobs: BlobCache, code: str) -> None:
        self.blobs, self.code = blobs, code
        self.used: set[str] = set()

    def install(self, config: Any, warnings: Sequence[str]) -> None:
        """Have pages of mkdocs with this ``config`` taken from here, unless an extension, a plugin
        or a hook (to mkdocs, a plugin) of a user may have a part in them.

        warnings: of mkdocs, as they come: a page with any is not stored
        """
        extensions = config.markdown_extensions
        if set(extensions) <= EXTENSIONS and set(config.plugins) <= PLUGINS:
            options = (extensions, config.mdx_configs, config.use_directory_urls)
            code = of_parts((self.code, json.dumps(options, sort_keys=True, default=str)))

            def replaced(page: Any, **_: Any) -> Any:
                page.render = partial(self._render, page, page.render, code, warnings)
                return page

            config.plugins.events["pre_page"].append(replaced)

    def _render(  # noqa: PLR0913, PLR0917 (what a page depends on)
        self, page: Any, render: Any, code: str, warnings: Sequence[str], config: Any, files: Any
    ) -> None:
        """Convert ``page``, or take what an earlier build made of it."""
        name = of_parts(("converted", page.file.src_uri))
        key = of_parts((code, page.markdown))
        self.used.add(name)
        entry = json.loads(self.blobs.get(name) or b"{}")
        if entry.get("key") == key and all(
            _place(files.get_file_from_path(path)) == place
            for path, place in entry["links"].items()
        ):
            _restore(page, entry, files)
            return
        links, before = _Links(files), len(warnings)
        render(config, links)
        if len(warnings) == before:
            made = {"key": key, "links": links.places, **_made(page)}
            self.blobs.put(name, json.dumps(made).encode())


def _place(file: Any) -> str | None:
    """What a link to a file depends on."""
    return None if file is None else f"{file.url} {file.inclusion.name}"


def _made(page: Any) -> dict[str, Any]:
    """What ``render`` of mkdocs sets."""
    return {
        "content": page.content,
        "contents": [_entry(item) for item in page.toc],
        "title": page._title_from_render,
        "anchors": sorted(page.present_anchor_ids),
        "to": {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()},
    }


def _restore(page: Any, entry: Mapping[str, Any], files: Any) -> None:
    from mkdocs.structure.toc import get_toc

    page.content = entry["content"]
    page.toc = get_toc(entry["contents"])
    page._title_from_render = entry["title"]
    page.present_anchor_ids = set(entry["anchors"])
    page.links_to_anchors = {files.get_file_from_path(to): at for to, at in entry["to"].items()}


def _entry(item: Any) -> dict[str, Any]:
    """One of the table of contents, as the extension of Markdown gives it."""
    children = [_entry(child) for child in item.children]
    return {"name": item.title, "id": item.id, "level": item.level, "children": children}
