"""The search index of a site with many checkpoints."""

import json
from pathlib import Path
from typing import Any

import pytest

from generator.site.data import search_index
from tests.synthetic import write_folder

ENTRIES = [
    {"location": "index.html", "title": "Atlas", "text": "a front page"},
    {"location": "index.html#data", "title": "Data", "text": "files"},
    {"location": "checkpoints/index.html", "title": "Checkpoints", "text": "a list"},
    {"location": "checkpoints/gpt2.html", "title": "GPT-2", "text": "a table " * 50},
    {"location": "checkpoints/gpt2.html#rank", "title": "Rank", "text": "of the table"},
    {"location": "checkpoints/gpt2/decoder.html", "title": "GPT-2 · decoder", "text": "more"},
]

TITLED = ("index.html", "checkpoints/index.html")  # Pages that are found by their titles first.
NAMED = [
    entry | ({"tags": [entry["title"]]} if entry["location"] in TITLED else {}) for entry in ENTRIES
]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    index = json.dumps({"config": {"lang": ["en"]}, "docs": ENTRIES})
    script = (search_index.BEFORE + index).encode()
    return write_folder(tmp_path, {search_index.FILE: index.encode(), search_index.SCRIPT: script})


def entries(site: Path) -> Any:
    return json.loads((site / search_index.FILE).read_text(encoding="utf-8"))["docs"]


def test_an_index_within_the_limit_has_all_and_titles_of_pages_that_are_no_models(
    site: Path,
) -> None:
    search_index.finish(site)
    assert entries(site) == NAMED


def test_a_larger_one_has_titles_of_checkpoints(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And all of the other pages; the script for a disk has the same."""
    monkeypatch.setattr(search_index, "MOST_BYTES", 100)
    search_index.finish(site)
    assert entries(site)[:3] == NAMED[:3]
    cut = [(entry["title"], entry["text"]) for entry in entries(site)[3:]]
    assert cut == [("GPT-2", ""), ("GPT-2 · decoder", "")]
    script = (site / search_index.SCRIPT).read_text(encoding="utf-8")
    assert script == search_index.BEFORE + (site / search_index.FILE).read_text(encoding="utf-8")


def test_other_names_of_a_page_stand_with_the_page_alone(tmp_path: Path) -> None:
    docs = [
        {"location": "a.html", "title": "A", "text": "", "tags": ["wpe"], "boost": 3},
        {"location": "a.html#b", "title": "B", "text": "", "tags": ["wpe"], "boost": 3},
    ]
    write_folder(tmp_path, {search_index.FILE: json.dumps({"docs": docs}).encode()})
    search_index.finish(tmp_path)
    assert [entry.get("tags") for entry in entries(tmp_path)] == [["wpe", "A"], None]
    assert [entry["boost"] for entry in entries(tmp_path)] == [3, 3]


def test_pages_among_those_of_models_that_are_no_models_have_their_titles(tmp_path: Path) -> None:
    docs = [
        {"location": "models/position.html", "title": "What reaches token N", "text": ""},
        {"location": "models/a--b.html", "title": "b", "text": "", "tags": ["a", "b-it"]},
    ]
    write_folder(tmp_path, {search_index.FILE: json.dumps({"docs": docs}).encode()})
    search_index.finish(tmp_path)
    assert [entry["tags"] for entry in entries(tmp_path)] == [
        ["What reaches token N"],
        ["a", "b-it"],
    ]


def test_a_site_without_search_is_left_alone(tmp_path: Path) -> None:
    search_index.finish(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_script_of_a_built_site_is_as_it_is_written_here(built: Path) -> None:
    index, script = (built / "site" / name for name in (search_index.FILE, search_index.SCRIPT))
    assert script.read_text(encoding="utf-8") == search_index.BEFORE + index.read_text(
        encoding="utf-8"
    )
