"""What search engines and those who cite find."""

import html
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from generator import ROOT, __version__
from generator.contracts import Atlas, Release
from generator.site.data import citations as cited_sources
from generator.site.data import dataset
from generator.site.html.escape import tex
from tests.small_site import atlas_of, evaluated, tree_of
from tests.support import checkpoint
from tests.synthetic import BUCKETS, TABLE, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")


def test_the_dataset_names_its_files_by_their_whole_addresses() -> None:
    atlas = replace(atlas_of(), address="https://example.org/atlas/", date="2026-01-01")
    document = json.loads(dataset.described(atlas))
    assert document["@type"] == "Dataset"
    assert {file["contentUrl"] for file in document["distribution"]} == {
        "https://example.org/atlas/data/atlas.json",
        "https://example.org/atlas/data/metrics.csv",
    }
    assert document["dateModified"] == "2026-01-01"


def test_robots_find_the_sitemap_where_there_is_an_address() -> None:
    atlas = replace(atlas_of(), address="https://example.org/atlas/")
    assert (
        dataset.robots(atlas)
        .decode()
        .endswith("\nSitemap: https://example.org/atlas/sitemap.xml\n")
    )
    assert b"Sitemap" not in dataset.robots(atlas_of())


def test_the_citation_names_this_version() -> None:
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", __version__)


def test_the_work_has_one_title() -> None:
    """In the file that GitHub and Zotero read, on the page about the atlas and on that of data."""
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    about = (ROOT / "site_src/about.md").read_text("utf-8")
    assert entry(re.findall(r"```bibtex\n(.*?)```", about, re.DOTALL)[0])["title"] == (
        f"{{{citation['title']}}}"
    )
    page = (ROOT / "templates/pages/data_files.md.jinja").read_text("utf-8")
    assert f'cite("{citation["title"].removeprefix("Position Atlas: ")}"' in page


# What TeX prints for its commands (Lamport 1994, appendix C.10; textcomp for braces), the longest
# first.
PRINTED = {
    r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textbraceright{}": "}",
    r"\textbackslash{}": "\\", r"\textbraceleft{}": "{",
    **{rf"\{character}": character for character in "&%#_$"},
}  # fmt: skip
COMMAND = re.compile("|".join(map(re.escape, PRINTED)))
# Characters that mean something to TeX (Knuth 1984, chapter 7).
ACTIVE = re.compile(r"[&%#_$~^\\{}]")


def printed(text: str) -> str:
    """``text`` as TeX prints it, without its ends of lines. Fails where a character would act
    instead.
    """
    assert not ACTIVE.search(COMMAND.sub("", text)), text
    return " ".join(COMMAND.sub(lambda command: PRINTED[command[0]], text).split())


