"""An atlas of one's own: its front page, and the pages and parts that it leaves out."""

import json
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas, Outcome, PageKind, Release, UseOptions, discovery
from generator.contracts.list_settings import ListSettings, Selection
from generator.encyclopedia import table
from generator.encyclopedia.known_models import known_model
from generator.errors import RefusedError
from generator.pipeline import build, chosen_keys, evaluate
from generator.pipeline.use import measures
from generator.reading.plan import Task
from generator.site import pages, render
from generator.site.html.absent import without_links
from generator.site.pages import front
from tests import inline
from tests.encyclopedia.guests import guests
from tests.links import broken
from tests.small_site import evaluated, every_page, small_atlas
from tests.support import checkpoint, flowing
from tests.synthetic import BUCKETS, ROTATION, TABLE, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")

MODEL = "Qwen/Qwen3-8B"


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return small_atlas()


def front_of(atlas: Atlas) -> BeautifulSoup:
    made = front.pages(atlas)
    tree = render.render(atlas, made, draw=lambda _: b"")
    return BeautifulSoup(tree["index.md"].decode(), "html.parser")


def test_a_list_of_few_or_with_a_title_begins_with_its_entries(atlas: Atlas) -> None:
    """That of ten without one begins with a box that finds models."""
    many = replace(atlas, outcomes=atlas.outcomes * 2)
    assert len(many.outcomes) >= front.OWN > len(atlas.outcomes)
    titled = replace(many, settings=ListSettings(title="Ours & <theirs>"))
    assert not front_of(atlas).select("[data-pa-find]")
    assert not front_of(titled).select("[data-pa-find]")
    assert "Ours &amp; &lt;theirs&gt;" in str(front_of(titled))
    assert front_of(many).select("[data-pa-find]")


def test_each_entry_has_its_first_finding_or_why_it_has_none(atlas: Atlas) -> None:
    html = front_of(replace(atlas, settings=ListSettings(description="All of <b>ours</b>.")))
    cards = {
        card.strong.get_text(): card for card in html.select(".pa-remarks > li") if card.strong
    }
    assert len(cards) == len(atlas.outcomes)
    found = cards["BLOOM"].select_one(".pa-remark a")
    assert found
    assert str(found["href"]).startswith("checkpoints/bloom-7b1.html#")
    assert "Not read: " in flowing(cards["broken"].get_text())
    assert "All of &lt;b&gt;ours&lt;/b&gt;." in str(html.select_one(".pa-lead"))


def test_it_says_how_many_models_are_still_being_measured(atlas: Atlas) -> None:
    asked = tuple(
        replace(one, checkpoint=replace(one.checkpoint, use=UseOptions())) for one in atlas.outcomes
    )
    under_way = frozenset({"bloom-7b1", "sinusoid"})
    html = front_of(replace(atlas, outcomes=asked, measuring=under_way))
    n_read = sum(one.status == "ok" for one in asked)
    [status] = html.select("[role=status]")
    assert flowing(status.get_text()) == (
        f"2 models are being measured, {n_read - 2} of {n_read} done."
    )
    assert not front_of(atlas).select("[role=status]")


def test_what_changed_comes_first(atlas: Atlas) -> None:
    row: dict[str, Any] = {
        "title": "Late",
        "status": "ok",
        "reason": None,
        "revision": None,
        "encodings": [],
    }
    rows: Any = {f"late-{number}": {**row, "slug": f"late-{number}"} for number in range(9)}
    common: dict[str, Any] = {"date": "2026-01-01", "version": "1.0", "libraries": {}}
    releases = (
        Release(id="a", number=1, checkpoints={}, **common),
        Release(id="b", number=2, checkpoints=rows, **common),
    )
    html = front_of(replace(atlas, releases=releases))
    heading, *_ = html.select("ul")
    assert len(heading.select("li")) == front.MOST_CHANGES
    assert "release b" in str(html)
    assert f"{9 - front.MOST_CHANGES} more" in str(html)
    assert "What changed" not in str(front_of(replace(atlas, releases=releases[:1])))


def test_a_page_is_in_a_place_of_its_own_kind_alone(atlas: Atlas) -> None:
    kinds = [*discovery.load(pages, PageKind), *(kind for one in guests() for kind in one.kinds)]
    for kind in kinds:
        for page in kind.pages(atlas):
            assert any(fnmatchcase(page.path, place) for place in kind.places), page.path
            exact = [other.key for other in kinds if page.path in other.places]
            assert exact in ([], [kind.key]), page.path


def test_links_to_what_is_absent_become_words() -> None:
    absent, other = '<a class="b" href="../copies.html#x">', '<a href="other.html">'
    text = (
        f'<ul class="a"><li>{absent}Copies</a></li></ul>\n'
        f"<ul><li>{absent}A</a> and {other}B</a></li><li>{absent}C</a>, too</li></ul>\n"
        f"<p>See {absent}all <b>copies</b></a>, [them](../copies.md#y), [D](other.md)</p>"
    )
    assert without_links(text, "guide", lambda path: path == "copies.md") == (
        f"<ul><li>A and {other}B</a></li><li>C, too</li></ul>\n"
        "<p>See all <b>copies</b>, them, [D](other.md)</p>"
    )


