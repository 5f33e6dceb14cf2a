"""Scaling that changes nothing, or not all that it seems to."""

from collections.abc import Iterator, Sequence

import numpy as np

from generator.contracts import Encoding, Examined, Json, Rule
from generator.encodings import Form, Rotation

# Their effect depends on the length of the text.
BY_LENGTH = frozenset({"dynamic", "longrope"})


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Scaling without effect, two equal lists of factors, and scaling of one of two rotations."""
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation) or not form.is_rescaled:
            continue
        if form.rope_type == "longrope" and not form.has_two_lists:
            yield "equal_lists", {}
        if form.rope_type not in BY_LENGTH and _is_as_without(form):
            yield "without_effect", {"part": one.part, "kind": form.rope_type}
        if any(_is_beside(one, other) for other in examined.encodings):
            layers: Sequence[int] = one.layers or ()
            yield "one_of_two", {"kind": form.rope_type, "layers": list(layers)}


def _is_as_without(form: Rotation) -> bool:
    turned, usual = form.frequencies, form.unscaled_frequencies
    is_alike = turned.shape == usual.shape and np.allclose(turned, usual, rtol=1e-6, atol=0.0)
    return is_alike and form.attention_factor == 1.0


def _is_beside(scaled: Encoding[Form], other: Encoding[Form]) -> bool:
    """Whether ``other`` is a rotation without scaling in other layers of the same stack."""
    return (
        isinstance(other.form, Rotation)
        and not other.form.is_rescaled
        and other.stack == scaled.stack
        and other.modality == scaled.modality
        and bool(scaled.layers)
        and bool(other.layers)
    )


RULE = Rule(
    key="scaling-without-effect",
    levels={"without_effect": "warning", "equal_lists": "note", "one_of_two": "note"},
    find=find,
)
