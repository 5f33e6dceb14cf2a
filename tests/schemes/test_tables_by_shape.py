"""Position tables whose tensors have names that say nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from generator.checkpoints.model import tables_by_shape
from generator.checkpoints.model.open_questions import open_questions
from generator.contracts import Encoding, Json
from generator.encodings import Form, PositionTable
from generator.numerics.arrays import Array
from generator.reading.find import all_schemes, find
from tests import tiny
from tests.support import DictFiles, form_of

NARROW = {"num_labels": 2, "intermediate_size": 24, "hidden_dim": 24, "n_inner": 24,
          "dim_feedforward": 24}  # fmt: skip
IMAGES = {**NARROW, "image_size": 24, "patch_size": 4, "num_channels": 3}
# The family, its options, the part, and the module that holds the table; row 0 of that belongs to
# position −first_row.
FAMILIES: list[tuple[str, dict[str, Any], str, str, int]] = [
    ("bert", NARROW, "encoder", "embeddings.position_embeddings.weight", 0),
    ("roberta", NARROW, "encoder", "embeddings.position_embeddings.weight", 2),
    ("gpt2", NARROW, "decoder", "wpe.weight", 0),
    ("opt", {**NARROW, "ffn_dim": 24}, "decoder", "decoder.embed_positions.weight", 2),
    ("vit", IMAGES, "vision", "embeddings.position_embeddings", 1),
]
UNKNOWN = {"model_type": "mine", "hidden_size": 16, "num_attention_heads": 2,
           "max_position_embeddings": 32, "vocab_size": 40, "num_hidden_layers": 2}  # fmt: skip


def renamed(model: Any, *, transposed: bool = False) -> dict[str, Array]:
    """The stored tensors of a model, as t0, t1 …; matrices transposed if wanted."""
    arrays = list(tiny.arrays(model).values())
    return {
        f"t{index}": array.T if transposed and array.ndim == 2 else array
        for index, array in enumerate(arrays)
    }


def found(config: Json, arrays: dict[str, Array]) -> list[Encoding[Form]]:
    return [
        encoding
        for encoding in find(DictFiles(config, arrays))
        if encoding.scheme in ("learned", "sinusoidal")
    ]


def asked(config: Json, arrays: dict[str, Array]) -> str:
    files = DictFiles(config, arrays)
    return " ".join(open_questions(files, find(files), all_schemes()))


def of_unknown(**more: Array) -> dict[str, Array]:
    """Tensors of a family of two layers that nobody knows."""
    draws = np.random.default_rng(0)
    words, positions = draws.normal(size=(40, 16)), draws.normal(size=(32, 16))
    return {"a": words, "b": positions, "c": np.eye(16), "d": np.eye(16), **more}


@pytest.mark.parametrize(("family", "options", "part", "module", "first_row"), FAMILIES)
def test_a_table_is_found_by_the_shape_that_the_code_of_the_family_gives_it(
    family: str, options: dict[str, Any], part: str, module: str, first_row: int
) -> None:
    model = tiny.build(family, **options)
    (encoding,) = found(model.config.to_dict(), renamed(model))
    form = form_of(encoding, PositionTable)
    assert (encoding.part, encoding.scheme, form.first_row) == (part, "learned", first_row)
    stored = tiny.arrays(model)[module]
    assert_array_equal(form.vectors, stored.reshape(-1, stored.shape[-1])[first_row:])


@pytest.mark.parametrize(("family", "options"), [family[:2] for family in FAMILIES])
def test_matrices_may_be_stored_transposed(family: str, options: dict[str, Any]) -> None:
    model = tiny.build(family, **options)
    plain, transposed = (
        form_of(encoding, PositionTable).vectors
        for flag in (False, True)
        for encoding in found(model.config.to_dict(), renamed(model, transposed=flag))
    )
    assert_array_equal(plain, transposed)


@pytest.mark.parametrize(
    ("family", "options", "module"),
    [(family, options, module) for family, options, _, module, _ in FAMILIES],
)
def test_nothing_takes_the_place_of_a_missing_table(family: str, options: Any, module: str) -> None:
    model = tiny.build(family, **options)
    config = model.config.to_dict()
    others = [(other, array) for other, array in tiny.arrays(model).items() if other != module]
    for name in ("{name}", "model.{name}", "t{index}"):
        arrays = {
            name.format(name=other, index=index): array
            for index, (other, array) in enumerate(others)
        }
        assert found(config, arrays) == []
        assert f"({module}), but no tensor has that name or shape." in asked(config, arrays)


def test_names_of_other_parameters_are_no_obstacle() -> None:
    model = tiny.build("bert", **NARROW)
    arrays = {
        f"bert.{name}".replace("bert.embeddings.position_embeddings.weight", "onnx::Add_12"): array
        for name, array in tiny.arrays(model).items()
    }
    (encoding,) = found(model.config.to_dict(), arrays)
    assert encoding.provenance.tensor == "onnx::Add_12"


def test_a_family_without_a_table_has_none_whatever_shapes_there_are() -> None:
    model = tiny.build(
        "llama", intermediate_size=24, max_position_embeddings=16, num_key_value_heads=2
    )
    arrays = {**renamed(model), "one of another shape": np.ones((16, 20))}
    assert found(model.config.to_dict(), arrays) == []
    assert asked(model.config.to_dict(), arrays) == ""


@pytest.mark.parametrize(
    ("family", "options", "more", "words"),
    [
        ("bert", NARROW, {"another": np.ones((16, 32))},
         "has one of 32 × 16, but 2 tensors have that shape, so none is shown."),
        # The table, query, key, value and output of one layer, and the pooler.
        ("bert", {**NARROW, "max_position_embeddings": 16}, {},
         "6 tensors have that shape, and 6 parameters of the model do"),
        ("bart", {}, None, "1 tensor has that shape, and 2 parameters of the model do"),
    ],
)  # fmt: skip
def test_of_several_none_is_shown(family: str, options: Any, more: Any, words: str) -> None:
    model = tiny.build(family, **options)
    arrays = {"t0": np.ones((34, 16))} if more is None else {**renamed(model), **more}
    assert found(model.config.to_dict(), arrays) == []
    assert words in asked(model.config.to_dict(), arrays)


def test_no_model_is_made_where_a_table_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny.build("bert", **NARROW)
    monkeypatch.setattr(tables_by_shape, "parameters_of", _refuse)
    assert len(found(model.config.to_dict(), tiny.arrays(model))) == 1
    with pytest.raises(AssertionError, match="a model was made"):
        found(model.config.to_dict(), renamed(model))


def test_no_model_is_made_of_a_family_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_by_shape, "parameters_of", _refuse)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "n_head": 2}
    for family in ("llama", "t5", "mamba", "bloom", "qwen3"):
        assert found({"model_type": family, **sizes}, {"t0": np.ones((4, 4))}) == []


@pytest.mark.parametrize("width", [15, "x"])  # Not a multiple of the number of heads, and none.
def test_a_config_of_which_no_model_can_be_made_finds_nothing(width: object) -> None:
    config = {"model_type": "bert", "hidden_size": width, "num_attention_heads": 2}
    assert found(config, {"t0": np.ones((512, 15))}) == []


def test_of_an_unknown_family_the_sizes_in_the_config_make_a_table_likely() -> None:
    (encoding,) = found(UNKNOWN, of_unknown())
    assert encoding.provenance.tensor == "b"
    assert_array_equal(form_of(encoding, PositionTable).vectors, of_unknown()["b"])
    assert "likely, but not certainly, the position table" in encoding.notes[0]


def test_of_an_unknown_family_any_doubt_is_enough_to_show_none() -> None:
    settings: list[dict[str, Any]] = [
        {"rope_theta": 1e4}, {"use_alibi": False}, {"rotary_pct": 0.5},
        {"relative_attention": True}, {"position_embedding_type": "xpos"},
        {"learned_pos_emb": False}, {"attention": {"rope": None}}, {"intermediate_size": 32},
        {"n_positions": 33}, {"hidden_size": 17},
    ]  # fmt: skip
    assert [each for each in settings if found({**UNKNOWN, **each}, of_unknown())] == []
    others: list[dict[str, Array]] = [
        {"e": np.ones((16, 32))}, {"e": np.ones((32, 16))}, {"rotary.inv_freq": np.ones(4)}
    ]  # fmt: skip
    assert [each for each in others if found(UNKNOWN, of_unknown(**each))] == []


def _refuse(_config: object) -> Any:
    raise AssertionError("a model was made")
