"""Tables for rows and columns, gated ones, and unusual names, against transformers."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.encodings import PositionTable
from generator.numerics.arrays import Floats
from generator.schemes import learned, sinusoidal
from tests import tiny
from tests.support import DictFiles, close, form_of, found_by

SIZES = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
         "intermediate_size": 16}  # fmt: skip


def noise(*shape: int) -> Floats:
    return np.random.default_rng(0).normal(size=shape)


def files_of(model: Any) -> DictFiles:
    return DictFiles(model.config.to_dict(), tiny.arrays(model))


def by_part(files: DictFiles) -> dict[str, Floats]:
    return {each.part: form_of(each, PositionTable).vectors for each in learned.find(files)}


def test_pix2struct_adds_the_vectors_of_row_and_column_to_a_patch() -> None:
    from transformers import Pix2StructVisionConfig, Pix2StructVisionModel

    model = Pix2StructVisionModel(
        Pix2StructVisionConfig(**SIZES, seq_len=6, patch_embed_hidden_size=4, d_ff=16, d_kv=8)
    ).eval()
    patches = torch.zeros(1, 1, 6)
    patches[0, 0, :2] = torch.tensor([2.0, 5.0])
    theirs = (
        (model.embeddings(patches) - model.embeddings.patch_projection(torch.zeros(4)))
        .detach()
        .double()
        .numpy()[0, 0]
    )
    tables = by_part(files_of(model))
    close(tables["vision rows"][2] + tables["vision columns"][5], theirs)


def test_kosmos_2_5_has_tables_of_rows_and_columns() -> None:
    from transformers.models.kosmos2_5.configuration_kosmos2_5 import Kosmos2_5VisionConfig
    from transformers.models.kosmos2_5.modeling_kosmos2_5 import Kosmos2_5VisionModel

    model = Kosmos2_5VisionModel(
        Kosmos2_5VisionConfig(**SIZES, max_num_patches=6, patch_embed_hidden_size=4, head_dim=8)
    )
    tables = by_part(files_of(model))
    assert_array_equal(
        tables["vision columns"], tiny.arrays(model)["embeddings.column_embedder.weight"]
    )
    assert sorted(tables) == ["vision columns", "vision rows"]
    assert {encoding.modality for encoding in learned.find(files_of(model))} == {"image"}


def test_gemma_4_adds_the_vectors_of_x_and_y_to_a_patch() -> None:
    from transformers.models.gemma4.configuration_gemma4 import Gemma4VisionConfig
    from transformers.models.gemma4.modeling_gemma4 import Gemma4VisionPatchEmbedder

    model = Gemma4VisionPatchEmbedder(
        Gemma4VisionConfig(**SIZES, position_embedding_size=6, patch_size=2)
    )
    torch.nn.init.normal_(model.position_embedding_table)
    theirs = (
        model._position_embeddings(torch.tensor([[[2, 5]]]), torch.tensor([[False]]))
        .detach()
        .double()
        .numpy()[0, 0]
    )
    arrays = {f"patch_embedder.{name}": array for name, array in tiny.arrays(model).items()}
    tables = by_part(DictFiles({}, arrays))
    close(tables["vision columns"][2] + tables["vision rows"][5], theirs)


def test_mllama_adds_its_gated_table_to_every_tile() -> None:
    from transformers.models.mllama.configuration_mllama import MllamaVisionConfig
    from transformers.models.mllama.modeling_mllama import MllamaPrecomputedPositionEmbedding

    config = MllamaVisionConfig(hidden_size=16, image_size=32, patch_size=8)
    model = MllamaPrecomputedPositionEmbedding(config)
    torch.nn.init.constant_(model.gate, 0.3)
    torch.nn.init.zeros_(model.tile_embedding.weight)
    theirs = model(torch.zeros(1, 4, 17, 16), torch.tensor([1])).detach().double().numpy()[0, 0]
    arrays = {
        f"vision_model.gated_positional_embedding.{name}": array
        for name, array in tiny.arrays(model).items()
    }
    (encoding,) = learned.find(DictFiles({"vision_config": config.to_dict()}, arrays))
    form = form_of(encoding, PositionTable)
    close(form.vectors, theirs[1:])
    assert (encoding.part, form.grid, form.first_row) == ("vision", (4, 4), 1)


def test_reformer_without_axes_has_a_plain_table() -> None:
    sizes = {"attn_layers": ["local"], "attention_head_size": 8, "feed_forward_size": 16}
    model = tiny.build("reformer", axial_pos_embds=False, **sizes)
    theirs = model.embeddings.position_embeddings.embedding.weight.detach().numpy()
    assert_array_equal(by_part(files_of(model))["encoder"], theirs)


def series(**options: Any) -> Any:
    from transformers import PatchTSTConfig, PatchTSTModel

    sizes = {"d_model": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "ffn_dim": 16}
    lengths = {"context_length": 24, "patch_length": 2, "patch_stride": 2}
    return PatchTSTModel(PatchTSTConfig(**sizes, **lengths, num_input_channels=1, **options))


@pytest.mark.parametrize("first", [0, 1])
def test_the_patches_of_a_series_have_the_rows_after_the_class_token(first: int) -> None:
    model = series(positional_encoding_type="random", use_cls_token=bool(first))
    (encoding,) = learned.find(files_of(model))
    theirs = model.encoder.positional_encoder.position_enc.detach().numpy()
    assert_array_equal(form_of(encoding, PositionTable).vectors, theirs[first:])


@pytest.mark.parametrize("first", [0, 1])
def test_a_centred_and_scaled_sinusoid_of_a_series_is_recognised(first: int) -> None:
    model = series(positional_encoding_type="sincos", use_cls_token=bool(first))
    table = (
        type(model.encoder.positional_encoder)._init_pe(model.config, 12 + first).detach().numpy()
    )
    files = DictFiles(model.config.to_dict(), {"encoder.positional_encoder.position_enc": table})
    (encoding,) = found_by(sinusoidal.SCHEME, files)
    assert_array_equal(form_of(encoding, PositionTable).vectors, table[first:])
    assert "mean-centred and then scaled" in encoding.notes[-1]
    assert learned.find(files) == []


def test_the_encoder_of_a_model_with_mel_bins_encodes_audio_and_its_decoder_text() -> None:
    arrays = {f"m.{part}.embed_positions.weight": noise(6, 8) for part in ("encoder", "decoder")}
    encodings = learned.find(
        DictFiles({"model_type": "whisper", "num_mel_bins": 80, "vocab_size": 40}, arrays)
    )
    assert {encoding.part: encoding.modality for encoding in encodings} == {
        "encoder": "audio",
        "decoder": "text",
    }
