from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generator.encodings import OffsetBias, RelativeTable
from generator.schemes.transformer_xl import find
from tests import tiny
from tests.listening import HEARING, SPEECH, as_numbers, made, read, same
from tests.support import DictFiles, close, form_of

N = 30
MAP = "layers.0.self_attn.relative_k_proj.weight"


@pytest.mark.parametrize("clamp", [-1, 7])
def test_the_bias_of_xlnet_equals_that_of_its_attention(clamp: int, tmp_path: Path) -> None:
    model = made(
        "XLNetModel", vocab_size=40, d_model=16, n_layer=2, n_head=2, d_inner=16, clamp_len=clamp
    )
    encodings = read(find, model, tmp_path)
    assert list(encodings) == ["encoder layer 0", "encoder layer 1"]
    if clamp > 0:
        (form, *_) = (form_of(encoding, OffsetBias) for encoding in encodings.values())
        assert form.offsets.tolist() == list(range(-clamp, clamp + 1))
    for layer, encoding in zip(model.layer, encodings.values(), strict=True):
        attention = layer.rel_attn
        mapped = torch.einsum(
            "ibh,hnd->ibnd", model.relative_positional_encoding(N, N, bsz=1), attention.r
        )
        term = torch.einsum("ibnd,jbnd->bnij", attention.r_r_bias.expand(N, 1, 2, 8), mapped)
        same(
            encoding,
            as_numbers(attention.rel_shift_bnij(term, klen=N) * attention.scale)[0][
                :, : len_of(encoding), : len_of(encoding)
            ],
        )


def len_of(encoding: Any) -> int:
    """Number of positions whose offsets are in the form."""
    return min(N, int(form_of(encoding, OffsetBias).offsets[-1]) + 1)


FUNNEL = {"vocab_size": 40, "d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 16,
          "num_decoder_layers": 1}  # fmt: skip


@pytest.mark.parametrize("attention_type", ["relative_shift", "factorized"])
def test_the_bias_of_funnel_equals_its_first_blocks(attention_type: str, tmp_path: Path) -> None:
    sizes = {**FUNNEL, "block_sizes": [2, 1]}
    model = made("FunnelModel", **sizes, attention_type=attention_type)
    encodings = read(find, model, tmp_path)
    layers = [f"encoder layer {layer}" for layer in ("0.0", "0.1", "1.0")]
    assert list(encodings) == [*layers, "decoder"]
    embeds = model.encoder.attention_structure.get_position_embeds(
        N, torch.float32, torch.device("cpu")
    )
    for layer in range(2):
        attention = model.encoder.blocks[0][layer].attention
        theirs = attention.relative_positional_attention(embeds, torch.zeros(1, N, 2, 8), N)
        same(encodings[f"encoder layer 0.{layer}"], as_numbers(theirs)[0])


def test_the_offsets_of_funnels_second_block_are_counted_in_tokens(tmp_path: Path) -> None:
    """After pooling, neighbours are two tokens apart."""
    sizes = {**FUNNEL, "block_sizes": [1, 2]}
    model = made("FunnelModel", **sizes, separate_cls=False)
    embeds = model.encoder.attention_structure.get_position_embeds(
        N, torch.float32, torch.device("cpu")
    )
    theirs = as_numbers(
        model.encoder.blocks[1][1].attention.relative_positional_attention(
            embeds, torch.zeros(1, 15, 2, 8), 15
        )
    )[0]
    kernel = form_of(read(find, model, tmp_path)["encoder layer 1.1"], OffsetBias).kernel(N)
    close(kernel[:, ::2, ::2], theirs)


