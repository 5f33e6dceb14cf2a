"""Tables of patches: their rows, their grid, and their values against what the model adds."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.checkpoints.model.facts import facts
from generator.checkpoints.model.input_layer import subjects
from generator.checkpoints.model.patch_grid import Lattice, lattice_of
from generator.checkpoints.model.stacks import resolved
from generator.contracts import ModelConfig
from generator.encodings import PositionTable, grid_sinusoid
from generator.errors import RowError
from generator.numerics.arrays import Floats
from generator.schemes import learned, sinusoidal
from tests import tiny
from tests.support import DictFiles, checkpoint, close, form_of, found_by

FLOAT32 = 1e-6
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "intermediate_size", "embed_dim", "mlp_dim"), 16),
    **dict.fromkeys(("num_attention_heads", "num_heads"), 2),
    **dict.fromkeys(("num_hidden_layers", "depth"), 1),
    "image_size": 32,
    "patch_size": 8,
}
# family, options, module with the sum as its output, index of the first patch
FAMILIES: list[tuple[str, dict[str, Any], str, int]] = [
    ("vit", {}, "embeddings", 1),
    ("vit", {"image_size": [16, 48]}, "embeddings", 1),
    ("deit", {}, "embeddings", 2),
    ("clip_vision_model", {}, "embeddings", 1),
    ("siglip_vision_model", {}, "embeddings", 0),
    ("dinov2", {}, "embeddings", 1),
    ("dinov2_with_registers", {"num_register_tokens": 3}, "embeddings", 4),
    ("ijepa", {}, "embeddings", 0),
    ("beit", {"use_absolute_position_embeddings": True}, "embeddings", 1),
    ("data2vec-vision", {"use_absolute_position_embeddings": True}, "embeddings", 1),
    ("vit_msn", {}, "embeddings", 1),
    ("yolos", {"num_detection_tokens": 5, "image_size": [16, 40]}, "embeddings", 1),
    ("pixio", {"n_cls_tokens": 3}, "embeddings", 3),
    ("dpt", {"is_hybrid": False}, "embeddings", 1),
    ("timesformer", {"num_frames": 1}, "embeddings", 1),
]


def pixels(model: Any) -> Any:
    """One image of the size in the config."""
    size = getattr(model.config, "image_size", 32)
    height, width = size if isinstance(size, list | tuple) else (size, size)
    return torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(0))


def build(family: str, **options: Any) -> Any:
    """The bare model with a random table, which its family initialises with zeros."""
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    model = AutoModel.from_config(CONFIG_MAPPING[family](**{**SIZES, **options})).eval()
    return with_random_table(model)


def with_random_table(model: Any) -> Any:
    for name, parameter in model.named_parameters():
        if "pos" in name:
            torch.nn.init.normal_(parameter, std=0.5)
    return model


def added(model: Any, tensor: str, module: str, **inputs: Any) -> Floats:
    """What the table adds to the output of the module: the output minus that with zeros."""
    outputs: list[Floats] = []
    handle = model.get_submodule(module).register_forward_hook(
        lambda _module, _inputs, output: outputs.append(
            (output if hasattr(output, "double") else output[0]).double().numpy().copy()
        )
    )
    with torch.no_grad():
        model(**inputs)
        dict(model.named_parameters())[tensor].zero_()
        model(**inputs)
    handle.remove()
    return np.asarray((outputs[0] - outputs[1])[0], dtype=np.float64)


def found(model: Any) -> Any:
    arrays = {name: array.copy() for name, array in tiny.arrays(model).items()}
    (encoding,) = learned.find(DictFiles(model.config.to_dict(), arrays))
    return encoding


@pytest.mark.parametrize(("family", "options", "module", "first"), FAMILIES)
def test_the_vectors_are_those_added(family: str, options: Any, module: str, first: int) -> None:
    model = build(family, **options)
    encoding = found(model)
    vectors = form_of(encoding, PositionTable).vectors
    inputs = {"pixel_values": pixels(model)[:, None] if family == "timesformer" else pixels(model)}
    theirs = added(model, encoding.provenance.tensor, module, **inputs)
    close(vectors, theirs[first : first + len(vectors)])


def test_a_table_of_shape_rows_columns_width_equals_what_sam_adds() -> None:
    from transformers import SamVisionConfig, SamVisionModel

    torch.manual_seed(0)
    sizes = {"window_size": 2, "global_attn_indexes": [0], "output_channels": 8, "mlp_dim": 16}
    model = with_random_table(SamVisionModel(SamVisionConfig(**{**SIZES, **sizes})).eval())
    encoding = found(model)
    form = form_of(encoding, PositionTable)
    before: list[Any] = []
    model.vision_encoder.layers[0].register_forward_pre_hook(
        lambda _module, inputs: before.append(inputs[0].double().numpy().copy())
    )
    with torch.no_grad():
        model(pixels(model))
        model.vision_encoder.pos_embed.zero_()
        model(pixels(model))
    close(form.vectors, (before[0] - before[1]).reshape(-1, 16))
    assert (form.grid, form.first_row) == ((4, 4), 0)


def test_the_table_of_the_spectrogram_transformer_equals_what_it_adds() -> None:
    from transformers import ASTConfig, ASTModel

    sizes = {"num_mel_bins": 16, "max_length": 40, "frequency_stride": 4, "time_stride": 8}
    model = with_random_table(ASTModel(ASTConfig(**{**SIZES, **sizes})).eval())
    encoding = found(model)
    form = form_of(encoding, PositionTable)
    theirs = added(
        model, encoding.provenance.tensor, "embeddings", input_values=torch.randn(1, 40, 16)
    )
    close(form.vectors, theirs[2:])
    assert (encoding.part, form.grid, form.first_row) == ("audio", (3, 5), 2)


def test_the_stored_sinusoid_of_mae_is_recognised() -> None:
    model = build_mae()
    encodings = found_by(sinusoidal.SCHEME, DictFiles(model.config.to_dict(), tiny.arrays(model)))
    assert [(encoding.part, form_of(encoding, PositionTable).grid) for encoding in encodings] == [
        ("vision", (4, 4)),
        ("decoder", (4, 4)),
    ]
    theirs = model.vit.embeddings.position_embeddings[0, 1:].double().numpy()
    close(grid_sinusoid((4, 4), 16), theirs)
    assert learned.find(DictFiles(model.config.to_dict(), tiny.arrays(model))) == []


def build_mae() -> Any:
    from transformers import ViTMAEConfig, ViTMAEForPreTraining

    decoder = {**dict.fromkeys(("decoder_hidden_size", "decoder_intermediate_size"), 8),
               "decoder_num_attention_heads": 2, "decoder_num_hidden_layers": 1}  # fmt: skip
    model = ViTMAEForPreTraining(ViTMAEConfig(**{**SIZES, **decoder})).eval()
    # It fills its table only where this is not set.
    model.vit.embeddings.patch_embeddings.projection._is_hf_initialized = False
    model.vit.embeddings.initialize_weights()
    model.decoder.initialize_weights(model.vit.embeddings.patch_embeddings.num_patches)
    return model


def test_the_sinusoid_with_rows_first_equals_that_of_aimv2() -> None:
    from transformers.models.aimv2.modeling_aimv2 import build_2d_sinusoidal_position_embedding

    theirs = build_2d_sinusoidal_position_embedding(
        3, 5, embed_dim=16, temperature=10000.0, device=torch.device("cpu"), dtype=torch.float64
    )
    ours = [grid_sinusoid((3, 5), 16, columns_first) for columns_first in (True, False)]
    assert min(np.abs(layout - theirs.reshape(15, 16).numpy()).max() for layout in ours) < FLOAT32


@pytest.mark.parametrize(
    ("columns_first", "words"),
    [(True, "patch's column, the other half that of its row"), (False, "patch's row, the")],
)
def test_a_stored_sinusoid_of_an_oblong_grid_has_its_order(columns_first: bool, words: str) -> None:
    stored = np.vstack([np.zeros(8), grid_sinusoid((2, 6), 8, columns_first)])[None]
    files = DictFiles({"image_size": [16, 48], "patch_size": 8}, {"pos_embed": stored})
    (encoding,) = found_by(sinusoidal.SCHEME, files)
    assert words in encoding.notes[-1]


def test_the_reference_of_a_table_of_patches_is_the_sinusoid_of_its_grid() -> None:
    """By hand: the halves are those of a patch's column and row."""
    reference = PositionTable(np.ones((6, 8)), grid=(2, 3)).make_reference()
    expected = [*np.sin([1, 0.01]), *np.cos([1, 0.01])] * 2
    assert reference.grid == (2, 3)
    close(reference.numbers[4], expected, 1e-15)