@pytest.mark.parametrize("left_out", ["lesson", "scheme", "analysis", "guide", "map", "compare"])
def test_without_a_kind_of_page_no_link_leads_there(atlas: Atlas, left_out: str) -> None:
    kinds = {kind.key: kind for kind in discovery.load(pages, PageKind)}
    gone = {page.path for page in kinds[left_out].pages(atlas)}
    made = [page for page in every_page(atlas) if page.path not in gone]
    tree = render.render(atlas, made, draw=lambda _: b"", absent=kinds[left_out].places)
    names = {path.removesuffix(".md").rpartition("/")[2] for path in gone}
    for path in tree:
        if path.endswith(".md"):
            html = BeautifulSoup(tree[path].decode(), "html.parser")
            for link in html.select("a[href]"):
                target = PurePosixPath(path).parent / str(link["href"]).partition("#")[0]
                if target.name.rpartition(".")[0] in names:
                    there = relpath(target, "").replace(".html", ".md")
                    assert there not in gone, (path, link["href"])


FEW = ("anatomy_of_the_input", "whole_table", "rotation_by_offset")


@pytest.mark.parametrize(
    "key",
    [
        *FEW,
        *(
            pytest.param(one.key, marks=pytest.mark.thorough)
            for one in evaluate.all_analyses()
            if one.key not in FEW
        ),
    ],
)
def test_every_page_and_file_is_made_without_an_analysis(atlas: Atlas, key: str) -> None:
    less = replace(atlas, analyses=tuple(one for one in atlas.analyses if one.key != key))
    tree = render.render(less, every_page(less), draw=lambda _: b"")
    assert f"analyses/{key}.md" not in tree
    for path in tree:
        if not path.startswith(("figures/", "assets/")):
            assert tree[path] is not None


def test_an_entry_may_leave_out_an_analysis(tmp_path: Path) -> None:
    row = checkpoint(
        place=str(write_folder(tmp_path, BUCKETS)), analyses=(Selection(exclude=("rank",)),)
    )
    [outcome] = evaluated(row)
    assert outcome.readings
    for reading in outcome.readings:
        assert reading.results["rank"].reason == (
            "it was not made, because the list of this atlas leaves it out"
        )
        assert any(one.reason is None for one in reading.results.values())
    use = replace(row, use=UseOptions(), analyses=(Selection(include=("heads",)),))
    assert [task.measure for task in measures(Task(use, offline=True))] == ["heads"]


def test_what_no_entry_has_is_no_page(atlas: Atlas) -> None:
    made = {page.path for page in every_page(atlas)}
    assert made.isdisjoint({"copies.md", "use.md", "timeline.md", "models/how-far.md"})


class Received:
    """Artifacts that are made at once."""

    @staticmethod
    def submit(_name: str, make: object) -> object:
        return make


def guests_of(models: str, *rows: Outcome) -> list[list[str]]:
    settings = ListSettings(models=models)  # type: ignore[arg-type]
    found = build._guests(settings, [row.checkpoint for row in rows], Received())  # type: ignore[arg-type]
    return [[model["id"] for model in json.loads(guest.table())["models"]] for guest in found]


def test_published_models_are_all_or_those_that_an_entry_names_or_none() -> None:
    of, copy, other = (
        Outcome(checkpoint(slug="a", of=MODEL), "ok"),
        Outcome(checkpoint(slug="b", copy_of=f"hub:{MODEL}@main"), "ok"),
        Outcome(checkpoint(slug="c"), "ok"),
    )
    [every] = guests_of("all", other)
    assert len(every) > 300
    assert guests_of("listed", of, other) == guests_of("listed", copy) == [[MODEL]]
    assert guests_of("listed", other) == guests_of("none", of) == []


def test_a_part_of_the_table_has_the_bytes_of_a_table_of_that_part() -> None:
    known = [known_model(name) for name in (MODEL, "openai-community/gpt2")]
    rows = [model for model in known if model]
    whole = table.table(rows)
    assert table.of_models(whole, frozenset({MODEL})) == table.table(rows[:1])
    assert table.of_models(whole, frozenset({"a/b"})) is None


def test_unknown_keys_are_refused_with_those_that_there_are() -> None:
    settings = ListSettings(
        analyses=Selection(exclude=("rnk",)), pages=Selection(include=("lesson", "map"))
    )
    row = checkpoint(slug="one", analyses=(settings.analyses, Selection(include=("headz",))))
    with pytest.raises(RefusedError) as refused:
        chosen_keys.check("list.yml", settings, [row])  # type: ignore[arg-type]
    told = str(refused.value).splitlines()
    assert "list.yml: pages: found no 'front'; expected it, where a site begins" in told
    assert any(
        one.startswith("list.yml: analyses: found 'rnk' (did you mean 'rank'?)") for one in told
    )
    assert any(
        one.startswith("list.yml: one: analyses: found 'headz' (did you mean 'heads'?)")
        for one in told
    )
    assert len(told) == 3


@pytest.mark.parametrize("only", ["rank", "heads"])
def test_a_list_may_leave_out_all_that_applies_to_a_row(only: str, tmp_path: Path) -> None:
    """A rotation is left without any section, and the page of values in print with other cases than
    those that are shipped.
    """
    for name, files in {"one": TABLE, "other": ROTATION}.items():
        write_folder(tmp_path / name, files)
    rows = [{"folder": "one"}, {"folder": "other"}]
    chosen = {"models": "none", "analyses": {"include": [only]}, "checkpoints": rows}
    (tmp_path / "checkpoints.yml").write_text(json.dumps(chosen), encoding="utf-8")
    with inline.blank_figures():
        done = inline.build(tmp_path, rendered=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert broken(tmp_path / "out/site") == []