CONFORMERS: list[tuple[str, str, dict[str, Any]]] = [
    ("wav2vec2_conformer", "Wav2Vec2ConformerModel",
     {**HEARING, "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 2}),
    ("wav2vec2_bert", "Wav2Vec2BertModel", {"feature_projection_input_dim": 4}),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "name", "options"), CONFORMERS)
def test_a_conformers_bias(folder: str, name: str, options: dict[str, Any], tmp_path: Path) -> None:
    import importlib

    model = made(name, **SPEECH, **options, position_embeddings_type="relative")
    apply = importlib.import_module(
        f"transformers.models.{folder}.modeling_{folder}"
    )._apply_relative_position_encoding
    embeds, zeros = model.encoder.embed_positions(torch.zeros(1, N, 16)), torch.zeros(1, 2, N, 8)
    encodings = read(find, model, tmp_path)
    for index, layer in enumerate(model.encoder.layers):
        same(
            encodings[f"encoder layer {index}"],
            as_numbers(apply(layer.self_attn, zeros, zeros, embeds)[1])[0],
        )


def test_the_bias_of_fastspeech_2_equals_that_of_its_attention() -> None:
    from transformers import FastSpeech2ConformerConfig
    from transformers.models.fastspeech2_conformer import modeling_fastspeech2_conformer as speech

    torch.manual_seed(0)
    config = FastSpeech2ConformerConfig(
        hidden_size=16, encoder_num_attention_heads=2, decoder_num_attention_heads=2
    )
    attention = speech.FastSpeech2ConformerAttention(config, config.encoder_config).eval()
    torch.nn.init.normal_(attention.pos_bias_v)
    _, embeds = speech.FastSpeech2ConformerRelPositionalEncoding(
        config, config.encoder_config
    ).eval()(torch.zeros(1, N, 16))
    mapped = attention.linear_pos(embeds).view(1, -1, 2, 8).permute(0, 2, 3, 1)
    term = (
        attention.shift_relative_position_tensor(
            attention.pos_bias_v[None, :, None].expand(1, 2, N, 8) @ mapped
        )
        / 8**0.5
    )
    stem = "encoder.conformer_layers.0.self_attn"
    arrays = {f"{stem}.{name}": value for name, value in tiny.arrays(attention).items()}
    same(find(DictFiles({}, arrays))[0], as_numbers(term)[0])


def test_the_bias_of_parakeet_equals_that_of_its_attention(tmp_path: Path) -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_mel_bins": 8}
    counts = {"num_hidden_layers": 2, "num_attention_heads": 2, "subsampling_conv_channels": 4}
    model = made("ParakeetEncoder", **sizes, **counts)
    embeds, encodings = model.encode_positions(torch.zeros(1, N, 16)), read(find, model, tmp_path)
    for index, layer in enumerate(model.layers):
        attention = layer.self_attn
        mapped = attention.relative_k_proj(embeds).view(1, -1, 2, 8).permute(0, 2, 3, 1)
        term = (
            attention._rel_shift(attention.bias_v.view(1, 2, 1, 8).expand(1, 2, N, 8) @ mapped)[
                ..., :N
            ]
            * attention.scaling
        )
        same(encodings[f"encoder layer {index}"], as_numbers(term)[0])


@pytest.mark.parametrize(("left", "right"), [(13, 0), (5, 2)])
def test_the_vectors_of_gemma_4_equal_its_mapped_sinusoid(left: int, right: int) -> None:
    from transformers import Gemma4AudioConfig
    from transformers.models.gemma4.modeling_gemma4 import Gemma4AudioRelPositionalEncoding

    config = Gemma4AudioConfig(
        hidden_size=16,
        num_attention_heads=2,
        attention_context_left=left,
        attention_context_right=right,
    )
    sinusoid = (
        Gemma4AudioRelPositionalEncoding(config)
        .double()(torch.zeros(1, dtype=torch.float64))
        .double()
        .numpy()
        .reshape(-1, 16)
    )
    weight = np.random.default_rng(0).normal(size=(16, 16))
    (encoding,) = find(DictFiles(config.to_dict(), {MAP: weight}))
    form = form_of(encoding, RelativeTable)
    assert (encoding.part, form.offsets[0]) == ("audio encoder", 1 - left)
    close(form.vectors, sinusoid @ weight.T)


def test_the_products_of_queries_with_vectors_of_gemma_3n_equal_those_of_its_module() -> None:
    from transformers import Gemma3nAudioConfig
    from transformers.models.gemma3n.modeling_gemma3n import Gemma3nAudioRelativePositionEmbedding

    config = Gemma3nAudioConfig(hidden_size=16, conf_num_attention_heads=2,
    conf_attention_chunk_size=4, conf_attention_context_left=5,
                                conf_attention_context_right=2)  # fmt: skip
    module = Gemma3nAudioRelativePositionEmbedding(config).double()
    queries, keys = (
        torch.randn(1, 1, 4, 2, 8).double(),
        torch.zeros(1, 1, 10, 2, 8).double(),
    )  # A key is four positions before the query with its number.
    # (n_heads, n_queries, n_keys)
    theirs = module(queries, keys)[0, :, 0].detach().double().numpy()
    name = "audio_tower.conformer.0.attention.attn.relative_position_embedding.pos_proj.weight"
    whole = {"model_type": "gemma3n", "audio_config": config.to_dict()}
    (encoding,) = find(DictFiles(whole, {name: module.pos_proj.weight.detach().numpy()}))
    form = form_of(encoding, RelativeTable)
    vectors = form.vectors.reshape(-1, 2, 8)
    for query in range(4):
        ours = np.einsum("hd,nhd->hn", queries[0, 0, query].double().numpy(), vectors)
        close(theirs[:, query, query + 4 + form.offsets.astype(int)], ours)


def test_the_bias_of_the_speech_encoder_of_seamless_equals_that_of_its_attention() -> None:
    from transformers import SeamlessM4TConfig
    from transformers.models.seamless_m4t import modeling_seamless_m4t as seamless

    torch.manual_seed(0)
    config = SeamlessM4TConfig(
        hidden_size=16, speech_encoder_attention_heads=2, max_source_positions=64
    )
    attention = seamless.SeamlessM4TConformerSelfAttention(config).eval()
    torch.nn.init.normal_(attention.pos_bias_v)
    stem = "speech_encoder.encoder.layers.0.self_attn"
    arrays = {f"{stem}.{name}": value for name, value in tiny.arrays(attention).items()}
    (encoding,) = find(DictFiles({"model_type": "seamless_m4t"}, arrays))
    embeds, zeros = (
        seamless.SeamlessM4TConformerRelPositionalEmbedding(config)(torch.zeros(1, N, 16)),
        torch.zeros(1, 2, N, 8),
    )
    assert encoding.part == "speech encoder"
    same(
        encoding,
        as_numbers(seamless._apply_relative_position_encoding(attention, zeros, zeros, embeds)[1])[
            0
        ],
    )
