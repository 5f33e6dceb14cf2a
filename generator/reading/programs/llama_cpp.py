"""The converter of llama.cpp, which has transformers 5 read config.json where that knows the
family, and else takes the file as it is.
"""

from collections.abc import Mapping
from typing import Any

from generator.checkpoints.model.resolved import defaults, is_known
from generator.contracts import ConfigReader, Json
from generator.contracts.model_config import TEXT
from generator.errors import RowError
from generator.reading.registered import architectures

ROPE, SCALING, TYPE = "rope_parameters", "rope_scaling", "rope_type"
ORIGINAL, FULL = "original_max_position_embeddings", "full_attention"
STORED = frozenset({"linear", "yarn", "longrope", "su"})
OF_DYNAMIC = "hunyuan"
LLAMA3 = "llama3"
# By the code of classes, of which the converter ran on one family or several each. Families of the
# class for Llama and of EXAONE's, which store what such a scaling divides by, those that lose it,
# and those whose class fails for want of it.
OF_LLAMA3 = frozenset(
    {"llama", "mistral", "mixtral", "smollm3", "llama4", "llama4_text", "apertus", "voxtral",
     "exaone", "exaone4"}
)  # fmt: skip
LOSE_LLAMA3 = frozenset(
    {"cohere", "cohere2", "deepseek_v2", "deepseek_v3", "ernie4_5", "ernie4_5_moe", "falcon_h1",
     "glm4_moe", "glm_moe_dsa", "gpt_oss", "hunyuan_v1_dense", "lfm2", "minimax_m2", "olmo2",
     "olmoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "seed_oss", "starcoder2"}
)  # fmt: skip
WITHOUT_LLAMA3 = frozenset({"granite", "nemotron_h"})
# Families whose classes store neither base nor scaling, and those that store the base alone.
STORE_NOTHING = frozenset({"falcon", "gemma", "gemma2", "phi", "stablelm"})
LOSE_SCALING = frozenset({"cohere", "cohere2", "falcon_h1"})
BY_DEFAULT = 10_000.0  # Of llama.cpp, for a file without a base.
# Lengths that classes write, whatever the file says.
LENGTHS = {"falcon": 2048, "nemotron_h": 2**20}
# Classes that take the rows of padding away (conversion/bert.py).
WITHOUT_ROWS = frozenset(
    {"RobertaModel", "RobertaForSequenceClassification", "XLMRobertaModel",
     "XLMRobertaForSequenceClassification"}
)  # fmt: skip
OWN_WAYS = frozenset({"ministral3"})
PLAIN = {"rope_theta": BY_DEFAULT, TYPE: "default"}
KEPT = ("rope_theta", "mrope_section", "partial_rotary_factor")
# By kind of scaling: of YaRN, llama.cpp takes the magnitude by the factor alone, and always a range
# from 32 turns to 1, which it rounds; of LongRoPE, it takes the magnitude by the lengths.
RANGE = ("beta_fast", "beta_slow", "truncate")
NOT_TAKEN = {
    "yarn": ("attention_factor", *RANGE), "longrope": ("short_mscale", "long_mscale")
}  # fmt: skip
# Families whose classes store no window, and those of which llama.cpp does not apply it.
WITHOUT_WINDOWS = frozenset(
    {"llama", "mistral", "mixtral", "phi3", "phimoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
     "smollm3", "starcoder2"}
)  # fmt: skip


def takes(settings: Json) -> Json | None:
    """Without dynamic scaling, which it stores for HunYuan alone, and without what the class of a
    family does not store.

    errors: RowError for YaRN without an original length, and for Granite with Llama 3's
    """
    family = str(settings.get("model_type"))
    if not is_known(family) or family in OWN_WAYS:
        return None
    if not WITHOUT_ROWS.isdisjoint(architectures(settings)):
        settings = _without_rows(settings)
    for name in TEXT:
        if isinstance(part := settings.get(name), Mapping):
            inner = takes(part)
            return None if inner is None else {**settings, name: inner}
    return _stored(settings, family)


def _without_rows(settings: Json) -> Json:
    """With the length that its class for RoBERTa writes also where a rotation needs no rows; what
    is read as transformers 5 does has it otherwise.
    """
    length, padding = settings.get("max_position_embeddings"), settings.get("pad_token_id")
    has_table = settings.get("position_embedding_type") in (None, "absolute")
    if has_table or not isinstance(length, int) or not isinstance(padding, int):
        return settings
    return {**settings, "max_position_embeddings": length - 1 - padding}


def _stored(settings: Json, family: str) -> Json | None:
    """errors: RowError"""
    default: Any = defaults(family).get(ROPE) or {}
    given: Any = settings.get(ROPE) or settings.get(SCALING) or default
    block = given.get(FULL, given)
    kind = str(block.get(TYPE, block.get("type", "default")))
    if kind == "yarn" and ORIGINAL not in block:
        raise RowError("its converter has no default for original_max_position_embeddings of YaRN")
    if kind == LLAMA3 and family in WITHOUT_LLAMA3:
        raise RowError("its converter has no place for the factors of Llama 3")
    is_of_one = block is given and FULL not in default
    kept = {name: value for name, value in settings.items() if name not in (ROPE, SCALING)}
    if family in STORE_NOTHING:
        return {**kept, **_written(family), ROPE: {**_share({**block, **settings}), **PLAIN}}
    is_stored = kind in STORED or (kind == LLAMA3 and family in OF_LLAMA3)
    if kind == "default" or (is_stored and family not in LOSE_SCALING):
        return {**settings, **_written(family), **_taken(settings, kind)}
    is_lost = kind == "dynamic" and not family.startswith(OF_DYNAMIC)
    is_lost |= kind == LLAMA3 and family in LOSE_LLAMA3
    if not is_of_one or not (is_lost or family in LOSE_SCALING):
        return None  # Classes of some families store it in ways of their own.
    plain = {name: block[name] for name in KEPT if name in block}
    return {**kept, **_written(family), ROPE: {**_base(settings), **plain, TYPE: "default"}}


def _base(settings: Json) -> Json:
    """The base beside a block without one."""
    return {name: settings[name] for name in KEPT[:1] if name in settings}


def _share(block: Json) -> Json:
    return {name: block[name] for name in KEPT[1:] if name in block}


def _written(family: str) -> Json:
    """The length that its class writes."""
    length = LENGTHS.get(family)
    return {} if length is None else {"max_position_embeddings": length}


def _taken(settings: Json, kind: str) -> Json:
    """Blocks without what is not taken of their kind of scaling."""
    found: dict[str, Any] = {}
    for name in (ROPE, SCALING):
        if kind in NOT_TAKEN and isinstance(given := settings.get(name), Mapping):
            inner = given.get(FULL)
            whole = {**given, FULL: _without(inner, kind)} if isinstance(inner, Mapping) else given
            found[name] = _without(whole, kind)
    return found


def _without(block: Json, kind: str) -> Json:
    without = RANGE if "mscale" in block else NOT_TAKEN[kind]
    return {name: value for name, value in block.items() if name not in without}


def has_windows(settings: Json) -> bool:
    """Not where its class stores none, or none is applied."""
    inner = next((settings[n] for n in TEXT if isinstance(settings.get(n), Mapping)), settings)
    return str(inner.get("model_type", settings.get("model_type"))) not in WITHOUT_WINDOWS


READER = ConfigReader(
    key="llama-cpp",
    name="llama.cpp's converter",
    version="0c1e5709",
    read_on="2026-11-30",
    source="conversion/base.py, load_hparams and set_gguf_parameters; each class in conversion;"
    " src/llama-context.cpp",
    is_run=True,
    takes=takes,
    has_windows=has_windows,
    keys={"attn_rotary_emb": ("bamba",)},
)
