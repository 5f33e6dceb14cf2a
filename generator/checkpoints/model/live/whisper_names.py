"""Tensors of Whisper in files of OpenAI, under their names in transformers."""

import re

# Names in OpenAI's files of Whisper, and in transformers.
WHISPER = (
    (r"\bblocks\b", "layers"),
    (r"\bmlp\.0\b", "fc1"),
    (r"\bmlp\.2\b", "fc2"),
    (r"\bmlp_ln\b", "final_layer_norm"),
    (r"\bcross_attn_ln\b", "encoder_attn_layer_norm"),
    (r"\bcross_attn\b", "encoder_attn"),
    (r"\battn_ln\b", "self_attn_layer_norm"),
    (r"\battn\b", "self_attn"),
    (r"\bquery\b", "q_proj"),
    (r"\bkey\b", "k_proj"),
    (r"\bvalue\b", "v_proj"),
    (r"\bout\b", "out_proj"),
    (r"\bln_post\b", "layer_norm"),
    (r"^decoder\.ln\b", "decoder.layer_norm"),
    (r"\btoken_embedding\b", "embed_tokens"),
    (r"\bpositional_embedding$", "embed_positions.weight"),
)
OF_WHISPER = re.compile(r"(en|de)coder\.blocks\.0\.mlp\.0\.weight")


def of_whisper(name: str) -> str:
    """The name in transformers of a tensor in OpenAI's files of Whisper."""
    for ours, theirs in WHISPER:
        name = re.sub(ours, theirs, name)
    return f"model.{name}"
