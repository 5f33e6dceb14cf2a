"""Names that libraries, and people in their own code, give to what tells position."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.checkpoints.model.open_questions import TEXTS, open_questions
from generator.checkpoints.model.table_names import NAMES, TABLE, question
from generator.encodings import OffsetBias, PositionTable, Rotation, sinusoid
from generator.numerics.arrays import Array
from generator.reading.find import all_schemes, find
from tests.support import DictFiles, form_of

PREFIXES = ("", "module.", "_orig_mod.", "model.", "state_dict.", "module._orig_mod.model.")
ROWS, WIDTH = 24, 16
TRAINED = np.random.default_rng(0).normal(0.0, 0.02, size=(ROWS, WIDTH))
OTHERS = {"tok_emb.weight": np.ones((50, WIDTH)), "layers.0.fc.weight": np.ones((64, WIDTH))}
AXES = [(ROWS, WIDTH), (1, ROWS, WIDTH), (ROWS, 1, WIDTH)]
SINUSOIDS: Mapping[str, Array] = {
    "as printed": sinusoid(ROWS, WIDTH),
    "in halves": sinusoid(ROWS, WIDTH, "halves"),
    "tensor2tensor": sinusoid(ROWS, WIDTH, "tensor2tensor"),
}


def files(name: str, array: Array, **others: Array) -> DictFiles:
    return DictFiles({}, {**OTHERS, name: array.astype(np.float32), **others})


def found(read: DictFiles) -> list[tuple[str, str | None]]:
    return [(encoding.scheme, encoding.provenance.tensor) for encoding in find(read)]


def asked(read: DictFiles) -> str:
    return " ".join(open_questions(read, find(read), all_schemes()))


TABLES = [name for name in NAMES if name.meaning == "table"]


def test_a_table_is_learned_by_its_name_whatever_stands_before_it() -> None:
    names = [prefix + name.example for name in TABLES for prefix in PREFIXES]
    assert [name for name in names if found(files(name, TRAINED)) != [("learned", name)]] == []


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", ["pos_encoder.pe", "pos_embedding", "encoder.pos_encoding"])
def test_axes_of_length_one_are_no_positions(name: str, axes: tuple[int, ...]) -> None:
    (encoding,) = find(files(name, TRAINED.reshape(axes)))
    assert_array_equal(form_of(encoding, PositionTable).vectors, TRAINED.astype(np.float32))
    part = "encoder" if name.startswith("encoder.") else "model"
    assert (encoding.scheme, encoding.part) == ("learned", part)


@pytest.mark.parametrize("axes", [(17, WIDTH), (1, 17, WIDTH)])
def test_a_table_in_an_image_model_is_of_patches(axes: tuple[int, ...]) -> None:
    arrays = {"cls_token": np.ones((1, 1, WIDTH)), "pos_embedding": TRAINED[:17].reshape(axes)}
    (encoding,) = find(DictFiles({}, arrays))
    form = form_of(encoding, PositionTable)
    assert (encoding.part, form.grid, form.first_row) == ("vision", (4, 4), 1)
    (beside_words,) = find(DictFiles({}, {**arrays, "token_emb.weight": np.ones((50, WIDTH))}))
    assert (beside_words.part == "vision") == (len(axes) == 3)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("layout", SINUSOIDS)
def test_a_stored_sinusoid_is_a_sinusoid(layout: str, axes: tuple[int, ...]) -> None:
    table = SINUSOIDS[layout]
    for name in ("pe", "pos_encoder.pe", "src_embed.1.pe", "pos_table", "pos_enc"):
        (encoding,) = find(files(name, table.reshape(axes)))
        assert (encoding.scheme, encoding.part) == ("sinusoidal", "model")
        assert_allclose(form_of(encoding, PositionTable).vectors, table, atol=1e-6)


def test_the_rounding_of_angles_far_into_a_table_is_no_training() -> None:
    # As the tutorial of PyTorch computes 5,000 positions, in single precision.
    position = torch.arange(5000).unsqueeze(1)
    terms = torch.exp(torch.arange(0, 512, 2) * (-np.log(10000.0) / 512))
    table = torch.zeros(5000, 1, 512)
    table[:, 0, 0::2], table[:, 0, 1::2] = torch.sin(position * terms), torch.cos(position * terms)
    name = "pos_encoder.pe"
    (encoding,) = find(DictFiles({}, {name: table.numpy(), "norm.weight": np.ones(512)}))
    assert encoding.scheme == "sinusoidal"
    assert "equals the sinusoid to within 0.0011" in " ".join(encoding.notes)


@pytest.mark.parametrize("name", ["encoder.position_enc.weight", "pos_table"])
def test_a_row_of_zeros_for_padding_is_no_position(name: str) -> None:
    table = sinusoid(ROWS, WIDTH)
    table = np.concatenate([np.zeros((1, WIDTH)), table[1:]])
    (encoding,) = find(files(name, table))
    form = form_of(encoding, PositionTable)
    assert (encoding.scheme, form.first_row, len(form.vectors)) == ("sinusoidal", 1, ROWS - 1)


def test_a_sinusoid_may_be_divided_by_the_root_of_the_width_as_in_nemo() -> None:
    (encoding,) = find(files("position_embedding.pos_enc", SINUSOIDS["as printed"] / 4.0))
    assert encoding.scheme == "sinusoidal"
    assert "equals the sinusoid times 0.25 to within" in " ".join(encoding.notes)


def test_other_names_are_no_tables_and_scaling_is_named() -> None:
    names = [
        "tok_emb.weight", "token_emb.emb.weight", "emb.weight", "type.weight", "mlp.pe_proj.weight",
        "opening.weight", "shape.embedding", "compose.weight", "position_ids", "pos_weight",
        "pe_layer.positional_encoding_gaussian_matrix",
    ]  # fmt: skip
    assert [name for name in names if found(files(name, TRAINED))] == []
    (encoding,) = find(files("pos_emb.emb.weight", TRAINED))
    assert "x-transformers divides such a table by the square root" in encoding.notes[0]


PE = "equals no known sinusoid"
LIKELY = "“{}” (24 × 16) may encode position, judging by its {},"
# What is found in none, and what is asked.
OPEN: list[tuple[str, Array, str]] = [
    ("positional_encoding", sinusoid(ROWS, WIDTH, base=500.0),
     "“positional_encoding” (24 × 16) contains sines and cosines"),
    ("pos_embedding", TRAINED.T[None],
     "“pos_embedding” (16 × 24) may be a transposed position table"),
    ("wpe.weight", np.ones((0, WIDTH)), "“wpe.weight”"),
    ("wpe.weight", np.ones((1, WIDTH)), "“wpe.weight”"),
    ("block.pe", np.ones((3, 1)), PE),
    ("block.pe", np.random.default_rng(1).normal(size=(50_257, WIDTH)), PE),
    ("block.pe", TRAINED, PE),
    ("block.pe", SINUSOIDS["as printed"].T, PE),
    ("my_pos_vectors", TRAINED, LIKELY.format("my_pos_vectors", "name")),
    ("pos.table.weight", TRAINED, LIKELY.format("pos.table.weight", "name")),
    ("encoder.order", TRAINED[None], LIKELY.format("encoder.order", "shape")),
    ("second_emb.weight", TRAINED, LIKELY.format("second_emb.weight", "shape")),
    ("relative.keys", TRAINED, LIKELY.format("relative.keys", "name")),
    ("fc.weight", TRAINED, "A rotation, ALiBi or a computed sinusoid may leave no tensor"),
    ("attn_layers.rel_pos.relative_attention_bias.weight", np.ones((32, 8)),
     "is T5's bias, but is not shown: the side of each bucket is not stored"),
    ("rope.freqs", np.array([1.0, 0.9, 0.05, 0.04]),
     "contains frequencies of a rotation, but they are not powers of one base"),
]  # fmt: skip


def test_what_may_tell_position_and_is_not_read_is_a_question() -> None:
    """By its name, its shape, or as what no scheme can tell."""
    read = [(files(name, array), words) for name, array, words in OPEN]
    assert [words for each, words in read if found(each) or words not in asked(each)] == []
    assert "“block.pe”" not in asked(files("block.pe", np.ones(3)))


GPT2 = {"model_type": "gpt2", "n_embd": 16, "n_positions": 24, "n_layer": 1, "n_head": 2}


@pytest.mark.parametrize("shape", [(0, 16), (24,), (24, 2, 8), ()])
def test_a_table_of_another_shape_is_a_question_with_a_config_too(shape: tuple[int, ...]) -> None:
    read = DictFiles({**GPT2, "vocab_size": 50}, {"transformer.wpe.weight": np.ones(shape)})
    assert f"“transformer.wpe.weight” has the name of a position table, but its shape {shape}" in (
        asked(read)
    )


def test_a_table_of_the_family_that_is_not_stored_is_a_question() -> None:
    read = DictFiles({**GPT2, "vocab_size": 50}, {"transformer.wte.weight": np.ones((50, 16))})
    assert found(read) == []
    assert "this family has a position table of 24 × 16 (wpe.weight), but no tensor has" in asked(
        read
    )


def test_what_no_scheme_reads_is_a_question() -> None:
    read = files("pos_emb.emb.weight", TRAINED, my_pos_vectors=TRAINED, wpe=np.ones(3))
    assert len(found(read)) == 1
    assert "“" not in asked(read)
    layers = {f"layers.{index}.cope.pos_emb": TRAINED for index in range(5)}
    words = asked(files("pos_emb.emb.weight", TRAINED, **layers))
    assert "“layers.2.cope.pos_emb” (24 × 16) is a table of contextual positions" in words
    assert "The same applies to 2 further tensors." in words
    for example in (name.example for name in NAMES if name.meaning == "other"):
        shape = (1,) if example.endswith(("scale", "alpha", "_float_tensor")) else (ROWS, WIDTH)
        read = files(example, np.ones(shape))
        assert found(read) == []
        assert TEXTS(f"named_{question(example)}", tensor="") in asked(read)


def test_frequencies_of_one_base_are_a_rotation() -> None:
    for name in ("attn_layers.rotary_pos_emb.inv_freq", "rotary_emb.freqs", "rope.freqs"):
        for prefix in PREFIXES:
            (encoding,) = find(files(prefix + name, 1e4 ** -(np.arange(8) / 8)))
            assert (encoding.scheme, form_of(encoding, Rotation).base) == ("rotary", 1e4)


@pytest.mark.parametrize("shape", [(2,), (2, 1, 1), (1, 2, 1, 1)])
def test_stored_slopes_are_alibi(shape: tuple[int, ...]) -> None:
    name = "attn_layers.rel_pos.learned_logslopes"
    (encoding,) = find(files(name, np.log([0.5, 0.25]).reshape(shape)))
    bias = form_of(encoding, OffsetBias)
    assert encoding.scheme == "alibi"
    at = list(bias.offsets).index(-3.0)
    assert_allclose(bias.values[:, at], [-1.5, -0.75], rtol=1e-6)


def test_slopes_for_each_side_are_a_question() -> None:
    name = "rel_pos.learned_logslopes"
    read = files(name, np.ones(2), **{f"{name}_future": np.ones(2)})
    assert found(read) == []
    assert "contains slopes of ALiBi" in asked(read)


def test_each_name_of_the_list_fits_its_own_pattern_and_has_a_source() -> None:
    offending = [
        name.example
        for name in NAMES
        if not re.search(rf"(^|\.)({name.ends})(\.weight|\.embeddings?)?$", name.example)
        or not (name.source.startswith("https://") or name.library == "people's own code")
    ]
    assert offending == []
    assert all(TABLE.search(name.example.replace(".embeddings", "")) for name in TABLES)
