"""Pairs that a multimodal rotation gives to time, height and width."""

from collections.abc import Iterator

from generator.checkpoints.model.families import SECTIONS_OF_CODE
from generator.checkpoints.model.family_code import is_in_code
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.contracts.model_config import ROPE
from generator.encodings import Rotation
from generator.reading.taken import all_readers, is_read

SECTIONS, TURNS = "mrope_section", "mrope_interleaved"


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Sections of which there are more or fewer pairs than the rotation has, those that a program
    lays out otherwise than transformers, those under the kind of a rotation of text alone, and
    those of a family whose code knows none.
    """
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
        family = examined.files.resolved.family_of(one.part)
        _, takes_turns = SECTIONS_OF_CODE.get(family, ((), None))
        says_so = form.scaling.get(TURNS) is True
        if is_read(examined.files.config) and takes_turns not in (None, says_so):
            readers = [f"{one.name} {one.version}" for one in all_readers() if one.key == "vllm"]
            yield "laid_out", {"readers": readers, "family": family, "in_turn": takes_turns}
        if is_read(examined.files.config) and not is_in_code(SECTIONS, family):
            yield "not_in_code", {"family": family}
        if takes_turns is False and _is_renamed(examined.files.config):
            yield "renamed", {}


def _is_renamed(config: ModelConfig) -> bool:
    """Whether sections stand beside the word “default”, and not beside their own."""
    blocks = [part.section(name) for part in config.nested() for name in ROPE]
    words = [
        {block.text(name) for name in ("type", "rope_type")} for block in blocks
        if block is not None and SECTIONS in block
    ]  # fmt: skip
    return any("default" in each and "mrope" not in each for each in words)


RULE = Rule(
    key="sections",
    levels={"another_sum": "warning", "laid_out": "warning", "renamed": "note",
            "not_in_code": "note"},
    find=find,
    about=(SECTIONS,),
)  # fmt: skip
