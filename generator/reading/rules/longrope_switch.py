"""Where LongRoPE changes all angles."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The length from which the second list of factors applies."""
    for one in examined.encodings:
        form = one.form
        if isinstance(form, Rotation) and form.short and form.long_factors and form.has_two_lists:
            yield "switches", {"part": one.part, "short": form.short}


RULE = Rule(
    key="longrope-switch",
    levels={"switches": "fact"},
    find=find,
    about=("original_max_position_embeddings",),
)
