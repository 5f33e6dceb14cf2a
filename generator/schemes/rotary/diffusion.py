"""Rotations of transformers of diffusers, along several axes."""

from collections.abc import Iterator

from generator.checkpoints.model.diffusion_transformers import ROTATED
from generator.contracts import Encoding, ModelConfig, Provenance
from generator.contracts.model_config import positive
from generator.contracts.wording import Wording
from generator.encodings import Form, Rotation
from generator.errors import RowError
from generator.text import enumerated

WORDING = Wording("schemes/rotary.md.jinja")
SHOWN = 64  # Positions along an axis: a side of a picture of 1,024 pixels, 16 to a patch.
MOST_COMPONENTS = 2**16


def along_axes(config: ModelConfig, scheme: str) -> Iterator[Encoding[Form]]:
    """One rotation for the axes with the same number of components, under ``scheme``, of a class in
    ``ROTATED``.

    errors: RowError for an invalid size or base
    """
    axes = ROTATED[config.family]
    sizes = axes.sizes(config)
    head_dim = max(axes.head_dim(config), sum(sizes))
    if not 2 <= sum(sizes) <= head_dim <= MOST_COMPONENTS or any(size % 2 for size in sizes):
        raise RowError(
            f"{config.where}: {axes.setting or 'attention_head_dim'} gives axes of {sizes}"
            f" components; expected even numbers, with a sum of at most {MOST_COMPONENTS:,}"
        )
    base = positive(
        config.first(axes.base_key, default=axes.base), f"{config.where}: {axes.base_key}"
    )
    shares = [(axis, size) for axis, size in enumerate(sizes, 1) if size]
    note = WORDING("by_axes", head_dim=head_dim, shares=shares, family=config.family, n_shown=SHOWN)
    for size in dict.fromkeys(size for size in sizes if size):
        same = [str(axis) for axis, other in enumerate(sizes, 1) if other == size]
        name = f"{'axes' if len(same) > 1 else 'axis'} {enumerated(same)}"
        yield Encoding(
            f"transformer {name}",
            scheme,
            Rotation(base, size, head_dim, SHOWN, is_length_known=False),
            Provenance("config.json", shape=(size // 2,)),
            (note,),
            "image",
        )
