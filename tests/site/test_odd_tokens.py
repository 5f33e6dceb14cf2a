"""Characters that command a terminal, reorder a line or end an XML document: in tokens and names,
and in no published file.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors.numpy import save

from tests import small_site
from tests.support import checkpoint
from tests.synthetic import TABLE, binary, write_folder

ODD = "\x1b[31m\u202edoc\x00\x0b\u2066"
CONTROLS = set(ODD) - set("[31mdoc")
TEXTS = {".html", ".svg", ".csv", ".json", ".md", ".xml", ".txt", ".js", ".bib"}
WORDS = {"[UNK]": 0, ODD: 1, "cat": 2}
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": {"type": "Replace", "pattern": {"String": "mat"}, "content": ODD},
    "pre_tokenizer": {
        "type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False,
    },
    "model": {"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"},
}  # fmt: skip
WEIGHTS = {
    "wpe.weight": binary(16, 4), "wte.weight": binary(5, 4), f"{ODD}.weight": np.ones((2, 2)),
}  # fmt: skip


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the docs and the site of one checkpoint."""
    folder = tmp_path_factory.mktemp("odd")
    weights = save({name: array.astype(np.float32) for name, array in WEIGHTS.items()})
    contents = {
        **TABLE, "model.safetensors": weights, "tokenizer.json": json.dumps(TOKENIZER).encode(),
    }  # fmt: skip
    row = checkpoint(
        place=str(write_folder(folder / "row", contents)), sentence="cat mat cat mat", words=True
    )
    [outcome] = small_site.evaluated(row)
    assert outcome.status == "ok", outcome.reason
    small_site.build(small_site.atlas_of(outcome), folder)
    return folder


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(path for part in ("docs", "site") for path in (folder / part).rglob("*")):
        if path.suffix in TEXTS and "vendor" not in path.parts:
            yield path, path.read_text(encoding="utf-8")


def test_the_tokens_and_names_are_published_with_their_characters_escaped(published: Path) -> None:
    escaped = "\\u001b[31m\\u202edoc"
    assert {path.suffix for path, text in texts(published) if escaped in text} == {
        ".csv", ".html", ".svg",
    }  # fmt: skip


def test_no_published_text_has_such_a_character(published: Path) -> None:
    assert {
        path.name: sorted(found)
        for path, text in texts(published)
        if (found := CONTROLS.intersection(text))
    } == {}


def test_every_drawing_is_xml(published: Path) -> None:
    drawings = [text for path, text in texts(published) if path.suffix == ".svg"]
    assert len(drawings) > 20
    # It was drawn here.
    assert all(ElementTree.fromstring(text).tag.endswith("svg") for text in drawings)  # noqa: S314
