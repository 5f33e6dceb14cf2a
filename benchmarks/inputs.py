"""Inputs for a model: tokens, sound or an image, small, the same on every run."""

import inspect
from collections.abc import Container, Iterator, Sequence
from itertools import product
from typing import Any

LENGTH, ENCODER_LENGTH = 41, 37  # Primes, so that no other size is likely to equal one of them.
NAMES = ("input_ids", "input_values", "input_features", "hidden_states", "pixel_values")
SOUND, IMAGE = NAMES[1:4], NAMES[4]
# How many tokens there are at each position.
CODEBOOKS = ("num_codebooks", "num_channels", "audio_num_codebooks")
MASKS = ("input_features_mask", "feature_attention_mask", "attention_mask")
BANDS = (
    "num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim", "num_mel_channels",
    "input_dim", "input_size", "feature_size",
)  # fmt: skip


def takes_input(kind: type) -> bool:
    """Whether a class of models takes tokens, sound or images."""
    forward: Any = kind.forward  # type: ignore[attr-defined]
    return not {*NAMES}.isdisjoint(inspect.signature(forward).parameters)


def inputs(model: Any) -> Iterator[dict[str, Any]]:
    """Arguments to try, in order; none for a model that takes neither tokens nor sound nor
    images.
    """
    import torch

    parameters = inspect.signature(model.forward).parameters
    two = "decoder_input_ids" in parameters
    common: dict[str, Any] = {"use_cache": False} if "use_cache" in parameters else {}
    if two:
        common["decoder_input_ids"] = tokens(model, LENGTH)
    if "input_ids" in parameters:
        ids = tokens(model, ENCODER_LENGTH if two else LENGTH)
        # As tokenizers give it; some models mask nothing without.
        if "attention_mask" in parameters:
            yield {"input_ids": ids, "attention_mask": ids * 0 + 1, **common}
        yield {"input_ids": ids, **common}
        for count in _numbers([model.config], CODEBOOKS):
            yield {"input_ids": ids.expand(count, -1), **common}
            for further in (0, 1):
                yield {"input_ids": ids[..., None].expand(-1, -1, count + further), **common}
        if "bbox" in parameters:
            yield {"input_ids": ids, "bbox": torch.zeros(*ids.shape, 8), **common}
    if IMAGE in parameters and "input_ids" not in parameters:
        yield {IMAGE: image(model.config), **common}
    for heard in _heard(model, parameters, ENCODER_LENGTH if two else LENGTH):
        yield {**heard, **common}


def _heard(model: Any, parameters: Container[str], length: int) -> Iterator[dict[str, Any]]:
    """Sound under each name that a model has for it, with each mask that it takes, and without."""
    import torch

    masks = [mask for mask in MASKS if mask in parameters]
    for name in [name for name in SOUND if name in parameters]:
        for sound in sounds(model.config, name, length):
            for mask, size in product(masks, sorted({*sound.shape[1:]}, reverse=True)):
                yield {name: sound, mask: torch.ones(1, size, dtype=torch.long)}
            yield {name: sound}


def _numbers(sections: Sequence[Any], names: Sequence[str]) -> Iterator[int]:
    """Settings under these names that are numbers, by name and section."""
    for name, section in product(names, sections):
        if isinstance(value := getattr(section, name, None), int):
            yield value


def tokens(model: Any, length: int) -> Any:
    """Token ids (1, length), none of them special."""
    import torch

    config = model.config.get_text_config()
    count = getattr(config, "vocab_size", None) or 100
    special = {
        value
        for name, value in vars(config).items()
        if name.endswith(("token_id", "_index", "token_index")) and isinstance(value, int)
    }
    known = [token for token in range(4, min(count, 400)) if token not in special] or [1]
    order = torch.randint(len(known), (length,), generator=torch.Generator().manual_seed(0))
    return torch.tensor(known)[order][None]


def image(config: Any) -> Any:
    """An image (1, channels, height, width) of the size that the config names."""
    import torch

    size = getattr(config, "image_size", None) or 224
    height, width = size if isinstance(size, list | tuple) else (size, size)
    shape = (1, getattr(config, "num_channels", None) or 3, height, width)
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def sounds(config: Any, name: str, length: int) -> Iterator[Any]:
    """Samples (1, time), or features of the spectrum in the layouts that models use, for about
    ``length`` positions.
    """
    import torch

    generator = torch.Generator().manual_seed(0)
    if name == "input_values":
        yield torch.randn(1, 320 * length + 80, generator=generator)
    sections = [config, *(value for value in vars(config).values() if hasattr(value, "to_dict"))]
    bands = next(_numbers(sections, BANDS), 80)
    frames = 2 * next(_numbers(sections, ["max_source_positions"]), length)
    most = getattr(config, "max_length", None) or frames
    for shape in ((bands, frames), (length, bands), (8 * length, bands), (most, bands)):
        yield torch.randn(1, *shape, generator=generator)
