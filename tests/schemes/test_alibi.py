import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import OffsetBias
from generator.schemes.alibi import bfloat16, find, slopes
from tests.support import DictFiles, close, form_of

HEADS = [1, 2, 3, 6, 8, 12, 16, 20, 32, 71, 112]
FLOAT32 = 1e-6  # relative: theirs are computed in single precision
ASKING = [
    {"model_type": "bloom", "n_head": 8},
    {"model_type": "falcon", "alibi": True, "num_attention_heads": 8, "hidden_size": 64},
    {"text_config": {"model_type": "bloom", "n_head": 8}},
    {"model_type": "mpt", "attn_config": {"alibi": True}, "n_heads": 8},
]


def bias_of(config: dict[str, object]) -> OffsetBias:
    return form_of(find(DictFiles(config))[0], OffsetBias)


@pytest.mark.parametrize("n_heads", HEADS)
def test_the_bias_equals_that_of_transformers_bloom(n_heads: int) -> None:
    """Theirs shifted by row to 0 at the position of the query, which does not change softmax."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    by_key = build_alibi_tensor(torch.ones(1, 24), n_heads, torch.float64)[:, 0].numpy()
    theirs, visible = by_key[:, None, :] - by_key[:, :, None], np.tril(np.ones((24, 24), bool))
    ours = bias_of({"model_type": "bloom", "n_head": n_heads}).kernel(24)
    assert_allclose(ours[:, visible], theirs[:, visible], rtol=FLOAT32, atol=1e-6)


@pytest.mark.parametrize("config", ASKING)
def test_configs_with_alibi_have_one_bias(config: dict[str, object]) -> None:
    (encoding,) = find(DictFiles(config))
    assert isinstance(encoding.form, OffsetBias)
    form = encoding.form
    assert (form.causal, form.beyond, len(form.values)) == (True, "linear", 8)


@pytest.mark.parametrize("n_heads", HEADS)
@pytest.mark.parametrize("steepest", [8, 4])
def test_the_bias_of_mpt_follows_its_largest_exponent(n_heads: int, steepest: int) -> None:
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    attention = {"alibi": True, "alibi_bias_max": steepest}
    (encoding,) = find(
        DictFiles({"model_type": "mpt", "n_heads": n_heads, "attn_config": attention})
    )
    ours = form_of(encoding, OffsetBias).kernel(24)[:, -1]
    theirs = build_mpt_alibi_tensor(n_heads, 24, steepest)[:, 0].double().numpy()
    assert_allclose(ours, theirs, rtol=FLOAT32)
    assert any("ignores that setting" in note for note in encoding.notes) is (steepest != 8)


def test_bfloat16_equals_that_of_torch() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    theirs = torch.tensor(values).float().bfloat16().double().numpy()
    assert_array_equal(bfloat16(values), theirs)


def test_the_bias_of_falcon_equals_what_reaches_its_softmax() -> None:
    """Input of the default softmax (“eager” adds twice); keys to 256 are exact in bfloat16."""
    from transformers import FalconConfig, FalconModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8}
    model = FalconModel(FalconConfig(**sizes, alibi=True, attn_implementation="sdpa")).eval()
    masks = []
    model.h[0].self_attention.register_forward_pre_hook(
        lambda _module, _args, options: masks.append(options["attention_mask"]), with_kwargs=True
    )
    with torch.no_grad():
        model(torch.arange(24)[None])
    added = masks[0][0].double().numpy()
    ours = bias_of(model.config.to_dict()).kernel(24)
    visible = np.tril(np.ones((24, 24), dtype=bool))
    # The same for all keys of a query, so that softmax does not see it.
    theirs = added - np.diagonal(added, axis1=1, axis2=2)[:, :, None]
    close(ours[:, visible], theirs[:, visible])


@pytest.mark.parametrize("n_heads", [12, 71])
def test_the_slopes_of_falcon_are_rounded_like_the_models(n_heads: int) -> None:
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor

    one_on = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)[:, 0, 1].double().numpy()
    sizes = {"num_attention_heads": n_heads, "hidden_size": 64 * n_heads}
    ours = bias_of({"model_type": "falcon", "alibi": True, **sizes}).kernel(2)[:, 1, 0]
    assert_allclose(-8.0 * ours, one_on, rtol=FLOAT32)


@pytest.mark.parametrize(
    "sign", [{"position_embedding_type": "alibi"}, {"alibi_starting_size": 512}]
)
def test_an_encoder_is_penalised_for_the_distance_to_both_sides(sign: dict[str, object]) -> None:
    """Jina v2 (arXiv 2310.19923, section 3.2), MosaicBERT (arXiv 2312.17482): slope × distance."""
    sizes = {"hidden_size": 64, "num_attention_heads": 8, "vocab_size": 100}
    (encoding,) = find(DictFiles({"model_type": "bert", **sizes, **sign}))
    kernel = form_of(encoding, OffsetBias).kernel(9)
    assert_allclose(kernel[:, 4], -slopes(8)[:, None] * np.abs(np.arange(9) - 4))
    assert (encoding.part, encoding.stack) == ("encoder", "encoder")
