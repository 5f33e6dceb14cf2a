import re
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from generator.encodings import Sinks
from generator.encodings.attention import sink_share
from generator.schemes.sink import SINKS, find
from tests.support import DictFiles, close, form_of

NAMES = ("sinks", "learnable_sink_param", "attn_sink", "attention_sink_bias", "softmax_offset")
draws = np.random.default_rng(0)


@pytest.mark.parametrize("name", NAMES)
def test_the_sinks_of_all_layers_are_one_encoding(name: str) -> None:
    logits = draws.normal(size=(2, 3))
    arrays = {
        f"model.layers.{layer}.self_attn.{name}": logits[index]
        for index, layer in enumerate((2, 10))
    }
    (encoding,) = find(DictFiles({"model_type": "gpt_oss"}, arrays))
    assert form_of(encoding, Sinks).layers == (2, 10)
    assert_array_equal(form_of(encoding, Sinks).logits, logits)


@pytest.mark.parametrize("module_name", ["gpt_oss", "granite_swa"])
def test_the_share_is_what_attention_in_transformers_loses(module_name: str) -> None:
    """All logits are 0, and values 1, so that the output is what is left for the keys."""
    from importlib import import_module
    from types import SimpleNamespace

    attention = import_module(
        f"transformers.models.{module_name}.modeling_{module_name}"
    ).eager_attention_forward
    sinks = torch.tensor([-3.0, 0.0, 2.0, 5.0], dtype=torch.float64)
    keys, queries = (torch.full((1, 4, n, 2), float(n > 1), dtype=torch.float64) for n in (7, 1))
    module = SimpleNamespace(num_key_value_groups=1, sinks=sinks, training=False)
    output, _ = attention(module, queries, keys, keys, None, 1.0)
    left = output[0, 0, :, 0].numpy()
    ours = sink_share(sinks.numpy(), np.array(7.0))
    close(ours, 1.0 - left)


def test_every_family_of_transformers_with_learned_sinks_is_known() -> None:
    import transformers

    models = Path(transformers.__file__).parent / "models"
    stored = re.compile(r"self\.sinks = ")
    assert {
        path.parent.name
        for path in models.glob("*/modeling_*.py")
        if stored.search(path.read_text(encoding="utf-8"))
    } == {family.replace("_vl_text", "_vl") for family in SINKS}


@pytest.mark.parametrize("family", sorted(SINKS))
def test_a_published_name_becomes_that_of_transformers(family: str) -> None:
    """The renaming of transformers when it loads a checkpoint, where this family has one."""
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    renamings = get_checkpoint_conversion_mapping(family) or []
    patterns = [pattern for each in renamings for pattern in getattr(each, "source_patterns", ())]
    published = [name for name in NAMES if any(re.search(rf"\b{name}$", each) for each in patterns)]
    assert all(
        find(DictFiles({"model_type": family}, {f"model.layers.0.self_attn.{name}": np.zeros(2)}))
        for name in published or ["sinks"]
    )


def test_layers_with_another_number_of_heads_are_an_encoding_of_their_own() -> None:
    arrays = {
        f"layers.{layer}.self_attn.sinks": np.zeros(n_heads)
        for layer, n_heads in ((0, 2), (1, 4), (2, 2))
    }
    encodings = find(DictFiles({"model_type": "mimo_v2_flash"}, arrays))
    assert [form_of(encoding, Sinks).layers for encoding in encodings] == [(0, 2), (1,)]
    assert len({encoding.record.key for encoding in encodings}) == 2
