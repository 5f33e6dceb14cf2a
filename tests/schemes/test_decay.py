"""Rates of decay against what the modules of transformers do to their state."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from generator.contracts import ModelConfig
from generator.encodings import Decay
from generator.numerics.arrays import Array, Floats
from generator.schemes.decay import find, lightning, retention
from generator.schemes.decay.families import FROM_WEIGHTS, LIGHTNING, lower_bound
from tests.listening import as_numbers
from tests.support import DictFiles, form_of

FLOAT32 = 2e-4  # relative: the state and its decay are computed in single precision
WIDTH, STEPS = 32, 6  # Steps fill the convolutions before the recurrence with zeros.
HEADS = {"num_heads": 4, "head_dim": 8, "state_size": 8, "n_groups": 1, "expand": 1}
MAMBA_2 = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_n_groups": 1}
DELTA = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
         "linear_value_head_dim": 8}  # fmt: skip
KIMI = {"linear_num_heads": 4, "linear_head_dim": 8}
LINEAR = {"layer_types": ["linear_attention"]}
# Small models whose first layer is recurrent.
MODELS: dict[str, dict[str, Any]] = {
    "mamba": {"state_size": 4, "expand": 2},
    "falcon_mamba": {"state_size": 4, "expand": 2},
    "jamba": {"mamba_d_state": 4, "attn_layer_offset": 1, "attn_layer_period": 2},
    "zamba": {"mamba_d_state": 4, "n_mamba_heads": 2, "layers_block_type": ["mamba"]},
    "mamba2": HEADS,
    "bamba": MAMBA_2,
    "falcon_h1": {**MAMBA_2, "mamba_d_ssm": 64},
    "granitemoehybrid": {**MAMBA_2, "layer_types": ["mamba"]},
    "nemotron_h": {"mamba_num_heads": 4, "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 1,
    "layers_block_type": ["mamba"]},
    "zamba2": {"n_mamba_heads": 4, "mamba_headdim": 16, "mamba_d_state": 8, "mamba_ngroups": 1,
    "layers_block_type": ["mamba"]},
    "qwen3_next": {**DELTA, **LINEAR},
    "qwen3_5_text": {**DELTA, **LINEAR},
    "qwen3_5_moe_text": {**DELTA, **LINEAR},
    "olmo_hybrid": {**DELTA, "layer_types": ["linear_attention", "full_attention"]},
    "kimi_linear": {**KIMI, **LINEAR},
    "bailing_hybrid": {"head_dim": 8, **LINEAR},
}  # fmt: skip


def small(model_type: str, **options: Any) -> Any:
    """One or two layers of random weights; convolutions without biases, so zeros stay zeros."""
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    layers = options.get("layer_types") or options.get("layers_block_type") or [""]
    settings = {
        **dict.fromkeys(("hidden_size", "intermediate_size"), WIDTH),
        **dict.fromkeys(("num_attention_heads", "num_key_value_heads"), 4),
        "vocab_size": 16,
        **options,
        "num_hidden_layers": len(layers),
        "pad_token_id": 0,
    }
    model = AutoModel.from_config(CONFIG_MAPPING[model_type](**settings)).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if re.search(r"conv1d?\.bias$", name):
                parameter.zero_()
            elif re.search(r"(A_log|dt_bias|dt_proj\.bias|dt_proj_bias)$", name):
                parameter.copy_(torch.randn_like(parameter) - 2.0)
    return model


def measured(mixer: Any, config: Any) -> Floats:
    """−ln of the state after a zero input relative to before, where large enough; NaN elsewhere."""
    from transformers import DynamicCache

    cache = DynamicCache(config=config)
    steps = torch.zeros(1, STEPS, WIDTH)
    steps[:, 0] = torch.randn(WIDTH) * 3.0
    states = []
    with torch.no_grad():
        for inputs in (steps, torch.zeros(1, 1, WIDTH)):
            mixer(inputs, cache)
            states.append(cache.layers[0].recurrent_states[0].double().numpy().copy())
    before, after = np.asarray(states)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(np.abs(before) > 1e-12, -np.log(after / before), np.nan))


def mixer_of(model: Any) -> Any:
    """The recurrent module of the first layer."""
    names = [
        name
        for name, module in model.named_modules()
        if hasattr(module, "conv1d") or hasattr(module, "q_conv1d")
    ]
    return model.get_submodule(names[0])


def rates_of(config: Any, arrays: dict[str, Array]) -> Floats:
    """Rates of the first layer: (n_rates,)."""
    (encoding,) = find(DictFiles(config.to_dict(), arrays))
    return np.asarray(form_of(encoding, Decay).rates[0])


def arrays_of(module: Any, prefix: str = "") -> dict[str, Array]:
    return {prefix + name: weight.detach().numpy() for name, weight in module.named_parameters()}


def repeated(rates: Floats, states: Floats) -> Floats:
    """Rates (n_rates,), one for each index along the first axes of ``states`` (1, …)."""
    leading = next(n for n in range(states.ndim + 1) if np.prod(states.shape[:n]) == rates.size)
    shape = states.shape[:leading] + (1,) * (states.ndim - leading)
    return np.asarray(np.broadcast_to(rates.reshape(shape), states.shape))


@pytest.mark.parametrize("model_type", MODELS)
def test_the_state_of_a_layer_decays_at_the_rates_of_its_weights(model_type: str) -> None:
    model = small(model_type, **MODELS[model_type])
    states = measured(mixer_of(model), model.config)
    assert_allclose(
        states, repeated(rates_of(model.config, arrays_of(model)), states), rtol=FLOAT32, atol=1e-6
    )


@pytest.mark.parametrize("bound", [-5.0, None])
def test_the_gate_of_glm_5_next_gives_the_log_of_what_is_left(bound: float | None) -> None:
    from transformers.models.glm5_next.configuration_glm5_next import Glm5NextTextConfig
    from transformers.models.glm5_next.modeling_glm5_next import Glm5NextTextForgetGate

    torch.manual_seed(0)
    sizes = {"hidden_size": WIDTH, **KIMI, "num_hidden_layers": 2}
    config = Glm5NextTextConfig(**sizes, linear_lower_bound=bound)
    gate = Glm5NextTextForgetGate(config)
    torch.nn.init.normal_(gate.A_log)
    torch.nn.init.normal_(gate.dt_bias)
    rates = rates_of(config, arrays_of(gate, "layers.0.self_attn.forget_gate."))
    assert_allclose(rates, -as_numbers(gate(torch.zeros(1, 1, WIDTH))).ravel(), rtol=1e-5)


def test_the_settings_of_a_published_glm_5_next_are_those_of_its_config_class() -> None:
    from transformers.models.glm5_next.configuration_glm5_next import Glm5NextTextConfig

    for inner in (
        {},
        {"gate_lower_bound": -3.0},
        {"gate_lower_bound": None},
        {"gate_lower_bound": None, "safe_gate": False},
    ):
        theirs = Glm5NextTextConfig(linear_attn_config=inner, num_hidden_layers=2)
        ours = {"model_type": "glm5_next_text", "linear_attn_config": inner}
        assert lower_bound(ModelConfig(ours, "test")) == theirs.linear_lower_bound


def test_the_channels_of_rwkv_decay_at_the_rates_that_are_read() -> None:
    """Its value at zero input is 0, so that what is left of the numerator is the decay."""
    from transformers.models.rwkv.modeling_rwkv import RwkvConfig, rwkv_linear_attention_cpu

    decay, state = torch.randn(8), [torch.randn(1, 8), torch.rand(1, 8), torch.zeros(1, 8)]
    zeros = torch.zeros(1, 1, 8)
    _, (sums, _, largest) = rwkv_linear_attention_cpu(
        decay, torch.zeros(8), zeros, zeros, [part.clone() for part in state], True
    )
    left = (sums * torch.exp(largest) / state[0])[0].double().numpy()
    rates = rates_of(
        RwkvConfig(num_hidden_layers=1), {"rwkv.blocks.0.attention.time_decay": decay.numpy()}
    )
    assert_allclose(rates, -np.log(left), rtol=1e-4)


def test_the_units_of_recurrent_gemma_decay_at_the_rates_that_are_read() -> None:
    from transformers import RecurrentGemmaConfig
    from transformers.models.recurrent_gemma.modeling_recurrent_gemma import RecurrentGemmaRglru

    torch.manual_seed(0)
    config = RecurrentGemmaConfig(
        lru_width=16, num_attention_heads=4, hidden_size=16, num_hidden_layers=1
    )
    unit = RecurrentGemmaRglru(config)
    for parameter in unit.parameters():
        torch.nn.init.normal_(parameter)
    unit.recurrent_states = before = torch.randn(1, 16)
    unit(torch.zeros(1, 1, 16), torch.ones(1, 1, dtype=torch.long))
    left = (unit.recurrent_states / before).detach().double().numpy()[0]
    assert_allclose(
        rates_of(config, arrays_of(unit, "layers.0.temporal_block.rg_lru.")),
        -np.log(left),
        rtol=1e-3,
    )


@pytest.mark.parametrize("weight_mode", ["single", "fused"])
def test_the_heads_of_xlstm_decay_at_the_rates_that_are_read(weight_mode: str) -> None:
    """Its state is stored relative to e^m."""
    from transformers import xLSTMConfig
    from transformers.models.xlstm.modeling_xlstm import xLSTMBlock

    torch.manual_seed(0)
    sizes = {"hidden_size": WIDTH, "num_heads": 4, "num_hidden_layers": 1, "num_blocks": 1}
    config = xLSTMConfig(**sizes, weight_mode=weight_mode, mode="inference")
    layer = xLSTMBlock(config).mlstm_layer.eval()
    bias = (layer.fgate_preact if weight_mode == "single" else layer.ifgate_preact).bias
    torch.nn.init.normal_(bias, std=5.0)
    with torch.no_grad():
        _, before = layer(torch.randn(1, 1, WIDTH))
        _, after = layer(torch.zeros(1, 1, WIDTH), before)
        (ours, _, scale), (theirs, _, former) = after, before
    left = (ours * torch.exp(scale)[..., None]) / (theirs * torch.exp(former)[..., None])
    left = left.double().numpy()[0]
    rates = rates_of(config, arrays_of(layer, "backbone.blocks.0.mlstm_layer."))
    assert_allclose(
        -np.log(left), np.broadcast_to(rates[:, None, None], left.shape), rtol=1e-3, atol=1e-5
    )


@pytest.mark.parametrize("n_heads", [4, 6])
def test_the_heads_of_minimax_decay_at_the_rates_of_its_rule(n_heads: int) -> None:
    from transformers import MiniMaxConfig
    from transformers.models.minimax.modeling_minimax import MiniMaxCache, MiniMaxLightningAttention

    types = ["linear_attention", "full_attention", "linear_attention"]
    config = MiniMaxConfig(
        hidden_size=n_heads * 8, num_attention_heads=n_heads, num_hidden_layers=3, layer_types=types
    )
    form = form_of(find(DictFiles(config.to_dict()))[0], Decay)
    assert form.layers == (0, 2)
    for layer, rates in zip(form.layers, form.rates, strict=True):
        module = MiniMaxLightningAttention(config, layer)
        assert_allclose(rates, module.slope_rate.ravel().numpy(), rtol=1e-5)
    cache, first = MiniMaxCache(), MiniMaxLightningAttention(config, 0).eval()
    with torch.no_grad():
        first(torch.randn(1, 1, n_heads * 8), None, None, cache)
        before = cache.get_linear_cache(0).clone()
        first(torch.zeros(1, 1, n_heads * 8), None, None, cache)
    left = (cache.get_linear_cache(0) / before).double().numpy()[0]
    assert_allclose(
        -np.log(left), np.broadcast_to(form.rates[0][:, None, None], left.shape), rtol=1e-3
    )


def test_every_family_of_transformers_with_such_weights_is_known() -> None:
    """By the names of parameters in its code."""
    import transformers

    models = Path(transformers.__file__).parent / "models"
    stored = re.compile(r"self\.(A_log|time_decay|recurrent_param|fgate_preact) =")
    codes = {
        each.parent.name: each.read_text(encoding="utf-8")
        for each in models.glob("*/modeling_*.py")
    }
    assert {family for family, code in codes.items() if stored.search(code)} <= FROM_WEIGHTS
    assert {family for family, code in codes.items() if "def get_slope_rate" in code} <= LIGHTNING


def test_published_rates() -> None:
    """Sun et al. 2023, section 2.2: γ = 1 − 2^(−5 − arange(0, h))."""
    assert_allclose(np.exp(-retention(3)), [31 / 32, 63 / 64, 127 / 128], rtol=1e-12)
    form = form_of(
        find(DictFiles({"model_type": "retnet", "num_heads": 3, "num_hidden_layers": 2}))[0], Decay
    )
    assert_array_equal(form.rates, [retention(3)] * 2)
    # Press et al. 2022, section 3: 1/2, 1/4 … 1/256 for 8 heads.
    assert_allclose(lightning(8, 0, 32), 2.0 ** -np.arange(1, 9), rtol=1.01e-5)


SIZES = {"num_attention_heads": 2, "num_hidden_layers": 4}


@pytest.mark.parametrize(("config", "layers"), [
    ({"model_type": "minimax_m1", "attn_type_list": [0, 0, 1, 0]}, (0, 1, 3)),
    ({"model_type": "minimax"}, (1, 3)),
    ({"model_type": "minimax", "layer_types": ["full_attention", "linear_attention"] * 2}, (1, 3)),
])  # fmt: skip
def test_layers_of_lightning_attention(config: dict[str, Any], layers: tuple[int, ...]) -> None:
    assert form_of(find(DictFiles({**SIZES, **config}))[0], Decay).layers == layers


MAMBA_2_LAYERS = {
    f"backbone.layers.{layer}.mixer.{name}": np.zeros(3)
    for layer in (2, 10)
    for name in ("A_log", "dt_bias")
}


@pytest.mark.parametrize("config", [
    {"model_type": "mamba2"},
    {"ssm_cfg": {"layer": "Mamba2"}},
    {"text_config": {"model_type": "qwen3_5_text"}},
])  # fmt: skip
def test_layers_are_known_by_number(config: dict[str, Any]) -> None:
    """softplus(0) = ln 2, so that half is left after each position."""
    (encoding,) = find(DictFiles(config, MAMBA_2_LAYERS))
    form = form_of(encoding, Decay)
    assert (form.layers, form.unit, form.n_units, form.at_zero_input) == ((2, 10), "head", 3, True)
    assert_allclose(form.rates, np.log(2.0), rtol=1e-12)
    assert encoding.provenance.tensor == "backbone.layers.2.mixer.A_log"


@pytest.mark.parametrize(("config", "expected"), [
    ({"model_type": "mamba2", "time_step_limit": [0.75, float("inf")]}, 0.75),
    ({"model_type": "bamba", "time_step_limit": [0.0, 0.5]}, 0.5),
    ({"model_type": "nemotron_h", "time_step_min": 1.0}, 1.0),
    ({"model_type": "nemotron_h", "time_step_min": 1.0, "mamba_dt_min": 2.0}, 2.0),
    ({"model_type": "zamba2"}, np.log(2.0)),
    ({"model_type": "qwen3_next", "time_step_min": 1.0}, np.log(2.0)),
])  # fmt: skip
def test_steps_are_limited_where_the_model_has_a_limit(config: Any, expected: float) -> None:
    (encoding,) = find(DictFiles(config, MAMBA_2_LAYERS))
    assert_allclose(form_of(encoding, Decay).rates, expected, rtol=1e-12)
    assert any("limited" in note for note in encoding.notes) == (expected != np.log(2.0))


def test_steps_are_limited_like_those_of_mamba_2_in_transformers() -> None:
    """Of a text at once: after its first token, the state of the last decays by the limit."""
    from transformers import DynamicCache

    model = small("mamba2", **HEADS, time_step_limit=(0.5, 0.75))
    left = []
    for n_tokens in (STEPS, STEPS + 1):
        cache, inputs = DynamicCache(config=model.config), torch.zeros(1, n_tokens, WIDTH)
        inputs[:, 0] = 1.0
        with torch.no_grad():
            mixer_of(model)(inputs, cache)
        # Single numbers may be rounding errors alone.
        left.append(cache.layers[0].recurrent_states[0].double().norm(dim=(-2, -1)).numpy())
    states = -np.log(left[1] / left[0])
    assert_allclose(
        states, repeated(rates_of(model.config, arrays_of(model)), states), rtol=FLOAT32, atol=1e-6
    )


def test_rates_of_another_number_have_an_encoding_of_their_own() -> None:
    arrays = {
        **MAMBA_2_LAYERS,
        **{f"backbone.layers.4.mixer.{name}": np.zeros(5) for name in ("A_log", "dt_bias")},
    }
    encodings = find(DictFiles({"model_type": "mamba2"}, arrays))
    assert sorted(form_of(encoding, Decay).layers for encoding in encodings) == [(2, 10), (4,)]
    assert len({encoding.record.key for encoding in encodings}) == 2


@pytest.mark.parametrize(("family", "told"), [("jamba", True), ("bamba", False), ("zamba2", True)])
def test_a_note_says_which_layers_decay_and_what_tells_the_others(family: str, told: bool) -> None:
    (encoding,) = find(DictFiles({"model_type": family, "num_hidden_layers": 12}, MAMBA_2_LAYERS))
    assert any(
        "2 of 12 layers have a decaying state: 2, 10." in note
        and ("have no position encoding" in note) is told
        for note in encoding.notes
    )
