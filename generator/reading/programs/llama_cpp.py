"""The converter of llama.cpp, which has transformers 5 read config.json where that knows the
family, and else takes the file as it is.
"""

from collections.abc import Mapping
from typing import Any

from generator.checkpoints.model.resolved import defaults, is_known
from generator.contracts import ConfigReader, Json
from generator.contracts.model_config import TEXT
from generator.errors import RowError

ROPE, SCALING, TYPE = "rope_parameters", "rope_scaling", "rope_type"
STORED = frozenset({"default", "linear", "yarn", "longrope", "su"})
OF_DYNAMIC = "hunyuan"
OF_LLAMA = frozenset({"llama", "mistral", "mixtral"})  # Families of one class.
ORIGINAL, OF_LLAMA3 = "original_max_position_embeddings", 8192
KEPT = ("rope_theta", "mrope_section", "partial_rotary_factor")


def takes(settings: Json) -> Json | None:
    """Without dynamic scaling, which it stores for HunYuan alone. Of Llama 3's, its class for such
    models takes the original length that stands beside the block.

    errors: RowError for YaRN without an original length
    """
    family = str(settings.get("model_type"))
    if not is_known(family):
        return None
    for name in TEXT:
        if isinstance(part := settings.get(name), Mapping):
            inner = takes(part)
            return None if inner is None else {**settings, name: inner}
    given: Any = settings.get(ROPE) or settings.get(SCALING) or defaults(family).get(ROPE) or {}
    block = given.get("full_attention", given)
    kind = str(block.get(TYPE, block.get("type", "default")))
    if kind == "yarn" and ORIGINAL not in block:
        raise RowError("its converter has no default for original_max_position_embeddings of YaRN")
    kept = {name: value for name, value in settings.items() if name not in (ROPE, SCALING)}
    if kind == "llama3" and family in OF_LLAMA:
        taken = {**block, ORIGINAL: settings.get(ORIGINAL, OF_LLAMA3)}
        return {**kept, ROPE: {**_base(settings), **taken}}
    if kind in STORED or (kind == "llama3" and block.get(ORIGINAL) == OF_LLAMA3):
        return settings
    if kind != "dynamic" or block is not given or family.startswith(OF_DYNAMIC):
        return None  # Classes of some families store it in ways of their own.
    plain = {name: block[name] for name in KEPT if name in block}
    return {**kept, ROPE: {**_base(settings), **plain, TYPE: "default"}}


def _base(settings: Json) -> Json:
    """The base beside a block without one."""
    return {name: settings[name] for name in KEPT[:1] if name in settings}


READER = ConfigReader(
    key="llama-cpp",
    name="llama.cpp's converter",
    version="00bd27a6",
    read_on="2026-11-29",
    source="conversion/base.py, load_hparams and set_gguf_parameters; conversion/llama.py",
    is_run=False,
    takes=takes,
    keys={"attn_rotary_emb": ("bamba",)},
)
