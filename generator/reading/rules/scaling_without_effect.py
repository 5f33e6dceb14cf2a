"""Scaling that changes nothing."""

from collections.abc import Iterator

import numpy as np

from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.contracts.model_config import ROPE
from generator.encodings import Rotation

KINDS = ("rope_type", "type")
OF_SCALING = (
    "factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow", "short_factor",
    "long_factor", "mscale", "mscale_all_dim", "attention_factor",
)  # fmt: skip
# Their effect depends on the length of the text.
BY_LENGTH = frozenset({"dynamic", "longrope"})


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Scaling without effect, a block that no layer takes, and what is beside the word for none."""
    for block in _blocks(examined.files.config):
        kinds = {block.text(name) for name in KINDS} - {None}
        left = [name for name in OF_SCALING if block.value(name) is not None]
        if left and (kinds == {"default"} or (not kinds and _is_plain(examined))):
            yield "left" if kinds else "untyped", {"paths": left}
    for stack in examined.files.resolved.stacks:
        rope = stack.config.section(ROPE[0])
        if rope is not None and rope.sections and rope.text("rope_type"):
            values = {"kind": rope.text("rope_type"), "sections": [*rope.sections]}
            yield "flat", {**values, "family": stack.config.family}
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation) or not form.is_rescaled:
            continue
        if form.rope_type not in BY_LENGTH and _is_as_without(form):
            yield "without_effect", {"part": one.part, "kind": form.rope_type}


def _is_plain(examined: Examined) -> bool:
    """Whether there are rotations of words, of which none is scaled."""
    forms = [one.form for one in examined.encodings if one.is_of_words]
    turning = [form for form in forms if isinstance(form, Rotation)]
    return bool(turning) and not any(form.is_rescaled for form in turning)


def _blocks(config: ModelConfig) -> Iterator[ModelConfig]:
    """Sections of rotations, and those in them by layer type."""
    for part in config.nested():
        for block in filter(None, map(part.section, ROPE)):
            yield block
            yield from block.sections.values()


def _is_as_without(form: Rotation) -> bool:
    turned, usual = form.frequencies, form.unscaled_frequencies
    is_alike = turned.shape == usual.shape and np.allclose(turned, usual, rtol=1e-6, atol=0.0)
    return is_alike and form.attention_factor == 1.0


RULE = Rule(
    key="scaling-without-effect",
    levels=dict.fromkeys(("without_effect", "flat", "left", "untyped"), "warning"),
    find=find,
    about=("factor", *ROPE),
)
