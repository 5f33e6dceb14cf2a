"""A base that is small for the context."""

from collections.abc import Iterator

import numpy as np

from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation

AT_ONCE = 2**14  # distances
MOST = 2**21


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Rotations without scaling, in layers without windows, whose sum of cosines is negative at a
    distance within the context.

    Source: Men et al. 2024 (arXiv 2405.14591), section 4: a model cannot retrieve beyond it
    """
    context = examined.context or 0
    for one in examined.encodings:
        form = one.form
        if (
            isinstance(form, Rotation)
            and one.modality == "text"
            and not form.is_rescaled
            and form.window is None
            and form.rotary_dim == form.head_dim
        ):
            distance = first_negative(form, min(context, MOST))
            if distance is not None:
                yield (
                    "negative_within",
                    {"part": one.part, "base": form.base, "distance": distance,
                     "context": context},
                )  # fmt: skip


def first_negative(form: Rotation, n_positions: int) -> int | None:
    """The first distance below ``n_positions`` at which the sum of cosines of all pairs is below 0;
    None without one.
    """
    for start in range(0, n_positions, AT_ONCE):
        distances = np.arange(start, min(start + AT_ONCE, n_positions))
        below = np.cos(distances[:, None] * form.frequencies).sum(axis=1) < 0.0
        if below.any():
            return int(distances[np.argmax(below)])
    return None


RULE = Rule(
    key="base-and-context",
    levels={"negative_within": "fact"},
    find=find,
    about=("rope_theta", "rotary_emb_base", "rope_parameters"),
)
