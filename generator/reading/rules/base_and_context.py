"""A base that is small for the context."""

from collections.abc import Iterator

import numpy as np

from generator.checkpoints.model.families import AFTER_PADDING
from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable, Rotation
from generator.numerics.arrays import Array, Floats

AT_ONCE = 2**14  # distances, of which the angles of every 128th and of the first 128 are made
STEP = 2**7
MOST = 2**21
KINDS = ("rope_type", "type")


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Rotations without scaling, in layers without windows, whose sum of cosines is negative at a
    distance within the context; none where a kind of scaling is not read. retrieves: whether the
    part is of a kind that was tried for it

    Source: Men et al. 2024 (arXiv 2405.14591), section 4: a model cannot retrieve beyond it
    """
    if any(path.split(".")[-1] in KINDS for path, _ in examined.unread):
        return
    context = _context(examined)
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
                     "context": context, "retrieves": one.part.startswith("decoder")},
                )  # fmt: skip


def _context(examined: Examined) -> int:
    """Positions that a text may have, without the rows that the length of such a family counts
    before those of a table, where it has none; 0 where they are not known.
    """
    context, config = examined.context or 0, examined.files.config.text_model
    has_table = any(isinstance(one.form, PositionTable) for one in examined.encodings)
    if has_table or config.family not in AFTER_PADDING:
        return context
    padding = config.integer("pad_token_id")
    return max(context - (1 if padding is None else padding) - 1, 0)


def first_negative(form: Rotation, n_positions: int) -> int | None:
    """The first distance below ``n_positions`` at which the sum of cosines of all pairs is below 0;
    None without one.
    """
    near = _waves(form, np.arange(STEP))
    for start in range(0, n_positions, AT_ONCE):
        far = _waves(form, np.arange(start, start + AT_ONCE, STEP))
        sums = (far[0] @ near[0].T - far[1] @ near[1].T).ravel()
        below = sums[: n_positions - start] < 0.0
        if below.any():
            return start + int(np.argmax(below))
    return None


def _waves(form: Rotation, distances: Array) -> tuple[Floats, Floats]:
    """Cosines and sines of every pair: (n_distances, n_pairs) each, in memory as BLAS takes it."""
    turned = np.exp(1j * distances[:, None] * form.frequencies)
    return np.ascontiguousarray(turned.real), np.ascontiguousarray(turned.imag)


RULE = Rule(
    key="base-and-context",
    levels={"negative_within": "fact"},
    find=find,
    about=("rope_theta", "rotary_emb_base", "rope_parameters"),
)
