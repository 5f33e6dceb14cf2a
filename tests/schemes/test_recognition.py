"""What each scheme recognises by names, shapes and settings: what does not fit ends the row with a
sentence, what is another's gives nothing, and notes say how an encoding was read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from generator import schemes
from generator.contracts import Encoding, Scheme, discovery
from generator.encodings import Form
from generator.errors import RowError
from tests.support import DictFiles, found_by

SCHEMES = {scheme.key: scheme for scheme in discovery.load(schemes, Scheme)}
Shapes = Mapping[str, tuple[int, ...]]
Case = tuple[str, dict[str, Any], Shapes]  # key of a scheme, config.json, tensors by shape

AXES = [f"position_embeddings.weights.{axis}" for axis in (0, 1)]
CONV = "encoder.pos_conv_embed.conv."
REL = "encoder.rel_embeddings.weight"
T5 = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
DISTANCE = "layer.0.attention.self.distance_embedding.weight"
SIDES = {"left_max_position_embeddings": 5, "right_max_position_embeddings": 2}
GEMMA = {"model_type": "gemma4_audio"}
K_PROJ = "layers.0.self_attn.relative_k_proj.weight"
XL = ("layers.0.self_attn.bias_v", K_PROJ)
WINDOW = "layers.0.attention.relative_position_bias_table"
MLP = "layers.0.blocks.0.attention.self.continuous_position_bias_mlp."
NETWORK: Shapes = {f"{MLP}0.weight": (5, 2), f"{MLP}0.bias": (5,), f"{MLP}2.weight": (2, 5)}
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2,
         "max_position_embeddings": 256}  # fmt: skip
DINO = {"model_type": "dinov3_vit", "patch_size": 8, "image_size": 32, "hidden_size": 64,
        "num_attention_heads": 2}  # fmt: skip
MEMORY = {"model_type": "sam2_video", "memory_attention_hidden_size": 64}
SINUSOID = {"position_embedding_type": "sinusoidal", "max_position_embeddings": 24,
            "hidden_size": 8}  # fmt: skip
FUN_ASR = {"model_type": "fun_asr_nano_encoder", "num_mel_bins": 4, "num_stacked_frames": 3,
           "max_position_embeddings": 24}  # fmt: skip
CLIP = {"model_type": "videomae", "image_size": 32, "patch_size": 8, "hidden_size": 16,
        "num_frames": 4, "tubelet_size": 2}  # fmt: skip
HEADS = {"num_attention_heads": 2, "num_hidden_layers": 4}
LLAMA_4 = {"model_type": "llama4_text", "num_hidden_layers": 2, "no_rope_layers": [1, 0]}
BETA = {"llama_4_scaling_beta": 0.25, "original_max_position_embeddings": 8}
DETR = {"model_type": "rt_detr"}
MAMBA_2 = {"model_type": "mamba2"}


def of_layer(**shapes: tuple[int, ...]) -> Shapes:
    return {f"layers.0.mixer.{name}": shape for name, shape in shapes.items()}


def misfits() -> Iterator[Case]:
    """Sizes and shapes that contradict each other, or that are none."""
    for key, base, wrong in SETTINGS:
        yield from ((key, {**base, **setting}, {}) for setting in wrong)
    for key, config, name, shapes in TENSORS:
        yield from ((key, config, {name: shape}) for shape in shapes)
    yield from OTHERS


SETTINGS: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    ("alibi", {"model_type": "bloom"}, [{"n_head": 0}, {"n_head": "8"}, {"n_head": 2**20}]),
    ("decay", {"model_type": "minimax"}, [{**HEADS, "num_attention_heads": 2**20}]),
    ("decay", {"model_type": "retnet"}, [{**HEADS, "num_hidden_layers": -1}]),
    ("temperature", LLAMA_4, [{"floor_scale": 0}, {"attn_scale": "8"}]),
    ("rotary", LLAMA, [
        {"rope_theta": 0}, {"rope_theta": "10000"}, {"rope_theta": True},
        {"rope_theta": float("nan")},
        {"num_attention_heads": None}, {"num_attention_heads": 128}, {"hidden_size": None},
        {"head_dim": 2**31}, {"qk_rope_head_dim": "x"}, {"max_position_embeddings": 1e12},
        {"rope_parameters": {"full_attention": {"rope_theta": "x"},
                             "sliding_attention": {"rope_theta": 1e4}}},
    ]),
    ("rotary", {**LLAMA, "model_type": "nobody", "rope_theta": 1e4}, [
        {"rotary_dim": 1}, {"rotary_dim": 34}, {"rotary_dim": "all"}, {"rotary_pct": 2.0},
        {"rotary_pct": 0.01}, {"partial_rotary_factor": "half"},
    ]),
    ("rotary_2d", DINO, [
        {"hidden_size": "x"}, {"num_attention_heads": 0, "num_heads": 0}, {"head_dim": 2},
        {"head_dim": 10**9}, {"rope_theta": -1},
    ]),
    ("rotary_2d", MEMORY, [
        {"memory_attention_hidden_size": 2}, {"memory_attention_rope_feat_sizes": [0, "x"]},
        {"memory_attention_downsample_rate": 0},
    ]),
    ("rotary_2d", {"patch_size": 8}, [
        {"model_type": "sam3_vit_model", "window_size": "x"},
        {"model_type": "vjepa2", "crop_size": -1},
        {"model_type": "vjepa2", "pred_hidden_size": 12},
        {"model_type": "minimax_m3_vl_vision", "head_dim": 5},
        {"model_type": "efficientloftr", "hidden_size": 1},
    ]),
    ("sinusoidal", SINUSOID, [
        {"max_position_embeddings": None}, {"max_position_embeddings": "x"},
        {"max_position_embeddings": 2**31}, {"hidden_size": 0},
    ]),
    ("sinusoidal", FUN_ASR, [
        {"num_mel_bins": 0}, {"num_stacked_frames": "x"}, {"max_position_embeddings": 1},
    ]),
    ("sinusoidal", CLIP, [
        {"image_size": None}, {"num_frames": 1}, {"tubelet_size": "x"}, {"num_frames": 2**30},
    ]),
    ("sinusoidal", DETR, [
        {"encoder_hidden_dim": 18}, {"encoder_hidden_dim": "x"}, {"encode_proj_layers": [7]},
        {"feat_strides": ["x"], "encode_proj_layers": [0]}, {"encode_proj_layers": ["x"]},
        {"positional_encoding_temperature": -1}, {"anchor_image_size": [2**30, 2**30]},
    ]),
]  # fmt: skip
TENSORS: list[tuple[str, dict[str, Any], str, list[tuple[int, ...]]]] = [
    ("convolution", {}, f"{CONV}weight", [(4, 2), (0, 2, 3), (2**18, 2**10, 1)]),
    ("deberta", {}, REL, [(10, 4)]),
    ("deberta", {"max_relative_positions": 5}, REL, [(10,), (12, 4)]),
    ("deberta", {"max_relative_positions": 5, "norm_rel_ebd": "layer_norm"}, REL, [(10, 4)]),
    ("deberta", {"max_relative_positions": 10**6}, REL, [(2 * 10**6, 1)]),
    ("deberta", {"position_buckets": 2, "max_relative_positions": 20}, REL, [(4, 4)]),
    ("deberta", {"position_buckets": 10, "max_relative_positions": 6}, REL, [(20, 4)]),
    ("deberta", {"max_position_embeddings": "x"}, REL, [(10, 4)]),
    ("decomposed", {}, "layers.0.attn.rel_pos_w", [(), (3,), (4, 2), (3, 0), (3, 2, 2)]),
    ("layout", {}, "x_position_embeddings.weight", [(4,), (2, 2, 2), (0, 4)]),
    ("learned", {"model_type": "roberta", "pad_token_id": 5}, "wpe.weight", [(6, 4)]),
    ("learned", {"model_type": "roberta", "pad_token_id": -2}, "wpe.weight", [(6, 4)]),
    ("learned", {"max_position_embeddings": "x"}, "wpe.weight", [(6, 4)]),
    ("learned", {}, "gated_positional_embedding.embedding", [(17, 8)]),
    ("sink", {"model_type": "gpt_oss"}, "layers.0.sinks", [(2, 2), (0,)]),
    ("sink", {"model_type": "gpt_oss"}, "layers.99999999999.sinks", [(2,)]),
    ("sinusoidal", {"hidden_size": 8}, "encoder.prenet.encode_positions.alpha", [(3,)]),
    ("shaw", {}, DISTANCE, [(10, 4), (9,), (10**5 + 1, 1)]),
    ("shaw", SIDES, "encoder.self_attn.distance_embedding.weight", [(9, 4)]),
    ("shaw", {}, "encoder.pe_k.weight", [(9, 4)]),
    ("shaw", {}, "encoder.emb_rel_k", [(2, 9, 4)]),
    ("shaw", {}, "encoder.rel_pos_emb.weight", [(10, 4), (1, 4)]),
    ("shaw", {}, "layers.0.self_attn.relative_pos_embeddings.weight", [(33, 4)]),
    ("shaw", {}, "layers.0.rel_logits_proj.proj", [(4,)]),
    ("t5_bias", {}, T5, [(32,), (32, 2, 2), (31, 2)]),
    ("t5_bias", {"relative_attention_num_buckets": 3}, T5, [(3, 2)]),
    ("t5_bias", {"relative_attention_num_buckets": "x"}, T5, [(32, 2)]),
    ("t5_bias", {"relative_attention_max_distance": 8}, T5, [(32, 2)]),
    ("t5_bias", {"relative_attention_max_distance": 10**9}, T5, [(32, 2)]),
    ("transformer_xl", GEMMA, K_PROJ, [(4, 3)]),
    ("transformer_xl", {**GEMMA, "attention_context_left": "x"}, K_PROJ, [(4, 4)]),
    ("transformer_xl", {**GEMMA, "attention_chunk_size": -1}, K_PROJ, [(4, 4)]),
    ("transformer_xl", {**GEMMA, "attention_context_right": 10**9}, K_PROJ, [(4, 4)]),
    ("window_bias", {}, WINDOW, [(10, 1), (9,), (9, 0), (0, 2)]),
    ("window_bias", {"window_size": 2}, WINDOW, [(16, 1)]),
    ("window_bias", {}, "attention_biases", [(2, 5), (4,), (2, 0)]),
]  # fmt: skip
OTHERS: list[Case] = [
    *(
        ("axial", {}, dict(zip(AXES, shapes, strict=False)))
        for shapes in (
            [(4, 1, 6)], [(4, 1, 6), (8, 10)], [(4, 2, 6), (1, 8, 10)], [(4, 1, 6), (2, 8, 10)],
            [(0, 1, 6), (1, 8, 10)], [(1, 1, 6), (1, 2**20, 10)],
        )
    ),
    ("convolution", {}, {f"{CONV}weight_v": (4, 2, 3), f"{CONV}weight_g": (4, 1, 1)}),
    ("convolution", {}, {f"{CONV}parametrizations.weight.original1": (4, 2, 3)}),
    ("decay", MAMBA_2, of_layer(A_log=(3,), dt_bias=(4,))),
    ("decay", {"model_type": "mamba"}, of_layer(A_log=(0, 2), dt_bias=(0,))),
    ("decay", {"model_type": "recurrent_gemma"},
     of_layer(recurrent_param=(4,), recurrent_gate_bias=(3,))),
    ("decay", MAMBA_2, {f"layers.{10**20}.mixer.{name}": (3,) for name in ("A_log", "dt_bias")}),
    ("learned", {}, {"gated_positional_embedding.embedding": (17, 8),
                     "gated_positional_embedding.gate": (2,)}),
    *(
        ("transformer_xl", {}, dict(zip(XL, shapes, strict=True)))
        for shapes in (
            ((2, 4), (9, 8)), ((2, 4), (8, 7)), ((8,), (8, 8)), ((2, 4), (2, 4, 8)),
            ((2, 4), (8, 0)),
        )
    ),
    ("window_bias", {}, NETWORK),
    ("window_bias", {"window_size": 10**9}, NETWORK),
    ("window_bias", {"window_size": 4, "pretrained_window_sizes": ["x"]}, NETWORK),
    *(
        ("window_bias", {"window_size": 4}, {**NETWORK, **other})
        for other in (
            {f"{MLP}0.bias": (4,)}, {f"{MLP}2.weight": (2, 4)}, {f"{MLP}0.weight": (5, 3)}
        )
    ),
    ("window_bias", {"window_size": 4},
     {name: shape for name, shape in NETWORK.items() if "bias" not in name.split(".")[-1]}),
]  # fmt: skip
# Of other families, under other names, or switched off.
SILENT: list[Case] = [
    ("alibi", {}, {}),
    ("alibi", {"model_type": "falcon", "alibi": False, "num_attention_heads": 8}, {}),
    ("alibi", {"model_type": "mpt", "attn_config": {"alibi": False}, "n_heads": 8}, {}),
    ("alibi", {"model_type": "mpt", "attn_config": "alibi", "n_heads": 8}, {}),
    ("axial", {"axial_pos_embds": False}, {AXES[0]: (4, 1, 6)}),
    ("convolution", {}, {"encoder.conv.weight": (4, 2, 3), f"{CONV}bias": (4,)}),
    ("deberta", {}, {"rel_embeddings_of_old": (4, 4)}),
    ("deberta", {"relative_attention": False}, {REL: (10, 4)}),
    ("decay", MAMBA_2, {}),
    ("decay", MAMBA_2, of_layer(A_log=(3,))),
    ("decay", MAMBA_2, of_layer(time_decay=(3,))),
    ("decay", {}, of_layer(A_log=(3,), dt_bias=(3,))),
    ("decay", {"model_type": "unheard of"}, of_layer(A_log=(3,), dt_bias=(3,))),
    ("decay", {"model_type": "retnet", **HEADS, "use_default_gamma": False}, {}),
    ("decay", {"model_type": "minimax_m1", **HEADS}, {}),
    ("decomposed", {}, {"rel_pos_bias.weight": (3, 2), "rel_pos_x_bias": (3, 2)}),
    ("layout", {}, {"position_embeddings.weight": (4, 4)}),
    ("layout", {}, {"max_position_embeddings.weight": (4, 4)}),
    ("learned", {}, {"position_embedding_table": (2, 0, 8)}),
    ("learned", {}, {"position_embedding_table": (3, 6, 8)}),
    ("learned", {}, {"shared_image_embedding.positional_embedding": (2, 8)}),
    *(
        ("learned", {}, {"pos_embed": shape})
        for shape in ((), (8,), (0, 4), (2, 3, 4), (2, 3, 3, 4), (1, 0, 4), (1, 2, 3, 4, 5))
    ),
    *(("learned", {}, {"wpe.weight": shape}) for shape in ((4,), (1, 6, 4), (6, 0))),
    *(
        ("learned", {}, {name: (6, 4)})
        for name in (
            "encoder.layer.0.post_attention_layernorm.weight", "transformer.layer.0.rel_attn.q",
            "embeddings.position_ids", "embeddings.position_embeddings.bias",
            "embeddings.x_position_embeddings.weight", "embeddings.my_position_embeddings.weight",
        )
    ),
    *(
        ("learned", config, {"embeddings.position_embeddings.weight": (6, 4)})
        for config in (
            {"position_embedding_type": "rotary", "model_type": "esm"},
            {"position_embedding_type": "relative_key", "model_type": "bert"},
            {"position_biased_input": False, "model_type": "deberta-v2"},
            {"model_type": "roformer"},
        )
    ),
    *(
        ("none", config, {})
        for config in (
            {}, {"model_type": "bert"}, {"model_type": "bamba"}, {"model_type": "resnet"},
            {"model_type": "zamba2", "use_mem_rope": True},
            {"model_type": "granitemoehybrid", "position_embedding_type": "rope"},
        )
    ),
    ("none", {"model_type": "mamba"}, {"layers.0.A_log": (2,)}),
    *(
        ("rotary", {"hidden_size": 64, "num_attention_heads": 2, **config}, {})
        for config in (
            {},
            {"model_type": "bert", "rope_scaling": None},
            {"model_type": "bert", "rope_theta": 1e4, "position_embedding_type": "absolute"},
            {"model_type": "granitemoehybrid", "rope_theta": 1e4,
             "position_embedding_type": "nope"},
            {"model_type": "falcon", "rope_theta": 1e4, "alibi": True},
            {"model_type": "clip", "vision_config": {**LLAMA, "rope_theta": 1e4}},
            {"model_type": "clip", "vq_config": {**LLAMA, "rope_theta": 1e4}},
            # Those before the families of that name.
            {"model_type": "chatglm", "num_layers": 2, "position_encoding_2d": True},
            {"model_type": "glm", "num_layers": 2, "block_position_encoding": True},
            {"model_type": "clvp_encoder", "use_rotary_embedding": False},
        )
    ),
    *(
        ("rotary_2d", {**DINO, "model_type": family}, {})
        for family in ("llama", "vit", "clip", "siglip", "sam2", "qwen2")
    ),
    ("shaw", {}, {"layer.0.relative_pos_embeddings.weight": (9, 4), "pe_k_of_old.weight": (8, 4)}),
    ("sink", {"model_type": "llama"}, {"layers.0.sinks": (2,)}),
    ("sink", {"model_type": "gpt_oss"}, {"layers.0.sinks_of_another_kind": (2,), "sinks": (2,)}),
    *(
        ("sinusoidal", {"max_position_embeddings": 24, "hidden_size": 8, **config}, {})
        for config in (
            {}, {"position_embedding_type": "absolute"}, {"sinusoidal_pos_embds": False},
            {"model_type": "bert"},
        )
    ),
    ("sinusoidal", {**DETR, "encoder_layers": 0}, {}),
    ("sinusoidal", {**DETR, "eval_size": [640, 640]}, {}),
    ("t5_bias", {}, {"encoder.global_relative_attention_bias.weight": (32, 2)}),
    *(
        ("temperature", config, {})
        for config in (
            {"model_type": "llama", "attn_temperature_tuning": True, "no_rope_layers": [1, 0]},
            {**LLAMA_4, "attn_temperature_tuning": False},
            {**LLAMA_4, "no_rope_layers": [1, 1]},
            {"model_type": "ministral3", "rope_parameters": {**BETA, "llama_4_scaling_beta": None}},
            # Devstral 2, in its published file: the factor is 1 at every position.
            {"model_type": "ministral3", "rope_parameters": {**BETA, "llama_4_scaling_beta": 0.0}},
            {"model_type": "mistral", "rope_parameters": BETA},
            {"model_type": "inkling_text", "num_hidden_layers": 12},
            {"model_type": "beam", "num_hidden_layers": 12, "rope_parameters": {
                f"{kind}_attention": {"rope_theta": 1e4} for kind in ("sliding", "full")}},
        )
    ),
    ("transformer_xl", {}, {"layer.0.rel_attn.q": (8, 2, 4), "layers.0.attention.bias_v": (2, 4)}),
    ("window_bias", {"model_type": "swin"},
     {"layers.0.relative_position_index": (4, 4), "layers.0.attention.bias": (4,)}),
]  # fmt: skip


def read(case: Case) -> list[Encoding[Form]]:
    key, config, shapes = case
    arrays = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    return found_by(SCHEMES[key], DictFiles(config, arrays))


def test_what_does_not_fit_is_an_error_and_what_is_of_others_nothing() -> None:
    accepted = []
    for case in misfits():
        try:
            read(case)
        except RowError as error:
            if str(error).startswith("test") and "expected" in str(error):
                continue
        accepted.append(case)
    assert accepted == []
    assert [case for case in SILENT if read(case)] == []
