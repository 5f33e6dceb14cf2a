"""Where LongRoPE changes all angles, if it does."""

from collections.abc import Iterator
from dataclasses import replace

from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The length from which the second list of factors applies, and two equal lists."""
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation) or form.rope_type != "longrope":
            continue
        if not form.has_two_lists:
            yield "equal_lists", {"slowed": _slowed(form)}
            continue
        switching = replace(form, keeps_short=False)
        if switching.long_factors:
            family = examined.files.resolved.family_of(one.part)
            kind = "short_alone" if form.keeps_short else "switches"
            yield kind, {"part": one.part, "short": switching.short, "family": family}


def _slowed(form: Rotation) -> list[float]:
    """The least and the largest factor."""
    ratios = form.unscaled_frequencies / form.frequencies
    return [float(ratios.min()), float(ratios.max())]


RULE = Rule(
    key="longrope-switch",
    levels={"switches": "fact", "short_alone": "note", "equal_lists": "fact"},
    find=find,
    about=("original_max_position_embeddings", "short_factor"),
)
