"""Scaling that changes nothing."""

from collections.abc import Iterator

import numpy as np

from generator.contracts import Examined, Json, Rule
from generator.contracts.model_config import ROPE
from generator.encodings import Rotation

# Their effect depends on the length of the text.
BY_LENGTH = frozenset({"dynamic", "longrope"})


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Scaling without effect, and a block that no layer takes."""
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


def _is_as_without(form: Rotation) -> bool:
    turned, usual = form.frequencies, form.unscaled_frequencies
    is_alike = turned.shape == usual.shape and np.allclose(turned, usual, rtol=1e-6, atol=0.0)
    return is_alike and form.attention_factor == 1.0


RULE = Rule(
    key="scaling-without-effect",
    levels={"without_effect": "warning", "flat": "warning"},
    find=find,
    about=("factor", *ROPE),
)
