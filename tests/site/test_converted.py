"""Pages that an earlier build converted from the same Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mkdocs.structure.pages import Page

from generator.cache.blobs import BlobCache
from generator.errors import RefusedError
from generator.site.html import mkdocs_build
from generator.site.html.converted import Converted
from tests.built import contents
from tests.synthetic import write_folder

SETTINGS = b"site_name: Small\nplugins: []\nvalidation: {unrecognized_links: warn}\n"
PAGES = {
    "index.md": b"# Here\n\n[there](there.md#part) and [itself](#here)\n",
    "there.md": b"# There\n\n## Part\n\n| a |\n|---|\n| b |\n",
}


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the pages that mkdocs converts, in turn."""
    found: list[str] = []
    render = Page.render

    def noted(page: Page, config: Any, files: Any) -> None:
        found.append(page.file.src_uri)
        render(page, config, files)

    monkeypatch.setattr(Page, "render", noted)
    return found


def build(folder: Path, settings: bytes = SETTINGS, code: str = "1") -> dict[str, bytes]:
    """The HTML of the pages in ``folder``, by name."""
    (folder / "mkdocs.yml").write_bytes(settings)
    mkdocs_build.build(
        (folder / "mkdocs.yml",), folder / "docs", folder / "site", None,
        converted=Converted(BlobCache(folder / "store"), code),
    )  # fmt: skip
    pages = contents(folder / "site")
    return {name: page for name, page in pages.items() if name.endswith(".html")}


def after(rendered: list[str], folder: Path, **options: Any) -> Sequence[str]:
    """The pages that a further build converts."""
    rendered.clear()
    build(folder, **options)
    return sorted(rendered)


def test_what_is_taken_is_what_mkdocs_makes(tmp_path: Path, rendered: list[str]) -> None:
    write_folder(tmp_path / "docs", PAGES)
    first = build(tmp_path)
    assert sorted(rendered) == ["index.md", "there.md"]
    assert build(tmp_path) == first
    assert sorted(rendered) == ["index.md", "there.md"]
    assert b'href="#part"' in first["there/index.html"]


def test_another_text_or_program_is_converted(tmp_path: Path, rendered: list[str]) -> None:
    write_folder(tmp_path / "docs", PAGES)
    build(tmp_path)
    (tmp_path / "docs/there.md").write_bytes(PAGES["there.md"] + b"\nmore\n")
    assert after(rendered, tmp_path) == ["there.md"]
    assert after(rendered, tmp_path, code="2") == ["index.md", "there.md"]
    plain = SETTINGS + b"use_directory_urls: false\n"
    assert after(rendered, tmp_path, settings=plain, code="2") == ["index.md", "there.md"]


def test_a_damaged_entry_is_converted(tmp_path: Path, rendered: list[str]) -> None:
    write_folder(tmp_path / "docs", PAGES)
    build(tmp_path)
    for entry in (tmp_path / "store").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    assert after(rendered, tmp_path) == ["index.md", "there.md"]


def test_a_link_that_breaks_is_an_error_of_the_page_that_has_it(
    tmp_path: Path, rendered: list[str]
) -> None:
    write_folder(tmp_path / "docs", PAGES)
    build(tmp_path)
    (tmp_path / "docs/there.md").rename(tmp_path / "docs/elsewhere.md")
    for _ in range(2):  # A page with a warning is not stored.
        with pytest.raises(RefusedError, match=r"'index.md' contains a link 'there.md#part'"):
            after(rendered, tmp_path)
    assert "index.md" in rendered


def test_an_anchor_that_is_gone_is_still_found(tmp_path: Path, rendered: list[str]) -> None:
    write_folder(tmp_path / "docs", PAGES)
    strict = SETTINGS.replace(b"}", b", anchors: warn}")
    build(tmp_path, strict)
    (tmp_path / "docs/there.md").write_bytes(b"# There\n")
    with pytest.raises(RefusedError, match="does not contain an anchor '#part'"):
        after(rendered, tmp_path, settings=strict)
    assert rendered == ["there.md"]


@pytest.mark.parametrize("of_user", [b"markdown_extensions: [footnotes]\n", b"hooks: [hook.py]\n"])
def test_where_a_user_has_a_part_in_pages_all_are_converted(
    tmp_path: Path, rendered: list[str], of_user: bytes
) -> None:
    write_folder(tmp_path / "docs", PAGES)
    write_folder(tmp_path, {"hook.py": b"def on_page_content(html, **_):\n    return html\n"})
    build(tmp_path, SETTINGS + of_user)
    assert after(rendered, tmp_path, settings=SETTINGS + of_user) == ["index.md", "there.md"]
