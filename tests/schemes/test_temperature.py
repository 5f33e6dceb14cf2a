from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from generator.encodings import Temperature
from generator.numerics.arrays import Floats
from generator.schemes.temperature import find
from tests.support import DictFiles, form_of

LLAMA = {"model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": [1, 1, 1, 0],
         "max_position_embeddings": 4096}  # fmt: skip
BETA = {"llama_4_scaling_beta": 0.25, "original_max_position_embeddings": 8}
INKLING = {"model_type": "inkling_text", "num_hidden_layers": 12, "log_scaling_n_floor": 16}


def form(config: dict[str, Any]) -> Temperature:
    (encoding,) = find(DictFiles(config))
    return form_of(encoding, Temperature)


def scaled_queries(n_positions: int, **options: Any) -> Floats:
    """What attention in Llama 4's fourth layer gets, against the same without a temperature."""
    from transformers import Llama4TextConfig
    from transformers.models.llama4 import modeling_llama4 as llama4

    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8,
             "num_hidden_layers": 4}  # fmt: skip
    queries = []

    def attention(_module: Any, query: Any, key: Any, *_: Any, **__: Any) -> Any:
        queries.append(query.detach().double().numpy())
        return key.transpose(1, 2), None

    for tuning in (True, False):
        config = Llama4TextConfig(
            **sizes, no_rope_layers=[1, 1, 1, 0], attn_temperature_tuning=tuning, **options
        )
        torch.manual_seed(0)
        module = llama4.Llama4TextAttention(config, 3)
        llama4.ALL_ATTENTION_FUNCTIONS["test"], config._attn_implementation = attention, "test"
        module(torch.ones(1, n_positions, 16), None, None)
    return np.asarray(queries[0] / queries[1])[0, 0, :, 0]


def test_the_factor_equals_that_of_llama_4() -> None:
    theirs = scaled_queries(64, floor_scale=8, attn_scale=0.25)
    ours = form({**LLAMA, "floor_scale": 8, "attn_scale": 0.25}).factor(np.arange(64.0))
    assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("family", ["ministral3", "mistral4"])
def test_the_factor_equals_that_of_mistral(family: str) -> None:
    from importlib import import_module

    module = import_module(f"transformers.models.{family}.modeling_{family}")
    theirs = module.get_llama_4_attn_scale(torch.arange(64)[None], 0.25, 8)[0, 0, :, 0].numpy()
    ours = form({"model_type": family, "rope_parameters": BETA}).factor(np.arange(64.0))
    assert_allclose(ours, theirs, rtol=1e-6)


def test_the_factor_of_inkling_by_hand() -> None:
    """1 + 0.1 · ln(64 / 16) at position 63."""
    assert_allclose(
        form(INKLING).factor(np.array([0.0, 15.0, 63.0])),
        [1.0, 1.0, 1.0 + 0.1 * np.log(4.0)],
        rtol=1e-12,
    )


def test_settings_that_are_missing_have_the_defaults_of_transformers() -> None:
    from transformers import CONFIG_MAPPING

    theirs = CONFIG_MAPPING["llama4_text"]()
    ours = form({"model_type": "llama4_text", "num_hidden_layers": 48})
    assert (ours.strength, ours.start) == (theirs.attn_scale, theirs.floor_scale)
    assert ours.layers == tuple(
        layer for layer, rotates in enumerate(theirs.no_rope_layers) if not rotates
    )
    for family in ("inkling2_text", "inkling2_loop_text"):
        theirs = CONFIG_MAPPING[family]()
        ours = form({"model_type": family, "num_hidden_layers": theirs.num_hidden_layers})
        assert (ours.strength, ours.start) == (theirs.log_scaling_alpha, theirs.log_scaling_n_floor)
        assert ours.layers == tuple(
            layer for layer, kind in enumerate(theirs.layer_types) if kind == "hybrid"
        )


@pytest.mark.parametrize(("config", "layers"), [
    (LLAMA, (3,)),
    ({"model_type": "llama4", "text_config": {**LLAMA, "attn_temperature_tuning": 4}}, (3,)),
    ({"model_type": "mistral4", "rope_parameters": BETA}, ()),
    (INKLING, (5, 11)),
    ({**INKLING, "local_layer_ids": [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, (1, 11)),
    ({**INKLING, "num_hidden_layers": 2, "layer_types": ["hybrid", "hybrid_sliding"]}, (0,)),
])  # fmt: skip
def test_layers_with_a_factor(config: dict[str, Any], layers: tuple[int, ...]) -> None:
    assert form(config).layers == layers


def test_the_factor_equals_that_of_beam() -> None:
    from transformers.models.beam.modeling_beam import compute_attention_scaling

    theirs = compute_attention_scaling(torch.arange(10_000)[None])[0, 0, :, 0].numpy()
    ours = form({"model_type": "beam", "num_hidden_layers": 12})
    assert_allclose(ours.factor(np.arange(10_000.0)), theirs, rtol=1e-6)
    assert ours.layers == (5, 11)
