"""vLLM, which has transformers 5 read config.json and mends older names in what it gets."""

from collections.abc import Iterator, Mapping, Sequence

from generator.checkpoints.model.resolved import is_known, with_query
from generator.contracts import ConfigReader, Json
from generator.contracts.model_config import ROPE
from generator.errors import RowError
from generator.reading.registered import architectures, registered
from generator.text import short

# Its names for the same, the first that the file has counts.
NAMES = {
    "rope_theta": ("rope_theta", "rotary_emb_base"),
    "partial_rotary_factor": ("partial_rotary_factor", "rotary_pct", "rotary_emb_fraction"),
}
# The least of them counts, unless the last is there.
LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_target_positions",
    "max_sequence_length", "max_seq_length", "seq_len", "model_max_length",
)  # fmt: skip
WITHOUT_LENGTH = 2048
# Kinds of scaling that the length has already; it takes telechat3-yarn for YaRN.
IN_LENGTH = frozenset(
    {"longrope", "llama3", "yarn", "deepseek_yarn", "telechat3-yarn", "deepseek_llama_scaling"}
)
ELSEWHERE = "sentence_bert_config.json", "tokenizer_config.json"  # The latter with a table alone.
ALIKE = frozenset({("su", "longrope"), ("mrope", "default")})


def takes(settings: Json) -> Json | None:
    """Base and share may have older names. Of YaRN, its magnitude is by the same keys as in
    transformers 5.

    errors: RowError for two kinds of scaling in one block
    """
    if not is_known(str(settings.get("model_type"))):
        return None
    for block in _blocks(settings):
        kinds = block.get("type"), block.get("rope_type")
        if None not in kinds and kinds[0] != kinds[1] and kinds not in ALIKE:
            named = [short(str(kind)) for kind in kinds]
            raise RowError(f"rope_type is {named[1]} beside type {named[0]}")
        if "mrope" in kinds and "mrope_section" not in block:
            raise RowError("mrope has no mrope_section")
    mended = {
        name: settings[given[0]]
        for name, names in NAMES.items()
        if (given := [one for one in names if settings.get(one) is not None])
    }
    return {**with_query(settings), **mended}


def limit(config: Json, blocks: Sequence[Json]) -> int:
    """The length that it serves where none is asked for: the given one, times the factor of linear
    and dynamic scaling, by LongRoPE the original one.
    """
    given = [config[name] for name in LENGTHS if config.get(name) is not None]
    length = config.get(LENGTHS[-1]) or min(given, default=WITHOUT_LENGTH)
    if "gemma3" in str(config.get("model_type")):
        return int(length)
    factor = 1.0
    for block in blocks:
        kind = block.get("rope_type")
        if kind == "longrope":
            return int(config.get("original_max_position_embeddings", length))
        if kind not in IN_LENGTH:
            factor = block.get("factor") or factor
    return int(length * factor)


def limit_elsewhere(settings: Json) -> list[str]:
    """Those of a model that writes nothing."""
    if set(registered("vllm")["pooling"]).isdisjoint(architectures(settings)):
        return []
    has_table = settings.get("position_embedding_type") == "absolute"
    return list(ELSEWHERE[: 1 + has_table])


def _blocks(settings: Json) -> Iterator[Json]:
    """Settings of its rotations, and of those in nested configs."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name in ROPE:
            yield value
            yield from (one for one in value.values() if isinstance(one, Mapping))
        elif isinstance(value, Mapping) and name.endswith("_config"):
            yield from _blocks(value)


READER = ConfigReader(
    key="vllm",
    name="vLLM",
    version="0cd57848",
    read_on="2026-11-29",
    source="vllm/model_executor/layers/rotary_embedding/__init__.py, get_rope, and"
    " yarn_scaling_rope.py; as of 0036026e vllm/transformers_utils/config.py, patch_rope_parameters"
    " and patch_legacy_rope_type; vllm/config/model.py, _get_and_verify_max_len, as of the change"
    " that lets it go by the length for YaRN (pull request 56446), and its callers",
    is_run=False,
    takes=takes,
    limit=limit,
    limit_elsewhere=limit_elsewhere,
    keys={
        "original_rope": ("chatglm",),
        "indexer_rope_interleave": ("deepseek_v32", "glm_moe_dsa"),
        "attn_rotary_emb": ("bamba",),
        "dual_chunk_attention_config": ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe"),
        "mla_use_nope": ("kimi_linear",),
    },
)
