from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from generator.encodings import PositionTable
from generator.numerics.arrays import Floats
from generator.schemes.learned import find
from tests import tiny
from tests.support import DictFiles, form_of

# All add the row of position 0 to the first token; the reference is the module of transformers.
FAMILIES: list[tuple[str, dict[str, Any]]] = [
    *(
        (family, {})
        for family in (
            "bert", "albert", "distilbert", "electra", "deberta", "big_bird", "visual_bert", "xlm",
            "roberta", "camembert", "xlm-roberta", "xlm-roberta-xl", "mpnet", "data2vec-text",
            "ibert", "roberta-prelayernorm", "markuplm", "nystromformer", "yoso", "mra", "bart",
            "mbart", "plbart", "mvp", "blenderbot", "bigbird_pegasus", "opt", "biogpt", "gpt2",
            "gpt_bigcode", "openai-gpt",
        )
    ),
    ("roberta", {"pad_token_id": 4}),
    ("longformer", {"attention_window": 4}),
    ("led", {"attention_window": 4, "max_encoder_position_embeddings": 32,
             "max_decoder_position_embeddings": 16}),
]  # fmt: skip
TABLE = np.random.default_rng(0).normal(size=(6, 4))
NAMES = [
    "position_embeddings.weight", "bert.embeddings.position_embeddings.weight",
    "transformer.wpe.weight", "tokens.positions_embed.weight",
    "model.decoder.embed_positions.weight", "text_model.embeddings.position_embedding.weight",
    "pos_embed", "positional_embedding",
]  # fmt: skip


def tables_of(files: Any) -> dict[str, Floats]:
    """Vectors by the name of their module."""
    return {
        str(encoding.provenance.tensor).removesuffix(".weight"): (
            form_of(encoding, PositionTable).vectors
        )
        for encoding in find(files)
    }


@pytest.mark.parametrize(("family", "options"), FAMILIES)
def test_the_first_vectors_are_those_that_the_model_adds(family: str, options: Any) -> None:
    model = tiny.build(family, **options)
    tables = tables_of(DictFiles(model.config.to_dict(), tiny.arrays(model)))
    assert tables
    for module, vectors in tables.items():
        assert_array_equal(vectors[: len(tiny.IDS)], tiny.heard(model, module)[module])


@pytest.mark.parametrize(
    ("family", "n_positions"), [("roberta", 30), ("bart", 32), ("gpt2", 32), ("led", 1024)]
)
def test_only_rows_of_positions_are_in_the_table(family: str, n_positions: int) -> None:
    model = tiny.build(family, **({"attention_window": 4} if family == "led" else {}))
    *_, vectors = tables_of(DictFiles(model.config.to_dict(), tiny.arrays(model))).values()
    assert len(vectors) == n_positions


def test_a_table_is_known_by_the_end_of_its_name() -> None:
    for family in ("gpt2", "gpt_bigcode", "openai-gpt", "opt", "biogpt"):
        (encoding,) = find(DictFiles({"model_type": family}, {"wpe.weight": TABLE}))
        assert encoding.part == "decoder"
    for name in NAMES:
        (encoding,) = find(DictFiles(arrays={name: TABLE}))
        assert encoding.provenance.tensor == name
        assert_array_equal(form_of(encoding, PositionTable).vectors, TABLE)


@pytest.mark.parametrize("padding", [None, "1", True, 1.0])
def test_an_invalid_padding_id_is_replaced_by_the_default_of_the_family(padding: object) -> None:
    config = {"model_type": "roberta", "pad_token_id": padding}
    (encoding,) = find(DictFiles(config, {"position_embeddings.weight": TABLE}))
    assert form_of(encoding, PositionTable).first_row == 2


@pytest.mark.parametrize(("family", "configured", "notes"), [
    ("bart", 4, ["The tensor has 6 rows, of which the first 2 are not positions"]),
    ("bart", 6, ["The tensor has 6 rows, of which the first 2 are not positions"]),
    ("bert", 9, ["config.json gives 9 positions, but the tensor has 6"]),
])  # fmt: skip
def test_a_note_tells_of_other_numbers_of_rows(family: str, configured: int, notes: Any) -> None:
    config = {"model_type": family, "max_position_embeddings": configured}
    (encoding,) = find(DictFiles(config, {"position_embeddings.weight": TABLE}))
    assert len(encoding.notes) == len(notes)
    assert encoding.notes[0].startswith(notes[0])


@given(st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=4, unique=True))
def test_several_tables_of_one_part_have_distinct_parts(prefixes: list[str]) -> None:
    arrays = {f"{prefix}.wpe.weight": TABLE for prefix in prefixes}
    encodings = find(DictFiles({"model_type": "gpt2"}, arrays))
    assert len({encoding.part for encoding in encodings}) == len(encodings) == len(arrays)


@given(st.text(max_size=20))
def test_the_key_of_an_encoding_is_a_valid_path(prefix: str) -> None:
    for encoding in find(DictFiles(arrays={f"{prefix}.wpe.weight": TABLE, "wpe.weight": TABLE})):
        assert set(encoding.record.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


@pytest.mark.parametrize("flag", [False, True])
def test_a_note_on_mpt_without_alibi_mentions_that_transformers_adds_it(flag: bool) -> None:
    config = {"model_type": "mpt", "attn_config": {"alibi": flag}}
    (encoding,) = find(DictFiles(config, {"transformer.wpe.weight": np.eye(4)}))
    assert any("adds ALiBi anyway" in note for note in encoding.notes) is not flag


def test_transformers_adds_alibi_to_mpt_for_every_config() -> None:
    from transformers import MptConfig, MptModel

    outputs = []
    for attention in ({"alibi": True}, {"alibi": False}, {"alibi": True, "alibi_bias_max": 2}):
        torch.manual_seed(0)
        sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "max_seq_len": 8, "vocab_size": 40}
        model = MptModel(MptConfig(**sizes, attn_config=attention)).eval()
        assert not any("wpe" in name for name in model.state_dict())
        with torch.no_grad():
            outputs.append(model(torch.arange(5)[None]).last_hidden_state)
    assert all(torch.equal(outputs[0], output) for output in outputs[1:])


def test_a_note_on_perceiver_says_where_its_tables_are_not_added() -> None:
    """An image's table is joined to the input, and a decoder's is the query."""
    from transformers import PerceiverConfig, PerceiverForImageClassificationLearned

    widths = {"d_latents": 8, "d_model": 512, "image_size": 2, "num_labels": 2, "num_latents": 2}
    heads = {"num_self_attention_heads": 2, "num_cross_attention_heads": 2}
    layers = {"num_blocks": 1, "num_self_attends_per_block": 1}
    config = PerceiverConfig(**widths, **heads, **layers)
    model = PerceiverForImageClassificationLearned(config).perceiver
    assert model.input_preprocessor.concat_or_add_pos == "concat"
    query = model.decoder.decoder_query(torch.zeros(1, 4, 8))
    assert torch.equal(
        query[0], model.decoder.decoder.output_position_encodings.position_embeddings
    )
    name = "perceiver.decoder.decoder.output_position_encodings.position_embeddings"
    (encoding,) = find(DictFiles({"model_type": "perceiver"}, {name: np.eye(4)}))
    assert any(
        "stores the decoder's queries" in note and "concatenated to image vectors" in note
        for note in encoding.notes
    )


def test_an_invalid_type_names_no_scheme() -> None:
    (encoding,) = find(
        DictFiles({"position_embedding_type": []}, {"position_embeddings.weight": TABLE})
    )
    assert encoding.scheme == "learned"
