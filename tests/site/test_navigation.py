"""Navigation: hand-written pages have tabs, or a place below one; generated pages need none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.utils.yaml import yaml_load

from generator.pipeline.build import MKDOCS, SITE_SRC
from generator.site import mkdocs_build, write


def _paths(entries: list[dict[str, Any]]) -> Iterator[str]:
    for place in (place for entry in entries for place in entry.values()):
        yield from _paths(place) if isinstance(place, list) else (place,)


TABS = set(_paths(yaml_load(MKDOCS.read_text(encoding="utf-8"))["nav"]))


def test_every_hand_written_page_has_a_place() -> None:
    assert {path.relative_to(SITE_SRC).as_posix() for path in SITE_SRC.rglob("*.md")} <= TABS


def test_a_generated_page_needs_no_entry_in_mkdocs_yml(tmp_path: Path) -> None:
    write.write(dict.fromkeys((*TABS, "new/index.md", "new/deep/page.md"), b"# Page"), tmp_path / "docs")
    mkdocs_build.build(MKDOCS, tmp_path / "docs", tmp_path / "site", None)
    assert (tmp_path / "site/new/index.html").exists()
    assert (tmp_path / "site/new/deep/page.html").exists()
