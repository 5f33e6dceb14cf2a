"""Copies in a list: each build compares them with their originals."""

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from generator.contracts import Outcome
from generator.pipeline import copies
from generator.reading import plan
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
    assert all(said in page for said in ("Different.", "The context is 32", "base 10,000"))
    svg = ET.fromstring((tmp_path / "out/docs/badges/two.svg").read_bytes())  # noqa: S314 (ours)
    assert "".join(svg.itertext()).endswith("different")


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