VIT = {"image_size": 32, "patch_size": 8}
GIVEN, SQUARE = "as config.json says", "assumed square"
CLIP = {"image_size": 32, "tubelet_size": [2, 8, 8]}
LATTICES: list[tuple[int, dict[str, Any], Lattice]] = [
    (16, VIT, Lattice(0, 0, (4, 4), GIVEN)),
    (18, VIT, Lattice(2, 0, (4, 4), GIVEN)),
    (13, {"image_size": [16, 48], "patch_size": [8, 8]}, Lattice(1, 0, (2, 6), GIVEN)),
    (24, {**VIT, "n_cls_tokens": 8}, Lattice(8, 0, (4, 4), GIVEN)),
    (22, {**VIT, "num_detection_tokens": 5}, Lattice(1, 5, (4, 4), GIVEN)),
    (17, {"vision_config": VIT}, Lattice(1, 0, (4, 4), GIVEN)),
    (26, VIT, Lattice(1, 0, (5, 5), f"{SQUARE}, where config.json gives 4 by 4")),
    (25, {}, Lattice(0, 0, (5, 5), SQUARE)),
    (27, {}, Lattice()),
    (33, {**VIT, "tubelet_size": [2, 8, 8]}, Lattice(1)),
    (65, CLIP, Lattice(1)),
    (17, CLIP, Lattice(1, 0, (4, 4), GIVEN)),
    (25, {"image_size": "x", "patch_size": None}, Lattice(0, 0, (5, 5), SQUARE)),
    (25, {"image_size": -32, "patch_size": 0}, Lattice(0, 0, (5, 5), SQUARE)),
    (25, {"image_size": [32, "y"], "patch_size": [8]}, Lattice(0, 0, (5, 5), SQUARE)),
    (22, {**VIT, "num_detection_tokens": -5}, Lattice()),
]


