"""Pages of checkpoints with something in attention beside their encoding of position."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generator.contracts import Atlas, Tree
from generator.site.compare import scripts as compare_data
from tests import small_site
from tests.support import checkpoint, flowing, save_folder

SIZES: dict[str, Any] = {
    "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
    "max_position_embeddings": 64,
}  # fmt: skip
GPT_OSS = {"model_type": "gpt_oss", "rope_theta": 10_000.0, **SIZES}
ARRAYS = {
    f"model.layers.{layer}.self_attn.sinks": np.ones(2, dtype=np.float32) for layer in range(2)
}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """A rotation, and sinks beside it."""
    place = save_folder(tmp_path_factory.mktemp("beside") / "model", GPT_OSS, ARRAYS)
    row = checkpoint(slug="model", place=str(place), title="Model")
    return small_site.atlas_of(*small_site.evaluated(row))


@pytest.fixture(scope="module")
def tree(atlas: Atlas) -> Tree:
    return small_site.tree_of(atlas)


def test_encodings_of_an_atlas_leave_out_what_tells_no_position(atlas: Atlas) -> None:
    assert [reading.encoding.form for reading in atlas.outcomes[0].readings] == [
        "Rotation",
        "Sinks",
    ]
    assert [reading.encoding.form for _, reading in atlas.encodings] == ["Rotation"]
    assert [entry["form"] for entry in compare_data.catalogue(atlas)["encodings"]] == ["Rotation"]


def test_the_facts_of_a_page_name_sinks_in_a_row_of_their_own(tree: Tree) -> None:
    page = tree["checkpoints/model.md"].decode()
    facts = page[(start := page.index('<dl class="pa-strip"')) : page.index("</dl>", start)]
    telling, beside = facts.split("Also in attention")
    assert "schemes/rotary.html" in telling
    assert "schemes/sink.html" not in telling
    assert "schemes/sink.html" in beside
    assert "encodes position (Rotary):" in flowing(page)


def test_sinks_alone_are_no_position_encoding(atlas: Atlas, tree: Tree) -> None:
    (outcome,) = atlas.outcomes
    of_sinks = replace(atlas, outcomes=(replace(outcome, readings=outcome.readings[1:]),))
    alone = small_site.tree_of(of_sinks)
    assert "No position encoding was found" not in tree["checkpoints/model.md"].decode()
    assert "No position encoding was found" in alone["checkpoints/model.md"].decode()


def test_sinks_are_not_in_the_gallery_and_named_apart_in_the_list(tree: Tree) -> None:
    front = tree["index.md"].decode()
    assert "Rotary" in front
    assert "Attention sink" not in front
    schemes = tree["schemes/index.md"].decode()
    assert (
        schemes.index("rotary.html")
        < schemes.index("## Also in attention")
        < schemes.index("sink.html")
        < schemes.index("temperature.html")
    )
