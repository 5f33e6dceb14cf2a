"""The cache of pages of a build: where it lies, and what its key depends on."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from generator.pipeline import build
from generator.site.html import mkdocs_build
from generator.site.html.page_cache import PageCache
from generator.site.materials import OURS
from tests.inline import run
from tests.pipeline.unrendered import without_html
from tests.synthetic import NOTHING, write_folder, write_list


def test_the_cache_lies_in_the_store_and_a_fresh_build_reads_none(tmp_path: Path) -> None:
    caches: list[PageCache] = []
    write_folder(tmp_path / "nothing", NOTHING)
    config = write_list(tmp_path, [{"folder": "nothing"}])
    with without_html(), pytest.MonkeyPatch.context() as patch:
        without = mkdocs_build.build

        def noted(
            settings: tuple[Path, ...], docs: Path, site: Path, date: int | None, cache: PageCache
        ) -> None:
            caches.append(cache)
            without(settings, docs, site, date)

        patch.setattr(mkdocs_build, "build", noted)
        for option in ((), ("--fresh",)):
            done = run(
                "build", "--config", str(config), "--output", str(tmp_path / "out"), *option,
                home=tmp_path / "hub",
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    assert [cache.fresh for cache in caches] == [False, True]
    assert {cache.blobs.folder for cache in caches} == {tmp_path / "out/store/drawings"}
    assert caches[0].key == caches[1].key
    releases = json.loads((tmp_path / "out/docs/data/releases/index.json").read_bytes())
    assert {cache.release for cache in caches} == {releases[-1]["id"]}


def test_only_templates_of_a_user_may_show_the_date(tmp_path: Path) -> None:
    theirs = replace(OURS, templates=(tmp_path, *OURS.templates))
    assert build._page_key(1, OURS) == build._page_key(2, OURS)
    assert build._page_key(1, theirs) != build._page_key(2, theirs)


def test_a_template_of_the_theme_changes_the_key_and_a_written_page_does_not(
    tmp_path: Path,
) -> None:
    theirs = replace(
        OURS,
        templates=(tmp_path / "templates", *OURS.templates),
        written=(tmp_path / "written", *OURS.written),
    )
    write_folder(tmp_path, {"templates/theme/main.html": b"1", "written/page.md": b"1"})
    former = build._page_key(1, theirs)
    write_folder(tmp_path, {"written/page.md": b"2"})
    assert build._page_key(1, theirs) == former
    write_folder(tmp_path, {"templates/theme/main.html": b"2"})
    assert build._page_key(1, theirs) != former
