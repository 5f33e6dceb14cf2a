"""ALiBi: a penalty that grows linearly with distance, with a fixed slope for each head."""

import math
import re
from collections.abc import Iterator
from functools import partial
from operator import itemgetter

import numpy as np

from generator.checkpoints.model.tensor_names import OF_UNKNOWN_FAMILY, stack, stack_kind
from generator.contracts import (
    Encoding,
    Files,
    InPrint,
    ModelConfig,
    Oracle,
    Provenance,
    Recomputed,
    Scheme,
    Stack,
)
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias
from generator.errors import RowError
from generator.numerics.arrays import Floats, frozen

WORDING = Wording("schemes/alibi.md.jinja")
ALWAYS = frozenset({"bloom"})  # ALiBi without a setting.
# A bias in bfloat16, and logits that are divided by √d after it is added.
ROUNDED = frozenset({"falcon"})

MOST_HEADS = 4096
SHOWN = 128  # offsets in the form; the bias is linear beyond.
PAPER = InPrint("Press et al. 2022 (arXiv 2108.12409)", "section 3")
STEEPEST = 8.0  # Press et al. 2022, section 3: the slopes end at 2^−8.
# Tensors of x-transformers up to 2023; the first kind holds logarithms.
STORED = re.compile(r"(^|\.)(rel_pos\.learned_log|(rel_pos|alibi\w*)\.)slopes$")


def slopes(n_heads: int, steepest: float = STEEPEST) -> Floats:
    """Slope of every head (Press et al. 2022, arXiv 2108.12409, section 3, and the authors' code
    for other numbers of heads).

    2^(−8h/n) for h = 1 … n where n is a power of two; otherwise those of the next lower power of
    two, then every other one of the next higher.
    steepest: the 8 in this formula, which MPT can change
    returns: (n_heads,), logits per position
    """
    power = 2 ** math.floor(math.log2(n_heads))
    lower = 2.0 ** (-steepest * np.arange(1, power + 1) / power)
    higher = 2.0 ** (-steepest / 2 * np.arange(1, 2 * (n_heads - power), 2) / power)
    return np.concatenate([lower, higher])


def bfloat16(values: Floats) -> Floats:
    """``values`` rounded to bfloat16, halves to even: (…,), the same shape."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.asarray(rounded.astype(np.uint32).view(np.float32), dtype=np.float64)


def find(files: Files) -> list[Encoding[Form]]:
    """The ALiBi bias of the last stack whose config or family has one; without a config, that of
    stored slopes.

    errors: RowError when the number of heads or a size is missing or invalid
    """
    if not files.config.settings:
        return [*_stored(files)]
    return [_encoding(stack) for stack in files.resolved.stacks if _has_alibi(stack.config)][-1:]


def _stored(files: Files) -> Iterator[Encoding[Form]]:
    """The bias of stored slopes, one for each head, trained or not."""
    for name in filter(STORED.search, files.tensors):
        shape = files.tensors[name].shape
        if not 0 < max(shape, default=0) == math.prod(shape) <= MOST_HEADS:
            continue
        stored = files.tensor(name).reshape(-1)
        slope = np.exp(stored) if "log" in name else stored
        if f"{name}_future" in files.tensors or not (slope > 0.0).all():
            continue
        origin, notes = Provenance.of(files, name), (WORDING("stored_slopes", tensor=name),)
        form, kind = _bias(slope, is_causal=False), stack_kind(name)
        yield Encoding(stack(name, OF_UNKNOWN_FAMILY), SCHEME.key, form, origin, notes, stack=kind)


def _bias(slope: Floats, *, is_causal: bool) -> OffsetBias:
    """The bias by slopes (n_heads,), in logits per position."""
    offsets = np.arange(-SHOWN, 1 if is_causal else SHOWN + 1)
    values = -slope[:, None] * np.abs(offsets)
    return OffsetBias(frozen(values), frozen(offsets), is_causal, beyond="linear")


def _has_alibi(config: ModelConfig) -> bool:
    nested = config.section("attn_config")
    asked = any(each.flag("alibi") is True for each in (config, nested) if each is not None)
    asked = asked or config.text("position_embedding_type") == "alibi"
    return asked or config.family in ALWAYS


def _encoding(stack: Stack) -> Encoding[Form]:
    config = stack.config
    n_heads = config.needed("n_heads")
    if n_heads > MOST_HEADS:
        raise RowError(f"{config.where}: {n_heads:,} heads; expected at most {MOST_HEADS:,}")
    attention = config.section("attn_config")
    steepest = STEEPEST if attention is None else attention.positive("alibi_bias_max", STEEPEST)
    slope = slopes(n_heads, steepest)
    notes = [WORDING("by_heads"), *([WORDING("ignored_setting")] if steepest != STEEPEST else [])]
    if config.family in ROUNDED:
        head_dim = max(config.needed("d_model") // n_heads, 1)
        slope = bfloat16(slope) / math.sqrt(head_dim)
        rounding = WORDING("rounded_slopes", head_dim=head_dim), WORDING("rounded_bias")
        notes = [WORDING("by_heads"), *rounding]
    is_causal, origin = stack.kind == "decoder", Provenance("config.json", shape=(n_heads,))
    if not is_causal:
        notes.append(WORDING("both_sides"))
    form = _bias(slope, is_causal=is_causal)
    return Encoding(stack.part, SCHEME.key, form, origin, tuple(notes), stack=stack.kind)


SCHEME = Scheme(
    key="alibi",
    paper="2108.12409",
    plural="encodings by ALiBi",
    also=("attention with linear biases",),
    acts_in="logits",
    after="rotary_2d",
    find=find,
    claims=re.compile(r"alibi", re.IGNORECASE),
    asked_by=("alibi",),
    oracles=(
        Oracle(
            "Slopes of 8 heads (printed as powers of 1/2)",
            ("0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625", "0.0078125", "0.00390625"),
            PAPER,
            list,
            partial(slopes, 8),
        ),
        Oracle(
            "First three and last slopes of 16 heads (printed as powers of 1/2)",
            ("0.70710678", "0.5", "0.35355339", "0.00390625"),
            PAPER,
            itemgetter(0, 1, 2, -1),
            partial(slopes, 16),
        ),
        Oracle(
            "Last slope of 12 heads",
            ("0.088388",),
            Recomputed("transformers", "build_alibi_tensor of BLOOM"),
            itemgetter(slice(-1, None)),
            partial(slopes, 12),
        ),
    ),
    by_formula=True,
)
