"""Where LongRoPE changes all angles."""

from collections.abc import Iterator

from generator.checkpoints.model.families import ALWAYS_SHORT
from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The length from which the second list of factors applies."""
    for one in examined.encodings:
        form = one.form
        if isinstance(form, Rotation) and form.short and form.long_factors and form.has_two_lists:
            family = examined.files.resolved.family_of(one.part)
            kind = "short_alone" if family in ALWAYS_SHORT else "switches"
            yield kind, {"part": one.part, "short": form.short, "family": family}


RULE = Rule(
    key="longrope-switch",
    levels={"switches": "fact", "short_alone": "note"},
    find=find,
    about=("original_max_position_embeddings",),
)
