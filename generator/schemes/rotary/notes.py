"""What a checkpoint's page says of its rotation beside the numbers."""

import math
from collections.abc import Mapping
from typing import Any

from generator.contracts import Json
from generator.encodings import Rotation
from generator.text import significant


def turned_note(config: Json, rotary_dim: int, head_dim: int) -> str:
    """Which components are turned, and how that is known."""
    turned = f"{rotary_dim} of the {head_dim} components" if rotary_dim < head_dim else f"all {head_dim} components"
    own = (
        " in a part of its own, which all heads of the keys share"
        if config.get("qk_rope_head_dim") is not None and rotary_dim < head_dim
        else ""
    )
    return f"No tensor holds it; {turned} of each query and key head are turned{own}, as config.json says."


def split_note(rope: Mapping[str, Any]) -> tuple[str, ...]:
    """On multimodal rotations (Qwen2-VL, arXiv 2409.12191, section 2.1)."""
    sections = rope.get("mrope_section")
    if not isinstance(sections, list | tuple) or len(sections) != 3:
        return ()
    time, height, width = sections
    how = "taken by turns" if rope.get("mrope_interleaved") is True else "one run after the other"
    return (
        f"{time!r:.9} pairs turn with time, {height!r:.9} with height and {width!r:.9} with width, {how}; of a token of text all three are its position.",
    )


def longer_note(config: Json, form: Rotation) -> tuple[str, ...]:
    """On scalings that depend on the length of the text, or that sharpen attention elsewhere than in the rotation."""
    if form.rope_type == "longrope":
        trained = form.scaling.get("original_max_position_embeddings", form.n_positions)
        return (f"Shown are the frequencies for texts of up to {trained!r:.12} positions; longer ones are turned by others.",)
    if form.rope_type == "dynamic":
        return (f"Shown are the frequencies up to {form.n_positions:,} positions; beyond, the base grows with the text.",)
    share, factor = (form.scaling.get(key) for key in ("mscale_all_dim", "factor"))
    if config.get("qk_rope_head_dim") is None or not isinstance(share, float | int) or not isinstance(factor, float | int):
        return ()
    if not share > 0.0 or not 1.0 < factor < math.inf:
        return ()
    larger = (0.1 * share * math.log(factor) + 1.0) ** 2  # As DeepSeek-V3's code in transformers.
    return (f"To make up for the longer context, all logits are multiplied by {significant(larger, 4)}; that is done beside the rotation.",)
