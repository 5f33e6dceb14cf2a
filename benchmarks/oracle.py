"""How a model encodes position, by its modules: their classes, their attributes and, failing these,
their code.

Independent of the atlas, which reads only tensor names and shapes and config.json.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Patterns of class names, by kind of encoding.
CLASSES = (
    ("rotation", re.compile(
        r"(Rotary|RoPE|Rope)\w*(Embedding|Encoding|Attention)|LightGluePositionalEncoder"
    )),
    ("table", re.compile(
        r"(Sinusoid|Sinusoidal|Sinusoids|Sine)(Position|Positional|Embedding)\w*(Embedding)"
        r"|PositionEmbeddingSine"
    )),
    ("table", re.compile(
        r"Learned(Absolute)?Position|ScaledPositionalEncoding|AxialPositionEmbeddings"
        r"|^PositionEmbeddings$|BrosPositionalEmbedding"
    )),
    ("table", re.compile(
        r"(PatchTS\w*|TimesFm)Positional(Encoding|Embedding)"
        r"|Florence2VisionPositionalEmbedding|SamHQPos|Sam\w*PositionalEmbedding"
    )),
    ("table", re.compile(
        r"WhisperPositional|FunAsrNanoPosition|ProphetNetPositional|PrecomputedPosition"
        r"|CanaryPositional"
    )),
    ("offset vectors", re.compile(
        r"Rel(ative)?Position(al)?(Encoding|Embedding)|XLNetRelativeAttention"
        r"|FunnelRelMultiheadAttention|InklingRel|Inkling2(Loop)?Rel"
    )),
    ("window bias", re.compile(r"(Swin|Beit|Data2VecVision)\w*RelativePositionBias")),
    ("buckets", re.compile(
        r"^RelativePositionBias(1D|Horizontal|Vertical)|AudioRelativeAttentionBias"
        r"|CpmAntSegmentPosition"
    )),
)  # fmt: skip
# Patterns of parameter names, for classes with uninformative names.
PARAMETERS = (
    ("buckets", re.compile(
        r"(^|\.)(relative_attention_bias|rel_pos_bias|rel_pos_[xy]_bias"
        r"|rel_attn_embed)(\.weight)?$"
    )),
    ("offset vectors", re.compile(
        r"(^|\.)(rel_embeddings|distance_embedding|pe_k|rel_pos_emb"
        r"|relative_pos_embeddings)\.weight$"
    )),
    ("offset vectors", re.compile(
        r"(^|\.)(emb_rel_k|r_r_bias|pos_bias_u|bias_u|relative_k_proj\.weight"
        r"|linear_pos\.weight)$"
    )),
    ("decomposed", re.compile(r"(^|\.)rel_pos_[hw]$")),
    ("window bias", re.compile(
        r"(^|\.)(relative_position_bias_table|attention_biases|attention_bias_cache)$"
        r"|continuous_position_bias_mlp"
    )),
    ("table", re.compile(
        r"(^|\.)(\w+_)?(wpe|pos(ition|itional|itions)?_?(embed\w*|emb|encoding|enc)"
        r"|positions_embed|embed_positions)(_table|s_layer|s)?(\.weight)?$"
    )),
    ("table", re.compile(
        r"(^|\.)(x|y|h|w|row|col|char)_position_embeddings\.weight$"
        r"|(^|\.)(row|column)_embedder\.weight$"
    )),
)  # fmt: skip
NOT_POSITIONS = re.compile(
    r"query_position_embeddings|class_pos_emb|(^|\.)rel_|relative|memory_temporal|no_memory"
    r"|mask_embed"
)
SLOPES = ("build_alibi_tensor", "build_mpt_alibi_tensor")
ADDED = re.compile(
    r"self\.pos_encoding\[|get_sinusoid_encoding_table\(|create_sinusoidal_positions\("
)
# Attributes of recurrent modules.
FADES = re.compile(r"A_log|time_decay|recurrent_param|slope_rate|i?fgate_preact")
TURNS = re.compile(r"apply_rotary|rotate_every_two|rotate_half")


def kinds(model: Any) -> frozenset[str]:
    """The kinds of encoding in the modules of ``model``."""
    encodings = {*_by_class(model), *_by_parameter(model), *_by_code(model)}
    if "slopes" in encodings:
        encodings.discard("rotation")  # Falcon builds the buffers and never uses them.
    return frozenset(encodings)


def _by_class(model: Any) -> Iterator[str]:
    for kind in {type(module) for module in model.modules()}:
        for encoding, pattern in CLASSES:
            if pattern.search(kind.__name__):
                # RoFormer's sinusoid is not added; it rotates queries and keys.
                rotates = "def apply_rotary_position_embeddings" in _text(kind.__module__)
                yield "rotation" if encoding == "table" and rotates else encoding


def _by_parameter(model: Any) -> Iterator[str]:
    for path, module in model.named_modules():
        for name, parameter in module.named_parameters(prefix=path, recurse=False):
            # Those are identified by class.
            is_one = parameter.ndim > 1 or "bias_" in name
            if is_one and "Sinusoidal" not in type(module).__name__:
                kind = next((kind for kind, pattern in PARAMETERS if pattern.search(name)), None)
                if kind is not None and not (kind == "table" and NOT_POSITIONS.search(name)):
                    yield kind


def _by_code(model: Any) -> Iterator[str]:
    """Encodings that only code shows: a bias of slopes, and a sinusoid or a rotation computed by a
    function.
    """
    for module in {type(module): module for module in model.modules()}.values():
        source = _source(type(module))
        if any(maker in source for maker in SLOPES) and getattr(module.config, "alibi", True):
            yield "slopes"
        if hasattr(module, "pos_conv_embed") and "self.pos_conv_embed(" in source:
            yield "convolution"  # Wav2Vec2-Conformer has one as well, and never calls it.
        attends = type(module).__name__.endswith("Attention")
        if attends and hasattr(module, "embed_positions") and TURNS.search(source):
            yield "rotation"
        own = module._parameters | module._buffers | module._modules
        if any(map(FADES.fullmatch, own)):
            yield "decay"
        turns = TURNS.search(source) or "Rotary" in type(module).__name__
        if ADDED.search(source) and not turns:
            yield "table"


def _source(kind: type) -> str:
    """The source of a class of transformers; inspect.getsource gives the same, and takes 100 times
    as long.
    """
    if not kind.__module__.startswith("transformers.models."):
        return ""
    pattern = rf"(?ms)^class {kind.__name__}\b.*?(?=^\S|\Z)"
    match = re.search(pattern, _text(kind.__module__))
    return match[0] if match else ""


@cache
def _text(module: str) -> str:
    return Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")
