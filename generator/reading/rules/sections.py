"""Pairs that a multimodal rotation gives to time, height and width."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation

SECTIONS = "mrope_section"


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Sections of which there are more or fewer pairs than the rotation has."""
    for one in examined.encodings:
        form = one.form
        if not isinstance(form, Rotation):
            continue
        sections = form.scaling.get(SECTIONS)
        if not isinstance(sections, list | tuple) or not all(isinstance(n, int) for n in sections):
            continue
        n_pairs = form.rotary_dim // 2
        if sections and sum(sections) != n_pairs:
            total = {"total": sum(sections), "n_pairs": n_pairs}
            yield "another_sum", {"sections": list(sections), **total}


RULE = Rule(key="sections", levels={"another_sum": "warning"}, find=find)
