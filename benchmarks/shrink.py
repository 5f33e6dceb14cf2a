"""Published settings of a model made small enough to run: its width, vocabulary, experts and
windows, and nothing else that position depends on.

The depth and every list by layer stay, so do the width of heads, rotary settings and the context;
settings keep their names and places.
"""

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any

from benchmarks.inputs import LENGTH

VOCABULARY, EXPERTS, CHOSEN = 512, 8, 2
TEXT = ("text_config", "language_config", "llm_config", "thinker_config", "text_model_config")
UNTOUCHED = re.compile(
    r"codec|vision|image|rope|quantization|label|init|_dict|task_specific|torch_dtype|auto_map"
)
HEADS = re.compile(r"(?<!pruned_)heads$|^(num|n)_head$|head_count$|multi_query_group_num$")
KEY_HEADS = re.compile(r"(kv|key_value)\w*heads|kv_n_heads|multi_query|num_key_value")
WIDTH = re.compile(
    r"^(\w+_)?(hidden_size|n_embd|n_embed|d_model|emb_dim|intermediate_size(_mlp)?"
    r"|intermediate_dim|ffn_dim|d_ff|n_inner|lru_width|d_ssm|ffn_hidden_size|d_inner)$"
    r"|^(dim|embed_dim|embedding_size|embedding_dim|word_embed_proj_dim|conv_dim|ffn_hidden_size"
    r"|block_ff_dim|true_hidden_size|mlp_hidden_size|hidden_dim|dim_model|dim_ff)$"
)
VOCABULARIES = re.compile(r"vocab\w*size\w*$|^n_words$|^vocab_offset$|^n_token$")
TOKENS = re.compile(r"(token_id|token_index|token|_idx|_id)s?$")
MANY_EXPERTS = re.compile(r"(^|_)(num|n)_\w*experts$|^moe_num_experts$|^num_experts$")
FEW_EXPERTS = re.compile(
    r"experts_per_tok\w*$|^(moe_)?top_?k(_experts)?$|^moe_k$|^moe_topk$|^experts_top_k$"
)
GROUPS = re.compile(
    r"^n_group$|^topk_group$|^num_expert_group$|^num_limited_groups$|^top_k_group$"
    r"|^topk_groups$|^(mamba_)?n_groups$|^mamba_num_groups$"
)
# Positions, each by itself, so that none passes for another; ``floor_scale`` is the length after
# which queries are rescaled.
WINDOWS: Mapping[str, int] = {
    **dict.fromkeys(("sliding_window", "sliding_window_size", "attention_window_size",
    "swa_window_size"), 7),
    **dict.fromkeys(("local_attention", "attention_window", "window_size"), 10),
    **dict.fromkeys(("attention_chunk_size", "context_size", "floor_scale"), 9),
    **dict.fromkeys(("local_radius", "block_length"), 4),
    "max_source_positions": 48,
}  # fmt: skip


@dataclass(frozen=True)
class Shrunk:
    """settings: as config.json would hold them; path: of the section that describes the text model,
    () for the whole
    """

    settings: dict[str, Any]
    path: tuple[str, ...]


def text_path(config: Any) -> tuple[str, ...]:
    """Names of the sections, from the outermost, that lead to the text model of a config of
    transformers.
    """
    for name in TEXT:
        section = getattr(config, name, None)
        if hasattr(section, "to_dict"):
            return (name, *text_path(section))
    return ()


def shrink(settings: Mapping[str, Any], config: Any, *, heads: int | None = 2) -> Shrunk:
    """The settings with every size that matters written out, small.

    config: transformers' config of them, whose defaults count where settings are silent
    heads: how many remain at least where the width shrinks; None to keep the width, which some
        models have constraints on
    """
    small, path = copy.deepcopy(dict(settings)), text_path(config)
    section, described = small, config
    for name in path:
        section, described = section.setdefault(name, {}), getattr(described, name)
    _shrink_section(section, described, heads=heads)
    return Shrunk(small, path)


def _shrink_section(section: dict[str, Any], config: Any, *, heads: int | None) -> None:
    """Shrink one section in place, and the sections and plain dicts within it."""
    factor = 1 if heads is None else _factor(config, heads)
    context = _attribute(config, "max_position_embeddings")
    renamed = getattr(config, "attribute_map", None) or {}
    aliases = {target: name for name, target in renamed.items()}
    for name, value in vars(config).items():
        if UNTOUCHED.search(name) or name.startswith("_"):
            continue
        if hasattr(value, "to_dict"):
            _shrink_section(section.setdefault(name, {}), value, heads=heads)
        else:
            # A window as long as the context is none.
            unlimited = name == "sliding_window" and value == context
            change = value if unlimited else _smaller(name, value, factor)
            for known in {name, aliases.get(name, name)} if change != value else ():
                if known == name or known in section:
                    section[known] = change


def _smaller(name: str, value: Any, factor: int) -> Any:
    """A setting's small value; the same where it has nothing to do with size."""
    if isinstance(value, dict):
        return {
            key: inner if UNTOUCHED.search(str(key)) else _smaller(str(key), inner, factor)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_smaller(name, inner, factor) for inner in value] if _rule(name) else value
    rule = _rule(name)
    return rule(value, factor) if rule and _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _rule(name: str) -> Callable[[int, int], int] | None:
    """The small value of a setting of this name, from its value and the factor of the width; None
    for others.
    """
    if name in WINDOWS:
        return lambda value, _factor: min(value, WINDOWS[name])
    if name == "max_position_embeddings":
        return lambda value, _factor: max(value, LENGTH + 7)
    rules: tuple[tuple[re.Pattern[str], Callable[[int, int], int]], ...] = (
        (VOCABULARIES, lambda value, _factor: min(value, VOCABULARY)),
        (TOKENS, lambda value, _factor: min(value, VOCABULARY - 1)),
        (MANY_EXPERTS, lambda value, _factor: min(value, EXPERTS)),
        (FEW_EXPERTS, lambda value, _factor: min(value, CHOSEN)),
        (GROUPS, lambda value, _factor: min(value, 1)),
        (HEADS, lambda value, factor: value // factor if value % factor == 0 else 1),
        (WIDTH, _width),
    )
    return next((rule for pattern, rule in rules if pattern.search(name)), None)


def _width(value: int, factor: int) -> int:
    return value // factor if value % factor == 0 else max(16, value // factor // 16 * 16)


def _attribute(config: Any, name: str) -> Any:
    """A setting under the name that all families share; None where it is missing or differs by
    layer.
    """
    try:
        return getattr(config, name, None)
    except Exception:  # noqa: BLE001  # Config classes raise their own.
        return None


def _factor(config: Any, least: int) -> int:
    """The largest number by which width and heads can be divided so that ``least`` heads are left,
    or one, or 64 dimensions without heads.
    """
    width, heads = (_attribute(config, name) for name in ("hidden_size", "num_attention_heads"))
    if not _is_number(width):
        return 1
    names = [name for name in vars(config) if HEADS.search(name) and not KEY_HEADS.search(name)]
    values = [getattr(config, name) for name in names]
    counts = [value for value in values if _is_number(value) and value > 1]
    if not counts:
        return width // 64 if width % 64 == 0 else 1
    heads = heads if isinstance(heads, int) else counts[0]
    factors = [factor for factor in range(1, heads + 1) if gcd(width, *counts) % factor == 0]
    fitting = max((factor for factor in factors if heads // factor >= least), default=1)
    return fitting if fitting > 1 or heads < 2 * least else max(factors)