def test_patches_have_the_grid_of_the_config_or_else_a_square() -> None:
    assert [
        (n_rows, config)
        for n_rows, config, expected in LATTICES
        if lattice_of("pos_embed", n_rows, ModelConfig(config, "x")) != expected
    ] == []
    name = "video_model.temporal_embeddings.position_embeddings"
    assert lattice_of(name, 16, ModelConfig(VIT, "x")) == Lattice()  # Of frames.


def table_of(config: dict[str, Any], **shapes: tuple[int, ...]) -> list[tuple[str, Any, int]]:
    """Part, grid and number of positions of each table of noise."""
    arrays = {name.replace("__", "."): noise(*shape) for name, shape in shapes.items()}
    encodings = learned.find(DictFiles(config, arrays))
    forms = [form_of(encoding, PositionTable) for encoding in encodings]
    return [
        (encoding.part, form.grid, len(form.vectors))
        for encoding, form in zip(encodings, forms, strict=True)
    ]


def noise(*shape: int) -> Floats:
    return np.random.default_rng(0).normal(size=shape)


def test_a_table_with_channels_first_is_read_as_in_sam_2() -> None:
    table = noise(1, 6, 3, 3)
    encoding, _ = learned.find(
        DictFiles({}, {"backbone.pos_embed": table, "backbone.pos_embed_window": noise(1, 6, 2, 2)})
    )
    assert_array_equal(form_of(encoding, PositionTable).vectors[5], table[0, :, 1, 2])
    assert any("a second, smaller table" in note for note in encoding.notes)


def test_the_second_table_of_sam_2_equals_what_its_module_tiles_over_the_grid() -> None:
    from transformers.models.sam2.modeling_sam2 import Sam2HieraDetConfig, Sam2HieraDetModel

    stages = {"blocks_per_stage": [1, 1, 1, 1], "window_size_per_stage": [3] * 4}
    model = Sam2HieraDetModel(Sam2HieraDetConfig(hidden_size=8, num_attention_heads=1, **stages))
    torch.nn.init.normal_(model.pos_embed_window)  # The other table is all zeros in a new model.
    theirs = model._get_pos_embed((9, 6))[0].detach().double().numpy()
    tables = {name: getattr(model, name) for name in ("pos_embed", "pos_embed_window")}
    arrays = {name: table.detach().numpy() for name, table in tables.items()}
    _, encoding = learned.find(DictFiles({}, arrays))
    form = form_of(encoding, PositionTable)
    assert (encoding.part, form.grid) == ("vision within a window", (3, 3))
    close(np.tile(form.vectors.reshape(3, 3, 8), (3, 2, 1)), theirs)