def braced(text: str, start: int) -> int:
    """The place behind the group that begins at ``start``, by counting braces as BibTeX does."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise ValueError(f"no end: {text[start:]!r}")


def entry(text: str) -> dict[str, str]:
    """Fields of the one BibTeX entry in ``text``, with type and key; raises ValueError or
    AssertionError where it is not well formed.
    """
    head = re.match(r"\s*@(\w+)\{([A-Za-z0-9_-]+),", text)
    assert head is not None
    assert braced(text, text.index("{")) == len(text.rstrip())
    fields, place = {"type": head[1], "key": head[2]}, head.end()
    while field := re.compile(r"\s*(\w+) = (?=\{)").match(text, place):
        end = braced(text, field.end())
        assert field[1] not in fields
        fields[field[1]] = text[field.end() + 1 : end - 1]
        place = end + (text[end] == ",")
    assert text[place:].strip() == "}"
    return fields


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_tex_prints_every_text_as_it_is(text: str) -> None:
    assert printed(tex(text)) == text
    assert entry(f"@misc{{key, title = {{{tex(text)}}}}}")["title"] == tex(text)


TITLE = r"A_b & 50% of #1 {x} $\y$ ~^"
RELEASE = Release("2026-01-01.2", 3, "2026-01-01", "0.1", {}, {})


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """A table with a revision and a title that TeX would take for commands, and two tables of
    biases without a revision.
    """
    folder = tmp_path_factory.mktemp("cited")
    table, buckets = (
        str(write_folder(folder / name, files))
        for name, files in (("table", TABLE), ("buckets", BUCKETS))
    )
    of_table = {"slug": "table", "title": TITLE, "revision": "a" * 40, "id": "me/a_table"}
    outcomes = evaluated(
        checkpoint(place=table, **of_table),
        checkpoint(slug="buckets", place=buckets, title="Buckets"),
    )
    address = "https://example.org/a_b/"
    return atlas_of(*outcomes, date="2026-01-01", address=address, releases=(RELEASE,))


@pytest.fixture(scope="module")
def citations(cited: Atlas) -> dict[str, dict[str, str]]:
    """The entry of every page that has one, by path."""
    tree = tree_of(cited, drawn=False)
    codes = {
        path: re.findall(r"<pre><code>(@.*?)</code></pre>", tree[path].decode(), re.DOTALL)
        for path in tree
        if path.endswith(".md")
    }
    return {path: entry(html.unescape(code)) for path, found in codes.items() for code in found}


def test_a_citation_names_version_date_release_revision_and_the_digest_of_the_tensor(
    cited: Atlas, citations: dict[str, dict[str, str]]
) -> None:
    found, [reading] = citations["checkpoints/table.md"], cited.outcomes[0].readings
    assert (found["year"], found["url"]) == (
        "2026",
        "https://example.org/a_b/checkpoints/table.html",
    )
    assert printed(found["title"].removeprefix("{").removesuffix("}")) == f"Position Atlas: {TITLE}"
    assert (
        printed(found["note"]) == "Version 1.0, data as of 2026-01-01, release 2026-01-01.2"
        f" (data/releases/2026-01-01.2/), me/a_table at revision {'a' * 40}, SHA-256 of the"
        f" tensor {reading.encoding.provenance.sha256}"
    )


@pytest.mark.parametrize("repository", ["", "https://example.org/me/atlas"])
def test_without_an_address_a_citation_names_the_repository_or_none(
    cited: Atlas, repository: str
) -> None:
    settings = replace(cited.settings, repository=repository)
    tree = tree_of(replace(cited, address="", settings=settings), drawn=False)
    code = re.findall(r"<pre><code>(@.*?)</code></pre>", tree["index.md"].decode(), re.DOTALL)[0]
    assert entry(html.unescape(code)).get("url", "") == repository
    assert "data-pa-url" not in code
    assert f'"repository":"{repository}"' in tree["data/sources.js"].decode()


def test_a_number_is_cited_with_the_release_and_of_a_copy_with_its_original(cited: Atlas) -> None:
    """A copy has no revision of its own."""
    table, buckets = cited.outcomes
    copied = replace(buckets.checkpoint, copy_of="hub:me/original", source="folder", of="")
    found = cited_sources.sources(
        replace(cited, outcomes=(table, replace(buckets, checkpoint=copied)))
    )
    assert found["release"] == RELEASE.id
    of_table, *of_buckets = found["encodings"].values()
    assert of_table["revision"] == "a" * 40
    assert {(one["id"], one["copy_of"], one["revision"]) for one in of_buckets} == {
        (None, "me/original", None)
    }
    tree = tree_of(replace(cited, outcomes=(replace(buckets, checkpoint=copied),)), drawn=False)
    page = tree["checkpoints/buckets.md"].decode()
    assert "a copy of me&#47;original, revision not known" in page
    named = replace(copied, copy_of=f"hub:me/original@{'b' * 40}")
    assert (named.original, named.original_revision) == ("me/original", "b" * 40)
    tree = tree_of(replace(cited, outcomes=(replace(buckets, checkpoint=named),)), drawn=False)
    assert f"a copy of me&#47;original at revision {'b' * 40}" in " ".join(
        tree["checkpoints/buckets.md"].decode().split()
    )


def test_the_page_on_citing_shows_its_citation_at_once(cited: Atlas) -> None:
    tree = tree_of(cited, drawn=False)
    opened = '<details class="pa-fold pa-cite" open>'
    assert [path for path in tree if path.endswith(".md") and opened in tree[path].decode()] == [
        "data/index.md"
    ]


def test_of_several_tensors_it_has_short_digests(
    cited: Atlas, citations: dict[str, dict[str, str]]
) -> None:
    short = [str(reading.encoding.provenance.sha256)[:16] for reading in cited.outcomes[1].readings]
    note = citations["checkpoints/buckets.md"]["note"]
    assert note.endswith(
        f"SHA-256 of the tensors (first 16 digits) {', '.join(dict.fromkeys(short))}"
    )


def test_citations_have_different_keys_unless_they_are_of_the_whole_atlas(
    citations: dict[str, dict[str, str]],
) -> None:
    keys = [found["key"] for found in citations.values() if found["key"] != "position-atlas-site"]
    assert len(keys) == len(set(keys)) > 15
