"""Copies in a list: each build compares them with their originals."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from generator import ROOT
from generator.contracts import Comparison, Copy, Difference, Outcome
from generator.pipeline import copies
from generator.reading import comparison, plan
from generator.site.pages import copies as pages
from generator.site.pictures.badges import LABEL, UNKNOWN, badge
from tests import inline
from tests.hub_server import Repository, serving
from tests.support import checkpoint, flowing, save_folder

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 1e6,
}  # fmt: skip
COMMIT = "c" * 40


def listed(folder: Path, hub: str = "maker/model") -> None:
    rows = [
        {"folder": "one", "title": "One"},
        {"folder": "two", "title": "Two", "copy_of": "one"},
        {"folder": "three", "title": "Three", "copy_of": f"hub:{hub}"},
    ]
    (folder / "checkpoints.yml").write_text(json.dumps({"checkpoints": rows}), encoding="utf-8")


def copies_in(folder: Path) -> dict[str, dict[str, Any] | None]:
    document = json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))
    return {row["slug"]: row["copy"] for row in document["checkpoints"]}


def test_a_verdict_is_published_and_a_change_of_it_announced(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        save_folder(tmp_path / name, LLAMA)
    listed(tmp_path)
    text = json.dumps({**LLAMA, "rope_theta": 1e4})
    hub = {"maker/model": Repository({COMMIT: {"config.json": text.encode()}}, {"main": COMMIT})}
    with serving(hub) as server:
        inline.build(tmp_path, endpoint=server.endpoint)
        found = copies_in(tmp_path)
        assert found["one"] is None
        assert found["two"] == {
            "original": "one", "verdict": "equal", "differences": [], "untold": [], "notes": [],
            "reason": None,
        }  # fmt: skip
        three = found["three"] or {}
        assert (three["original"], three["verdict"]) == ("maker/model", "different")
        assert "base 10,000" in three["differences"][0]

        save_folder(tmp_path / "one", {**LLAMA, "max_position_embeddings": 32})
        again = inline.build(tmp_path, endpoint=server.endpoint).stdout
    assert "Two, compared with its original: equal → different" in flowing(again)
    assert (copies_in(tmp_path)["two"] or {})["differences"] == [
        "The context is 32 positions in A (max_position_embeddings in config.json) and 64 in B"
        " (max_position_embeddings in config.json)."
    ]
    page = unescape((tmp_path / "out/docs/copies.md").read_text(encoding="utf-8"))
    # Of eight pairs the second parts most: π / (1e4 ** (−1/8) − 1e6 ** (−1/8)) is 22.7.
    assert (
        "Not safe to exchange: the copy gives other angles, half a turn apart by position 23"
        in (flowing(page))
    )
    assert (
        "Safe to exchange as far as position goes, in texts of up to 32 tokens, the shorter of"
        " both contexts." in page
    )
    assert all(said in page for said in ("The context is 32", "base 10,000"))
    assert "<code>config.json</code> in <code>" in flowing(page)
    svg = ET.fromstring((tmp_path / "out/docs/badges/two.svg").read_bytes())  # noqa: S314 (ours)
    assert "".join(svg.itertext()).endswith("different")


@pytest.mark.parametrize(("found", "words"), [
    (
        Comparison("equal"),
        "Safe to exchange as far as position goes: both encode position identically.",
    ),
    (
        Comparison("equal as far as both files tell", (), ("A lacks it.",),
                   not_compared=("Learned table",)),
        "The settings are the same, but the learned table was not compared.",
    ),
    (
        Comparison("equal as far as both files tell", (), ("A lacks it.", "B gives no context."),
                   not_compared=("Learned table",)),
        "No difference was found, but the files leave something open.",
    ),
    (
        Comparison("equal as far as both files tell", untold=("B gives no context.",)),
        "No difference was found, but the files leave something open.",
    ),
    (
        Comparison("different", (Difference("context", "", "", 512),)),
        "Safe to exchange as far as position goes, in texts of up to 512 tokens, the shorter of"
        " both contexts.",
    ),
    (
        Comparison("different", (Difference("context", "", "", 512),), ("A lacks it.",)),
        "Beside the context, no difference was found, but the files leave something open.",
    ),
    (
        Comparison(
            "different",
            (
                Difference("rotation", "text", "", 21), Difference("rotation", "vision", ""),
                Difference("context", "", "", 512),
            ),
        ),
        "Not safe to exchange: the copy gives other angles, half a turn apart by position 21"
        " and is configured for another length.",
    ),
    (Comparison("cannot be compared"), "Not compared: the two have no part in common."),
])  # fmt: skip
def test_what_follows_for_who_would_exchange_the_two(found: Comparison, words: str) -> None:
    assert pages._follows(Copy("one", True, found)) == words
    assert pages._follows(Copy("one", True)) == ""
    assert ("record" in pages._follows(Copy("one", True, found, "out of reach"))) == (
        found.verdict == "equal"
    )


def test_every_kind_of_difference_has_a_clause_of_its_own() -> None:
    source = (ROOT / "generator/reading/comparison.py").read_text(encoding="utf-8")
    kinds = {*comparison.MEANINGS, *re.findall(r'Difference\("(\w+)"', source)}
    said = {
        kind: pages._follows(
            Copy("one", True, Comparison("different", (Difference(kind, "", "", 8),)))
        )
        for kind in kinds
    }
    assert len({*said.values()}) == len(kinds) > 10
    assert [kind for kind, words in said.items() if "copy differs" in words] == []


def test_an_original_out_of_reach_is_known_by_its_published_config(tmp_path: Path) -> None:
    save_folder(tmp_path / "one", {**LLAMA, "num_hidden_layers": 30})
    row = checkpoint(source="folder", place=str(tmp_path / "one"))

    def verdict_of(original: str) -> Outcome:
        tasks = plan.plan([replace(row, copy_of=original)], offline=True)
        outcome = Outcome(tasks[0].checkpoint, "ok")
        pairs = copies.pairs(tasks, offline=True)
        [found] = copies.compared([outcome], pairs, lambda _, make: make)
        return found

    known = verdict_of("hub:HuggingFaceTB/SmolLM2-135M-Instruct").copy
    assert known is not None
    assert known.verdict == "different"
    assert known.reason.startswith("config.json as repeated in")
    unknown = verdict_of("hub:nobody/nothing").copy
    assert unknown is not None
    assert unknown.verdict is None
    assert "could not be reached" in unknown.reason


@pytest.mark.parametrize(
    ("given", "said", "colour"),
    [
        (("equal",), "equal", "#217a37"),
        (("different",), "different", "#b3261e"),
        (("equal as far as both files tell",), "equal as far as told", UNKNOWN),
        (
            ("equal as far as both files tell", "Learned table"),
            "settings equal, learned table not compared",
            UNKNOWN,
        ),
        (("cannot be compared",), "not compared", UNKNOWN),
        ((None,), "not compared", UNKNOWN),
    ],
)
def test_a_badge_says_its_verdict_in_words_and_is_green_where_all_was_compared(
    given: tuple[Any, ...], said: str, colour: str
) -> None:
    svg = ET.fromstring(badge(*given))  # noqa: S314 (ours)
    assert [each.get("fill") for each in svg if each.tag.endswith("rect")] == [LABEL, colour]
    assert svg[0].text == f"position encoding: {said}"
    assert [each.text for each in svg if each.tag.endswith("text")] == ["position encoding", said]
