"""A base that the file leaves out, to a program with one base for all models or to a class."""

from collections.abc import Iterator
from typing import Any

from generator.checkpoints.model.resolved import defaults
from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation
from generator.reading.taken import without_base


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The first rotation with such a base, and that of the family's config class, which fills in
    what a section of a config.json has lost.
    """
    config = examined.files.config
    lost = without_base(config)
    for one in examined.encodings:
        origin, form = one.origins.get("base"), one.form
        if lost and origin is not None and not origin.keys and isinstance(form, Rotation):
            family = examined.files.resolved.family_of(one.part)
            values = {"path": lost, "base": form.base, "family": family, "source": config.source}
            yield "lost", values
            return
        is_left_out = config.program and origin is not None and origin.default_of == config.program
        if is_left_out and isinstance(form, Rotation):
            of_class = _of_class(config.family) or form.base
            values = {"base": form.base, "of_class": of_class, "family": config.family}
            kind = "usual" if of_class == form.base else "left_out"
            yield kind, {**values, "source": config.source, "program": config.program}
            return


def _of_class(family: str) -> float | None:
    """The base by default, in layers without a window."""
    rope: Any = defaults(family).get("rope_parameters") or {}
    base: float | None = rope.get("full_attention", rope).get("rope_theta")
    return base


RULE = Rule(
    key="missing-base",
    levels={"left_out": "warning", "usual": "note", "lost": "warning"},
    find=find,
)
