"""How many positions a text may have."""

from collections.abc import Iterable

from generator.contracts.checkpoints import Encoding
from generator.encodings import Form, PositionTable


def usable_length(configured: int | None, encodings: Iterable[Encoding[Form]]) -> int | None:
    """The configured positions, or those of the shortest table of text whose first rows are none,
    where it has fewer: RoBERTa's config counts them (514 rows, 512 positions). None without a
    configured length.
    """
    stored = (
        one.form.shape[0]
        for one in encodings
        if one.is_of_words
        and one.provenance.tensor is not None
        and isinstance(one.form, PositionTable)
        and one.form.acts_in == "input"
        and one.provenance.shape[0] > one.form.shape[0]
    )
    return None if configured is None else min([configured, *stored])