WORDS = "embeddings__position_embedding__weight"
PADDED = {"model_type": "layoutlmv3", "vocab_size": 9, "pad_token_id": 1, "input_size": 32,
          "patch_size": 8}  # fmt: skip
PARTS: list[tuple[dict[str, Any], dict[str, tuple[int, ...]], list[tuple[str, Any, int]]]] = [
    ({}, {"pos_emb__position_embeddings": (3, 3, 8)}, [("vision", (3, 3), 9)]),
    ({"vision_config": VIT, "text_config": {}},
     {f"text_model__{WORDS}": (77, 8), f"vision_model__{WORDS}": (17, 8)},
     [("text", None, 77), ("vision", (4, 4), 16)]),
    # A table of words has no grid, whatever its number of rows.
    ({**VIT, "vocab_size": 9}, {"embeddings__position_embeddings__weight": (16, 8)},
     [("model", None, 16)]),
    # Rows of images do not start after the padding of words.
    (PADDED, {"pos_embed": (1, 17, 8)}, [("vision", (4, 4), 16)]),
]  # fmt: skip


@pytest.mark.parametrize(("config", "shapes", "expected"), PARTS)
def test_a_table_is_of_patches_or_of_words(config: Any, shapes: Any, expected: list[Any]) -> None:
    assert table_of(config, **shapes) == expected


def test_the_sinusoid_of_a_clip_equals_what_videomae_adds_to_its_patches() -> None:
    from transformers import VideoMAEConfig, VideoMAEModel

    config = VideoMAEConfig(**{**SIZES, "image_size": [16, 24]}, num_frames=4, tubelet_size=2)
    (encoding,) = found_by(sinusoidal.SCHEME, DictFiles(config.to_dict()))
    theirs = VideoMAEModel(config).embeddings.position_embeddings[0].double().numpy()
    close(form_of(encoding, PositionTable).vectors, theirs)
    assert (encoding.part, encoding.modality) == ("vision", "image")


def test_the_sinusoid_of_frames_equals_what_kimi_k25_adds_to_those_of_a_video() -> None:
    from transformers.models.kimi_k25.configuration_kimi_k25 import Kimi_K25VisionConfig
    from transformers.models.kimi_k25.modeling_kimi_k25 import Kimi_K25VisionPositionEmbeddings

    theirs = Kimi_K25VisionPositionEmbeddings(Kimi_K25VisionConfig(hidden_size=12, pos_emb_time=5))
    given = {"vt_hidden_size": 12, "init_pos_emb_time": 5}
    for vision in (given, {"hidden_size": 12, "pos_emb_time": 5}):
        files = DictFiles({"model_type": "kimi_k25", "vision_config": vision})
        (encoding,) = found_by(sinusoidal.SCHEME, files)
        vectors = form_of(encoding, PositionTable).vectors
        close(vectors, theirs.time_position_embeddings[1:].double().numpy(), 1e-6)
        assert (encoding.part, encoding.modality) == ("video", "image")


def test_the_sentence_belongs_to_words_and_sizes_by_stage_are_facts() -> None:
    arrays = {"embeddings.position_embeddings": noise(1, 17, 8),
              "embeddings.text_embeddings.position_embeddings.weight": noise(9, 8),
              "embeddings.text_embeddings.word_embeddings.weight": noise(5, 8)}  # fmt: skip
    files = DictFiles({**VIT, "vocab_size": 5}, arrays)
    patches, words = subjects(files, checkpoint(sentence=(1, 2, 3)), learned.find(files))
    assert (patches.input, patches.no_input) == (None, "its positions are not word positions")
    assert words.input is not None
    swin = {"model_type": "swin", "num_heads": [3, 6, 12], "depths": [2, 2, 6], "embed_dim": 96}
    given = {fact.name: fact.value for fact in facts(resolved(ModelConfig(swin, "test")), ())}
    expected = {"Hidden size": "96 in the first stage", "Layers": "2, 2, 6",
                "Attention heads": "3, 6, 12"}  # fmt: skip
    assert given.items() >= expected.items()


@pytest.mark.parametrize("wrong", [[], [3, "x"], [0], [True]])
def test_an_invalid_list_of_sizes_is_a_row_error(wrong: list[object]) -> None:
    with pytest.raises(RowError, match="num_heads"):
        facts(resolved(ModelConfig({"num_heads": wrong}, "test")), ())
