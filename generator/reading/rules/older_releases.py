"""What releases that are still in use take otherwise, and newer ones of the same program do not."""

import math
from collections.abc import Iterator

from generator.checkpoints.model.families import OLDER_WITHOUT_BASE, OLDER_WITHOUT_SIZE
from generator.checkpoints.model.family_code import SHARE, SIZE
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.encodings import Rotation
from generator.encodings.rotations import yarn_factor
from generator.reading.reader_defaults import reader_defaults
from generator.reading.taken import OLDER, is_read

BASE, ORIGINAL = "rope_theta", "original_max_position_embeddings"
# Keys of YaRN's magnitude that get_rope of vLLM 0.25 passes over.
MAGNITUDE = ("attention_factor", "mscale", "mscale_all_dim")
YARN = "yarn"
ROUNDING = 1e-4  # Relative.


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Of a config.json: a base that is missing at the top, a length that is multiplied twice, a
    share by a name that was not read, a factor that another one replaced, and a magnitude that was
    left out.
    """
    if not is_read(examined.files.config):
        return
    text = examined.files.config.text_model
    if text.family in OLDER_WITHOUT_BASE and text.value(BASE) is None:
        yield "base", {"family": text.family}
    yield from _twice(text)
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation) or not one.is_of_words:
            continue
        is_part = form.rotary_dim < form.head_dim
        if is_part and text.family == OLDER_WITHOUT_SIZE and text.value(SHARE) is None:
            yield "share", {"key": SIZE, "rotary_dim": form.rotary_dim, "head_dim": form.head_dim}
        if form.rope_type == YARN:
            yield from _of_yarn(text, form, examined.context)


def _twice(text: ModelConfig) -> Iterator[tuple[str, Json]]:
    """vLLM 0.25 (config/model.py, _get_and_verify_max_len): it goes by the original length for YaRN
    under this name alone.
    """
    length = text.size("n_positions")
    for block in text.rope.nested():
        kind = block.text("rope_type") or block.text("type") or ""
        factor = block.value("factor")
        is_other = YARN in kind and kind != YARN and isinstance(factor, int | float)
        if is_other and length and 1 < factor < math.inf:
            limit = int(length * factor)
            yield "twice", {"kind": kind, "factor": factor, "length": length, "limit": limit}


def _of_yarn(text: ModelConfig, form: Rotation, context: int | None) -> Iterator[tuple[str, Json]]:
    """transformers 4.55 (modeling_rope_utils.py) and vLLM 0.25 (rotary_embedding/__init__.py)."""
    factor, original = (form.scaling.get(name) for name in ("factor", ORIGINAL))
    if not isinstance(factor, int | float) or not isinstance(original, int | float):
        return
    given = {name for part in text.nested() for name in part.settings}
    is_older = {"factor", ORIGINAL} <= given and text.family in reader_defaults(OLDER)
    if context and is_older and abs(context / original - factor) > ROUNDING * factor:
        sizes = {"context": context, "original": original, "ratio": context / original}
        yield "factor", {**sizes, "factor": factor}
    paths = [name for name in MAGNITUDE if form.scaling.get(name) is not None]
    usual, ours = yarn_factor(factor), form.attention_factor
    if paths and not text.is_latent and abs(usual - ours) > ROUNDING * usual:
        yield "magnitude", {"paths": paths, "usual": usual, "ours": ours}


RULE = Rule(
    key="older-releases",
    levels=dict.fromkeys(("base", "share", "factor", "magnitude", "twice"), "note"),
    find=find,
    about=("factor", "rope_scaling", "rope_parameters", "rope_theta", "rotary_dim", "model_type"),
)
