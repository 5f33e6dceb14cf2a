from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.schemes.shaw import find
from tests.listening import SPEECH, as_numbers, by_pair, made, read
from tests.support import DictFiles, close

PE_K = "encoder.wrapped_encoder.embed_positions.pe_k.weight"
N = 24  # Farther than the limits below.


def test_products_with_vectors_of_wav2vec2_bert_equal_those_in_its_attention(tmp_path: Any) -> None:
    limits = {"left_max_position_embeddings": 6, "right_max_position_embeddings": 2}
    options = {"feature_projection_input_dim": 4, "attn_implementation": "eager"}
    kind = {"position_embeddings_type": "relative_key"}
    model = made("Wav2Vec2BertModel", **SPEECH, **limits, **options, **kind)
    attention, zero = model.encoder.layers[1].self_attn, torch.nn.init.zeros_
    zero(attention.linear_k.weight), zero(attention.linear_k.bias)
    hidden = torch.randn(1, N, 16)
    weights = attention(hidden, output_attentions=True)[1][0]
    query = attention.linear_q(hidden).view(N, 2, 8).detach().double().numpy()
    encodings = read(find, model, tmp_path)
    assert list(encodings) == ["encoder layer 0", "encoder layer 1"]
    logits = np.einsum("qhd,qkd->hqk", query, by_pair(encodings["encoder layer 1"], N)) / 8**0.5
    close(weights, torch.tensor(logits).softmax(dim=-1))


def test_the_vectors_of_speecht5_equal_those_of_its_module() -> None:
    from transformers.models.speecht5.modeling_speecht5 import SpeechT5RelativePositionalEncoding

    module = SpeechT5RelativePositionalEncoding(4, 10)
    weight = module.pe_k.weight.detach().numpy()
    (encoding,) = find(DictFiles(arrays={PE_K: weight}))
    close(by_pair(encoding, N), module(torch.zeros(1, N, 4)))


@pytest.mark.parametrize(("other", "modality"), [
    ("encoder.prenet.pos_conv_embed.conv.weight", "audio"),
    ("encoder.prenet.embed_tokens.weight", "text"),
])  # fmt: skip
def test_the_encoder_of_speecht5_with_a_convolution_is_of_sound(other: str, modality: str) -> None:
    arrays = {PE_K: np.ones((20, 4)), other: np.ones((4, 1, 3))}
    (encoding,) = find(DictFiles(arrays=arrays))
    assert encoding.modality == modality


@pytest.mark.parametrize("n_positions", [3, N])
def test_products_with_vectors_of_vits_equal_those_in_its_attention(n_positions: int) -> None:
    from transformers import VitsConfig
    from transformers.models.vits.modeling_vits import VitsAttention

    torch.manual_seed(0)
    attention = VitsAttention(
        VitsConfig(hidden_size=16, num_attention_heads=2, window_size=4)
    ).eval()
    name = "text_encoder.encoder.layers.0.attention.emb_rel_"
    arrays = {f"{name}k": attention.emb_rel_k.detach().numpy(),
              f"{name}v": attention.emb_rel_v.detach().numpy()}  # fmt: skip
    keys, values = find(DictFiles(arrays=arrays))
    assert (keys.part, values.part) == ("encoder keys", "encoder values")
    query = torch.randn(2, n_positions, 8)
    vectors = attention._get_relative_embeddings(attention.emb_rel_k, n_positions)
    theirs = attention._relative_position_to_absolute_position(query @ vectors.transpose(-2, -1))
    ours = np.einsum("hqd,qkd->hqk", query.double().numpy(), by_pair(keys, n_positions))
    close(ours, theirs)


def test_the_vectors_of_granite_speech_equal_those_of_its_encoder() -> None:
    from transformers.models.granite_speech.modeling_granite_speech import (
        GraniteSpeechCTCEncoder,
        GraniteSpeechEncoderConfig,
    )

    sizes = {"hidden_dim": 16, "num_layers": 1, "num_heads": 2, "dim_head": 8, "input_dim": 4,
             "output_dim": 4, "context_size": 10, "max_pos_emb": 16}  # fmt: skip
    encoder = GraniteSpeechCTCEncoder(GraniteSpeechEncoderConfig(**sizes))
    table = encoder.layers[0].attn.rel_pos_emb
    name = "encoder.layers.0.attn.rel_pos_emb.weight"
    (encoding,) = find(DictFiles({"encoder_config": sizes}, {name: table.weight.detach().numpy()}))
    close(by_pair(encoding, 10), table(encoder.attention_dists))


@pytest.mark.parametrize(
    ("embedding_type", "words"),
    [("relative_key", "Queries are"), ("relative_key_query", "Queries and keys are")],
)
def test_the_rows_of_bert_are_by_query_minus_key(embedding_type: str, words: str) -> None:
    """As in its former code: query position − key position + max_position_embeddings − 1."""
    table = np.arange(7.0)[:, None] * np.ones(4)
    (encoding,) = find(
        DictFiles(
            {"position_embedding_type": embedding_type},
            {"encoder.layer.0.attention.self.distance_embedding.weight": table},
        )
    )
    position = np.arange(4)
    assert_array_equal(by_pair(encoding, 4)[:, :, 0], position[:, None] - position[None] + 3)
    assert encoding.notes[0].startswith(words)


@pytest.mark.parametrize("name", ["rel_logits_proj", "relative_position_bias"])
def test_the_vectors_of_inkling_equal_those_of_its_module_by_distance(name: str) -> None:
    from transformers.models.inkling.modeling_inkling import InklingRelativeLogits

    module = InklingRelativeLogits(4, 9).double()
    torch.nn.init.normal_(module.proj)
    position, states = torch.arange(N), torch.randn(1, N, 2, 4, dtype=torch.float64)
    theirs = as_numbers(module(states, position, position)[0])
    (encoding,) = find(
        DictFiles(arrays={f"layers.0.self_attn.{name}.proj": module.proj.detach().numpy()})
    )
    ours = np.einsum("qhd,qkd->hqk", as_numbers(states[0]), by_pair(encoding, N))
    close(np.tril(ours), theirs, 1e-12)
    assert encoding.part == "decoder"


def test_products_of_hidden_states_with_vectors_of_prophetnet_are_those_in_its_attention() -> None:
    from transformers import ProphetNetConfig
    from transformers.models.prophetnet.modeling_prophetnet import (
        ProphetNetNgramSelfAttention,
        compute_relative_buckets,
    )

    config = ProphetNetConfig(
        hidden_size=16, num_decoder_attention_heads=2, num_buckets=8, relative_max_distance=12
    )
    attention, position = ProphetNetNgramSelfAttention(config).double(), torch.arange(N)
    hidden = torch.randn(1, N, 16, dtype=torch.float64)
    linear = attention.relative_pos_embeddings
    torch.nn.init.zeros_(linear.bias)
    row_buckets = compute_relative_buckets(8, 12, position[None] - position[:, None])[None].long()
    theirs = as_numbers(
        attention.get_main_relative_pos_embeddings(
            hidden, torch.zeros(1, 2, N, N), position[None], row_buckets
        )[0]
    )
    name = "decoder.layers.0.self_attn.relative_pos_embeddings.weight"
    (encoding,) = find(DictFiles(config.to_dict(), {name: linear.weight.detach().numpy()}))
    vectors = by_pair(encoding, N).reshape(N, N, 2, 16)
    ours = np.einsum("qd,qkhd->hqk", as_numbers(hidden[0]), vectors)
    close(np.tril(ours), np.tril(theirs), 1e-12)
