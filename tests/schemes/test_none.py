from typing import Any

import numpy as np
import pytest
import torch

from generator.checkpoints.model.engines_families import ENGINES
from generator.checkpoints.model.families import MIXED, RECURRENT, UNLESS
from generator.contracts import Scheme, discovery
from generator.encodings import NoEncoding
from generator.schemes.none import find
from tests.support import DictFiles, form_of

FAMILIES = sorted(RECURRENT | MIXED | set(UNLESS))
IN_TRANSFORMERS = [family for family in FAMILIES if family not in ENGINES]


def test_a_family_without_encoding_has_an_empty_one_and_nothing_with_weights() -> None:
    for family in FAMILIES:
        config = {"model_type": family}
        (encoding,) = find(DictFiles(config))
        assert form_of(encoding, NoEncoding).why in encoding.notes[0]
        assert "were not read because this entry has none" in encoding.notes[1]
        assert find(DictFiles(config, {"layers.0.A_log": np.zeros(2)})) == []


@pytest.mark.parametrize("family", IN_TRANSFORMERS)
def test_the_model_of_transformers_has_no_module_for_positions(family: str) -> None:
    from transformers import CONFIG_MAPPING, AutoModel

    config = CONFIG_MAPPING[family]()
    for key in ("num_hidden_layers", "num_blocks"):
        if isinstance(getattr(config, key, None), int) and family in RECURRENT:
            setattr(config, key, 1)
    with torch.device("meta"):
        model = AutoModel.from_config(config)
    kinds = {type(module).__name__ for module in model.modules()}
    assert not [
        kind
        for kind in kinds
        if any(word in kind for word in ("Rotary", "Position", "Rope", "Alibi"))
    ]
    assert not [name for name in model.state_dict() if "pos" in name.replace("post", "")]


def test_attention_in_jamba_ignores_the_order_of_earlier_tokens() -> None:
    """The output of the last query does not depend on the order of the keys."""
    from transformers import JambaConfig
    from transformers.models.jamba.modeling_jamba import JambaAttention

    torch.manual_seed(0)
    config = JambaConfig(
        hidden_size=16, num_attention_heads=2, num_key_value_heads=2, attn_implementation="eager"
    )
    attention, hidden = JambaAttention(config, 0).eval(), torch.randn(1, 6, 16)
    swapped = hidden[:, [3, 0, 4, 2, 1, 5]]
    last = [attention(inputs, attention_mask=None)[0][0, -1] for inputs in (hidden, swapped)]
    torch.testing.assert_close(last[0], last[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("arrays", [{}, {"embed_tokens.weight": np.zeros((2, 2))}])
def test_a_hybrid_without_recurrent_layers_has_only_its_causal_mask(arrays: dict[str, Any]) -> None:
    (encoding,) = find(
        DictFiles(
            {"model_type": "granitemoehybrid", "layer_types": ["attention", "attention"]}, arrays
        )
    )
    assert "causal mask" in form_of(encoding, NoEncoding).why


@pytest.mark.parametrize(
    "layer_types", [["mamba", "attention"], ["linear_attention", "full_attention"]]
)
def test_a_hybrid_with_recurrent_layers_has_more_than_a_mask(layer_types: list[str]) -> None:
    (encoding,) = find(DictFiles({"model_type": "kimi_linear", "layer_types": layer_types}))
    assert "between attention layers, recurrent ones" in form_of(encoding, NoEncoding).why


@pytest.mark.parametrize("family", IN_TRANSFORMERS)
def test_no_other_scheme_recognises_a_family_without_encoding(family: str) -> None:
    from transformers import CONFIG_MAPPING

    import generator.schemes

    files = DictFiles(CONFIG_MAPPING[family]().to_dict())
    claimed = [
        encoding.scheme
        for scheme in discovery.load(generator.schemes, Scheme)
        for encoding in scheme.find(files)
    ]
    assert len(claimed) == 1
